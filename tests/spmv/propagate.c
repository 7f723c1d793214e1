/* LSP_SPMV_PROPAGATE with slices of x and bins of entries so small that small matrices have many of both: every shape
 * of matrix, rows that go through several bins, updates, equal bits whatever the threads, allocations that fail. */
#include "cases.h"

static const lsp_spmv_sizes sizes_of[] = {{64, 64, 0}, {64, 512, 0}, {1024, 64, 0}, {256, 256, 0}, {0, 0, 0}};
enum { SIZES = sizeof sizes_of / sizeof *sizes_of };

/* A plan with these sizes, or NULL where the method refuses the matrix. */
static lsp_spmv_plan *make_plan(lsp_ctx *ctx, const request *r, const spmv_case *c, const lsp_spmv_sizes *sizes) {
    const lsp_spmv_options options = options_of(r);
    lsp_spmv_plan *plan = NULL;
    lsp_status status = lsp_spmv_plan_create(ctx, &c->A, &options, &plan);
    if (status == LSP_OK && sizes->entries > 0) {
        status = resize(plan, sizes);
    }
    if (status == LSP_ERR_UNSUPPORTED) { /* too many slices and bins for so few entries */
        lsp_spmv_plan_destroy(plan);
        return NULL;
    }
    must_run(ctx, r, status);
    return plan;
}

static request request_of(int number) {
    const lsp_type val[] = {LSP_F64, LSP_F32, LSP_F32, LSP_NONE, LSP_NONE},
                   type[] = {LSP_F64, LSP_F32, LSP_F64, LSP_F64, LSP_F32};
    return (request){.method = LSP_SPMV_PROPAGATE,
                     .val_type = val[number % 5],
                     .type = type[number % 5],
                     .planned = true,
                     .special = number % 3 == 0,
                     .factors_at = number % 4 == 1,
                     .by_columns = number % 7 == 2,
                     .transpose = number % 11 == 3,
                     .wide_rowptr = number % 2 == 1,
                     .wide_col = number / 2 % 2 == 1,
                     .x_gap = number % 8 == 5 ? 2 : 0,
                     .y_gap = number % 8 == 4 ? 1 : 0,
                     .alpha = number % 5 == 2 ? 3 : 1,
                     .beta = number % 3 == 1 ? -2 : 0,
                     .seed = (uint64_t)number};
}

/* "row" and "last" have a row that goes through many bins, the others none or some. */
TEST_ON_BOTH(spmv_propagate, every_matrix_with_many_slices_and_bins) {
    int taken = 0;
    for (int number = 0; number < MATRICES * SIZES; number += one_in) {
        request r = request_of(number);
        r.matrix = matrices[number / SIZES];
        spmv_case c = make_case(ctx, &r);
        lsp_spmv_plan *plan = make_plan(ctx, &r, &c, &sizes_of[number % SIZES]);
        for (int call = 0; call < 2 && plan != NULL; call++) { /* Y of the first call goes into the second */
            taken++;
            must_run(ctx, &r, lsp_spmv_execute(plan, &c.vectors));
            plain_spmv(&r, &c.host, &c.x, &c.y);
            must_equal(ctx, &r, &c);
        }
        lsp_spmv_plan_destroy(plan);
        free_case(ctx, &c);
    }
    cr_assert(taken > 0);
}

/* The numbers of rows and entries that just fill bins and slices, and one more or less. */
TEST_ON_BOTH(spmv_propagate, sizes_around_every_limit) {
    for (int number = 0; number < 27; number += one_in) {
        char name[64];
        request r = request_of(number);
        const int near = number % 3 - 1;
        snprintf(name, sizeof name, "random:%d:%d:%d", 200 + number, 64 * (1 + number / 9) + near,
                 64 * (3 + number / 3 % 3) + near);
        r.matrix = name;
        r.transpose = false;
        spmv_case c = make_case(ctx, &r);
        lsp_spmv_plan *plan = make_plan(ctx, &r, &c, &sizes_of[0]);
        if (plan != NULL) {
            must_run(ctx, &r, lsp_spmv_execute(plan, &c.vectors));
            plain_spmv(&r, &c.host, &c.x, &c.y);
            must_equal(ctx, &r, &c);
        }
        lsp_spmv_plan_destroy(plan);
        free_case(ctx, &c);
    }
}

/* Where a row begins in a bin of 65,536 entries just fits 16 bits, but not where an empty row behind it does. */
TEST_ON_BOTH(spmv_propagate, empty_rows_behind_a_full_bin) {
    const lsp_spmv_sizes full = {0, 1 << 16, 0};
    for (int number = 0; number < 8; number += one_in) {
        request r = request_of(number);
        r.matrix = "random:50:70000:65536";
        r.transpose = true;
        spmv_case c = make_case(ctx, &r);
        lsp_spmv_plan *plan = make_plan(ctx, &r, &c, &full);
        cr_assert(plan != NULL);
        must_run(ctx, &r, lsp_spmv_execute(plan, &c.vectors));
        plain_spmv(&r, &c.host, &c.x, &c.y);
        must_equal(ctx, &r, &c);
        lsp_spmv_plan_destroy(plan);
        free_case(ctx, &c);
    }
}

