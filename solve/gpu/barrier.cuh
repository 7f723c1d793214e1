/* Shared memory of the persistent kernel, and the barrier of all its blocks, which also sums. */
#pragma once

#include "job.cuh"

/* A block's shared memory. */
typedef struct resident_shared {
    double *p;    /* the slice; p[width] = 0 */
    double *old;  /* p of the block's rows, by position; for LSP_RESIDENT_DOTS_BLOCKS */
    double *dots; /* each slice's share of p*A*p */
    int *row;     /* of the block's rows, and where each slice begins, if these are few */
    unsigned *step_begin;
    double *sums; /* [2][32] of warps, then [2][32] of blocks */
    int *turn;    /* the next slice to be taken */
    lsp_resident_result *result;
    double *val; /* what is kept of the matrix */
    uint16_t *col;
} resident_shared;

/* The rules of shared memory, for the host (memory NULL: counts the bytes) and for the kernel. */
LSP_BOTH_SIDES inline size_t resident_carve(const resident_job &job, char *memory, resident_shared *s) {
    const bool dots = job.dots == LSP_RESIDENT_DOTS_BLOCKS;
    size_t at = (size_t)job.stash_steps * STEP_BYTES;
    s->val = (double *)memory;
    s->col = (uint16_t *)(memory + (size_t)job.stash_steps * WARP * 8);
    s->p = (double *)(memory + at);
    at += ((size_t)job.A.width + 2) * 8; /* the width is even: pieces of 16 bytes */
    s->sums = (double *)(memory + at);
    at += 4 * WARP * 8;
    s->turn = (int *)(memory + at);
    at += 16;
    s->result = (lsp_resident_result *)(memory + at);
    at += (sizeof *s->result + 15) / 16 * 16;
    s->dots = (double *)(memory + at);
    at += (dots ? (size_t)job.slices_most : 0) * 8;
    s->old = (double *)(memory + at);
    at += (dots ? (size_t)job.rows_most : 0) * 8;
    s->row = (int *)(memory + at);
    at += (job.few ? (size_t)job.rows_most : 0) * 4;
    s->step_begin = (unsigned *)(memory + at);
    at += (job.few ? (size_t)job.slices_most + 1 : 0) * 4;
    return at;
}

/* ---- the barrier ---- */

/* Barrier of all blocks; v[i] becomes the sum of v[i] over all threads of all blocks, the same bits in each. What was
 * written before it can be read past the L1 cache after it. Each block posts its sum to every block, in a word of that
 * block's own; each adds its words in one order. So nobody polls where others poll: that was half of the barrier's
 * time. A half of a word holds half of a number and the barrier's number, so it tells by itself whether it is there.
 * Words are used by turns of two barriers: a block that posts for the next but one has seen that all blocks have read
 * these. */
template <int N>
__device__ inline void resident_together(const resident_job &job, const resident_shared &s, unsigned &number,
                                         double (&v)[N]) {
    const int tid = (int)threadIdx.x, lane = tid % WARP, warp = tid / WARP, warps = (int)blockDim.x / WARP;
    const int blocks = (int)gridDim.x, mine = (int)blockIdx.x;
    ulonglong2 *const words = job.words + (size_t)(++number % 2) * 2 * blocks * blocks;
    double *const totals = s.sums + 2 * WARP;
    const ull tag = (ull)number << 32;
#pragma unroll
    for (int i = 0; i < N; i++) {
        v[i] = warp_sum(v[i]);
        if (lane == 0) {
            s.sums[i * WARP + warp] = v[i];
        }
    }
    __syncthreads();
    if (warp * WARP < blocks) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            v[i] = warp_sum(lane < warps ? s.sums[i * WARP + lane] : 0.0);
        }
        resident_fence();
#pragma unroll
        for (int i = 0; i < N; i++) {
            const ull bits = (ull)__double_as_longlong(v[i]);
            if (tid < blocks) {
                resident_post(words + (i * blocks + tid) * blocks + mine, tag | bits >> 32, tag | (bits & 0xFFFFFFFF));
            }
        }
#pragma unroll
        for (int i = 0; i < N; i++) {
            ulonglong2 w = {0, 0};
            if (tid < blocks) {
                do {
                    w = resident_peek(words + (i * blocks + mine) * blocks + tid);
                } while (((w.x ^ tag) | (w.y ^ tag)) >> 32 != 0);
            }
            v[i] = warp_sum(__longlong_as_double((long long)(w.x << 32 | (w.y & 0xFFFFFFFF))));
            if (lane == 0) {
                totals[i * WARP + warp] = v[i];
            }
        }
        if (RESIDENT_READER_FENCE) {
            resident_fence();
        }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < N; i++) {
        v[i] = 0;
        for (int w = 0; w * WARP < blocks; w++) {
            v[i] += totals[i * WARP + w];
        }
    }
}
