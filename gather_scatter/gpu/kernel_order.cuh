/* Kernels that make lists of indices: who owns a destination, who wins, keys to sort by, the first index outside. Each
 * thread takes one index a step of a grid-stride loop. */
#pragma once

#include "gate.cuh"

enum { ORDER_NT = 256, ORDER_VT = 4 };

__device__ inline int64_t order_first() { return (int64_t)blockIdx.x * ORDER_NT + threadIdx.x; }
__device__ inline int64_t order_stride() { return (int64_t)gridDim.x * ORDER_NT; }

/* owner[d] = max(owner[d], k) for index[k] == d. */
template <typename I, typename O>
static __global__ void __launch_bounds__(ORDER_NT)
    kernel_owner(const I *index, int64_t n, int64_t extent, O *owner, long long *fault, gather_gate gate) {
    int64_t bad = -1;
    if (gate_is_closed(gate)) {
        return;
    }
    for (int64_t k = order_first(); k < n; k += order_stride()) {
        const int64_t i = __ldcs(index + k);
        if ((uint64_t)i < (uint64_t)extent) {
            atomicMax(owner + i, (O)k);
        } else {
            bad = k;
        }
    }
    report_bad(fault, bad);
}

template <typename I, typename O>
static __global__ void __launch_bounds__(ORDER_NT)
    kernel_winners(const I *index, int64_t n, int64_t extent, const O *owner, I *winners) {
    for (int64_t k = order_first(); k < n; k += order_stride()) {
        const I i = __ldcs(index + k);
        __stcs(winners + k, (uint64_t)i < (uint64_t)extent && owner[i] == (O)k ? i : (I)-1);
    }
}

template <typename O>
static __global__ void __launch_bounds__(ORDER_NT) kernel_count_owned(const O *owner, int64_t n, ull *owned) {
    ull count = 0;
    for (int64_t k = order_first(); k < n; k += order_stride()) {
        count += owner[k] >= 0;
    }
    count = warp_sum(count);
    if (threadIdx.x % WARP == 0 && count > 0) {
        atomicAdd(owned, count);
    }
}

/* keys[k] = index[k], or extent for an index outside. */
template <typename I, typename K>
static __global__ void __launch_bounds__(ORDER_NT)
    kernel_keys(const I *index, int64_t n, int64_t extent, K *keys, long long *fault) {
    int64_t bad = -1;
    for (int64_t k = order_first(); k < n; k += order_stride()) {
        const int64_t i = __ldcs(index + k);
        const bool good = (uint64_t)i < (uint64_t)extent;
        bad = good ? bad : k;
        keys[k] = (K)(good ? i : extent);
    }
    report_bad(fault, bad);
}

/* *first = min(*first, the first position whose index is outside). */
template <typename I>
static __global__ void __launch_bounds__(ORDER_NT)
    kernel_first_bad(const I *index, int64_t n, int64_t extent, ull *first) {
    for (int64_t k = order_first(); k < n; k += order_stride()) {
        const int64_t i = __ldcs(index + k);
        if ((uint64_t)i >= (uint64_t)extent) {
            atomicMin(first, (ull)k);
            return; /* later ones of this thread have higher positions */
        }
    }
}
