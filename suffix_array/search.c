/* Searches many patterns in a text at once, each by binary search in the suffix array. */
#include "core/arrays.h"
#include "suffix_array.h"

typedef struct searching {
    const lsp_text *text, *patterns;
    lsp_type type;
    const void *suffixes;
    int64_t *first, *count;
} searching;

/* Compares a suffix with a pattern whose first *same symbols agree with it, and raises *same. Negative: the suffix
 * comes before all suffixes that begin with the pattern; 0: it begins with it. */
static int compare(const searching *s, int64_t suffix, int64_t begin, int64_t end, int64_t *same) {
    const int bytes = s->text->symbol_bytes;
    const int64_t text_end = lsp_string_end(s->text, suffix);
    int64_t k = *same;
    int order = 0;
    while (order == 0 && begin + k < end) {
        if (suffix + k == text_end) {
            order = -1;
        } else {
            const uint32_t a = lsp_symbol_at(s->text->symbols, bytes, suffix + k);
            const uint32_t b = lsp_symbol_at(s->patterns->symbols, bytes, begin + k);
            order = (a > b) - (a < b);
            k += order == 0;
        }
    }
    *same = k;
    return order;
}

/* The first place of low .. high-1 whose suffix compares at least as `least` (0: begins with the pattern or comes
 * behind; 1: comes behind), or high. */
static int64_t find(const searching *s, int64_t begin, int64_t end, int64_t low, int64_t high, int least) {
    int64_t same_low = 0, same_high = 0; /* symbols that the suffixes around the range share with the pattern */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        int64_t same = lsp_min(same_low, same_high);
        if (compare(s, lsp_index_at(s->suffixes, s->type, middle), begin, end, &same) >= least) {
            high = middle;
            same_high = same;
        } else {
            low = middle + 1;
            same_low = same;
        }
    }
    return low;
}

static void search_share(void *data, int64_t begin, int64_t end) {
    const searching *s = data;
    for (int64_t p = begin; p < end; p++) {
        const int64_t from = s->patterns->starts[p], to = s->patterns->starts[p + 1];
        s->first[p] = find(s, from, to, 0, s->text->n, 0);
        s->count[p] = find(s, from, to, s->first[p], s->text->n, 1) - s->first[p];
    }
}

lsp_status lsp_suffix_search(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes,
                             const lsp_text *patterns, int64_t *first, int64_t *count) {
    LSP_ENTER(ctx);
    LSP_TRY(lsp_text_check(ctx, text, "text"));
    LSP_TRY(lsp_suffix_check_array(ctx, text->n, type, suffixes));
    LSP_TRY(lsp_text_check(ctx, patterns, "set of patterns"));
    LSP_REQUIRE(patterns->strings > 0 || patterns->n == 0, LSP_ERR_ARGUMENT,
                "the patterns are a text of %lld symbols: a set of strings is needed", (long long)patterns->n);
    LSP_REQUIRE(patterns->symbol_bytes == text->symbol_bytes, LSP_ERR_ARGUMENT,
                "the patterns have symbols of %d bytes, the text has symbols of %d", patterns->symbol_bytes,
                text->symbol_bytes);
    LSP_REQUIRE(patterns->strings == 0 || (first != NULL && count != NULL), LSP_ERR_ARGUMENT,
                "the place for the %s is NULL", first == NULL ? "first suffixes" : "counts");
    const lsp_named_array arrays[] = {
        {"symbols of the text", text->symbols, text->n, (size_t)text->symbol_bytes, false, 0},
        {"symbols of the patterns", patterns->symbols, patterns->n, (size_t)patterns->symbol_bytes, false, 0},
        {"starts of the text", text->starts, text->strings > 0 ? text->strings + 1 : 0, sizeof *first, false, 0},
        {"starts of the patterns", patterns->starts, patterns->strings > 0 ? patterns->strings + 1 : 0, sizeof *first,
         false, 0},
        {"suffix array", suffixes, text->n, lsp_type_bytes(type), false, 0},
        {"first suffixes", first, patterns->strings, sizeof *first, true, 0},
        {"counts", count, patterns->strings, sizeof *count, true, 0}};
    LSP_TRY(lsp_check_arrays(ctx, arrays, (int)(sizeof arrays / sizeof *arrays)));
    LSP_REQUIRE(text->where == patterns->where, LSP_ERR_ARGUMENT,
                "the text lies %s, the patterns lie %s: both must lie at one place",
                text->where == LSP_CUDA ? "on a GPU" : "on the host",
                patterns->where == LSP_CUDA ? "on a GPU" : "on the host");
    if (text->where == LSP_CUDA) {
        return patterns->strings == 0 ? LSP_OK
                                      : lsp_suffix_cuda.search(ctx, text, type, suffixes, patterns, first, count);
    }
    LSP_TRY(lsp_suffix_check_range(ctx, text->n, type, suffixes));
    searching s = {text, patterns, type, suffixes, first, count};
    lsp_for_shares(ctx, patterns->strings, 64, search_share, &s);
    return LSP_OK;
}
