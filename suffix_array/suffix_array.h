/* Inside suffix arrays: the checked text, and what a device does for the public calls. */
#pragma once

#include "core/cuda.h"
#include "core/each.h"
#include "gather_scatter/radix_sort.h"
#include <stdio.h>
#include <string.h>

LSP_BEGIN_DECLS

/* Arguments of the bodies in bodies.h: a text, its array, and what a call makes of them, all where the text lies. */
typedef struct lsp_deriving {
    int64_t n;
    const void *symbols, *suffixes;
    int symbol_bytes;
    lsp_type place_type;   /* of `places` */
    void *places;          /* a number for each suffix */
    const uint64_t *first; /* see lsp_text_firsts */
    unsigned *seen;        /* a bit for each suffix */
    void *out;
    int64_t primary;
    uint32_t *keys; /* to invert a transform: its symbols, sorted; then places[k] is where the k-th one stood */
} lsp_deriving;

/* What a device does by itself. Arguments are checked, n is not 0. */
typedef struct lsp_suffix_device {
    /* Fills info but for scratch_bytes. */
    lsp_status (*array)(lsp_ctx *ctx, const lsp_text *text, lsp_suffix_method method, lsp_type type, void *suffixes,
                        lsp_suffix_info *info);
    /* places[i]: the suffix before suffix i, -1: none; becomes the number of first symbols that they have in common. */
    lsp_status (*prefixes)(lsp_ctx *ctx, const lsp_deriving *d);
    /* Goes from row `primary` to row 0 and writes the text. If there are fewer than n rows it writes nothing. */
    lsp_status (*invert)(lsp_ctx *ctx, const lsp_deriving *d, int64_t *rows);
} lsp_suffix_device;

extern const lsp_suffix_device lsp_suffix_cpu, lsp_suffix_cuda;
static inline const lsp_suffix_device *lsp_suffix_device_of(lsp_where where) {
    return where == LSP_CUDA ? &lsp_suffix_cuda : &lsp_suffix_cpu;
}

/* check.c: refuses a text with a sentence that calls it `name`. */
lsp_status lsp_text_check(lsp_ctx *ctx, const lsp_text *text, const char *name);
/* check.c: refuses a type, and arrays that are NULL. */
lsp_status lsp_suffix_check_array(lsp_ctx *ctx, int64_t n, lsp_type type, const void *suffixes);
/* check.c: refuses n items `out` of `bytes` bytes that overlap the symbols or the suffix array; NULL: there is none.
 * in_place: they may replace it. */
lsp_status lsp_suffix_check_apart(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes,
                                  const char *name, const void *out, size_t bytes, bool in_place);
/* check.c: refuses the array because of place r, which holds no suffix; LSP_OK if r is LSP_NOWHERE. */
lsp_status lsp_suffix_refuse(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes, uint64_t r);

/* check.c: *bits = NULL for one text, else scratch: bit i says whether symbol i, or the end n, begins a string. */
lsp_status lsp_text_firsts(lsp_ctx *ctx, const lsp_text *text, const uint64_t **bits);
/* check.c: *there = an array of the host, or NULL: itself, or a copy in scratch on the GPU. */
lsp_status lsp_text_send(lsp_ctx *ctx, lsp_where where, const void *from, int64_t bytes, const void **there);
/* check.c: *d = the text and its array. */
lsp_status lsp_deriving_begin(lsp_ctx *ctx, const lsp_text *text, const void *suffixes, lsp_deriving *d);
/* A sort of n keys of 4 or 8 bytes where they lie, on the host, by their lowest `bits` bits; positions of `bytes` bytes
 * tell where each stood. */
static inline lsp_segsort_args lsp_suffix_sort_of(int64_t n, size_t key_bytes, int bits, void *keys, size_t bytes,
                                                  void *positions) {
    lsp_segsort_args sort;
    memset(&sort, 0, sizeof sort);
    sort.n = n, sort.key_type = key_bytes == 8 ? LSP_U64 : LSP_U32, sort.end_bit = bits, sort.value_bytes = bytes;
    sort.keys = keys, sort.keys_out = keys, sort.values_out = positions, sort.flags = LSP_SORT_POSITIONS;
    return sort;
}
/* Waits for a GPU. */
static inline lsp_status lsp_suffix_end(lsp_ctx *ctx, lsp_where where) {
    return where == LSP_CUDA ? lsp_cuda_wait(ctx) : LSP_OK;
}

LSP_BOTH_SIDES static inline bool lsp_is_first(const uint64_t *first, int64_t i) {
    return first[i >> 6] >> (i & 63) & 1;
}

/* Symbol i of an array of them. */
LSP_BOTH_SIDES static inline uint32_t lsp_symbol_at(const void *symbols, int symbol_bytes, int64_t i) {
    return symbol_bytes == 1   ? ((const uint8_t *)symbols)[i]
           : symbol_bytes == 2 ? ((const uint16_t *)symbols)[i]
                               : ((const uint32_t *)symbols)[i];
}
LSP_BOTH_SIDES static inline void lsp_symbol_set(void *symbols, int symbol_bytes, int64_t i, uint32_t symbol) {
    if (symbol_bytes == 1) {
        ((uint8_t *)symbols)[i] = (uint8_t)symbol;
    } else if (symbol_bytes == 2) {
        ((uint16_t *)symbols)[i] = (uint16_t)symbol;
    } else {
        ((uint32_t *)symbols)[i] = symbol;
    }
}

/* ref.c: the specification: compares suffixes symbol by symbol. -1, 0 (i and j are the same), 1. */
int lsp_suffix_compare_ref(const lsp_text *text, int64_t i, int64_t j);
/* ref.c: the end of the string that holds symbol i. */
int64_t lsp_string_end(const lsp_text *text, int64_t i);

LSP_END_DECLS
