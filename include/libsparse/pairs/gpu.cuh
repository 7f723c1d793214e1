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
    lsp_status status = LSP_OK;
    const size_t bytes = (size_t)(s->n * PAIRS_DIMENSIONS) * sizeof(PAIRS_PLACE);
    if (s->where == LSP_CUDA && s->stride <= 1) {
        memcpy(at, s->at, PAIRS_DIMENSIONS * sizeof *at);
        return LSP_OK;
    }
    status = lsp_array_create(ctx, bytes + 64, LSP_CUDA, memory);
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
    lsp_status status = pairs_check(ctx, a, b, parameters, output, LSP_CUDA, job, info);
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
done:
    return status;
}

static void pairs_end(pairs_job *job) {
    pairs_drop(job);
    if (job->before >= 0) {
        cudaSetDevice(job->before);
    }
}

/* ---- counts: a limit, or a few, in registers ---- */
#ifdef PAIRS_COUNT
/* above += value > limit. Numbers from 0 up order as their bits do, so the carry of value + ~limit is the comparison,
 * and two carries are added at once. */
static __device__ __forceinline__ void pairs_add_if_above(unsigned &above, float value, float limit) {
    asm("{\n\t.reg .u32 sum;\n\tadd.cc.u32 sum, %1, %2;\n\taddc.u32 %0, %0, 0;\n\t}"
        : "+r"(above)
        : "r"(__float_as_uint(value)), "r"(~__float_as_uint(limit)));
}
static __device__ __forceinline__ void pairs_add_if_above(unsigned &above, double value, double limit) {
    asm("{\n\t.reg .u32 sum;\n\tadd.cc.u32 sum, %1, %3;\n\taddc.cc.u32 sum, %2, %4;\n\taddc.u32 %0, %0, 0;\n\t}"
        : "+r"(above)
        : "r"(__double2loint(value)), "r"(__double2hiint(value)), "r"(~__double2loint(limit)),
          "r"(~__double2hiint(limit)));
}
static __device__ __forceinline__ void pairs_add_if_above(unsigned &above, int value, int limit) {
    above += value > limit;
}

struct pairs_limits {
    PAIRS_NUMBER at[PAIRS_SIZE];
};

struct pairs_counting {
    enum {
        GROUP = 4,
        UNROLL = sizeof(PAIRS_NUMBER) == 4 && PAIRS_SIZE == 1 ? 2 : 1,
        SUMS = PAIRS_SIZE == 1 ? PAIRS_ROWS : 1
    };
    const pairs_limits &limits;
    unsigned above[PAIRS_SIZE][SUMS];
    pairs_u64 within[PAIRS_SIZE];

    __device__ explicit pairs_counting(const pairs_limits &limits_) : limits(limits_) {
        for (int s = 0; s < PAIRS_SIZE; s++) {
            within[s] = 0;
            for (int k = 0; k < SUMS; k++) {
                above[s][k] = 0;
            }
        }
    }
    template <int N, bool MASKED>
    __device__ __forceinline__ void take(const PAIRS_NUMBER (&value)[N], const bool (&in)[N], int) {
#pragma unroll
        for (int q = 0; q < N; q++) {
#pragma unroll
            for (int s = 0; s < PAIRS_SIZE; s++) {
                if (MASKED) {
                    above[s][q % SUMS] += !in[q] || !(value[q] <= limits.at[s]);
                } else {
                    pairs_add_if_above(above[s][q % SUMS], value[q], limits.at[s]);
                }
            }
        }
    }
    __device__ __forceinline__ void end_chunk(int pairs) {
#pragma unroll
        for (int s = 0; s < PAIRS_SIZE; s++) {
            within[s] += (pairs_u64)pairs;
#pragma unroll
            for (int k = 0; k < SUMS; k++) {
                within[s] -= above[s][k];
                above[s][k] = 0;
            }
        }
    }
};

static __global__ void __launch_bounds__(PAIRS_NT, PAIRS_RESIDENT)
    pairs_count_kernel(const __grid_constant__ pairs_sets s, const __grid_constant__ pairs_limits limits,
                       pairs_u64 tiles, pairs_u64 *counts) {
    pairs_counting visit(limits);
    const int64_t side = (int64_t)PAIRS_ROWS * blockDim.x;
    for (pairs_u64 p = blockIdx.x; p < tiles; p += gridDim.x) {
        int64_t i, j;
        pairs_find_tile(s, side, p, &i, &j);
        pairs_tile<PAIRS_ROWS>(s, i, j, side, s.self && i == j, s.self && i == j, visit);
    }
    for (int k = 0; k < PAIRS_SIZE; k++) {
        pairs_u64 sum = visit.within[k];
        for (int lane = 16; lane > 0; lane /= 2) {
            sum += __shfl_down_sync(0xFFFFFFFF, sum, lane);
        }
        if (threadIdx.x % 32 == 0 && sum > 0) {
            atomicAdd(counts + k, sum);
        }
    }
}

