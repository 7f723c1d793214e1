/* What is made of a suffix array on a GPU: one item of the text or of the array a thread. Arrays of indices have either
 * width, symbols any. */
#pragma once

#include "kernel_text.cuh"

/* A text, its array, and a bit for each symbol, and for the end: does a string begin there? NULL: one text. */
typedef struct derived_text {
    int64_t n;
    const void *symbols;
    int symbol_bytes;
    const void *suffixes;
    bool wide; /* the array has 8 bytes an index, not 4 */
    const uint64_t *first;
} derived_text;

__device__ inline int64_t suffix_of(const derived_text &t, int64_t r) { return index_at(t.suffixes, t.wide, r); }
__device__ inline unsigned symbol_at(const derived_text &t, int64_t i) {
    return lsp_symbol_at(t.symbols, t.symbol_bytes, i);
}
/* Is i the end of the text, or does a string begin there? */
__device__ inline bool is_border(const derived_text &t, int64_t i) {
    return i >= t.n || (t.first != NULL && (t.first[i >> 6] >> (i & 63) & 1));
}

/* ---- what is wrong ---- */

/* *bad = the first place that holds no suffix; unchanged if there is none. */
static __global__ void __launch_bounds__(TEXT_NT) kernel_check_range(derived_text t, ull *bad) {
    EACH_ITEM(r, t.n, TEXT_NT) {
        const int64_t i = suffix_of(t, r);
        if (i < 0 || i >= t.n) {
            atomicMin(bad, (ull)r);
        }
    }
}

/* places[i] = the first place of suffix i. places: all ones before; values out of range are left out. */
static __global__ void __launch_bounds__(TEXT_NT) kernel_find_places(derived_text t, void *places, bool wide) {
    EACH_ITEM(r, t.n, TEXT_NT) {
        const int64_t i = suffix_of(t, r);
        if (i >= 0 && i < t.n) {
            if (wide) {
                atomicMin((ull *)places + i, (ull)r);
            } else {
                atomicMin((unsigned *)places + i, (unsigned)r);
            }
        }
    }
}

/* *bad = the first place whose suffix stands before it too, or is none; *twice = the lowest that stands twice. */
static __global__ void __launch_bounds__(TEXT_NT)
    kernel_check_once(derived_text t, const void *places, bool wide, ull *bad, ull *twice) {
    EACH_ITEM(r, t.n, TEXT_NT) {
        const int64_t i = suffix_of(t, r);
        if (i < 0 || i >= t.n) {
            atomicMin(bad, (ull)r);
        } else if (index_at(places, wide, i) != r) {
            atomicMin(bad, (ull)r);
            atomicMin(twice, (ull)i);
        }
    }
}

/* *bad = the first place whose suffix comes before the one at the place before. */
static __global__ void __launch_bounds__(TEXT_NT)
    kernel_check_order(derived_text t, const void *places, bool wide, ull *bad) {
    EACH_ITEM(r, t.n, TEXT_NT) {
        if (r > 0) {
            const int64_t i = suffix_of(t, r - 1), j = suffix_of(t, r);
            const unsigned a = symbol_at(t, i), b = symbol_at(t, j);
            const int64_t x = is_border(t, i + 1) ? -1 : index_at(places, wide, i + 1);
            const int64_t y = is_border(t, j + 1) ? -1 : index_at(places, wide, j + 1);
            if (!(a < b || (a == b && (x < y || (x < 0 && y < 0 && i < j))))) {
                atomicMin(bad, (ull)r);
            }
        }
    }
}

/* to[i] = from[i], indices of either width. */
static __global__ void __launch_bounds__(TEXT_NT)
    kernel_copy_indices(int64_t n, const void *from, bool from_wide, void *to, bool to_wide) {
    EACH_ITEM(i, n, TEXT_NT) { index_set(to, to_wide, i, index_at(from, from_wide, i)); }
}

/* ---- common prefixes ---- */

/* before[i] = the suffix before suffix i in the order, -1 if there is none. */
static __global__ void __launch_bounds__(TEXT_NT) kernel_find_before(derived_text t, void *before, bool wide) {
    EACH_ITEM(r, t.n, TEXT_NT) { index_set(before, wide, suffix_of(t, r), r == 0 ? -1 : suffix_of(t, r - 1)); }
}

