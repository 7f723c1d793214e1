/* Plans: several right-hand sides, new values, plans that outlive their context; arguments that are refused;
 * allocations that fail; the NAS benchmark. */
#include "cases.h"
#include "libsparse/unstable.h"

TEST_ON_BOTH(solve_plans, several_right_hand_sides_give_the_bits_of_single_calls) {
    for (int k = 0; k < 4; k++) {
        problem s = named_system(ctx, "poisson2d:25", LSP_F64);
        const lsp_solve_options o = {.method = LSP_SPMV_ROWS, .precondition = (lsp_precondition)(k >> 1)};
        lsp_solve_plan *plan;
        must(ctx, (k & 1 ? lsp_bicgstab_plan_create : lsp_cg_plan_create)(ctx, &s.there, &o, &plan));
        for (int round = 0; round < 3; round++) {
            free(s.b);
            s.b = random_vector(s.n, (uint64_t)round + 1);
            solved single = solve(&s, k & 1, o, NULL);
            lsp_solve_info info;
            void *b = send(&s, s.b), *x = send(&s, s.b);
            must(ctx, lsp_solve_plan_get_info(plan, &info)); /* of the plan alone */
            cr_assert(info.spmv.method == LSP_SPMV_ROWS && info.plan_seconds > 0 && info.solver[0] != 0 &&
                      info.iterations == 0 && info.b_norm == 0 && info.reason[0] == 0);
            must(ctx, lsp_solve_execute(plan, b, x, &info));
            lsp_free(ctx, b);
            double *planned = receive(&s, x);
            cr_assert(memcmp(planned, single.x, (size_t)s.n * sizeof *planned) == 0);
            cr_assert(info.iterations == single.info.iterations && info.spmv.method == LSP_SPMV_ROWS);
            free(planned), free(single.x);
        }
        lsp_solve_plan_destroy(plan);
        free_system(&s);
    }
}

TEST_ON_BOTH(solve_plans, new_values_are_taken) {
    static const lsp_spmv_method methods[] = {LSP_SPMV_AUTO, LSP_SPMV_ROWS};
    for (int k = 0; k < 8; k++) {
        problem s = named_system(ctx, "poisson2d:20", LSP_F64);
        lsp_csr B = make_matrix(ctx, "poisson2d:20", (lsp_csr_types){0});
        for (int64_t i = 0; i < B.rows; i++) {
            for (int64_t e = lsp_csr_rowptr(&B, i); e < lsp_csr_rowptr(&B, i + 1); e++) {
                ((double *)B.val)[e] *= lsp_csr_col(&B, e) == i ? 1.5 + (double)(i % 3) : 0.5;
            }
        }
        problem t = make_system(ctx, B, LSP_F64, 5);
        const lsp_solve_options o = {.precondition = k >> 1 & 1, .method = methods[k >> 2]};
        lsp_solve_plan *plan;
        must(ctx, (k & 1 ? lsp_bicgstab_plan_create : lsp_cg_plan_create)(ctx, &s.there, &o, &plan));
        for (int round = 0; round < 3; round++) {
            const problem *now = round == 1 ? &t : &s;
            if (round > 0) {
                must(ctx, lsp_solve_update(plan, &now->there));
            }
            void *b = send(now, now->b), *x = send(now, now->b);
            must(ctx, lsp_solve_execute(plan, b, x, NULL));
            lsp_free(ctx, b);
            double *found = receive(now, x);
            cr_assert(true_residual(now, found) < 1e-7, "round %d: %g", round, true_residual(now, found));
            free(found);
        }
        lsp_solve_plan_destroy(plan);
        free_system(&s);
        free_system(&t);
    }
}

