/* Every option, every end, and the caller's functions, on both devices. */
#include "cases.h"

static const lsp_spmv_method methods[] = {LSP_SPMV_AUTO, LSP_SPMV_ROWS};

#define EACH_SOLVER(k) for (int k = 0; k < 4; k++)
#define SOLVER(k) (k) & 1
#define METHOD(k) .method = methods[(k) >> 1]

TEST_ON_BOTH(solve_options, tolerances_are_met_and_no_more) {
    problem s = named_system(ctx, "poisson2d:30", LSP_F64);
    double norm = 0;
    for (int64_t i = 0; i < s.n; i++) {
        norm += s.b[i] * s.b[i];
    }
    norm = sqrt(norm);
    EACH_SOLVER(k) {
        solved rough = solve(&s, SOLVER(k), (lsp_solve_options){METHOD(k), .rtol = 1e-2}, NULL);
        solved fine = solve(&s, SOLVER(k), (lsp_solve_options){METHOD(k), .rtol = 1e-10}, NULL);
        solved absolute =
            solve(&s, SOLVER(k), (lsp_solve_options){METHOD(k), .rtol = 1e-14, .atol = 1e-2 * norm}, NULL);
        must(ctx, rough.status);
        must(ctx, fine.status);
        must(ctx, absolute.status);
        cr_assert(rough.info.residual <= 1e-2 && fine.info.residual <= 1.1e-10);
        cr_assert(rough.info.iterations < fine.info.iterations);
        cr_assert(absolute.info.iterations == rough.info.iterations, "%ld and %ld iterations",
                  (long)absolute.info.iterations, (long)rough.info.iterations);
        cr_assert(fabs(rough.info.b_norm - norm) < 1e-12 * norm);
        cr_assert(strstr(absolute.info.reason, "the absolute tolerance is") && strstr(rough.info.reason, "is 0.01"),
                  "'%s' and '%s'", absolute.info.reason, rough.info.reason);
        free(rough.x), free(fine.x), free(absolute.x);
    }
    free_system(&s);
}

TEST_ON_BOTH(solve_options, fixed_does_all_iterations_even_beyond_the_solution) {
    problem s = named_system(ctx, "poisson2d:9", LSP_F64);
    static const int64_t counts[] = {1, 2, 5, 17, 150};
    EACH_SOLVER(k) {
        for (int c = 0; c < 5; c++) {
            solved out =
                solve(&s, SOLVER(k), (lsp_solve_options){METHOD(k), .fixed = true, .max_iterations = counts[c]}, NULL);
            must(ctx, out.status);
            cr_assert(out.info.end == LSP_SOLVE_MAX_ITERATIONS && out.info.iterations == counts[c], "%ld: %s",
                      (long)counts[c], out.info.reason);
            cr_assert(counts[c] < 150 || out.info.residual < 1e-10, "%g", out.info.residual);
            free(out.x);
        }
    }
    free_system(&s);
}

TEST_ON_BOTH(solve_options, the_last_iterate_stays_when_iterations_run_out) {
    problem s = named_system(ctx, "poisson2d:40", LSP_F64);
    EACH_SOLVER(k) {
        solved out = solve(&s, SOLVER(k), (lsp_solve_options){METHOD(k), .max_iterations = 21}, NULL);
        cr_assert(out.status == LSP_ERR_CONVERGENCE && out.info.end == LSP_SOLVE_MAX_ITERATIONS);
        cr_assert(out.info.iterations == 21 && strstr(lsp_last_error(ctx), "21 iterations"), "%s", lsp_last_error(ctx));
        cr_assert(fabs(true_residual(&s, out.x) - out.info.residual) < 1e-12);
        free(out.x);
    }
    free_system(&s);
}