TEST_ON_BOTH(spmv_propagate, new_values_and_the_old_arrays_gone) {
    const char *names[] = {"er:700:8", "random:60:50:400", "row:400:5000", "random:70:70:0"};
    for (int number = 0; number < 8; number++) {
        request r = request_of(number + 1), later;
        r.matrix = names[number % 4];
        r.transpose = number >= 4;
        r.special = false;
        later = r;
        later.seed = r.seed + (r.matrix[0] == 'r' && r.matrix[1] == 'a' ? 0 : 1); /* the same structure */
        spmv_case c = make_case(ctx, &r), other = make_case(ctx, &later);
        for (int64_t k = 0; k < other.host.nnz; k++) {
            test_set_value(&other.host, k, (double)(k % 13) - 6, 0);
        }
        must(ctx, lsp_csr_free(ctx, &other.A));
        lsp_csr_types types = lsp_types_of(&other.host);
        types.place = lsp_place_of(ctx->options.device);
        must(ctx, lsp_csr_copy(ctx, &other.host, &types, &other.A));
        lsp_spmv_plan *plan = make_plan(ctx, &r, &c, &sizes_of[number % 2]);
        if (plan != NULL) {
            must_run(ctx, &r, lsp_spmv_update(plan, &other.A));
            must(ctx, lsp_ctx_sync(ctx));
            must(ctx, lsp_csr_free(ctx, &other.A)); /* the plan holds copies */
            must(ctx, lsp_csr_free(ctx, &c.A));
            must_run(ctx, &r, lsp_spmv_execute(plan, &c.vectors));
            plain_spmv(&r, &other.host, &c.x, &c.y);
            must_equal(ctx, &r, &c);
        }
        lsp_spmv_plan_destroy(plan);
        free_case(ctx, &c);
        free_case(ctx, &other);
    }
}

/* y = A*x for numbers whose sums round, by a new plan. Free it. */
static double *rounded_product(lsp_ctx *ctx, const char *matrix, const lsp_spmv_sizes *sizes, int64_t *rows) {
    request r = {.matrix = matrix, .method = LSP_SPMV_PROPAGATE, .val_type = LSP_F64, .type = LSP_F64, .alpha = 1};
    spmv_case c = make_case(ctx, &r);
    for (int64_t i = 0; i < c.x.items; i++) {
        c.x.at[i] = sin((double)i) * pow(10, (double)(i % 9));
    }
    drop(ctx, ctx->options.device, c.x_there);
    c.x_there = place_block(ctx, &r, &c.x, ctx->options.device);
    c.vectors.x = c.x_there;
    lsp_spmv_plan *plan = make_plan(ctx, &r, &c, sizes);
    cr_assert(plan != NULL);
    must_run(ctx, &r, lsp_spmv_execute(plan, &c.vectors));
    double *y = fetch_y(ctx, &r, &c);
    *rows = c.host.rows;
    lsp_spmv_plan_destroy(plan);
    free_case(ctx, &c);
    return y;
}

TEST_ON_BOTH(spmv_propagate, equal_bits_in_every_run) {
    const char *names[] = {"er:700:8", "row:400:5000"};
    for (int number = 0; number < 4; number++) {
        int64_t rows;
        double *first = rounded_product(ctx, names[number % 2], &sizes_of[number / 2], &rows);
        for (int threads = 1; threads <= 7; threads += 3) {
            lsp_ctx *own = ctx->options.device == LSP_HOST ? test_ctx(threads) : ctx;
            double *again = rounded_product(own, names[number % 2], &sizes_of[number / 2], &rows);
            cr_assert(memcmp(first, again, (size_t)rows * sizeof *first) == 0, "%s, %d threads", names[number % 2],
                      threads);
            free(again);
            if (own != ctx) {
                lsp_ctx_destroy(own);
            }
        }
        free(first);
    }
}

static lsp_status plan_and_multiply(lsp_ctx *ctx, void *data) {
    const spmv_case *c = data;
    const lsp_spmv_options options = {.method = LSP_SPMV_PROPAGATE};
    lsp_spmv_plan *plan = NULL;
    lsp_status status = lsp_spmv_plan_create(ctx, &c->A, &options, &plan);
    if (status == LSP_OK) {
        status = resize(plan, &sizes_of[0]);
    }
    if (status == LSP_OK) {
        status = lsp_spmv_execute(plan, &c->vectors);
    }
    lsp_spmv_plan_destroy(plan);
    return status;
}

Test(spmv_propagate, a_failing_allocation_leaves_nothing_behind) {
    lsp_ctx *ctx = test_ctx(1);
    const request r = {.matrix = "row:400:5000", .val_type = LSP_F64, .type = LSP_F64, .alpha = 1, .x_gap = 1};
    spmv_case c = make_case(ctx, &r);
    test_failing_memory(2, plan_and_multiply, &c);
    plain_spmv(&r, &c.host, &c.x, &c.y);
    must_equal(ctx, &r, &c);
    free_case(ctx, &c);
    lsp_ctx_destroy(ctx);
}
