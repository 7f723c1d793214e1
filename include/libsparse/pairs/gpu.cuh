/* The GPU's part of what `two-body generate` writes: pairs_value(x, y, p) is defined above. A thread keeps PAIRS_ROWS
 * points in registers, while chunks of the other set pass by in shared memory. A visitor gets the values. All work is
 * on the default stream, between two waits for the context. */
#include <cuda_runtime.h>

typedef unsigned long long pairs_u64;

enum { PAIRS_CHUNK = 256, PAIRS_V = 16 / sizeof(PAIRS_PLACE) };

struct pairs_sets {
    const PAIRS_PLACE *a[PAIRS_DIMENSIONS], *b[PAIRS_DIMENSIONS];
    int64_t n_a, n_b;
    bool self;
    PAIRS_NUMBER p[PAIRS_PARAMETERS + 1];
};

static pairs_sets pairs_sets_of(const pairs_job *job) {
    pairs_sets s;
    memcpy(s.a, job->a, sizeof s.a);
    memcpy(s.b, job->b, sizeof s.b);
    memcpy(s.p, job->p, sizeof s.p);
    s.n_a = job->n_a, s.n_b = job->n_b, s.self = job->self;
    return s;
}

/* ---- a chunk of candidates against the points of a thread ---- */

/* visit.take<N, MASKED>(values, in) gets the values of GROUP candidates and R points, that of point k at q * R + k, and
 * whether they count. row: the thread's first point; `before`: points from there on do not count; `skip`: nor does a
 * point with itself. */
template <int R, bool MASKED, typename VISIT>
static __device__ __forceinline__ void pairs_chunk(const pairs_sets &s, const PAIRS_PLACE (*x)[PAIRS_DIMENSIONS],
                                                   const PAIRS_PLACE (*shared)[PAIRS_CHUNK], int row, int rows,
                                                   int first, int cols, bool above, bool skip, VISIT &visit) {
    constexpr int GROUP = VISIT::GROUP < PAIRS_V ? VISIT::GROUP : PAIRS_V;
#pragma unroll(MASKED ? 1 : VISIT::UNROLL)
    for (int j = 0; j < PAIRS_CHUNK; j += PAIRS_V) {
        PAIRS_PLACE at[PAIRS_DIMENSIONS][PAIRS_V];
#pragma unroll
        for (int d = 0; d < PAIRS_DIMENSIONS; d++) {
            const uint4 words = *(const uint4 *)&shared[d][j];
            memcpy(at[d], &words, sizeof words);
        }
#pragma unroll
        for (int v = 0; v < PAIRS_V; v += GROUP) {
            PAIRS_NUMBER value[GROUP * R];
            bool in[GROUP * R];
#pragma unroll
            for (int q = 0; q < GROUP; q++) {
                const int col = first + j + v + q, last = above ? min(col + !skip, rows) : rows;
                const int end = col < cols ? last : 0;
                PAIRS_PLACE y[PAIRS_DIMENSIONS];
#pragma unroll
                for (int d = 0; d < PAIRS_DIMENSIONS; d++) {
                    y[d] = at[d][v + q];
                }
#pragma unroll
                for (int k = 0; k < R; k++) {
                    const int i = row + k * (int)blockDim.x;
                    value[q * R + k] = pairs_value(x[k], y, s.p);
                    in[q * R + k] = !MASKED || (i < end && (!skip || i != col));
                }
            }
            visit.template take<GROUP * R, MASKED>(value, in, first + j + v);
        }
    }
}

/* The points from i on of a, as many as the block has, and side_j points from j on of b. above: of one set only pairs
 * with i < j, or i = j; skip: no point with itself. */
template <int R, typename VISIT>
static __device__ __forceinline__ void pairs_tile(const pairs_sets &s, int64_t i, int64_t j, int64_t side_j, bool above,
                                                  bool skip, VISIT &visit) {
    __shared__ __align__(16) PAIRS_PLACE shared[PAIRS_DIMENSIONS][PAIRS_CHUNK];
    const int side = R * (int)blockDim.x, t = (int)threadIdx.x;
    const int rows = (int)min(s.n_a - i, (int64_t)side), cols = (int)min(s.n_b - j, side_j);
    PAIRS_PLACE x[R][PAIRS_DIMENSIONS];
#pragma unroll
    for (int k = 0; k < R; k++) {
        const int row = t + k * (int)blockDim.x;
#pragma unroll
        for (int d = 0; d < PAIRS_DIMENSIONS; d++) {
            x[k][d] = row < rows ? s.a[d][i + row] : 0;
        }
    }
    for (int first = 0; first < cols; first += PAIRS_CHUNK) {
        if (above && j + first + PAIRS_CHUNK <= i) {
            continue;
        }
        __syncthreads();
        for (int c = t; c < PAIRS_CHUNK; c += (int)blockDim.x) {
#pragma unroll
            for (int d = 0; d < PAIRS_DIMENSIONS; d++) {
                shared[d][c] = first + c < cols ? s.b[d][j + first + c] : 0;
            }
        }
        __syncthreads();
        /* rows of the tile counted from the start of J, where both are the same set */
        const int64_t begin = j + first;
        const bool meet = (above || skip) && begin < i + side && begin + PAIRS_CHUNK > i;
        if (!meet && rows == side && first + PAIRS_CHUNK <= cols) {
            pairs_chunk<R, false>(s, x, shared, t, rows, first, cols, false, false, visit);
        } else {
            const int shift = (int)(meet ? i - j : 0);
            pairs_chunk<R, true>(s, x, shared, t + shift, rows + shift, first, cols, above && meet, skip && meet,
                                 visit);
        }
        visit.end_chunk(R * PAIRS_CHUNK);
    }
}

