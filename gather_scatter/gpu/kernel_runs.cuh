/* Prepares a map for the two phases: a counting sort of the destinations by (tile, bin). A block takes a bin. The first
 * kernel counts the elements that each tile has for it: the lengths of the runs. Their prefix sums, tile by tile, tell
 * where runs begin. The second kernel ranks the elements again and writes places, and where runs begin. The order
 * inside a run is left to chance: it decides no result. */
#pragma once

#include "gate.cuh"

enum { RUNS_NT = 1024, RUNS_WARPS = RUNS_NT / WARP };

/* counts[t] = elements of the block's bin from tile t. Ends with a barrier. */
template <typename I>
__device__ inline void runs_count(const gather_stage &s, const I *map, unsigned *counts, int64_t first, unsigned size) {
    for (int64_t t = threadIdx.x; t < s.tiles; t += RUNS_NT) {
        counts[t] = 0;
    }
    __syncthreads();
    for (unsigned d = threadIdx.x; d < size; d += RUNS_NT) {
        const int64_t i = map[first + d];
        if ((uint64_t)i < (uint64_t)s.sources) {
            atomicAdd(counts + (unsigned)i / s.sizes.tile, 1u);
        }
    }
    __syncthreads();
}

/* lengths[t * bins + b] = elements from tile t to bin b; of_bin[b] = all elements to bin b. */
template <typename I>
static __global__ void __launch_bounds__(RUNS_NT)
    kernel_count_runs(gather_stage s, const I *map, int64_t *lengths, int64_t *of_bin) {
    LSP_DYNAMIC_SHARED(shared);
    __shared__ unsigned sums[RUNS_WARPS];
    unsigned *const counts = (unsigned *)shared, sum = 0, all;
    const int64_t first = (int64_t)blockIdx.x * s.sizes.bin;
    runs_count(s, map, counts, first, (unsigned)min((int64_t)s.sizes.bin, s.dests - first));
    for (int64_t t = threadIdx.x; t < s.tiles; t += RUNS_NT) {
        lengths[t * s.bins + blockIdx.x] = counts[t];
        sum += counts[t];
    }
    block_scan(sum, sums, &all);
    if (threadIdx.x == 0) {
        of_bin[blockIdx.x] = all;
    }
}

/* lengths: their exclusive prefix sums. */
template <typename I>
static __global__ void __launch_bounds__(RUNS_NT)
    kernel_write_runs(gather_stage s, const I *map, const int64_t *lengths) {
    LSP_DYNAMIC_SHARED(shared);
    __shared__ unsigned sums[RUNS_WARPS];
    const runs_bin r = runs_lay_out(shared, s.tiles, s.sizes.bin);
    const int64_t first = (int64_t)blockIdx.x * s.sizes.bin, begin = s.bin_begin[blockIdx.x];
    const unsigned size = (unsigned)min((int64_t)s.sizes.bin, s.dests - first), tiles = (unsigned)s.tiles;
    runs_count(s, map, r.next, first, size);
    const unsigned moved = runs_scan(r.next, tiles, sums);
    runs_write(
        r, tiles, moved, (moved + 31) / 32, [&](unsigned t) { return (unsigned)lengths[t * s.bins + blockIdx.x]; },
        s.runs + begin / 32 + blockIdx.x, s.shift + (int64_t)blockIdx.x * tiles, sums);
    for (unsigned d = threadIdx.x; d < size; d += RUNS_NT) {
        const int64_t i = map[first + d];
        if ((uint64_t)i < (uint64_t)s.sources) {
            r.order[atomicAdd(r.next + (unsigned)i / s.sizes.tile, 1u)] = (uint16_t)d;
        }
    }
    __syncthreads();
    for (unsigned j = threadIdx.x; j < moved; j += RUNS_NT) {
        const unsigned d = r.order[j], i = (unsigned)map[first + d], t = i / s.sizes.tile;
        s.place_in_bin[begin + j] = (uint16_t)d;
        s.place_in_tile[r.shift[t] + j] = (uint16_t)(i - t * s.sizes.tile);
    }
}

/* tile_begin[t] = where the first run of tile t begins. */
static __global__ void __launch_bounds__(RUNS_NT) kernel_tile_begins(gather_stage s, const int64_t *lengths) {
    for (int64_t t = (int64_t)blockIdx.x * RUNS_NT + threadIdx.x; t <= s.tiles; t += (int64_t)gridDim.x * RUNS_NT) {
        s.tile_begin[t] = lengths[t * s.bins];
    }
}
