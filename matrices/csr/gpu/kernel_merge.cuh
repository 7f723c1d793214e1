/* Two matrices whose rows ascend strictly, merged on the GPU entry by entry: their sum (add.cu) or the entrywise
 * product (matrices/values/gpu/values.cu).
 *
 * The entries of A and B, row by row and each row by column, A's first of two at one place, are one list. It is cut
 * into tiles of equal size, whatever the rows are; each thread walks over ITEMS of its tile. A first pass counts the
 * entries of C, a second one writes them. Nothing is read out of bounds if the rows do not ascend: then C is not made.
 */
#pragma once

#include "core/scan.h"
#include "matrices/gpu/gpu.h"
#include "view.cuh"

enum { ITEMS = 8, TILE = NT * ITEMS };

typedef struct gpu_merge {
    gpu_csr A, B;
    bool common; /* C has the places that both have; otherwise those of either */
} gpu_merge;

/* A place in the list: before entry a of A and entry b of B, in this row. */
typedef struct merge_place {
    int64_t row, a, b;
} merge_place;

/* What a tile keeps in shared memory: A's columns from the one before the tile on, then B's up to the one behind it;
 * and the entries of C, packed. */
template <typename COL> struct merge_tile {
    COL col[TILE + 2];
    uint32_t packed[TILE];
    int sums[WARPS];
};

/* An entry of C, packed: where its sources are in the tile, and which it has. */
enum { FROM_A = 1 << 24, FROM_B = 1 << 25, ROW_BEGINS = 1 << 26, LOCAL = (1 << 12) - 1 };
static_assert((int)TILE <= (int)LOCAL, "a place in a tile takes 12 bits");

/* ---- places ---- */

template <bool NARROW> static __device__ inline int64_t list_start(const gpu_merge &m, int64_t i) {
    return rowptr_of<NARROW>(m.A, i) + rowptr_of<NARROW>(m.B, i);
}

/* The row among low .. high that has item d; it is not empty. */
template <bool NARROW>
static __device__ inline int64_t row_with(const gpu_merge &m, int64_t d, int64_t low, int64_t high) {
    return LSP_FIRST(low, high, middle, list_start<NARROW>(m, middle + 1) > d);
}

/* How many entries of A stand before item d, given that it is low .. high; a_col and b_col read columns. */
template <typename A_COL, typename B_COL>
static __device__ inline int64_t split(int64_t d, int64_t low, int64_t high, A_COL a_col, B_COL b_col) {
    return LSP_FIRST(low, high, middle, a_col(middle) > b_col(d - 1 - middle));
}

/* cuts[t] = where tile t begins; cuts[tiles] = the end. */
template <bool NARROW> static __global__ void kernel_cuts(gpu_merge m, int64_t tiles, merge_place *cuts) {
    EACH_ITEM(t, tiles + 1, NT) {
        const int64_t all = m.A.nnz + m.B.nnz, d = t * TILE;
        merge_place place;
        if (d < all) {
            place.row = row_with<NARROW>(m, d, 0, m.A.rows - 1);
            const int64_t a = rowptr_of<NARROW>(m.A, place.row), b = rowptr_of<NARROW>(m.B, place.row);
            const int64_t a_end = rowptr_of<NARROW>(m.A, place.row + 1), b_end = rowptr_of<NARROW>(m.B, place.row + 1);
            place.a = split(
                d, max(a, d - b_end), min(a_end, d - b), [&](int64_t k) { return col_of<NARROW>(m.A, k); },
                [&](int64_t k) { return col_of<NARROW>(m.B, k); });
            place.b = d - place.a;
        } else {
            place.row = m.A.rows - 1, place.a = m.A.nnz, place.b = m.B.nnz;
        }
        cuts[t] = place;
    }
}

/* ---- the walk over a tile ---- */

/* The columns of a tile, read from shared memory. */
template <typename COL> struct tile_columns {
    const COL *a0, *b0;
    int64_t a_from, b_from;
    __device__ int64_t a(int64_t k) const { return a0[k - a_from]; }
    __device__ int64_t b(int64_t k) const { return b0[k - b_from]; }
};

template <typename COL>
static __device__ inline tile_columns<COL> load_columns(const gpu_merge &m, const merge_place &from,
                                                        const merge_place &to, COL *col) {
    const bool narrow = sizeof(COL) == 4;
    const int64_t a_from = from.a > 0 ? from.a - 1 : 0, a_count = to.a - a_from;
    const int64_t b_end = to.b < m.B.nnz ? to.b + 1 : to.b, b_count = b_end - from.b;
    for (int64_t k = threadIdx.x; k < a_count; k += NT) {
        col[k] = (COL)col_of<narrow>(m.A, a_from + k);
    }
    for (int64_t k = threadIdx.x; k < b_count; k += NT) {
        col[a_count + k] = (COL)col_of<narrow>(m.B, from.b + k);
    }
    __syncthreads();
    return tile_columns<COL>{col, col + a_count, a_from, from.b};
}

