/* Sums over all numbers of vectors without atomics: each block leaves the sum of its numbers, and each block of the
 * next kernel adds these in one order. */
#pragma once

#include "core/block.cuh"
#include "gpu.h"
#include "solve/rules.h"

enum { NT = 256, VT = 4, TILE = NT * VT, WARPS = NT / WARP }; /* VT: numbers of a thread in one step */

/* The block's sums of K numbers a thread, in every thread. */
template <int K> __device__ inline void block_sums(double *x) {
    __shared__ double of_warp[WARPS][K];
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    for (int k = 0; k < K; k++) {
        x[k] = warp_sum(x[k]);
        if (lane == 0) {
            of_warp[warp][k] = x[k];
        }
    }
    __syncthreads();
    for (int k = 0; k < K; k++) {
        x[k] = 0;
        for (int w = 0; w < WARPS; w++) {
            x[k] += of_warp[w][k];
        }
    }
    __syncthreads();
}

/* Leaves the block's sums. */
template <int K> __device__ inline void leave_sums(double *x, lsp_solve_partial *partial) {
    block_sums<K>(x);
    if (threadIdx.x == 0) {
        for (int k = 0; k < K; k++) { /* the index is constant, so x stays in registers */
            partial->of[k][blockIdx.x] = x[k];
        }
    }
}

/* The sums that the `blocks` blocks of an earlier kernel left. */
template <int K> __device__ inline void total_sums(const lsp_solve_partial *partial, int blocks, double *x) {
    for (int k = 0; k < K; k++) {
        x[k] = 0;
        for (int b = (int)threadIdx.x; b < blocks; b += NT) {
            x[k] += partial->of[k][b];
        }
    }
    block_sums<K>(x);
}
