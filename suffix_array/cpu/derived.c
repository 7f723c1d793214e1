/* What the CPU makes of a suffix array by itself: walks that carry something from one item to the next. */
#include "cpu.h"
#include "suffix_array/bodies.h"

enum { LEAST = 1 << 15 }; /* items for which a thread pays */

typedef struct finding {
    const lsp_ctx *ctx;
    const lsp_deriving *d;
} finding;

/* A length is at most one symbol shorter than the one before it. */
static void find_prefixes(void *data, int64_t begin, int64_t end) {
    const finding *w = data;
    const lsp_deriving d = *w->d;
    for (int64_t i = begin, length = 0; i < end && !lsp_stopped(w->ctx); i++, length -= length > 0) {
        const int64_t j = lsp_index_at(d.places, d.place_type, i);
        if (j < 0) {
            length = 0;
        } else {
            length = lsp_min(length, d.n - lsp_max(i, j)); /* shorter only if the array is wrong */
            while ((length == 0 || (!lsp_is_border(&d, i + length) && !lsp_is_border(&d, j + length))) &&
                   lsp_text_at(&d, i + length) == lsp_text_at(&d, j + length)) {
                length++;
            }
        }
        lsp_index_set(d.places, d.place_type, i, length);
    }
}

lsp_status lsp_suffix_prefixes_cpu(lsp_ctx *ctx, const lsp_deriving *d) {
    lsp_for_shares(ctx, d->n, LEAST, find_prefixes, &(finding){ctx, d});
    return lsp_go_on(ctx);
}

lsp_status lsp_suffix_invert_cpu(lsp_ctx *ctx, const lsp_deriving *data, int64_t *rows) {
    const lsp_deriving d = *data; /* a copy, which what the loop writes cannot change */
    int64_t row = d.primary, k = 0;
    void *text;
    LSP_TRY(lsp_scratch_bytes(ctx, d.n, (size_t)d.symbol_bytes, false, &text));
    for (; k < d.n && row > 0; k++) {
        const int64_t at = d.place_type == LSP_U32 ? ((uint32_t *)d.places)[row - 1] : ((int64_t *)d.places)[row - 1];
        lsp_symbol_set(text, d.symbol_bytes, k, d.keys[row - 1]);
        row = at + (at >= d.primary);
    }
    if (k == d.n) {
        memcpy(d.out, text, (size_t)(d.n * d.symbol_bytes));
    }
    *rows = k;
    return LSP_OK;
}