/* A row that a walk is in; its ends in the tile and in the matrix. */
typedef struct walked_row {
    int64_t number, a_begin, b_begin, a_end, b_end, a_stop, b_stop;
} walked_row;

template <bool NARROW>
static __device__ inline walked_row enter_row(const gpu_merge &m, int64_t i, const merge_place &to) {
    walked_row row;
    row.number = i;
    row.a_begin = rowptr_of<NARROW>(m.A, i), row.a_end = rowptr_of<NARROW>(m.A, i + 1);
    row.b_begin = rowptr_of<NARROW>(m.B, i), row.b_end = rowptr_of<NARROW>(m.B, i + 1);
    row.a_stop = min(row.a_end, to.a), row.b_stop = min(row.b_end, to.b);
    return row;
}

/* Walks over this thread's items, and packs the entry of C that each gives; 0: none. rows[]: where ROW_BEGINS is set,
 * the row. Returns the number of entries. */
template <typename COL>
static __device__ inline int walk(const gpu_merge &m, const merge_place &from, const merge_place &to,
                                  const tile_columns<COL> &col, uint32_t (&packed)[ITEMS], COL (&rows)[ITEMS]) {
    const bool narrow = sizeof(COL) == 4;
    const int64_t d = from.a + from.b + (int64_t)threadIdx.x * ITEMS, end = to.a + to.b;
    int count = 0;
    if (d >= end) {
        return 0;
    }
    walked_row row = enter_row<narrow>(m, row_with<narrow>(m, d, from.row, to.row), to);
    int64_t a = split(
        d, max(max(row.a_begin, from.a), d - row.b_stop), min(row.a_stop, d - max(row.b_begin, from.b)),
        [&](int64_t k) { return col.a(k); }, [&](int64_t k) { return col.b(k); });
    int64_t b = d - a;
#pragma unroll
    for (int step = 0; step < ITEMS; step++) {
        packed[step] = 0;
        if (d + step >= end) {
            continue;
        }
        if (a >= row.a_stop && b >= row.b_stop) {
            if (row.number == to.row) { /* rows that do not ascend */
                continue;
            }
            row = enter_row<narrow>(m, row.number + 1, to);
            if (row.a_begin == row.a_end && row.b_begin == row.b_end) {
                row = enter_row<narrow>(m, row_with<narrow>(m, d + step, row.number, to.row), to);
            }
        }
        const bool has_a = a < row.a_stop, has_b = b < row.b_stop;
        const bool first = a == row.a_begin && b == row.b_begin;
        const uint32_t places = (uint32_t)(a - from.a) | (uint32_t)(b - from.b) << 12;
        bool keep;
        if (has_a && (!has_b || col.a(a) <= col.b(b))) {
            const bool both = b < row.b_end && col.b(b) == col.a(a);
            keep = both || !m.common;
            packed[step] = places | FROM_A | (both ? FROM_B : 0);
            a++;
        } else if (has_b) {
            keep = !m.common && !(a > row.a_begin && col.a(a - 1) == col.b(b));
            packed[step] = places | FROM_B;
            b++;
        } else {
            continue;
        }
        packed[step] = (keep ? packed[step] : 0) | (first ? ROW_BEGINS : 0);
        rows[step] = (COL)row.number;
        count += keep;
    }
    return count;
}

/* ---- the passes ---- */

/* counts[t] = entries of C from tile t. */
template <typename COL>
static __global__ void __launch_bounds__(NT) kernel_merge_count(gpu_merge m, const merge_place *cuts, int64_t *counts) {
    __shared__ merge_tile<COL> tile;
    const merge_place from = cuts[blockIdx.x], to = cuts[blockIdx.x + 1];
    uint32_t packed[ITEMS];
    COL rows[ITEMS];
    int total = 0;
    if (from.a <= to.a && from.b <= to.b) { /* else rows do not ascend */
        block_scan(walk(m, from, to, load_columns(m, from, to, tile.col), packed, rows), tile.sums, &total);
    }
    if (threadIdx.x == 0) {
        counts[blockIdx.x] = total;
    }
}

/* ends[t] = entries of C up to the end of tile t. Writes C, but for the row pointers of empty rows.
 * f(C.val, to, A, a, B, b) makes a value; a or b is -1 if A or B has no such entry. */
