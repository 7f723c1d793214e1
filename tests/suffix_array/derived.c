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
    char *bwt = malloc((size_t)(text->n + 1) * 4);
    int64_t primary = -1;
    if (text->strings > 0) {
        must_fail(ctx, LSP_ERR_UNSUPPORTED, "one text", lsp_suffix_bwt(ctx, text, type, array, bwt, &primary));
        free(bwt);
        return;
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
    char *back = malloc((size_t)(text->n + 1) * 4);
    must(ctx, lsp_suffix_unbwt(ctx, text->n, bytes, bwt, primary, LSP_HOST, back));
    cr_assert(memcmp(back, text->symbols, (size_t)(text->n * bytes)) == 0, "%s", kind_names[kind]);
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

/* ---- on a GPU: as on the host ---- */

typedef struct there {
    lsp_text text, patterns;
    lsp_array symbols, array, pattern_symbols, out, first, count;
} there;

static void put(lsp_ctx *ctx, lsp_array *to, const void *from, size_t bytes) {
    must(ctx, lsp_array_create(ctx, bytes + 8, LSP_CUDA, to));
    must(ctx, lsp_array_copy(ctx, to->memory, LSP_CUDA, from, LSP_HOST, bytes));
}
static void get_from(lsp_ctx *ctx, void *to, const lsp_array *from, size_t bytes) {
    must(ctx, lsp_array_copy(ctx, to, LSP_HOST, from->memory, LSP_CUDA, bytes));
}

static void all_is_alike(lsp_ctx *host, lsp_ctx *ctx, const lsp_text *text, lsp_type type, int kind) {
    const size_t n = (size_t)text->n, bytes = lsp_type_bytes(type), symbol = (size_t)text->symbol_bytes;
    there t = {.text = *text};
    void *array = malloc(n * 8 + 8), *expected = malloc(n * 8 + 8), *found = malloc(n * 8 + 8);
    int64_t primary = -1, primary_there = -1, first[41], count[41], first_there[41], count_there[41];
    int64_t starts[41] = {0};
    for (int p = 0; p < 40; p++) {
        starts[p + 1] = lsp_min(starts[p] + p % 7, text->n);
    }
    t.patterns = (lsp_text){
        .n = starts[40], .symbol_bytes = text->symbol_bytes, .symbols = text->symbols, .strings = 40, .starts = starts};
    must(host, lsp_suffix_array(host, text, NULL, type, array, NULL));
    put(ctx, &t.symbols, text->symbols, n * symbol);
    put(ctx, &t.array, array, n * bytes);
    must(ctx, lsp_array_create(ctx, n * 8 + 8, LSP_CUDA, &t.out));
    must(ctx, lsp_array_create(ctx, sizeof first, LSP_CUDA, &t.first));
    must(ctx, lsp_array_create(ctx, sizeof count, LSP_CUDA, &t.count));
    t.text.symbols = t.symbols.memory, t.text.where = LSP_CUDA;
    must(ctx, lsp_suffix_check(ctx, &t.text, type, t.array.memory));
    must(host, lsp_suffix_inverse(host, text->n, type, array, LSP_HOST, expected));
    must(ctx, lsp_suffix_inverse(ctx, text->n, type, t.array.memory, LSP_CUDA, t.out.memory));
    get_from(ctx, found, &t.out, n * bytes);
    cr_assert(memcmp(expected, found, n * bytes) == 0, "ranks, %s, n %zu", kind_names[kind], n);
    must(host, lsp_suffix_lcp(host, text, type, array, expected));
    must(ctx, lsp_suffix_lcp(ctx, &t.text, type, t.array.memory, t.out.memory));
    get_from(ctx, found, &t.out, n * bytes);
    for (int64_t r = 0; r < text->n; r++) {
        cr_assert(lsp_index_at(expected, type, r) == lsp_index_at(found, type, r),
                  "prefixes, %s, n %zu, %lld strings, place %lld: %lld, not %lld", kind_names[kind], n,
                  (long long)text->strings, (long long)r, (long long)lsp_index_at(found, type, r),
                  (long long)lsp_index_at(expected, type, r));
    }
    if (text->strings == 0) {
        must(host, lsp_suffix_bwt(host, text, type, array, expected, &primary));
        must(ctx, lsp_suffix_bwt(ctx, &t.text, type, t.array.memory, t.out.memory, &primary_there));
        get_from(ctx, found, &t.out, n * symbol);
        cr_assert(primary == primary_there && memcmp(expected, found, n * symbol) == 0, "transform, %s, n %zu",
                  kind_names[kind], n);
        lsp_array back = {0};
        must(ctx, lsp_array_create(ctx, n * symbol + 8, LSP_CUDA, &back));
        must(ctx, lsp_suffix_unbwt(ctx, text->n, text->symbol_bytes, t.out.memory, primary, LSP_CUDA, back.memory));
        get_from(ctx, found, &back, n * symbol);
        cr_assert(memcmp(text->symbols, found, n * symbol) == 0, "inverse, %s, n %zu", kind_names[kind], n);
        lsp_array_free(&back);
    }
    must(host, lsp_suffix_search(host, text, type, array, &t.patterns, first, count));
    t.patterns.symbols = t.symbols.memory;
    must_fail(ctx, LSP_ERR_ARGUMENT, "both must lie at one place",
              lsp_suffix_search(ctx, &t.text, type, t.array.memory, &t.patterns, t.first.memory, t.count.memory));
    t.patterns.where = LSP_CUDA;
    must(ctx, lsp_suffix_search(ctx, &t.text, type, t.array.memory, &t.patterns, t.first.memory, t.count.memory));
    get_from(ctx, first_there, &t.first, sizeof first);
    get_from(ctx, count_there, &t.count, sizeof count);
    cr_assert(memcmp(first, first_there, 40 * sizeof *first) == 0 &&
                  memcmp(count, count_there, 40 * sizeof *count) == 0,
              "patterns, %s, n %zu", kind_names[kind], n);
    lsp_array *const arrays[] = {&t.symbols, &t.array, &t.out, &t.first, &t.count};
    for (int a = 0; a < 5; a++) {
        lsp_array_free(arrays[a]);
    }
    free(array);
    free(expected);
    free(found);
}

Test(suffix_array_derived, arrays_on_the_gpu_give_what_those_of_the_host_give) {
    const int64_t lengths[] = {3000, 65, 2, 1, 0, 60000};
    lsp_ctx *host = test_ctx(2), *ctx = test_gpu_ctx_or_skip();
    for (int kind = 0; kind < KINDS; kind++) {
        for (int l = 0; l < (int)reduced(5, 6); l++) {
            const int bytes = 1 << (kind + l) % 3;
            for (int64_t strings = 0; strings <= 30; strings += 30) {
                lsp_text text = make_text(kind, lengths[l], bytes, strings, (uint64_t)(kind + l));
                all_is_alike(host, ctx, &text, (kind + l) % 2 ? LSP_I32 : LSP_I64, kind);
                free_text(&text);
            }
        }
    }
    lsp_ctx_destroy(host);
    lsp_ctx_destroy(ctx);
}

/* What is wrong with an array on a GPU is told as on the host, and nothing is written. */
Test(suffix_array_derived, on_the_gpu_the_same_is_refused) {
    lsp_ctx *host = test_ctx(1), *ctx = test_gpu_ctx_or_skip();
    lsp_text text = make_text(WORDS, 300, 1, 0, 1), at = text;
    int32_t array[300], wrong[300], out[300], seen[300];
    lsp_array symbols = {0}, suffixes = {0}, written = {0};
    int64_t primary = 9;
    put(ctx, &symbols, text.symbols, 300);
    must(host, lsp_suffix_array(host, &text, NULL, LSP_I32, array, NULL));
    memset(out, 7, sizeof out);
    put(ctx, &written, out, sizeof out);
    at.symbols = symbols.memory, at.where = LSP_CUDA;
    for (int fault = 0; fault < 5; fault++) {
        char told[256];
        memcpy(wrong, array, sizeof wrong);
        wrong[200] = fault == 0 ? 300 : fault == 1 ? -1 : fault == 2 ? wrong[100] : wrong[200];
        if (fault == 3) {
            wrong[40] = array[41], wrong[41] = array[40];
        } else if (fault == 4) {
            for (int r = 0; r < 300; r++) {
                wrong[r] = wrong[r] == 0 ? 1 : wrong[r];
            }
        }
        put(ctx, &suffixes, wrong, sizeof wrong);
        cr_assert(lsp_suffix_check(host, &text, LSP_I32, wrong) == LSP_ERR_FORMAT);
        snprintf(told, sizeof told, "%s", lsp_last_error(host));
        must_fail(ctx, LSP_ERR_FORMAT, told, lsp_suffix_check(ctx, &at, LSP_I32, suffixes.memory));
#define ALIKE(on_host, on_gpu)                                                                                         \
    if ((on_host) != LSP_OK) {                                                                                         \
        snprintf(told, sizeof told, "%s", lsp_last_error(host));                                                       \
        must_fail(ctx, LSP_ERR_ARGUMENT, told, on_gpu);                                                                \
        get_from(ctx, seen, &written, sizeof seen);                                                                    \
        cr_assert(memcmp(out, seen, sizeof out) == 0 && primary == 9);                                                 \
    }
        ALIKE(lsp_suffix_inverse(host, 300, LSP_I32, wrong, LSP_HOST, seen),
              lsp_suffix_inverse(ctx, 300, LSP_I32, suffixes.memory, LSP_CUDA, written.memory))
        if (fault < 2) {
            ALIKE(lsp_suffix_lcp(host, &text, LSP_I32, wrong, seen),
                  lsp_suffix_lcp(ctx, &at, LSP_I32, suffixes.memory, written.memory))
        }
        if (fault < 2 || fault == 4) {
            ALIKE(lsp_suffix_bwt(host, &text, LSP_I32, wrong, seen, &primary),
                  lsp_suffix_bwt(ctx, &at, LSP_I32, suffixes.memory, written.memory, &primary))
        } else {
            lsp_array scrap = {0}; /* any answer, and no read out of bounds */
            must(ctx, lsp_array_create(ctx, sizeof out, LSP_CUDA, &scrap));
            must(ctx, lsp_suffix_lcp(ctx, &at, LSP_I32, suffixes.memory, scrap.memory));
            lsp_array_free(&scrap);
        }
#undef ALIKE
        lsp_array_free(&suffixes);
    }
    put(ctx, &suffixes, "aaab", 4);
    must_fail(ctx, LSP_ERR_FORMAT, "after 1 of 4 symbols",
              lsp_suffix_unbwt(ctx, 4, 1, suffixes.memory, 1, LSP_CUDA, written.memory));
    get_from(ctx, seen, &written, sizeof seen);
    cr_assert(memcmp(out, seen, sizeof out) == 0);
    lsp_array_free(&suffixes);
    free_text(&text);
    lsp_array_free(&symbols);
    lsp_array_free(&written);
    lsp_ctx_destroy(host);
    lsp_ctx_destroy(ctx);
}

Test(suffix_array_derived, a_transform_of_no_text_is_refused) {
    lsp_ctx *ctx = test_ctx(1);
    char out[5] = "....";
    must_fail(ctx, LSP_ERR_FORMAT, "after 1 of 4 symbols", lsp_suffix_unbwt(ctx, 4, 1, "aaab", 1, LSP_HOST, out));
    must_fail(ctx, LSP_ERR_ARGUMENT, "the primary index is 5", lsp_suffix_unbwt(ctx, 4, 1, "aaab", 5, LSP_HOST, out));
    must_fail(ctx, LSP_ERR_ARGUMENT, "the primary index is 0", lsp_suffix_unbwt(ctx, 4, 1, "aaab", 0, LSP_HOST, out));
    cr_assert(strcmp(out, "....") == 0);
    lsp_ctx_destroy(ctx);
}
