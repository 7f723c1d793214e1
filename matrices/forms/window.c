/* B = the entries of A in a window of columns, which may move with the rows: a block of columns, a triangle. */
#include "matrices/bodies.h"

lsp_status lsp_csr_window(lsp_ctx *ctx, const lsp_csr *A, const lsp_window *window, lsp_csr *B) {
    const keeping a = {.A = *A, .window = *window};
    return LSP_KEEP(ctx, window, B, (lsp_keep){.args = &a, .A = A, .cols = window->cols, .rowless = !window->diagonal});
}

lsp_status lsp_csr_triangle(lsp_ctx *ctx, const lsp_csr *A, lsp_triangle triangle, int64_t diagonal, lsp_csr *B) {
    LSP_OWNED_CSR(ctx, made);
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    LSP_REQUIRE(B, LSP_ERR_ARGUMENT, "the place for the triangle is NULL");
    LSP_REQUIRE(triangle == LSP_TRIANGLE_LOWER || triangle == LSP_TRIANGLE_UPPER, LSP_ERR_ARGUMENT,
                "%d is neither LSP_TRIANGLE_LOWER nor LSP_TRIANGLE_UPPER", (int)triangle);
    LSP_TRY(lsp_csr_window(ctx, A,
                           &(lsp_window){.low = triangle == LSP_TRIANGLE_LOWER ? INT64_MIN : diagonal,
                                         .high = triangle == LSP_TRIANGLE_LOWER ? diagonal : INT64_MAX,
                                         .cols = A->cols,
                                         .diagonal = true},
                           &made));
    return lsp_csr_put(ctx, B, &made, B == A);
}
