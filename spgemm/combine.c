/* Products combined with other operations: alpha*A*B + beta*D, and R*A*P in the cheaper of its two orders. */
#include "matrices/matrices.h"
#include "spgemm.h"

lsp_status lsp_spgemm_add(lsp_ctx *ctx, double alpha, const lsp_csr *A, const lsp_csr *B, double beta, const lsp_csr *D,
                          const lsp_spgemm_options *options, lsp_csr *C) {
    lsp_status status = LSP_OK;
    lsp_csr product = {0}, sum = {0};
    if (ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    LSP_REQUIRE(C != NULL, LSP_ERR_ARGUMENT, "the place for the sum is NULL");
    LSP_REQUIRE(D != NULL, LSP_ERR_ARGUMENT, "the matrix to be added is NULL");
    LSP_TRY(lsp_spgemm(ctx, A, B, options, &product, NULL));
    LSP_TRY(lsp_csr_add_as(ctx, "D", alpha, &product, beta, D, &sum));
    lsp_csr_put(ctx, C, &sum, C == A || C == B || C == D || (options != NULL && C == options->filter.mask));
done:
    lsp_csr_free(ctx, &product);
    return status;
}

/* Counts the multiplications of A*B. */
static lsp_status count_products(lsp_ctx *ctx, const char *const names[2], const lsp_csr *A, const lsp_csr *B,
                                 const lsp_spgemm_options *options, int64_t *products) {
    lsp_status status = LSP_OK;
    lsp_spgemm_plan *plan = NULL;
    lsp_spgemm_info info;
    LSP_TRY(lsp_spgemm_plan_as(ctx, names, A, B, options, &plan));
    LSP_TRY(lsp_spgemm_plan_get_info(plan, &info));
    *products = info.products;
done:
    lsp_spgemm_plan_destroy(plan);
    return status;
}

lsp_status lsp_spgemm_triple(lsp_ctx *ctx, const lsp_csr *R, const lsp_csr *A, const lsp_csr *P,
                             const lsp_spgemm_options *options, lsp_csr *C) {
    lsp_status status = LSP_OK;
    const lsp_spgemm_options defaults = {0};
    lsp_csr restriction = {0}, inner = {0}, made = {0};
    int64_t left = 0, right = 0;
    const char *const names[] = {R != NULL ? "R" : "P", "A", "P"};
    if (ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    options = options != NULL ? options : &defaults;
    LSP_REQUIRE(C != NULL, LSP_ERR_ARGUMENT, "the place for the product is NULL");
    LSP_REQUIRE(A != NULL && P != NULL, LSP_ERR_ARGUMENT, "a matrix to be multiplied is NULL");
    LSP_REQUIRE(!options->transpose_a && !options->transpose_b, LSP_ERR_ARGUMENT,
                "a product of three matrices has no transposed factors: transpose_a and transpose_b must be false");
    LSP_TRY(lsp_spgemm_check_options(ctx, options, A->where)); /* all options, because the first product omits some */
    if (R == NULL) {
        LSP_TRY(lsp_csr_transpose_as(ctx, "P", P, &restriction));
        R = &restriction;
    }
    lsp_spgemm_options first = *options;
    first.filter = (lsp_filter){0}; /* only the last product is filtered */
    first.method = options->method == LSP_SPGEMM_MASK ? LSP_SPGEMM_AUTO : options->method;
    first.types.rowptr_type = first.types.col_type = LSP_NONE;
    LSP_TRY(count_products(ctx, names, R, A, &first, &left));
    LSP_TRY(count_products(ctx, names + 1, A, P, &first, &right));
    if (left < right) {
        LSP_TRY(lsp_spgemm(ctx, R, A, &first, &inner, NULL));
        LSP_TRY(lsp_spgemm(ctx, &inner, P, options, &made, NULL));
    } else {
        LSP_TRY(lsp_spgemm(ctx, A, P, &first, &inner, NULL));
        LSP_TRY(lsp_spgemm(ctx, R, &inner, options, &made, NULL));
    }
    lsp_csr_put(ctx, C, &made, C == R || C == A || C == P || C == options->filter.mask);
done:
    lsp_csr_free(ctx, &inner);
    lsp_csr_free(ctx, &restriction);
    return status;
}
