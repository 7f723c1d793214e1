/* Sums over all numbers of vectors without atomics: each block leaves the sum of its numbers, and each block of the
 * next kernel adds these in one order. */
#pragma once

#include "core/block.cuh"
#include "gpu.h"
#include "solve/rules.h"

enum { NT = 256, VT = 4, TILE = NT * VT, WARPS = NT / WARP }; /* VT: numbers of a thread in one step */

/* The block's sums of K numbers a thread, in every thread. */
template <int K> __device__ inline void block_sums(double (&x)[K]) {
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
template <int K> __device__ inline void leave_sums(double (&x)[K], lsp_solve_partial *partial) {
    block_sums(x);
    if (threadIdx.x < K) {
        partial->of[threadIdx.x][blockIdx.x] = x[threadIdx.x];
    }
}

/* The sums that the `blocks` blocks of an earlier kernel left. */
template <int K> __device__ inline void total_sums(const lsp_solve_partial *partial, int blocks, double (&x)[K]) {
    for (int k = 0; k < K; k++) {
        x[k] = 0;
        for (int b = (int)threadIdx.x; b < blocks; b += NT) {
            x[k] += partial->of[k][b];
        }
    }
    block_sums(x);
}

/* Calls body(i) for the block's share of 0 .. n-1. */
template <typename Body> __device__ inline void each(int64_t n, Body body) {
    for (int64_t first = (int64_t)blockIdx.x * TILE; first < n; first += (int64_t)gridDim.x * TILE) {
        if (first + TILE <= n) {
#pragma unroll
            for (int r = 0; r < VT; r++) {
                body(first + r * NT + threadIdx.x);
            }
        } else {
            for (int64_t i = first + threadIdx.x; i < n; i += NT) {
                body(i);
            }
        }
    }
}

/* As each, in two steps: reads = load(i), then body(i, reads). A thread reads for several numbers before it writes for
 * the first one, because the compiler cannot know that what it writes is not read next. */
template <typename Load, typename Body> __device__ inline void each_loaded(int64_t n, Load load, Body body) {
    for (int64_t first = (int64_t)blockIdx.x * TILE; first < n; first += (int64_t)gridDim.x * TILE) {
        if (first + TILE <= n) {
            decltype(load(first)) reads[VT];
#pragma unroll
            for (int r = 0; r < VT; r++) {
                reads[r] = load(first + r * NT + threadIdx.x);
            }
#pragma unroll
            for (int r = 0; r < VT; r++) {
                body(first + r * NT + threadIdx.x, reads[r]);
            }
        } else {
            for (int64_t i = first + threadIdx.x; i < n; i += NT) {
                body(i, load(i));
            }
        }
    }
}

/* What each_loaded reads of up to four vectors. m: of the preconditioner's diagonal; without one, 1. */
template <typename T> struct four { T x, p, z, m; };
