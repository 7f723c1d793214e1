/* The alphabet of a text on the GPU, the text as packed codes, and a look at its keys. */
#include "core/scan.h"
#include "kernel_text.cuh"
#include "suffix_array/bodies.h"

/* An expression: call(S) for the type S of a symbol. */
#define BY_SYMBOL(bytes, call) ((bytes) == 1 ? call(uint8_t) : (bytes) == 2 ? call(uint16_t) : call(uint32_t))

/* Packs symbols whose codes are known. */
static lsp_status pack(lsp_ctx *ctx, const void *symbols, int symbol_bytes, const uint32_t *code_of, lsp_packed *p) {
    const unsigned more = p->first != NULL;
    p->bits = (int)lsp_max(lsp_bits((uint64_t)(p->kinds - (p->first == NULL))), 1);
    const int64_t count = lsp_ceil_div(p->n, 64) * p->bits + 3;
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, count, sizeof *p->words, (void **)&p->words));
#define PACK(S)                                                                                                        \
    LSP_LAUNCH_EACH(ctx, kernel_pack<S>, count, TEXT_NT, (const S *)symbols, p->n, code_of, p->bits, more,             \
                    (uint64_t *)p->words, count)
    return BY_SYMBOL(symbol_bytes, PACK);
#undef PACK
}

/* Symbols below `most` <= TEXT_TABLE: a table on the host has their codes. */
static lsp_status pack_by_table(lsp_ctx *ctx, const void *symbols, int symbol_bytes, int64_t most, lsp_packed *p) {
    const int64_t words = lsp_ceil_div(most, 32);
    unsigned *there, *seen;
    uint32_t *code_of, *device_codes;
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, words, &there));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, most, &device_codes));
    LSP_TRY(LSP_SCRATCH(ctx, words, &seen));
    LSP_TRY(LSP_SCRATCH(ctx, most, &code_of));
#define MARK(S) LSP_LAUNCH_EACH(ctx, kernel_mark<S>, p->n, TEXT_NT, (const S *)symbols, p->n, (int)most, there)
    LSP_TRY(BY_SYMBOL(symbol_bytes, MARK));
#undef MARK
    LSP_TRY(lsp_cuda_read(ctx, seen, there, words * (int64_t)sizeof *seen));
    p->kinds = 0;
    for (int64_t s = 0; s < most; s++) {
        code_of[s] = (uint32_t)p->kinds;
        p->kinds += seen[s / 32] >> s % 32 & 1;
    }
    LSP_TRY(lsp_cuda_copy(ctx, device_codes, LSP_CUDA, code_of, LSP_HOST, most * (int64_t)sizeof *code_of));
    return pack(ctx, symbols, symbol_bytes, device_codes, p);
}

/* Any symbols of 4 bytes: sorted, so that equal ones stand together. */
static lsp_status pack_by_sort(lsp_ctx *ctx, const uint32_t *symbols, lsp_packed *p) {
    uint32_t *sorted, *places;
    int64_t *before, last;
    size_t mark;
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, p->n, &sorted));
    mark = lsp_scratch_mark(ctx);
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, p->n, &places));
    lsp_segsort_args sort = lsp_suffix_sort_of(p->n, 4, 0, sorted, sizeof *places, places);
    sort.keys = symbols, sort.where = LSP_CUDA;
    LSP_TRY(lsp_sort_array(ctx, &sort));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, p->n, &before));
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_mark_sorted, p->n, TEXT_NT, sorted, p->n, before));
    LSP_TRY(lsp_cuda_scan(ctx, before, p->n, &last));
    p->kinds = last + 1;
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_write_codes, p->n, TEXT_NT, places, before, p->n, sorted));
    lsp_scratch_release(ctx, mark);
    return pack(ctx, sorted, 4, NULL, p);
}

extern "C" lsp_status lsp_pack_cuda(lsp_ctx *ctx, const lsp_text *text, lsp_packed *p) {
    const void *symbols = text->symbols;
    int64_t most = text->symbol_bytes == 1 ? 1 << 8 : TEXT_TABLE;
    LSP_SCRATCH_SCOPE(ctx);
    *p = lsp_packed{};
    p->n = text->n;
    if (text->where == LSP_HOST) {
        LSP_TRY(lsp_text_send(ctx, LSP_CUDA, text->symbols, text->n * text->symbol_bytes, &symbols));
    }
    if (text->strings > 0) {
        const uint64_t *bits;
        const int64_t words = text->n / 64 + 1, bytes = words * (int64_t)sizeof *bits;
        LSP_TRY(lsp_text_firsts(ctx, text, &bits));
        LSP_TRY(lsp_alloc(ctx, LSP_CUDA, words + 2, sizeof *bits, (void **)&p->first));
        LSP_TRY(lsp_cuda_clear(ctx, (void *)p->first, bytes + 2 * (int64_t)sizeof *bits));
        LSP_TRY(lsp_cuda_copy(ctx, (void *)p->first, LSP_CUDA, bits, LSP_HOST, bytes));
    }
    if (text->symbol_bytes == 4) {
        lsp_found found;
        lsp_deriving d = {};
        d.symbols = symbols;
        LSP_TRY(LSP_EACH(ctx, LSP_CUDA, largest_symbol, lsp_each_job{&d, p->n, {}, &found, false, false}));
        most = (int64_t)found.most + 1;
    }
    return most <= TEXT_TABLE ? pack_by_table(ctx, symbols, text->symbol_bytes, most, p)
                              : pack_by_sort(ctx, (const uint32_t *)symbols, p);
}

extern "C" lsp_status lsp_look_cuda(lsp_ctx *ctx, const lsp_packed *t, uint64_t short_mask, double *in_long,
                                    double *in_short) {
    uint64_t *keys;
    unsigned *there, here[3];
    int less = 0;
    LSP_SCRATCH_SCOPE(ctx);
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, SAMPLE_MOST, &keys));
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 3, &there));
    while (t->n >> less > SAMPLE_WANTED) {
        less++;
    }
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_sample, t->n, TEXT_NT, *t, short_mask, less, keys, there));
    lsp_segsort_args sort = {};
    sort.n = sort.length = SAMPLE_MOST, sort.segments = 1, sort.key_type = LSP_U64, sort.where = LSP_CUDA;
    sort.keys = keys, sort.keys_out = keys, sort.flags = LSP_SORT_DESCENDING; /* what is free comes last */
    LSP_TRY(lsp_segsort(ctx, &sort, NULL));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_count_same, SAMPLE_MOST / TEXT_NT, TEXT_NT, 0, keys, short_mask, there, there + 1));
    LSP_TRY(lsp_cuda_read(ctx, here, there, sizeof here));
    *in_long = *in_short = 1; /* of a few keys with many suffixes each, the sample catches none or too many suffixes */
    if (here[0] > SAMPLE_WANTED / 8 * (unsigned)(less > 0) && here[0] <= SAMPLE_MOST) {
        *in_long = (double)here[1] / here[0];
        *in_short = (double)here[2] / here[0];
    }
    return LSP_OK;
}
