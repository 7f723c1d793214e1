/* Operations on matrices that lie on the context's GPU: the files of this folder; none.c in a build without CUDA. */
#ifndef LSP_MATRICES_CSR_GPU_GPU_H
#define LSP_MATRICES_CSR_GPU_GPU_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks row pointers and columns as lsp_csr_check does; the struct was checked before. Waits. */
lsp_status lsp_csr_check_cuda(lsp_ctx *ctx, const char *name, const lsp_csr *A);

/* Sorts each row by column, in place, stably. */
lsp_status lsp_csr_sort_cuda(lsp_ctx *ctx, lsp_csr *A);

/* lsp_csr_add for checked matrices. Waits for nnz(C). */
lsp_status lsp_csr_add_cuda(lsp_ctx *ctx, double alpha, const lsp_csr *A, double beta, const lsp_csr *B, lsp_csr *C);

/* lsp_filter_rows. The mask lies on the GPU too, and its rows are sorted. Waits for nnz(B). */
lsp_status lsp_filter_rows_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_filter *filter, lsp_csr *B);

/* lsp_filter_take, with counts[0] = 0. */
lsp_status lsp_filter_take_cuda(lsp_ctx *ctx, const lsp_csr *A, const uint8_t *stays, int64_t *counts,
                                const lsp_csr_types *types, lsp_csr *B);

#ifdef __cplusplus
}
#endif
#endif
