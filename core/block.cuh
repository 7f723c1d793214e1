/* Sums, maxima and prefix sums over the threads of a warp or of a block. All threads of the warp, or of the block, must
 * call together. */
#ifndef LSP_CORE_BLOCK_CUH
#define LSP_CORE_BLOCK_CUH

#include "device.cuh"

enum { WARP = 32 }; /* threads */

/* ---- a warp: by shuffles, without shared memory ---- */

/* The sum of the lanes' x, in every lane. Lanes are added in pairs: for integers only, unless rounding may differ. */
template <typename T> __device__ inline T warp_sum(T x) {
    for (int mask = WARP / 2; mask > 0; mask /= 2) {
        x += __shfl_xor_sync(~0u, x, mask);
    }
    return x;
}

/* The largest of the lanes' x, in every lane. */
template <typename T> __device__ inline T warp_max(T x) {
    for (int mask = 1; mask < WARP; mask *= 2) {
        x = max(x, __shfl_xor_sync(~0u, x, mask));
    }
    return x;
}

/* The inclusive prefix sum: x of this lane and of all lanes before it. */
template <typename T> __device__ inline T warp_scan(T x, int lane) {
    for (int step = 1; step < WARP; step *= 2) {
        const T lower = __shfl_up_sync(~0u, x, step);
        x += lane >= step ? lower : 0;
    }
    return x;
}

/* ---- a block of WARPS whole warps, through one number per warp in shared memory; two barriers ---- */

/* The sum of sums[w] over the warps w before this one; *total is the sum over all warps. Ends with a barrier, so that
 * sums[] may be written again. */
template <typename T> __device__ inline T warps_before(const T *sums, int warps, int warp, T *total) {
    T before = 0, all = 0;
    __syncthreads();
    for (int w = 0; w < warps; w++) {
        before += w < warp ? sums[w] : 0;
        all += sums[w];
    }
    __syncthreads();
    *total = all;
    return before;
}

/* The exclusive prefix sum: x of all threads before this one; *total is the sum of all. */
template <int WARPS, typename T> __device__ inline T block_scan(T x, T (&sums)[WARPS], T *total) {
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    const T sum = warp_scan(x, lane);
    if (lane == WARP - 1) {
        sums[warp] = sum;
    }
    return warps_before(sums, WARPS, warp, total) + sum - x;
}

#endif
