/* libsparse/solve.h: linear systems by conjugate gradients and BiCGStab. Part of libsparse.h, which states the rules
 * for all functions. */
#ifndef LIBSPARSE_SOLVE_H
#define LIBSPARSE_SOLVE_H

#include "multigrid.h"
#include "spmv.h"

LSP_BEGIN_DECLS

/* y = A*x, or y = the preconditioner applied to x, for vectors of n numbers of the solver's type. On a GPU the function
 * puts work on the context's stream (lsp_ctx_options.stream) and does not wait; the solver calls it while it runs
 * ahead. A status other than LSP_OK ends the solver, which returns it. */
typedef lsp_status (*lsp_apply_fn)(void *user, lsp_ctx *ctx, const void *x, void *y);

/* Called after each iteration with the relative residual; true stops the solver. On a GPU it is called in order but a
 * few iterations late: the solver does not wait for it. */
typedef bool (*lsp_iteration_fn)(void *user, int64_t iteration, double residual);

typedef enum lsp_precondition {
    LSP_PRECONDITION_NONE = 0,
    LSP_PRECONDITION_JACOBI,   /* the diagonal of A; a diagonal entry that is 0 or missing is refused */
    LSP_PRECONDITION_USER,     /* options->precondition_apply */
    LSP_PRECONDITION_MULTIGRID /* one cycle of options->multigrid */
} lsp_precondition;

typedef struct lsp_solve_options {
    lsp_type type;          /* of b, x and all sums; LSP_NONE: as the values, LSP_F64 for a pattern or an operator */
    double rtol;            /* the residual |b - A x| / |b| to reach; 0: 1e-8, with vectors of LSP_F32 1e-4 */
    double atol;            /* or |b - A x| at most this; 0: not looked at */
    int64_t max_iterations; /* 0: 10 n, at most 100,000 */
    bool fixed;             /* exactly max_iterations, without a test (benchmarks) */
    bool use_x0;            /* x holds a first guess; otherwise 0 is the guess and x is not read */
    lsp_precondition precondition;
    lsp_apply_fn precondition_apply;
    void *precondition_user;
    lsp_multigrid *multigrid; /* with LSP_PRECONDITION_MULTIGRID: a hierarchy for A or a similar matrix, which outlives
                                 the plan. NULL: the plan makes one with default options, and updates it with A */
    lsp_apply_fn operator_apply; /* with A NULL: the matrix as a function */
    void *operator_user;
    int64_t n;       /* with A NULL: unknowns */
    lsp_where where; /* with A NULL: where the vectors lie */
    lsp_iteration_fn on_iteration;
    void *iteration_user;
    double *history;          /* on the host: the relative residual of iteration 0, 1, ... by the recurrence; where the
                                 solver restarted, the true one. Filled while the solver runs */
    int64_t history_capacity; /* later ones are not stored */
    lsp_spmv_method method;   /* of the products with A */
    int passes;
    int64_t reserved[LSP_RESERVED];
} lsp_solve_options;

/* A solver updates the residual in each iteration, and rounding makes this recurrence drift away from the true residual
 * |b - A x|. When the recurrence reaches the tolerance, the true residual is computed. If it exceeds the tolerance
 * by more than the factor LSP_SOLVE_SLACK, the solver restarts from x; so does BiCGStab after a breakdown. The solver
 * ends if a restart does not halve the true residual. */
#define LSP_SOLVE_SLACK 2

typedef enum lsp_solve_end {
    LSP_SOLVE_CONVERGED = 0,  /* the true residual is at most LSP_SOLVE_SLACK times the tolerance */
    LSP_SOLVE_STOPPED,        /* by on_iteration */
    LSP_SOLVE_MAX_ITERATIONS, /* the tolerance was not reached (with `fixed`: all iterations were done) */
    LSP_SOLVE_INDEFINITE,     /* conjugate gradients: p*A*p or r*z was not positive */
    LSP_SOLVE_BREAKDOWN,      /* a denominator vanished */
    LSP_SOLVE_NOT_FINITE,     /* the residual became infinite or no number */
    LSP_SOLVE_STAGNATED       /* the recurrence reached the tolerance; the true residual did not and fell no more */
} lsp_solve_end;

