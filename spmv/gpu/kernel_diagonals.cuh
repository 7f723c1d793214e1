/* Y = alpha*A*X + beta*Y by diagonals: a lane owns a row of a slice, so a warp reads 32 values and 32 neighbours of x
 * for each diagonal. A lane whose row has no entry on a diagonal reads nothing. */
#ifndef LSP_SPMV_GPU_KERNEL_DIAGONALS_CUH
#define LSP_SPMV_GPU_KERNEL_DIAGONALS_CUH

#include "arith.cuh"
#include "spmv/diagonals.h"

enum { DIAGONALS_WARPS = 8 }; /* the most of a block */

struct diagonals_launch {
    spmv_job job;
    const int64_t *first;
    const lsp_diagonal *at;
    const void *values;
    int64_t slices;
    int shares; /* warps of a slice: each takes a share of its diagonals */
};

/* Diagonals whose values a lane has in flight. More cost registers, so warps. */
template <int B, int K> struct diagonals_ahead {
    static const int value = B == 1 && K <= 2 ? 4 : B <= 2 && K <= 4 ? 2 : 1;
};

/* Adds the diagonals begin .. end-1 to the lane's sums. Returns whether the row has an entry there. */
template <typename V, typename T, int B, int K>
__device__ inline bool diagonals_sum(const diagonals_launch &launch, int64_t begin, int64_t end, int row,
                                     T (&sum)[B][K]) {
    enum { AHEAD = diagonals_ahead<B, K>::value };
    const int lane = (int)threadIdx.x % WARP;
    const V *values = (const V *)launch.values + begin * (WARP * B * B) + lane;
    const T *x = (const T *)launch.job.x;
    bool some = false;
    for (int64_t chunk = begin; chunk < end; chunk += WARP) {
        const int n = (int)min(end - chunk, (int64_t)WARP);
        const int2 mine = lane < n ? __ldg((const int2 *)(launch.at + chunk) + lane) : int2{0, 0};
        for (int d = 0; d < n; d += AHEAD, values += AHEAD * WARP * B * B) {
            V v[AHEAD][B * B] = {};
            T from[AHEAD][B][K] = {};
            bool here[AHEAD];
#pragma unroll
            for (int a = 0; a < AHEAD; a++) { /* beyond n the mask is empty */
                const int col = row + __shfl_sync(~0u, mine.x, (d + a) % WARP);
                const unsigned rows = __shfl_sync(~0u, (unsigned)mine.y, (d + a) % WARP);
                here[a] = d + a < n && (rows >> lane & 1) != 0;
                if (here[a]) {
#pragma unroll
                    for (int ij = 0; ij < B * B; ij++) {
                        if constexpr (!std::is_same<V, spmv_one>::value) {
                            v[a][ij] = __ldcs(values + (a * B * B + ij) * WARP);
                        }
                    }
#pragma unroll
                    for (int jk = 0; jk < B * K; jk++) {
                        if (jk % K < launch.job.vectors) {
                            from[a][jk / K][jk % K] = __ldg(x + ((int64_t)col * B + jk / K) * launch.job.x_row +
                                                            jk % K * launch.job.x_vector);
                        }
                    }
                }
            }
#pragma unroll
            for (int a = 0; a < AHEAD; a++) {
                if (here[a]) {
                    some = true;
#pragma unroll
                    for (int ijk = 0; ijk < B * B * K; ijk++) {
                        T &s = sum[ijk / (B * K)][ijk % K];
                        s = spmv_add<V, T, true>(LSP_PLUS_TIMES, s, v[a][ijk / K], from[a][ijk / K % B][ijk % K]);
                    }
                }
            }
        }
    }
    return some;
}

/* The sums of a slice's shares, added in their order, go to the first share. Only for one vector. */
template <typename T, int B> __device__ inline void diagonals_join(int shares, int share, T (&sum)[B][1], bool *some) {
    __shared__ T sums[DIAGONALS_WARPS][B][WARP];
    __shared__ bool present[DIAGONALS_WARPS][WARP];
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    for (int i = 0; i < B; i++) {
        sums[warp][i][lane] = sum[i][0];
    }
    present[warp][lane] = *some;
    __syncthreads();
    for (int other = warp + 1; share == 0 && other < warp + shares; other++) {
        for (int i = 0; i < B; i++) {
            sum[i][0] += sums[other][i][lane];
        }
        *some = *some || present[other][lane];
    }
}

template <typename V, typename T, int B, int K>
static __global__ void __launch_bounds__(DIAGONALS_WARPS *WARP) kernel_diagonals(diagonals_launch launch) {
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP, share = warp % launch.shares;
    const int64_t slice = (int64_t)blockIdx.x * (blockDim.x / WARP / launch.shares) + warp / launch.shares;
    T sum[B][K];
    bool some = false;
    for (int i = 0; i < B * K; i++) {
        sum[i / K][i % K] = -(T)0;
    }
    if (slice < launch.slices) {
        const int64_t first = launch.first[slice], n = launch.first[slice + 1] - first;
        some = diagonals_sum<V, T, B, K>(launch, first + n * share / launch.shares,
                                         first + n * (share + 1) / launch.shares, (int)slice * WARP + lane, sum);
    }
    if constexpr (K == 1) {
        if (launch.shares > 1) {
            diagonals_join<T, B>(launch.shares, share, sum, &some);
        }
    }
    for (int ik = 0; ik < B * K; ik++) {
        const int64_t row = (slice * WARP + lane) * B + ik / K;
        if (share == 0 && row < launch.job.rows && ik % K < launch.job.vectors) {
            spmv_finish<T, true>(launch.job, row, ik % K, sum[ik / K][ik % K], !some);
        }
    }
}

#endif