static lsp_status pairs_count_cuda(lsp_ctx *ctx, const pairs_job *job, const PAIRS_NUMBER *limits, uint64_t *counts,
                                   lsp_pair_info *info) {
    lsp_status status = LSP_OK;
    lsp_array sums;
    pairs_limits at;
    uint64_t here[PAIRS_SIZE] = {0};
    memset(&sums, 0, sizeof sums);
    memcpy(at.at, limits, sizeof at.at);
    const int nt = pairs_threads(job, PAIRS_ROWS, PAIRS_NT);
    const pairs_u64 tiles = pairs_tiles(job, (int64_t)nt * PAIRS_ROWS);
    PAIRS_TRY(lsp_array_create(ctx, sizeof here, LSP_CUDA, &sums));
    PAIRS_CUDA(cudaMemsetAsync(sums.memory, 0, sizeof here, 0));
    if (tiles > 0) {
        pairs_count_kernel<<<pairs_grid(tiles), nt>>>(pairs_sets_of(job), at, tiles, (pairs_u64 *)sums.memory);
    }
    PAIRS_CUDA(cudaGetLastError());
    PAIRS_CUDA(cudaMemcpy(here, sums.memory, sizeof here, cudaMemcpyDeviceToHost));
    memcpy(counts, here, sizeof here);
done:
    lsp_array_free(&sums);
    return status;
}
#endif

/* ---- histograms: PAIRS_COPIES copies of each counter in shared memory, lane by lane; 0: counters in global memory
 * ---- */
#ifdef PAIRS_HISTOGRAM
#if defined(PAIRS_SQUARED) && !PAIRS_IS_WIDE
/* Bins of squares as the last bits of a float, 2^23 plus the whole part of root * scale, for scales from 1e-10 to 2^49:
 * by the root that hardware offers, a little less and a little more of it; where the two bins differ, all pairs of the
 * group again by one step of Newton's method, which rounds correctly. Of many bins most groups would be done again. */
enum { PAIRS_MAGIC = 0x4B000000, PAIRS_FLAGGED = PAIRS_SIZE <= 4096 };
static __device__ __forceinline__ unsigned pairs_whole(float root, float scale) {
    return __float_as_uint(__fmaf_rd(root, scale, 8388608.f));
}
static __device__ __forceinline__ unsigned pairs_newton(float square, float scale) {
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(square));
    const float root = __fmul_rn(square, r), half = __fmul_rn(r, 0.5f);
    const unsigned bin = pairs_whole(__fmaf_rn(__fmaf_rn(-root, root, square), half, root), scale);
    return square < 0x1p-101f ? PAIRS_MAGIC : square < 1e37f ? bin : PAIRS_MAGIC + PAIRS_SIZE; /* NaN: the last */
}
template <int N>
static __device__ __forceinline__ void pairs_fast_bins(const float (&square)[N], float scale, unsigned (&bin)[N]) {
    unsigned differ = !PAIRS_FLAGGED;
#pragma unroll
    for (int q = 0; q < N && PAIRS_FLAGGED; q++) {
        float root;
        asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(square[q]));
        bin[q] = pairs_whole(root, scale * (1 - 3.0e-7f));
        differ |= bin[q] ^ pairs_whole(root, scale * (1 + 3.0e-7f));
    }
    if (!PAIRS_FLAGGED || differ) {
#pragma unroll
        for (int q = 0; q < N; q++) {
            bin[q] = pairs_newton(square[q], scale);
        }
    }
#pragma unroll
    for (int q = 0; q < N; q++) {
        bin[q] = min(bin[q], PAIRS_MAGIC + PAIRS_SIZE);
    }
}
static bool pairs_is_tame(float scale) { return scale > 1e-10f && scale < 0x1p49f; }
#else
enum { PAIRS_MAGIC = 0, PAIRS_FLAGGED = 0 };
template <int N, typename REAL>
static __device__ __forceinline__ void pairs_fast_bins(const PAIRS_NUMBER (&value)[N], REAL scale, unsigned (&bin)[N]) {
#pragma unroll
    for (int q = 0; q < N; q++) {
        bin[q] = (unsigned)pairs_bin(value[q], scale);
    }
}
static bool pairs_is_tame(PAIRS_REAL) { return false; }
#endif

