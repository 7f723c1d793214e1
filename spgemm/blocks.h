/* C = A*B by one call, whatever the size of the factors: whole, or on a GPU in blocks. */
#pragma once

#include "job.h"

/* lsp_spgemm with a prepared filter (lsp_filter_prepare_mask), by a plan that is not kept. C before the filter must fit
 * the memory. _uncut with C NULL only fills the info; it refuses factors of a GPU that are too large for kernels;
 * _in_blocks, for a GPU alone, cuts them; _at_once is one of both. */
lsp_status lsp_spgemm_uncut(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                            lsp_csr *C, lsp_spgemm_info *info);
lsp_status lsp_spgemm_in_blocks(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                lsp_csr *C, lsp_spgemm_info *info);
static inline lsp_status lsp_spgemm_at_once(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B,
                                            const lsp_spgemm_options *options, lsp_csr *C, lsp_spgemm_info *info) {
    return A != NULL && B != NULL && A->where == LSP_CUDA ? lsp_spgemm_in_blocks(ctx, A, B, options, C, info)
                                                          : lsp_spgemm_uncut(ctx, A, B, options, C, info);
}
