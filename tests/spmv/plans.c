/* Plans: used again, with new values, after their matrix is gone, with what they tell of themselves, and ended in any
 * order. */
#include "cases.h"

static const request usual = {
    .matrix = "poisson2d:20", .planned = true, .val_type = LSP_F64, .type = LSP_F64, .alpha = 1, .seed = 1};

/* A plan of method m for a matrix that suits it; NULL if the method is not offered here. */
static lsp_spmv_plan *plan_of(lsp_ctx *ctx, request *r, int m, const spmv_case *c) {
    lsp_spmv_plan *plan = NULL;
    r->method = (lsp_spmv_method)m;
    const lsp_spmv_options options = options_of(r);
    const lsp_status status = lsp_spmv_plan_create(ctx, &c->A, &options, &plan);
    cr_assert(status == LSP_OK || (status == LSP_ERR_UNSUPPORTED && !always_offered(ctx, r->method)), "%s: %s",
              describe(r).text, lsp_last_error(ctx));
    cr_assert((status == LSP_OK) == (plan != NULL));
    return plan;
}

static request suited(int m) {
    request r = usual;
    r.matrix = m == LSP_SPMV_BLOCKS ? "fem3:4" : "poisson2d:20";
    return r;
}

/* As the header says. */
static bool reads_the_arrays(lsp_spmv_method method) { return method <= LSP_SPMV_GATHER || method == LSP_SPMV_PACKED; }

/* Other values in the same arrays, in both places. */
static void change_values(lsp_ctx *ctx, const request *r, spmv_case *c) {
    uint64_t state = 99;
    for (int64_t k = 0; k < c->host.nnz; k++) {
        test_set_value(&c->host, k, (double)(test_below(&state, 19) - 9), 0);
    }
    const int64_t bytes = c->host.nnz * (int64_t)lsp_type_bytes(r->val_type);
    if (c->A.val != NULL && ctx->options.device == LSP_HOST) {
        memcpy(c->A.val, c->host.val, (size_t)bytes);
    } else if (c->A.val != NULL) {
        must(ctx, lsp_cuda_copy(ctx, c->A.val, LSP_CUDA, c->host.val, LSP_HOST, bytes));
    }
}

static void must_multiply(lsp_ctx *ctx, const request *r, spmv_case *c, lsp_spmv_plan *plan) {
    must_run(ctx, r, lsp_spmv_execute(plan, &c->vectors));
    plain_spmv(r, &c->host, &c->x, &c->y);
    must_equal(ctx, r, c);
}

TEST_ON_BOTH(spmv_plans, new_values_without_a_new_plan) {
    static const lsp_type types[][2] = {
        {LSP_F64, LSP_F64}, {LSP_F32, LSP_F32}, {LSP_F32, LSP_F64}, {LSP_NONE, LSP_F64}};
    for (int i = 0; i < LSP_SPMV_METHODS * 4 * 2; i++) {
        request r = suited(i % LSP_SPMV_METHODS);
        r.val_type = types[i / LSP_SPMV_METHODS % 4][0], r.type = types[i / LSP_SPMV_METHODS % 4][1];
        r.transpose = i / LSP_SPMV_METHODS / 4;
        r.wide_rowptr = i % 5 == 0, r.beta = 1;
        r.method = (lsp_spmv_method)(i % LSP_SPMV_METHODS);
        spmv_case c = make_case(ctx, &r);
        lsp_spmv_plan *plan = plan_of(ctx, &r, i % LSP_SPMV_METHODS, &c);
        for (int round = 0; plan != NULL && round < 3; round++) {
            must_multiply(ctx, &r, &c, plan);
            change_values(ctx, &r, &c);
            must(ctx, lsp_spmv_update(plan, &c.A));
        }
        if (plan != NULL && (r.transpose || !reads_the_arrays(r.method))) { /* a plan with a copy outlives the arrays */
            must(ctx, lsp_ctx_sync(ctx));
            must(ctx, lsp_csr_free(ctx, &c.A));
            must_multiply(ctx, &r, &c, plan);
        }
        lsp_spmv_plan_destroy(plan);
        free_case(ctx, &c);
    }
}

