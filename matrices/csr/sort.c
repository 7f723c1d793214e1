/* Rows put in order by the segmented sort: a row is a segment, its columns are the keys, and values move with them. */
#include "facts.h"

lsp_status lsp_csr_sort_runs(lsp_ctx *ctx, const lsp_csr *A, void *heads, void *counts) {
    const bool natural = A->where == LSP_HOST && !heads; /* signed keys */
    const lsp_type unsigned_type = A->col_type == LSP_I64 ? LSP_U64 : LSP_U32;
    return lsp_segsort(ctx,
                       &(lsp_segsort_args){.n = A->nnz,
                                           .segments = A->rows,
                                           .offsets = A->rowptr,
                                           .offset_type = A->rowptr_type,
                                           .key_type = natural ? A->col_type : unsigned_type,
                                           .value_bytes = lsp_type_bytes(A->val_type),
                                           .keys = A->col,
                                           .keys_out = A->col,
                                           .values = A->val,
                                           .values_out = A->val,
                                           .change_at = heads,
                                           .change_count = counts,
                                           .where = A->where},
                       NULL);
}

/* A matrix of LSP_BOOL: the sort moves values of 4 bytes and more. */
static lsp_status sort_bytes(lsp_ctx *ctx, const lsp_csr *A) {
    LSP_SCRATCH_SCOPE(ctx);
    lsp_csr wide;
    LSP_TRY(lsp_csr_widen(ctx, A, LSP_I32, &wide));
    LSP_TRY(lsp_csr_sort_runs(ctx, &wide, NULL, NULL));
    return lsp_convert_values(ctx, A->where, LSP_BOOL, A->val, LSP_I32, wide.val, A->nnz);
}

lsp_status lsp_csr_sort_rows(lsp_ctx *ctx, lsp_csr *A) {
    if (A->where == LSP_HOST ? lsp_csr_first_unsorted(ctx, A, false) == A->rows : A->nnz == 0) {
        return LSP_OK;
    }
    return A->val_type == LSP_BOOL ? sort_bytes(ctx, A) : lsp_csr_sort_runs(ctx, A, NULL, NULL);
}
