/* Lists of rows by bin, so that each bin can be counted and filled by its own kernel. */
#pragma once

#include "job.cuh"

enum { LIST_NT = 256 };

/* ---- bins ---- */

/* Counts rows by bin in shared memory, so that global atomics are one a bin and block. */
struct bin_counter {
    uint32_t *shared;

    __device__ void clear() const {
        if (threadIdx.x < LSP_BINS) {
            shared[threadIdx.x] = 0;
        }
        __syncthreads();
    }
    __device__ uint32_t add(int bin) const { return atomicAdd(shared + bin, 1u); }
    /* Called by a whole warp; bin -1 counts nothing. Mostly all lanes have the same bin, and one lane adds for all of
     * them. */
    __device__ void add_warp(int bin) const {
        const unsigned some = __ballot_sync(~0u, bin >= 0);
        const int leader = some ? __ffs((int)some) - 1 : 0, its = __shfl_sync(~0u, bin, leader);
        const bool same = bin >= 0 && bin == its;
        const unsigned same_lanes = __ballot_sync(~0u, same);
        if (bin >= 0 && !same) {
            add(bin);
        } else if (same && (int)threadIdx.x % WARP == leader) {
            atomicAdd(shared + its, (uint32_t)__popc(same_lanes));
        }
    }
    __device__ void flush(uint32_t *all) const {
        __syncthreads();
        if (threadIdx.x < LSP_BINS && shared[threadIdx.x] > 0) {
            atomicAdd(all + threadIdx.x, shared[threadIdx.x]);
        }
    }
};

/* ---- lists ---- */

/* The row's bin: for counting, or (FILL) for filling, which needs C's row pointers. */
template <bool FILL> __device__ inline int bin_of(const spg_job &job, int64_t row) {
    const uint32_t products = job.products[row], entries = job.A.rowptr[row + 1] - job.A.rowptr[row];
    const uint8_t groups = job.groups ? job.groups[row] : 0;
    lsp_spgemm_bin bin = lsp_repeats_above(groups) ? LSP_BIN_NONE : lsp_count_bin(products, entries);
    if (FILL) {
        bin = lsp_fill_bin(products, entries, (uint32_t)(job.rowptr[row + 1] - job.rowptr[row]), groups, job.cols);
    }
    return lsp_shared_bin(bin, products, entries, job.shared_from);
}

template <bool FILL> __global__ void __launch_bounds__(LIST_NT) kernel_bins(spg_job job, uint32_t *bins) {
    __shared__ uint32_t shared[LSP_BINS];
    const bin_counter counter = {shared};
    counter.clear();
    for (int64_t first = (int64_t)blockIdx.x * LIST_NT; first < job.A.rows; first += (int64_t)gridDim.x * LIST_NT) {
        const int64_t row = first + threadIdx.x;
        counter.add_warp(row < job.A.rows ? bin_of<FILL>(job, row) : -1);
    }
    counter.flush(bins);
}

/* Where each bin begins in the list. */
typedef struct bin_starts {
    uint32_t at[LSP_BINS];
} bin_starts;

/* Lists rows by bin, one bin after the other. Short rows, and rows without products, are not listed. */
template <bool FILL>
__global__ void __launch_bounds__(LIST_NT)
    kernel_list(spg_job job, uint32_t *list, bin_starts starts, uint32_t *placed) {
    __shared__ uint32_t shared[LSP_BINS], base[LSP_BINS];
    const bin_counter counter = {shared};
    const int64_t row = (int64_t)blockIdx.x * LIST_NT + threadIdx.x;
    const int its = row < job.A.rows ? bin_of<FILL>(job, row) : LSP_BIN_NONE;
    const int bin = its > LSP_BIN_SORT_32 ? its : LSP_BIN_NONE;
    counter.clear();
    uint32_t rank = bin == LSP_BIN_NONE ? 0 : counter.add(bin);
    __syncthreads();
    if (threadIdx.x > 0 && threadIdx.x < LSP_BINS && shared[threadIdx.x] > 0) {
        base[threadIdx.x] = starts.at[threadIdx.x] + atomicAdd(placed + threadIdx.x, shared[threadIdx.x]);
    }
    __syncthreads();
    if (bin != LSP_BIN_NONE) {
        list[base[bin] + rank] = (uint32_t)row;
    }
}
