/* Rows that are made by sorting: expand, sort and compress in shared memory and registers. Counting sorts only where it
 * must: rows of more than 256 products are counted by a hash table of their columns, shorter ones by a table of bits if
 * hardly any column comes twice. Taken for rows of up to LSP_SORT_MOST products in which few columns come twice, or
 * which no window holds (lsp_fill_bin); for pieces of long rows that have few products (set/kernel_long_cut.cuh); and
 * by kernel_short.cuh. */
#pragma once

#include "compress.cuh"

enum { PIECE_G = 256, PIECE_VT = 16, PIECE_PRODUCTS = PIECE_G * PIECE_VT }; /* the largest sorted piece of a long row */

/* Sorts the words of a row. Returns a bit for each of the thread's words: is it the first of its column? */
template <int G, int VT, typename V>
__device__ inline unsigned sort_products(const spg_job &job, uint32_t products, int bits, uint32_t (&w)[VT],
                                         sort_shared<G, VT, V> &shared) {
    sort_sync<G>();
    sort_known_group<G>(w, sort_lane<G>(), SORT_BARRIER, shared.words, job.ones);
    sort_sync<G>();
    return find_heads<G, VT, V>(w, products, bits, shared);
}

/* Counts a row's columns without a sort, if hardly any comes twice. Each column marks its bit in a table; a column that
 * finds its bit already marked is compared with all others. Returns false if there are too many of these. The whole
 * warp calls together. */
template <int G, int VT>
__device__ inline bool count_unsorted(const uint32_t (&w)[VT], uint32_t products, sort_shared<G, VT, no_value> &shared,
                                      uint32_t *total) {
    enum { LOG_BITS = 9 + (G >= 2) + (G >= 4) + (G >= 8) + (G >= 16) + (G >= 32), MOST = 16 };
    const int t = sort_lane<G>(), lane = (int)threadIdx.x % WARP;
    const unsigned group = ~0u >> (32 - G) << (lane - t);
    uint32_t *const marks = shared.marks + sort_group_number<G>() * ((1 << LOG_BITS) / 32);
    unsigned again = 0;
    sort_sync<G>();
#pragma unroll
    for (int k = 0; k < SORT_MARKS / 128; k++) {
        ((uint4 *)shared.marks)[lane + k * WARP] = {};
    }
    __syncwarp();
#pragma unroll
    for (int r = 0; r < VT; r++) {
        const uint32_t bit = w[r] * 0x9E3779B1u >> (32 - LOG_BITS), mark = 1u << bit % 32;
        if (t + r * G < (int)products) {
            again |= atomicOr(marks + bit / 32, mark) & mark ? 1u << r : 0;
        }
    }
    const uint32_t found = (uint32_t)__popc(again);
    if (__reduce_add_sync(~0u, found) > MOST) {
        return false;
    }
    group_sum<G>(found, NULL, total);
    *total = products - *total;
    for (unsigned with; (with = __ballot_sync(~0u, again != 0)) != 0;) {
        uint32_t x = ~0u;
        unsigned equal = 0;
#pragma unroll
        for (int r = VT - 1; r >= 0; r--) {
            x = again >> r & 1 ? w[r] : x;
        }
        x = __shfl_sync(~0u, x, with & group ? __ffs((int)(with & group)) - 1 : lane);
#pragma unroll
        for (int r = 0; r < VT; r++) {
            equal |= w[r] == x ? 1u << r : 0;
        }
        const unsigned others = __ballot_sync(~0u, (equal & ~again) != 0);
        *total += (with & group) != 0 && (others & group) == 0;
        again &= ~equal;
    }
    return true;
}

/* Counts a row's columns in a hash table of twice as many places. For groups larger than a warp. */
template <int G, int VT>
__device__ inline uint32_t count_in_table(const uint32_t (&w)[VT], uint32_t products,
                                          sort_shared<G, VT, no_value> &shared) {
    enum { PLACES = 2 * G * VT };
    const int t = sort_lane<G>();
    uint32_t mine = 0, x = ~0u, place = 0, total;
    unsigned left = 0; /* bit r: word r has found another column in its place */
    sort_sync<G>();
#pragma unroll
    for (int k = 0; k < PLACES / 4; k += G) {
        ((uint4 *)shared.table)[k + t] = make_uint4(~0u, ~0u, ~0u, ~0u);
    }
    sort_sync<G>();
#pragma unroll
    for (int r = 0; r < VT; r++) {
        if (t + r * G < (int)products) {
            const uint32_t other = atomicCAS(shared.table + __umulhi(hash_of(w[r]), PLACES), ~0u, w[r]);
            mine += other == ~0u;
            left |= other != ~0u && other != w[r] ? 1u << r : 0;
        }
    }
    while (left) {
        if (x == ~0u) { /* take the next of these */
#pragma unroll
            for (int r = VT - 1; r >= 0; r--) {
                x = left >> r & 1 ? w[r] : x;
            }
            place = __umulhi(hash_of(x), PLACES);
        }
        place = (place + 1) % PLACES;
        const uint32_t other = atomicCAS(shared.table + place, ~0u, x);
        mine += other == ~0u;
        if (other == ~0u || other == x) {
            left &= left - 1;
            x = ~0u;
        }
    }
    group_sum<G>(mine, shared.warp_sum, &total);
    return total;
}

