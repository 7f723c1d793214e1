/* Every end of a solver, true residuals and restarts, on both devices. */
#include "cases.h"

static problem small_system(lsp_ctx *ctx, int64_t n, const double *A, const double *b) {
    problem s = make_system(ctx, dense_matrix(ctx, n, A), LSP_F64, 1);
    memcpy(s.b, b, (size_t)n * sizeof *b);
    return s;
}

/* ---- the true residual ---- */

/* Residuals that the type cannot reach: only the recurrence does. */
TEST_ON_BOTH(solve_ends, a_residual_that_is_small_by_recurrence_alone_is_no_convergence) {
    for (int single = 0; single < 2; single++) {
        problem s = named_system(ctx, "poisson2d:20", single ? LSP_F32 : LSP_F64);
        EACH_SOLVER(k) {
            const lsp_solve_options o = {METHOD(k), .rtol = single ? 1e-8 : 1e-16};
            solved out = solve(&s, SOLVER(k), o, NULL);
            const double residual = true_residual(&s, out.x);
            cr_assert(out.status == LSP_ERR_CONVERGENCE && out.info.end == LSP_SOLVE_STAGNATED, "%s", out.info.reason);
            cr_assert(strstr(out.info.reason, "by recurrence") && strstr(out.info.reason, "restarts"), "%s",
                      out.info.reason);
            cr_assert(out.info.residual > LSP_SOLVE_SLACK * o.rtol && residual < (single ? 1e-5 : 1e-13) &&
                          residual > out.info.residual / 10,
                      "%g, told %g", residual, out.info.residual);
            if (!single) {
                lsp_solve_state state;
                must(ctx, lsp_solve_ref(ctx, &s.A, &o, SOLVER(k), s.b, out.x, &state));
                cr_assert(state.end == LSP_SOLVE_STAGNATED && state.iteration == state.end_iteration, "end %d",
                          state.end);
            }
            free(out.x);
        }
        free_system(&s);
    }
}

Test(solve_ends, the_usual_tolerance_suits_the_type) {
    lsp_ctx *ctx = test_ctx(1);
    for (int single = 0; single < 2; single++) {
        problem s = named_system(ctx, "poisson2d:100", single ? LSP_F32 : LSP_F64);
        solved out = solve(&s, false, (lsp_solve_options){0}, NULL);
        must(ctx, out.status);
        cr_assert(out.info.residual <= (single ? 2e-4 : 2e-8) && out.info.residual > (single ? 1e-7 : 1e-10));
        free(out.x);
        free_system(&s);
    }
    lsp_ctx_destroy(ctx);
}

/* A far first guess leaves an error that the recurrence does not see. A restart removes it. */
TEST_ON_BOTH(solve_ends, a_restart_reaches_what_the_recurrence_missed) {
    problem s = named_system(ctx, "poisson2d:20", LSP_F64);
    double *guess = random_vector(s.n, 8);
    for (int64_t i = 0; i < s.n; i++) {
        guess[i] *= 1e9;
    }
    EACH_SOLVER(k) {
        double history[400];
        memset(history, 0xff, sizeof history);
        lsp_solve_options o = {METHOD(k), .rtol = 1e-11, .history = history, .history_capacity = 400};
        solved out = solve(&s, SOLVER(k), o, guess);
        must(ctx, out.status);
        const int64_t n = out.info.iterations;
        cr_assert(out.info.end == LSP_SOLVE_CONVERGED && out.info.residual <= 2e-11 &&
                      true_residual(&s, out.x) <= 3e-11,
                  "%s", out.info.reason);
        cr_assert(history[n] <= 1e-11 && isnan(history[n + 1]), "%g %g", history[n], history[n + 1]);
        o.max_iterations = n - 1; /* iterations of all rounds count */
        solved fewer = solve(&s, SOLVER(k), o, guess);
        cr_assert(fewer.status == LSP_ERR_CONVERGENCE && fewer.info.end == LSP_SOLVE_MAX_ITERATIONS &&
                      fewer.info.iterations == n - 1,
                  "%s", fewer.info.reason);
        lsp_solve_state state;
        double *x = malloc((size_t)s.n * sizeof *x);
        memcpy(x, guess, (size_t)s.n * sizeof *x);
        o = (lsp_solve_options){.rtol = 1e-11, .use_x0 = true};
        must(ctx, lsp_solve_ref(ctx, &s.A, &o, SOLVER(k), s.b, x, &state));
        cr_assert(state.end == LSP_SOLVE_CONVERGED && true_residual(&s, x) <= 2e-11, "end %d: %g", state.end,
                  true_residual(&s, x));
        free(x), free(out.x), free(fewer.x);
    }
    free(guess);
    free_system(&s);
}

