/* The public sort: the matrix is checked, then its rows are sorted. */
#include "matrices/matrices.h"

lsp_status lsp_csr_sort(lsp_ctx *ctx, lsp_csr *A) {
    lsp_status status = LSP_OK;
    LSP_TRY(lsp_csr_check_there(ctx, "A", A));
    LSP_TRY(lsp_csr_sort_rows(ctx, A));
done:
    return status;
}
