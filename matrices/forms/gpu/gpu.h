/* Parts and forms of matrices that lie on the context's GPU: the files of this folder; none.c in a build without CUDA.
 */
#ifndef LSP_MATRICES_FORMS_GPU_GPU_H
#define LSP_MATRICES_FORMS_GPU_GPU_H

#include "matrices/forms/forms.h"

#ifdef __cplusplus
extern "C" {
#endif

/* lsp_csr_window. Waits for nnz(B). */
lsp_status lsp_csr_window_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_window *window, lsp_csr *B);

/* counts[b], on the host, = the entries of A in bucket b of the columns low .. high-1: a bucket has 2^shift columns. No
 * more than `most` buckets, and these up to 1024. Waits. */
typedef struct lsp_buckets {
    int64_t low, high;
    int shift, most;
} lsp_buckets;
lsp_status lsp_csr_count_columns_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_buckets *buckets, int64_t *counts);

/* rowptr[i] = A.rowptr[first + i] - begin for 0 <= i <= rows, in the type of A.rowptr. */
lsp_status lsp_csr_shift_rowptr_cuda(lsp_ctx *ctx, const lsp_csr *A, int64_t first, int64_t rows, int64_t begin,
                                     void *rowptr);

/* The first position of the list that holds an index outside 0 .. n-1, or its length; and that index. Waits. */
lsp_status lsp_list_outside_cuda(lsp_ctx *ctx, const lsp_index_list *list, int64_t n, int64_t *first, int64_t *index);

/* to[i] = i for 0 <= i < n. */
lsp_status lsp_count_up_cuda(lsp_ctx *ctx, void *to, lsp_type type, int64_t n);

/* B = the rows and columns wanted, rows sorted if there is a list of columns. Waits. */
lsp_status lsp_csr_extract_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_selection *wanted, lsp_csr *B);

/* Blocks of a stack. _count: next[i + 1] += the entries of the block's row i. _create: next[] become the row pointers
 * of B, which is made with them. _copy: the entries of the block's row i go to next[i] of B, with columns from `offset`
 * on; next[i] moves behind them. */
lsp_status lsp_stack_count_cuda(lsp_ctx *ctx, const lsp_csr *block, int64_t *next);
lsp_status lsp_stack_create_cuda(lsp_ctx *ctx, int64_t rows, int64_t cols, int64_t nnz, const lsp_csr_types *types,
                                 int64_t *next, lsp_csr *B);
lsp_status lsp_stack_copy_cuda(lsp_ctx *ctx, const lsp_csr *block, int64_t offset, int64_t *next, const lsp_csr *B);

/* row[k] = the row of entry k. */
lsp_status lsp_csr_rows_cuda(lsp_ctx *ctx, const lsp_csr *A, void *row, lsp_type type);

/* The elements of D = the entries of A, no place twice. D has its stride. */
lsp_status lsp_dense_fill_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_dense *D);

/* B = the elements of D, by rows, that are not 0. Waits for nnz(B). */
lsp_status lsp_dense_gather_cuda(lsp_ctx *ctx, const lsp_dense *D, lsp_csr *B);

#ifdef __cplusplus
}
#endif
#endif
