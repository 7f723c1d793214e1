/* Prepares a map for the two phases: a counting sort of the destinations by (tile, bin). A block takes a bin. The first
 * kernel counts the elements that each tile has for it: the lengths of the runs. Their prefix sums, tile by tile, tell
 * where runs begin. The second kernel ranks the elements again and writes places and slots. The order inside a run is
 * left to chance: it decides no result. */
#ifndef LSP_GATHER_SCATTER_GPU_KERNEL_RUNS_CUH
#define LSP_GATHER_SCATTER_GPU_KERNEL_RUNS_CUH

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

/* runs[t * bins + b] = elements from tile t to bin b; of_bin[b] = all elements to bin b. */
template <typename I>
static __global__ void __launch_bounds__(RUNS_NT)
    kernel_count_runs(gather_stage s, const I *map, int64_t *runs, int64_t *of_bin) {
    LSP_DYNAMIC_SHARED(shared);
    __shared__ unsigned sums[RUNS_WARPS];
    unsigned *const counts = (unsigned *)shared, sum = 0, all;
    const int64_t first = (int64_t)blockIdx.x * s.sizes.bin;
    runs_count(s, map, counts, first, (unsigned)min((int64_t)s.sizes.bin, s.dests - first));
    for (int64_t t = threadIdx.x; t < s.tiles; t += RUNS_NT) {
        runs[t * s.bins + blockIdx.x] = counts[t];
        sum += counts[t];
    }
    block_scan(sum, sums, &all);
    if (threadIdx.x == 0) {
        of_bin[blockIdx.x] = all;
    }
}

/* Replaces counts[0 .. n-1] by its exclusive prefix sums; a block. Ends with a barrier. */
template <int WARPS> __device__ inline unsigned runs_scan(unsigned *counts, unsigned n, unsigned (&sums)[WARPS]) {
    const unsigned each = (n + WARPS * WARP - 1) / (WARPS * WARP);
    const unsigned begin = min(threadIdx.x * each, n), end = min(begin + each, n);
    unsigned sum = 0, all;
    for (unsigned t = begin; t < end; t++) {
        sum += counts[t];
    }
    unsigned before = block_scan(sum, sums, &all);
    for (unsigned t = begin; t < end; t++) {
        const unsigned count = counts[t];
        counts[t] = before;
        before += count;
    }
    __syncthreads();
    return all;
}

/* runs: the exclusive prefix sums of the lengths. */
template <typename I>
static __global__ void __launch_bounds__(RUNS_NT) kernel_write_runs(gather_stage s, const I *map, const int64_t *runs) {
    LSP_DYNAMIC_SHARED(shared);
    __shared__ unsigned sums[RUNS_WARPS];
    const unsigned tiles = (unsigned)s.tiles;
    unsigned *const next = (unsigned *)shared, *const shift = next + tiles;
    uint16_t *const order = (uint16_t *)(shift + tiles);
    const int64_t first = (int64_t)blockIdx.x * s.sizes.bin, begin = s.bin_begin[blockIdx.x];
    const unsigned size = (unsigned)min((int64_t)s.sizes.bin, s.dests - first);
    runs_count(s, map, next, first, size);
    const unsigned moved = runs_scan(next, tiles, sums);
    for (unsigned t = threadIdx.x; t < tiles; t += RUNS_NT) {
        shift[t] = (unsigned)runs[(int64_t)t * s.bins + blockIdx.x] - next[t]; /* from place in the bin to slot */
    }
    __syncthreads();
    for (unsigned d = threadIdx.x; d < size; d += RUNS_NT) {
        const int64_t i = map[first + d];
        if ((uint64_t)i < (uint64_t)s.sources) {
            order[atomicAdd(next + (unsigned)i / s.sizes.tile, 1u)] = (uint16_t)d;
        }
    }
    __syncthreads();
    for (unsigned j = threadIdx.x; j < moved; j += RUNS_NT) {
        const unsigned d = order[j], i = (unsigned)map[first + d], t = i / s.sizes.tile, slot = shift[t] + j;
        s.slot[begin + j] = slot;
        s.place_in_bin[begin + j] = (uint16_t)d;
        s.place_in_tile[slot] = (uint16_t)(i - t * s.sizes.tile);
    }
}

/* tile_begin[t] = where the first run of tile t begins. */
static __global__ void __launch_bounds__(RUNS_NT) kernel_tile_begins(gather_stage s, const int64_t *runs) {
    for (int64_t t = (int64_t)blockIdx.x * RUNS_NT + threadIdx.x; t <= s.tiles; t += (int64_t)gridDim.x * RUNS_NT) {
        s.tile_begin[t] = runs[t * s.bins];
    }
}

#endif