TEST_ON_BOTH(solve_options, a_first_guess_is_taken) {
    problem s = named_system(ctx, "poisson2d:30", LSP_F64);
    EACH_SOLVER(k) {
        solved fine = solve(&s, SOLVER(k), (lsp_solve_options){METHOD(k), .rtol = 1e-12}, NULL);
        must(ctx, fine.status);
        solved again = solve(&s, SOLVER(k), (lsp_solve_options){METHOD(k)}, fine.x);
        must(ctx, again.status);
        cr_assert(again.info.iterations == 0, "%ld iterations", (long)again.info.iterations);
        cr_assert(memcmp(again.x, fine.x, (size_t)s.n * sizeof *fine.x) == 0);
        for (int64_t i = 0; i < s.n; i++) {
            fine.x[i] += i % 7 == 0 ? 1e-3 : 0;
        }
        solved near = solve(&s, SOLVER(k), (lsp_solve_options){METHOD(k)}, fine.x);
        must(ctx, near.status);
        cr_assert(near.info.iterations > 0 && near.info.residual <= 1.1e-8);
        free(fine.x), free(again.x), free(near.x);
    }
    free_system(&s);
}

TEST_ON_BOTH(solve_options, history_has_every_residual_that_fits) {
    problem s = named_system(ctx, "poisson2d:20", LSP_F64);
    EACH_SOLVER(k) {
        double all[400], few[5] = {0, 0, 0, 0, -1};
        memset(all, 0xff, sizeof all);
        solved out =
            solve(&s, SOLVER(k), (lsp_solve_options){METHOD(k), .history = all, .history_capacity = 400}, NULL);
        must(ctx, out.status);
        const int64_t n = out.info.iterations;
        cr_assert(all[0] == 1 && all[n] <= 1e-8 && all[n - 1] > 1e-8 && isnan(all[n + 1]), "%g ... %g %g %g", all[0],
                  all[n - 1], all[n], all[n + 1]);
        free(out.x);
        out = solve(&s, SOLVER(k), (lsp_solve_options){METHOD(k), .history = few, .history_capacity = 4}, NULL);
        must(ctx, out.status);
        cr_assert(memcmp(few, all, 4 * sizeof *few) == 0 && few[4] == -1);
        free(out.x);
    }
    free_system(&s);
}

static problem small_system(lsp_ctx *ctx, int64_t n, const double *A, const double *b) {
    problem s = make_system(ctx, dense_matrix(ctx, n, A), LSP_F64, 1);
    memcpy(s.b, b, (size_t)n * sizeof *b);
    return s;
}

/* ---- the true residual ---- */

