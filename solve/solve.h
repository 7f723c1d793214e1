/* Inside solve. A x = b by conjugate gradients or flexible BiCGStab. plan.c checks and prepares, cpu/ and gpu/ run the
 * iterations, rules.h has the decisions that both take in the same way. */
#ifndef LSP_SOLVE_SOLVE_H
#define LSP_SOLVE_SOLVE_H

#include "core/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an iteration knows besides its vectors. On a GPU it lies there, and kernels read and write it. */
typedef struct lsp_solve_state {
    /* set before the first iteration */
    double rtol, atol;
    int64_t max_iterations;
    bool fixed, any_sign; /* any_sign: conjugate gradients go on if p*A*p is negative */
    void *x;
    double *history;
    int64_t history_capacity;
    /* the squared norm of b; that of r, and r*z (BiCGStab: rhat*r), after the last iteration */
    double bb, rr, rz;
    double alpha, beta, omega; /* factors of the next update; beta 0: the new direction does not read the old one */
    double denominator;        /* the last p*A*p (BiCGStab: rhat*v), for sentences */
    int64_t iteration;         /* done; -1 before the first residual is known */
    int end;                   /* lsp_solve_end, or LSP_SOLVE_RUNS */
    int64_t end_iteration;     /* in which it ended, as lsp_solve_info.iterations */
    int cause;                 /* LSP_CAUSE_...: which number was wrong */
    bool due;                  /* x waits for the last iteration's update */
} lsp_solve_state;
enum { LSP_SOLVE_RUNS = -1 };
enum {
    LSP_CAUSE_NONE,
    LSP_CAUSE_RESIDUAL,  /* r*r is infinite or no number; in iteration 0 that of b or of the first guess */
    LSP_CAUSE_CURVATURE, /* p*A*p, or rhat*A*p of BiCGStab */
    LSP_CAUSE_RZ,        /* r*z, or rhat*r of BiCGStab */
    LSP_CAUSE_TT,        /* t*t of BiCGStab: A turned a residual into 0 */
    LSP_CAUSE_OMEGA,     /* t*s of BiCGStab: the last step had length 0 */
    LSP_CAUSE_TINY       /* b is not 0, but the square of its norm is */
};

/* Work vectors of a plan. q = A p, or A p_hat. With Jacobi, z of conjugate gradients is not stored, and stands for
 * nothing. Of BiCGStab, p_hat and s_hat are the preconditioned p and s; without a preconditioner p and s themselves. */
typedef struct lsp_solve_vectors {
    void *r, *p, *q, *z;
    void *r_hat, *s, *t, *p_hat, *s_hat;
} lsp_solve_vectors;

struct lsp_solve_plan {
    lsp_ctx *ctx; /* NULL once the context is destroyed */
    lsp_plan_life life;
    lsp_solve_options options; /* checked, defaults filled in */
    bool bicgstab;
    bool any_sign; /* as in lsp_solve_state: the matrix of the NAS benchmark is indefinite */
    int64_t n;
    lsp_type type;
    lsp_where where;
    lsp_csr given;       /* sizes and types of A */
    lsp_spmv_plan *spmv; /* NULL with an operator */
    void *inverse;       /* Jacobi: n numbers, 1 / diagonal; else NULL */
    void *memory;        /* of all work vectors */
    lsp_solve_vectors vectors;
    void *parts;                   /* of cpu/ or gpu/: its own struct, on the host */
    lsp_cuda_queue queue;          /* of gpu/: here, because it outlives the context */
    struct lsp_resident *resident; /* NULL: the solver is not one kernel */
    lsp_spmv_info spmv_info;
    double plan_seconds;
};

/* What cpu/ and gpu/ tell of one solve. */
typedef struct lsp_solve_outcome {
    lsp_solve_state state; /* the last one */
    bool stopped;          /* by on_iteration */
    double b_norm, last;   /* |b|; |r| / |b| by the recurrence, after the last complete iteration */
    double rr;             /* |b - A x|^2, computed anew; 0 for b = 0 */
    const char *solver;
} lsp_solve_outcome;

/* check.c */
lsp_status lsp_solve_check(lsp_ctx *ctx, const lsp_csr *A, const lsp_solve_options *options, lsp_solve_plan *plan);
lsp_status lsp_solve_check_vectors(const lsp_solve_plan *plan, const void *b, const void *x);
lsp_status lsp_solve_check_same(const lsp_solve_plan *plan, const lsp_csr *A);

/* plan.c: as lsp_cg_plan_create. once: the plan is for one solve. */
lsp_status lsp_solve_plan_make(lsp_ctx *ctx, const lsp_csr *A, const lsp_solve_options *options, bool bicgstab,
                               bool once, lsp_solve_plan **plan);
/* plan.c: solves with checked vectors. */
lsp_status lsp_solve_run(lsp_solve_plan *plan, const void *b, void *x, lsp_solve_outcome *outcome);
/* apply.c: y = A*x, and y = the preconditioner applied to x, by A's plan or the user's function. */
lsp_status lsp_solve_multiply(const lsp_solve_plan *plan, const void *x, void *y);
lsp_status lsp_solve_precondition(const lsp_solve_plan *plan, const void *x, void *y);
/* Does an iteration call the user's functions? */
static inline bool lsp_solve_has_user_part(const lsp_solve_plan *plan) {
    return plan->spmv == NULL || plan->options.precondition == LSP_PRECONDITION_USER;
}

/* ref.c: the specification, one thread on the host, f64. Jacobi or none. x0: x is read. */
lsp_status lsp_solve_ref(lsp_ctx *ctx, const lsp_csr *A, const lsp_solve_options *options, bool bicgstab,
                         const double *b, double *x, lsp_solve_state *state);

/* cpu/ and gpu/. prepare sets plan->parts; release frees it, also half made. diagonal: inverse[i] = 1 / A[i][i],
 * *bad: the first row whose entry is 0 or missing, or -1. The GPU's run and diagonal wait. */
lsp_status lsp_solve_prepare_cpu(lsp_solve_plan *plan);
lsp_status lsp_solve_prepare_cuda(lsp_solve_plan *plan);
lsp_status lsp_solve_run_cpu(lsp_solve_plan *plan, const void *b, lsp_solve_outcome *outcome);
lsp_status lsp_solve_run_cuda(lsp_solve_plan *plan, const void *b, lsp_solve_outcome *outcome);
void lsp_solve_release_cpu(lsp_solve_plan *plan);
void lsp_solve_release_cuda(lsp_solve_plan *plan);
lsp_status lsp_solve_diagonal_cpu(lsp_ctx *ctx, const lsp_csr *A, lsp_type type, void *inverse, int64_t *bad);
lsp_status lsp_solve_diagonal_cuda(lsp_ctx *ctx, const lsp_csr *A, lsp_type type, void *inverse, int64_t *bad);
/* sums[0] = x*z, sums[1] = z*z; then to[i] = from[i] * factor. f64; for the NAS benchmark. The GPU's first one waits.
 */
lsp_status lsp_solve_pair_cpu(lsp_ctx *ctx, int64_t n, const double *x, const double *z, double sums[2]);
lsp_status lsp_solve_pair_cuda(lsp_ctx *ctx, int64_t n, const double *x, const double *z, double sums[2]);
lsp_status lsp_solve_scale_cpu(lsp_ctx *ctx, int64_t n, double factor, const double *from, double *to);
lsp_status lsp_solve_scale_cuda(lsp_ctx *ctx, int64_t n, double factor, const double *from, double *to);

#ifdef __cplusplus
}
#endif
#endif
