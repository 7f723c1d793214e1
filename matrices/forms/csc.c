/* Compressed columns are the rows of the transpose, in the same arrays; so both conversions are one transpose. */
#include "matrices/matrices.h"

lsp_status lsp_csc_to_csr(lsp_ctx *ctx, const lsp_csc *A, lsp_csr *B) {
    LSP_REQUIRE(ctx && A, LSP_ERR_ARGUMENT, "A is NULL");
    const lsp_csr T = lsp_csc_transposed(A);
    return lsp_csr_transpose_as(ctx, "the transpose of A", &T, B);
}

lsp_status lsp_csr_to_csc(lsp_ctx *ctx, const lsp_csr *A, lsp_csc *B) {
    lsp_csr T = {0};
    LSP_TRY(lsp_csr_check_header(ctx, "A", A));
    LSP_REQUIRE(B, LSP_ERR_ARGUMENT, "the place for the columns is NULL");
    LSP_TRY(lsp_csr_transpose(ctx, A, &T));
    *B = (lsp_csc){.rows = A->rows,
                   .cols = A->cols,
                   .nnz = T.nnz,
                   .colptr = T.rowptr,
                   .row = T.col,
                   .val = T.val,
                   .colptr_type = T.rowptr_type,
                   .row_type = T.col_type,
                   .val_type = T.val_type,
                   .where = T.where};
    return LSP_OK;
}

lsp_status lsp_csc_free(lsp_ctx *ctx, lsp_csc *A) {
    lsp_csr T = A ? lsp_csc_transposed(A) : (lsp_csr){0};
    LSP_TRY(lsp_csr_free(ctx, &T));
    if (A) {
        *A = (lsp_csc){0};
    }
    return LSP_OK;
}
