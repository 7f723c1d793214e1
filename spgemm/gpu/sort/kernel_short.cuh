/* Rows of at most LSP_SORT_IN_WARP products. A warp takes up to 32 neighbouring rows of C. It sorts the rows of each
 * size together, or each lane merges its own, so no list of rows is needed. kernel_inspect.cuh counts these rows; if
 * all rows are short, nnz(C) is known when it ends. kernel_short fills them, unless B is nearly dense; where all have
 * one size, kernel_sort_rows does (fill_bins.cuh). */
#pragma once

#include "kernel_sort.cuh"
#include "lane.cuh"
#include "short_repeat.cuh"

enum {
    SHORT_WARPS = 4, /* warps of a tile. A block of kernel_short makes a tile, a block of kernel_inspect two */
    SHORT_NT = SHORT_WARPS * WARP,
    INSPECT_TILES = 2,
    INSPECT_WARPS = SHORT_WARPS * INSPECT_TILES,
    INSPECT_NT = SHORT_NT * INSPECT_TILES,
    INSPECT_DEPTH = 4,                       /* entries of A that a lane loads together */
    INSPECT_WARP = 4 * INSPECT_DEPTH * WARP, /* entries of a row; with more, the whole block counts its products */
    INSPECT_LONG = 64,                       /* entries of A a lane; with more, a row is counted separately */
    INSPECT_STEPS = 4                        /* most steps, each with new rows, that a block of kernel_inspect makes */
};

/* Which rows each warp takes. The same in all kernels for short rows, because they find the beginning of a row in C by
 * it. */
typedef struct short_layout {
    int rows_each;         /* rows a warp, a power of two up to 32 */
    int steps;             /* of a block of kernel_inspect; a step is INSPECT_TILES tiles */
    ull *tiles;            /* where the rows of each tile begin in C, counted from where its block's rows begin */
    ull *blocks;           /* first the nnz of the rows of each block of kernel_inspect, then where they begin in C */
    const int64_t *summed; /* C's row pointers; NULL: only tiles and blocks say where rows begin */
    bool repeats;          /* some rows are short repeats */
} short_layout;

/* ---- sorting ---- */

/* A warp's shared memory. */
template <typename V> struct short_shared {
    spg_row rows[WARP];
    uint32_t order[WARP]; /* the lanes whose rows have the current size, in order */
    union {
        lane_shared<V> of_lanes;
        sort_shared<1, 8, V> of_1;
        sort_shared<2, 8, V> of_2;
        sort_shared<4, 8, V> of_4;
        sort_shared<8, 8, V> of_8;
        sort_shared<16, 8, V> of_16;
        sort_shared<32, 8, V> of_32;
        short_repeat_shared<V> of_repeats;
    };
};

/* Makes those of the warp's rows that are in one bin, G lanes a row. Counting leaves a row's nnz in `at`. */
template <int G, typename V, bool COUNT>
__device__ inline void sort_some(const spg_job &job, bool mine, short_shared<V> &all, sort_shared<G, 8, V> &shared,
                                 bool *sorted) {
    const int lane = (int)threadIdx.x % WARP;
    const unsigned mask = __ballot_sync(~0u, mine);
    if (mask == 0) {
        return;
    }
    if (mine) {
        all.order[bits_below(mask, (uint32_t)lane)] = (uint32_t)lane;
    }
    __syncwarp();
    for (int i = lane / G, end = i + __popc(mask); i < end; i += WARP / G) {
        const int from = i < end - lane / G ? (int)all.order[i] : -1;
        const spg_row row = from >= 0 ? all.rows[from] : spg_row{};
        if constexpr (COUNT) {
            const uint32_t total = count_row<G, 8>(job, row, shared, sorted);
            if (from >= 0 && lane % G == 0) {
                all.rows[from].at = total;
            }
        } else {
            fill_row<G, 8, V>(job, row, 0, job.cols, shared);
        }
        __syncwarp();
    }
}

