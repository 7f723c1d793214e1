/* Tiles of pairs on the GPU (libsparse/pairs/tiles.cuh) in the spaces of the library. */
#pragma once

#include "core/launch.cuh"
#include "gpu.h"
#include "libsparse/pairs/tiles.cuh"

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

/* The sets of a call in a space, for the tiles. */
template <typename S> struct space_sets {
    typedef typename S::number number;
    typedef typename S::place place;
    enum { DIM = S::DIM };
    const lsp_metric &metric;
    const pair_clouds &clouds;
    int64_t n_a, n_b;

    __device__ space_sets(const lsp_metric &metric_, const pair_clouds &clouds_)
        : metric(metric_), clouds(clouds_), n_a(clouds_.a.n), n_b(clouds_.b.n) {}
    __device__ const place *a_at(int d) const { return (const place *)clouds.a.place[d]; }
    __device__ const place *b_at(int d) const { return (const place *)clouds.b.place[d]; }
    __device__ __forceinline__ number value(const place *x, const place *y) const { return S::distance(&metric, x, y); }
};

/* The pairs of tiles I and J, of R points for each thread of the team. */
template <typename S, int R, pairs_team TEAM, int C, typename VISIT>
__device__ __forceinline__ void visit_tile(const lsp_metric &metric, const pair_clouds &clouds, int64_t I, int64_t J,
                                           typename S::place (*shared)[C], VISIT &visit) {
    const int64_t side = (int64_t)R * pairs_team_size<TEAM>();
    const bool diagonal = clouds.self && I == J;
    pairs_tile<R, TEAM, true, C>(space_sets<S>(metric, clouds), I * side, J * side, side, diagonal, diagonal, shared,
                                 visit);
}

/* All tiles of a call; a share has every step-th of them. */
typedef struct pair_tiles {
    ull rows, total; /* tiles of set a; of the share */
    int first, step;
} pair_tiles;

static inline pair_tiles tiles_of(const pair_clouds *clouds, int side) {
    const ull all = pairs_tiles(clouds->a.n, clouds->b.n, clouds->self, side), step = (ull)clouds->parts;
    return {(ull)lsp_ceil_div(clouds->a.n, side), (all + step - 1 - (ull)clouds->part) / step, clouds->part,
            clouds->parts};
}

/* The p-th tile of the share. */
__device__ inline void find_tile(const pair_tiles &tiles, bool self, ull p, int64_t *row, int64_t *col) {
    pairs_find_tile(tiles.rows, self, (ull)tiles.first + p * (ull)tiles.step, row, col);
}

static inline int pair_threads(lsp_ctx *ctx, const pair_clouds *clouds, int R, int most) {
    return pairs_threads(clouds->a.n, clouds->b.n, clouds->self, R, CHUNK, most, lsp_cuda_get_chip(ctx)->sms);
}

/* Sorts the rows of C, each of `length` entries or, with 0, of at most `longest`. */
static inline lsp_status pair_sort_rows(lsp_ctx *ctx, const lsp_csr *C, int64_t length, int64_t longest) {
    lsp_segsort_args sort = {};
    sort.n = C->nnz, sort.segments = C->rows, sort.where = LSP_CUDA, sort.length = length;
    sort.offsets = length > 0 ? NULL : C->rowptr, sort.offset_type = C->rowptr_type, sort.max_length = longest;
    sort.key_type = LSP_I32, sort.keys = C->col, sort.keys_out = C->col;
    sort.end_bit = (int)lsp_max(lsp_bits((uint64_t)C->cols - 1), 1);
    sort.value_bytes = lsp_type_bytes(C->val_type), sort.values = C->val, sort.values_out = C->val;
    return C->nnz > 0 ? lsp_segsort(ctx, &sort, NULL) : LSP_OK;
}
