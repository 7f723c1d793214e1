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

/* Sums of a kernel, one of each block; a later kernel adds them in the order of the blocks. */
typedef struct lsp_solve_partial {
    double of[3][LSP_SOLVE_BLOCKS];
} lsp_solve_partial;

/* plan->parts, on the GPU. A kernel reads the state that the kernel before it left, and leaves its own in another
 * place, because its blocks do not begin together. */
typedef struct lsp_solve_area {
    lsp_solve_news news;                       /* left by `turn` */
    lsp_solve_state after_first, after_second; /* left by `step` and `half`; by `step_stabilized` */
    lsp_solve_partial sums[LSP_SOLVE_SLOTS];
    double total[2];
} lsp_solve_area;

/* loops.cu: as in lsp_solve_backend. */
lsp_status lsp_solve_launch_loop(const lsp_solve_plan *plan, lsp_solve_outcome *outcome, lsp_solve_loop_id id,
                                 const lsp_solve_loop *loop, int slot);
lsp_status lsp_solve_launch_sums(const lsp_solve_plan *plan, int slot, double sums[2]);
/* diagonal.cu */
lsp_status lsp_solve_launch_diagonal(lsp_ctx *ctx, const lsp_csr *A, lsp_type type, void *inverse, int64_t *bad);

LSP_END_DECLS
