/* Every option, and the caller's functions, on both devices. */
#include "cases.h"

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
