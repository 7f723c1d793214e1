/* Inside solve: the types that its top, cpu/ and gpu/ share. */
#pragma once

#include "core/cuda.h"

LSP_BEGIN_DECLS

/* A real number of an array; of a pattern 1. */
LSP_BOTH_SIDES static inline __attribute__((always_inline)) double lsp_solve_value(lsp_type type, const void *array,
                                                                                   int64_t i) {
    return type == LSP_F64 ? ((const double *)array)[i] : type == LSP_F32 ? (double)((const float *)array)[i] : 1;
}
LSP_BOTH_SIDES static inline __attribute__((always_inline)) void lsp_solve_set_value(lsp_type type, void *array,
                                                                                     int64_t i, double value) {
    if (type == LSP_F64) {
        ((double *)array)[i] = value;
    } else {
        ((float *)array)[i] = (float)value;
    }
}

/* What an iteration knows besides its vectors. On a GPU it lies there, and kernels read and write it. */
typedef struct lsp_solve_state {
    /* set before the first iteration */
    double rtol, atol;
    int64_t max_iterations;
    bool fixed, any_sign; /* any_sign: conjugate gradients go on if p*A*p is negative */
    bool stationary;      /* the loops of conjugate gradients with alpha = 1 and beta = 0: x += M r */
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
    LSP_CAUSE_TINY,      /* b is not 0, but the square of its norm is */
    LSP_CAUSE_HUGE       /* b is finite, but the square of its norm is not */
};

/* Vectors and factors of a loop. Of a plan: its work vectors. x: the iterate, where a call may fail while it runs;
 * NULL: the caller's x. q = A p, or A p_hat. inverse: Jacobi, 1 / diagonal; else NULL. z of conjugate gradients is r,
 * unless a preconditioner that is called makes it. Of BiCGStab, p_hat and s_hat are the preconditioned p and s; without
 * a preconditioner p and s themselves. */
typedef struct lsp_solve_loop {
    const void *b;
    void *inverse, *x, *r, *p, *q, *z;
    void *r_hat, *s, *t, *p_hat, *s_hat;
    double alpha, beta, omega;
    bool due, runs; /* does x wait for its update? does the solver go on? */
} lsp_solve_loop;

struct lsp_solve_plan {
    lsp_ctx *ctx; /* NULL once the context is destroyed */
    lsp_plan_life life;
    lsp_solve_options options; /* checked, defaults filled in */
    bool bicgstab;
    bool any_sign, stationary; /* as in lsp_solve_state: the matrix of the NAS benchmark is indefinite; multigrid by
                                  itself */
    int64_t n;
    lsp_type type;
    lsp_where where;
    const struct lsp_solve_backend *backend;
    lsp_csr given;            /* sizes and types of A */
    lsp_spmv_plan *spmv;      /* NULL with an operator */
    bool spmv_borrowed;       /* from the hierarchy */
    lsp_multigrid *multigrid; /* the plan's own hierarchy; one of the caller's is in the options alone */
    int64_t recorded;         /* of gpu/: the version of the hierarchy that the queue's batch was recorded with */
    void *memory;             /* of all work vectors */
    lsp_solve_loop vectors;
    void *parts;                   /* of cpu/ or gpu/: its own struct, where the device works */
    lsp_cuda_queue queue;          /* of gpu/ */
    struct lsp_resident *resident; /* of gpu/; NULL: the solver is not one kernel */
    lsp_spmv_info spmv_info;
    double plan_seconds;
};

/* What is told of one solve, which has several rounds if the residual by recurrence leaves the true one. */
typedef struct lsp_solve_outcome {
    lsp_solve_state state;  /* the last one. `iteration` and `end_iteration` count from the start of the round */
    bool guess;             /* x holds a first guess, of the caller or of the round before */
    int64_t before, rounds; /* iterations of the rounds before; rounds, this one included */
    bool stopped;           /* by on_iteration */
    double b_norm, last;    /* |b|; |r| / |b| by the recurrence, after the last complete iteration */
    double rr;              /* |b - A x|^2, computed anew; 0 for b = 0 */
    const char *solver;
} lsp_solve_outcome;

