/* For kernels of every room: items of a grid-stride loop, indices of either width, and sums, maxima and prefix sums
 * over the threads of a warp or of a block, which all its threads must call together. */
#pragma once

#include "core.h"
#include "device.cuh"

enum { WARP = 32 }; /* threads */

/* The thread, of a block of nt, takes every item of 0 .. n-1 whose number is its own modulo the threads of the grid. */
#define EACH_ITEM(i, n, nt)                                                                                            \
    for (int64_t i = (int64_t)blockIdx.x * (nt) + threadIdx.x; i < (n); i += (int64_t)gridDim.x * (nt))

/* array[i] of 8 bytes an index if `wide`, else 4. */
__device__ inline int64_t index_at(const void *array, bool wide, int64_t i) {
    return wide ? ((const int64_t *)array)[i] : ((const int32_t *)array)[i];
}
__device__ inline void index_set(void *array, bool wide, int64_t i, int64_t value) {
    if (wide) {
        ((int64_t *)array)[i] = value;
    } else {
        ((int32_t *)array)[i] = (int32_t)value;
    }
}

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

/* The first i of low .. high-1 for which condition(i) holds, or `high`: a search by all lanes of the warp, 32 places a
 * step, with the same arguments in each lane. Once true the condition stays true. */
template <typename F> __device__ inline int64_t warp_first(int64_t low, int64_t high, F condition) {
    while (low < high) {
        const int64_t step = (high - low + WARP - 1) / WARP, i = low + (threadIdx.x % WARP + 1) * step - 1;
        const unsigned votes = __ballot_sync(~0u, i < high && !condition(min(i, high - 1)));
        low += __popc(votes) * step;
        high = min(high, low + step - 1);
    }
    return low;
}

/* The length of the prefix of 0 .. n-1 for which `holds` is true, likewise. */
template <typename F> __device__ inline int64_t warp_prefix(int64_t n, F holds) {
    return warp_first(0, n, [&](int64_t i) { return !holds(i); });
}

/* ---- blocks one after another (decoupled look-back, Merrill and Garland) ---- */

enum { LOOK_COUNTED = 1, LOOK_SUMMED = 2 }; /* the lower bits of a published word: a count, or the sum up to here */

/* The numbers that parts 0 .. k-1 published, added up. Part k has published its own `count`, shifted by 2, with
 * LOOK_COUNTED; or k is 0. Publishes the sum up to part k. For a whole warp; parts are taken in order. */
__device__ inline ull look_back(ull *published, int64_t k, ull count) {
    const int lane = (int)(threadIdx.x % WARP);
    bool summed = k == 0;
    ull before = 0;
    for (int64_t at = k - 1 - lane; !summed; at -= WARP) {
        ull word = LOOK_SUMMED; /* lanes before the first part: nothing */
        while (at >= 0 && (word = *(volatile ull *)(published + at)) == 0) {
        }
        const unsigned sums = __ballot_sync(~0u, (word & LOOK_SUMMED) != 0);
        before += warp_sum(lane < __ffs((int)sums) || sums == 0 ? word >> 2 : 0);
        summed = sums != 0;
    }
    if (lane == 0) {
        __stcg(published + k, (before + count) << 2 | LOOK_SUMMED);
    }
    return before;
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
