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

/* Candidates begin .. end-1 against the points from..to-1 of the warp. visit.near(d2, in, j): lane's candidate j. */
template <typename S, int G, typename VISIT>
__device__ __forceinline__ int64_t visit_run(const pair_walk &w, const typename S::place (*x)[S::DIM], int64_t point,
                                             int from, int to, int64_t begin, int64_t end, VISIT &visit) {
    begin = w.half ? max(begin, point + from + 1) : begin;
    for (int64_t at = begin; at < end; at += WARP) {
        const int64_t j = at + threadIdx.x % WARP;
        typename S::place y[S::DIM];
        typename S::number d2[G];
        bool in[G];
#pragma unroll
        for (int d = 0; d < S::DIM; d++) {
            y[d] = j < end ? ((const typename S::place *)w.clouds.b.place[d])[j] : 0;
        }
#pragma unroll
        for (int g = 0; g < G; g++) {
            d2[g] = S::distance(&w.metric, x[g], y);
            in[g] = j < end && g >= from && g < to && (!w.half || j > point + g);
        }
        visit.template near<G>(d2, in, j);
    }
    return max(end - begin, (int64_t)0) * (to - from);
}

/* The candidates of the points from..to-1 of the warp, whose cells lie in one line of the grid. Returns the distances
 * computed. */
template <typename S, int G, typename VISIT>
__device__ __forceinline__ int64_t visit_line(const pair_walk &w, const typename S::place (*x)[S::DIM], int64_t point,
                                              int from, int to, VISIT &visit) {
    const bool periodic = w.metric.kind != LSP_SPACE_OPEN;
    const int64_t *cells = w.grid.cells, *reach = w.grid.reach;
    const int64_t line = w.clouds.a.cell[point + from] / cells[0];
    int64_t first = w.clouds.a.cell[point + from] - line * cells[0] - reach[0], tested = 0;
    int64_t last = w.clouds.a.cell[point + to - 1] - line * cells[0] + reach[0];
    if (last - first + 1 >= cells[0]) { /* the whole line, and no cell of it twice */
        first = 0, last = cells[0] - 1;
    }
    for (int64_t sz = -reach[2]; sz <= reach[2]; sz++) {
        for (int64_t sy = -reach[1]; sy <= reach[1]; sy++) {
            const int64_t z = lsp_cell_beside(&w.grid, 2, periodic, line / cells[1], sz);
            const int64_t y = lsp_cell_beside(&w.grid, 1, periodic, line % cells[1], sy);
            const int32_t *start = w.clouds.b.start + (z * cells[1] + y) * cells[0];
            if (z < 0 || y < 0) {
                continue;
            }
            tested += visit_run<S, G>(w, x, point, from, to, start[max(first, (int64_t)0)],
                                      start[min(last, cells[0] - 1) + 1], visit);
            if (periodic && first < 0) {
                tested += visit_run<S, G>(w, x, point, from, to, start[first + cells[0]], start[cells[0]], visit);
            }
            if (periodic && last >= cells[0]) {
                tested += visit_run<S, G>(w, x, point, from, to, start[0], start[last - cells[0] + 1], visit);
            }
        }
    }
    return tested;
}

/* All candidates of the points from `point` on, G of them or the last of the set. */
template <typename S, int G, typename VISIT>
__device__ __forceinline__ int64_t visit_near(const pair_walk &w, int64_t point, VISIT &visit) {
    typedef typename S::place place;
    const int points = (int)min(w.clouds.a.n - point, (int64_t)G);
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
        const int64_t line = w.clouds.a.cell[point + from] / w.grid.cells[0];
        for (to = from + 1; to < points && w.clouds.a.cell[point + to] / w.grid.cells[0] == line; to++) {
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
        visit.begin_points(point);
        sum += visit_near<S, G>(w, point, visit);
        visit.end_points(point);
    }
    if (threadIdx.x % WARP == 0 && sum > 0 && tested != NULL) {
        atomicAdd(tested, (u64)sum);
    }
}

#endif
