// Visits every item of an array together with its segment, on the GPU. A block first finds the range of segments of all
// its items; each item is then searched in that range only.
#pragma once

#include "segments.h"

enum { ITEM_THREADS = 256, ITEMS_A_BLOCK = 2048 };

inline unsigned item_blocks(int64_t n) { return (unsigned)((n + ITEMS_A_BLOCK - 1) / ITEMS_A_BLOCK); }

/* The segment of an item, found by the whole block: each round probes one place for each thread. */
__device__ inline int64_t block_segment_of(const int32_t *offsets, int64_t segments, int64_t item) {
    int64_t low = 0, high = segments;
    while (high - low > 1) {
        const int64_t step = (high - low + ITEM_THREADS - 1) / ITEM_THREADS;
        const int64_t probe = low + (threadIdx.x + 1) * step;
        low += step * __syncthreads_count(probe < high && offsets[probe] <= item);
        high = min(low + step, high);
    }
    return low;
}

/* Calls act(s, i) for each item i of this block; s is its segment. */
template <typename Act> __device__ inline void each_item(const lsp_segsort_args &a, Act act) {
    const int32_t *offsets = (const int32_t *)a.offsets;
    const int64_t begin = (int64_t)blockIdx.x * ITEMS_A_BLOCK, end = min(begin + ITEMS_A_BLOCK, a.n);
    const int64_t first = block_segment_of(offsets, a.segments, begin);
    const int64_t last = block_segment_of(offsets, a.segments, end - 1) + 1;
    for (int64_t i = begin + threadIdx.x; i < end; i += ITEM_THREADS) {
        act(bench_segment_of(offsets, first, last, i), i);
    }
}
