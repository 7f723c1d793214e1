/* Splits giants, segments too long for the class kernels, by their leading digits. One cooperative kernel fills the GPU
 * and goes round by round until all buckets are short enough for the lists. A round has three steps, with a grid
 * barrier after each. Count: each block counts the digits of its share of neighbouring tiles, and writes for each tile
 * the counts before it. Sum: the counts of giants that several blocks share (two at most for a block) are summed over
 * the blocks. Move: blocks take tiles in order, so the places that they write at one time are near each other.
 *
 * Neighbouring short buckets share one entry. Leading bits in which no two keys of a giant differ are skipped. If most
 * keys of a giant are long and equal, the giant is split by that key. Then its equal keys are in their places. */
#pragma once

#include "core/launch.cuh"
#include "giant_count.cuh"
#include "giant_move.cuh"

/* A grid barrier: returns when all blocks have come here `phase` times. What they wrote before can then be read. */
__device__ inline void giants_meet(const seg_job &job, ull phase) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&job.counters->barrier, 1ull);
        while (*(volatile ull *)&job.counters->barrier < phase * gridDim.x) {
            __nanosleep(40);
        }
        __threadfence();
    }
    __syncthreads();
}

template <typename KK, int V>
__global__ void __launch_bounds__(SPLIT_NT, SPLIT_BLOCKS) kernel_giants(const __grid_constant__ seg_job job) {
    LSP_DYNAMIC_SHARED(giants_memory);
    giants_shared &sh = *(giants_shared *)giants_memory;
    for (int round = 0;; round++) {
        const ull listed = __ldcg(&job.counters->giants[round & 1]);
        seg_giant *giants = job.giants[round & 1];
        if (listed == 0) {
            return;
        }
        if (threadIdx.x < WARP) {
            const giant_share share = share_out(giants, listed);
            if (threadIdx.x == 0) {
                sh.share = share;
            }
        }
        __syncthreads();
        const giant_share &share = sh.share;
        for (int64_t which = share.first; which <= share.last; which++) {
            count_giant_part<KK, V>(job, sh, giants, which);
        }
        giants_meet(job, 3ull * round + 1);
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            job.counters->giants[round & 1] = 0; /* all blocks have read it */
            job.counters->moved[~round & 1] = 0; /* all blocks have finished the round before */
        }
        if (share.first <= share.last) {
            sum_parts<KK>(job, sh, giants, share.first);
            if (share.first < share.last) {
                sum_parts<KK>(job, sh, giants, share.last);
            }
        }
        giants_meet(job, 3ull * round + 2);
        move_tiles<KK, V>(job, sh.split, share.tiles, round);
        giants_meet(job, 3ull * round + 3);
    }
}

/* ---- the host's side ---- */

template <typename KK, int V> static lsp_status start_giants_of(lsp_ctx *ctx, const seg_job *job) {
    const size_t shared = sizeof(giants_shared) + split_bytes(sizeof(typename KK::K), V);
    void (*giants_kernel)(seg_job) = kernel_giants<KK, V>;
    const lsp_cuda_chip *chip = lsp_cuda_get_chip(ctx);
    const int64_t fit = chip->shared_sm_bytes / (int64_t)(shared + 2048); /* 2048: static and reserved memory */
    const int64_t resident = lsp_min(fit, SPLIT_BLOCKS);
    LSP_TRY(lsp_allow_shared(ctx, giants_kernel, shared));
    LSP_REQUIRE(resident > 0, LSP_ERR_DEVICE,
                "a block of %d threads with %zu bytes of shared memory does not fit the GPU", (int)SPLIT_NT, shared);
    return LSP_LAUNCH_TOGETHER(ctx, true, giants_kernel,
                               lsp_min(resident * chip->sms, giants_blocks(job->n, job->giant_tile)), SPLIT_NT, shared,
                               *job);
}

template <typename KK> static lsp_status start_giants(lsp_ctx *ctx, const seg_job *job) {
    return job->value_bytes == 0   ? start_giants_of<KK, 0>(ctx, job)
           : job->value_bytes == 4 ? start_giants_of<KK, 4>(ctx, job)
           : job->value_bytes == 8 ? start_giants_of<KK, 8>(ctx, job)
                                   : start_giants_of<KK, 16>(ctx, job);
}
