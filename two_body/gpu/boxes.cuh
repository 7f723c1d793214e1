/* Pairs of groups of points on the GPU. Bounds of d2 between their boxes, looser than any rounding (as `apart` of
 * cpu/kernels.c), settle most pairs of groups at once; warps look at the points of the others. */
#pragma once

#include "tile.cuh"

/* No point of box a is nearer to one of box b, or to the point `middle` with `half` NULL. */
template <typename S>
__device__ __forceinline__ double least_apart(const lsp_box_bounds &bounds, const double *middle, const double *half,
                                              const lsp_box &b) {
    double sum = 0;
#pragma unroll
    for (int k = 0; k < S::DIM; k++) {
        const double difference = middle[k] - b.middle[k];
        const double away = fabs(difference - bounds.side * rint(difference * bounds.per_side));
        const double least = away * (1 - 1e-15) - ((half == NULL ? 0 : half[k]) + b.half[k]) * (1 + 1e-15);
        const double scaled = max(least, 0.0) * bounds.near[k];
        sum += scaled * scaled;
    }
    return sum * bounds.least - bounds.tiny;
}

/* No point of box a is farther from one of box b. */
template <typename S>
__device__ __forceinline__ double most_apart(const lsp_box_bounds &bounds, const lsp_box &a, const lsp_box &b) {
    double sum = 0;
#pragma unroll
    for (int k = 0; k < S::DIM; k++) {
        const double difference = a.middle[k] - b.middle[k];
        const double away = fabs(difference - bounds.side * rint(difference * bounds.per_side));
        const double scaled = min(away + (a.half[k] + b.half[k]), bounds.half_side) * bounds.far[k];
        sum += scaled * scaled;
    }
    return sum * bounds.most + bounds.tiny;
}

/* The arguments of a walk over pairs of groups. */
typedef struct pair_boxes {
    lsp_metric metric;
    lsp_box_bounds bounds;
    pair_clouds clouds; /* in the order of the groups */
    const lsp_box *a, *b;
    pair_tiles tiles;
    ull *cursor; /* the next pair of groups; and the distances computed */
} pair_boxes;

static inline lsp_status make_boxes(lsp_ctx *ctx, lsp_pair_job *job, const pair_clouds *loaded, int side, ull *cursor,
                                    pair_boxes *boxes) {
    pair_groups a, b;
    LSP_TRY(lsp_pair_groups_cuda(ctx, job, &loaded->a, side, &a));
    b = a;
    LSP_TRY(job->self ? LSP_OK : lsp_pair_groups_cuda(ctx, job, &loaded->b, side, &b));
    *boxes = {job->metric, lsp_box_bounds_of(job), *loaded, a.boxes, b.boxes, {}, cursor};
    boxes->clouds.a = a.cloud, boxes->clouds.b = b.cloud;
    boxes->tiles = tiles_of(&boxes->clouds, side);
    job->info.cells = b.count;
    return LSP_OK;
}

/* Blocks for a walk, at most `most`: each has a warp with pairs of groups to take. */
static inline int64_t boxes_blocks(const pair_boxes *boxes, int64_t most) {
    return lsp_max(lsp_min(most, (int64_t)((boxes->tiles.total + WARP - 1) / WARP)), 1);
}

/* Walks over pairs of groups of R * WARP points, 32 at a time for each warp, until it has met `most` pairs of points.
 * visit.settle(pairs, low, high), called by all lanes, tells whether the bounds tell all about `pairs` pairs (0: none)
 * and counts them. Returns false when there is no more. */
template <typename S, int R, typename VISIT>
__device__ __forceinline__ bool visit_boxes(const pair_boxes &w, typename S::place (*shared)[R * WARP], int64_t most,
                                            VISIT &visit) {
    const int lane = (int)threadIdx.x % WARP;
    int64_t met = 0;
    ull first = 0;
    while (met < most) {
        first = __shfl_sync(~0u, lane == 0 ? atomicAdd(w.cursor, (ull)WARP) : (ull)0, 0);
        if (first >= w.tiles.total) {
            break;
        }
        int64_t I = 0, J = 0, pairs = 0;
        double low = 0, high = 0;
        if (first + lane < w.tiles.total) {
            find_tile(w.tiles, w.clouds.self, first + lane, &I, &J);
            const int64_t rows = min(w.clouds.a.n - I * R * WARP, (int64_t)R * WARP);
            const int64_t cols = min(w.clouds.b.n - J * R * WARP, (int64_t)R * WARP);
            pairs = w.clouds.self && I == J ? rows * (rows - 1) / 2 : rows * cols;
            low = max(least_apart<S>(w.bounds, w.a[I].middle, w.a[I].half, w.b[J]), 0.0);
            high = most_apart<S>(w.bounds, w.a[I], w.b[J]);
        }
        const bool look = !visit.settle((ull)pairs, low, high) && pairs > 0;
        for (unsigned votes = __ballot_sync(~0u, look); votes != 0; votes &= votes - 1) {
            const int from = __ffs((int)votes) - 1;
            visit_tile<S, R, PAIRS_WARP, R * WARP>(w.metric, w.clouds, __shfl_sync(~0u, I, from),
                                                   __shfl_sync(~0u, J, from), shared, visit);
        }
        met += warp_sum(look ? pairs : 0);
    }
    if (lane == 0 && met > 0) {
        atomicAdd(w.cursor + 1, (ull)met);
    }
    return first < w.tiles.total;
}