enum {
    PREFIX_ITEMS = 512, /* of a warp */
    PREFIX_ALONE = 64,  /* symbols that a thread compares */
    PREFIX_STEP = 16    /* rows of symbols that a warp compares at a time */
};

/* The symbols that suffixes i and j have in common, but at most PREFIX_ALONE; *open: there may be more. */
__device__ inline int64_t short_prefix(const derived_text &t, int64_t i, int64_t j, bool *open) {
    int64_t length = 0;
    while (length < PREFIX_ALONE && (length == 0 || (!is_border(t, i + length) && !is_border(t, j + length))) &&
           symbol_at(t, i + length) == symbol_at(t, j + length)) {
        length++;
    }
    *open = length == PREFIX_ALONE;
    return length;
}

/* The same for long prefixes, by a warp, from `length` >= 1 on. */
__device__ inline int64_t long_prefix(const derived_text &t, int64_t i, int64_t j, int64_t length) {
    for (;; length += PREFIX_STEP * WARP) {
        for (int k = 0; k < PREFIX_STEP; k++) {
            const int64_t at = length + k * WARP + threadIdx.x % WARP;
            const bool differ =
                is_border(t, i + at) || is_border(t, j + at) || symbol_at(t, i + at) != symbol_at(t, j + at);
            const unsigned votes = __ballot_sync(~0u, differ);
            if (votes != 0) {
                return length + k * WARP + __ffs((int)votes) - 1;
            }
        }
    }
}

/* If the symbols before suffix i and before its neighbour are equal too, its prefix is one symbol shorter than that of
 * suffix i - 1. The others' lengths add up to 2 n log n at most, and are found here: common[i] = i + length, else 0.
 * common: before[] as it was. most[w] = the largest of warp w's items. */
