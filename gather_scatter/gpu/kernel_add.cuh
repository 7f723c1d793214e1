/* Adds in order: elements with equal keys, which lie next to each other, are added to their destination one after the
 * other, so that floats give the same bits always. The thread at the first of them adds up to SUM_ALONE; its warp takes
 * over what is longer: it loads 32 elements at once, and every lane adds them all. */
#pragma once

#include "gate.cuh"

enum { SUM_NT = 256, SUM_ALONE = 16 };

typedef struct sum_job {
    const void *keys, *position; /* position NULL: element k is from[k] */
    bool wide_keys, wide_positions;
    int64_t n, extent; /* keys from `extent` on are left out */
} sum_job;

__device__ inline int64_t sum_key(const sum_job &s, int64_t k) {
    return s.wide_keys ? ((const int64_t *)s.keys)[k] : ((const uint32_t *)s.keys)[k];
}
template <typename T> __device__ inline T sum_element(const sum_job &s, const T *from, int64_t k) {
    return s.position == NULL
               ? from[k]
               : from[s.wide_positions ? ((const int64_t *)s.position)[k] : (int64_t)((const uint32_t *)s.position)[k]];
}

/* The warp adds to `sum` the elements with the key from k on, in order. */
template <typename T> __device__ inline T sum_by_warp(const sum_job &s, const T *from, int64_t key, int64_t k, T sum) {
    const int lane = (int)threadIdx.x % WARP;
    for (int count = WARP; count == WARP; k += WARP) {
        const bool mine = k + lane < s.n && sum_key(s, k + lane) == key;
        const T x = mine ? sum_element(s, from, k + lane) : (T)0;
        count = __popc(__ballot_sync(~0u, mine));
        for (int i = 0; i < count; i++) {
            sum += __shfl_sync(~0u, x, i);
        }
    }
    return sum;
}

template <typename T> static __global__ void __launch_bounds__(SUM_NT) kernel_sum(sum_job s, const T *from, T *to) {
    const int lane = (int)threadIdx.x % WARP;
    const int64_t stride = (int64_t)gridDim.x * SUM_NT;
    for (int64_t first = (int64_t)blockIdx.x * SUM_NT + threadIdx.x - lane; first < s.n; first += stride) {
        int64_t k = first + lane, key = k < s.n ? sum_key(s, k) : s.extent;
        const bool begins = key < s.extent && (k == 0 || sum_key(s, k - 1) != key);
        T sum = begins ? to[key] : (T)0;
        for (int i = 0; begins && i < SUM_ALONE && k < s.n && sum_key(s, k) == key; i++, k++) {
            sum += sum_element(s, from, k);
        }
        const bool goes_on = begins && k < s.n && sum_key(s, k) == key;
        for (unsigned left = __ballot_sync(~0u, goes_on); left != 0; left &= left - 1) {
            const int who = __ffs((int)left) - 1;
            const T all =
                sum_by_warp(s, from, __shfl_sync(~0u, key, who), __shfl_sync(~0u, k, who), __shfl_sync(~0u, sum, who));
            sum = lane == who ? all : sum;
        }
        if (begins) {
            to[key] = sum;
        }
    }
}
