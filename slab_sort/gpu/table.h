/* The limits of the methods of a GPU: table.c. */
#pragma once

#include "core/core.h"
#include "libsparse/unstable.h"

LSP_BEGIN_DECLS

/* The table that a GPU's context uses now. */
const lsp_sort_table *lsp_sort_table_of(lsp_ctx *ctx);

/* How LSP_SORT_SPLIT cuts n items: into `blocks` chunks for as many blocks. */
typedef struct lsp_sort_cut {
    int shape;                    /* of the kernel, an index of the table's; below 0: too many items for every kernel */
    int blocks, buckets, samples; /* powers of two, in all */
} lsp_sort_cut;
/* direct: 4-byte integers alone, for which there is one shape more. */
lsp_sort_cut lsp_sort_cut_of(lsp_ctx *ctx, int64_t n, bool direct);

/* Threads of a block and words that each of them sorts at a time, by shape. */
static inline LSP_BOTH_SIDES int lsp_sort_threads(int shape) { return shape < 2 ? 256 << shape : 1024; }
static inline LSP_BOTH_SIDES int lsp_sort_words(int shape) { return shape < 3 ? 4 : shape < 4 ? 8 : 16; }

LSP_END_DECLS
