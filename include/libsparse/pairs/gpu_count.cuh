/* Counts on the GPU: a limit, or a few, in registers. Part of gpu.cuh. */

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
    lsp_array sums PAIRS_AT_END(lsp_array_free);
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
    return LSP_OK;
}