static __global__ void __launch_bounds__(TEXT_NT)
    kernel_find_prefixes(derived_text t, void *common, bool wide, int64_t *most) {
    const int lane = threadIdx.x % WARP;
    const int64_t warp = ((int64_t)blockIdx.x * TEXT_NT + threadIdx.x) / WARP, first = warp * PREFIX_ITEMS;
    int64_t largest = 0;
    for (int64_t row = first; row < min(first + PREFIX_ITEMS, t.n); row += WARP) {
        const int64_t i = row + lane, j = i < t.n ? index_at(common, wide, i) : -1;
        bool open = false;
        int64_t length = 0;
        const bool follows =
            j > 0 && i > 0 && !is_border(t, i) && !is_border(t, j) && symbol_at(t, i - 1) == symbol_at(t, j - 1);
        if (j >= 0 && !follows) {
            length = short_prefix(t, i, j, &open);
        }
        for (unsigned left = __ballot_sync(~0u, open); left != 0; left &= left - 1) {
            const int from = __ffs((int)left) - 1;
            const int64_t whole = long_prefix(t, __shfl_sync(~0u, i, from), __shfl_sync(~0u, j, from), PREFIX_ALONE);
            length = lane == from ? whole : length;
        }
        const int64_t reach = i < t.n && !follows ? i + length : 0;
        if (i < t.n) {
            index_set(common, wide, i, reach);
        }
        largest = max(largest, reach);
    }
    largest = warp_max(largest);
    if (lane == 0 && first < t.n) {
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

/* common[i] = the length: what the suffixes up to i reach, minus i. */
static __global__ void __launch_bounds__(TEXT_NT)
    kernel_spread_prefixes(int64_t n, void *common, bool wide, const int64_t *before) {
    const int lane = threadIdx.x % WARP;
    const int64_t warp = ((int64_t)blockIdx.x * TEXT_NT + threadIdx.x) / WARP, first = warp * PREFIX_ITEMS;
    int64_t reached = first < n ? before[warp] : 0;
    for (int64_t row = first; row < min(first + PREFIX_ITEMS, n); row += WARP) {
        const int64_t i = row + lane;
        int64_t reach = i < n ? index_at(common, wide, i) : 0;
        for (int step = 1; step < WARP; step *= 2) {
            const int64_t lower = __shfl_up_sync(~0u, reach, step);
            reach = lane >= step ? max(reach, lower) : reach;
        }
        reach = max(reach, reached);
        if (i < n) {
            index_set(common, wide, i, max(reach - i, (int64_t)0));
        }
        reached = __shfl_sync(~0u, reach, WARP - 1);
    }
}

/* lcp[r] = common[suffixes[r]]. */
static __global__ void __launch_bounds__(TEXT_NT)
    kernel_order_prefixes(derived_text t, const void *common, bool wide, void *lcp) {
    EACH_ITEM(r, t.n, TEXT_NT) { index_set(lcp, t.wide, r, r == 0 ? 0 : index_at(common, wide, suffix_of(t, r))); }
}

/* ---- the Burrows-Wheeler transform; ranks ---- */

static __global__ void __launch_bounds__(TEXT_NT) kernel_find_primary(derived_text t, ull *primary) {
    EACH_ITEM(r, t.n, TEXT_NT) {
        if (suffix_of(t, r) == 0) {
            atomicMin(primary, (ull)r + 1);
        }
    }
}

static __global__ void __launch_bounds__(TEXT_NT) kernel_transform(derived_text t, int64_t primary, void *bwt) {
    EACH_ITEM(r, t.n, TEXT_NT) {
        const int64_t i = suffix_of(t, r), at = r + 1 - (r + 1 > primary);
        if (i > 0) {
            lsp_symbol_set(bwt, t.symbol_bytes, at, symbol_at(t, i - 1));
        }
        if (r == 0) {
            lsp_symbol_set(bwt, t.symbol_bytes, 0, symbol_at(t, t.n - 1));
        }
    }
}

/* The inverse, see lsp_suffix_unbwt: row by row, from row `primary` to row 0. Many walkers go at once, each from a row
 * of its own to the row where the next one begins: walker w from row (w << shift) + 1, the last one from `primary`. */
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

static __global__ void __launch_bounds__(TEXT_NT)
    kernel_widen(int64_t n, const void *symbols, int bytes, uint32_t *keys) {
    EACH_ITEM(i, n, TEXT_NT) { keys[i] = lsp_symbol_at(symbols, bytes, i); }
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

/* ---- searches ---- */

typedef struct derived_patterns {
    int64_t count;
    const void *symbols;
    const int64_t *starts;
} derived_patterns;

/* As compare() of search.c. */
__device__ inline int compare_pattern(const derived_text &t, const derived_patterns &p, int64_t suffix, int64_t begin,
                                      int64_t end, int64_t *same) {
    int64_t k = *same;
    int order = 0;
    while (order == 0 && begin + k < end) {
        if (k > 0 && is_border(t, suffix + k)) {
            order = -1;
        } else {
            const unsigned a = symbol_at(t, suffix + k), b = lsp_symbol_at(p.symbols, t.symbol_bytes, begin + k);
            order = (a > b) - (a < b);
            k += order == 0;
        }
    }
    *same = k;
    return order;
}

/* As find() of search.c. */
__device__ inline int64_t find_pattern(const derived_text &t, const derived_patterns &p, int64_t begin, int64_t end,
                                       int64_t low, int least) {
    int64_t same_low = 0, same_high = 0, high = t.n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        int64_t same = min(same_low, same_high);
        if (compare_pattern(t, p, suffix_of(t, middle), begin, end, &same) >= least) {
            high = middle;
            same_high = same;
        } else {
            low = middle + 1;
            same_low = same;
        }
    }
    return low;
}

static __global__ void __launch_bounds__(TEXT_NT)
    kernel_search(derived_text t, derived_patterns p, int64_t *first, int64_t *count) {
    EACH_ITEM(k, p.count, TEXT_NT) {
        const int64_t begin = p.starts[k], end = p.starts[k + 1], found = find_pattern(t, p, begin, end, 0, 0);
        first[k] = found;
        count[k] = find_pattern(t, p, begin, end, found, 1) - found;
    }
}
