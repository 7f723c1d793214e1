/* Operations on matrices that lie on the context's GPU: the files of this folder; none.c in a build without CUDA. */
#ifndef LSP_MATRICES_CSR_GPU_GPU_H
#define LSP_MATRICES_CSR_GPU_GPU_H

#include "core/core.h"
#include "matrices/csr/filing.h"

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

/* lsp_csr_file. */
lsp_status lsp_csr_file_cuda(lsp_ctx *ctx, const lsp_filing *items, lsp_csr *B);

/* Fills B = A^T, which was created, with columns in bins that fit shared memory. *done = false: A is not of that kind
 * (columns too uneven, rows unsorted, or a column twice in a row), and B is as it was. Checks A, whose struct was
 * checked before, unless `name` is NULL. Waits. */
lsp_status lsp_csr_bins_cuda(lsp_ctx *ctx, const char *name, const lsp_csr *A, lsp_csr *B, bool *done);

/* inverse[order[i]] = i, as lsp_csr_permute needs it. `what`: "rows" or "columns". Waits. */
lsp_status lsp_csr_invert_cuda(lsp_ctx *ctx, const char *what, const void *order, lsp_type type, int64_t n,
                               void *inverse);

/* B = A with its rows in another order and columns renamed; rows are not sorted yet. NULL keeps an order. */
lsp_status lsp_csr_reorder_cuda(lsp_ctx *ctx, const lsp_csr *A, const void *row_order, const void *new_col,
                                lsp_type order_type, lsp_csr *B);

/* B = the rows of A, each followed by the mirrored entries off the diagonal from the same row of T = A^T. */
lsp_status lsp_csr_mirror_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *T, lsp_symmetry symmetry, lsp_csr *B);

/* lsp_csr_sum_duplicates; the arrays of A are replaced if there are any. Waits. */
lsp_status lsp_csr_sum_cuda(lsp_ctx *ctx, lsp_csr *A);

/* The first value of A, of LSP_I64, that does not fit LSP_I32, or nnz. Waits. */
lsp_status lsp_csr_find_wide_cuda(lsp_ctx *ctx, const lsp_csr *A, int64_t *entry);

/* The first triple outside the matrix, or nnz; at[] are its row and column. Waits. */
lsp_status lsp_coo_outside_cuda(lsp_ctx *ctx, const lsp_coo *A, int64_t *outside, int64_t at[2]);

#ifdef __cplusplus
}
#endif
#endif
