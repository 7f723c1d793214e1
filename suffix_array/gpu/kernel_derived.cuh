/* What a GPU makes of a suffix array by itself: common prefixes, and the rows of a transform. */
#pragma once

#include "kernel_text.cuh"
#include "suffix_array/bodies.h"

/* ---- common prefixes ---- */

enum {
    PREFIX_ITEMS = 512, /* of a warp */
    PREFIX_ALONE = 64,  /* symbols that a thread compares */
    PREFIX_STEP = 16    /* rows of symbols that a warp compares at a time */
};

/* The symbols that suffixes i and j have in common, but at most PREFIX_ALONE; *open: there may be more. */
__device__ inline int64_t short_prefix(const lsp_deriving &d, int64_t i, int64_t j, bool *open) {
    int64_t length = 0;
    while (length < PREFIX_ALONE &&
           (length == 0 || (!lsp_is_border(&d, i + length) && !lsp_is_border(&d, j + length))) &&
           lsp_text_at(&d, i + length) == lsp_text_at(&d, j + length)) {
        length++;
    }
    *open = length == PREFIX_ALONE;
    return length;
}

/* The same for long prefixes, by a warp, from `length` >= 1 on. */
__device__ inline int64_t long_prefix(const lsp_deriving &d, int64_t i, int64_t j, int64_t length) {
    for (;; length += PREFIX_STEP * WARP) {
        for (int k = 0; k < PREFIX_STEP; k++) {
            const int64_t at = length + k * WARP + threadIdx.x % WARP;
            const bool differ = lsp_is_border(&d, i + at) || lsp_is_border(&d, j + at) ||
                                lsp_text_at(&d, i + at) != lsp_text_at(&d, j + at);
            const unsigned votes = __ballot_sync(~0u, differ);
            if (votes != 0) {
                return length + k * WARP + __ffs((int)votes) - 1;
            }
        }
    }
}

/* If the symbols before suffix i and before its neighbour are equal too, its prefix is one symbol shorter than that of
 * suffix i - 1. The others' lengths add up to 2 n log n at most, and are found here: places[i] = i + length, else 0.
 * most[w] = the largest of warp w's items. */
static __global__ void __launch_bounds__(TEXT_NT)
    kernel_find_prefixes(lsp_deriving d, void *places, bool wide, int64_t *most) {
    const int lane = threadIdx.x % WARP;
    const int64_t warp = ((int64_t)blockIdx.x * TEXT_NT + threadIdx.x) / WARP, first = warp * PREFIX_ITEMS;
    int64_t largest = 0;
    for (int64_t row = first; row < min(first + PREFIX_ITEMS, d.n); row += WARP) {
        const int64_t i = row + lane, j = i < d.n ? index_at(places, wide, i) : -1;
        bool open = false;
        int64_t length = 0;
        const bool follows = j > 0 && i > 0 && !lsp_is_border(&d, i) && !lsp_is_border(&d, j) &&
                             lsp_text_at(&d, i - 1) == lsp_text_at(&d, j - 1);
        if (j >= 0 && !follows) {
            length = short_prefix(d, i, j, &open);
        }
        for (unsigned left = __ballot_sync(~0u, open); left != 0; left &= left - 1) {
            const int from = __ffs((int)left) - 1;
            const int64_t whole = long_prefix(d, __shfl_sync(~0u, i, from), __shfl_sync(~0u, j, from), PREFIX_ALONE);
            length = lane == from ? whole : length;
        }
        const int64_t reach = i < d.n && !follows ? i + length : 0;
        if (i < d.n) {
            index_set(places, wide, i, reach);
        }
        largest = max(largest, reach);
    }
    largest = warp_max(largest);
    if (lane == 0 && first < d.n) {
        most[warp] = largest;
    }
}

