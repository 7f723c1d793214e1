/* Pairs of near cells on the GPU. Points lie in the order of cells. A warp takes G neighbouring points of set a; its
 * lanes take the candidates of set b, whose cells are runs along the first dimension. */
#pragma once

#include "tile.cuh"

enum { NEAR_NT = 256, NEAR_WARPS = NEAR_NT / WARP };

/* The arguments of a walk. half: of one set each pair once, in the order of cells. */
typedef struct pair_walk {
    lsp_metric metric;
    lsp_pair_grid grid;
    pair_clouds clouds;
    bool half;
} pair_walk;

/* Points of a warp. */
template <typename S> struct near_points {
    static constexpr int count = S::DIM * sizeof(typename S::place) <= 16 ? 8 : S::DIM <= 4 ? 4 : 2;
};

/* Each lane's candidate j against the points of the warp. MASKED: if it is `valid`, and only those of the points with a
 * bit in `points` and, for half, before the candidate. */
template <typename S, int G, bool MASKED, typename VISIT>
__device__ __forceinline__ void visit_lanes(const pair_walk &w, const typename S::place (*x)[S::DIM], int point,
                                            unsigned points, int j, bool valid, VISIT &visit) {
    typename S::place y[S::DIM];
    typename S::number d2[G];
    bool in[G];
    if (MASKED) {
        points = !valid ? 0 : w.half && j - point < G ? points & ((1u << max(j - point, 0)) - 1) : points;
    }
#pragma unroll
    for (int d = 0; d < S::DIM; d++) {
        y[d] = !MASKED || valid ? ((const typename S::place *)w.clouds.b.place[d])[j] : 0;
    }
#pragma unroll
    for (int g = 0; g < G; g++) {
        d2[g] = S::distance(&w.metric, x[g], y);
        in[g] = !MASKED || (points >> g & 1);
    }
    visit.template take<G, MASKED>(d2, in, j);
}

/* Candidates at .. end-1. */
template <typename S, int G, typename VISIT>
__device__ __forceinline__ void visit_run(const pair_walk &w, const typename S::place (*x)[S::DIM], int point, int from,
                                          int to, int at, int end, VISIT &visit) {
    const unsigned points = (1u << to) - (1u << from);
    const int lane = (int)threadIdx.x % WARP;
    for (; at < end && (to - from < G || end - at < WARP || (w.half && at < point + G)); at += WARP) {
        visit_lanes<S, G, true>(w, x, point, points, at + lane, at + lane < end, visit);
    }
    for (; end - at >= WARP; at += WARP) {
        visit_lanes<S, G, false>(w, x, point, points, at + lane, true, visit);
    }
    if (at < end) {
        visit_lanes<S, G, true>(w, x, point, points, at + lane, at + lane < end, visit);
    }
}

/* Short runs of candidates, one in each lane, from `low` on: packed, so that lanes are full. ends: the sum of the
 * lengths up to this lane's run; total: of all. */
template <typename S, int G, typename VISIT>
__device__ __forceinline__ void visit_packed(const pair_walk &w, const typename S::place (*x)[S::DIM], int point,
                                             unsigned points, int low, int length, int ends, int total, VISIT &visit) {
    const int shift = low - (ends - length);
    for (int c = (int)threadIdx.x % WARP; c - (int)threadIdx.x % WARP < total; c += WARP) {
        int run = 0; /* the first whose candidates end behind c */
#pragma unroll
        for (int step = WARP / 2; step > 0; step /= 2) {
            run += __shfl_sync(~0u, ends, run + step - 1) <= c ? step : 0;
        }
        visit_lanes<S, G, true>(w, x, point, points, c + __shfl_sync(~0u, shift, run), c < total, visit);
    }
}

enum { SHORT_RUN = 48 }; /* candidates of a run on average, up to which runs are packed */

/* The candidates of the points from..to-1 of the warp, whose cells lie in one line of the grid: cells first .. last of
 * the lines in reach, at most one line a lane. Returns the distances computed. */
