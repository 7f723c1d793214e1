/* Inside spmv: what LSP_SPMV_GATHER does alike on both devices. */
#pragma once

#include "job.h"

LSP_BEGIN_DECLS

/* An element of x for each entry; a vector of X without gaps. */
typedef struct lsp_spmv_gathered {
    void *gathered, *dense;
} lsp_spmv_gathered;

/* *x = vector v of X without gaps; in `dense`, of A.cols elements, if it has some. Waits for nothing. */
lsp_status lsp_spmv_dense_x(lsp_ctx *ctx, const lsp_spmv_job *job, int64_t v, void *dense, const void **x);

/* Both steps for all vectors, the second by `sum`: vector v of Y from the gathered elements. parts: of the plan, or
 * NULL: scratch. */
typedef lsp_status lsp_spmv_sum_gathered(lsp_ctx *ctx, const lsp_spmv_job *job, const void *gathered, int64_t v);
lsp_status lsp_spmv_gather_run(lsp_ctx *ctx, const lsp_spmv_job *job, const lsp_spmv_gathered *parts,
                               lsp_spmv_sum_gathered *sum);

LSP_END_DECLS
