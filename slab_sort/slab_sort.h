/* Inside the sort of a whole array: the methods of a GPU, and the kinds of items. */
#pragma once

#include "core/cuda.h"
#include "gpu/table.h"

LSP_BEGIN_DECLS

/* A method of a GPU. The arguments are checked, and n is at least 1 and at most what `longest` returned. */
typedef struct lsp_sort_way {
    /* The most items that it sorts with these arguments. */
    int64_t (*longest)(lsp_ctx *ctx, const lsp_sort_args *args);
    /* Bytes of scratch. */
    int64_t (*bytes)(lsp_ctx *ctx, const lsp_sort_args *args);
    /* Puts the sort on the stream; never waits. `scratch` is aligned to 64 bytes. */
    lsp_status (*run)(lsp_ctx *ctx, const lsp_sort_args *args, void *scratch);
} lsp_sort_way;

/* NULL: the GPU lacks this method. */
extern const lsp_sort_way *const lsp_sort_ways[LSP_SORT_METHODS];
extern const lsp_sort_way lsp_sort_by_ranks, lsp_sort_by_split, lsp_sort_by_radix, lsp_sort_by_slabs;

/* radix.c: the request as a segmented sort of one segment that marks no changes. */
lsp_segsort_args lsp_sort_segment(const lsp_sort_args *args);

/* Writes the changes of sorted keys. The arrays are on a GPU. */
lsp_status lsp_sort_mark_changes(lsp_ctx *ctx, const lsp_sort_args *args);

/* Are all keys of equal order equal in all bits? Else, or with values, items need a stable sort. */
static inline bool lsp_sort_is_plain(const lsp_sort_args *args) {
    return args->key_type != LSP_F32 && args->key_type != LSP_F64 && args->end_bit == 0;
}

/* The kind of items, an index of the table's limits. */
static inline int lsp_sort_kind(const lsp_sort_args *args) {
    return lsp_type_bytes(args->key_type) == 8 ? 1 + 2 * (args->value_bytes > 0)
                                               : 2 * (args->value_bytes > 0 || !lsp_sort_is_plain(args));
}

LSP_END_DECLS
