/* Rows of a checked matrix put in order by the segmented sort: a row is a segment, its columns are the keys, and values
 * move with them. */
#include "matrices/csr/gpu/gpu.h"
#include "matrices/matrices.h"

static lsp_status sort_on_host(lsp_ctx *ctx, lsp_csr *A) {
    lsp_status status = LSP_OK;
    if (lsp_csr_first_unsorted(ctx, A, false) < A->rows) {
        LSP_TRY(lsp_segsort(ctx, &(lsp_segsort_args){.n = A->nnz,
                                                     .segments = A->rows,
                                                     .offsets = A->rowptr,
                                                     .offset_type = A->rowptr_type,
                                                     .key_type = A->col_type,
                                                     .value_bytes = lsp_type_bytes(A->val_type),
                                                     .keys = A->col,
                                                     .keys_out = A->col,
                                                     .values = A->val,
                                                     .values_out = A->val}));
    }
done:
    return status;
}

/* The sort moves values of 4 bytes and more. */
static lsp_status sort_bytes(lsp_ctx *ctx, const lsp_csr *A) {
    lsp_status status = LSP_OK;
    const size_t mark = lsp_scratch_mark(ctx);
    lsp_csr wide;
    LSP_TRY(lsp_csr_widen(ctx, A, LSP_I32, &wide));
    LSP_TRY(sort_on_host(ctx, &wide));
    LSP_TRY(lsp_convert_values(ctx, LSP_HOST, LSP_BOOL, A->val, LSP_I32, wide.val, A->nnz));
done:
    lsp_scratch_release(ctx, mark);
    return status;
}

lsp_status lsp_csr_sort_rows(lsp_ctx *ctx, lsp_csr *A) {
    if (A->where == LSP_CUDA) {
        return lsp_csr_sort_cuda(ctx, A);
    }
    if (A->val_type != LSP_BOOL) {
        return sort_on_host(ctx, A);
    }
    return lsp_csr_first_unsorted(ctx, A, false) < A->rows ? sort_bytes(ctx, A) : LSP_OK;
}
