/* Makes slices of rows of similar length. A block takes a window of rows that are sorted by length, longest first: the
 * long ones, then the middle ones, then the short ones; a thread takes a row. */
#pragma once

#include "lengths.cuh"

enum { LENGTHS_PLAN_NT = 256 };

/* ---- windows ---- */

static __global__ void __launch_bounds__(LENGTHS_PLAN_NT) kernel_row_lengths(lsp_csr A, unsigned *length) {
    EACH_ITEM(i, A.rows, LENGTHS_PLAN_NT) {
        length[i] = (unsigned)(lsp_index_at(A.rowptr, A.rowptr_type, i + 1) - lsp_index_at(A.rowptr, A.rowptr_type, i));
    }
}

/* What the row of this thread adds to its window. A slice of several rows is added by its first one, the longest. */
typedef struct lengths_share {
    unsigned length, lanes, rows; /* rows: of the slice that begins here, 0 if none does */
    unsigned slices, steps;
} lengths_share;

/* lengths: of the window's rows, longest first. Called by all threads; ends with a barrier. */
__device__ inline lengths_share lengths_find(const unsigned *length, unsigned rows) {
    __shared__ unsigned longs, middles; /* rows */
    lengths_share s = {};
    const unsigned i = threadIdx.x;
    if (i == 0) {
        longs = middles = 0;
    }
    __syncthreads();
    if (i < rows) {
        s.length = length[i];
        if (s.length > LENGTHS_MIDDLE) {
            atomicAdd(&longs, 1u);
        } else if (s.length > LENGTHS_SHORT) {
            atomicAdd(&middles, 1u);
        }
    }
    __syncthreads();
    if (i < rows) {
        const unsigned begin = i < longs ? 0 : i < longs + middles ? longs : longs + middles;
        const unsigned end = i < longs ? longs : i < longs + middles ? longs + middles : rows;
        s.lanes = i < longs ? WARP : i < longs + middles ? LENGTHS_FEW : 1;
        const unsigned most = WARP / s.lanes;
        if ((i - begin) % most == 0) {
            s.rows = min(most, end - i);
            s.slices = i < longs ? (s.length + LENGTHS_PIECE - 1) / LENGTHS_PIECE : 1;
            s.steps = (s.length + s.lanes - 1) / s.lanes;
        }
    }
    __syncthreads();
    return s;
}

/* slices[w], steps[w]: of window w. */
static __global__ void __launch_bounds__(LENGTHS_WINDOW)
    kernel_count_slices(const unsigned *length, int64_t rows, int64_t *slices, int64_t *steps) {
    __shared__ unsigned sums[LENGTHS_WINDOW / WARP];
    const int64_t first = (int64_t)blockIdx.x * LENGTHS_WINDOW;
    const lengths_share s = lengths_find(length + first, (unsigned)min(rows - first, (int64_t)LENGTHS_WINDOW));
    unsigned all_slices, all_steps;
    block_scan(s.slices, sums, &all_slices);
    block_scan(s.steps, sums, &all_steps);
    if (threadIdx.x == 0) {
        slices[blockIdx.x] = all_slices;
        steps[blockIdx.x] = all_steps;
    }
}

/* slices, steps: their exclusive prefix sums. */
static __global__ void __launch_bounds__(LENGTHS_WINDOW)
    kernel_write_slices(lengths_plan p, lsp_csr A, const int64_t *slices, const int64_t *steps) {
    __shared__ unsigned sums[LENGTHS_WINDOW / WARP];
    const int64_t first = (int64_t)blockIdx.x * LENGTHS_WINDOW, slot = first + threadIdx.x;
    const lengths_share s = lengths_find(p.length + first, (unsigned)min(p.rows - first, (int64_t)LENGTHS_WINDOW));
    unsigned all;
    const int64_t slice = slices[blockIdx.x] + block_scan(s.slices, sums, &all);
    const unsigned step = (unsigned)steps[blockIdx.x] + block_scan(s.steps, sums, &all);
    if (slot < p.rows) {
        p.begin[slot] = (unsigned)lsp_index_at(A.rowptr, A.rowptr_type, p.row[slot]);
    }
    for (unsigned k = 0; k < s.slices; k++) {
        lengths_slice made = {};
        made.at = step + k * (LENGTHS_PIECE / WARP);
        made.slot = (unsigned)slot;
        made.piece = k;
        made.lanes = (unsigned char)s.lanes;
        made.rows = (unsigned char)s.rows;
        made.piece_of_row = s.slices > 1;
        p.slice[slice + k] = made;
    }
}

