/* Prepares a map for the two phases: a counting sort of the destinations by (tile, bin). A block takes a bin. The first
 * kernel counts the elements that each tile has for it: the lengths of the runs. Their prefix sums, tile by tile, tell
 * where runs begin. The second kernel ranks the elements again and writes places, and where
 * runs begin. The order inside a run is
 * left to chance: it decides no result. */
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

/* The runs of the block's bin, in shared memory. A run is what one tile has for the bin. */
typedef struct runs_bin {
    unsigned *next, *shift;    /* tiles: where the run begins in the bin, and from there to its staged elements */
    unsigned *begins, *before; /* words: see gather_runs */
    uint16_t *order;           /* places in the bin, run by run */
} runs_bin;

__device__ inline runs_bin runs_lay_out(const gather_stage &s, char *shared) {
    runs_bin r;
    r.next = (unsigned *)shared;
    r.shift = r.next + s.tiles;
    r.begins = r.shift + s.tiles;
    r.before = r.begins + s.sizes.bin / 32;
    r.order = (uint16_t *)(r.before + s.sizes.bin / 32);
    return r;
}

/* Numbers the runs that are not empty, and writes their shifts and the words that find them. */
template <int WARPS>
__device__ inline void runs_write_shifts(const gather_stage &s, const runs_bin &r, const int64_t *lengths,
                                         unsigned moved, unsigned (&sums)[WARPS]) {
    const unsigned tiles = (unsigned)s.tiles, words = (moved + 31) / 32;
    const int64_t word = s.bin_begin[blockIdx.x] / 32 + blockIdx.x;
    for (unsigned w = threadIdx.x; w < words; w += RUNS_NT) {
        r.begins[w] = 0;
    }
    __syncthreads();
    for (unsigned t = threadIdx.x; t < tiles; t += RUNS_NT) {
        r.shift[t] = (unsigned)lengths[(int64_t)t * s.bins + blockIdx.x] - r.next[t];
        if (r.next[t] < (t + 1 < tiles ? r.next[t + 1] : moved)) {
            atomicOr(r.begins + r.next[t] / 32, 1u << r.next[t] % 32);
        }
    }
    __syncthreads();
    for (unsigned w = threadIdx.x; w < words; w += RUNS_NT) {
        r.before[w] = (unsigned)__popc(r.begins[w]);
    }
    __syncthreads();
    runs_scan(r.before, words, sums);
    for (unsigned w = threadIdx.x; w < words; w += RUNS_NT) {
        s.runs[word + w] = gather_runs{r.begins[w], r.before[w]};
    }
    for (unsigned t = threadIdx.x; t < tiles; t += RUNS_NT) {
        const unsigned w = r.next[t] / 32, below = (1u << r.next[t] % 32) - 1;
        if (r.next[t] < (t + 1 < tiles ? r.next[t + 1] : moved)) {
            s.shift[(int64_t)blockIdx.x * tiles + r.before[w] + (unsigned)__popc(r.begins[w] & below)] = r.shift[t];
        }
    }
    __syncthreads();
}

/* lengths: their exclusive prefix sums. */
template <typename I>
static __global__ void __launch_bounds__(RUNS_NT)
    kernel_write_runs(gather_stage s, const I *map, const int64_t *lengths) {
    LSP_DYNAMIC_SHARED(shared);
    __shared__ unsigned sums[RUNS_WARPS];
    const runs_bin r = runs_lay_out(s, shared);
    const int64_t first = (int64_t)blockIdx.x * s.sizes.bin, begin = s.bin_begin[blockIdx.x];
    const unsigned size = (unsigned)min((int64_t)s.sizes.bin, s.dests - first);
    runs_count(s, map, r.next, first, size);
    const unsigned moved = runs_scan(r.next, (unsigned)s.tiles, sums);
    runs_write_shifts(s, r, lengths, moved, sums);
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