/* THE loops over the vectors, which loop_bodies.h defines: each with the number of its sums. */
#define LSP_SOLVE_LOOPS(X)                                                                                             \
    X(LSP_LOOP_START, start, 3)                                                                                        \
    X(LSP_LOOP_DOT, dot, 1)                                                                                            \
    X(LSP_LOOP_STEP, step, 2)                                                                                          \
    X(LSP_LOOP_TURN, turn, 0)                                                                                          \
    X(LSP_LOOP_HALF, half, 1)                                                                                          \
    X(LSP_LOOP_DOTS, dots, 2)                                                                                          \
    X(LSP_LOOP_STEP_STABILIZED, step_stabilized, 2)                                                                    \
    X(LSP_LOOP_TURN_STABILIZED, turn_stabilized, 0)                                                                    \
    X(LSP_LOOP_RESIDUAL, residual, 1)                                                                                  \
    X(LSP_LOOP_SCALE, scale, 0)
#define LSP_SOLVE_LOOP_ID(id, name, sums) id,
typedef enum lsp_solve_loop_id { LSP_SOLVE_LOOPS(LSP_SOLVE_LOOP_ID) } lsp_solve_loop_id;

/* A loop leaves its sums in one of three slots, for the decisions that later loops begin with. */
enum {
    LSP_SLOT_DOTS,  /* p*q or r_hat*q; t*s, t*t */
    LSP_SLOT_NORMS, /* r*r, r*z or r_hat*r, b*b */
    LSP_SLOT_APART, /* r*z where a preconditioner is called; s*s */
    LSP_SOLVE_SLOTS
};

struct lsp_resident_shape;

/* What a device does; the top of the room calls nothing else of cpu/ and gpu/. */
typedef struct lsp_solve_backend {
    const char *solver;                          /* its usual name for lsp_solve_info */
    lsp_status (*prepare)(lsp_solve_plan *plan); /* sets plan->parts */
    /* One round: from the first residual to an end. May wait for the GPU. */
    lsp_status (*run)(lsp_solve_plan *plan, const void *b, lsp_solve_outcome *outcome);
    /* One loop, with the decision that it begins with; its sums go to `slot`. outcome: NULL outside of a round. */
    lsp_status (*loop)(const lsp_solve_plan *plan, lsp_solve_outcome *outcome, lsp_solve_loop_id id,
                       const lsp_solve_loop *loop, int slot);
    /* The first two sums that a loop left in `slot`. Waits. */
    lsp_status (*sums)(const lsp_solve_plan *plan, int slot, double sums[2]);
    /* inverse[i] = 1 / A[i][i]; *bad: the first row whose entry is 0 or missing, or -1. Waits. */
    lsp_status (*diagonal)(lsp_ctx *ctx, const lsp_csr *A, lsp_type type, void *inverse, int64_t *bad);
    /* The solver that is one kernel; NULL where there is none. fits: may it solve the system, and is that likely to be
     * faster? longest_row: of A, 0 if unknown. keep: copies A into its layout; LSP_ERR_UNSUPPORTED or LSP_ERR_MEMORY:
     * it cannot. shape: NULL. update: new values in A, for all that the GPU keeps. nas: all of the benchmark, timed. */
    bool (*fits)(lsp_ctx *ctx, const lsp_csr *A, int64_t longest_row, const struct lsp_resident_shape *shape);
    lsp_status (*keep)(lsp_ctx *ctx, const lsp_csr *A, const struct lsp_resident_shape *shape,
                       struct lsp_resident **resident);
    lsp_status (*update)(lsp_solve_plan *plan, const lsp_csr *A);
    lsp_status (*nas)(lsp_ctx *ctx, const struct lsp_resident *resident, double shift, int64_t iterations, double *zeta,
                      double *residual, double *seconds);
} lsp_solve_backend;
extern const lsp_solve_backend lsp_solve_cpu, lsp_solve_cuda;

/* iterate.c: y = A*x, by A's plan or the user's function. The first residual and direction; one iteration. A GPU's are
 * enqueued. */
lsp_status lsp_solve_multiply(const lsp_solve_plan *plan, const void *x, void *y);
lsp_status lsp_solve_start(lsp_solve_plan *plan, const void *b, lsp_solve_outcome *outcome);
lsp_status lsp_solve_iterate(lsp_solve_plan *plan, lsp_solve_outcome *outcome);

/* Does an iteration call the user's functions? */
static inline bool lsp_solve_has_user_part(const lsp_solve_plan *plan) {
    return plan->spmv == NULL || plan->options.precondition == LSP_PRECONDITION_USER;
}
/* Is the preconditioner a call, rather than a factor in the loops? */
static inline bool lsp_solve_calls_precondition(const lsp_solve_plan *plan) {
    return plan->options.precondition >= LSP_PRECONDITION_USER;
}

LSP_END_DECLS