/* Shares the steps among the blocks of the product: block_slice[b] = the first slice that begins at its share. */
static __global__ void __launch_bounds__(LENGTHS_PLAN_NT) kernel_share_slices(lengths_plan p) {
    const int64_t b = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (b > p.blocks) {
        return;
    }
    /* a slice without steps costs something too: slice i counts as at + i */
    const int64_t wanted = (p.steps + p.slices) * b / p.blocks;
    const int64_t first = LSP_FIRST((int64_t)0, p.slices, i, (int64_t)p.slice[i].at + i >= wanted);
    p.block_slice[b] = (unsigned)(b == p.blocks ? p.slices : first);
    if (b == p.blocks) {
        lengths_slice last = {};
        last.at = (unsigned)p.steps;
        p.slice[p.slices] = last;
    }
}

/* ---- popular sectors ---- */

static __global__ void __launch_bounds__(LENGTHS_PLAN_NT) kernel_count_sectors(lsp_csr A, int each, unsigned *count) {
    EACH_ITEM(k, A.nnz, LENGTHS_PLAN_NT) { atomicAdd(count + (int)lsp_index_at(A.col, A.col_type, k) / each, 1u); }
}

/* place[sector] = its number among the popular ones; held[0] += the entries that read one of the first `few` of them,
 * held[1] += those that read any. count: sorted. */
static __global__ void __launch_bounds__(LENGTHS_PLAN_NT)
    kernel_place_sectors(lengths_plan p, const unsigned *count, unsigned few, unsigned *place, ull *held) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const ull mine = i < p.popular ? count[i] : 0;
    const ull first = warp_sum(i < few ? mine : 0), all = warp_sum(mine);
    if (i < p.popular) {
        place[p.sector[i]] = i;
    }
    if (threadIdx.x % WARP == 0) {
        atomicAdd(held, first);
        atomicAdd(held + 1, all);
    }
}

/* ---- entries ---- */

/* Entry k of A for this lane in step t of a slice; -1: none. */
__device__ inline int64_t lengths_entry(const lengths_plan &p, const lengths_slice &s, unsigned t) {
    const unsigned lane = threadIdx.x % WARP, row = lane / s.lanes;
    const unsigned k = s.piece * LENGTHS_PIECE + t * s.lanes + lane % s.lanes;
    if (row >= s.rows || k >= p.length[s.slot + row]) {
        return -1;
    }
    return (int64_t)p.begin[s.slot + row] + k;
}

/* f(at, k) for element `at` of the slices' arrays, entry k of A; -1: padding. A warp takes a slice. */
template <typename F> __device__ inline void lengths_each(const lengths_plan &p, F f) {
    const int64_t stride = (int64_t)gridDim.x * blockDim.x / WARP;
    for (int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / WARP; i < p.slices; i += stride) {
        const lengths_slice s = p.slice[i];
        const unsigned steps = p.slice[i + 1].at - s.at;
        for (unsigned t = 0; t < steps; t++) {
            f(((int64_t)s.at + t) * WARP + threadIdx.x % WARP, lengths_entry(p, s, t));
        }
    }
}

/* place: of a sector of `each` columns among the popular ones. */
static __global__ void __launch_bounds__(LENGTHS_PLAN_NT)
    kernel_fill_columns(lengths_plan p, lsp_csr A, const unsigned *place, unsigned each) {
    lengths_each(p, [&](int64_t to, int64_t k) {
        unsigned c = k < 0 ? LENGTHS_NONE : (unsigned)lsp_index_at(A.col, A.col_type, k);
        if (k >= 0 && place) {
            const unsigned at = place[c / each];
            c = at < p.popular ? LENGTHS_POPULAR | (at * each + c % each) : c;
        }
        p.col[to] = c;
    });
}

template <typename V>
static __global__ void __launch_bounds__(LENGTHS_PLAN_NT) kernel_fill_values(lengths_plan p, const V *val) {
    lengths_each(p, [&](int64_t to, int64_t k) { ((V *)p.val)[to] = k < 0 ? (V)0 : val[k]; });
}