TEST_ON_BOTH(spmv_plans, an_update_from_another_matrix_is_refused) {
    request r = usual;
    spmv_case c = make_case(ctx, &r);
    lsp_spmv_plan *plan = plan_of(ctx, &r, LSP_SPMV_AUTO, &c);
    lsp_csr A = c.A;
    must_fail(ctx, LSP_ERR_ARGUMENT, "A is NULL", lsp_spmv_update(plan, NULL));
    A.nnz--;
    must_fail(ctx, LSP_ERR_ARGUMENT, "1919", lsp_spmv_update(plan, &A));
    A = c.A, A.cols++;
    must_fail(ctx, LSP_ERR_ARGUMENT, "401", lsp_spmv_update(plan, &A));
    A = c.A, A.val_type = LSP_F32;
    must_fail(ctx, LSP_ERR_ARGUMENT, "LSP_F32", lsp_spmv_update(plan, &A));
    A = c.A, A.where = ctx->options.device == LSP_HOST ? LSP_CUDA : LSP_HOST;
    must_fail(ctx, LSP_ERR_ARGUMENT, "lies on", lsp_spmv_update(plan, &A));
    must_multiply(ctx, &r, &c, plan);
    lsp_spmv_plan_destroy(plan);
    free_case(ctx, &c);
    cr_assert(lsp_spmv_update(NULL, &A) == LSP_ERR_ARGUMENT);
}

/* Of all that a method may ask for, the refusal names the one that is too much. */
TEST_ON_BOTH(spmv_plans, a_refusal_names_what_is_too_much) {
    const struct {
        lsp_spmv_method method;
        lsp_semiring semiring;
        int64_t vectors;
        const char *why;
    } wrong[] = {{LSP_SPMV_PROPAGATE, LSP_PLUS_TIMES, 2, "propagate takes up to 1 vectors, not 2"},
                 {LSP_SPMV_PROPAGATE, LSP_MIN_PLUS, 1, "propagate takes the semiring plus-times, not min-plus"},
                 {LSP_SPMV_DIAGONALS, LSP_PLUS_TIMES, 17, "diagonals takes up to 16 vectors, not 17"},
                 {LSP_SPMV_BLOCKS, LSP_MAX_TIMES, 1, "blocks takes the semiring plus-times, not max-times"},
                 {LSP_SPMV_REFERENCE, LSP_PLUS_TIMES, 1, "reference is not offered for matrices on a GPU"},
                 {LSP_SPMV_LENGTHS, LSP_PLUS_TIMES, 3, "lengths takes up to 1 vectors, not 3"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const request r = usual;
        spmv_case c = make_case(ctx, &r);
        const lsp_spmv_options options = {
            .method = wrong[i].method, .semiring = wrong[i].semiring, .vectors = wrong[i].vectors};
        lsp_spmv_plan *plan = NULL;
        const bool on_gpu = ctx->options.device == LSP_CUDA;
        if (i < 4 || on_gpu) {
            must_fail(ctx, LSP_ERR_UNSUPPORTED, wrong[i].why, lsp_spmv_plan_create(ctx, &c.A, &options, &plan));
        }
        free_case(ctx, &c);
    }
}

TEST_ON_BOTH(spmv_plans, a_plan_tells_what_it_took) {
    for (int m = 0; m < LSP_SPMV_METHODS; m++) {
        request r = suited(m);
        spmv_case c = make_case(ctx, &r);
        lsp_spmv_plan *plan = plan_of(ctx, &r, m, &c);
        lsp_spmv_info info;
        if (plan != NULL) {
            must(ctx, lsp_spmv_plan_get_info(plan, &info));
            cr_assert(info.method > LSP_SPMV_AUTO && (int)info.method < LSP_SPMV_METHODS);
            cr_assert(m == LSP_SPMV_AUTO || info.method == r.method);
            cr_assert(info.reason[0] != 0 && info.passes >= 1 && info.plan_seconds > 0);
            cr_assert(info.rows_seconds > 0 && info.seconds[LSP_SPMV_ROWS] == info.rows_seconds);
            cr_assert(info.stored_entries >= c.A.nnz, "%lld", (long long)info.stored_entries);
            cr_assert(reads_the_arrays(info.method) || info.plan_bytes > c.A.nnz * 8, "%s: %lld bytes",
                      describe(&r).text, (long long)info.plan_bytes);
            for (int i = 0; i < LSP_RESERVED; i++) {
                cr_assert(info.reserved[i] == 0);
            }
            must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spmv_plan_get_info(plan, NULL));
        }
        lsp_spmv_plan_destroy(plan);
        free_case(ctx, &c);
    }
    cr_assert(lsp_spmv_plan_get_info(NULL, NULL) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_spmv_execute(NULL, NULL) == LSP_ERR_ARGUMENT);
    lsp_spmv_plan_destroy(NULL);
}

