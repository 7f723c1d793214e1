/* For few items in few segments, most of them long: one block lists all segments, short ones too. It takes the place of
 * the tile kernel and of the launch that clears the counters. */
#pragma once

#include "giant_shares.cuh"

enum {
    LIST_FEW_NT = 512,
    LIST_FEW_EACH = 4, /* segments of a thread */
    LIST_FEW_SEGMENTS = LIST_FEW_EACH * LIST_FEW_NT
};

static __global__ void __launch_bounds__(LIST_FEW_NT) kernel_list_few(seg_job job) {
    __shared__ unsigned count[LIST_CLASSES];
    __shared__ ull sum;
    const int t = (int)threadIdx.x;
    int64_t begin[LIST_FEW_EACH], n[LIST_FEW_EACH];
    int c[LIST_FEW_EACH];
    unsigned rank[LIST_FEW_EACH];
    ull items = 0;
    static_assert(sizeof(seg_counters) % 8 == 0 && sizeof(seg_counters) / 8 <= LIST_FEW_NT,
                  "each counter has a thread that clears it");
    if (t < (int)(sizeof(seg_counters) / 8)) {
        ((ull *)job.counters)[t] = 0;
    }
    if (t < LIST_CLASSES) {
        count[t] = 0;
        sum = 0;
    }
#pragma unroll
    for (int k = 0; k < LIST_FEW_EACH; k++) {
        n[k] = begin[k] = 0;
        if (t + k * LIST_FEW_NT < job.segments) {
            int64_t end;
            segment_at(job, t + k * LIST_FEW_NT, &begin[k], &end);
            n[k] = end - begin[k];
            items += (ull)n[k];
        }
    }
    __syncthreads();
#pragma unroll 1
    for (int mask = 1; mask < WARP; mask *= 2) {
        items += __shfl_xor_sync(~0u, items, mask);
    }
    if (t % WARP == 0) {
        atomicAdd(&sum, items);
    }
    __syncthreads();
    if (sum > (ull)job.n) { /* segments overlap, and their items do not fit the lists */
        *job.fault = 1;
        return;
    }
#pragma unroll
    for (int k = 0; k < LIST_FEW_EACH; k++) {
        if (n[k] > job.large_longest) {
            giant_add(job, begin[k], begin[k] + n[k]);
        } else if (n[k] > 0) {
            c[k] = class_of(job, (int)n[k]);
            rank[k] = atomicAdd(&count[c[k]], 1u);
        }
    }
    __syncthreads();
    if (t < LIST_CLASSES) {
        job.counters->listed[t] = count[t];
    }
#pragma unroll
    for (int k = 0; k < LIST_FEW_EACH; k++) {
        if (n[k] > 0 && n[k] <= job.large_longest) {
            job.list[c[k]][rank[k]] = entry_make(begin[k], FROM_INPUT, n[k]);
        }
    }
}
