/* Counts rows of more than 256 products in windows. Rows that fit no window, and rows that are made by merging, are
 * listed for the next kernels. */
#ifndef LSP_SPGEMM_GPU_KERNEL_WINDOW_COUNT_CUH
#define LSP_SPGEMM_GPU_KERNEL_WINDOW_COUNT_CUH

#include "kernel_merge.cuh"
#include "window_shape.cuh"

/* The rows to count, sorted by bin, and the lists of rows that are left to other kernels, by bin too. */
struct window_counting {
    const uint32_t *rows;
    uint32_t count, most;               /* the number of rows; the most words of a window */
    uint32_t first[LSP_COUNT_BINS + 1]; /* where each bin begins in `rows`, and in `again` */
    const uint32_t *listed;             /* of each bin: rows in the list, which does not contain repeats */
    uint32_t *again, *again_count;      /* rows that fit no window, and their number in each bin */
    uint32_t *merged, *merged_count;    /* rows that are made by merging */
};

/* Notes the count of a group's first row for all its rows. The rows stay a group only if a window will fill them. */
__device__ inline void window_note(const spg_job &job, uint32_t row, uint32_t repeats, uint32_t nnz, uint32_t groups) {
    const uint32_t lane = threadIdx.x % WARP, entries = job.A.rowptr[row + 1] - job.A.rowptr[row];
    const int bin = lsp_fill_bin(job.products[row], entries, nnz, groups, job.cols);
    if (lane < repeats) {
        job.rowptr[row + lane + 1] = nnz;
        if (lane == 0 || bin < LSP_BIN_NARROW_128 || bin > LSP_BIN_WIDE_512) {
            job.groups[row + lane] = (uint8_t)groups;
        }
    }
}

/* Counts the first row of a group for all its rows. Returns false if it does not fit the window. */
__device__ inline bool window_count_repeats(const spg_job &job, uint32_t row, uint32_t repeats, uint32_t most,
                                            window &w) {
    const uint32_t lane = threadIdx.x % WARP, begin = job.A.rowptr[row], end = job.A.rowptr[row + 1];
    if (!window_open(job, begin, end, most, &w)) {
        return false;
    }
    window_mark<1>(job, begin, end, w);
    uint32_t sum = 0; /* the columns in the lower 20 bits, the words that have any above them */
    for (uint32_t k = lane; k < w.words; k += WARP) {
        sum += (uint32_t)__popc(w.marks[k]) | (w.marks[k] != 0) << 20;
    }
    sum = __reduce_add_sync(~0u, sum);
    window_note(job, row, repeats, sum & 0xFFFFF,
                sum >> 20 > WINDOW_WORDS       ? LSP_GROUPS_MORE
                : w.words <= LSP_WINDOW_NARROW ? LSP_GROUPS_NARROW
                                               : LSP_GROUPS_WIDE);
    __syncwarp();
    return true;
}

static __global__ void __launch_bounds__(WINDOW_NT) kernel_window_count(spg_job job, window_counting work) {
    LSP_DYNAMIC_SHARED(memory);
    const uint32_t warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    window w = {(uint32_t *)memory + warp * work.most, NULL, NULL, 0, 0};
    uint32_t i = blockIdx.x * WINDOW_WARPS + warp;
    for (int bin = 0; bin < LSP_COUNT_BINS; bin++) {
        const uint32_t first = work.first[bin], listed = work.listed[bin];
        for (; i < listed; i += gridDim.x * WINDOW_WARPS) {
            const uint32_t row = work.rows[first + i], repeats = repeat_length(job, row);
            const bool merges =
                !job.duplicates && lsp_merges(job.products[row], read_merge_row(job, row).length, job.cols);
            if (merges || !window_count_repeats(job, row, repeats, work.most, w)) {
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

#endif
