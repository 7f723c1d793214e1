/* The radius join and the nearest points equal the specification, entry by entry and bit by bit, and are matrices with
 * sorted rows. */
#include "../there.h"
#include "cases.h"

typedef struct answer {
    lsp_csr C;
    lsp_pair_method method;
    lsp_isa isa;
    int64_t wrong; /* the first entry that differs, or -1 */
} answer;

enum { MOST_ANSWERS = 6 }; /* two methods by three instruction sets */

/* What is asked for: the points within a radius, or, if it is 0 or more, the k nearest. */
typedef struct wanted {
    double radius;
    int64_t k;
} wanted;
typedef struct answers {
    int count;
    int64_t n; /* entries of the specification so far */
    answer each[MOST_ANSWERS];
} answers;

/* Compares one entry of the specification with the next of each answer. */
static void take(void *data, int64_t i, int64_t j, double value) {
    answers *all = data;
    const int64_t k = all->n++;
    for (answer *a = all->each; a < all->each + all->count; a++) {
        const lsp_csr *C = &a->C;
        double ours = 1;
        if (k < C->nnz && C->val_type != LSP_NONE) {
            ours = C->val_type == LSP_F32 ? (double)((const float *)C->val)[k] : ((const double *)C->val)[k];
        }
        if (a->wrong < 0 &&
            (k >= C->nnz || lsp_index_at(C->col, C->col_type, k) != j ||
             lsp_index_at(C->rowptr, C->rowptr_type, i) > k || lsp_index_at(C->rowptr, C->rowptr_type, i + 1) <= k ||
             memcmp(&ours, &value, sizeof ours) != 0)) {
            a->wrong = k;
        }
    }
}

/* By a method and by the grid, with every instruction set. */
static void must_join(lsp_ctx *ctx, const cloud *a, const cloud *b, lsp_pair_options options, wanted what,
                      const lsp_join_options *join, const char *name) {
    const lsp_pair_method methods[] = {options.method, what.k < 0 ? LSP_PAIR_GRID : LSP_PAIR_BOXES};
    const lsp_pair_job job = job_of(ctx, a, b, &options);
    answers all = {0};
    FOR_EACH_ISA(ctx) {
        for (int m = 0; m < 2; m++) {
            answer *ours = &all.each[all.count++];
            *ours = (answer){.method = methods[m], .isa = ctx->isa, .wrong = -1};
            options.method = methods[m];
            lsp_csr *C = &ours->C;
            const bool there = is_on_the_gpu(ctx) && m == 1;
            const lsp_points p = points_at(ctx, a, there), q = points_at(ctx, b ? b : a, there);
            must(ctx, what.k < 0 ? lsp_radius_join(ctx, &p, b ? &q : NULL, &options, what.radius, join, C, NULL)
                                 : lsp_nearest(ctx, &p, b ? &q : NULL, &options, what.k, join, C, NULL));
            cr_assert(C->where == p.where);
            if (there) {
                lsp_csr here = moved(ctx, C, LSP_HOST);
                must(ctx, lsp_csr_free(ctx, C));
                *C = here;
                drop_points(ctx, &p);
                drop_points(ctx, &q);
            }
            must(ctx, lsp_csr_check(ctx, C, LSP_CHECK_SORTED | LSP_CHECK_UNIQUE | LSP_CHECK_FINITE));
            cr_assert(C->rows == a->points.n && C->cols == (b ? b : a)->points.n);
            cr_assert(C->val_type == (join->values == LSP_JOIN_PATTERN ? LSP_NONE : a->points.type));
        }
    }
    if (what.k < 0) {
        lsp_radius_join_ref(&job, lsp_distance_limit(&job.metric, job.type, what.radius), join, take, &all);
    } else {
        const int64_t partners = lsp_max(job.sets[1].n - (job.self && !join->self_pairs), 0);
        must(ctx, lsp_nearest_ref(ctx, &job, lsp_min(what.k, partners), join, take, &all));
    }
    for (int k = 0; k < all.count; k++) {
        answer *ours = &all.each[k];
        cr_assert(
            ours->wrong < 0 && all.n == ours->C.nnz,
            "%s, %s, %d dimensions, %s, method %d, isa %d, values %d, self %d, half %d: entry %lld of %lld and %lld",
            name, b ? "two sets" : "one set", job.metric.dimensions, lsp_type_name(job.type), (int)ours->method,
            (int)ours->isa, join->values, join->self_pairs, join->half, (long long)ours->wrong, (long long)ours->C.nnz,
            (long long)all.n);
        must(ctx, lsp_csr_free(ctx, &ours->C));
    }
}

