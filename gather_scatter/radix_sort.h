/* Inside the library: the radix sort of a whole array, which is a segmented sort of one segment. The public call is
 * lsp_sort with LSP_SORT_RADIX. */
#pragma once

#include "segsort/segsort.h"

LSP_BEGIN_DECLS

/* How often a GPU partitions the array before its parts are sorted, and by how many bits at a time. */
typedef struct lsp_radix_choice {
    int phases, bits;
} lsp_radix_choice;

/* By a prediction from the cache model's figures. */
lsp_status lsp_radix_choose(lsp_ctx *ctx, const lsp_segsort_args *args, lsp_radix_choice *choice);

/* Bytes of scratch that lsp_radix_sort_run needs. */
int64_t lsp_radix_sort_bytes(lsp_ctx *ctx, const lsp_segsort_args *args);
/* Sorts one segment of at least one item on a GPU, by checked arguments. It allocates nothing and waits for nothing. */
lsp_status lsp_radix_sort_run(lsp_ctx *ctx, const lsp_segsort_args *args, void *scratch);

/* Sorts n items where they lie, with scratch of the call. Segments and their length are set here. */
lsp_status lsp_sort_array(lsp_ctx *ctx, const lsp_segsort_args *args);

LSP_END_DECLS
