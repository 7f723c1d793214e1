/* Rows of a checked matrix put in order by the segmented sort: a row is a segment, its columns are the keys, and values
 * move with them. */
#include "matrices/csr/gpu/gpu.h"
#include "matrices/matrices.h"

static lsp_status sort_on_host(lsp_ctx *ctx, const lsp_csr *A) {
    lsp_status status = LSP_OK;
    if (lsp_csr_first_unsorted(ctx, A, false) < A->rows) {
        LSP_TRY(lsp_segsort(ctx,
                            &(lsp_segsort_args){.n = A->nnz,
                                                .segments = A->rows,
                                                .offsets = A->rowptr,
                                                .offset_type = A->rowptr_type,
                                                .key_type = A->col_type,
                                                .value_bytes = lsp_type_bytes(A->val_type),
                                                .keys = A->col,
                                                .keys_out = A->col,
                                                .values = A->val,
                                                .values_out = A->val},
                            NULL));
    }
done:
    return status;
}

lsp_status lsp_csr_sort_rows(lsp_ctx *ctx, lsp_csr *A) {
    if (A->where == LSP_CUDA) {
        return lsp_csr_sort_cuda(ctx, A);
    }
    if (A->val_type != LSP_BOOL) {
        return sort_on_host(ctx, A);
    }
    return lsp_csr_first_unsorted(ctx, A, false) < A->rows ? lsp_csr_sort_bytes(ctx, A, sort_on_host) : LSP_OK;
}
