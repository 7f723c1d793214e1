/* Pairs of near cells on the GPU. Points lie in the order of cells. A warp takes G neighbouring points of set a; its
 * lanes take the candidates of set b, whose cells are runs along the first dimension. */
#ifndef LSP_TWO_BODY_GPU_NEAR_CUH
#define LSP_TWO_BODY_GPU_NEAR_CUH

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

/* 32 candidates from `at` on against the points of the warp. MASKED: those of the points with a bit in `points`, and of
 * the candidates before `end` and, for half, behind the point. */
template <typename S, int G, bool MASKED, typename VISIT>
__device__ __forceinline__ void visit_lanes(const pair_walk &w, const typename S::place (*x)[S::DIM], int point,
                                            unsigned points, int at, int end, VISIT &visit) {
    const int j = at + (int)threadIdx.x % WARP;
    typename S::place y[S::DIM];
    typename S::number d2[G];
    bool in[G];
    if (MASKED) {
        points = j >= end ? 0 : w.half && j - point < G ? points & ((1u << max(j - point, 0)) - 1) : points;
    }
#pragma unroll
    for (int d = 0; d < S::DIM; d++) {
        y[d] = !MASKED || j < end ? ((const typename S::place *)w.clouds.b.place[d])[j] : 0;
    }
#pragma unroll
    for (int g = 0; g < G; g++) {
        d2[g] = S::distance(&w.metric, x[g], y);
        in[g] = !MASKED || (points >> g & 1);
    }
    visit.template near<G, MASKED>(d2, in, j);
}

/* Candidates begin .. end-1 against the points from..to-1 of the warp. Returns the distances computed. */
template <typename S, int G, typename VISIT>
__device__ __forceinline__ int64_t visit_run(const pair_walk &w, const typename S::place (*x)[S::DIM], int point,
                                             int from, int to, int begin, int end, VISIT &visit) {
    const unsigned points = (1u << to) - (1u << from);
    int at = w.half ? max(begin, point + from + 1) : begin;
    const int64_t tested = (int64_t)max(end - at, 0) * (to - from);
    for (; at < end && (to - from < G || end - at < WARP || (w.half && at < point + G)); at += WARP) {
        visit_lanes<S, G, true>(w, x, point, points, at, end, visit);
    }
    for (; end - at >= WARP; at += WARP) {
        visit_lanes<S, G, false>(w, x, point, points, at, end, visit);
    }
    if (at < end) {
        visit_lanes<S, G, true>(w, x, point, points, at, end, visit);
    }
    return tested;
}

/* The candidates of the points from..to-1 of the warp, whose cells lie in one line of the grid. Returns the distances
 * computed. */
template <typename S, int G, typename VISIT>
__device__ __forceinline__ int64_t visit_line(const pair_walk &w, const typename S::place (*x)[S::DIM], int point,
                                              int from, int to, VISIT &visit) {
    const bool periodic = w.metric.kind != LSP_SPACE_OPEN;
    const int cells = (int)w.grid.cells[0], reach = (int)w.grid.reach[0], rows = (int)w.grid.cells[1];
    const int line = (int)(w.clouds.a.cell[point + from] / (unsigned)cells);
    int first = (int)w.clouds.a.cell[point + from] - line * cells - reach;
    int last = (int)w.clouds.a.cell[point + to - 1] - line * cells + reach;
    int64_t tested = 0;
    if (last - first + 1 >= cells) { /* the whole line, and no cell of it twice */
        first = 0, last = cells - 1;
    }
    for (int64_t sz = -w.grid.reach[2]; sz <= w.grid.reach[2]; sz++) {
        const int z = (int)lsp_cell_beside(&w.grid, 2, periodic, line / rows, sz);
        for (int64_t sy = -w.grid.reach[1]; sy <= w.grid.reach[1]; sy++) {
            const int y = (int)lsp_cell_beside(&w.grid, 1, periodic, line % rows, sy);
            const int32_t *start = w.clouds.b.start + ((int64_t)z * rows + y) * cells;
            if (z < 0 || y < 0) {
                continue;
            }
            const int low = start[max(first, 0)], high = start[min(last, cells - 1) + 1];
            tested += visit_run<S, G>(w, x, point, from, to, low, high, visit);
            if (periodic && first < 0) {
                tested += visit_run<S, G>(w, x, point, from, to, start[first + cells], start[cells], visit);
            }
            if (periodic && last >= cells) {
                tested += visit_run<S, G>(w, x, point, from, to, start[0], start[last - cells + 1], visit);
            }
        }
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

/* Walks over all points, G for a warp at a time. */
template <typename S, int G, typename VISIT>
__device__ __forceinline__ void visit_all_near(const pair_walk &w, VISIT &visit, u64 *tested) {
    int64_t sum = 0;
    const int64_t warp = (int64_t)blockIdx.x * NEAR_WARPS + threadIdx.x / WARP;
    for (int64_t point = warp * G; point < w.clouds.a.n; point += (int64_t)gridDim.x * NEAR_WARPS * G) {
        visit.begin_points((int)point);
        sum += visit_near<S, G>(w, (int)point, visit);
        visit.end_points();
    }
    if (threadIdx.x % WARP == 0 && sum > 0 && tested != NULL) {
        atomicAdd(tested, (u64)sum);
    }
}

#endif