/* most[w] = the largest of those before. One block. */
static __global__ void __launch_bounds__(TEXT_NT) kernel_reach_before(int64_t *most, int64_t warps) {
    __shared__ int64_t of_warp[TEXT_NT / WARP];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int64_t before = 0;
    for (int64_t first = 0; first < warps; first += TEXT_NT) {
        const int64_t w = first + threadIdx.x;
        int64_t reach = w < warps ? most[w] : 0;
        for (int step = 1; step < WARP; step *= 2) {
            const int64_t lower = __shfl_up_sync(~0u, reach, step);
            reach = lane >= step ? max(reach, lower) : reach;
        }
        int64_t left = __shfl_up_sync(~0u, reach, 1);
        left = lane > 0 ? left : 0;
        if (lane == WARP - 1) {
            of_warp[warp] = reach;
        }
        __syncthreads();
        int64_t all = before;
        for (int k = 0; k < TEXT_NT / WARP; k++) {
            left = k < warp ? max(left, of_warp[k]) : left;
            all = max(all, of_warp[k]);
        }
        if (w < warps) {
            most[w] = max(before, left);
        }
        before = all;
        __syncthreads();
    }
}

/* places[i] = the length: what the suffixes up to i reach, minus i. */
static __global__ void __launch_bounds__(TEXT_NT)
    kernel_spread_prefixes(lsp_deriving d, void *places, bool wide, const int64_t *before) {
    const int lane = threadIdx.x % WARP;
    const int64_t warp = ((int64_t)blockIdx.x * TEXT_NT + threadIdx.x) / WARP, first = warp * PREFIX_ITEMS;
    int64_t reached = first < d.n ? before[warp] : 0;
    for (int64_t row = first; row < min(first + PREFIX_ITEMS, d.n); row += WARP) {
        const int64_t i = row + lane;
        int64_t reach = i < d.n ? index_at(places, wide, i) : 0;
        for (int step = 1; step < WARP; step *= 2) {
            const int64_t lower = __shfl_up_sync(~0u, reach, step);
            reach = lane >= step ? max(reach, lower) : reach;
        }
        reach = max(reach, reached);
        if (i < d.n) {
            index_set(places, wide, i, max(reach - i, (int64_t)0));
        }
        reached = __shfl_sync(~0u, reach, WARP - 1);
    }
}

/* ---- the inverse of a transform ---- */

/* Row by row, from row `primary` to row 0, see lsp_suffix_unbwt. Many walkers go at once, each from a row of its own to
 * the row where the next one begins: walker w from row (w << shift) + 1, the last one from `primary`. */
typedef struct derived_rows {
    const uint32_t *keys, *places; /* of rows from 1 on: first symbol; place in the transform */
    uint32_t primary;
    int shift;
    int32_t walkers;
} derived_rows;

__device__ inline uint32_t walker_row(const derived_rows &d, int64_t w) {
    return w == d.walkers - 1 ? d.primary : ((uint32_t)w << d.shift) + 1;
}
__device__ inline uint32_t next_row(const derived_rows &d, uint32_t row) {
    const uint32_t place = d.places[row - 1];
    return place + (place >= d.primary);
}

/* lengths[w] = the rows of walker w; after[w] = the walker behind it, -1: row 0 is reached. */
static __global__ void __launch_bounds__(TEXT_NT) kernel_walk(derived_rows d, int32_t *lengths, int32_t *after) {
    EACH_ITEM(w, d.walkers, TEXT_NT) {
        uint32_t row = walker_row(d, w);
        int32_t length = 0;
        do {
            row = next_row(d, row);
            length++;
        } while (row != 0 && ((row - 1) & ((1u << d.shift) - 1)) != 0);
        lengths[w] = length;
        after[w] = row == 0 ? -1 : (int32_t)((row - 1) >> d.shift);
    }
}

/* Walker w writes its symbols from begin[w] on; -1: none. */
static __global__ void __launch_bounds__(TEXT_NT)
    kernel_write_rows(derived_rows d, const int32_t *lengths, const int32_t *begin, int bytes, void *symbols) {
    EACH_ITEM(w, d.walkers, TEXT_NT) {
        uint32_t row = walker_row(d, w);
        for (int32_t k = 0; begin[w] >= 0 && k < lengths[w]; k++, row = next_row(d, row)) {
            lsp_symbol_set(symbols, bytes, begin[w] + k, d.keys[row - 1]);
        }
    }
}
