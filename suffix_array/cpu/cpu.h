/* Suffix arrays on the CPU: a text of codes, and the two ways to sort its suffixes. */
#pragma once

#include "suffix_array/suffix_array.h"

/* A text whose symbols are 0 .. kinds-1. Scratch of the call; one item before the first may be read. */
typedef struct lsp_codes {
    int64_t n, kinds;
    int bytes;             /* of a code: 1, 2, or those of an index */
    bool wide;             /* indices are int64_t, else int32_t */
    const void *at;        /* the codes */
    void *count;           /* index[kinds]: how often each code occurs */
    const uint64_t *first; /* NULL: one text; else a bit for each symbol: is it the first of a string? */
} lsp_codes;

/* codes.c: finds the alphabet of a text and numbers its symbols in their order. */
lsp_status lsp_codes_make(lsp_ctx *ctx, const lsp_text *text, bool wide, lsp_codes *codes);

/* levels.c: the suffix array of these codes, as indices. On failure `suffixes` is untouched. */
lsp_status lsp_codes_sort(lsp_ctx *ctx, const lsp_codes *codes, lsp_suffix_method method, void *suffixes,
                          lsp_suffix_info *info);

/* derived.c: verbs of lsp_suffix_cpu, which is in levels.c. */
lsp_status lsp_suffix_prefixes_cpu(lsp_ctx *ctx, const lsp_deriving *d);
lsp_status lsp_suffix_invert_cpu(lsp_ctx *ctx, const lsp_deriving *d, int64_t *rows);
