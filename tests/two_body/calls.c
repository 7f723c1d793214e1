/* The arguments of two-body statistics: what is refused and with which sentence; the choice; budgets and allocations
 * that fail. */
#include "cases.h"
#include "tests/failing.h"

Test(two_body_calls, malformed_arguments_are_refused_and_nothing_is_written) {
    lsp_ctx *ctx = test_ctx(2);
    cloud a = make_cloud(UNIFORM, 20, 3, LSP_F32, 1), b = make_cloud(UNIFORM, 20, 3, LSP_F64, 1);
    double radius = 0.2, g = 7;
    uint64_t counts[4] = {9, 9, 9, 9};
    lsp_points p, q;
    lsp_pair_options options;
    cr_assert(lsp_pair_count(NULL, &a.points, NULL, NULL, &radius, 1, counts, NULL) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_pair_histogram(NULL, &a.points, NULL, NULL, 1, 4, counts, NULL) == LSP_ERR_ARGUMENT);
#define REFUSED_CODE(code, part, ...)                                                                                  \
    p = a.points, q = a.points, options = (lsp_pair_options){0}, radius = 0.2, __VA_ARGS__;                            \
    must_fail(ctx, code, part, lsp_pair_count(ctx, &p, &q, &options, &radius, 1, counts, NULL));                       \
    must_fail(ctx, code, part, lsp_pair_histogram(ctx, &p, &q, &options, radius, 4, counts, NULL))
#define REFUSED(part, ...) REFUSED_CODE(LSP_ERR_ARGUMENT, part, __VA_ARGS__)
    REFUSED("set a has -1 points", p.n = -1);
    REFUSED_CODE(LSP_ERR_UNSUPPORTED, "set b has 2147483648 points", q.n = (int64_t)INT32_MAX + 1);
    REFUSED("0 dimensions", p.dimensions = 0);
    REFUSED("9 dimensions", p.dimensions = 9);
    REFUSED("LSP_I32", p.type = LSP_I32);
    REFUSED("stride of -2", q.stride = -2);
    REFUSED("cannot be in memory", q.stride = INT64_MAX / 4);
    REFUSED("place 5", p.where = (lsp_where)5);
    REFUSED("lies on a GPU", p.where = LSP_CUDA);
    REFUSED("coordinate 2 of the set b is NULL", q.at[2] = NULL);
    REFUSED("multiple of 4", q.at[1] = (const char *)q.at[1] + 2);
    REFUSED("must be alike", q = b.points);
    REFUSED("must be alike", q.dimensions = 2);
    REFUSED("4 is no method", options.method = (lsp_pair_method)4);
    REFUSED("reserved", options.reserved[3] = 1);
    REFUSED("side 1 of the periodic box is 0", options.box[0] = 1);
    REFUSED("side 0 of the periodic box is nan", options.box[0] = NAN);
    REFUSED("a million", options.box[0] = 1, options.box[1] = 1e7, options.box[2] = 1);
    REFUSED("side 3 of the periodic box is 0.5, but", options = space_of(1, 4), options.box[3] = 0.5);
    REFUSED("has no sides", options.tilt[1] = 0.5);
    REFUSED("in 1 dimensions", p.dimensions = q.dimensions = 1, options = space_of(1, 1), options.tilt[0] = 0.1);
    REFUSED("too far", options = space_of(1, 3), options.tilt[0] = 100);
    REFUSED("is nan", radius = NAN);
    REFUSED("is -1", radius = -1);
    REFUSED("is inf", radius = INFINITY);
    REFUSED("wide in dimension 0", options = space_of(1, 3), radius = 0.51);
    REFUSED("wide in dimension 0", options = space_of(3, 3), radius = 0.39);
#undef REFUSED
#undef REFUSED_CODE
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_pair_count(ctx, NULL, NULL, NULL, &radius, 1, counts, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "radii are NULL",
              lsp_pair_count(ctx, &a.points, NULL, NULL, NULL, 1, counts, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "0 radii", lsp_pair_count(ctx, &a.points, NULL, NULL, &radius, 0, counts, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "0 bins", lsp_pair_histogram(ctx, &a.points, NULL, NULL, 1, 0, counts, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "width of a bin",
              lsp_pair_histogram(ctx, &a.points, NULL, NULL, 0, 4, counts, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "width of a bin",
              lsp_pair_histogram(ctx, &a.points, NULL, NULL, 1e-300, 4, counts, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "above 0", lsp_radial_distribution(ctx, counts, 1, 1, 3, 0, 1, &g));
    cr_assert(g == 7 && counts[0] == 9 && counts[1] == 9 && counts[2] == 9 && counts[3] == 9);
    cr_assert(strcmp(lsp_pair_method_name(LSP_PAIR_GRID), "grid") == 0);
    cr_assert(strcmp(lsp_pair_method_name((lsp_pair_method)9), "?") == 0);
    free(a.memory);
    free(b.memory);
    lsp_ctx_destroy(ctx);
}

TEST_ON_BOTH(two_body_calls, coordinates_that_are_not_finite_are_refused_with_their_point) {
    const double radius = 0.1;
    for (int wide = 0; wide < 2; wide++) {
        for (int kind = 0; kind < 3; kind++) {
            cloud a = make_cloud(UNIFORM, 300, 4, LSP_F32, 1), b = make_cloud(UNIFORM, 300, 4, LSP_F32, 1);
            uint64_t count = 9;
            set_coordinate(wide ? &b : &a, 217, 3, kind == 0 ? (double)NAN : kind == 1 ? INFINITY : -INFINITY);
            must_fail(ctx, LSP_ERR_ARGUMENT, wide ? "point 217 of the set b" : "point 217 of the set a",
                      lsp_pair_count(ctx, &a.points, &b.points, NULL, &radius, 1, &count, NULL));
            must_fail(ctx, LSP_ERR_ARGUMENT, "coordinate 3",
                      lsp_pair_histogram(ctx, &a.points, &b.points, NULL, radius, 1, &count, NULL));
            cr_assert(count == 9);
            free(a.memory);
            free(b.memory);
        }
    }
}

Test(two_body_calls, the_choice_is_told) {
    lsp_ctx *ctx = test_ctx(1);
    cloud a = make_cloud(UNIFORM, 20000, 3, LSP_F32, 1);
    const double small = 0.01, middle = 0.4, large = 2;
    uint64_t count;
    lsp_pair_info info;
    must(ctx, lsp_pair_count(ctx, &a.points, NULL, NULL, &small, 1, &count, &info));
    cr_assert(info.method == LSP_PAIR_GRID && info.cells > 1000 && info.tested < 3000000 &&
              strstr(info.reason, "grid"));
    must(ctx, lsp_pair_count(ctx, &a.points, NULL, NULL, &large, 1, &count, &info));
    cr_assert(info.method == LSP_PAIR_BOXES && info.tested == 0 && count == 19999 * 10000);
    must(ctx, lsp_pair_count(ctx, &a.points, NULL, NULL, &middle, 1, &count, &info));
    cr_assert(info.method == LSP_PAIR_BOXES && info.tested < 19999 * 5000 && strstr(info.reason, "boxes"));
    const lsp_pair_options all = {.method = LSP_PAIR_ALL};
    must(ctx, lsp_pair_count(ctx, &a.points, NULL, &all, &small, 1, &count, &info));
    cr_assert(info.method == LSP_PAIR_ALL && info.cells == 0 && info.tested == 19999 * 10000 &&
              strstr(info.reason, "asked for it"));
    free(a.memory);
    lsp_ctx_destroy(ctx);
}

typedef struct call {
    const cloud *a;
    lsp_pair_options options;
    bool bins;
} call;

static lsp_status call_it(lsp_ctx *ctx, void *data) {
    const call *c = data;
    const double radii[3] = {0.1, 0.2, 0.05};
    uint64_t counts[3] = {9, 9, 9};
    const lsp_status status = c->bins ? lsp_pair_histogram(ctx, &c->a->points, NULL, &c->options, 0.2, 3, counts, NULL)
                                      : lsp_pair_count(ctx, &c->a->points, NULL, &c->options, radii, 3, counts, NULL);
    cr_assert(status == LSP_OK || (counts[0] == 9 && counts[1] == 9 && counts[2] == 9));
    return status;
}

Test(two_body_calls, a_failing_allocation_leaves_everything_as_it_was) {
    cloud a = make_cloud(UNIFORM, 3000, 3, LSP_F32, 1);
    for (int method = 1; method <= LSP_PAIR_BOXES; method++) {
        for (int bins = 0; bins < 2; bins++) {
            call c = {&a, {.method = (lsp_pair_method)method}, bins};
            test_failing_memory(2, call_it, &c);
        }
    }
    free(a.memory);
}

Test(two_body_calls, a_budget_that_is_too_small_is_told) {
    lsp_ctx *ctx = test_ctx(1);
    cloud a = make_cloud(UNIFORM, 3000, 3, LSP_F64, 1);
    const double radius = 0.1;
    uint64_t count = 9;
    must(ctx, lsp_ctx_set_max_bytes(ctx, ctx->space[LSP_HOST].used + 50000));
    must_fail(ctx, LSP_ERR_MEMORY, "budget", lsp_pair_count(ctx, &a.points, NULL, NULL, &radius, 1, &count, NULL));
    cr_assert(count == 9);
    free(a.memory);
    lsp_ctx_destroy(ctx);
}

Test(two_body_calls, the_choice_is_told_on_the_gpu) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const int64_t n = reduced(3000, 20000);
    cloud a = make_cloud(UNIFORM, n, 3, LSP_F32, 1);
    const lsp_pair_options all = {.method = LSP_PAIR_ALL}, grid = {.method = LSP_PAIR_GRID};
    const double radius = 0.05, large = 2;
    uint64_t counts[2];
    lsp_pair_info info;
    must(ctx, lsp_pair_count(ctx, &a.points, NULL, &grid, &radius, 1, &counts[0], &info));
    cr_assert(info.method == LSP_PAIR_GRID && info.cells > 100 && info.tested < n * n / 20);
    cr_assert(strstr(info.reason, "asked for it"));
    must(ctx, lsp_pair_count(ctx, &a.points, NULL, &all, &radius, 1, &counts[1], &info));
    cr_assert(info.method == LSP_PAIR_ALL && info.cells == 0 && info.tested == n * (n - 1) / 2);
    cr_assert(counts[0] == counts[1]);
    const lsp_pair_options boxes = {.method = LSP_PAIR_BOXES};
    lsp_csr C;
    must(ctx, lsp_pair_count(ctx, &a.points, NULL, &boxes, &radius, 1, &counts[0], &info));
    cr_assert(info.method == LSP_PAIR_BOXES && info.cells > 10 && info.tested < n * (n - 1) / 2,
              "%lld boxes, %lld of %lld", (long long)info.cells, (long long)info.tested, (long long)(n * (n - 1) / 2));
    cr_assert(counts[0] == counts[1]);
    must(ctx, lsp_pair_count(ctx, &a.points, NULL, &boxes, &large, 1, &counts[0], &info));
    cr_assert(info.tested == 0 && counts[0] == (uint64_t)(n * (n - 1) / 2));
    must(ctx, lsp_nearest(ctx, &a.points, NULL, &boxes, 3, NULL, &C, &info));
    cr_assert(info.method == LSP_PAIR_BOXES && info.cells > 20 && info.tested < n * n / 2);
    must(ctx, lsp_csr_free(ctx, &C));
    must(ctx, lsp_nearest(ctx, &a.points, NULL, &all, 3, NULL, &C, &info));
    cr_assert(info.method == LSP_PAIR_ALL && info.cells == 0 && info.tested == n * n);
    must(ctx, lsp_csr_free(ctx, &C));
    free(a.memory);
    lsp_ctx_destroy(ctx);
}

static lsp_status density_of(lsp_ctx *ctx, void *data) {
    const call *c = data;
    float density[300] = {7};
    const lsp_status status = lsp_kernel_density(ctx, &c->a->points, NULL, &c->options, 0.1, NULL, density, NULL);
    cr_assert(status == LSP_OK || density[0] == 7);
    return status;
}

static lsp_status join_of(lsp_ctx *ctx, void *data) { /* `bins`: the nearest points */
    const call *c = data;
    lsp_csr C = {.rows = 77};
    const lsp_status status = c->bins ? lsp_nearest(ctx, &c->a->points, NULL, &c->options, 3, NULL, &C, NULL)
                                      : lsp_radius_join(ctx, &c->a->points, NULL, &c->options, 0.1, NULL, &C, NULL);
    cr_assert(status == LSP_OK || (C.rows == 77 && C.rowptr == NULL));
    return status == LSP_OK ? lsp_csr_free(ctx, &C) : status;
}

/* What each verb makes without memory: a sentence, and nothing else. */
Test(two_body_calls, failing_allocations_leave_everything_as_it_was_on_the_gpu) {
    static const lsp_pair_options grid = {.method = LSP_PAIR_GRID, .part = 1, .parts = 2},
                                  all = {.method = LSP_PAIR_ALL}, boxes = {.method = LSP_PAIR_BOXES};
    static const struct {
        lsp_status (*verb)(lsp_ctx *ctx, void *data);
        const lsp_pair_options *options;
        bool second; /* form of the verb */
    } forms[] = {{call_it, &all, false},      {call_it, &grid, false},  {call_it, &all, true},
                 {call_it, &grid, true},      {join_of, &all, false},   {join_of, &grid, false},
                 {join_of, &all, true},       {join_of, &boxes, true},  {density_of, &all, false},
                 {density_of, &boxes, false}, {call_it, &boxes, false}, {call_it, &boxes, true}};
    cloud a = make_cloud(UNIFORM, 300, 3, LSP_F32, 1);
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        call c = {&a, *forms[k].options, forms[k].second};
        test_failing_gpu(0, 1, forms[k].verb, &c);
    }
    free(a.memory);
}

Test(two_body_calls, a_budget_that_is_too_small_is_told_on_the_gpu) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    cloud a = make_cloud(UNIFORM, 3000, 3, LSP_F64, 1);
    const double radius = 0.1;
    uint64_t count = 9;
    lsp_csr C = {.rows = 77};
    must(ctx, lsp_ctx_set_max_bytes(ctx, 50000));
    must_fail(ctx, LSP_ERR_MEMORY, "budget", lsp_pair_count(ctx, &a.points, NULL, NULL, &radius, 1, &count, NULL));
    must_fail(ctx, LSP_ERR_MEMORY, "budget", lsp_pair_histogram(ctx, &a.points, NULL, NULL, radius, 1, &count, NULL));
    must(ctx, lsp_ctx_set_max_bytes(ctx, 2000000));
    must_fail(ctx, LSP_ERR_MEMORY, "are available", lsp_radius_join(ctx, &a.points, NULL, NULL, 2, NULL, &C, NULL));
    cr_assert(count == 9 && C.rows == 77);
    free(a.memory);
    lsp_ctx_destroy(ctx);
}
