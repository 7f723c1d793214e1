/* Solutions against the reference, against elimination, and against themselves with other numbers of threads. */
#include "cases.h"

/* lsp_cg as ROWS: on a GPU, AUTO may solve in one kernel, ROWS never does. */
static const lsp_spmv_method methods[] = {LSP_SPMV_AUTO, LSP_SPMV_ROWS};

static void must_solve(const problem *s, const char *name, bool bicgstab, lsp_solve_options options) {
    const double rtol = s->type == LSP_F64 ? 1e-9 : 1e-5;
    options.rtol = rtol;
    solved out = solve(s, bicgstab, options, NULL);
    cr_assert(out.status == LSP_OK, "%s: %s: %s", name, lsp_status_name(out.status), lsp_last_error(s->ctx));
    const double residual = true_residual(s, out.x);
    cr_assert(out.info.end == LSP_SOLVE_CONVERGED && residual <= 10 * rtol, "%s: %s, residual %g", name,
              out.info.reason, residual);
    cr_assert(fabs(out.info.residual - residual) <= (s->type == LSP_F64 ? 1e-12 : 1e-5), "%s: residual %g, told %g",
              name, residual, out.info.residual);
    if (s->type == LSP_F64) {
        lsp_solve_state state;
        double *x = malloc((size_t)(s->n + 1) * sizeof *x), most = 0, size = 0;
        must(s->ctx, lsp_solve_ref(s->ctx, &s->A, &options, bicgstab, s->b, x, &state));
        for (int64_t i = 0; i < s->n; i++) {
            most = fmax(most, fabs(x[i] - out.x[i]));
            size = fmax(size, fabs(x[i]));
        }
        cr_assert(most <= 1e-5 * size, "%s: differs from the reference by %g of %g", name, most, size);
        cr_assert(llabs((long long)(state.end_iteration - out.info.iterations)) <= 2 + state.end_iteration / 10,
                  "%s: %lld iterations, the reference needs %lld", name, (long long)out.info.iterations,
                  (long long)state.end_iteration);
        free(x);
    }
    free(out.x);
}

TEST_ON_BOTH(solve_solutions, symmetric_systems_are_solved_by_both_solvers) {
    static const char *const names[] = {"poisson2d:1", "poisson2d:13", "poisson2d:40", "stencil27:6", "spd:fem3:4"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (int type = 0; type < 2; type++) {
            problem s = named_system(ctx, names[i], type ? LSP_F32 : LSP_F64);
            for (int k = 0; k < 8; k++) {
                must_solve(&s, names[i], k & 1,
                           (lsp_solve_options){.precondition = k >> 1 & 1, .method = methods[k >> 2]});
            }
            free_system(&s);
        }
    }
}

TEST_ON_BOTH(solve_solutions, general_systems_are_solved_by_bicgstab) {
    for (int c = 0; c < 12; c++) {
        const lsp_csr_types types = {.rowptr_type = c & 1 ? LSP_I64 : LSP_I32,
                                     .col_type = c & 2 ? LSP_I64 : LSP_I32,
                                     .val_type = c < 8 ? LSP_F64 : LSP_F32};
        problem s = make_system(ctx, make_matrix(ctx, c & 1 ? "random:2500" : "random:300", types),
                                c & 4 || c < 8 ? LSP_F64 : LSP_F32, 9);
        must_solve(&s, "random", true, (lsp_solve_options){.precondition = c & 4 ? LSP_PRECONDITION_JACOBI : 0});
        free_system(&s);
    }
}

TEST_ON_BOTH(solve_solutions, wide_vectors_with_narrow_values) {
    problem s = make_system(ctx, make_matrix(ctx, "poisson2d:15", (lsp_csr_types){.val_type = LSP_F32}), LSP_F64, 5);
    for (int k = 0; k < 4; k++) {
        must_solve(&s, "f32 values", k & 1, (lsp_solve_options){.precondition = (lsp_precondition)(k >> 1)});
    }
    free_system(&s);
}

TEST_ON_BOTH(solve_solutions, dense_systems_agree_with_elimination) {
    enum { N = 30 };
    double full[N * N], x[N];
    uint64_t seed = 21;
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        for (int i = 0; i < N; i++) {
            for (int k = 0; k < N; k++) {
                full[i * N + k] = i == k               ? 20
                                  : symmetric && k < i ? full[k * N + i]
                                                       : ((double)test_below(&seed, 65) - 32) / 32;
            }
        }
        problem s = make_system(ctx, dense_matrix(ctx, N, full), LSP_F64, 4);
        memcpy(x, s.b, sizeof x);
        eliminate(N, full, x);
        for (int k = 0; k < 4; k++) {
            if (!symmetric && !(k & 1)) {
                continue;
            }
            solved out =
                solve(&s, k & 1, (lsp_solve_options){.rtol = 1e-12, .precondition = (lsp_precondition)(k >> 1)}, NULL);
            must(ctx, out.status);
            for (int i = 0; i < N; i++) {
                cr_assert(fabs(out.x[i] - x[i]) < 1e-11, "x[%d] is %.17g, not %.17g", i, out.x[i], x[i]);
            }
            free(out.x);
        }
        free_system(&s);
    }
}

Test(solve_solutions, the_number_of_threads_changes_no_bit) {
    static const int threads[] = {1, 2, 7};
    for (int k = 0; k < 4; k++) {
        double *first = NULL;
        int64_t iterations = 0;
        for (int t = 0; t < 3; t++) {
            lsp_ctx *ctx = test_ctx(threads[t]);
            problem s = named_system(ctx, "poisson2d:150", LSP_F64);
            solved out = solve(&s, k & 1, (lsp_solve_options){.precondition = (lsp_precondition)(k >> 1)}, NULL);
            must(ctx, out.status);
            if (first == NULL) {
                first = out.x;
                iterations = out.info.iterations;
            } else {
                cr_assert(memcmp(first, out.x, (size_t)s.n * sizeof *first) == 0 && iterations == out.info.iterations,
                          "solver %d: %d threads give other bits", k, threads[t]);
                free(out.x);
            }
            free_system(&s);
            lsp_ctx_destroy(ctx);
        }
        free(first);
    }
}

Test(solve_solutions, instruction_sets_give_equal_bits) {
    double *first = NULL;
    for (int isa = LSP_ISA_PORTABLE; isa <= LSP_ISA_AVX512; isa++) {
        lsp_ctx *ctx = test_ctx(2);
        problem s = named_system(ctx, "random:5001", LSP_F64);
        lsp_solve_plan *plan;
        if (isa > (int)ctx->isa) {
            free_system(&s);
            lsp_ctx_destroy(ctx);
            break;
        }
        /* products by the reference: only the vector loops differ */
        must(ctx, lsp_bicgstab_plan_create(ctx, &s.there, &(lsp_solve_options){.method = LSP_SPMV_REFERENCE}, &plan));
        ctx->isa = (lsp_isa)isa;
        double *x = malloc((size_t)s.n * sizeof *x);
        must(ctx, lsp_solve_execute(plan, s.b, x, NULL));
        cr_assert(first == NULL || memcmp(first, x, (size_t)s.n * sizeof *x) == 0, "instruction set %d", isa);
        if (first == NULL) {
            first = x;
        } else {
            free(x);
        }
        lsp_solve_plan_destroy(plan);
        free_system(&s);
        lsp_ctx_destroy(ctx);
    }
    free(first);
}
