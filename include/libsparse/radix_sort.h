/* libsparse/radix_sort.h: the sort of a whole array, and its step, the partition into buckets. Part of libsparse.h,
 * which states the rules for all functions. */
#ifndef LIBSPARSE_RADIX_SORT_H
#define LIBSPARSE_RADIX_SORT_H

#include "core.h"
#include "segsort.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What to sort: n keys, and a value for each of them or none. */
typedef struct lsp_radix_sort_args {
    int64_t n;
    lsp_type key_type;  /* LSP_I32 LSP_U32 LSP_F32 LSP_I64 LSP_U64 LSP_F64 */
    size_t value_bytes; /* 0 (keys alone), 4, 8 or 16; of a position 4 (unsigned) or 8 */
    const void *keys;
    void *keys_out;         /* may be `keys`: in place. NULL: only positions are wanted */
    const void *values;     /* NULL when value_bytes is 0, and for positions */
    void *values_out;       /* may be `values` */
    int begin_bit, end_bit; /* integer keys: only the bits begin_bit .. end_bit-1 decide; 0, 0: all */
    unsigned flags;         /* LSP_SORT_DESCENDING; LSP_SORT_POSITIONS: values_out gets where each item came from */
    lsp_where where;        /* where all these arrays lie */
    int64_t reserved[LSP_RESERVED];
} lsp_radix_sort_args;

/* How an array is sorted. */
typedef struct lsp_radix_sort_info {
    int phases;            /* of partitioning before partitions are sorted; 0: none is needed */
    int bits;              /* most bits of a phase: it makes 2^bits partitions */
    double seconds;        /* the prediction that chose them; 0: there was no choice */
    char reason[160];      /* why */
    int64_t scratch_bytes; /* held by the plan on the GPU; 0 on the CPU */
    int64_t reserved[LSP_RESERVED];
} lsp_radix_sort_info;

/* Sorts keys and moves the values along: stable, in the order of lsp_segsort. The array is partitioned by leading bits,
 * phase by phase, until a partition fits shared memory (a CPU: its cache); then the partitions are sorted as segments.
 * Input and output are the same array or do not overlap.
 * Arrays on a GPU (the context must be of that GPU): all work goes to the context's stream, and nothing waits for it.
 * A stream that is being captured needs a plan. info: NULL, or it becomes what was chosen. */
LSP_API lsp_status lsp_radix_sort(lsp_ctx *ctx, const lsp_radix_sort_args *args, lsp_radix_sort_info *info);

typedef struct lsp_radix_sort_plan lsp_radix_sort_plan;

/* Prepares sorts of one shape: n, types, bits, flags, and which outputs there are, as in `args`; no array is read. The
 * plan belongs to the context and owns its scratch. */
LSP_API lsp_status lsp_radix_sort_plan_create(lsp_ctx *ctx, const lsp_radix_sort_args *args,
                                              lsp_radix_sort_plan **plan);
LSP_API void lsp_radix_sort_plan_destroy(lsp_radix_sort_plan *plan);
LSP_API lsp_status lsp_radix_sort_plan_get_info(const lsp_radix_sort_plan *plan, lsp_radix_sort_info *info);

/* Sorts `args`, which has the plan's shape and arrays of its own. On a GPU it allocates nothing, waits for nothing and
 * can be captured in a CUDA graph. */
LSP_API lsp_status lsp_radix_sort_execute(lsp_radix_sort_plan *plan, const lsp_radix_sort_args *args);

/* ---- partition --------------------------------------------------------------------------------------------------- */

enum { LSP_PARTITION_MOST = 1 << 16 }; /* buckets */

/* Which items go to which bucket, and what is moved. */
typedef struct lsp_partition_args {
    int64_t n;
    const void *numbers;    /* NULL, or n bucket numbers of 4 bytes, taken as unsigned; NULL too if n is 0 */
    int64_t buckets;        /* with numbers: 1 .. LSP_PARTITION_MOST; else 0 */
    int begin_bit, end_bit; /* without numbers: an item's bucket is the bits begin_bit .. end_bit-1 of its key, 1 to 16
                               of them: 2^(end_bit - begin_bit) buckets */
    lsp_type key_type;      /* LSP_I32, LSP_U32, LSP_I64 or LSP_U64, taken as unsigned; not read without keys */
    const void *keys;       /* with numbers may be NULL: only values are moved */
    void *keys_out;         /* may be `keys`, unless numbers, keys and values are all given */
    size_t value_bytes;     /* 0, 4, 8 or 16; of a position 4 (unsigned) or 8 */
    const void *values;     /* NULL when value_bytes is 0, and for positions */
    void *values_out;       /* may be `values`, with the same exception */
    unsigned flags;         /* LSP_SORT_POSITIONS: values_out gets where each item came from */
    void *offsets;          /* NULL, or buckets + 1 of them: bucket b has the items offsets[b] .. offsets[b+1]-1 */
    lsp_type offset_type;   /* LSP_I32 or LSP_I64 */
    lsp_where where;        /* where all these arrays lie */
    int64_t reserved[LSP_RESERVED];
} lsp_partition_args;

/* Moves the items to their buckets; the items of a bucket stay in their order. Items whose number is `buckets` or more
 * come behind all others, from offsets[buckets] on, in the order of their numbers.
 * Arrays on a GPU: all work goes to the context's stream, and nothing waits for it; a stream that is being captured is
 * refused. Positions of a table's rows: lsp_gather then moves the columns.
 *     lsp_partition_args args = {.n = n, .numbers = part, .buckets = parts, .value_bytes = 4, .values_out = rows,
 *                                .flags = LSP_SORT_POSITIONS, .offsets = offsets, .offset_type = LSP_I64};
 *     lsp_partition(ctx, &args); */
LSP_API lsp_status lsp_partition(lsp_ctx *ctx, const lsp_partition_args *args);

#ifdef __cplusplus
}
#endif
#endif