Test(solve_plans, systems_of_integers_are_refused) {
    lsp_ctx *ctx = test_ctx(1);
    int32_t rowptr[] = {0, 1}, col[] = {0};
    int64_t val[] = {3};
    double b = 1, x = 0;
    lsp_csr A = {1, 1, 1, rowptr, col, val, LSP_I32, LSP_I32, LSP_I64, LSP_HOST};
    static const lsp_type types[] = {LSP_I32, LSP_I64, LSP_BOOL};
    for (int t = 0; t < 3; t++) {
        A.val_type = types[t];
        must_fail(ctx, LSP_ERR_UNSUPPORTED, "systems of integers", lsp_cg(ctx, &A, &b, NULL, &x, NULL));
        must_fail(ctx, LSP_ERR_UNSUPPORTED, "systems of integers",
                  lsp_bicgstab(ctx, &A, &b, &(lsp_solve_options){.type = LSP_F64}, &x, NULL));
    }
    cr_assert(x == 0);
    lsp_ctx_destroy(ctx);
}

TEST_ON_BOTH(solve_plans, a_refused_update_leaves_the_plan_as_it_was) {
    problem s = named_system(ctx, "poisson2d:20", LSP_F64);
    problem t = named_system(ctx, "poisson2d:20", LSP_F64), other = named_system(ctx, "poisson2d:21", LSP_F64);
    lsp_solve_plan *plan;
    if (s.where == LSP_CUDA) {
        must(ctx, lsp_cuda_clear(ctx, t.there.val, t.A.nnz * 8));
    } else {
        memset(t.A.val, 0, (size_t)t.A.nnz * 8);
    }
    must(ctx, lsp_cg_plan_create(ctx, &s.there, &(lsp_solve_options){.precondition = 1}, &plan));
    must_fail(ctx, LSP_ERR_ARGUMENT, "row 0: the diagonal entry is 0", lsp_solve_update(plan, &t.there));
    must_fail(ctx, LSP_ERR_ARGUMENT, "400 x 400", lsp_solve_update(plan, &other.there));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_solve_update(plan, NULL));
    void *b = send(&s, s.b), *x = send(&s, s.b);
    must(ctx, lsp_solve_execute(plan, b, x, NULL));
    lsp_free(ctx, b);
    double *found = receive(&s, x);
    cr_assert(true_residual(&s, found) < 1e-7);
    free(found);
    lsp_solve_plan_destroy(plan);
    free_system(&s), free_system(&t), free_system(&other);
}

static void outlive(lsp_ctx *ctx) {
    lsp_solve_plan *plans[2];
    problem s = named_system(ctx, "poisson2d:10", LSP_F64);
    must(ctx, lsp_cg_plan_create(ctx, &s.there, &(lsp_solve_options){.method = LSP_SPMV_ROWS}, &plans[0]));
    must(ctx, lsp_bicgstab_plan_create(ctx, &s.there, &(lsp_solve_options){.precondition = 1}, &plans[1]));
    void *b = send(&s, s.b), *x = send(&s, s.b);
    must(ctx, lsp_solve_execute(plans[0], b, x, NULL));
    must(ctx, lsp_solve_execute(plans[1], b, x, NULL));
    free(s.b);
    lsp_ctx_destroy(ctx);
    for (int k = 0; k < 2; k++) {
        double one = 1, two = 2;
        cr_assert(lsp_solve_execute(plans[k], &one, &two, NULL) == LSP_ERR_ARGUMENT);
        cr_assert(lsp_solve_update(plans[k], &s.there) == LSP_ERR_ARGUMENT);
        cr_assert(lsp_solve_plan_get_info(plans[k], &(lsp_solve_info){0}) == LSP_ERR_ARGUMENT);
        lsp_solve_plan_destroy(plans[k]);
    }
    lsp_solve_plan_destroy(NULL);
}
Test(solve_plans, plans_may_outlive_their_context) { outlive(test_ctx(2)); }
Test(solve_plans, plans_may_outlive_their_context_on_the_gpu) { outlive(test_gpu_ctx_or_skip()); }

/* ---- arguments ---- */

static lsp_status no_apply(void *user, lsp_ctx *ctx, const void *x, void *y) {
    (void)user, (void)ctx, (void)x, (void)y;
    return LSP_OK;
}