/* After the first iteration r_hat*r is exactly 0. */
TEST_ON_BOTH(solve_ends, bicgstab_restarts_after_a_breakdown) {
    static const double matrices[][9] = {{-2, 1, 1, -2, -1, -1, 2, -1, 0}, {1, 0, 2, 0, 1, 2, 0, 2, -2}};
    static const double rhs[][3] = {{2, 0, 0}, {-2, 2, 0}};
    for (int m = 0; m < 2; m++) {
        problem s = small_system(ctx, 3, matrices[m], rhs[m]);
        solved out = solve(&s, true, (lsp_solve_options){.max_iterations = 20}, NULL);
        must(ctx, out.status);
        cr_assert(out.info.end == LSP_SOLVE_CONVERGED && out.info.iterations > 1 && true_residual(&s, out.x) < 1e-8,
                  "%s", out.info.reason);
        lsp_solve_state state;
        must(ctx, lsp_solve_ref(ctx, &s.A, &(lsp_solve_options){0}, true, s.b, out.x, &state));
        cr_assert(state.end == LSP_SOLVE_CONVERGED && true_residual(&s, out.x) < 1e-8);
        free(out.x);
        free_system(&s);
    }
}

/* ---- ends ---- */

static void must_end(const problem *s, bool bicgstab, lsp_solve_options o, const double *x0, lsp_solve_end end,
                     int64_t iteration, const char *words) {
    solved out = solve(s, bicgstab, o, x0);
    cr_assert(out.status == LSP_ERR_CONVERGENCE && out.info.end == end && out.info.iterations == iteration,
              "%s: end %d in iteration %ld, not %d in %ld: %s", lsp_status_name(out.status), (int)out.info.end,
              (long)out.info.iterations, (int)end, (long)iteration, out.info.reason);
    cr_assert(strstr(lsp_last_error(s->ctx), words) != NULL, "no '%s' in '%s'", words, lsp_last_error(s->ctx));
    for (int64_t i = 0; i < s->n && x0 == NULL; i++) {
        cr_assert(isfinite(out.x[i]), "x[%ld] is %g", (long)i, out.x[i]);
    }
    free(out.x);
}