/* TAME: bins by pairs_fast_bins. table: the address in shared memory of the lane's copy of bin 0. */
template <bool TAME> struct pairs_binning {
    enum { GROUP = PAIRS_FLAGGED ? 4 : 2, UNROLL = 1, FIRST = TAME ? (int)PAIRS_MAGIC : 0 };
    PAIRS_REAL scale;
    unsigned table;
    pairs_u64 *sums;

    template <int N, bool MASKED>
    __device__ __forceinline__ void take(const PAIRS_NUMBER (&value)[N], const bool (&in)[N], int) {
        unsigned bin[N];
        if constexpr (TAME) {
            pairs_fast_bins(value, scale, bin);
        } else {
#pragma unroll
            for (int q = 0; q < N; q++) {
                bin[q] = (unsigned)pairs_bin(value[q], scale);
            }
        }
#pragma unroll
        for (int q = 0; q < N; q++) {
            if (MASKED && !in[q]) {
                continue;
            }
#if PAIRS_COPIES > 0
            asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(bin[q] * (PAIRS_COPIES * 4) + table) : "memory");
#else
            if (bin[q] - FIRST < PAIRS_SIZE) {
                atomicAdd(sums + (bin[q] - FIRST), (pairs_u64)1);
            }
#endif
        }
    }
    __device__ __forceinline__ void end_chunk(int) {}
};

template <bool TAME>
static __global__ void __launch_bounds__(PAIRS_NT, PAIRS_RESIDENT)
    pairs_histogram_kernel(const __grid_constant__ pairs_sets s, PAIRS_REAL scale, pairs_u64 tiles, pairs_u64 *sums) {
    extern __shared__ unsigned pairs_table[];
    const int counters = (PAIRS_SIZE + 1) * PAIRS_COPIES;
    const unsigned first = (unsigned)__cvta_generic_to_shared(pairs_table);
    pairs_binning<TAME> visit = {scale, first + threadIdx.x % (PAIRS_COPIES + !PAIRS_COPIES) * 4, sums};
    visit.table -= (unsigned)pairs_binning<TAME>::FIRST * (PAIRS_COPIES * 4);
    const int64_t side = (int64_t)PAIRS_ROWS * blockDim.x;
    /* A table is emptied before a counter can pass 2^32. */
    const pairs_u64 most = ((pairs_u64)1 << 31) / (pairs_u64)(side * side) + 1;
    for (pairs_u64 p = blockIdx.x; p < tiles;) {
        for (int k = threadIdx.x; k < counters; k += blockDim.x) {
            pairs_table[k] = 0;
        }
        __syncthreads();
        for (pairs_u64 done = 0; done < most && p < tiles; done++, p += gridDim.x) {
            int64_t i, j;
            pairs_find_tile(s, side, p, &i, &j);
            pairs_tile<PAIRS_ROWS>(s, i, j, side, s.self && i == j, s.self && i == j, visit);
        }
        __syncthreads();
        for (int b = threadIdx.x; b < PAIRS_SIZE && PAIRS_COPIES > 0; b += blockDim.x) {
            pairs_u64 sum = 0;
            for (int c = 0; c < PAIRS_COPIES; c++) { /* not all from the same bank */
                sum += pairs_table[b * PAIRS_COPIES + ((c + b) & (PAIRS_COPIES - 1))];
            }
            if (sum > 0) {
                atomicAdd(sums + b, sum);
            }
        }
        __syncthreads();
    }
}

