/* Histograms on the GPU: PAIRS_COPIES copies of each counter in shared memory, lane by lane; 0: counters in global
 * memory. Part of gpu.cuh. */

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
            pairs_visit_square(s, p, visit);
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
    lsp_array sums PAIRS_AT_END(lsp_array_free);
    const int shared = (PAIRS_SIZE + 1) * PAIRS_COPIES * (int)sizeof(unsigned);
    const pairs_u64 tiles = pairs_tiles_of(job, (int64_t)PAIRS_NT * PAIRS_ROWS);
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
    return LSP_OK;
}