TEST_ON_BOTH(solve_ends, indefinite_matrices_and_breakdowns_name_the_iteration) {
    for (int m = 0; m < 2; m++) {
        const lsp_solve_options o = {METHOD(2 * m)}, jacobi = {METHOD(2 * m), .precondition = 1};
        problem s = small_system(ctx, 2, (double[]){1, 0, 0, -1}, (double[]){1, 2});
        must_end(&s, false, o, NULL, LSP_SOLVE_INDEFINITE, 1, "iteration 1: p*A*p is -3");
        must_end(&s, false, jacobi, NULL, LSP_SOLVE_INDEFINITE, 1,
                 "iteration 1: r*z is -3: the preconditioner is not positive definite");
        free_system(&s);
        s = small_system(ctx, 2, (double[]){2, 0, 0, -1}, (double[]){2, 1});
        must_end(&s, false, o, NULL, LSP_SOLVE_INDEFINITE, 2, "iteration 2");
        free_system(&s);
        s = small_system(ctx, 2, (double[]){0, 1, -1, 0}, (double[]){1, 2});
        must_end(&s, true, o, NULL, LSP_SOLVE_BREAKDOWN, 1, "iteration 1: r_hat*A*p is 0");
        must_end(&s, false, o, NULL, LSP_SOLVE_INDEFINITE, 1, "iteration 1");
        free_system(&s);
        s = small_system(ctx, 2, (double[]){0, 0, 0, 0}, (double[]){1, 2});
        must_end(&s, false, o, NULL, LSP_SOLVE_INDEFINITE, 1, "iteration 1: p*A*p is 0");
        must_end(&s, true, o, NULL, LSP_SOLVE_BREAKDOWN, 1, "iteration 1");
        free_system(&s);
    }
}

TEST_ON_BOTH(solve_ends, infinite_numbers_end_the_solver) {
    for (int m = 0; m < 2; m++) {
        const lsp_solve_options o = {METHOD(2 * m)};
        for (int solver = 0; solver < 2; solver++) {
            problem s = small_system(ctx, 2, (double[]){2, 0, 0, 3}, (double[]){NAN, 2});
            must_end(&s, solver, o, NULL, LSP_SOLVE_NOT_FINITE, 0, "iteration 0");
            s.b[0] = INFINITY;
            must_end(&s, solver, o, NULL, LSP_SOLVE_NOT_FINITE, 0, "iteration 0: b holds an infinite number");
            s.b[0] = 1;
            must_end(&s, solver, o, (double[]){NAN, 0}, LSP_SOLVE_NOT_FINITE, 0, "iteration 0: the residual of the");
            s.b[0] = s.b[1] = 1e-200;
            must_end(&s, solver, o, NULL, LSP_SOLVE_BREAKDOWN, 0, "iteration 0: b is not 0");
            s.b[0] = s.b[1] = 1e200;
            must_end(&s, solver, o, NULL, LSP_SOLVE_NOT_FINITE, 0, "iteration 0: b is finite, but the square of its");
            free_system(&s);
            s = small_system(ctx, 2, (double[]){2, 0, 0, NAN}, (double[]){1, 2});
            must_end(&s, solver, o, NULL, LSP_SOLVE_NOT_FINITE, 1, "iteration 1");
            free_system(&s);
        }
    }
}

TEST_ON_BOTH(solve_ends, b_of_zeros_gives_x_of_zeros) {
    problem s = named_system(ctx, "poisson2d:12", LSP_F64);
    double *guess = random_vector(s.n, 3);
    memset(s.b, 0, (size_t)s.n * sizeof *s.b);
    EACH_SOLVER(k) {
        for (int with = 0; with < 2; with++) {
            solved out = solve(&s, SOLVER(k), (lsp_solve_options){METHOD(k)}, with ? guess : NULL);
            must(ctx, out.status);
            cr_assert(out.info.end == LSP_SOLVE_CONVERGED && out.info.iterations == 0 && out.info.residual == 0);
            for (int64_t i = 0; i < s.n; i++) {
                cr_assert(out.x[i] == 0);
            }
            free(out.x);
        }
    }
    free(guess);
    free_system(&s);
}

TEST_ON_BOTH(solve_ends, no_unknowns_are_solved_at_once) {
    problem s = make_system(ctx, make_matrix(ctx, "random:0", (lsp_csr_types){0}), LSP_F64, 1);
    for (int k = 0; k < 4; k++) {
        solved out = solve(&s, k & 1, (lsp_solve_options){.precondition = (lsp_precondition)(k >> 1)}, NULL);
        must(ctx, out.status);
        cr_assert(out.info.end == LSP_SOLVE_CONVERGED && out.info.iterations == 0);
        free(out.x);
    }
    free_system(&s);
}
