/* libsparse/unstable.h: functions for those who tune, measure and compare. Any version may change them. libsparse.h,
 * which states the rules for all functions, does not include this header. */
#ifndef LIBSPARSE_UNSTABLE_H
#define LIBSPARSE_UNSTABLE_H

#include "cache_model.h"
#include "solve.h"
#include "sort.h"

LSP_BEGIN_DECLS

/* ---- tuning of a GPU's sort: the kernel for each length, in items. Never changes a result. ----------------------- */

enum { LSP_SORT_CLASSES = 36, LSP_SORT_TILE_LONGEST = 64, LSP_SORT_SMALL_ITEMS = 65536, LSP_SORT_SELECT_FIRST = 2048 };
typedef struct lsp_segsort_table {
    int32_t small_items;     /* up to this many items in all are sorted by one kernel; at most LSP_SORT_SMALL_ITEMS */
    int32_t few_items;       /* up to this many items in all are sorted by few kernels, in fewer classes */
    int32_t tile_longest;    /* longer segments are sorted class by class; at most LSP_SORT_TILE_LONGEST */
    int32_t select_first;    /* up to this many first items are selected; more come from a sort. At most
                                LSP_SORT_SELECT_FIRST */
    int32_t select_shortest; /* longer segments are selected from, if they have more than 4 times the first items */
    int32_t class_longest[LSP_SORT_CLASSES]; /* Class c sorts segments of class_longest[c-1] + 1 to class_longest[c]
                                                items. Limits never fall; a class with the limit of the class before is
                                                not used. Class 4k + q has 2^(k+1) lanes of 20 + 4q words each; classes
                                                0 to 7, 19 and 23 have twice the lanes and half the words. No limit
                                                exceeds lanes times words, and those of classes 31 and 35 equal it.
                                                Classes 32 to 35 do not take all segments */
} lsp_segsort_table;

/* Returns the most items that a segment in class c can have. Classes 2, 6, 32 and 34 are never used: the function
 * returns the value of the class before. Segments longer than class 31 takes are split first if the GPU has too little
 * shared memory for classes 32 to 35, or if items are few in all. */
LSP_API int32_t lsp_segsort_class_most(int c);

/* Sets the table for all later plans and sorts of a GPU's context. NULL: the shipped table, tuned on an H200.
 * `sparse-bench segsort --tune` measures one for the machine at hand and prints it. A plan made before is refused if
 * its scratch no longer suffices. */
LSP_API lsp_status lsp_segsort_set_table(lsp_ctx *ctx, const lsp_segsort_table *table);
LSP_API lsp_status lsp_segsort_get_table(lsp_ctx *ctx, lsp_segsort_table *table);

/* ---- tuning of lsp_sort on a GPU. Never changes a result. ------------------------------------------------------- */

enum { LSP_SORT_KINDS = 4, LSP_SORT_SHAPES = 6, LSP_SORT_SAMPLES_MOST = 32 };
typedef struct lsp_sort_table {
    /* In items, for 4-byte integers alone, 8-byte keys alone, other 4-byte keys, 8-byte keys with values. */
    int32_t ranks_longest[LSP_SORT_KINDS];  /* up to here by ranks; at most LSP_SORT_RANKS_MOST */
    int32_t split_shortest[LSP_SORT_KINDS]; /* from here to split_longest, if the GPU can, by a split; else, and in */
    int32_t split_longest[LSP_SORT_KINDS];  /* between, by radix sort */
    /* Threads of a split's block sort 4, 4, 4, 8, 16 and, of 4-byte integers alone, twice 16 words each. */
    int32_t shape_longest[LSP_SORT_SHAPES]; /* items in all, up to which a shape is used; limits never fall */
    int32_t samples[LSP_SORT_SHAPES]; /* for each bucket whose block has room for 4 times the mean, a power of two up to
                                         LSP_SORT_SAMPLES_MOST, which others have. A bucket of more items than its block
                                         can hold is split again, which takes long */
} lsp_sort_table;

/* Set and get the table of a GPU's context, as lsp_segsort_set_table does. `sparse-bench sort --tune` prints one. */
LSP_API lsp_status lsp_sort_set_table(lsp_ctx *ctx, const lsp_sort_table *table);
LSP_API lsp_status lsp_sort_get_table(lsp_ctx *ctx, lsp_sort_table *table);

/* ---- the NAS conjugate gradient benchmark ------------------------------------------------------------------------ */

typedef struct lsp_nas_class {
    int64_t n;
    int nonzer, iterations;
    double shift, zeta; /* zeta: the value that verifies a run, to 1e-10 */
} lsp_nas_class;

/* Tells the parameters of the NAS conjugate gradient benchmark. `name` is one of S W A B C D E. */
LSP_API lsp_status lsp_nas_get_class(lsp_ctx *ctx, char name, lsp_nas_class *params);

typedef struct lsp_nas_result {
    double zeta, reference; /* computed and published */
    bool verified;          /* |zeta - reference| / reference <= 1e-10 */
    double seconds;         /* of the timed part: all iterations after the untimed first one */
    double mops;            /* millions of operations per second, by the benchmark's own count */
    double plan_seconds;
    double residual;    /* of the last inner solve */
    int64_t iterations; /* outer */
    const char *solver; /* as in lsp_solve_info */
    lsp_spmv_info spmv;
    int64_t reserved[LSP_RESERVED];
} lsp_nas_result;

/* Called after each timed outer iteration (1, 2, ...) or, where all of them are one launch, after the last. */
typedef void (*lsp_nas_fn)(void *user, int64_t iteration, double residual, double zeta);

/* Runs the benchmark as its specification says: A is the matrix of lsp_generate "nascg:CLASS", f64. Of the options
 * method and passes are read. `report` may be NULL. */
LSP_API lsp_status lsp_nas_cg(lsp_ctx *ctx, char name, const lsp_csr *A, const lsp_solve_options *options,
                              lsp_nas_fn report, void *user, lsp_nas_result *result);

LSP_END_DECLS
#endif
