/* For few items in few segments, most of them long: one block lists all segments, short ones too. It takes the place of
 * the tile kernel and of the launch that clears the counters. */
#pragma once

#include "tile_row.cuh"

enum { LIST_FEW_NT = 512, LIST_FEW_SEGMENTS = TILE_EACH * LIST_FEW_NT };

static __global__ void __launch_bounds__(LIST_FEW_NT) kernel_list_few(seg_job job) {
    const int t = (int)threadIdx.x;
    int64_t begin[TILE_EACH], n[TILE_EACH];
    static_assert(sizeof(seg_counters) % 8 == 0 && sizeof(seg_counters) / 8 <= LIST_FEW_NT,
                  "each counter has a thread that clears it");
    if (t < (int)(sizeof(seg_counters) / 8)) {
        ((ull *)job.counters)[t] = 0;
    }
#pragma unroll
    for (int k = 0; k < TILE_EACH; k++) {
        n[k] = begin[k] = 0;
        if (t + k * LIST_FEW_NT < job.segments) {
            int64_t end;
            segment_at(job, t + k * LIST_FEW_NT, &begin[k], &end);
            n[k] = end - begin[k];
        }
    }
    list_long<true>(job, begin, n, 0); /* job.tile_longest is 0 */
}
