/* Inside the sort of a whole array and the partition: the choice of phases, and the search for the begins of buckets in
 * sorted bucket numbers. */
#ifndef LSP_GATHER_SCATTER_RADIX_SORT_H
#define LSP_GATHER_SCATTER_RADIX_SORT_H

#include "segsort/segsort.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How often the array is partitioned before its parts are sorted, and by how many bits at a time. */
typedef struct lsp_radix_choice {
    int phases, bits;
    double seconds; /* predicted, of the phases */
    char reason[160];
} lsp_radix_choice;

/* choose.c: by a prediction from the cache model's figures. */
lsp_status lsp_radix_choose(lsp_ctx *ctx, const lsp_segsort_args *segment, lsp_radix_choice *choice);

/* Where the buckets begin in n sorted numbers. The bucket of a number is (number >> shift) & mask. */
typedef struct lsp_bucket_search {
    const void *sorted;
    bool wide; /* 8 bytes each, not 4 */
    int shift;
    uint64_t mask;
    int64_t n, buckets;
    void *offsets; /* NULL: nothing is to be done */
    lsp_type offset_type;
} lsp_bucket_search;

/* The number of items in buckets below b. */
static inline LSP_BOTH_SIDES int64_t lsp_bucket_begin(const lsp_bucket_search *search, int64_t b) {
    return LSP_FIRST(
        (int64_t)0, search->n, middle,
        ((search->wide ? ((const uint64_t *)search->sorted)[middle] : ((const uint32_t *)search->sorted)[middle]) >>
             search->shift &
         search->mask) >= (uint64_t)b);
}

/* Writes the begins of all buckets, and the end of the last. */
lsp_status lsp_bucket_offsets(lsp_ctx *ctx, const lsp_bucket_search *search, lsp_where where);
lsp_status lsp_bucket_offsets_cuda(lsp_ctx *ctx, const lsp_bucket_search *search);

#ifdef __cplusplus
}
#endif
#endif
