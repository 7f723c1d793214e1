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

    /* Finds the parts of entries p .. end-1, at most NT, in columns low .. high-1. Returns how many there are. `slot`
     * is the number of this thread's part, or ~0 if it has none. Behind the last part, start[] has the number of
     * products. */
    __device__ uint32_t read(const spg_job &job, uint32_t p, uint32_t end, uint32_t low, uint32_t high,
                             uint32_t &slot) {
        const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
        uint32_t at = 0, length = 0, before = 0, count = 0, total = 0, of_warp;
        if (p + threadIdx.x < end) {
            const uint32_t k = __ldg(job.A.col + p + threadIdx.x);
            at = __ldg(job.B.rowptr + k);
            length = __ldg(job.B.rowptr + k + 1) - at;
            if (low > 0 || high < job.cols) {
                const uint32_t outer[2] = {low, high};
                uint32_t n[1] = {length}, ends[1][2] = {{at, at}};
                lower_bounds<1, 2>(job.B.col, n, outer, ends);
                at = ends[0][0];
                length = ends[0][1] - at;
            }
        }
        uint32_t begin = sum_before(length, &of_warp);
        const unsigned some = __ballot_sync(~0u, length > 0);
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
        if (length > 0) {
            slot = before + (uint32_t)__popc(some & ((1u << lane) - 1));
            start[slot] = begin;
            shift[slot] = at - begin;
        }
        if (threadIdx.x == 0) {
            start[count] = total;
        }
        __syncthreads();
        return count;
    }
};
