/* C = op(A)*op(B) by one call. A filter can make C much smaller than the whole product. If a mask bounds that, it is
 * made at once. Otherwise it is made in blocks of rows, and each block is filtered before the next one is made. */
#include "spgemm.h"

/* Is C before the filter small enough to be made at once? A C that is made by its mask is no larger than the mask. If
 * the mask has many more entries than there are products, C has no more entries than products. */
static bool fits_at_once(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options) {
    enum { ENTRY_BYTES = 2 * (8 + 16) + 1, ROW_BYTES = 6 * 8, ALWAYS_FIT = 1 << 18 };
    if (A == NULL || B == NULL || A->where != B->where || !lsp_spgemm_masks(options) ||
        options->filter.mask->where != A->where || (A->where == LSP_HOST && options->types.place == LSP_PLACE_CUDA)) {
        return false;
    }
    const lsp_csr *mask = options->filter.mask;
    const bool small = mask->nnz <= ALWAYS_FIT && mask->rows <= ALWAYS_FIT && ctx->options.max_bytes == 0;
    const int64_t half = small ? 0 : lsp_available_bytes(ctx, A->where) / 2;
    return small || (mask->nnz <= half / 2 / ENTRY_BYTES && mask->rows <= half / 2 / ROW_BYTES);
}

static lsp_status masked_at_once(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                 lsp_csr *C, lsp_spgemm_info *info) {
    LSP_OWNED_CSR(ctx, mask);
    lsp_spgemm_options prepared = *options;
    LSP_TRY(lsp_filter_check(ctx, A->where, options->transpose_a ? A->cols : A->rows,
                             options->transpose_b ? B->rows : B->cols, &options->filter));
    LSP_TRY(lsp_filter_prepare_mask(ctx, A->where, &prepared.filter, &mask));
    return lsp_spgemm_at_once(ctx, A, B, &prepared, C, info);
}

static lsp_status in_blocks(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                            lsp_csr *C, lsp_spgemm_info *info) {
    lsp_spgemm_blocks kept LSP_AT_END(lsp_spgemm_drop_blocks) = {.ctx = ctx};
    LSP_TRY(lsp_spgemm_stream_to(ctx, A, B, options, &(lsp_spgemm_receiver){.kept = &kept}, info));
    return lsp_spgemm_join_blocks(&kept, kept.count, 1, &options->types, C);
}

lsp_status lsp_spgemm(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options, lsp_csr *C,
                      lsp_spgemm_info *info) {
    LSP_ENTER(ctx);
    LSP_OWNED_CSR(ctx, made);
    options = lsp_spgemm_given(options);
    LSP_REQUIRE(C != NULL, LSP_ERR_ARGUMENT, "the place for the product is NULL");
    if (!lsp_filter_drops_any(&options->filter)) {
        LSP_TRY(lsp_spgemm_at_once(ctx, A, B, options, &made, info));
    } else if (fits_at_once(ctx, A, B, options)) {
        LSP_TRY(masked_at_once(ctx, A, B, options, &made, info));
    } else {
        LSP_TRY(in_blocks(ctx, A, B, options, &made, info));
    }
    return lsp_csr_put(ctx, C, &made, C == A || C == B || C == options->filter.mask);
}
