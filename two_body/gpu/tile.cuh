/* Tiles of pairs on the GPU. A thread keeps R points of tile I in registers, while tile J passes by in shared memory,
 * a chunk at a time. A team of threads takes a tile: a block, or a warp. The points of tiles that are not whole, and
 * pairs of a tile with itself, are masked: so every pair of one set is met once. */
#pragma once

#include "core/launch.cuh"
#include "gpu.h"

enum { CHUNK = 256 }; /* points of tile J in shared memory */

/* A space: the type of numbers and places, and a distance of constant kind and dimensions. */
template <typename T, lsp_space_kind KIND, int DIMENSIONS> struct pair_space {
    typedef float number;
    typedef uint32_t place;
    enum { DIM = DIMENSIONS, OPEN = KIND == LSP_SPACE_OPEN };
    static __device__ __forceinline__ float distance(const lsp_metric *m, const uint32_t *x, const uint32_t *y) {
        return lsp_distance_f32(m, KIND, DIM, x, y);
    }
};
template <lsp_space_kind KIND, int DIMENSIONS> struct pair_space<double, KIND, DIMENSIONS> {
    typedef double number;
    typedef double place;
    enum { DIM = DIMENSIONS, OPEN = KIND == LSP_SPACE_OPEN };
    static __device__ __forceinline__ double distance(const lsp_metric *m, const double *x, const double *y) {
        return lsp_distance_f64(m, KIND, DIM, x, y);
    }
};

/* f(space, ...), an expression, with the space of a job. Missing dimensions are zeros, and a tilted box whose tilts are
 * 0 gives the bits of one without: few spaces are enough. */
#define LSP_SPACES_OF(T, job, f, ...)                                                                                  \
    ((job)->metric.kind == LSP_SPACE_OPEN                                                                              \
         ? (job)->metric.dimensions <= 2   ? f((pair_space<T, LSP_SPACE_OPEN, 2>), __VA_ARGS__)                        \
           : (job)->metric.dimensions == 3 ? f((pair_space<T, LSP_SPACE_OPEN, 3>), __VA_ARGS__)                        \
           : (job)->metric.dimensions == 4 ? f((pair_space<T, LSP_SPACE_OPEN, 4>), __VA_ARGS__)                        \
                                           : f((pair_space<T, LSP_SPACE_OPEN, 8>), __VA_ARGS__)                        \
     : (job)->metric.dimensions > 3         ? f((pair_space<T, LSP_SPACE_BRICK, 8>), __VA_ARGS__)                      \
     : (job)->metric.kind == LSP_SPACE_CUBE ? f((pair_space<T, LSP_SPACE_CUBE, 3>), __VA_ARGS__)                       \
     : (job)->metric.kind == LSP_SPACE_TIED ? f((pair_space<T, LSP_SPACE_TIED, 3>), __VA_ARGS__)                       \
                                            : f((pair_space<T, LSP_SPACE_TILTED, 3>), __VA_ARGS__))
#define LSP_WITH_SPACE(job, f, ...)                                                                                    \
    ((job)->type == LSP_F32 ? LSP_SPACES_OF(float, job, f, __VA_ARGS__) : LSP_SPACES_OF(double, job, f, __VA_ARGS__))
/* Takes the parentheses off a space. */
#define LSP_BARE(...) __VA_ARGS__

/* All tiles of a call. One set: those on and above the diagonal. A share has every step-th of them. */
typedef struct pair_tiles {
    int64_t rows, cols; /* tiles of set a, of set b */
    ull total;          /* of the share */
    int first, step;
} pair_tiles;

static inline pair_tiles tiles_of(const pair_clouds *clouds, int side) {
    pair_tiles t = {lsp_ceil_div(clouds->a.n, side), lsp_ceil_div(clouds->b.n, side), 0, clouds->part, clouds->parts};
    const ull all = clouds->self ? (ull)t.rows * ((ull)t.rows + 1) / 2 : (ull)t.rows * (ull)t.cols;
    t.total = (all + (ull)(t.step - 1 - t.first)) / (ull)t.step;
    return t;
}

/* The p-th tile of the share. */
__device__ inline void find_tile(const pair_tiles &tiles, bool self, ull p, int64_t *row, int64_t *col) {
    p = (ull)tiles.first + p * (ull)tiles.step;
    if (!self) {
        *col = (int64_t)(p / (ull)tiles.rows);
        *row = (int64_t)(p % (ull)tiles.rows);
        return;
    }
    ull j = (ull)((sqrt(8.0 * (double)p + 1) - 1) * 0.5); /* may be one off */
    j += (j + 1) * (j + 2) / 2 <= p;
    j -= j * (j + 1) / 2 > p;
    *col = (int64_t)j;
    *row = (int64_t)(p - j * (j + 1) / 2);
}

