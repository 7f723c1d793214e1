/* The parts of B's rows that lie in a range of columns. A block marks or adds their products, part after part. */
#pragma once

#include "spgemm/gpu/job.cuh"

/* Takes the next task; all threads of the block get the same one. */
__device__ inline ull take_next(ull *counter, ull *shared) {
    __syncthreads();
    if (threadIdx.x == 0) {
        *shared = atomicAdd(counter, 1ull);
    }
    __syncthreads();
    return *shared;
}

/* Up to NT entries of A's row, those that have products in the range: where each part begins among all products, and
 * the shift from there to B's entries. */
template <int NT> struct part_list {
    uint32_t warp_sum[NT / WARP], warp_count[NT / WARP]; /* first, because they are read 16 bytes at a time */
    uint32_t shift[NT], start[NT + 1];

    /* How many entries of A may be read together: their products, and a step more, must number less than 2^32. That
     * holds for NT as long as B's rows have each column once. */
    __device__ static uint32_t most(const spg_job &job) {
        return job.duplicates ? min((UINT32_MAX - NT) / (uint32_t)job.B.nnz, (uint32_t)NT) : (uint32_t)NT;
    }
    /* Finds the parts of entries p .. end-1, at most NT, in columns low .. high-1. Returns how many there are. `slot`
     * is the number of this thread's part, or ~0 if it has none. Behind the last part, start[] has the number of
     * products. */
    __device__ uint32_t read(const spg_job &job, uint32_t p, uint32_t end, uint32_t low, uint32_t high,
                             uint32_t &slot) {
        const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
        uint32_t before = 0, count = 0, total = 0, of_warp;
        row_part part = row_of_entry(job, p + threadIdx.x, end);
        if (low > 0 || high < job.cols) {
            part = part_of_row(job, part, low, high);
        }
        uint32_t begin = sum_before(part.length, &of_warp);
        const unsigned some = __ballot_sync(~0u, part.length > 0);
        __syncthreads(); /* all threads have read the parts before */
        if (lane == 0) {
            warp_sum[warp] = of_warp;
            warp_count[warp] = (uint32_t)__popc(some);
        }
        __syncthreads();
        for (uint32_t k = 0; k < NT / WARP; k++) {
            begin += k < warp ? warp_sum[k] : 0, before += k < warp ? warp_count[k] : 0;
            total += warp_sum[k], count += warp_count[k];
        }
        slot = ~0u;
        if (part.length > 0) {
            slot = before + bits_below(some, lane);
            start[slot] = begin;
            shift[slot] = part.at - begin;
        }
        if (threadIdx.x == 0) {
            start[count] = total;
        }
        __syncthreads();
        return count;
    }
};
