/* Calls of multigrid that are refused, by its set-up and by its cycle; allocations that fail. */
#include "cases.h"

/* ---- refusals ---- */

TEST_ON_BOTH(multigrid_calls, wrong_arguments_are_refused_with_a_sentence) {
    problem s = named_system(ctx, "poisson2d:10", LSP_F64);
    lsp_multigrid *const none = (lsp_multigrid *)&s, *m = none;
    lsp_csr oblong = s.there;
    oblong.cols++;
    static const struct {
        lsp_multigrid_options options;
        lsp_status status;
        const char *part;
    } wrong[] = {
        {{.type = LSP_F32}, LSP_ERR_UNSUPPORTED, "not narrower"},
        {{.type = LSP_C64}, LSP_ERR_UNSUPPORTED, "LSP_C64"},
        {{.level_values = LSP_F64}, LSP_ERR_ARGUMENT, "LSP_F32 or LSP_NONE"},
        {{.threshold = -1}, LSP_ERR_ARGUMENT, "threshold of -1"},
        {{.threshold = 1}, LSP_ERR_ARGUMENT, "threshold of 1"},
        {{.block = 3}, LSP_ERR_ARGUMENT, "no multiple"},
        {{.block = -1}, LSP_ERR_ARGUMENT, "-1 unknowns"},
        {{.near_null_vectors = 2}, LSP_ERR_ARGUMENT, "2 near-null vectors"},
        {{.smoother = (lsp_smoother)7}, LSP_ERR_ARGUMENT, "no smoother 7"},
        {{.cycle = (lsp_cycle)7}, LSP_ERR_ARGUMENT, "no cycle 7"},
        {{.sweeps = -1}, LSP_ERR_ARGUMENT, "-1 sweeps"},
        {{.coarsest = -1}, LSP_ERR_ARGUMENT, "-1 unknowns"},
        {{.reserved = {1}}, LSP_ERR_ARGUMENT, "reserved"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        must_fail(ctx, wrong[i].status, wrong[i].part, lsp_multigrid_create(ctx, &s.there, &wrong[i].options, &m));
    }
    must_fail(ctx, LSP_ERR_ARGUMENT, "A is NULL", lsp_multigrid_create(ctx, NULL, NULL, &m));
    must_fail(ctx, LSP_ERR_ARGUMENT, "square", lsp_multigrid_create(ctx, &oblong, NULL, &m));
    must_fail(ctx, LSP_ERR_ARGUMENT, "place for the plan", lsp_multigrid_create(ctx, &s.there, NULL, NULL));
    cr_assert(lsp_multigrid_create(NULL, &s.there, NULL, &m) == LSP_ERR_ARGUMENT && m == none);
    lsp_multigrid_destroy(NULL);
    must(ctx, lsp_multigrid_create(ctx, &s.there, NULL, &m));
    must_fail(ctx, LSP_ERR_ARGUMENT, "levels 0 to 0", lsp_multigrid_get_level(m, 1, NULL, NULL));
    cr_assert(lsp_multigrid_get_info(m, NULL) == LSP_ERR_ARGUMENT);
    lsp_multigrid_destroy(m);
    free_system(&s);
}

TEST_ON_BOTH(multigrid_calls, matrices_that_cannot_be_served_are_refused_with_a_sentence) {
    static const double indefinite[] = {1, 2, 2, 1}, missing[] = {1, 2, 2, 0}, infinite[] = {1, 0, 0, INFINITY};
    static const struct {
        const double *values;
        const char *part;
    } wrong[] = {{indefinite, "the pivot -3"}, {missing, "row 1: the diagonal entry is 0"}, {infinite, "row 1"}};
    for (int i = 0; i < 3; i++) {
        problem s = make_system(ctx, dense_matrix(ctx, 2, wrong[i].values), LSP_F64, 5);
        lsp_multigrid *m = NULL;
        must_fail(ctx, LSP_ERR_ARGUMENT, wrong[i].part, lsp_multigrid_create(ctx, &s.there, NULL, &m));
        cr_assert(m == NULL);
        free_system(&s);
    }
    lsp_csr pattern = make_matrix(ctx, "poisson2d:20", (lsp_csr_types){.drop_values = true}); /* indefinite */
    problem s = make_system(ctx, pattern, LSP_F64, 5);
    lsp_multigrid *m = NULL;
    const lsp_status status = lsp_multigrid_create(ctx, &s.there, &(lsp_multigrid_options){.coarsest = 20}, &m);
    cr_assert(status == LSP_OK || (status == LSP_ERR_ARGUMENT && m == NULL), "%s", lsp_last_error(ctx));
    lsp_multigrid_destroy(m);
    free_system(&s);
}

static lsp_status copy_vector(void *user, lsp_ctx *ctx, const void *x, void *y) {
    (void)user, (void)ctx;
    memcpy(y, x, 8);
    return LSP_OK;
}

TEST_ON_BOTH(multigrid_calls, wrong_arguments_are_told) {
    problem s = named_system(ctx, "poisson2d:12", LSP_F64), other = named_system(ctx, "poisson2d:9", LSP_F64);
    lsp_multigrid *m;
    void *b = send(&s, s.b), *x = send(&s, s.b);
    must(ctx, lsp_multigrid_create(ctx, &s.there, NULL, &m));
    lsp_solve_options o = {.multigrid = m};
    must_fail(ctx, LSP_ERR_ARGUMENT, "needs LSP_PRECONDITION_MULTIGRID", lsp_cg(ctx, &s.there, b, &o, x, NULL));
    o.precondition = (lsp_precondition)4;
    must_fail(ctx, LSP_ERR_ARGUMENT, "no preconditioner 4", lsp_cg(ctx, &s.there, b, &o, x, NULL));
    o.precondition = LSP_PRECONDITION_MULTIGRID;
    must_fail(ctx, LSP_ERR_ARGUMENT, "144 unknowns", lsp_cg(ctx, &other.there, b, &o, x, NULL));
    o = (lsp_solve_options){
        .precondition = LSP_PRECONDITION_MULTIGRID, .operator_apply = copy_vector, .n = s.n, .where = s.where};
    must_fail(ctx, LSP_ERR_ARGUMENT, "options->multigrid", lsp_cg(ctx, NULL, b, &o, x, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "b, 144 numbers, is NULL", lsp_multigrid_apply(m, NULL, x));
    must_fail(ctx, LSP_ERR_ARGUMENT, "overlap", lsp_multigrid_apply(m, x, x));
    must_fail(ctx, LSP_ERR_ARGUMENT, "takes no preconditioner",
              lsp_multigrid_solve(m, b, &(lsp_solve_options){.precondition = LSP_PRECONDITION_JACOBI}, x, NULL));
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "type LSP_F32",
              lsp_multigrid_solve(m, b, &(lsp_solve_options){.type = LSP_F32}, x, NULL));
    cr_assert(lsp_multigrid_apply(NULL, b, x) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_multigrid_solve(NULL, b, NULL, x, NULL) == LSP_ERR_ARGUMENT);
    lsp_free(ctx, b);
    double *untouched = receive(&s, x);
    cr_assert(memcmp(untouched, s.b, (size_t)s.n * sizeof *untouched) == 0);
    free(untouched);
    lsp_multigrid_destroy(m);
    free_system(&s), free_system(&other);
}

/* ---- memory ---- */

static lsp_status create_and_update(lsp_ctx *ctx, void *data) {
    const lsp_csr *A = data;
    lsp_multigrid *m = NULL;
    const lsp_multigrid_options o = {.block = 3, .coarsest = 12, .threshold = 0.01};
    lsp_status status = lsp_multigrid_create(ctx, A, &o, &m);
    cr_assert((status == LSP_OK) == (m != NULL));
    if (status == LSP_OK) {
        status = lsp_multigrid_update(m, A);
        cr_assert(status == LSP_OK || lsp_multigrid_update(m, A) == LSP_OK, "%s", lsp_last_error(ctx));
    }
    lsp_multigrid_destroy(m);
    return status;
}

Test(multigrid_calls, failing_allocations_leave_nothing_behind) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A = make_matrix(ctx, "spd:fem3:4", (lsp_csr_types){0});
    test_failing_memory(1, create_and_update, &A);
    lsp_ctx_destroy(ctx);
}

