/* Lists the starts of groups of equal keys: the places of all ones among the marks of changes, one after another.
 * Blocks take chunks of the marks in order; the ones before a chunk come by look-back, as for changes
 * (kernel_changes.cuh). */
#pragma once

#include "kernel_changes.cuh"

enum { GROUPS_VT = 16, GROUPS_CHUNK = CHANGE_NT * GROUPS_VT /* marks of a chunk */ };

__host__ __device__ inline int64_t group_chunks(int64_t n) { return n / GROUPS_CHUNK + 1; }

/* Do the segments hold all items? Groups are the changes of all segments, so an item outside would have no mark. */
__device__ inline bool segments_hold_all(const seg_job &job) {
    if (!job.offsets || job.segments == 0) {
        return true;
    }
    return bound_at(job, job.offsets, 0) == 0 && bound_at(job, job.offsets, job.segments) == job.n;
}

/* job.groups: the number of chunks taken, then what each chunk publishes; all zero at first. */
static __global__ void __launch_bounds__(CHANGE_NT) kernel_groups(const __grid_constant__ seg_job job) {
    if (blockIdx.x == 0 && threadIdx.x == 0 && !segments_hold_all(job)) {
        *job.fault = job.segments;
    }
    for (int64_t taken; (taken = take_chunk(job.groups)) < group_chunks(job.n);) {
        const int64_t at = taken * GROUPS_CHUNK + threadIdx.x / WARP * WARP * GROUPS_VT + threadIdx.x % WARP;
        unsigned one = 0, rank[GROUPS_VT];
#pragma unroll
        for (int j = 0; j < GROUPS_VT; j++) {
            one |= (unsigned)(at + j * WARP < job.n && job.change[at + j * WARP] != 0) << j;
        }
        const unsigned total = rank_ones(one, rank);
        const int64_t before = ones_before(job.groups + 1, taken, total);
        if (threadIdx.x == 0 && taken + 1 == group_chunks(job.n)) {
            index_put(job, job.group_at, before + total, job.n);
            *job.group_count = before + total;
        }
#pragma unroll
        for (int j = 0; j < GROUPS_VT; j++) {
            if (one >> j & 1) {
                index_put(job, job.group_at, before + rank[j], at + j * WARP);
            }
        }
    }
}

/* ---- the host's side ---- */

static lsp_status start_groups(lsp_ctx *ctx, const seg_job *job) {
    const int64_t chunks = group_chunks(job->n), blocks = (int64_t)CHANGE_BLOCKS * lsp_cuda_get_chip(ctx)->sms;
    LSP_TRY(lsp_cuda_clear(ctx, job->groups, (chunks + 1) * (int64_t)sizeof *job->groups));
    return LSP_LAUNCH(ctx, kernel_groups, lsp_min(blocks, chunks), CHANGE_NT, 0, *job);
}
