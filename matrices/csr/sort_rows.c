/* Rows of a checked matrix put in order by the segmented sort: a row is a segment, its columns are the keys, and values
 * move with them. */
#include "matrices/matrices.h"

static lsp_status sort(lsp_ctx *ctx, const lsp_csr *A) {
    const lsp_type natural = A->col_type == LSP_I64 ? LSP_U64 : LSP_U32; /* of a GPU's keys */
    return lsp_segsort(ctx,
                       &(lsp_segsort_args){.n = A->nnz,
                                           .segments = A->rows,
                                           .offsets = A->rowptr,
                                           .offset_type = A->rowptr_type,
                                           .key_type = A->where == LSP_CUDA ? natural : A->col_type,
                                           .value_bytes = lsp_type_bytes(A->val_type),
                                           .keys = A->col,
                                           .keys_out = A->col,
                                           .values = A->val,
                                           .values_out = A->val,
                                           .where = A->where},
                       NULL);
}

lsp_status lsp_csr_sort_rows(lsp_ctx *ctx, lsp_csr *A) {
    if (A->where == LSP_HOST ? lsp_csr_first_unsorted(ctx, A, false) == A->rows : A->nnz == 0) {
        return LSP_OK;
    }
    return A->val_type == LSP_BOOL ? lsp_csr_sort_bytes(ctx, A, sort) : sort(ctx, A);
}
