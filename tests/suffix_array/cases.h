/* Shared by the tests of suffix arrays: texts and sets of strings of every kind, and the order that ref.c defines. */
#pragma once

#include "../support.h"
#include "suffix_array/suffix_array.h"

/* For TEST_ON_BOTH. */
static inline void on_the_cpu(void (*test)(lsp_ctx *ctx)) {
    lsp_ctx *ctx = test_ctx(2);
    test(ctx);
    lsp_ctx_destroy(ctx);
}
static inline void on_the_gpu(void (*test)(lsp_ctx *ctx)) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    test(ctx);
    lsp_ctx_destroy(ctx);
}
/* The last method that sorts this text. */
static inline lsp_suffix_method last_method(const lsp_ctx *ctx, const lsp_text *text) {
    return text->strings > 0 || ctx->options.device == LSP_CUDA ? LSP_SUFFIX_DOUBLING : LSP_SUFFIX_INDUCED;
}

/* Under sanitizers: fewer and shorter texts. */
static inline int64_t reduced(int64_t few, int64_t many) { return getenv("LSP_TEST_REDUCED") != NULL ? few : many; }

enum {
    RANDOM_2,
    RANDOM_4,
    RANDOM_300,
    PERIODIC,
    NEARLY_PERIODIC,
    FIBONACCI,
    EQUAL,
    WORDS,
    RISING,
    FALLING,
    KINDS,
    TWICE
};
static const char *const kind_names[] = {"random of 2", "random of 4", "random of 300", "periodic", "nearly periodic",
                                         "fibonacci",   "equal",       "words",         "rising",   "falling"};

static inline int64_t symbol_of(int kind, int64_t i, uint64_t *state, const int64_t *before) {
    switch (kind) {
    case RANDOM_2:
        return test_below(state, 2);
    case RANDOM_4:
        return test_below(state, 4);
    case RANDOM_300:
        return test_below(state, 300);
    case PERIODIC:
        return i < 17 ? test_below(state, 4) : before[i - 17];
    case NEARLY_PERIODIC:
        return i < 100 || test_below(state, 400) == 0 ? test_below(state, 4) : before[i - 100];
    case FIBONACCI: { /* the first word that begins with itself: 0 1 0 0 1 0 1 0 ... */
        int64_t a = 1, b = 2;
        while (b <= i) {
            const int64_t next = a + b;
            a = b;
            b = next;
        }
        return i < 2 ? i : before[i - a];
    }
    case WORDS:
        return i < 7 || test_below(state, 9) == 0 ? test_below(state, 20) : before[i - 1 - test_below(state, 6)];
    case RISING:
        return i / 3;
    case FALLING:
        return 100000 - i / 2;
    case TWICE: /* with 1000 symbols: the first 500, and again */
        return i < 500 ? test_below(state, 4) : before[i - 500];
    default:
        return 5;
    }
}

/* The k-th symbol of an alphabet of symbols of `symbol_bytes` bytes; those of 4 bytes lie far apart. */
static inline uint32_t spread(int64_t k, int symbol_bytes) {
    return symbol_bytes == 1 ? (uint32_t)k & 255 : symbol_bytes == 2 ? (uint32_t)(k * 211) & 65535 : (uint32_t)k * 9001;
}

/* A text in memory of its own. strings 0: one text; else it is cut at random, some strings are empty. */
static inline lsp_text make_text(int kind, int64_t n, int symbol_bytes, int64_t strings, uint64_t seed) {
    char *symbols = malloc((size_t)(n + 1) * (size_t)symbol_bytes);
    int64_t *plain = malloc((size_t)(n + 1) * sizeof *plain);
    lsp_text text = {.n = n, .symbol_bytes = symbol_bytes, .symbols = symbols, .strings = strings};
    uint64_t state = seed;
    for (int64_t i = 0; i < n; i++) {
        plain[i] = symbol_of(kind, i, &state, plain);
        const uint32_t symbol = spread(plain[i], symbol_bytes);
        memcpy(symbols + i * symbol_bytes, &symbol, (size_t)symbol_bytes);
    }
    free(plain);
    if (strings > 0) {
        int64_t *starts = malloc((size_t)(strings + 1) * sizeof *starts);
        for (int64_t s = 1; s < strings; s++) {
            const int64_t cut = test_below(&state, n + 1);
            int64_t at = s;
            for (; at > 1 && starts[at - 1] > cut; at--) {
                starts[at] = starts[at - 1];
            }
            starts[at] = cut;
        }
        starts[0] = 0;
        starts[strings] = n;
        text.starts = starts;
    }
    return text;
}

static inline void free_text(lsp_text *text) {
    free((void *)(uintptr_t)text->symbols);
    free((void *)(uintptr_t)text->starts);
}

static inline int compare_suffixes(const void *a, const void *b, void *text) {
    return lsp_suffix_compare_ref(text, *(const int64_t *)a, *(const int64_t *)b);
}

/* The suffix array by ref.c. The caller frees it. */
static inline int64_t *expected_array(const lsp_text *text) {
    int64_t *order = malloc((size_t)(text->n + 1) * sizeof *order);
    for (int64_t i = 0; i < text->n; i++) {
        order[i] = i;
    }
    qsort_r(order, (size_t)text->n, sizeof *order, compare_suffixes, (void *)(uintptr_t)text);
    return order;
}
