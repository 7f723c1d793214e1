/* libsparse/segsort.h: segmented sort. Part of libsparse.h, which states the rules for all functions. */
#ifndef LIBSPARSE_SEGSORT_H
#define LIBSPARSE_SEGSORT_H

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LSP_SORT_DESCENDING = 1,
    LSP_SORT_POSITIONS = 2, /* argsort: values_out gets where in its segment each item came from; no values are read */
    LSP_SORT_GLOBAL_POSITIONS = 4 /* the same, counted from the start of the array */
};

/* What to sort. Segments come in one of three forms:
 *   offsets          segment s holds the items offsets[s] .. offsets[s+1]-1 (segments + 1 offsets, never falling);
 *   offsets, ends    segment s holds the items offsets[s] .. ends[s]-1, in any order, gaps allowed, never overlapping;
 *   length           offsets is NULL: every segment holds `length` items, the last one what is left of n.
 * All lie within 0 .. n. Items outside all segments stay where they are; out of place they are not written. */
typedef struct lsp_segsort_args {
    int64_t n, segments;
    const void *offsets, *ends;
    int64_t length;
    int64_t max_length;   /* no segment is longer; 0: not known. It saves a GPU the scratch for giant segments */
    lsp_type offset_type; /* LSP_I32 or LSP_I64: of offsets, ends, change_at, change_count */
    lsp_type key_type;    /* LSP_I32 LSP_U32 LSP_F32 LSP_I64 LSP_U64 LSP_F64 */
    size_t value_bytes;   /* 0 (keys alone), 4, 8 or 16; of a position 4 (unsigned) or 8 */
    const void *keys;
    void *keys_out;         /* may be `keys`: in place. NULL: only positions are wanted */
    const void *values;     /* NULL when value_bytes is 0, and for positions */
    void *values_out;       /* may be `values` */
    int begin_bit, end_bit; /* integer keys: only the bits begin_bit .. end_bit-1 decide; 0, 0: all */
    unsigned flags;         /* LSP_SORT_... */
    unsigned char *change;  /* NULL, or n bytes: 1 where a sorted key differs from the one before it (is not equal as
                               the sort compares) or is the first of its segment; 0 elsewhere in segments */
    void *change_at;        /* NULL, or n indices: the places of those ones in the whole array. Segment s writes its
                               own from its begin on, change_count[s] of them; what follows them is not written */
    void *change_count;     /* NULL, or one index a segment */
    lsp_where where;        /* where all these arrays lie */
    int64_t reserved[LSP_RESERVED];
} lsp_segsort_args;

/* Sorts the keys of every segment and moves the values along. The sort is always stable. Floats: -0 before +0, NaN
 * after everything (descending: +0 before -0, NaN still last), bits kept. Keys equal to the type's maximum are ordinary
 * keys. Input and output are the same array or do not overlap.
 * Arrays on a GPU (the context must be of that GPU): all work goes to the context's stream, and nothing waits for it.
 * The kernels check segments: malformed ones are left unsorted, and the next lsp_ctx_sync says so. It also says so if
 * segments overlap so far that together they have more than n items.
 *     lsp_segsort_args args = {.n = n, .segments = s, .offsets = offsets, .offset_type = LSP_I64,
 *                              .key_type = LSP_U32, .keys = keys, .keys_out = keys};
 *     lsp_segsort(ctx, &args); */
LSP_API lsp_status lsp_segsort(lsp_ctx *ctx, const lsp_segsort_args *args);

/* ---- plans: for sorts of one shape that are repeated ------------------------------------------------------------- */

typedef struct lsp_segsort_info {
    const char *method;    /* "cpu", "cuda" */
    char reason[160];      /* why */
    int64_t longest;       /* no segment may be longer */
    int64_t scratch_bytes; /* held by the plan on the GPU; on the CPU the scratch that the longest segments will take */
    int64_t reserved[LSP_RESERVED];
} lsp_segsort_info;

typedef struct lsp_segsort_plan lsp_segsort_plan;

/* Prepares sorts of one shape: n, segments, types, bits, flags, and which outputs there are, as in `args`. Given
 * offsets are read for the longest segment, which waits for a GPU; max_length avoids that. The plan belongs to the
 * context and owns its scratch. */
LSP_API lsp_status lsp_segsort_plan_create(lsp_ctx *ctx, const lsp_segsort_args *args, lsp_segsort_plan **plan);
LSP_API void lsp_segsort_plan_destroy(lsp_segsort_plan *plan);
LSP_API lsp_status lsp_segsort_plan_get_info(const lsp_segsort_plan *plan, lsp_segsort_info *info);

/* Sorts `args`, which has the plan's shape and arrays and offsets of its own. On a GPU it allocates nothing, waits for
 * nothing and can be captured in a CUDA graph. A segment longer than the plan's longest is malformed. */
LSP_API lsp_status lsp_segsort_execute(lsp_segsort_plan *plan, const lsp_segsort_args *args);

/* ---- tuning of a GPU's sort: which kernel sorts which lengths, in items. Never changes a result. ----------------- */

enum { LSP_SORT_CLASSES = 36, LSP_SORT_TILE_LONGEST = 64, LSP_SORT_SMALL_ITEMS = 65536 };
typedef struct lsp_segsort_table {
    int32_t small_items;  /* up to this many items in all are sorted by one kernel; at most LSP_SORT_SMALL_ITEMS */
    int32_t few_items;    /* up to this many items in all are sorted by few kernels, in classes of their own */
    int32_t tile_longest; /* longer segments are sorted class by class; at most LSP_SORT_TILE_LONGEST */
    int32_t class_longest[LSP_SORT_CLASSES]; /* never falling. Class 4k + q sorts with 2^(k+1) lanes of 20 + 4q words,
                                                the first eight, 19 and 23 with twice the lanes of half the words; that
                                                is the most it takes, and what the last one and class 31 must take: the
                                                four after it are not for all segments. A class with the limit of the
                                                one before is not used */
} lsp_segsort_table;

/* Returns the most items that a segment in class c can have. Classes 2, 6, 32 and 34 are not offered: they have the
 * figure of the class before and are never used. Where a GPU has too little shared memory for the
 * last four, or items are few, segments of that length are split first, as longer ones are. */
LSP_API int32_t lsp_segsort_class_most(int c);

/* Sets the table that plans and sorts of a GPU's context use from now on. NULL: the shipped one, tuned on an H200.
 * `sparse-bench segsort --tune` measures one for the machine at hand and prints it. A plan made before is refused if
 * its scratch no longer suffices. */
LSP_API lsp_status lsp_segsort_set_table(lsp_ctx *ctx, const lsp_segsort_table *table);
LSP_API lsp_status lsp_segsort_get_table(lsp_ctx *ctx, lsp_segsort_table *table);

#ifdef __cplusplus
}
#endif
#endif
