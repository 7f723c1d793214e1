/* What a GPU makes of a suffix array by itself, see kernel_derived.cuh. */
#include "kernel_derived.cuh"

enum { WALKERS = 1 << 17 /* at most; see kernel_walk */ };

static lsp_status prefixes(lsp_ctx *ctx, const lsp_deriving *d) {
    const int64_t warps = lsp_ceil_div(d->n, PREFIX_ITEMS), blocks = lsp_ceil_div(warps, TEXT_NT / WARP);
    int64_t *most;
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, warps, &most));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_find_prefixes, blocks, TEXT_NT, 0, *d, d->places, d->place_type == LSP_I64, most));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_reach_before, 1, TEXT_NT, 0, most, warps));
    return LSP_LAUNCH(ctx, kernel_spread_prefixes, blocks, TEXT_NT, 0, *d, d->places, d->place_type == LSP_I64,
                      (const int64_t *)most);
}

/* The walkers of row d->primary and those behind it: after[w] = the rows before walker w; -1: not among them. *rows =
 * the rows of all. */
static lsp_status order_walkers(lsp_ctx *ctx, const derived_rows *d, const int32_t *device_lengths,
                                int32_t *device_after, int64_t *rows) {
    const int64_t bytes = d->walkers * (int64_t)sizeof(int32_t);
    int32_t *lengths, *after, *begin;
    LSP_TRY(LSP_SCRATCH(ctx, d->walkers, &lengths));
    LSP_TRY(LSP_SCRATCH(ctx, d->walkers, &after));
    LSP_TRY(LSP_SCRATCH(ctx, d->walkers, &begin));
    LSP_TRY(lsp_cuda_copy(ctx, lengths, LSP_HOST, device_lengths, LSP_CUDA, bytes));
    LSP_TRY(lsp_cuda_copy(ctx, after, LSP_HOST, device_after, LSP_CUDA, bytes));
    memset(begin, 0xff, (size_t)bytes);
    *rows = 0;
    for (int32_t w = d->walkers - 1; w >= 0; w = after[w]) {
        begin[w] = (int32_t)*rows;
        *rows += lengths[w];
    }
    return lsp_cuda_copy(ctx, device_after, LSP_CUDA, begin, LSP_HOST, bytes);
}

static lsp_status invert(lsp_ctx *ctx, const lsp_deriving *text, int64_t *rows) {
    const int64_t n = text->n;
    int32_t *lengths, *after;
    derived_rows d = {text->keys, (const uint32_t *)text->places, (uint32_t)text->primary, 0, 0};
    while (n >> d.shift >= WALKERS) {
        d.shift++;
    }
    d.walkers = (int32_t)((n - 1) >> d.shift) + 2;
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, d.walkers, &lengths));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, d.walkers, &after));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_walk, lsp_ceil_div(d.walkers, TEXT_NT), TEXT_NT, 0, d, lengths, after));
    LSP_TRY(order_walkers(ctx, &d, lengths, after, rows));
    if (*rows == n) {
        LSP_TRY(LSP_LAUNCH(ctx, kernel_write_rows, lsp_ceil_div(d.walkers, TEXT_NT), TEXT_NT, 0, d,
                           (const int32_t *)lengths, (const int32_t *)after, text->symbol_bytes, text->out));
    }
    return lsp_cuda_wait(ctx);
}

const lsp_suffix_device lsp_suffix_cuda = {lsp_suffix_array_cuda, prefixes, invert};