/* Counts a row's nnz in C. *sorted is kept by a warp for its next rows: once a row had many columns twice, later ones
 * are sorted at once. */
template <int G, int VT>
__device__ inline uint32_t count_row(const spg_job &job, const spg_row &row, sort_shared<G, VT, no_value> &shared,
                                     bool *sorted) {
    uint32_t w[VT], total;
    sort_factor<no_value, sort_shape<G, VT>::pieces> b[VT];
    read_entries<G, VT, no_value>(job, row.begin, row.entries, 0, job.cols, shared);
    expand<G, VT, no_value, true>(job, row.products, 0, 0, job.cols, shared, w, b);
    if constexpr (G > WARP) {
        total = count_in_table<G, VT>(w, row.products, shared);
    } else {
        if constexpr (G >= 8) {
            if (!*sorted && count_unsorted<G, VT>(w, row.products, shared, &total)) {
                return total;
            }
            *sorted = true;
        }
        const unsigned heads = sort_products<G, VT, no_value>(job, row.products, 0, w, shared);
        group_sum<G>((uint32_t)__popc(heads), shared.warp_sum, &total);
    }
    return total;
}

/* Fills a row of C, or the columns low .. high-1 of a piece of it, and returns how many entries these are. All groups
 * of a warp call together. */
template <int G, int VT, typename V>
__device__ inline uint32_t fill_row(const spg_job &job, spg_row row, uint32_t low, uint32_t high,
                                    sort_shared<G, VT, V> &shared) {
    typedef sort_shape<G, VT> S;
    sorted_products<G, VT, V> its;
    const uint32_t products = read_entries<G, VT, V>(job, row.begin, row.entries, low, high, shared);
    row.products = S::pieces ? products : row.products;
    its.bits = lsp_bits_below(row.products);
    its.low = low;
    if (S::pieces && products == 0) {
        return 0;
    }
    expand<G, VT, V, false>(job, row.products, its.bits, low, high, shared, its.w, its.b);
    its.heads = sort_products<G, VT, V>(job, row.products, its.bits, its.w, shared);
    return compress(job, row, its, shared);
}

/* Fills the listed rows of C. The largest groups take one range of LSP_SORT_COLUMNS after the other, if C has more. */
template <int G, int VT, typename V>
__global__ void __launch_bounds__(sort_shape<G, VT>::nt, sort_shape<G, VT>::blocks)
    kernel_sort_rows(spg_job job, spg_list list) {
    typedef sort_shape<G, VT> S;
    LSP_DYNAMIC_SHARED(memory);
    const uint32_t i = (blockIdx.x * (uint32_t)S::nt + threadIdx.x) / G;
    spg_row row = {};
    lsp_let_next_begin();
    if (i < list.count) {
        const uint32_t number = list_row(list, i);
        row = read_row(job, number, job.rowptr[number]);
    }
    if (row.entries > S::capacity || row.products > S::capacity) { /* never true: the bins see to it */
        row.entries = row.products = 0;
    }
    for (uint32_t low = 0, high = job.cols; low < high; low = high, high = job.cols) {
        if (S::pieces && high - low > LSP_SORT_COLUMNS) {
            high = low + LSP_SORT_COLUMNS;
        }
        row.at += fill_row<G, VT, V>(job, row, low, high, ((sort_shared<G, VT, V> *)memory)[threadIdx.x / S::team]);
        if (S::pieces) {
            sort_sync<G>();
        }
    }
    lsp_end_after_previous();
}

/* Fills sorted pieces of long rows, at most 4096 products each. The list of pieces grows downwards from pieces_end. */
template <typename V>
__global__ void __launch_bounds__(PIECE_G, 3)
    kernel_long_sort(spg_job job, const spg_piece *pieces_end, const uint32_t *made) {
    LSP_DYNAMIC_SHARED(memory);
    lsp_let_next_begin();
    for (uint32_t i = blockIdx.x; i < *made; i += gridDim.x) {
        const spg_piece piece = pieces_end[-1 - (int64_t)i];
        fill_row<PIECE_G, PIECE_VT, V>(job, read_row(job, piece.row, piece.at), piece.low, piece.high,
                                       *(sort_shared<PIECE_G, PIECE_VT, V> *)memory);
        sort_sync<PIECE_G>();
    }
    lsp_end_after_previous();
}