Test(multigrid_calls, a_budget_is_kept) {
    lsp_ctx *ctx = test_ctx(2);
    lsp_csr A = make_matrix(ctx, "poisson2d:60", (lsp_csr_types){0});
    bool made = false;
    for (int64_t bytes = 1 << 18; !made; bytes += bytes / 4) {
        lsp_ctx *small = NULL;
        lsp_multigrid *m = NULL;
        lsp_ctx_info info;
        cr_assert(bytes < 1 << 28);
        cr_assert(lsp_ctx_create(&small, &(lsp_ctx_options){.threads = 2, .max_bytes = bytes}, NULL, 0) == LSP_OK);
        const lsp_status status = lsp_multigrid_create(small, &A, NULL, &m);
        cr_assert(status == LSP_OK || (status == LSP_ERR_MEMORY && m == NULL), "%s", lsp_last_error(small));
        must(small, lsp_ctx_get_info(small, &info));
        cr_assert(info.host_peak_bytes <= bytes);
        made = status == LSP_OK;
        lsp_ctx_destroy(small); /* before the plan */
        cr_assert(m == NULL || lsp_multigrid_update(m, &A) == LSP_ERR_ARGUMENT);
        lsp_multigrid_destroy(m);
    }
    lsp_ctx_destroy(ctx);
}
static lsp_status solve_both_ways(lsp_ctx *ctx, void *data) {
    const problem *s = data;
    lsp_multigrid *m = NULL;
    double *x = malloc((size_t)s->n * sizeof *x);
    memcpy(x, s->b, (size_t)s->n * sizeof *x);
    lsp_status status =
        lsp_cg(ctx, &s->A, s->b, &(lsp_solve_options){.precondition = LSP_PRECONDITION_MULTIGRID}, x, NULL);
    if (status == LSP_OK) {
        memcpy(x, s->b, (size_t)s->n * sizeof *x);
        status = lsp_multigrid_create(ctx, &s->A, NULL, &m);
        cr_assert((status == LSP_OK) == (m != NULL));
    }
    status = status == LSP_OK ? lsp_multigrid_solve(m, s->b, NULL, x, NULL) : status;
    cr_assert(status == LSP_OK || memcmp(x, s->b, (size_t)s->n * sizeof *x) == 0);
    lsp_multigrid_destroy(m);
    free(x);
    return status;
}

Test(multigrid_calls, failing_allocations_are_told_and_leak_nothing) {
    lsp_ctx *ctx = test_ctx(1);
    problem s = named_system(ctx, "poisson2d:12", LSP_F64);
    test_failing_memory(2, solve_both_ways, &s);
    free_system(&s);
    lsp_ctx_destroy(ctx);
}
