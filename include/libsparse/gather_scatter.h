/* libsparse/gather_scatter.h: indexed reads and writes of whole arrays. Part of libsparse.h, which states the rules for
 * all functions. */
#ifndef LIBSPARSE_GATHER_SCATTER_H
#define LIBSPARSE_GATHER_SCATTER_H

#include "cache_model.h"
#include "core.h"

LSP_BEGIN_DECLS

/* What a scatter does if several positions have the same index. */
typedef enum lsp_scatter_rule {
    LSP_SCATTER_DISTINCT = 0, /* no two indices are equal. If two are, either element is written */
    LSP_SCATTER_LAST,         /* the element of the highest position is written */
    LSP_SCATTER_ADD           /* adds each element to what is there, in the order of the positions: sums of
                                 floats have the same bits in every run */
} lsp_scatter_rule;

enum {
    LSP_GATHER_CHECK = 1 /* look for an index outside 0 .. extent-1 first: if there is one, LSP_ERR_ARGUMENT, the
                            sentence names its position, and nothing is written. Waits for a GPU */
};

/* One array that is moved by the map. A gather reads `extent` elements of `from` and writes n of `to`; a scatter reads
 * n and writes into `extent`. The arrays of a column do not overlap, and no column's `to` overlaps any other array. */
typedef struct lsp_column {
    const void *from;
    void *to;
    size_t bytes;  /* of an element: 1, 2, 4, 8 or 16; for a gather, any other multiple of 4 up to 64 too */
    lsp_type type; /* LSP_SCATTER_ADD: LSP_F32, LSP_F64, LSP_I32 or LSP_I64 (integers wrap around); else not read */
} lsp_column;

/* Which elements move where: to[i] = from[index[i]] (gather) or to[index[i]] = from[i] (scatter), i = 0 .. n-1. */
typedef struct lsp_gather_args {
    int64_t n;      /* indices */
    int64_t extent; /* elements of the array that is indexed */
    const void *index;
    lsp_type index_type;       /* LSP_I32 or LSP_I64 */
    const lsp_column *columns; /* all moved by the same map */
    int64_t column_count;
    lsp_scatter_rule rule;  /* scatter only */
    lsp_strategy strategy;  /* LSP_STRATEGY_AUTO unless a certain one is wanted */
    int passes;             /* of LSP_STRATEGY_RESCAN; 0: the model chooses */
    int64_t expected_calls; /* plans: how often it will be used; 0: often. A plan that will not pay chooses direct */
    unsigned flags;         /* LSP_GATHER_... */
    lsp_where where;        /* where all these arrays lie */
    int64_t reserved[LSP_RESERVED];
} lsp_gather_args;

/* How a call or a plan moves. */
typedef struct lsp_gather_info {
    lsp_strategy strategy;
    int passes;               /* of LSP_STRATEGY_RESCAN, else 1 */
    char reason[160];         /* why */
    double predicted_seconds; /* of one call; 0: nothing was predicted */
    double direct_seconds;    /* what the model predicts for the direct strategy */
    int64_t plan_bytes;       /* held by the plan, wherever they lie, scratch of the calls included; 0: no plan */
    int64_t pays_after;       /* calls after which the plan has saved its making; 0: it costs nothing */
    int64_t reserved[LSP_RESERVED];
} lsp_gather_info;

/* Indices outside 0 .. extent-1 are never followed: without LSP_GATHER_CHECK their elements are left out, and the call
 * (on a GPU the next lsp_ctx_sync) returns LSP_ERR_ARGUMENT with the position of one of them.
 * Arrays on a GPU (the context must be of that GPU): all work goes to the context's stream, and nothing waits for it.
 * info: NULL, or it becomes what was chosen. On a GPU the choice is for random indices: a sample of them, which the
 * host does not see, may still send the call by the direct way.
 *     lsp_column x = {.from = source, .to = wanted, .bytes = sizeof *source};
 *     lsp_gather(ctx, &(lsp_gather_args){.n = n, .extent = m, .index = index, .index_type = LSP_I32, .columns = &x,
 *                                        .column_count = 1}, NULL); */
LSP_API lsp_status lsp_gather(lsp_ctx *ctx, const lsp_gather_args *args, lsp_gather_info *info);
LSP_API lsp_status lsp_scatter(lsp_ctx *ctx, const lsp_gather_args *args, lsp_gather_info *info);

/* ---- plans: for a map that is used again ------------------------------------------------------------------------- */

typedef struct lsp_gather_plan lsp_gather_plan;

/* Reads the indices once and prepares calls with the map that they are; the array of indices may be freed or changed
 * afterwards. Of the columns in `args` only bytes and types are read: later calls have columns of at most the largest
 * bytes given here. An index outside 0 .. extent-1 is refused, with its position. Waits for a GPU. The plan belongs to
 * the context. */
LSP_API lsp_status lsp_gather_plan_create(lsp_ctx *ctx, const lsp_gather_args *args, lsp_gather_plan **plan);
LSP_API lsp_status lsp_scatter_plan_create(lsp_ctx *ctx, const lsp_gather_args *args, lsp_gather_plan **plan);
LSP_API void lsp_gather_plan_destroy(lsp_gather_plan *plan);
LSP_API lsp_status lsp_gather_plan_get_info(const lsp_gather_plan *plan, lsp_gather_info *info);

/* Moves `columns` as the plan says (a gather or a scatter). On a GPU it allocates nothing, waits for nothing and can be
 * captured in a CUDA graph. */
LSP_API lsp_status lsp_gather_execute(lsp_gather_plan *plan, const lsp_column *columns, int64_t column_count);

LSP_END_DECLS
#endif
