/* C = op(A)*op(B) by one call. */
#include "spgemm.h"
#include "blocks.h"

lsp_status lsp_spgemm(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options, lsp_csr *C,
                      lsp_spgemm_info *info) {
    LSP_ENTER(ctx);
    lsp_csr made = {0};
    options = lsp_spgemm_given(options);
    LSP_REQUIRE(C != NULL, LSP_ERR_ARGUMENT, "the place for the product is NULL");
    LSP_TRY(lsp_filter_drops_any(&options->filter) ? lsp_spgemm_filtered(ctx, A, B, options, &made, info)
                                                   : lsp_spgemm_at_once(ctx, A, B, options, &made, info));
    return lsp_csr_put(ctx, C, &made, C == A || C == B || C == options->filter.mask);
}
