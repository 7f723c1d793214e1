/* Counts rows of more than 256 products in windows. Rows that fit no window, and rows that are made by merging, are
 * listed for the next kernels. Taken for rows of up to LSP_SORT_MOST products, and up to LSP_LARGE_COUNT_MOST, with a
 * larger window, if C has more than LSP_LARGE_COUNT_FROM columns (count.cu). */
#pragma once

#include "spgemm/gpu/sort/kernel_merge.cuh"
#include "window.cuh"

/* The rows to count, sorted by bin, and the lists of rows that are left to other kernels, by bin too. */
struct window_counting {
    const uint32_t *rows;
    uint32_t count;                     /* the number of rows */
    uint32_t first[LSP_COUNT_BINS + 1]; /* where each bin begins in `rows`, and in `again` */
    const uint32_t *listed;             /* of each bin: rows in the list, which does not contain repeats */
    uint32_t *again, *again_count;      /* rows that fit no window, and their number in each bin */
    uint32_t *merged, *merged_count;    /* rows that are made by merging */
};

/* Most words that have columns, where rows of more than 4096 products are counted: 1024. */
typedef spread_window<11> large_window;

/* Shared memory of a warp, for either window. */
enum { WINDOW_COUNT_BYTES = LSP_WINDOW_NEAR * 4 };
static_assert(sizeof(window_table<spread_window<>::BITS>) <= WINDOW_COUNT_BYTES, "the table fits where marks fit");

/* Notes the count of a group's first row for all its rows. The rows stay a group only if a window will fill them. */
__device__ inline void window_note(const spg_job &job, uint32_t row, uint32_t repeats, uint32_t nnz, uint32_t groups) {
    const uint32_t lane = threadIdx.x % WARP, entries = job.A.rowptr[row + 1] - job.A.rowptr[row];
    const int bin = lsp_fill_bin(job.products[row], entries, nnz, groups, job.cols);
    if (lane < repeats) {
        job.rowptr[row + lane + 1] = nnz;
        if (lane == 0 || bin < LSP_BIN_NEAR_128 || bin > LSP_BIN_SPREAD_512) {
            job.groups[row + lane] = (uint8_t)groups;
        }
    }
}

/* Counts the first row of a group for all its rows. Returns false if it does not fit the window. */
template <typename W>
__device__ inline bool window_count_repeats(const spg_job &job, uint32_t row, uint32_t repeats, uint32_t groups, W &w) {
    const uint32_t begin = job.A.rowptr[row], end = job.A.rowptr[row + 1];
    if (!w.open(job, begin, end) || !window_mark<1, true>(job, begin, end, w)) {
        return false;
    }
    const uint32_t sum = w.count(), words = sum >> 20;
    if (groups == LSP_GROUPS_SPREAD && (ull)job.products[row] * repeats < (ull)words * LSP_SPREAD_FROM) {
        return false;
    }
    uint32_t kind = words > W::WORDS ? 0 : groups;
    if constexpr (std::is_same_v<W, near_window>) { /* a row that repeats is made together with others, by a window */
        const bool asks =
            threadIdx.x % WARP == 0 && repeats == 1 && job.products[row] <= LSP_KNOWN_NARROW * (end - begin);
        uint32_t *const room = asks ? room_for_columns(job, row, sum & 0xFFFFF) : NULL;
        if (__any_sync(~0u, room != NULL)) {
            w.put((uint32_t *)__shfl_sync(~0u, (ull)room, 0));
            kind = LSP_GROUPS_KNOWN;
        }
    }
    window_note(job, row, repeats, sum & 0xFFFFF, kind);
    __syncwarp();
    return true;
}

static __global__ void __launch_bounds__(WINDOW_NT, 10) kernel_window_count(spg_job job, window_counting work) {
    LSP_DYNAMIC_SHARED(memory);
    const uint32_t warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    char *const mine = memory + warp * WINDOW_COUNT_BYTES;
    spread_window<> spread = spread_window<>::at(mine);
    near_window near = near_window::at(mine);
    uint32_t i = blockIdx.x * WINDOW_WARPS + warp;
    for (int bin = 0; bin < LSP_COUNT_BINS; bin++) {
        const uint32_t first = work.first[bin], listed = work.listed[bin];
        for (; i < listed; i += gridDim.x * WINDOW_WARPS) {
            const uint32_t row = work.rows[first + i], repeats = repeat_length(job, row);
            const bool merges =
                !job.duplicates && lsp_merges(job.products[row], read_merge_row(job, row).length, job.cols);
            if (merges || !(window_count_repeats(job, row, repeats, LSP_GROUPS_NEAR, near) ||
                            (!near.scattered && window_count_repeats(job, row, repeats, LSP_GROUPS_SPREAD, spread)))) {
                uint32_t at = lane == 0 ? atomicAdd(merges ? work.merged_count : work.again_count + bin, repeats) : 0;
                at = __shfl_sync(~0u, at, 0);
                if (lane < repeats) {
                    (merges ? work.merged : work.again + first)[at + lane] = row + lane;
                    job.groups[row + lane] = 0;
                }
            }
        }
        i -= listed;
    }
}

/* Counts rows of more than 4096 products in a larger window. Rows that fit none are listed for LONG. */
static __global__ void __launch_bounds__(WINDOW_NT)
    kernel_window_count_large(spg_job job, spg_rest rest, uint32_t *again, uint32_t *again_count) {
    LSP_DYNAMIC_SHARED(memory);
    const uint32_t warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, i = blockIdx.x * WINDOW_WARPS + warp;
    large_window w = large_window::at(memory + warp * large_window::POOL);
    if (i < *rest.count) {
        const uint32_t row = rest.rows[i], begin = job.A.rowptr[row], end = job.A.rowptr[row + 1];
        const bool fits = w.open(job, begin, end) && window_mark<1, true>(job, begin, end, w);
        const uint32_t sum = fits ? w.count() & 0xFFFFF : 0;
        if (lane == 0 && fits) {
            job.rowptr[row + 1] = sum;
        } else if (lane == 0) {
            again[atomicAdd(again_count, 1u)] = row;
        }
    }
}
