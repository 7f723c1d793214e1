/* libsparse/segsort.h: segmented sort. Part of libsparse.h, which states the rules for all functions. */
#ifndef LIBSPARSE_SEGSORT_H
#define LIBSPARSE_SEGSORT_H

#include "core.h"

LSP_BEGIN_DECLS

enum {
    LSP_SORT_DESCENDING = 1,
    LSP_SORT_POSITIONS = 2,        /* argsort: values_out gets each item's position in its segment before the sort */
    LSP_SORT_GLOBAL_POSITIONS = 4, /* argsort with positions counted from the start of the array */
    LSP_SORT_EQUAL_ZEROS = 8       /* floats: -0 and +0 compare equal, so they keep their order */
};

/* What to sort. Segments come in one of three forms:
 *   offsets          segment s holds the items offsets[s] .. offsets[s+1]-1 (segments + 1 offsets, never falling);
 *   offsets, ends    segment s holds the items offsets[s] .. ends[s]-1, in any order, gaps allowed, never overlapping;
 *   length           offsets is NULL: every segment holds `length` items, the last one the rest of n.
 * All lie within 0 .. n. Items outside all segments are not touched: in place they stay, out of place they are not
 * written. */
typedef struct lsp_segsort_args {
    int64_t n, segments;
    const void *offsets, *ends;
    int64_t length;
    int64_t max_length;   /* no segment is longer; 0: not known. It can save the scratch for giants on a GPU */
    lsp_type offset_type; /* of offsets, ends, change_at, change_count: LSP_I32 or LSP_I64 */
    lsp_type key_type;    /* LSP_I32 LSP_U32 LSP_F32 LSP_I64 LSP_U64 LSP_F64 */
    size_t value_bytes;   /* 0 (keys alone), 4, 8 or 16; for positions 4 (unsigned) or 8 */
    const void *keys;
    void *keys_out;         /* may be `keys`: in place. NULL: only positions are wanted */
    const void *values;     /* NULL when value_bytes is 0, and for positions */
    void *values_out;       /* may be `values` */
    int begin_bit, end_bit; /* integer keys: only the bits begin_bit .. end_bit-1 are compared; 0, 0: all */
    unsigned flags;         /* LSP_SORT_... */
    unsigned char *change;  /* NULL, or n bytes: 1 where a sorted key is the first of its segment or compares unequal
                               to the one before it; 0 elsewhere in segments */
    void *change_at;        /* NULL, or n indices: the places of those ones, counted from the start of the array. Those
                               of segment s start at the segment's begin; there are change_count[s] of them, and the
                               rest of the segment is not written */
    void *change_count;     /* NULL, or one index for each segment: its number of ones */
    void *group_at;         /* NULL, or n + 1 indices: the places of those ones of all segments, one after another, and
                               then n: a finished group-by. Segments without gaps, so not with `ends` */
    int64_t *group_count;   /* with group_at: receives the number of groups, where the arrays lie */
    int64_t first;          /* 0: whole segments are wanted. Else only the first `first` items of each sorted segment
                               are: the rest of the segment may hold anything, or stay. Not with change, change_at and
                               group_at */
    lsp_where where;        /* the place of all these arrays */
    int64_t reserved[LSP_RESERVED];
} lsp_segsort_args;

typedef struct lsp_segsort_info {
    const char *method;    /* "cpu", "cuda" */
    char reason[160];      /* why */
    int64_t longest;       /* no segment may be longer */
    int64_t scratch_bytes; /* held by the plan on a GPU, or taken by the call; on the CPU the most that it can take */
    int64_t reserved[LSP_RESERVED];
} lsp_segsort_info;

/* Sorts the keys of every segment and moves the values along. The sort is always stable. Floats: -0 before +0, NaN
 * after everything (descending: +0 before -0, NaN still last), unless LSP_SORT_EQUAL_ZEROS is set; bits kept. Keys
 * equal to the type's maximum are ordinary keys. Input and output are the same array or do not overlap. Arrays on a GPU
 * (the context must be of that GPU): all work goes to the context's stream, and nothing waits for it. The kernels check
 * segments: malformed ones are left unsorted, and the next lsp_ctx_sync says so. It also says so if segments overlap so
 * far that together they have more than n items. `info` may be NULL.
 *
 *     lsp_segsort_args args = {.n = n, .segments = s, .offsets = offsets, .offset_type = LSP_I64,
 *                              .key_type = LSP_U32, .keys = keys, .keys_out = keys};
 *     lsp_segsort(ctx, &args, NULL); */
LSP_API lsp_status lsp_segsort(lsp_ctx *ctx, const lsp_segsort_args *args, lsp_segsort_info *info);

/* ---- plans: for sorts of one shape that are repeated ------------------------------------------------------------- */

typedef struct lsp_segsort_plan lsp_segsort_plan;

/* Prepares sorts of one shape: n, segments, types, bits, flags, and the set of outputs, as in `args`. If offsets are
 * given, the call reads them to find the longest segment, and on a GPU waits for that; max_length avoids it. The plan
 * belongs to the context and owns its scratch. */
LSP_API lsp_status lsp_segsort_plan_create(lsp_ctx *ctx, const lsp_segsort_args *args, lsp_segsort_plan **plan);
LSP_API void lsp_segsort_plan_destroy(lsp_segsort_plan *plan);
LSP_API lsp_status lsp_segsort_plan_get_info(const lsp_segsort_plan *plan, lsp_segsort_info *info);

/* Sorts `args`, which must have the plan's shape; its arrays and offsets may differ from call to call. On a GPU the
 * call allocates nothing, waits for nothing and can be captured in a CUDA graph. A segment longer than the plan's
 * longest is malformed. */
LSP_API lsp_status lsp_segsort_execute(lsp_segsort_plan *plan, const lsp_segsort_args *args);

LSP_END_DECLS
#endif
