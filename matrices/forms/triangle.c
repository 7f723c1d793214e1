/* B = the entries of A on one side of a diagonal: a window of columns that moves with the rows. */
#include "forms.h"
#include "matrices/matrices.h"

lsp_status lsp_csr_triangle(lsp_ctx *ctx, const lsp_csr *A, lsp_triangle triangle, int64_t diagonal, lsp_csr *B) {
    lsp_status status = LSP_OK;
    lsp_csr made = {0};
    LSP_TRY(lsp_csr_check_there(ctx, "A", A));
    LSP_REQUIRE(B, LSP_ERR_ARGUMENT, "the place for the triangle is NULL");
    LSP_REQUIRE(triangle == LSP_TRIANGLE_LOWER || triangle == LSP_TRIANGLE_UPPER, LSP_ERR_ARGUMENT,
                "%d is neither LSP_TRIANGLE_LOWER nor LSP_TRIANGLE_UPPER", (int)triangle);
    LSP_TRY(lsp_csr_window(ctx, A,
                           &(lsp_window){.low = triangle == LSP_TRIANGLE_LOWER ? INT64_MIN : diagonal,
                                         .high = triangle == LSP_TRIANGLE_LOWER ? diagonal : INT64_MAX,
                                         .cols = A->cols,
                                         .diagonal = true},
                           &made));
    lsp_csr_put(ctx, B, &made, B == A);
done:
    if (status != LSP_OK) {
        lsp_csr_free(ctx, &made);
    }
    return status;
}
