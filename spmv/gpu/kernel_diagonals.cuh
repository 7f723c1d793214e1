/* Y = alpha*A*X + beta*Y by diagonals. One vector: a lane owns a row of a slice, so a warp reads 32 values and 32
 * neighbours of x for each diagonal. Several: a lane owns two of them, and some lanes share a row. A lane whose row has
 * no entry on a diagonal reads nothing. */
#pragma once

#include "arith.cuh"
#include "spmv/diagonals.h"

enum { DIAGONALS_WARPS = 4, MANY_WARPS = 8 }; /* of a block, for one vector and for several. Tuned on an H200 */

struct diagonals_launch {
    spmv_job job;
    const int64_t *first;
    const lsp_diagonal *at;
    const void *values;
    int64_t slices;
    int shares;    /* one vector: warps of a slice, each takes a share of its diagonals */
    int lane_bits; /* several vectors: a row has 2^lane_bits lanes. x_row * B fits an int */
    bool paired;   /* two neighbours of X are one aligned word */
};

/* Diagonal k of n, or one that no row has. */
__device__ inline lsp_diagonal diagonals_at(const int2 *at, int k, int n) {
    const int2 word = k < n ? __ldg(at + k) : int2{0, 0};
    return {word.x, (uint32_t)word.y};
}

/* The values of a lane's block. */
template <typename V, int B> __device__ inline void diagonals_values(const V *values, V (&v)[B * B]) {
#pragma unroll
    for (int ij = 0; ij < B * B; ij++) {
        if constexpr (!std::is_same<V, spmv_one>::value) {
            v[ij] = __ldcs(values + ij * WARP);
        }
    }
}

/* ---- one vector ---- */

/* Adds n diagonals from `begin` on to the lane's sums, AHEAD at a time: their loads are in flight together. Returns
 * whether the row has an entry there. */
template <typename V, typename T, int B, int AHEAD>
__device__ inline bool diagonals_sum(const diagonals_launch &launch, int64_t begin, int n, int row, T (&sum)[B]) {
    const int lane = (int)threadIdx.x % WARP;
    const int2 *at = (const int2 *)launch.at + begin;
    const V *values = (const V *)launch.values + begin * (WARP * B * B) + lane;
    const T *x = (const T *)launch.job.x;
    bool some = false;
    for (int d = 0; d < n; d += AHEAD, values += AHEAD * WARP * B * B) {
        lsp_diagonal diagonal[AHEAD];
        V v[AHEAD][B * B] = {};
        T from[AHEAD][B] = {};
        bool here[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            diagonal[a] = diagonals_at(at, d + a, n);
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            here[a] = (diagonal[a].rows >> lane & 1) != 0;
            if (here[a]) {
                diagonals_values<V, B>(values + a * WARP * B * B, v[a]);
#pragma unroll
                for (int j = 0; j < B; j++) {
                    from[a][j] = __ldg(x + (int64_t)(row + diagonal[a].offset) * B + j);
                }
            }
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            if (here[a]) {
                some = true;
#pragma unroll
                for (int ij = 0; ij < B * B; ij++) {
                    sum[ij / B] = spmv_add<V, T, true>(LSP_PLUS_TIMES, sum[ij / B], v[a][ij], from[a][ij % B]);
                }
            }
        }
    }
    return some;
}

/* The sums of a slice's shares, added in their order, go to the first share. */
template <typename T, int B> __device__ inline void diagonals_join(int shares, int share, T (&sum)[B], bool *some) {
    __shared__ T sums[DIAGONALS_WARPS][B][WARP];
    __shared__ bool present[DIAGONALS_WARPS][WARP];
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    for (int i = 0; i < B; i++) {
        sums[warp][i][lane] = sum[i];
    }
    present[warp][lane] = *some;
    __syncthreads();
    for (int other = warp + 1; share == 0 && other < warp + shares; other++) {
        for (int i = 0; i < B; i++) {
            sum[i] += sums[other][i][lane];
        }
        *some = *some || present[other][lane];
    }
}

