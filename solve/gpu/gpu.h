/* Inside solve/gpu, "streamed": what kernels of one iteration leave for the next ones, and how they are started. */
#pragma once

#include "solve/job.h"

LSP_BEGIN_DECLS

enum {
    LSP_SOLVE_RECENT = 64, /* residuals that the host can still read; at least the iterations of a batch */
    LSP_SOLVE_BLOCKS = 528 /* most blocks of a kernel. Fixed, so that sums have the same bits on every GPU */
};

/* What the host gets to read after each batch. */
typedef struct lsp_solve_news {
    lsp_solve_state state;           /* after the last iteration */
    double recent[LSP_SOLVE_RECENT]; /* the relative residual of iteration k at k % LSP_SOLVE_RECENT */
} lsp_solve_news;

/* Sums of a kernel, one of each block; the next kernel adds them in the order of the blocks. */
typedef struct lsp_solve_partial {
    double of[3][LSP_SOLVE_BLOCKS];
} lsp_solve_partial;

/* On the GPU. A kernel reads the state that the kernel before it left, and leaves its own in another place, because
 * its blocks do not begin together. */
typedef struct lsp_solve_area {
    lsp_solve_news news;                       /* left by `turn` */
    lsp_solve_state after_first, after_second; /* left by `step` and `half`; by `step_stabilized` */
    lsp_solve_partial sums[3];
    double total[2];
} lsp_solve_area;

/* plan->parts */
typedef struct lsp_solve_gpu {
    lsp_solve_area *area; /* on the GPU */
    int batch;            /* iterations that the host enqueues together */
} lsp_solve_gpu;

/* launch.cu: enqueue one kernel each; what they compute is in kernel_streamed.cuh and kernel_streamed_bicgstab.cuh.
 * `sums`: which of area->sums they fill. The turn takes r*z from another place than r*r if a preconditioner of the
 * user's made z. */
lsp_status lsp_solve_launch_start(const lsp_solve_plan *plan, const void *b, const void *q, void *x);
lsp_status lsp_solve_launch_dot(const lsp_solve_plan *plan, const void *p, const void *q, int sums);
lsp_status lsp_solve_launch_step(const lsp_solve_plan *plan);
lsp_status lsp_solve_launch_turn(const lsp_solve_plan *plan, bool first);
lsp_status lsp_solve_launch_half(const lsp_solve_plan *plan);
lsp_status lsp_solve_launch_dots(const lsp_solve_plan *plan);
lsp_status lsp_solve_launch_step_stabilized(const lsp_solve_plan *plan);
/* To area->total[0]: |b - q|^2. */
lsp_status lsp_solve_launch_residual(const lsp_solve_plan *plan, const void *b, const void *q);
/* As in lsp_solve_backend; diagonal.cu has the first. */
lsp_status lsp_solve_launch_diagonal(lsp_ctx *ctx, const lsp_csr *A, lsp_type type, void *inverse, int64_t *bad);
lsp_status lsp_solve_launch_pair(lsp_ctx *ctx, int64_t n, const double *x, const double *z, double sums[2]);
lsp_status lsp_solve_launch_scale(lsp_ctx *ctx, int64_t n, double factor, const double *from, double *to);

LSP_END_DECLS