Test(spmv_plans, a_choice_that_memory_does_not_allow_gives_way_to_the_matrix_as_it_is) {
    lsp_ctx *ctx = test_ctx(2);
    request r = usual;
    r.matrix = "stencil27:40", r.val_type = LSP_F64;
    spmv_case c = make_case(ctx, &r);
    const lsp_spmv_options options = options_of(&r);
    lsp_spmv_plan *plan = NULL;
    lsp_spmv_info wanted, info;
    must(ctx, lsp_spmv_plan_create(ctx, &c.A, &options, &plan));
    must(ctx, lsp_spmv_plan_get_info(plan, &wanted));
    cr_assert(wanted.method == LSP_SPMV_DIAGONALS && wanted.plan_bytes > 0);
    lsp_spmv_plan_destroy(plan);
    must(ctx, lsp_ctx_trim(ctx));
    must(ctx, lsp_ctx_set_max_bytes(ctx, ctx->space[LSP_HOST].used + wanted.plan_bytes * 3 / 4));
    must(ctx, lsp_spmv_plan_create(ctx, &c.A, &options, &plan));
    must(ctx, lsp_ctx_set_max_bytes(ctx, 0));
    must(ctx, lsp_spmv_plan_get_info(plan, &info));
    cr_assert(info.method == LSP_SPMV_ROWS && info.plan_bytes < wanted.plan_bytes / 2);
    cr_assert(wanted.pays_after > 0 && info.pays_after == 0 && info.stored_entries == c.A.nnz);
    cr_assert(strstr(info.reason, "memory") != NULL, "%s", info.reason);
    must_multiply(ctx, &r, &c, plan);
    lsp_spmv_plan_destroy(plan);
    free_case(ctx, &c);
    lsp_ctx_destroy(ctx);
}

TEST_ON_BOTH(spmv_plans, a_plan_for_one_call_takes_the_matrix_as_it_is) {
    request r = usual;
    spmv_case c = make_case(ctx, &r);
    lsp_spmv_options options = options_of(&r);
    lsp_spmv_plan *plan = NULL;
    lsp_spmv_info info;
    options.expected_calls = 1;
    must(ctx, lsp_spmv_plan_create(ctx, &c.A, &options, &plan));
    must(ctx, lsp_spmv_plan_get_info(plan, &info));
    cr_assert(info.method == LSP_SPMV_ROWS && strstr(info.reason, "few calls") != NULL, "%s", info.reason);
    cr_assert(info.pays_after == 0 && info.predicted_seconds > 0 && info.predicted_seconds == info.rows_seconds);
    must_multiply(ctx, &r, &c, plan);
    lsp_spmv_plan_destroy(plan);
    options.expected_calls = INT64_C(1) << 40;
    must(ctx, lsp_spmv_plan_create(ctx, &c.A, &options, &plan));
    must(ctx, lsp_spmv_plan_get_info(plan, &info));
    cr_assert(strstr(info.reason, "few calls") == NULL, "%s", info.reason);
    lsp_spmv_plan_destroy(plan);
    free_case(ctx, &c);
}

TEST_ON_BOTH(spmv_plans, plans_and_their_context_end_in_any_order) {
    for (int order = 0; order < 3; order++) { /* the context first, between, last */
        lsp_ctx *own = NULL;
        const lsp_ctx_options options = {.device = ctx->options.device, .threads = 2};
        cr_assert(lsp_ctx_create(&own, &options, NULL, 0) == LSP_OK);
        lsp_spmv_plan *plans[LSP_SPMV_METHODS] = {NULL};
        request r = usual;
        r.matrix = "fem3:3";
        spmv_case c = make_case(own, &r);
        for (int m = 0; m < LSP_SPMV_METHODS; m++) {
            r.transpose = m % 2;
            plans[m] = plan_of(own, &r, m, &c);
        }
        must(own, lsp_ctx_sync(own));
        lsp_spmv_vectors vectors = c.vectors;
        free_case(own, &c);
        for (int m = 0; m < LSP_SPMV_METHODS; m++) {
            lsp_spmv_info info;
            if (m == order * LSP_SPMV_METHODS / 2) {
                lsp_ctx_destroy(own);
                own = NULL;
                cr_assert(lsp_spmv_execute(plans[m], &vectors) == LSP_ERR_ARGUMENT);
                cr_assert(lsp_spmv_plan_get_info(plans[m], &info) == LSP_ERR_ARGUMENT);
            }
            lsp_spmv_plan_destroy(plans[m]);
        }
        lsp_ctx_destroy(own);
    }
}
