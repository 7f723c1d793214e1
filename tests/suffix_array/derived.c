/* Ranks, common prefixes, transforms and searches, against what plain loops find. */
#include "cases.h"

/* Calls test(ctx, text, its array, which) for texts and sets of every kind. */
static void for_texts(void (*test)(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *array, int kind)) {
    const int64_t lengths[] = {0, 1, 2, 50, 400};
    lsp_ctx *ctx = test_ctx(2);
    for (int kind = 0; kind < KINDS; kind++) {
        for (int l = 0; l < 5; l++) {
            for (int bytes = 1; bytes <= 4; bytes *= 2) {
                for (int64_t strings = 0; strings <= 30; strings += 30) {
                    lsp_text text = make_text(kind, lengths[l], bytes, strings, (uint64_t)(kind + l));
                    const lsp_type type = (kind + l) % 2 ? LSP_I32 : LSP_I64;
                    void *array = malloc((size_t)(text.n + 1) * sizeof(int64_t));
                    must(ctx, lsp_suffix_array(ctx, &text, NULL, type, array, NULL));
                    test(ctx, &text, type, array, kind);
                    free(array);
                    free_text(&text);
                }
            }
        }
    }
    lsp_ctx_destroy(ctx);
}

static void ranks_are(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *array, int kind) {
    void *ranks = malloc((size_t)(text->n + 1) * sizeof(int64_t));
    must(ctx, lsp_suffix_inverse(ctx, text->n, type, array, LSP_HOST, ranks));
    for (int64_t r = 0; r < text->n; r++) {
        cr_assert(lsp_index_at(ranks, type, lsp_index_at(array, type, r)) == r, "%s", kind_names[kind]);
    }
    free(ranks);
}
Test(suffix_array_derived, ranks) { for_texts(ranks_are); }

static void prefixes_are(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *array, int kind) {
    void *lcp = malloc((size_t)(text->n + 1) * sizeof(int64_t));
    must(ctx, lsp_suffix_lcp(ctx, text, type, array, lcp));
    for (int64_t r = 0; r < text->n; r++) {
        const int64_t j = lsp_index_at(array, type, r), i = r == 0 ? j : lsp_index_at(array, type, r - 1);
        int64_t same = 0;
        while (r > 0 && i + same < lsp_string_end(text, i) && j + same < lsp_string_end(text, j) &&
               lsp_symbol_at(text->symbols, text->symbol_bytes, i + same) ==
                   lsp_symbol_at(text->symbols, text->symbol_bytes, j + same)) {
            same++;
        }
        cr_assert(lsp_index_at(lcp, type, r) == same, "%s, %lld strings, place %lld: %lld, not %lld", kind_names[kind],
                  (long long)text->strings, (long long)r, (long long)lsp_index_at(lcp, type, r), (long long)same);
    }
    free(lcp);
}
Test(suffix_array_derived, common_prefixes) { for_texts(prefixes_are); }

static void transform_is(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *array, int kind) {
    const int bytes = text->symbol_bytes;
    char *bwt = malloc((size_t)(text->n + 1) * 4), *back = malloc((size_t)(text->n + 1) * 4);
    int64_t primary = -1;
    if (text->strings > 0) {
        must_fail(ctx, LSP_ERR_UNSUPPORTED, "one text", lsp_suffix_bwt(ctx, text, type, array, bwt, &primary));
        goto done;
    }
    must(ctx, lsp_suffix_bwt(ctx, text, type, array, bwt, &primary));
    for (int64_t row = 0; row <= text->n && text->n > 0; row++) { /* row 0 is the end alone */
        const int64_t suffix = row == 0 ? text->n : lsp_index_at(array, type, row - 1);
        cr_assert((suffix == 0) == (row == primary));
        if (suffix > 0) {
            cr_assert(lsp_symbol_at(bwt, bytes, row - (row > primary)) ==
                          lsp_symbol_at(text->symbols, bytes, suffix - 1),
                      "%s, row %lld", kind_names[kind], (long long)row);
        }
    }
    must(ctx, lsp_suffix_unbwt(ctx, text->n, bytes, bwt, primary, LSP_HOST, back));
    cr_assert(memcmp(back, text->symbols, (size_t)(text->n * bytes)) == 0, "%s", kind_names[kind]);
done:
    free(bwt);
    free(back);
}
Test(suffix_array_derived, transforms_and_their_inverse) { for_texts(transform_is); }