/* Makes those of the warp's rows, one a lane, that are in bins up to SORT_32. */
template <typename V, bool COUNT>
__device__ inline void sort_short(const spg_job &job, int bin, short_shared<V> &shared, bool *sorted) {
    __syncwarp();
    sort_some<1, V, COUNT>(job, bin == LSP_BIN_SORT_1, shared, shared.of_1, sorted);
    if constexpr (COUNT) { /* filling by two lanes is no faster than by four */
        sort_some<2, V, COUNT>(job, bin == LSP_BIN_SORT_2, shared, shared.of_2, sorted);
    }
    sort_some<4, V, COUNT>(job, bin == LSP_BIN_SORT_4 || (!COUNT && bin == LSP_BIN_SORT_2), shared, shared.of_4,
                           sorted);
    sort_some<8, V, COUNT>(job, bin == LSP_BIN_SORT_8, shared, shared.of_8, sorted);
    sort_some<16, V, COUNT>(job, bin == LSP_BIN_SORT_16, shared, shared.of_16, sorted);
    sort_some<32, V, COUNT>(job, bin == LSP_BIN_SORT_32, shared, shared.of_32, sorted);
}

/* ---- row pointers ---- */

/* Where the thread's row begins and ends in C. All threads of a block, which has one tile, call together. */
__device__ inline void find_row(const spg_job &job, const short_layout &layout, int64_t row, bool there, int64_t *at,
                                int64_t *end) {
    __shared__ uint32_t sums[SHORT_WARPS];
    *at = *end = 0;
    if (layout.summed) {
        *at = there ? layout.summed[row] : 0;
        *end = there ? layout.summed[row + 1] : 0;
        return;
    }
    const uint32_t count = there ? (uint32_t)job.rowptr[row + 1] : 0;
    uint32_t total;
    *at = (int64_t)(layout.tiles[blockIdx.x] + layout.blocks[blockIdx.x / (INSPECT_TILES * (uint32_t)layout.steps)]) +
          block_scan(count, sums, &total);
    *end = *at + count;
}

/* Writes C's row pointers, to job.rowptr as well. */
static __global__ void __launch_bounds__(SHORT_NT)
    kernel_rowptr(spg_job job, short_layout layout, void *rowptr, bool wide) {
    const int64_t row = (int64_t)blockIdx.x * SHORT_NT + threadIdx.x;
    int64_t at, end;
    find_row(job, layout, row, row < job.A.rows, &at, &end);
    if (row < job.A.rows) {
        job.rowptr[row + 1] = end;
        put_start(rowptr, wide, row, end);
    }
}

/* ---- filling ---- */

/* Fills the short rows of C, and writes all of C's row pointers. LANES: lanes may merge rows. */
template <typename V, bool LANES>
__global__ void __launch_bounds__(SHORT_NT, 8)
    kernel_short(spg_job job, short_layout layout, void *rowptr, bool wide_rowptr) {
    LSP_DYNAMIC_SHARED(memory);
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    const int64_t row = ((int64_t)blockIdx.x * SHORT_WARPS + warp) * layout.rows_each + lane;
    const bool there = lane < layout.rows_each && row < job.A.rows;
    spg_row mine = {};
    int64_t end;
    lsp_let_next_begin();
    find_row(job, layout, row, there, &mine.at, &end);
    if (there) {
        mine = read_row(job, row, mine.at);
        put_start(rowptr, wide_rowptr, row, end);
    } else if (job.A.rows == 0) {
        index_set(rowptr, wide_rowptr, 0, 0);
    }
    const bool repeats = layout.repeats && there && job.groups[row] == LSP_GROUPS_SHORT_REPEAT;
    int bin = there && !repeats ? lsp_fill_bin(mine.products, mine.entries, 0, 0, job.cols) : -1;
    short_shared<V> &shared = ((short_shared<V> *)memory)[warp];
    if (__any_sync(~0u, repeats)) {
        fill_short_repeats<V>(job, layout.rows_each, repeats, mine, (uint32_t)(end - mine.at), shared.of_repeats);
    }
    if constexpr (LANES) {
        if (fill_lanes<V>(job, bin == LSP_BIN_SORT_1 || bin == LSP_BIN_SORT_2, mine, (uint32_t)(end - mine.at),
                          shared.of_lanes)) {
            bin = -1;
        }
    }
    if (bin == LSP_BIN_SORT_1 && mine.products == 1 && mine.entries == 1) { /* as in a permutation: no sort */
        const uint32_t q = __ldg(job.B.rowptr + __ldg(job.A.col + mine.begin));
        put_col(job, mine.at, __ldg(job.B.col + q));
        put_value<V>(job, mine.at, canonical(times(job, value_at<V>(job.A, mine.begin), value_at<V>(job.B, q))));
        bin = -1;
    }
    shared.rows[lane] = mine;
    sort_short<V, false>(job, bin, shared, NULL);
    lsp_end_after_previous();
}

