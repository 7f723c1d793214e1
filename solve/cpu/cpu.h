/* Inside solve/cpu: vector loops over pieces, by all threads. */
#pragma once

#include "solve/job.h"

/* The loops of kernel_template.h, which says what each reads and writes. */
#define LSP_SOLVE_LOOPS(X)                                                                                             \
    X(LSP_LOOP_START, start)                                                                                           \
    X(LSP_LOOP_DOT, dot)                                                                                               \
    X(LSP_LOOP_STEP, step)                                                                                             \
    X(LSP_LOOP_TURN, turn)                                                                                             \
    X(LSP_LOOP_TURN_STABILIZED, turn_stabilized)                                                                       \
    X(LSP_LOOP_HALF, half)                                                                                             \
    X(LSP_LOOP_DOTS, dots)                                                                                             \
    X(LSP_LOOP_STEP_STABILIZED, step_stabilized)                                                                       \
    X(LSP_LOOP_RESIDUAL, residual)                                                                                     \
    X(LSP_LOOP_SCALE, scale)
#define LSP_SOLVE_LOOP_ID(id, name) id,
typedef enum lsp_solve_loop_id { LSP_SOLVE_LOOPS(LSP_SOLVE_LOOP_ID) } lsp_solve_loop_id;

/* Vectors and factors of a loop. */
typedef struct lsp_solve_loop {
    const void *b, *inverse, *q, *z;
    void *x, *r, *p, *r_hat, *s, *t, *p_hat, *s_hat;
    double alpha, beta, omega;
    bool due, runs;
} lsp_solve_loop;

typedef void (*lsp_solve_kernel)(const lsp_solve_loop *loop, int64_t begin, int64_t end, double sums[3]);
lsp_solve_kernel lsp_solve_kernel_of_portable(lsp_solve_loop_id id, lsp_type type);
lsp_solve_kernel lsp_solve_kernel_of_avx2(lsp_solve_loop_id id, lsp_type type);
lsp_solve_kernel lsp_solve_kernel_of_avx512(lsp_solve_loop_id id, lsp_type type);

/* loops.c: `partial` holds lsp_solve_partials(n) numbers. */
int64_t lsp_solve_partials(int64_t n);
typedef struct lsp_solve_team {
    lsp_ctx *ctx;
    int64_t n;
    lsp_type type;
    double *partial;
} lsp_solve_team;
void lsp_solve_loop_run(const lsp_solve_team *team, lsp_solve_loop_id id, const lsp_solve_loop *loop, double sums[3]);
