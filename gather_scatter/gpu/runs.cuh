/* Runs, for the plans of rooms that move elements from tiles to bins. What one tile has for a bin is a run: contiguous
 * in the order (tile, bin), and in the order (bin, tile). A block makes those of its bin, whose counts lie in shared
 * memory. */
#pragma once

#include "core/block.cuh"

/* 32 elements of a bin: a bit for each that begins a run, and the runs of the bin that begin before. */
typedef struct alignas(8) gather_runs {
    uint32_t begins, before;
} gather_runs;

/* The number of the run that element i of a bin is in. */
__device__ inline unsigned runs_find(const gather_runs &word, unsigned i) {
    return word.before + (unsigned)__popc(word.begins & ((2u << i % 32) - 1)) - 1;
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

/* The runs of the block's bin, in shared memory. */
typedef struct runs_bin {
    unsigned *next, *shift;    /* tiles: where the run begins in the bin, and from there to its elements in the tile */
    unsigned *begins, *before; /* words: see gather_runs */
    uint16_t *order;           /* places in the bin, run by run */
} runs_bin;

/* For `size` elements of a bin, a multiple of 32. */
__device__ inline runs_bin runs_lay_out(char *shared, int64_t tiles, unsigned size) {
    runs_bin r;
    r.next = (unsigned *)shared;
    r.shift = r.next + tiles;
    r.begins = r.shift + tiles;
    r.before = r.begins + size / 32;
    r.order = (uint16_t *)(r.before + size / 32);
    return r;
}

/* Numbers the runs that are not empty; writes `words` words that find them to runs[], and their shifts to shift[].
 * r.next is scanned; the bin has `moved` elements. first(t): where the run of tile t begins in the order (tile, bin).
 */
template <int WARPS, typename F>
__device__ inline void runs_write(const runs_bin &r, unsigned tiles, unsigned moved, unsigned words, F first,
                                  gather_runs *runs, unsigned *shift, unsigned (&sums)[WARPS]) {
    for (unsigned w = threadIdx.x; w < words; w += blockDim.x) {
        r.begins[w] = 0;
    }
    __syncthreads();
    for (unsigned t = threadIdx.x; t < tiles; t += blockDim.x) {
        r.shift[t] = first(t) - r.next[t];
        if (r.next[t] < (t + 1 < tiles ? r.next[t + 1] : moved)) {
            atomicOr(r.begins + r.next[t] / 32, 1u << r.next[t] % 32);
        }
    }
    __syncthreads();
    for (unsigned w = threadIdx.x; w < words; w += blockDim.x) {
        r.before[w] = (unsigned)__popc(r.begins[w]);
    }
    __syncthreads();
    runs_scan(r.before, words, sums);
    for (unsigned w = threadIdx.x; w < words; w += blockDim.x) {
        runs[w] = gather_runs{r.begins[w], r.before[w]};
    }
    for (unsigned t = threadIdx.x; t < tiles; t += blockDim.x) {
        const unsigned w = r.next[t] / 32, below = (1u << r.next[t] % 32) - 1;
        if (r.next[t] < (t + 1 < tiles ? r.next[t + 1] : moved)) {
            shift[r.before[w] + (unsigned)__popc(r.begins[w] & below)] = r.shift[t];
        }
    }
    __syncthreads();
}