/* One set in each form, and two sets. */
static void try_points(lsp_ctx *ctx, int pattern, int64_t n, int dimensions, lsp_type type, int space, double radius) {
    cloud a = make_cloud(pattern, n, dimensions, type, 1), b = make_cloud(pattern, n / 2 + 3, dimensions, type, 2);
    lsp_pair_options options = space_of(space, dimensions);
    for (int form = 0; form < 8; form++) {
        const lsp_join_options join = {.values = (lsp_join_values)(form % 3), .self_pairs = form & 1, .half = form & 2};
        options.method = (lsp_pair_method)(form % 2);
        must_join(ctx, &a, NULL, options, (wanted){radius, -1}, &join, pattern_names[pattern]);
        if (form < 3) {
            const lsp_join_options values = {.values = join.values};
            must_join(ctx, &a, &b, options, (wanted){radius, -1}, &values, pattern_names[pattern]);
            must_join(ctx, &a, &b, options, (wanted){.k = 1 + form * 20}, &values, pattern_names[pattern]);
        }
        if (!join.half) {
            must_join(ctx, &a, NULL, options, (wanted){.k = form * form}, &join, pattern_names[pattern]);
        }
    }
    free(a.memory);
    free(b.memory);
}

TEST_ON_BOTH(two_body_joins, equal_the_specification_in_every_space) {
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        for (int dimensions = 1; dimensions <= 3; dimensions++) {
            for (int space = 0; space < SPACES; space++) {
                if (is_on_the_gpu(ctx) && (pattern + dimensions + space) % (int)reduced(4, 1) != 0) {
                    continue; /* an emulated GPU is slow */
                }
                try_points(ctx, pattern, reduced(80, 150), dimensions, LSP_F32, space, 0.142857142857);
                try_points(ctx, pattern, reduced(60, 120), dimensions, LSP_F64, space, 0.08);
            }
        }
    }
}

TEST_ON_BOTH(two_body_joins, equal_the_specification_in_many_dimensions) {
    for (int dimensions = 4; dimensions <= LSP_MOST_DIMENSIONS; dimensions++) {
        try_points(ctx, UNIFORM, 100, dimensions, LSP_F32, dimensions % 3, 0.35);
        try_points(ctx, LATTICE, 100, dimensions, LSP_F64, dimensions % 3, 0.35);
    }
}

static void try_sizes(lsp_ctx *ctx, bool large) {
    static const int64_t sizes[] = {0, 1, 2, 3, 8, 17, 63, 64, 65, 1500};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int64_t n = is_on_the_gpu(ctx) && sizes[s] > 1000 ? reduced(300, sizes[s]) : sizes[s];
        if (n <= 100 || large) {
            try_points(ctx, (int)s % PATTERNS, n, 3, s % 2 ? LSP_F64 : LSP_F32, 0, 0.05);
            try_points(ctx, DUPLICATES, n, 2, s % 2 ? LSP_F32 : LSP_F64, 1, 0);
        }
    }
}
Test(two_body_joins, small_sets_and_full_cells) {
    for (int threads = 1; threads <= 4; threads++) {
        lsp_ctx *ctx = test_ctx(threads);
        try_sizes(ctx, threads == 3);
        lsp_ctx_destroy(ctx);
    }
}
static void small_sets(lsp_ctx *ctx) { try_sizes(ctx, true); }
Test(two_body_joins, small_sets_and_full_cells_on_the_gpu) { on_the_gpu(small_sets); }

