/* What the files of gather and scatter on a GPU tell each other. The parts: move.cu moves elements one by one; stage.cu
 * moves them through shared memory by a plan; bins.cu scatters through shared memory without one; order.cu makes lists
 * of indices; sum.cu adds in order. launch.cu combines them to one call, plan.cu to plans. */
#pragma once

#include "core/launch.cuh"
#include "gather_scatter/job.h"
#include "runs.cuh"

/* Kernels of two ways may be launched and only one of them do its work: a kernel ends at once unless count is NULL, or
 * (*count >= limit) == above. */
typedef struct gather_gate {
    const unsigned *count;
    unsigned limit;
    bool above;
} gather_gate;

/* Indices on the GPU. One that is negative or beyond the extent is left out. */
typedef struct gather_list {
    const void *at;
    lsp_type type; /* LSP_I32 or LSP_I64 */
} gather_list;

/* The integers that hold 0 .. n and -1. */
static inline lsp_type gather_list_type(int64_t n) { return n <= INT32_MAX ? LSP_I32 : LSP_I64; }

/* The widest unit of 1, 2, 4, 8 or 16 bytes in which elements can be moved, as their size and addresses allow. */
static inline size_t gather_unit(const lsp_column *column) {
    const uintptr_t bits = (uintptr_t)column->from | (uintptr_t)column->to | column->bytes | 16;
    return (size_t)(bits & (~bits + 1));
}

/* call(U) for the unsigned type U of a unit of some bytes. */
#define GATHER_BY_UNIT(bytes, call)                                                                                    \
    ((bytes) == 1   ? call(unsigned char)                                                                              \
     : (bytes) == 2 ? call(unsigned short)                                                                             \
     : (bytes) == 4 ? call(unsigned)                                                                                   \
     : (bytes) == 8 ? call(unsigned long long)                                                                         \
                    : call(uint4))
/* call(I) for the type I of indices, LSP_I32 or LSP_I64. */
#define GATHER_BY_INDEX(type, call) ((type) == LSP_I32 ? call(int32_t) : call(long long))

/* ---- the table: lsp_gather_cuda, in plan.cu ---- */

lsp_status lsp_gather_run(lsp_ctx *ctx, const lsp_gather_job *job); /* launch.cu */

/* ---- move.cu ---- */

/* k = 0 .. n-1: to[k] = from[index[k]], or scatter: to[index[k]] = from[k]. */
typedef struct gather_move {
    int64_t n;
    gather_list index;
    int64_t low, high; /* only indices low .. high-1 are followed */
    int64_t extent;    /* an index outside 0 .. extent-1 is reported */
    long long *fault;  /* where; NULL: it is left out silently */
    gather_gate gate;
    bool scatter;
    lsp_type add; /* a scatter that adds integers: LSP_I32 or LSP_I64; LSP_NONE: it writes */
} gather_move;

/* The move of a call or plan: all indices are followed, those outside are reported if `report`. */
gather_move gather_whole_move(lsp_ctx *ctx, const lsp_gather_job *job, gather_list index, bool report);
lsp_status lsp_gather_move(lsp_ctx *ctx, const gather_move *move, const lsp_column *column);
/* In `passes` launches, each for one part of the indexed array. */
lsp_status lsp_gather_rescan(lsp_ctx *ctx, const gather_move *move, int passes, const lsp_column *column);

/* ---- order.cu ---- */

/* owner[d] = the highest position k with index[k] == d, or -1: `extent` integers of gather_list_type(n). By atomics. */
lsp_status lsp_gather_owners(lsp_ctx *ctx, const lsp_gather_job *job, long long *fault, gather_gate gate, void *owner);
/* winners[k] = index[k] if position k owns it, else -1; of the indices' type. */
lsp_status lsp_gather_winners(lsp_ctx *ctx, const lsp_gather_job *job, const void *owner, void *winners);

