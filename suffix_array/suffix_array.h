/* Inside suffix arrays: the checked text, and what a device does for the public calls. */
#pragma once

#include "core/core.h"
#include "gather_scatter/radix_sort.h"
#include <stdio.h>
#include <string.h>

LSP_BEGIN_DECLS

/* What a device does. The arguments are checked, but for the values in suffix arrays; n is not 0, and there are
 * patterns. The table of the CPU has `array` alone: its other verbs follow the checks in derived.c, search.c and
 * verify.c. */
typedef struct lsp_suffix_device {
    /* Fills info but for scratch_bytes. */
    lsp_status (*array)(lsp_ctx *ctx, const lsp_text *text, lsp_suffix_method method, lsp_type type, void *suffixes,
                        lsp_suffix_info *info);
    lsp_status (*check)(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes);
    lsp_status (*inverse)(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes, void *ranks);
    lsp_status (*lcp)(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes, void *lcp);
    lsp_status (*bwt)(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes, void *bwt,
                      int64_t *primary);
    lsp_status (*unbwt)(lsp_ctx *ctx, int64_t n, int symbol_bytes, const void *bwt, int64_t primary, void *symbols);
    lsp_status (*search)(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes,
                         const lsp_text *patterns, int64_t *first, int64_t *count);
} lsp_suffix_device;

extern const lsp_suffix_device lsp_suffix_cpu, lsp_suffix_cuda;

/* check.c: refuses a text with a sentence that calls it `name`. */
lsp_status lsp_text_check(lsp_ctx *ctx, const lsp_text *text, const char *name);
/* check.c: refuses a type, and arrays that are NULL. */
lsp_status lsp_suffix_check_array(lsp_ctx *ctx, int64_t n, lsp_type type, const void *suffixes);
/* check.c: refuses n items `out` of `bytes` bytes that overlap the symbols or the suffix array; NULL: there is none.
 * in_place: they may replace it. */
lsp_status lsp_suffix_check_apart(lsp_ctx *ctx, const lsp_text *text, lsp_type type, const void *suffixes,
                                  const char *name, const void *out, size_t bytes, bool in_place);
/* check.c: LSP_ERR_ARGUMENT: place r holds this number. */
lsp_status lsp_suffix_refuse(lsp_ctx *ctx, int64_t n, int64_t r, int64_t suffix);
/* check.c: refuses an array with a value outside 0 .. n-1. On the host. */
lsp_status lsp_suffix_check_range(lsp_ctx *ctx, int64_t n, lsp_type type, const void *suffixes);

/* check.c: *bits = NULL for one text, else scratch: bit i says whether symbol i, or the end n, begins a string. */
lsp_status lsp_text_firsts(lsp_ctx *ctx, const lsp_text *text, const uint64_t **bits);

static inline bool lsp_is_first(const uint64_t *first, int64_t i) { return first[i >> 6] >> (i & 63) & 1; }

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