Test(solve_plans, malformed_arguments_are_refused_and_nothing_is_written) {
    lsp_ctx *ctx = test_ctx(2);
    problem s = named_system(ctx, "poisson2d:4", LSP_F64);
    double x[17] = {9, 9};
    lsp_csr wide = make_matrix(ctx, "poisson2d:4", (lsp_csr_types){0});
    lsp_solve_plan *plan;
    wide.cols = 20;
    cr_assert(lsp_cg(NULL, &s.A, s.b, NULL, x, NULL) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_cg_plan_create(NULL, &s.A, NULL, &plan) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_solve_execute(NULL, s.b, x, NULL) == LSP_ERR_ARGUMENT);
    must_fail(ctx, LSP_ERR_ARGUMENT, "place for the plan", lsp_cg_plan_create(ctx, &s.A, NULL, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "16 x 20", lsp_cg(ctx, &wide, s.b, NULL, x, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "neither a matrix nor", lsp_cg(ctx, NULL, s.b, NULL, x, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "b, 16 numbers, is NULL", lsp_cg(ctx, &s.A, NULL, NULL, x, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "x, 16 numbers, is NULL", lsp_cg(ctx, &s.A, s.b, NULL, NULL, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "overlap", lsp_cg(ctx, &s.A, x, NULL, x + 1, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "multiple of 8", lsp_cg(ctx, &s.A, s.b, NULL, (char *)x + 4, NULL));
#define REFUSED(code, part, ...)                                                                                       \
    must_fail(ctx, code, part, lsp_cg(ctx, &s.A, s.b, &(lsp_solve_options){__VA_ARGS__}, x, NULL));                    \
    must_fail(ctx, code, part, lsp_bicgstab_plan_create(ctx, &s.A, &(lsp_solve_options){__VA_ARGS__}, &plan))
    REFUSED(LSP_ERR_ARGUMENT, "tolerances of -1", .rtol = -1);
    REFUSED(LSP_ERR_ARGUMENT, "tolerances of nan", .rtol = NAN);
    REFUSED(LSP_ERR_ARGUMENT, "tolerances of", .atol = INFINITY);
    REFUSED(LSP_ERR_ARGUMENT, "-3 iterations", .max_iterations = -3);
    REFUSED(LSP_ERR_ARGUMENT, "preconditioner 7", .precondition = (lsp_precondition)7);
    REFUSED(LSP_ERR_ARGUMENT, "needs precondition_apply", .precondition = LSP_PRECONDITION_USER);
    REFUSED(LSP_ERR_ARGUMENT, "needs LSP_PRECONDITION_USER", .precondition_apply = no_apply);
    REFUSED(LSP_ERR_ARGUMENT, "both a matrix and an operator", .operator_apply = no_apply);
    REFUSED(LSP_ERR_ARGUMENT, "history", .history_capacity = 4);
    REFUSED(LSP_ERR_ARGUMENT, "no method 99", .method = (lsp_spmv_method)99);
    REFUSED(LSP_ERR_ARGUMENT, "passes", .passes = -1);
    REFUSED(LSP_ERR_ARGUMENT, "reserved[3]", .reserved[3] = 1);
    REFUSED(LSP_ERR_UNSUPPORTED, "not narrower", .type = LSP_F32);
    REFUSED(LSP_ERR_UNSUPPORTED, "LSP_I32", .type = LSP_I32);
#undef REFUSED
#define REFUSED_OPERATOR(part, ...)                                                                                    \
    must_fail(ctx, LSP_ERR_ARGUMENT, part,                                                                             \
              lsp_cg(ctx, NULL, s.b, &(lsp_solve_options){.operator_apply = no_apply, __VA_ARGS__}, x, NULL))
    REFUSED_OPERATOR("-4 unknowns", .n = -4);
    REFUSED_OPERATOR("place 5", .n = 4, .where = (lsp_where)5);
    REFUSED_OPERATOR("Jacobi needs", .n = 4, .precondition = LSP_PRECONDITION_JACOBI);
#undef REFUSED_OPERATOR
    cr_assert(x[0] == 9 && x[1] == 9 && x[2] == 0);
    must(ctx, lsp_cg_plan_create(ctx, NULL, &(lsp_solve_options){.operator_apply = no_apply, .n = 16}, &plan));
    must_fail(ctx, LSP_ERR_ARGUMENT, "no values", lsp_solve_update(plan, &s.A));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_solve_plan_get_info(plan, NULL));
    lsp_solve_plan_destroy(plan);
    free_system(&s);
    lsp_ctx_destroy(ctx);
}

static lsp_status solve_all(lsp_ctx *ctx, void *data) {
    const problem *s = data;
    lsp_status status = LSP_OK;
    double x[100] = {0};
    lsp_csr A = s->A;
    for (int k = 0; k < 4 && status == LSP_OK; k++) {
        status = (k & 1 ? lsp_bicgstab : lsp_cg)(
            ctx, &A, s->b, &(lsp_solve_options){.precondition = (lsp_precondition)(k >> 1)}, x, NULL);
        cr_assert(status == LSP_OK || k > 0 || x[0] == 0);
    }
    return status;
}
Test(solve_plans, failing_allocations_are_told_and_leak_nothing) {
    lsp_ctx *ctx = test_ctx(1);
    problem s = named_system(ctx, "poisson2d:10", LSP_F64);
    test_failing_memory(2, solve_all, &s);
    free_system(&s);
    lsp_ctx_destroy(ctx);
}

/* ---- the NAS benchmark ---- */

typedef struct reports {
    int64_t calls;
    double zeta;
} reports;
static void note(void *user, int64_t iteration, double residual, double zeta) {
    reports *r = user;
    r->calls++;
    r->zeta = zeta;
    cr_assert(iteration == r->calls && residual < 1e-5, "%ld: residual %g", (long)iteration, residual);
}

static void verify_nas(lsp_ctx *ctx, char name, lsp_spmv_method method) {
    char spec[16];
    snprintf(spec, sizeof spec, "nascg:%c", name);
    problem s = make_system(ctx, make_matrix(ctx, spec, (lsp_csr_types){0}), LSP_F64, 1);
    lsp_nas_result result;
    lsp_nas_class params;
    reports r = {0};
    must(ctx, lsp_nas_get_class(ctx, name, &params));
    must(ctx, lsp_nas_cg(ctx, name, &s.there, &(lsp_solve_options){.method = method}, note, &r, &result));
    cr_assert(result.verified && result.reference == params.zeta && r.zeta == result.zeta,
              "class %c: zeta %.15g, %.15g", name, result.zeta, result.reference);
    cr_assert(r.calls == params.iterations && result.iterations == params.iterations && result.mops > 0);
    free_system(&s);
}
Test(solve_plans, nas_classes_s_and_w_are_verified) {
    lsp_ctx *ctx = test_ctx(2);
    verify_nas(ctx, 'S', LSP_SPMV_AUTO);
    verify_nas(ctx, 'W', LSP_SPMV_AUTO);
    lsp_ctx_destroy(ctx);
}
Test(solve_plans, nas_classes_s_and_w_are_verified_on_the_gpu) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    if (!LSP_EMULATED) { /* 390 products of 78,000 entries are too many there */
        verify_nas(ctx, 'S', LSP_SPMV_ROWS);
        verify_nas(ctx, 'W', LSP_SPMV_ROWS);
        verify_nas(ctx, 'S', LSP_SPMV_AUTO);
        verify_nas(ctx, 'W', LSP_SPMV_AUTO);
    }
    lsp_ctx_destroy(ctx);
}

Test(solve_plans, nas_refuses_another_matrix) {
    lsp_ctx *ctx = test_ctx(1);
    problem s = named_system(ctx, "poisson2d:4", LSP_F64);
    lsp_nas_result result;
    must_fail(ctx, LSP_ERR_ARGUMENT, "class S needs 1400 x 1400",
              lsp_nas_cg(ctx, 'S', &s.A, NULL, NULL, NULL, &result));
    must_fail(ctx, LSP_ERR_ARGUMENT, "'Q'", lsp_nas_cg(ctx, 'Q', &s.A, NULL, NULL, NULL, &result));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_nas_cg(ctx, 'S', &s.A, NULL, NULL, NULL, NULL));
    free_system(&s);
    lsp_ctx_destroy(ctx);
}