static lsp_status pairs_histogram_cuda(lsp_ctx *ctx, const pairs_job *job, PAIRS_REAL scale, uint64_t *counts,
                                       lsp_pair_info *info) {
    lsp_status status = LSP_OK;
    lsp_array sums;
    const int shared = (PAIRS_SIZE + 1) * PAIRS_COPIES * (int)sizeof(unsigned);
    const pairs_u64 tiles = pairs_tiles(job, (int64_t)PAIRS_NT * PAIRS_ROWS);
    void (*const kernel)(pairs_sets, PAIRS_REAL, pairs_u64, pairs_u64 *) =
        pairs_is_tame(scale) ? pairs_histogram_kernel<true> : pairs_histogram_kernel<false>;
    int blocks = 1, sms = 1;
    memset(&sums, 0, sizeof sums);
    PAIRS_TRY(lsp_array_create(ctx, PAIRS_SIZE * sizeof(pairs_u64), LSP_CUDA, &sums));
    PAIRS_CUDA(cudaMemsetAsync(sums.memory, 0, PAIRS_SIZE * sizeof(pairs_u64), 0));
    PAIRS_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    PAIRS_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, PAIRS_NT, (size_t)shared));
    PAIRS_CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, job->ordinal));
    if (tiles > 0) {
        const pairs_u64 resident = (pairs_u64)(blocks > 0 ? blocks : 1) * (pairs_u64)sms;
        kernel<<<pairs_grid(tiles < resident ? tiles : resident), PAIRS_NT, shared>>>(pairs_sets_of(job), scale, tiles,
                                                                                      (pairs_u64 *)sums.memory);
    }
    PAIRS_CUDA(cudaGetLastError());
    PAIRS_CUDA(cudaMemcpy(counts, sums.memory, PAIRS_SIZE * sizeof(pairs_u64), cudaMemcpyDeviceToHost));
done:
    lsp_array_free(&sums);
    return status;
}
#endif

/* ---- sums: a point's sum in registers, over all of set b ---- */
#ifdef PAIRS_SUM
struct pairs_summing {
    enum { GROUP = 4, UNROLL = 1 };
    PAIRS_NUMBER part[PAIRS_ROWS];
    double sum[PAIRS_ROWS];

    template <int N, bool MASKED>
    __device__ __forceinline__ void take(const PAIRS_NUMBER (&value)[N], const bool (&in)[N], int) {
#pragma unroll
        for (int q = 0; q < N; q++) {
            part[q % PAIRS_ROWS] += !MASKED || in[q] ? value[q] : 0;
        }
    }
    __device__ __forceinline__ void end_chunk(int) {
#pragma unroll
        for (int k = 0; k < PAIRS_ROWS; k++) {
            sum[k] += (double)part[k];
            part[k] = 0;
        }
    }
};

static __global__ void __launch_bounds__(PAIRS_NT, PAIRS_RESIDENT)
    pairs_sum_kernel(const __grid_constant__ pairs_sets s, double *sums) {
    const int64_t i = (int64_t)blockIdx.x * PAIRS_ROWS * blockDim.x;
    pairs_summing visit = {};
    pairs_tile<PAIRS_ROWS>(s, i, 0, s.n_b, false, false, visit);
    for (int k = 0; k < PAIRS_ROWS; k++) {
        const int64_t row = i + threadIdx.x + k * (int64_t)blockDim.x;
        if (row < s.n_a) {
            sums[row] = visit.sum[k];
        }
    }
}

static lsp_status pairs_sum_cuda(lsp_ctx *ctx, const pairs_job *job, double *to, lsp_pair_info *info) {
    lsp_status status = LSP_OK;
    lsp_array sums;
    const int64_t side = (int64_t)PAIRS_NT * PAIRS_ROWS;
    memset(&sums, 0, sizeof sums);
    PAIRS_TRY(lsp_array_create(ctx, (size_t)(job->n_a + 1) * sizeof(double), LSP_CUDA, &sums));
    if (job->n_a > 0) {
        pairs_sum_kernel<<<(unsigned)((job->n_a + side - 1) / side), PAIRS_NT>>>(pairs_sets_of(job),
                                                                                 (double *)sums.memory);
    }
    PAIRS_CUDA(cudaGetLastError());
    PAIRS_CUDA(cudaMemcpy(to, sums.memory, (size_t)job->n_a * sizeof(double), cudaMemcpyDeviceToHost));
done:
    lsp_array_free(&sums);
    return status;
}
#endif

/* ---- joins: rows are counted, then filled in the order of their columns ---- */
#ifdef PAIRS_JOIN
template <bool FILL> struct pairs_joining {
    enum { GROUP = 1, UNROLL = 1 };
    PAIRS_NUMBER limit;
    int64_t to[PAIRS_ROWS];
    int32_t *col;
    PAIRS_NUMBER *val;

    template <int N, bool MASKED>
    __device__ __forceinline__ void take(const PAIRS_NUMBER (&value)[N], const bool (&in)[N], int j) {
#pragma unroll
        for (int k = 0; k < N; k++) {
            if (value[k] <= limit && in[k]) {
                if (FILL) {
                    col[to[k]] = j;
                    if (val != NULL) {
                        val[to[k]] = value[k];
                    }
                }
                to[k]++;
            }
        }
    }
    __device__ __forceinline__ void end_chunk(int) {}
};

