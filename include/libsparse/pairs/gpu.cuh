/* The GPU's part of what `two-body generate` writes: pairs_value(x, y, p) is defined above. A thread keeps PAIRS_ROWS
 * points in registers (tiles.cuh). All work is on the default stream, between two waits for the context. */
#include <cuda_runtime.h>

#include "tiles.cuh"

enum { PAIRS_CHUNK = 256 };

struct pairs_sets {
    typedef PAIRS_NUMBER number;
    typedef PAIRS_PLACE place;
    enum { DIM = PAIRS_DIMENSIONS };
    const PAIRS_PLACE *a[PAIRS_DIMENSIONS], *b[PAIRS_DIMENSIONS];
    int64_t n_a, n_b;
    bool self;
    PAIRS_NUMBER p[PAIRS_PARAMETERS + 1];

    __device__ const PAIRS_PLACE *a_at(int d) const { return a[d]; }
    __device__ const PAIRS_PLACE *b_at(int d) const { return b[d]; }
    __device__ PAIRS_NUMBER value(const PAIRS_PLACE *x, const PAIRS_PLACE *y) const { return pairs_value(x, y, p); }
};

/* The points of tile i from number i on, against side_j points from j on. */
template <bool ONCE, typename VISIT>
static __device__ __forceinline__ void pairs_visit(const pairs_sets &s, int64_t i, int64_t j, int64_t side_j,
                                                   bool above, bool skip, VISIT &visit) {
    __shared__ __align__(16) PAIRS_PLACE shared[PAIRS_DIMENSIONS][PAIRS_CHUNK];
    pairs_tile<PAIRS_ROWS, PAIRS_BLOCK, ONCE, PAIRS_CHUNK>(s, i, j, side_j, above, skip, shared, visit);
}

/* All pairs of tile p of a call. */
template <typename VISIT>
static __device__ __forceinline__ void pairs_visit_square(const pairs_sets &s, pairs_u64 p, VISIT &visit) {
    const int64_t side = (int64_t)PAIRS_ROWS * blockDim.x;
    int64_t i, j;
    pairs_find_tile((pairs_u64)((s.n_a + side - 1) / side), s.self, p, &i, &j);
    pairs_visit<true>(s, i * side, j * side, side, s.self && i == j, s.self && i == j, visit);
}

static pairs_sets pairs_sets_of(const pairs_job *job) {
    pairs_sets s;
    memcpy(s.a, job->a, sizeof s.a);
    memcpy(s.b, job->b, sizeof s.b);
    memcpy(s.p, job->p, sizeof s.p);
    s.n_a = job->n_a, s.n_b = job->n_b, s.self = job->self;
    return s;
}

/* Tiles of `side` points of a and of b. */
static pairs_u64 pairs_tiles_of(const pairs_job *job, int64_t side) {
    return pairs_tiles(job->n_a, job->n_b, job->self, side);
}

static unsigned pairs_grid(pairs_u64 blocks) { return blocks < INT32_MAX ? (unsigned)blocks : INT32_MAX; }

/* ---- the points ---- */

static __global__ void pairs_copy_kernel(const PAIRS_PLACE *from, int64_t stride, int64_t n, PAIRS_PLACE *to) {
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
        to[i] = from[i * stride];
    }
}

static lsp_status pairs_load_set(lsp_ctx *ctx, const lsp_points *s, lsp_array *memory, const PAIRS_PLACE **at) {
    const size_t bytes = (size_t)(s->n * PAIRS_DIMENSIONS) * sizeof(PAIRS_PLACE);
    if (s->where == LSP_CUDA && s->stride <= 1) {
        memcpy(at, s->at, PAIRS_DIMENSIONS * sizeof *at);
        return LSP_OK;
    }
    PAIRS_PASS(lsp_array_create(ctx, bytes + 64, LSP_CUDA, memory));
    PAIRS_PLACE *to = (PAIRS_PLACE *)memory->memory;
    if (s->where == LSP_CUDA) {
        for (int k = 0; k < PAIRS_DIMENSIONS && s->n > 0; k++) {
            pairs_copy_kernel<<<256, 256>>>((const PAIRS_PLACE *)s->at[k], s->stride, s->n, to + k * s->n);
        }
    } else {
        lsp_array packed PAIRS_AT_END(lsp_array_free);
        memset(&packed, 0, sizeof packed);
        PAIRS_PASS(lsp_array_create(ctx, bytes + 64, LSP_HOST, &packed));
        pairs_pack(s, (PAIRS_PLACE *)packed.memory);
        PAIRS_PASS(lsp_array_copy(ctx, to, LSP_CUDA, packed.memory, LSP_HOST, bytes));
    }
    for (int k = 0; k < PAIRS_DIMENSIONS; k++) {
        at[k] = to + k * s->n;
    }
    return LSP_OK;
}

#define PAIRS_CUDA(call)                                                                                               \
    do {                                                                                                               \
        const cudaError_t pairs_error = (call);                                                                        \
        PAIRS_REQUIRE(pairs_error == cudaSuccess, LSP_ERR_DEVICE, "CUDA: %s", cudaGetErrorString(pairs_error));        \
    } while (0)

#define PAIRS_WHERE LSP_CUDA
static lsp_status pairs_enter(lsp_ctx *ctx, pairs_job *job, lsp_pair_info *info) {
    PAIRS_TRY(lsp_ctx_sync(ctx)); /* points that are still on their way to the GPU */
    PAIRS_CUDA(cudaGetDevice(&job->before));
    PAIRS_CUDA(cudaSetDevice(job->ordinal));
    return LSP_OK;
}
static void pairs_leave(const pairs_job *job) {
    if (job->before >= 0) {
        cudaSetDevice(job->before);
    }
}

#if defined(PAIRS_COUNT)
#include "gpu_count.cuh"
#elif defined(PAIRS_HISTOGRAM)
#include "gpu_histogram.cuh"
#elif defined(PAIRS_JOIN)
#include "gpu_join.cuh"
#else
#include "gpu_sum.cuh"
#endif
