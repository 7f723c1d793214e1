/* C = op(A)*op(B) with a filter, which can make C much smaller than the whole product. If a mask bounds the product, it
 * is made at once. Otherwise it is made in blocks of rows, and each block is filtered before the next one is made. */
#include "blocks.h"
#include "spgemm.h"

/* The filtered blocks of rows, in order. Each is an allocation of its own, so that the list of their addresses is what
 * lsp_csr_stack_as takes. */
typedef struct collection {
    lsp_ctx *ctx;
    lsp_csr **blocks;
    int64_t count, capacity;
} collection;

static lsp_status collect(void *user, int64_t first_row, const lsp_csr *block) {
    collection *all = user;
    lsp_ctx *ctx = all->ctx;
    const lsp_csr_types types = lsp_types_of(block);
    lsp_csr **longer = NULL, *place;
    (void)first_row;
    if (all->count == all->capacity) {
        all->capacity = lsp_max(2 * all->capacity, 16);
        LSP_TRY(lsp_alloc(ctx, LSP_HOST, all->capacity, sizeof *longer, (void **)&longer));
        for (int64_t b = 0; b < all->count; b++) {
            longer[b] = all->blocks[b];
        }
        lsp_free(ctx, all->blocks);
        all->blocks = longer;
    }
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, 1, sizeof *place, (void **)&place));
    *place = (lsp_csr){0};
    all->blocks[all->count++] = place;
    return lsp_csr_copy(ctx, block, &types, place);
}

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

static lsp_status filtered_at_once(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                   lsp_csr *C, lsp_spgemm_info *info) {
    LSP_OWNED_CSR(ctx, mask);
    lsp_spgemm_options prepared = *options;
    LSP_TRY(lsp_filter_check(ctx, A->where, options->transpose_a ? A->cols : A->rows,
                             options->transpose_b ? B->rows : B->cols, &options->filter));
    LSP_TRY(lsp_filter_prepare_mask(ctx, A->where, &prepared.filter, &mask));
    return lsp_spgemm_at_once(ctx, A, B, &prepared, C, info);
}

static void drop_blocks(const collection *all) {
    for (int64_t b = 0; b < all->count; b++) {
        lsp_csr_free(all->ctx, all->blocks[b]);
        lsp_free(all->ctx, all->blocks[b]);
    }
    lsp_free(all->ctx, all->blocks);
}

lsp_status lsp_spgemm_filtered(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                               lsp_csr *C, lsp_spgemm_info *info) {
    collection all LSP_AT_END(drop_blocks) = {.ctx = ctx};
    if (fits_at_once(ctx, A, B, options)) {
        return filtered_at_once(ctx, A, B, options, C, info);
    }
    LSP_TRY(lsp_spgemm_stream(ctx, A, B, options, 0, collect, &all, info));
    return lsp_csr_stack_as(ctx, (const lsp_csr *const *)all.blocks, all.count, 1, &options->types, C);
}