/* starts: without FILL the entries of each row are written there. */
template <bool FILL>
static __global__ void __launch_bounds__(PAIRS_NT, PAIRS_RESIDENT)
    pairs_join_kernel(const __grid_constant__ pairs_sets s, PAIRS_NUMBER limit, bool half, bool skip, int64_t *starts,
                      int32_t *col, PAIRS_NUMBER *val) {
    const int64_t side = (int64_t)PAIRS_ROWS * blockDim.x, i = blockIdx.x * side;
    pairs_joining<FILL> visit = {limit, {}, col, val};
    for (int k = 0; k < PAIRS_ROWS; k++) {
        const int64_t row = i + threadIdx.x + k * (int64_t)blockDim.x;
        visit.to[k] = FILL && row < s.n_a ? starts[row] : 0;
    }
    pairs_tile<PAIRS_ROWS>(s, i, 0, s.n_b, half, skip, visit);
    for (int k = 0; k < PAIRS_ROWS; k++) {
        const int64_t row = i + threadIdx.x + k * (int64_t)blockDim.x;
        if (!FILL && row < s.n_a) {
            starts[row + 1] = visit.to[k];
        }
    }
}

static lsp_status pairs_join_cuda(lsp_ctx *ctx, const pairs_job *job, PAIRS_NUMBER limit, const lsp_join_options *join,
                                  lsp_csr *C, lsp_pair_info *info) {
    lsp_status status = LSP_OK;
    lsp_array there, here;
    lsp_csr made;
    lsp_csr_types types;
    const int64_t side = (int64_t)PAIRS_NT * PAIRS_ROWS, n = job->n_a;
    const size_t bytes = (size_t)(n + 1) * sizeof(int64_t);
    const unsigned blocks = (unsigned)((n + side - 1) / side);
    const bool half = job->self && join->half, skip = job->self && !join->self_pairs;
    memset(&there, 0, sizeof there), memset(&here, 0, sizeof here);
    memset(&made, 0, sizeof made), memset(&types, 0, sizeof types);
    types.col_type = LSP_I32, types.val_type = PAIRS_NUMBER_TYPE,
    types.drop_values = join->values == LSP_JOIN_PATTERN || PAIRS_IS_PREDICATE;
    types.place = LSP_PLACE_CUDA;
    PAIRS_TRY(lsp_array_create(ctx, bytes, LSP_CUDA, &there));
    PAIRS_TRY(lsp_array_create(ctx, bytes, LSP_HOST, &here));
    {
        int64_t *start = (int64_t *)here.memory, *device = (int64_t *)there.memory;
        if (blocks > 0) {
            pairs_join_kernel<false><<<blocks, PAIRS_NT>>>(pairs_sets_of(job), limit, half, skip, device, NULL, NULL);
        }
        PAIRS_CUDA(cudaGetLastError());
        PAIRS_CUDA(cudaMemcpy(start, device, bytes, cudaMemcpyDeviceToHost));
        start[0] = 0;
        for (int64_t i = 0; i < n; i++) {
            start[i + 1] += start[i];
        }
        PAIRS_CUDA(cudaMemcpy(device, start, bytes, cudaMemcpyHostToDevice));
        PAIRS_TRY(lsp_csr_create(ctx, n, job->n_b, start[n], &types, &made));
        PAIRS_TRY(lsp_ctx_sync(ctx));
        if (blocks > 0) {
            pairs_join_kernel<true><<<blocks, PAIRS_NT>>>(pairs_sets_of(job), limit, half, skip, device,
                                                          (int32_t *)made.col, (PAIRS_NUMBER *)made.val);
        }
        PAIRS_CUDA(cudaGetLastError());
        for (int64_t i = 0; i <= n && made.rowptr_type == LSP_I32; i++) { /* narrowed in place */
            const int32_t narrow = (int32_t)start[i];
            memcpy((char *)here.memory + i * 4, &narrow, 4);
        }
        PAIRS_CUDA(cudaMemcpy(made.rowptr, here.memory, made.rowptr_type == LSP_I32 ? bytes / 2 : bytes,
                              cudaMemcpyHostToDevice));
        PAIRS_CUDA(cudaDeviceSynchronize());
    }
    *C = made;
    memset(&made, 0, sizeof made);
done:
    lsp_csr_free(ctx, &made);
    lsp_array_free(&there);
    lsp_array_free(&here);
    return status;
}
#endif