/* So many points that the GPU passes by most of them with one look at a box around many groups: as on the CPU. */
static void try_many(lsp_ctx *ctx) {
    lsp_ctx *cpu = test_ctx(2);
    for (int pattern = UNIFORM; pattern <= LATTICE; pattern++) {
        cloud a = make_cloud(pattern, reduced(4500, 150000), 3, LSP_F32, 1);
        cloud b = make_cloud(pattern, reduced(4300, 140000), 3, LSP_F32, 2);
        for (int space = 0; space < 2; space++) {
            const lsp_pair_options options = space_of(space, 3);
            const lsp_points *q = space > 0 ? &b.points : NULL;
            lsp_csr here, there;
            must(cpu, lsp_nearest(cpu, &a.points, q, &options, 3, NULL, &here, NULL));
            must(ctx, lsp_nearest(ctx, &a.points, q, &options, 3, NULL, &there, NULL));
            must_be_same(ctx, &here, &there);
            lsp_csr_free(cpu, &here);
            lsp_csr_free(ctx, &there);
        }
        free(a.memory);
        free(b.memory);
    }
    lsp_ctx_destroy(cpu);
}
Test(two_body_joins, many_points_have_the_same_neighbours_on_the_gpu) { on_the_gpu(try_many); }

TEST_ON_BOTH(two_body_joins, malformed_arguments_are_refused) {
    cloud a = make_cloud(UNIFORM, 20, 3, LSP_F32, 1);
    lsp_csr C = {.rows = 77};
    cr_assert(lsp_radius_join(NULL, &a.points, NULL, NULL, 1, NULL, &C, NULL) == LSP_ERR_ARGUMENT);
    must_fail(ctx, LSP_ERR_ARGUMENT, "place for the matrix",
              lsp_radius_join(ctx, &a.points, NULL, NULL, 1, NULL, NULL, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "points are NULL", lsp_radius_join(ctx, NULL, NULL, NULL, 1, NULL, &C, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "radius is -1", lsp_radius_join(ctx, &a.points, NULL, NULL, -1, NULL, &C, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "half is of pairs of one set",
              lsp_radius_join(ctx, &a.points, &a.points, NULL, 1, &(lsp_join_options){.half = true}, &C, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "self_pairs is of pairs",
              lsp_radius_join(ctx, &a.points, &a.points, NULL, 1, &(lsp_join_options){.self_pairs = true}, &C, NULL));
    must_fail(
        ctx, LSP_ERR_ARGUMENT, "no values",
        lsp_radius_join(ctx, &a.points, NULL, NULL, 1, &(lsp_join_options){.values = (lsp_join_values)3}, &C, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "reserved",
              lsp_radius_join(ctx, &a.points, NULL, NULL, 1, &(lsp_join_options){.reserved = {1}}, &C, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "no method boxes",
              lsp_radius_join(ctx, &a.points, NULL, &(lsp_pair_options){.method = LSP_PAIR_BOXES}, 1, NULL, &C, NULL));
    cr_assert(lsp_nearest(NULL, &a.points, NULL, NULL, 1, NULL, &C, NULL) == LSP_ERR_ARGUMENT);
    must_fail(ctx, LSP_ERR_ARGUMENT, "place for the matrix",
              lsp_nearest(ctx, &a.points, NULL, NULL, 1, NULL, NULL, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "-1 nearest", lsp_nearest(ctx, &a.points, NULL, NULL, -1, NULL, &C, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "no method grid",
              lsp_nearest(ctx, &a.points, NULL, &(lsp_pair_options){.method = LSP_PAIR_GRID}, 1, NULL, &C, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "from both sides",
              lsp_nearest(ctx, &a.points, NULL, NULL, 1, &(lsp_join_options){.half = true}, &C, NULL));
    set_coordinate(&a, 11, 2, NAN);
    must_fail(ctx, LSP_ERR_ARGUMENT, "point 11", lsp_nearest(ctx, &a.points, NULL, NULL, 1, NULL, &C, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "point 11", lsp_radius_join(ctx, &a.points, NULL, NULL, 1, NULL, &C, NULL));
    cr_assert(C.rows == 77 && C.rowptr == NULL);
    free(a.memory);
}

typedef struct call {
    const cloud *a;
    lsp_pair_options options;
    int64_t k; /* nearest points; below 0: a join */
} call;

static lsp_status call_it(lsp_ctx *ctx, void *data) {
    const call *c = data;
    lsp_csr C = {.rows = 77};
    const lsp_status status = c->k < 0 ? lsp_radius_join(ctx, &c->a->points, NULL, &c->options, 0.1, NULL, &C, NULL)
                                       : lsp_nearest(ctx, &c->a->points, NULL, &c->options, c->k, NULL, &C, NULL);
    cr_assert(status == LSP_OK || (C.rows == 77 && C.rowptr == NULL));
    return status == LSP_OK ? lsp_csr_free(ctx, &C) : status;
}

Test(two_body_joins, a_failing_allocation_leaves_everything_as_it_was) {
    cloud a = make_cloud(UNIFORM, 2000, 3, LSP_F32, 1);
    for (int method = 1; method <= LSP_PAIR_GRID; method++) {
        call c = {&a, {.method = (lsp_pair_method)method}, -1};
        test_failing_memory(2, call_it, &c);
        call near = {&a, {.method = method == LSP_PAIR_GRID ? LSP_PAIR_BOXES : (lsp_pair_method)method}, 5};
        test_failing_memory(2, call_it, &near);
    }
    free(a.memory);
}

Test(two_body_joins, a_budget_that_is_too_small_is_told) {
    lsp_ctx *ctx = test_ctx(2);
    cloud a = make_cloud(UNIFORM, 3000, 3, LSP_F32, 1);
    lsp_csr C = {.rows = 77};
    must(ctx, lsp_ctx_set_max_bytes(ctx, ctx->space[LSP_HOST].used + 2000000));
    must_fail(ctx, LSP_ERR_MEMORY, "are available", lsp_radius_join(ctx, &a.points, NULL, NULL, 2, NULL, &C, NULL));
    cr_assert(C.rows == 77);
    must(ctx, lsp_radius_join(ctx, &a.points, NULL, NULL, 0.05, NULL, &C, NULL));
    must(ctx, lsp_csr_free(ctx, &C));
    C.rows = 77;
    must_fail(ctx, LSP_ERR_MEMORY, "the budget is", lsp_nearest(ctx, &a.points, NULL, NULL, 2999, NULL, &C, NULL));
    cr_assert(C.rows == 77);
    free(a.memory);
    lsp_ctx_destroy(ctx);
}

/* All pairs need a list of hits; without room for it the same matrix is made in another way. */
Test(two_body_joins, by_all_pairs_within_any_budget_on_the_gpu) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    cloud a = make_cloud(DUPLICATES, 400, 3, LSP_F32, 1);
    const lsp_pair_options all = {.method = LSP_PAIR_ALL};
    lsp_csr right, C;
    must(ctx, lsp_radius_join(ctx, &a.points, NULL, &all, 0.6, NULL, &right, NULL));
    int made = 0;
    for (int64_t bytes = 1 << 16; bytes < 1 << 24; bytes += bytes / 4) {
        must(ctx, lsp_ctx_set_max_bytes(ctx, bytes));
        const lsp_status status = lsp_radius_join(ctx, &a.points, NULL, &all, 0.6, NULL, &C, NULL);
        cr_assert(status == LSP_ERR_MEMORY || status == LSP_OK);
        if (status == LSP_OK) {
            cr_assert(C.nnz == right.nnz && memcmp(C.col, right.col, (size_t)C.nnz * sizeof(int32_t)) == 0 &&
                          memcmp(C.val, right.val, (size_t)C.nnz * sizeof(float)) == 0,
                      "%lld bytes", (long long)bytes);
            made++;
            must(ctx, lsp_csr_free(ctx, &C));
        }
        lsp_ctx_trim(ctx);
    }
    cr_assert(made > 0);
    must(ctx, lsp_ctx_set_max_bytes(ctx, 0));
    must(ctx, lsp_csr_free(ctx, &right));
    free(a.memory);
    lsp_ctx_destroy(ctx);
}
