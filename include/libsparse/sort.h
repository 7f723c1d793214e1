/* libsparse/sort.h: the sort of a whole array by the fastest method for its length. Part of libsparse.h, which states
 * the rules for all functions. */
#ifndef LIBSPARSE_SORT_H
#define LIBSPARSE_SORT_H

#include "core.h"
#include "segsort.h"

LSP_BEGIN_DECLS

/* How an array is sorted. The CPU knows LSP_SORT_AUTO and LSP_SORT_RADIX, which are the same there. */
typedef enum lsp_sort_method {
    LSP_SORT_AUTO = 0, /* by the length */
    LSP_SORT_RANKS,    /* each item is compared with all others; one launch; up to LSP_SORT_RANKS_MOST items */
    LSP_SORT_SPLIT,    /* a sample splits the array into a bucket for each block; one launch; up to about 2^20 items */
    LSP_SORT_RADIX,    /* a GPU splits the array by leading bits until the parts fit shared memory; any length */
    LSP_SORT_SLAB,     /* merges of sorted slabs, in place without scratch; keys alone, compared by all their bits */
    LSP_SORT_METHODS   /* the number of methods */
} lsp_sort_method;

enum { LSP_SORT_RANKS_MOST = 1 << 12 };

/* Returns "auto", "ranks", "split", "radix", "slab"; "?" for a number that is no method. */
LSP_API const char *lsp_sort_method_name(lsp_sort_method method);

/* What to sort: n keys, and a value for each of them or none. */
typedef struct lsp_sort_args {
    int64_t n;
    lsp_type key_type;  /* LSP_I32 LSP_U32 LSP_F32 LSP_I64 LSP_U64 LSP_F64 */
    size_t value_bytes; /* 0 (keys alone), 4, 8 or 16; of a position 4 (unsigned) or 8 */
    const void *keys;
    void *keys_out;         /* may be `keys`: in place. NULL: only positions are wanted */
    const void *values;     /* NULL when value_bytes is 0, and for positions */
    void *values_out;       /* may be `values` */
    int begin_bit, end_bit; /* integer keys: only the bits begin_bit .. end_bit-1 are compared; 0, 0: all */
    unsigned flags;         /* LSP_SORT_DESCENDING, LSP_SORT_EQUAL_ZEROS; LSP_SORT_POSITIONS: values_out gets where each
                               item came from */
    unsigned char *change;  /* NULL, or n bytes: 1 for the first sorted key and where a key compares unequal to the one
                               before it, else 0. Not without keys_out */
    lsp_sort_method method;
    lsp_where where; /* where all these arrays lie */
    int64_t reserved[LSP_RESERVED];
} lsp_sort_args;

typedef struct lsp_sort_info {
    lsp_sort_method method; /* that sorts; never LSP_SORT_AUTO */
    char reason[160];       /* why */
    int64_t scratch_bytes;  /* held by the plan, or taken by the call, on a GPU; 0 on the CPU */
    int64_t reserved[LSP_RESERVED];
} lsp_sort_info;

/* Sorts keys and moves the values along: stable, in the order of lsp_segsort. All methods and both devices give the
 * same bits, but NaNs that LSP_SORT_SLAB orders by their bits. Input and output are the same array or do not overlap.
 * Arrays on a GPU (the context must be of that GPU): all work goes to the context's stream, and nothing waits for it. A
 * stream that is being captured needs a plan. `info` may be NULL.
 *
 *     lsp_sort_args args = {.n = n, .key_type = LSP_U32, .keys = keys, .keys_out = keys, .where = LSP_CUDA};
 *     lsp_sort(ctx, &args, NULL); */
LSP_API lsp_status lsp_sort(lsp_ctx *ctx, const lsp_sort_args *args, lsp_sort_info *info);

typedef struct lsp_sort_plan lsp_sort_plan;

/* Prepares sorts of one shape: n, types, bits, flags, method, and which outputs there are, as in `args`; no array is
 * read. The plan belongs to the context and owns its scratch, so two plans may sort at the same time. */
LSP_API lsp_status lsp_sort_plan_create(lsp_ctx *ctx, const lsp_sort_args *args, lsp_sort_plan **plan);
LSP_API void lsp_sort_plan_destroy(lsp_sort_plan *plan);
LSP_API lsp_status lsp_sort_plan_get_info(const lsp_sort_plan *plan, lsp_sort_info *info);

/* Sorts `args`, which has the plan's shape and arrays of its own. On a GPU it allocates nothing, waits for nothing and
 * can be captured in a CUDA graph. */
LSP_API lsp_status lsp_sort_execute(lsp_sort_plan *plan, const lsp_sort_args *args);

LSP_END_DECLS
#endif