template <typename COL, typename VALUE>
static __global__ void __launch_bounds__(NT)
    kernel_merge_fill(gpu_merge m, const merge_place *cuts, const int64_t *ends, gpu_csr C, VALUE f) {
    __shared__ merge_tile<COL> tile;
    const merge_place from = cuts[blockIdx.x], to = cuts[blockIdx.x + 1];
    const tile_columns<COL> col = load_columns(m, from, to, tile.col);
    uint32_t packed[ITEMS];
    COL rows[ITEMS];
    int total;
    const bool works = from.a + from.b + (int64_t)threadIdx.x * ITEMS < to.a + to.b;
    int at = block_scan(walk(m, from, to, col, packed, rows), tile.sums, &total);
    const int64_t base = ends[blockIdx.x] - total;
    for (int step = 0; works && step < ITEMS; step++) {
        if (packed[step] & ROW_BEGINS) {
            index_set((void *)C.rowptr, C.wide_rowptr, rows[step], base + at);
        }
        if (packed[step] & (FROM_A | FROM_B)) {
            tile.packed[at++] = packed[step];
        }
    }
    __syncthreads();
    for (int e = (int)threadIdx.x; e < total; e += NT) {
        const uint32_t entry = tile.packed[e];
        const int64_t a = from.a + (entry & LOCAL), b = from.b + (entry >> 12 & LOCAL);
        index_set((void *)C.col, C.wide_col, base + e, entry & FROM_A ? col.a(a) : col.b(b));
        f((void *)C.val, base + e, m.A, entry & FROM_A ? a : -1, m.B, entry & FROM_B ? b : -1);
    }
}

/* The row pointers of rows that are empty in A and B, and the last one. */
static __global__ void kernel_merge_rowptr(gpu_merge m, gpu_csr C, int64_t nnz) {
    const int64_t all = m.A.nnz + m.B.nnz;
    EACH_ITEM(i, m.A.rows + 1, NT) {
        const int64_t start = list_start<false>(m, i);
        if (start == all) {
            index_set((void *)C.rowptr, C.wide_rowptr, i, nnz);
        } else if (start == list_start<false>(m, i + 1)) {
            const int64_t next = row_with<false>(m, start, i, m.A.rows - 1);
            index_set((void *)C.rowptr, C.wide_rowptr, i, index_at(C.rowptr, C.wide_rowptr, next));
        }
    }
}

/* What is counted before C is made. */
typedef struct merge_facts {
    int64_t nnz;   /* of C */
    ull falls;     /* places where columns do not ascend within a row */
    ull different; /* not 0: the patterns of A and B differ; not set if A and B have different nnz */
} merge_facts;

/* Counts A's falls, and compares its pattern with B's, up to the first difference that somebody finds. */
template <bool NARROW> static __global__ void __launch_bounds__(NT) kernel_compare(gpu_merge m, merge_facts *facts) {
    enum { EACH = 4 }; /* entries of a thread in flight */
    volatile ull *const different = &facts->different;
    int64_t found = 0;
    bool differs = false;
    for (int64_t first = (int64_t)blockIdx.x * NT * EACH + threadIdx.x; first < m.A.nnz;
         first += (int64_t)gridDim.x * NT * EACH) {
        const bool compares = !differs && *different == 0;
        int64_t a[EACH], before[EACH], b[EACH];
#pragma unroll
        for (int e = 0; e < EACH; e++) { /* the last entry in place of those behind it */
            const int64_t k = min(first + e * NT, m.A.nnz - 1);
            a[e] = col_of<NARROW>(m.A, k);
            before[e] = k > 0 ? col_of<NARROW>(m.A, k - 1) : -1;
            b[e] = compares ? col_of<NARROW>(m.B, k) : a[e];
        }
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            found += first + e * NT < m.A.nnz && a[e] <= before[e];
            differs |= a[e] != b[e];
        }
        if (differs && compares && *different == 0) {
            *different = 1;
        }
    }
    EACH_ITEM(i, m.A.rows, NT) {
        const int64_t k = rowptr_of<NARROW>(m.A, i);
        found -= k < rowptr_of<NARROW>(m.A, i + 1) && is_fall<NARROW, true>(m.A, k);
        differs |= k != rowptr_of<NARROW>(m.B, i);
    }
    if (differs && *different == 0) { /* or all threads would write the same word */
        *different = 1;
    }
    found = warp_sum(found);
    if (lane_of() == 0 && found != 0) {
        atomicAdd(&facts->falls, (ull)found);
    }
}

/* A and B have one pattern. */
template <typename VALUE> static __global__ void kernel_merge_equal(gpu_merge m, gpu_csr C, VALUE f) {
    EACH_ITEM(i, m.A.rows + 1, NT) { index_set((void *)C.rowptr, C.wide_rowptr, i, rowptr_at(m.A, i)); }
    EACH_ITEM(k, m.A.nnz, NT) {
        index_set((void *)C.col, C.wide_col, k, col_at(m.A, k));
        f((void *)C.val, k, m.A, k, m.B, k);
    }
}