/* Positions 0 .. n-1 in the order of their index, stable. */
typedef struct gather_order {
    void *keys;     /* n: the index, or `extent` for an index outside */
    void *position; /* n */
    int key_bytes, position_bytes;
} gather_order;
gather_order gather_order_for(const lsp_gather_job *job); /* the fewest bytes that suffice */
/* Sorts; order->keys and position are given. */
lsp_status lsp_gather_sort(lsp_ctx *ctx, const lsp_gather_job *job, gather_list index, long long *fault,
                           const gather_order *order);

/* ---- sum.cu ---- */

/* to[d] += the sum of from[position[k]] over all k with keys[k] == d, in ascending order of k.
 * moved: `from` is in that order already. */
lsp_status lsp_gather_sum(lsp_ctx *ctx, const gather_order *order, int64_t n, int64_t extent, bool moved,
                          const lsp_column *column);

/* ---- stage.cu ---- */

/* x / size for x < 2^32: (x >> shift) * magic >> (32 + after). */
typedef struct gather_cut {
    unsigned size, shift, magic, after;
} gather_cut;
gather_cut gather_cut_by(unsigned size); /* size: even */

/* Sizes in elements of the tiles of the source and the bins of the destination. */
typedef struct gather_sizes {
    unsigned tile, bin;
    int threads; /* of a block */
} gather_sizes;
/* The largest multiple of 64 elements, at most 65,536, in a block's shared memory if `blocks` blocks share a
 * multiprocessor. 0: too little shared memory. */
unsigned gather_most_elements(lsp_ctx *ctx, size_t element_bytes, int blocks);
/* About `most` elements, fewer if the multiprocessors then have even work. */
unsigned gather_even_size(lsp_ctx *ctx, int64_t total, unsigned most);

/* to[d] = from[map[d]] for all d that have map[d] >= 0, prepared. Elements are numbered below 2^31. */
typedef struct gather_stage {
    int64_t sources, dests, moved; /* moved: entries of the map that are not negative */
    int64_t tiles, bins;
    gather_sizes sizes;
    bool marks;              /* not every destination is written */
    int64_t *tile_begin;     /* tiles + 1 */
    int64_t *bin_begin;      /* bins + 1 */
    uint16_t *place_in_tile; /* moved, in the order (tile, bin) */
    uint16_t *place_in_bin;  /* moved, in the order (bin, tile): in runs, which have gaps in the order (tile, bin) */
    gather_runs *runs;       /* of each 32 elements of a bin; bin b has them from bin_begin[b] / 32 + b on */
    uint32_t *shift;         /* bins * tiles: element i of bin b, in its run r, is staged[shift[b * tiles + r] + i] */
    void *staged;            /* moved elements */
    gather_gate gate;
} gather_stage;

/* Can the map be prepared? Fills the counts and sizes. */
bool lsp_gather_stage_fits(lsp_ctx *ctx, int64_t sources, int64_t dests, int64_t moved, size_t most_bytes,
                           gather_stage *stage);
/* Allocates (lsp_alloc) and fills the arrays. */
lsp_status lsp_gather_stage_make(lsp_ctx *ctx, gather_list map, size_t most_bytes, gather_stage *stage);
lsp_status lsp_gather_stage_run(lsp_ctx *ctx, const gather_stage *stage, const lsp_column *column);
/* The second phase alone for positions: each destination gets the highest of its own, or -1. */
lsp_status lsp_gather_stage_own(lsp_ctx *ctx, const gather_stage *stage, int *owner);
/* The second phase alone: bins are filled from stage->staged, in order if stage->runs is NULL. */
lsp_status lsp_gather_stage_fill(lsp_ctx *ctx, const gather_stage *stage, size_t unit, const lsp_column *column);

/* ---- bins.cu ---- */

/* A scatter in one call, a move that follows all indices; elements with equal ones are written in any order. */
bool lsp_gather_bins_fit(lsp_ctx *ctx, const gather_move *move, size_t most_bytes);
lsp_status lsp_gather_bins_run(lsp_ctx *ctx, const gather_move *move, size_t most_bytes, const lsp_column *columns,
                               int64_t count);
/* lsp_gather_owners through shared memory, for owners that do not fit the L2 cache. most_bytes is sizeof *owner. */
lsp_status lsp_gather_bins_owners(lsp_ctx *ctx, const gather_move *move, int *owner);