/* Residuals that the type cannot reach: only the recurrence does. */
TEST_ON_BOTH(solve_options, a_residual_that_is_small_by_recurrence_alone_is_no_convergence) {
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

Test(solve_options, the_usual_tolerance_suits_the_type) {
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
TEST_ON_BOTH(solve_options, a_restart_reaches_what_the_recurrence_missed) {
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
TEST_ON_BOTH(solve_options, bicgstab_restarts_after_a_breakdown) {
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

/* ---- the hook ---- */

typedef struct watcher {
    int64_t calls, stop_at;
    double residuals[400];
    bool in_order;
} watcher;

static bool watch(void *user, int64_t iteration, double residual) {
    watcher *w = user;
    w->calls++;
    w->in_order = w->in_order && iteration == w->calls;
    w->residuals[iteration] = residual;
    return iteration == w->stop_at;
}

TEST_ON_BOTH(solve_options, the_hook_sees_every_iteration_and_may_stop) {
    problem s = named_system(ctx, "poisson2d:30", LSP_F64);
    EACH_SOLVER(k) {
        watcher w = {.in_order = true};
        double history[400];
        lsp_solve_options o = {METHOD(k), .on_iteration = watch, .iteration_user = &w, .history = history,
                               .history_capacity = 400};
        solved out = solve(&s, SOLVER(k), o, NULL);
        must(ctx, out.status);
        cr_assert(w.in_order && w.calls == out.info.iterations, "%ld calls, %ld iterations", (long)w.calls,
                  (long)out.info.iterations);
        cr_assert(memcmp(w.residuals + 1, history + 1, (size_t)w.calls * sizeof *history) == 0);
        free(out.x);
        w = (watcher){.in_order = true, .stop_at = 4};
        out = solve(&s, SOLVER(k), o, NULL);
        must(ctx, out.status);
        cr_assert(out.info.end == LSP_SOLVE_STOPPED && w.calls == 4 && w.in_order, "%s", out.info.reason);
        cr_assert(out.info.iterations >= 4 && (s.where == LSP_CUDA || out.info.iterations == 4));
        cr_assert(fabs(true_residual(&s, out.x) - out.info.residual) < 1e-12);
        free(out.x);
    }
    free_system(&s);
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

TEST_ON_BOTH(solve_options, indefinite_matrices_and_breakdowns_name_the_iteration) {
    for (int m = 0; m < 2; m++) {
        const lsp_solve_options o = {.method = methods[m]}, jacobi = {.method = methods[m], .precondition = 1};
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

TEST_ON_BOTH(solve_options, infinite_numbers_end_the_solver) {
    for (int m = 0; m < 2; m++) {
        const lsp_solve_options o = {.method = methods[m]};
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

TEST_ON_BOTH(solve_options, b_of_zeros_gives_x_of_zeros) {
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

TEST_ON_BOTH(solve_options, no_unknowns_are_solved_at_once) {
    problem s = make_system(ctx, make_matrix(ctx, "random:0", (lsp_csr_types){0}), LSP_F64, 1);
    for (int k = 0; k < 4; k++) {
        solved out = solve(&s, k & 1, (lsp_solve_options){.precondition = (lsp_precondition)(k >> 1)}, NULL);
        must(ctx, out.status);
        cr_assert(out.info.end == LSP_SOLVE_CONVERGED && out.info.iterations == 0);
        free(out.x);
    }
    free_system(&s);
}

/* ---- Jacobi ---- */

TEST_ON_BOTH(solve_options, jacobi_refuses_the_first_row_without_a_diagonal_entry) {
    for (int missing = 0; missing < 2; missing++) {
        lsp_csr A = make_matrix(ctx, "poisson2d:12", (lsp_csr_types){0});
        for (int64_t i = 0; i < A.rows; i++) {
            for (int64_t k = lsp_csr_rowptr(&A, i); k < lsp_csr_rowptr(&A, i + 1); k++) {
                if (lsp_csr_col(&A, k) == i && (i == 71 || i == 100)) {
                    if (missing) {
                        lsp_index_set(A.col, A.col_type, k, i + 1);
                    } else {
                        ((double *)A.val)[k] = 0;
                    }
                }
            }
        }
        problem s = make_system(ctx, A, LSP_F64, 2);
        for (int solver = 0; solver < 2; solver++) {
            solved out = solve(&s, solver, (lsp_solve_options){.precondition = LSP_PRECONDITION_JACOBI}, NULL);
            cr_assert(out.status == LSP_ERR_ARGUMENT && strstr(lsp_last_error(ctx), "row 71"), "%s",
                      lsp_last_error(ctx));
            cr_assert(memcmp(out.x, s.b, (size_t)s.n * sizeof *s.b) == 0, "x was written");
            free(out.x);
        }
        free_system(&s);
    }
}

/* ---- functions of the caller ---- */

typedef struct by_plan {
    lsp_spmv_plan *plan;
    int64_t calls, fail_at;
} by_plan;

static lsp_status apply(void *user, lsp_ctx *ctx, const void *x, void *y) {
    by_plan *by = user;
    (void)ctx;
    if (++by->calls == by->fail_at) {
        return LSP_ERR_IO;
    }
    return lsp_spmv_execute(by->plan, &(lsp_spmv_vectors){.alpha = 1, .x = x, .y = y});
}

/* The inverse of A's diagonal, as a matrix. */
static lsp_csr inverse_diagonal(lsp_ctx *ctx, const problem *s) {
    lsp_csr M, there;
    must(ctx, lsp_csr_create(ctx, s->n, s->n, s->n, &(lsp_csr_types){.val_type = LSP_F64}, &M));
    for (int64_t i = 0; i < s->n; i++) {
        lsp_index_set(M.rowptr, M.rowptr_type, i + 1, i + 1);
        lsp_index_set(M.col, M.col_type, i, i);
        double sum = 0; /* a column may come twice */
        for (int64_t k = lsp_csr_rowptr(&s->A, i); k < lsp_csr_rowptr(&s->A, i + 1); k++) {
            sum += lsp_csr_col(&s->A, k) == i ? lsp_value_at(&s->A, k).re : 0;
        }
        ((double *)M.val)[i] = 1 / sum;
    }
    if (s->where == LSP_HOST) {
        return M;
    }
    must(ctx, lsp_csr_copy(ctx, &M, &(lsp_csr_types){.val_type = LSP_F64, .place = LSP_PLACE_CUDA}, &there));
    lsp_csr_free(ctx, &M);
    return there;
}

TEST_ON_BOTH(solve_options, an_operator_and_a_preconditioner_of_the_caller_do_what_matrices_do) {
    static const char *const names[] = {"spd:fem3:5", "random:900"};
    for (int solver = 0; solver < 2; solver++) {
        problem s = named_system(ctx, names[solver], LSP_F64);
        lsp_csr M = inverse_diagonal(ctx, &s);
        by_plan A = {0}, by_m = {0};
        must(ctx, lsp_spmv_plan_create(ctx, &s.there, &(lsp_spmv_options){.method = LSP_SPMV_ROWS}, &A.plan));
        must(ctx, lsp_spmv_plan_create(ctx, &M, &(lsp_spmv_options){.method = LSP_SPMV_ROWS}, &by_m.plan));
        const lsp_solve_options plain = {.method = LSP_SPMV_ROWS, .precondition = LSP_PRECONDITION_JACOBI},
                                user = {.method = LSP_SPMV_ROWS,
                                        .precondition = LSP_PRECONDITION_USER,
                                        .precondition_apply = apply,
                                        .precondition_user = &by_m};
        lsp_solve_options both = user, operator_alone = {.operator_apply = apply, .operator_user = &A};
        both.operator_apply = apply, both.operator_user = &A;
        solved expected = solve(&s, solver, plain, NULL), m = solve(&s, solver, user, NULL),
               all = solve(&s, solver, both, NULL),
               none = solve(&s, solver, (lsp_solve_options){.method = LSP_SPMV_ROWS}, NULL),
               alone = solve(&s, solver, operator_alone, NULL);
        must(ctx, expected.status);
        must(ctx, m.status);
        must(ctx, all.status);
        must(ctx, alone.status);
        cr_assert(A.calls > 0 && by_m.calls > 0);
        cr_assert(m.info.iterations == all.info.iterations && memcmp(m.x, all.x, (size_t)s.n * sizeof *m.x) == 0);
        cr_assert(none.info.iterations == alone.info.iterations &&
                  memcmp(none.x, alone.x, (size_t)s.n * sizeof *none.x) == 0);
        cr_assert(llabs((long long)(expected.info.iterations - m.info.iterations)) <= 1);
        cr_assert(true_residual(&s, m.x) < 1e-7);
        free(expected.x), free(m.x), free(all.x), free(none.x), free(alone.x);
        lsp_spmv_plan_destroy(A.plan);
        lsp_spmv_plan_destroy(by_m.plan);
        lsp_csr_free(ctx, &M);
        free_system(&s);
    }
}

TEST_ON_BOTH(solve_options, a_function_that_fails_ends_the_solver_with_its_status_and_leaves_x) {
    problem s = named_system(ctx, "poisson2d:12", LSP_F64);
    by_plan A = {0};
    must(ctx, lsp_spmv_plan_create(ctx, &s.there, NULL, &A.plan));
    for (int fail_at = 1; fail_at < 7; fail_at++) {
        A.calls = 0, A.fail_at = fail_at;
        const lsp_solve_options as_operator = {.operator_apply = apply, .operator_user = &A},
                                as_preconditioner = {.precondition = LSP_PRECONDITION_USER,
                                                     .precondition_apply = apply,
                                                     .precondition_user = &A};
        solved out = solve(&s, fail_at & 1, as_operator, fail_at & 2 ? s.b : NULL);
        cr_assert(out.status == LSP_ERR_IO && strstr(lsp_last_error(ctx), "operator returned LSP_ERR_IO"), "%s",
                  lsp_last_error(ctx));
        cr_assert(memcmp(out.x, s.b, (size_t)s.n * sizeof *s.b) == 0, "x was written");
        free(out.x);
        A.calls = 0;
        out = solve(&s, fail_at & 1, as_preconditioner, NULL);
        cr_assert(out.status == LSP_ERR_IO && strstr(lsp_last_error(ctx), "preconditioner returned"), "%s",
                  lsp_last_error(ctx));
        cr_assert(memcmp(out.x, s.b, (size_t)s.n * sizeof *s.b) == 0, "x was written");
        free(out.x);
    }
    lsp_spmv_plan_destroy(A.plan);
    free_system(&s);
}