enum pair_team { TEAM_BLOCK, TEAM_WARP };
template <pair_team TEAM> __device__ __forceinline__ int team_size() {
    return TEAM == TEAM_WARP ? (int)WARP : (int)blockDim.x;
}
template <pair_team TEAM> __device__ __forceinline__ int team_rank() {
    return TEAM == TEAM_WARP ? (int)threadIdx.x % WARP : (int)threadIdx.x;
}
template <pair_team TEAM> __device__ __forceinline__ void team_sync() {
    if (TEAM == TEAM_WARP) {
        __syncwarp();
    } else {
        __syncthreads();
    }
}

/* Loads V candidates from shared memory, 16 bytes of each coordinate. */
template <typename S, int V, int C>
__device__ __forceinline__ void load_candidates(const typename S::place (*shared)[C], int j,
                                                typename S::place (*y)[S::DIM]) {
#pragma unroll
    for (int d = 0; d < S::DIM; d++) {
        typename S::place at[V];
        const uint4 words = *(const uint4 *)&shared[d][j];
        memcpy(at, &words, sizeof words);
#pragma unroll
        for (int v = 0; v < V; v++) {
            y[v][d] = at[v];
        }
    }
}

/* A chunk against R points: visit.take(d2, in) gets R * VISIT::GROUP distances, those of point k at q * R + k, and
 * whether they count. `row`, `rows`: the thread's first point and the points of tile I; `first`, `cols`: the chunk's
 * first point and the points of tile J. */
template <typename S, int R, pair_team TEAM, bool MASKED, int C, typename VISIT>
__device__ __forceinline__ void visit_chunk(const lsp_metric *m, const typename S::place (*x)[S::DIM],
                                            const typename S::place (*shared)[C], int row, int rows, int first,
                                            int cols, bool diagonal, VISIT &visit) {
    constexpr int V = 16 / sizeof(typename S::place), GROUP = VISIT::GROUP < V ? VISIT::GROUP : V;
#pragma unroll(MASKED ? 1 : VISIT::UNROLL)
    for (int j = 0; j < C; j += V) {
        typename S::place y[V][S::DIM];
        load_candidates<S, V, C>(shared, j, y);
#pragma unroll
        for (int v = 0; v < V; v += GROUP) {
            typename S::number d2[GROUP * R];
            bool in[GROUP * R];
#pragma unroll
            for (int q = 0; q < GROUP; q++) {
                const int col = first + j + v + q, end = col >= cols ? 0 : diagonal ? col : rows;
#pragma unroll
                for (int k = 0; k < R; k++) {
                    d2[q * R + k] = S::distance(m, x[k], y[v + q]);
                    in[q * R + k] = !MASKED || row + k * team_size<TEAM>() < end;
                }
            }
            visit.template take<GROUP * R, MASKED>(d2, in);
        }
    }
}

template <typename S, int R, pair_team TEAM, int C, typename VISIT>
__device__ __forceinline__ void visit_tile(const lsp_metric *m, const pair_clouds &clouds, int64_t I, int64_t J,
                                           typename S::place (*shared)[C], VISIT &visit) {
    typedef typename S::place place;
    const int threads = team_size<TEAM>(), side = R * threads, t = team_rank<TEAM>();
    const int64_t i = I * side, j = J * side;
    const int rows = (int)min(clouds.a.n - i, (int64_t)side), cols = (int)min(clouds.b.n - j, (int64_t)side);
    const bool diagonal = clouds.self && I == J, whole = !diagonal && rows == side && cols == side;
    place x[R][S::DIM];
#pragma unroll
    for (int k = 0; k < R; k++) {
        const int row = t + k * threads;
#pragma unroll
        for (int d = 0; d < S::DIM; d++) {
            x[k][d] = row < rows ? ((const place *)clouds.a.place[d])[i + row] : 0;
        }
    }
    for (int first = 0; first < cols; first += C) {
        team_sync<TEAM>();
        for (int c = t; c < C; c += threads) {
#pragma unroll
            for (int d = 0; d < S::DIM; d++) {
                shared[d][c] = first + c < cols ? ((const place *)clouds.b.place[d])[j + first + c] : 0;
            }
        }
        team_sync<TEAM>();
        if (whole) {
            visit_chunk<S, R, TEAM, false, C>(m, x, shared, t, rows, first, cols, diagonal, visit);
        } else {
            visit_chunk<S, R, TEAM, true, C>(m, x, shared, t, rows, first, cols, diagonal, visit);
        }
        visit.end_chunk((int64_t)R * C);
    }
}

/* Threads of a block for tiles of R points a thread: fewer if there are few points, so that all multiprocessors work.
 * A tile is no smaller than a chunk. */
static inline int pair_threads(lsp_ctx *ctx, const pair_clouds *clouds, int R, int most) {
    pair_clouds all = *clouds; /* the shares of a call have tiles of one size */
    int nt = most;
    all.part = 0, all.parts = 1;
    while (nt / 2 >= lsp_max(CHUNK / R, WARP) && tiles_of(&all, nt * R).total < 8 * (ull)lsp_cuda_get_chip(ctx)->sms) {
        nt /= 2;
    }
    return nt;
}
