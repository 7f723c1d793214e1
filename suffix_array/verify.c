/* Is an array the suffix array of a text? In linear time: it is if each suffix stands once, first symbols never fall,
 * and of neighbours with the same first symbol the rests stand in the same order. */
#include "suffix_array.h"

/* The place in the array of what follows suffix i. -1: its string ends. Ended suffixes are ordered by their strings. */
static int64_t rest(const lsp_text *text, const int64_t *ranks, const uint64_t *first, int64_t i) {
    i++;
    return i == text->n || (first != NULL && lsp_is_first(first, i)) ? -1 : ranks[i];
}

lsp_status lsp_suffix_check(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes) {
    int64_t *ranks;
    const uint64_t *first;
    LSP_ENTER(ctx);
    LSP_TRY(lsp_text_check(ctx, text, "text"));
    LSP_TRY(lsp_suffix_check_array(ctx, text->n, type, suffixes));
    if (text->where == LSP_CUDA) {
        return text->n == 0 ? LSP_OK : lsp_suffix_cuda.check(ctx, text, type, suffixes);
    }
    LSP_TRY(LSP_SCRATCH(ctx, text->n, &ranks));
    LSP_TRY(lsp_text_firsts(ctx, text, &first));
    for (int64_t i = 0; i < text->n; i++) {
        ranks[i] = -1;
    }
    for (int64_t r = 0; r < text->n && !lsp_stopped(ctx); r++) {
        const int64_t i = lsp_index_at(suffixes, type, r);
        LSP_REQUIRE(i >= 0 && i < text->n, LSP_ERR_FORMAT, "place %lld holds suffix %lld: there are %lld", (long long)r,
                    (long long)i, (long long)text->n);
        LSP_REQUIRE(ranks[i] < 0, LSP_ERR_FORMAT, "suffix %lld stands at places %lld and %lld", (long long)i,
                    (long long)ranks[i], (long long)r);
        ranks[i] = r;
    }
    LSP_TRY(lsp_go_on(ctx));
    for (int64_t r = 1; r < text->n && !lsp_stopped(ctx); r++) {
        const int64_t i = lsp_index_at(suffixes, type, r - 1), j = lsp_index_at(suffixes, type, r);
        const uint32_t a = lsp_symbol_at(text->symbols, text->symbol_bytes, i);
        const uint32_t b = lsp_symbol_at(text->symbols, text->symbol_bytes, j);
        const int64_t x = rest(text, ranks, first, i), y = rest(text, ranks, first, j);
        LSP_REQUIRE(a < b || (a == b && (x < y || (x < 0 && y < 0 && i < j))), LSP_ERR_FORMAT,
                    "suffix %lld stands at place %lld, before suffix %lld, which comes before it", (long long)i,
                    (long long)r - 1, (long long)j);
    }
    return lsp_go_on(ctx);
}