/* Tile pairs of a call, those on and above the diagonal of one set. */
static __device__ __forceinline__ void pairs_find_tile(const pairs_sets &s, int64_t side, pairs_u64 p, int64_t *i,
                                                       int64_t *j) {
    const pairs_u64 rows = (pairs_u64)((s.n_a + side - 1) / side);
    pairs_u64 row, col;
    if (!s.self) {
        row = p % rows, col = p / rows;
    } else {
        col = (pairs_u64)((sqrt(8.0 * (double)p + 1) - 1) * 0.5); /* may be one off */
        col += (col + 1) * (col + 2) / 2 <= p;
        col -= col * (col + 1) / 2 > p;
        row = p - col * (col + 1) / 2;
    }
    *i = (int64_t)row * side, *j = (int64_t)col * side;
}

static pairs_u64 pairs_tiles(const pairs_job *job, int64_t side) {
    const pairs_u64 rows = (pairs_u64)((job->n_a + side - 1) / side), cols = (pairs_u64)((job->n_b + side - 1) / side);
    return job->self ? rows * (rows + 1) / 2 : rows * cols;
}

/* Threads of a block: fewer if there are few points, so that all multiprocessors work. */
static int pairs_threads(const pairs_job *job, int rows, int most) {
    int nt = most, sms = 1;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, job->ordinal);
    while (nt / 2 >= 32 && nt / 2 * rows >= PAIRS_CHUNK && pairs_tiles(job, (int64_t)nt * rows) < 8 * (pairs_u64)sms) {
        nt /= 2;
    }
    return nt;
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
    lsp_status status = lsp_array_create(ctx, bytes + 64, LSP_CUDA, memory);
    if (status != LSP_OK) {
        return status;
    }
    PAIRS_PLACE *to = (PAIRS_PLACE *)memory->memory;
    if (s->where == LSP_CUDA) {
        for (int k = 0; k < PAIRS_DIMENSIONS && s->n > 0; k++) {
            pairs_copy_kernel<<<256, 256>>>((const PAIRS_PLACE *)s->at[k], s->stride, s->n, to + k * s->n);
        }
    } else {
        lsp_array packed;
        status = lsp_array_create(ctx, bytes + 64, LSP_HOST, &packed);
        if (status == LSP_OK) {
            pairs_pack(s, (PAIRS_PLACE *)packed.memory);
            status = lsp_array_copy(ctx, to, LSP_CUDA, packed.memory, LSP_HOST, bytes);
            lsp_array_free(&packed);
        }
    }
    for (int k = 0; k < PAIRS_DIMENSIONS; k++) {
        at[k] = to + k * s->n;
    }
    return status;
}

#define PAIRS_CUDA(call)                                                                                               \
    do {                                                                                                               \
        const cudaError_t pairs_error = (call);                                                                        \
        PAIRS_REQUIRE(pairs_error == cudaSuccess, LSP_ERR_DEVICE, "CUDA: %s", cudaGetErrorString(pairs_error));        \
    } while (0)

static lsp_status pairs_begin(lsp_ctx *ctx, const lsp_points *a, const lsp_points *b, const double *parameters,
                              const void *output, pairs_job *job, lsp_pair_info *info) {
    const lsp_status status = pairs_check(ctx, a, b, parameters, output, LSP_CUDA, job, info);
    if (status != LSP_OK) {
        return status;
    }
    job->n_a = a->n;
    job->n_b = b != NULL ? b->n : a->n;
    PAIRS_TRY(lsp_ctx_sync(ctx)); /* points that are still on their way to the GPU */
    PAIRS_CUDA(cudaGetDevice(&job->before));
    PAIRS_CUDA(cudaSetDevice(job->ordinal));
    PAIRS_TRY(pairs_load_set(ctx, a, &job->memory[0], job->a));
    memcpy(job->b, job->a, sizeof job->b);
    if (b != NULL) {
        PAIRS_TRY(pairs_load_set(ctx, b, &job->memory[1], job->b));
    }
    return LSP_OK;
}

static void pairs_end(pairs_job *job) {
    pairs_drop(job);
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