typedef struct lsp_solve_info {
    lsp_solve_end end;
    int64_t iterations; /* done; for INDEFINITE, BREAKDOWN and NOT_FINITE the iteration in which it happened, from 1 */
    double residual;    /* |b - A x| / |b|, computed anew from x at the end. |b| = 0: x = 0 and the residual is 0 */
    double b_norm;
    char reason[160];     /* the end in words, with numbers */
    const char *solver;   /* how it ran: "resident", "streamed", "threads" */
    lsp_spmv_info spmv;   /* of the products with A */
    double plan_seconds;  /* measured: making the plan */
    double solve_seconds; /* measured: the iterations */
    int64_t reserved[LSP_RESERVED];
} lsp_solve_info;

/* ---- one call ---------------------------------------------------------------------------------------------------- */

/* Solves A x = b for a symmetric positive definite A (lsp_cg: preconditioned conjugate gradients) or any square A
 * (lsp_bicgstab: flexible BiCGStab). A, b and x lie in one place. LSP_ERR_CONVERGENCE if it ends by anything but
 * convergence, a stop or `fixed`; x then holds the last iterate, and the sentence names the iteration. After any other
 * failure, also of a function of the caller, x is as it was. `options` and `info` may be NULL. Waits for a GPU at the
 * end, and now and then for the news of an earlier iteration.
 *     lsp_cg(ctx, &A, b, NULL, x, NULL); */
LSP_API lsp_status lsp_cg(lsp_ctx *ctx, const lsp_csr *A, const void *b, const lsp_solve_options *options, void *x,
                          lsp_solve_info *info);
LSP_API lsp_status lsp_bicgstab(lsp_ctx *ctx, const lsp_csr *A, const void *b, const lsp_solve_options *options,
                                void *x, lsp_solve_info *info);

/* ---- plans: several right-hand sides, or several matrices of one structure --------------------------------------- */

typedef struct lsp_solve_plan lsp_solve_plan;

/* Checks A and prepares products with it; A's arrays stay as they are while the plan exists. */
LSP_API lsp_status lsp_cg_plan_create(lsp_ctx *ctx, const lsp_csr *A, const lsp_solve_options *options,
                                      lsp_solve_plan **plan);
LSP_API lsp_status lsp_bicgstab_plan_create(lsp_ctx *ctx, const lsp_csr *A, const lsp_solve_options *options,
                                            lsp_solve_plan **plan);
LSP_API void lsp_solve_plan_destroy(lsp_solve_plan *plan);
/* What is known before a solution: solver, spmv and plan_seconds. All else is 0. */
LSP_API lsp_status lsp_solve_plan_get_info(const lsp_solve_plan *plan, lsp_solve_info *info);
LSP_API lsp_status lsp_solve_execute(lsp_solve_plan *plan, const void *b, void *x, lsp_solve_info *info);
/* New values in the same structure, as lsp_spmv_update. With Jacobi it waits for a GPU: a diagonal entry of 0 is
 * refused, and the plan stays as it was. A hierarchy of the plan's own is updated as by lsp_multigrid_update; one of
 * the caller's stays as it is. */
LSP_API lsp_status lsp_solve_update(lsp_solve_plan *plan, const lsp_csr *A);

/* ---- multigrid by itself ----------------------------------------------------------------------------------------- */

/* Solves A x = b for the matrix A of *m by cycles alone: x += cycle(b - A x), until the residual is small. One cycle is
 * an iteration. `options`: no preconditioner and no operator; all else is as for lsp_cg.
 * `options` and `info` may be NULL. */
LSP_API lsp_status lsp_multigrid_solve(lsp_multigrid *m, const void *b, const lsp_solve_options *options, void *x,
                                       lsp_solve_info *info);

LSP_END_DECLS
#endif