static bool begins_with(const lsp_text *text, int64_t suffix, const lsp_text *patterns, int64_t p) {
    const int64_t begin = patterns->starts[p], length = patterns->starts[p + 1] - begin;
    if (length > lsp_string_end(text, suffix) - suffix) {
        return false;
    }
    return length == 0 || memcmp((const char *)text->symbols + suffix * text->symbol_bytes,
                                 (const char *)patterns->symbols + begin * text->symbol_bytes,
                                 (size_t)(length * text->symbol_bytes)) == 0;
}

/* Patterns: pieces of the text, some of them changed, and an empty one. */
static void patterns_are_found(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *array, int kind) {
    enum { patterns_count = 40 };
    const size_t bytes = (size_t)text->symbol_bytes;
    int64_t starts[patterns_count + 1] = {0}, first[patterns_count], count[patterns_count];
    char *symbols = malloc((size_t)(patterns_count * 12) * bytes);
    uint64_t state = (uint64_t)kind;
    for (int p = 0; p < patterns_count; p++) {
        const int64_t from = text->n > 0 ? test_below(&state, text->n) : 0;
        const int64_t length = text->n > 0 && p > 0 ? test_below(&state, lsp_min(text->n - from, 12) + 1) : 0;
        memcpy(symbols + (size_t)starts[p] * bytes, (const char *)text->symbols + (size_t)from * bytes,
               (size_t)length * bytes);
        if (length > 0 && p % 3 == 0) {
            symbols[(size_t)(starts[p] + test_below(&state, length)) * bytes] ^= 1;
        }
        starts[p + 1] = starts[p] + length;
    }
    const lsp_text patterns = {.n = starts[patterns_count],
                               .symbol_bytes = text->symbol_bytes,
                               .symbols = symbols,
                               .strings = patterns_count,
                               .starts = starts};
    must(ctx, lsp_suffix_search(ctx, text, type, array, &patterns, first, count));
    for (int p = 0; p < patterns_count; p++) {
        int64_t hits = 0;
        for (int64_t r = 0; r < text->n; r++) {
            const bool hit = begins_with(text, lsp_index_at(array, type, r), &patterns, p);
            hits += hit;
            cr_assert(hit == (r >= first[p] && r < first[p] + count[p]), "%s, pattern %d, place %lld", kind_names[kind],
                      p, (long long)r);
        }
        cr_assert(hits == count[p] && first[p] >= 0 && first[p] <= text->n);
    }
    free(symbols);
}
Test(suffix_array_derived, patterns) { for_texts(patterns_are_found); }

Test(suffix_array_derived, a_transform_of_no_text_is_refused) {
    lsp_ctx *ctx = test_ctx(1);
    char out[5] = "....";
    must_fail(ctx, LSP_ERR_FORMAT, "after 1 of 4 symbols", lsp_suffix_unbwt(ctx, 4, 1, "aaab", 1, LSP_HOST, out));
    must_fail(ctx, LSP_ERR_ARGUMENT, "the primary index is 5", lsp_suffix_unbwt(ctx, 4, 1, "aaab", 5, LSP_HOST, out));
    must_fail(ctx, LSP_ERR_ARGUMENT, "the primary index is 0", lsp_suffix_unbwt(ctx, 4, 1, "aaab", 0, LSP_HOST, out));
    cr_assert(strcmp(out, "....") == 0);
    lsp_ctx_destroy(ctx);
}
