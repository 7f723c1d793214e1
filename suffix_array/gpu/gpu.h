/* Suffix arrays on a GPU: a packed text, and what its rounds share. */
#pragma once

#include "core/cuda.h"
#include "suffix_array/suffix_array.h"

LSP_BEGIN_DECLS

/* A text on the GPU: codes of `bits` bits one after another, the first one in the highest bits of a word; zeros behind
 * the end. In a set of strings 0 is no code. */
typedef struct lsp_packed {
    int64_t n, kinds;
    int bits;
    const uint64_t *words; /* two more than needed may be read */
    const uint64_t *first; /* NULL: one text; else a bit for each symbol, and for the end: does a string begin there?
                              Two words more may be read */
} lsp_packed;

/* alphabet.cu: finds the alphabet of a text and packs its codes. Waits. The caller frees words and first, also when the
 * call failed. */
lsp_status lsp_pack_cuda(lsp_ctx *ctx, const lsp_text *text, lsp_packed *packed);
/* The shares of suffixes that share their long key, and their short one, with others. */
lsp_status lsp_look_cuda(lsp_ctx *ctx, const lsp_packed *text, uint64_t short_mask, double *in_long, double *in_short);

/* doubling.cu: a verb of lsp_suffix_cuda, which is in derived.cu. */
lsp_status lsp_suffix_array_cuda(lsp_ctx *ctx, const lsp_text *text, lsp_suffix_method method, lsp_type type,
                                 void *suffixes, lsp_suffix_info *info);

LSP_END_DECLS