template <typename S, int G, typename VISIT>
__device__ __forceinline__ int64_t visit_lines(const pair_walk &w, const typename S::place (*x)[S::DIM], int point,
                                               int from, int to, int line, int first, int last, VISIT &visit) {
    const bool periodic = w.metric.kind != LSP_SPACE_OPEN;
    const int rows = (int)w.grid.cells[1], lane = (int)threadIdx.x % WARP;
    const int across = 2 * (int)w.grid.reach[1] + 1, runs = across * (2 * (int)w.grid.reach[2] + 1);
    int low = 0, length = 0;
    if (lane < runs) {
        const int64_t z = lsp_cell_beside(&w.grid, 2, periodic, line / rows, lane / across - w.grid.reach[2]);
        const int64_t y = lsp_cell_beside(&w.grid, 1, periodic, line % rows, lane % across - w.grid.reach[1]);
        if (z >= 0 && y >= 0) {
            const int32_t *start = w.clouds.b.start + (z * rows + y) * w.grid.cells[0];
            low = w.half ? max(start[first], point + from + 1) : start[first];
            length = max(start[last + 1] - low, 0);
        }
    }
    const int ends = warp_scan(length, lane), total = __shfl_sync(~0u, ends, WARP - 1);
    if (total <= runs * SHORT_RUN) {
        visit_packed<S, G>(w, x, point, (1u << to) - (1u << from), low, length, ends, total, visit);
    } else {
        for (int run = 0; run < runs; run++) {
            const int at = __shfl_sync(~0u, low, run), end = at + __shfl_sync(~0u, length, run);
            visit_run<S, G>(w, x, point, from, to, at, end, visit);
        }
    }
    return (int64_t)total * (to - from);
}

/* The same for all cells in reach: in a periodic box lines are closed. */
template <typename S, int G, typename VISIT>
__device__ __forceinline__ int64_t visit_line(const pair_walk &w, const typename S::place (*x)[S::DIM], int point,
                                              int from, int to, VISIT &visit) {
    const int cells = (int)w.grid.cells[0], reach = (int)w.grid.reach[0];
    const int line = (int)(w.clouds.a.cell[point + from] / (unsigned)cells);
    int first = (int)w.clouds.a.cell[point + from] - line * cells - reach;
    int last = (int)w.clouds.a.cell[point + to - 1] - line * cells + reach;
    int64_t tested = 0;
    if (last - first + 1 >= cells) { /* the whole line, and no cell of it twice */
        first = 0, last = cells - 1;
    }
    const bool below = w.metric.kind != LSP_SPACE_OPEN && first < 0;
    const bool beyond = w.metric.kind != LSP_SPACE_OPEN && last >= cells;
    for (int part = below ? 0 : 1; part < (beyond ? 3 : 2); part++) {
        const int low = part == 0 ? first + cells : part == 1 ? max(first, 0) : 0;
        const int high = part == 0 ? cells - 1 : part == 1 ? min(last, cells - 1) : last - cells;
        tested += visit_lines<S, G>(w, x, point, from, to, line, low, high, visit);
    }
    return tested;
}

/* All candidates of the points from `point` on, G of them or the last of the set. */
template <typename S, int G, typename VISIT>
__device__ __forceinline__ int64_t visit_near(const pair_walk &w, int point, VISIT &visit) {
    typedef typename S::place place;
    const int points = min((int)w.clouds.a.n - point, G);
    place x[G][S::DIM];
    int64_t tested = 0;
#pragma unroll
    for (int g = 0; g < G; g++) {
#pragma unroll
        for (int d = 0; d < S::DIM; d++) {
            x[g][d] = g < points ? ((const place *)w.clouds.a.place[d])[point + g] : 0;
        }
    }
    for (int from = 0, to; from < points; from = to) {
        const unsigned cells = (unsigned)w.grid.cells[0], line = w.clouds.a.cell[point + from] / cells;
        for (to = from + 1; to < points && w.clouds.a.cell[point + to] / cells == line; to++) {
        }
        tested += visit_line<S, G>(w, x, point, from, to, visit);
    }
    return tested;
}

/* The first point of a warp's group: the groups of a share are dealt out one by one. */
template <int G> __device__ __forceinline__ int64_t group_of(const pair_walk &w, int64_t warp) {
    return (warp * w.clouds.parts + w.clouds.part) * G;
}
/* Blocks with a warp for each group of the share. */
static inline int64_t near_blocks(const pair_walk *w, int G) {
    return lsp_ceil_div(w->clouds.a.n, (int64_t)G * NEAR_WARPS * w->clouds.parts);
}

/* Walks over all points, G for a warp at a time. */
template <typename S, int G, typename VISIT>
__device__ __forceinline__ void visit_all_near(const pair_walk &w, VISIT &visit, ull *tested) {
    int64_t sum = 0;
    const int64_t warp = (int64_t)blockIdx.x * NEAR_WARPS + threadIdx.x / WARP;
    const int64_t step = group_of<G>(w, (int64_t)gridDim.x * NEAR_WARPS) - group_of<G>(w, 0);
    for (int64_t point = group_of<G>(w, warp); point < w.clouds.a.n; point += step) {
        visit.begin_points((int)point);
        sum += visit_near<S, G>(w, (int)point, visit);
        visit.end_points();
    }
    if (threadIdx.x % WARP == 0 && sum > 0 && tested != NULL) {
        atomicAdd(tested, (ull)sum);
    }
}