/* x is contiguous. */
template <typename V, typename T, int B, int AHEAD>
static __global__ void __launch_bounds__(DIAGONALS_WARPS *WARP, 8) kernel_diagonals(diagonals_launch launch) {
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    int64_t slice = (int64_t)blockIdx.x * DIAGONALS_WARPS + warp;
    int share = 0;
    T sum[B];
    bool some = false;
    if (launch.shares > 1) { /* apart, because divisions are slow */
        slice = (int64_t)blockIdx.x * (DIAGONALS_WARPS / launch.shares) + warp / launch.shares;
        share = warp % launch.shares;
    }
    for (int i = 0; i < B; i++) {
        sum[i] = -(T)0;
    }
    if (slice < launch.slices) {
        int64_t begin = launch.first[slice];
        int n = (int)(launch.first[slice + 1] - begin);
        if (launch.shares > 1) {
            const int low = (int)((int64_t)n * share / launch.shares);
            n = (int)((int64_t)n * (share + 1) / launch.shares) - low;
            begin += low;
        }
        some = diagonals_sum<V, T, B, AHEAD>(launch, begin, n, (int)slice * WARP + lane, sum);
    }
    if (launch.shares > 1) {
        diagonals_join<T, B>(launch.shares, share, sum, &some);
    }
    for (int i = 0; i < B; i++) {
        const int64_t row = (slice * WARP + lane) * B + i;
        if (share == 0 && row < launch.job.rows) {
            spmv_finish<T, true>(launch.job, row, 0, sum[i], !some);
        }
    }
}

/* ---- several vectors, or x with a stride ---- */

/* The elements of two vectors at x; `second`: there is a second one. */
template <typename T>
__device__ inline spmv_pack<T, 2> diagonals_read(const diagonals_launch &launch, const T *x, bool second) {
    if (launch.paired) {
        return *(const spmv_pack<T, 2> *)x;
    }
    return {__ldg(x), second ? __ldg(x + launch.job.x_vector) : (T)0};
}

/* A slice belongs to 2^lane_bits warps. Each has some of its rows. */
template <typename V, typename T, int B>
static __global__ void __launch_bounds__(MANY_WARPS *WARP, B <= 2 ? 4 : 2)
    kernel_diagonals_many(diagonals_launch launch) {
    enum { AHEAD = B == 1 ? 5 : B == 2 ? 2 : 1 };
    const int warp = (int)threadIdx.x / WARP, vector = ((int)threadIdx.x & ((1 << launch.lane_bits) - 1)) * 2;
    const int64_t slice = (int64_t)blockIdx.x * (MANY_WARPS >> launch.lane_bits) + (warp >> launch.lane_bits);
    const int r = ((int)threadIdx.x >> launch.lane_bits) % WARP, row = (int)slice * WARP + r;
    T sum[B][2];
    bool some = false;
    if (slice >= launch.slices || vector >= launch.job.vectors) {
        return;
    }
    for (int i = 0; i < B; i++) {
        sum[i][0] = sum[i][1] = -(T)0;
    }
    const bool second = vector + 1 < launch.job.vectors;
    const int64_t first = launch.first[slice];
    const int n = (int)(launch.first[slice + 1] - first), step = (int)launch.job.x_row;
    const int2 *at = (const int2 *)launch.at + first;
    const V *values = (const V *)launch.values + first * (WARP * B * B) + r;
    const T *x = (const T *)launch.job.x + (int64_t)row * B * step + vector * launch.job.x_vector;
    for (int d = 0; d < n; d += AHEAD, values += AHEAD * WARP * B * B) {
        lsp_diagonal diagonal[AHEAD];
        V v[AHEAD][B * B] = {};
        spmv_pack<T, 2> from[AHEAD][B] = {};
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            diagonal[a] = diagonals_at(at, d + a, n);
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            if ((diagonal[a].rows >> r & 1) != 0) {
                diagonals_values<V, B>(values + a * WARP * B * B, v[a]);
#pragma unroll
                for (int j = 0; j < B; j++) {
                    from[a][j] =
                        diagonals_read<T>(launch, x + (int64_t)diagonal[a].offset * (B * step) + j * step, second);
                }
            }
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            if ((diagonal[a].rows >> r & 1) != 0) {
                some = true;
#pragma unroll
                for (int ij = 0; ij < B * B; ij++) {
                    T(&s)[2] = sum[ij / B];
                    s[0] = spmv_add<V, T, true>(LSP_PLUS_TIMES, s[0], v[a][ij], from[a][ij % B].at[0]);
                    s[1] = spmv_add<V, T, true>(LSP_PLUS_TIMES, s[1], v[a][ij], from[a][ij % B].at[1]);
                }
            }
        }
    }
    for (int ik = 0; ik < 2 * B; ik++) {
        const int64_t to = (int64_t)row * B + ik / 2;
        if (to < launch.job.rows && vector + ik % 2 < launch.job.vectors) {
            spmv_finish<T, true>(launch.job, to, vector + ik % 2, sum[ik / 2][ik % 2], !some);
        }
    }
}