/* ---- the host's side ---- */

/* Do A and B have one pattern, and ascend its rows strictly? Waits, unless their nnz differ. */
template <bool NARROW>
static lsp_status compare_patterns(lsp_ctx *ctx, const gpu_merge &m, merge_facts *there, merge_facts *facts) {
    const bool same = m.A.col == m.B.col && m.A.rowptr == m.B.rowptr;
    if (same || m.A.nnz != m.B.nnz) {
        LSP_TRY(LAUNCH_ITEMS(ctx, (kernel_falls<NARROW, true>), m.A.nnz, m.A, &there->falls));
    } else {
        LSP_TRY(LSP_LAUNCH(ctx, kernel_compare<NARROW>, lsp_blocks_for(ctx, m.A.nnz, NT * 4, 16), NT, 0, m, there));
    }
    if (m.A.nnz == m.B.nnz) {
        LSP_TRY(lsp_cuda_read(ctx, facts, there, sizeof *facts));
    } else {
        facts->different = 1;
    }
    return LSP_OK;
}

/* Counts C, whose tiles it cuts, and the falls of B. Waits. */
template <typename COL>
static lsp_status count_merged(lsp_ctx *ctx, const gpu_merge &m, int64_t tiles, merge_place *cuts, int64_t *ends,
                               merge_facts *there, merge_facts *facts) {
    const bool narrow = sizeof(COL) == 4;
    LSP_TRY(LAUNCH_ITEMS(ctx, (kernel_falls<narrow, true>), m.B.nnz, m.B, &there->falls));
    LSP_TRY(LAUNCH_ITEMS(ctx, kernel_cuts<narrow>, tiles + 1, m, tiles, cuts));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_merge_count<COL>, tiles, NT, 0, m, cuts, ends));
    LSP_TRY(lsp_cuda_scan_async(ctx, ends, tiles, &there->nnz));
    return lsp_cuda_read(ctx, facts, there, sizeof *facts);
}

template <typename COL, typename VALUE>
static lsp_status merge_as(lsp_ctx *ctx, const gpu_merge &m, const lsp_csr_types *types, VALUE f, lsp_csr *C,
                           bool *done) {
    LSP_SCRATCH_SCOPE(ctx);
    const int64_t tiles = lsp_ceil_div(m.A.nnz + m.B.nnz, TILE);
    merge_place *cuts = NULL;
    int64_t *ends = NULL;
    merge_facts *there = NULL, facts = {};
    LSP_OWNED_CSR(ctx, made);
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &there));
    if (tiles > 0) {
        LSP_TRY((compare_patterns<sizeof(COL) == 4>(ctx, m, there, &facts)));
    }
    const bool equal = facts.different == 0;
    if (equal) {
        facts.nnz = m.A.nnz;
    } else {
        LSP_TRY(LSP_SCRATCH_CUDA(ctx, tiles + 1, &cuts));
        LSP_TRY(LSP_SCRATCH_CUDA(ctx, tiles, &ends));
        LSP_TRY(count_merged<COL>(ctx, m, tiles, cuts, ends, there, &facts));
    }
    *done = facts.falls == 0;
    if (*done) {
        LSP_TRY(lsp_csr_create(ctx, m.A.rows, m.A.cols, facts.nnz, types, &made));
        const gpu_csr result = view(&made);
        if (equal) {
            LSP_TRY(LAUNCH_ITEMS(ctx, kernel_merge_equal<VALUE>, lsp_max(m.A.nnz, m.A.rows), m, result, f));
        } else {
            LSP_TRY(LSP_LAUNCH(ctx, (kernel_merge_fill<COL, VALUE>), tiles, NT, 0, m, cuts, ends, result, f));
            LSP_TRY(LAUNCH_ITEMS(ctx, kernel_merge_rowptr, m.A.rows + 1, m, result, facts.nnz));
        }
    }
    return lsp_csr_put(ctx, C, &made, false);
}

/* Makes C of A and B, checked and of one shape, unless a row does not ascend strictly: then *done is false. Waits for
 * nnz(C). */
template <typename VALUE>
static lsp_status merge_rows(lsp_ctx *ctx, const gpu_merge &m, const lsp_csr_types *types, VALUE f, lsp_csr *C,
                             bool *done) {
    const bool wide = m.A.wide_rowptr || m.A.wide_col || m.B.wide_rowptr || m.B.wide_col || m.A.rows > INT32_MAX;
    return wide ? merge_as<int64_t>(ctx, m, types, f, C, done) : merge_as<int32_t>(ctx, m, types, f, C, done);
}
