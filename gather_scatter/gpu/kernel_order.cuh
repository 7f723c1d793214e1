/* Kernels that make lists of indices: who owns a destination, who wins, keys to sort by. */
#pragma once

#include "gate.cuh"

enum { ORDER_NT = 256, ORDER_VT = 4 };

/* Index k, which caches need not keep. */
__device__ inline int64_t order_read(const gather_list &index, int64_t k) {
    return index.type == LSP_I32 ? __ldcs((const int32_t *)index.at + k) : __ldcs((const long long *)index.at + k);
}

/* owner[d] = max(owner[d], k) for index[k] == d. */
template <typename O>
static __global__ void __launch_bounds__(ORDER_NT)
    kernel_owner(gather_list index, int64_t n, int64_t extent, O *owner, long long *fault, gather_gate gate) {
    int64_t bad = -1;
    if (gate_is_closed(gate)) {
        return;
    }
    EACH_ITEM(k, n, ORDER_NT) {
        const int64_t i = order_read(index, k);
        if ((uint64_t)i < (uint64_t)extent) {
            atomicMax(owner + i, (O)k);
        } else {
            bad = k;
        }
    }
    report_bad(fault, bad);
}

static __global__ void __launch_bounds__(ORDER_NT)
    kernel_winners(gather_list index, int64_t n, int64_t extent, gather_list owner, void *winners) {
    EACH_ITEM(k, n, ORDER_NT) {
        const int64_t i = order_read(index, k);
        const bool wins = (uint64_t)i < (uint64_t)extent && lsp_index_at(owner.at, owner.type, i) == k;
        if (index.type == LSP_I32) {
            __stcs((int32_t *)winners + k, wins ? (int32_t)i : -1);
        } else {
            __stcs((long long *)winners + k, wins ? (long long)i : -1);
        }
    }
}

/* keys[k] = index[k], or extent for an index outside. */
template <typename K>
static __global__ void __launch_bounds__(ORDER_NT)
    kernel_keys(gather_list index, int64_t n, int64_t extent, K *keys, long long *fault) {
    int64_t bad = -1;
    EACH_ITEM(k, n, ORDER_NT) {
        const int64_t i = order_read(index, k);
        const bool good = (uint64_t)i < (uint64_t)extent;
        bad = good ? bad : k;
        keys[k] = (K)(good ? i : extent);
    }
    report_bad(fault, bad);
}