/* ---- no row has two products ---- */

enum { SINGLE_TILES = 4 /* tiles a block, so that each thread loads this many rows together */ };

/* Fills a C whose rows have at most one product, because A or B is a permutation or a diagonal matrix. Needs 32 rows a
 * warp. */
template <typename V>
__global__ void __launch_bounds__(SHORT_NT)
    kernel_single(spg_job job, short_layout layout, void *rowptr, bool wide_rowptr) {
    __shared__ uint32_t counts[SINGLE_TILES][SHORT_WARPS];
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int64_t last = job.A.rows - 1, tile = (int64_t)blockIdx.x * SINGLE_TILES, row = tile * SHORT_NT + threadIdx.x;
    uint32_t before[SINGLE_TILES], p[SINGLE_TILES], q[SINGLE_TILES];
    bool has[SINGLE_TILES];
#pragma unroll
    for (int t = 0; t < SINGLE_TILES; t++) {
        const int64_t i = min(row + t * SHORT_NT, last);
        has[t] = job.products[i] > 0 && row + t * SHORT_NT <= last;
        p[t] = job.A.rowptr[i];
        q[t] = job.A.rowptr[i + 1];
    }
#pragma unroll
    for (int t = 0; t < SINGLE_TILES; t++) {
        const unsigned some = __ballot_sync(~0u, has[t]);
        before[t] = bits_below(some, lane);
        counts[t][warp] = (uint32_t)__popc(some);
        while (has[t] && q[t] - p[t] > 1) { /* skip entries that lead to empty rows of B */
            const uint32_t k = __ldg(job.A.col + p[t]);
            if (__ldg(job.B.rowptr + k) < __ldg(job.B.rowptr + k + 1)) {
                break;
            }
            p[t]++;
        }
    }
    __syncthreads();
#pragma unroll
    for (int t = 0; t < SINGLE_TILES; t++) {
        p[t] = min(p[t], (uint32_t)job.A.nnz - 1);
        q[t] = min(__ldg(job.B.rowptr + __ldg(job.A.col + p[t])), (uint32_t)job.B.nnz - 1);
        for (uint32_t w = 0; w < warp; w++) {
            before[t] += counts[t][w];
        }
    }
    uint32_t column[SINGLE_TILES];
    V a[SINGLE_TILES], b[SINGLE_TILES];
#pragma unroll
    for (int t = 0; t < SINGLE_TILES; t++) {
        column[t] = __ldg(job.B.col + q[t]);
        a[t] = value_at<V>(job.A, p[t]), b[t] = value_at<V>(job.B, q[t]);
    }
#pragma unroll
    for (int t = 0; t < SINGLE_TILES; t++) {
        if (row + t * SHORT_NT <= last) {
            const int64_t at = (int64_t)(layout.tiles[tile + t] +
                                         layout.blocks[(tile + t) / (INSPECT_TILES * (uint32_t)layout.steps)]) +
                               before[t];
            if (has[t]) {
                put_col(job, at, column[t]);
                put_value<V>(job, at, canonical(times(job, a[t], b[t])));
            }
            put_start(rowptr, wide_rowptr, row + t * SHORT_NT, at + has[t]);
        }
    }
}
