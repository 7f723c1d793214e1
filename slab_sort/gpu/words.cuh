/* Sorts words of 32 bits in shared memory by the NT threads of a block, R words each, by a bitonic network. Thread t
 * has the words t*R .. t*R + R-1 in registers while words of one warp are exchanged. For exchanges between warps it
 * has a column, words 32*R apart. Rows are read 16 bytes at a time, from places at which neither rows nor columns have
 * bank conflicts. Everything is unrolled: with loops it took twice as long
 * up to 2^12 words. */
#pragma once

#include "segsort/gpu/network.cuh"

template <int R, int NT> struct word_sorter {
    enum { SLAB = WARP * R, QUADS = R / 4 }; /* words of a warp; 16-byte pieces of a row */

    /* The place of word i. place(i + k * SLAB) = place(i) + k * SLAB. */
    static __device__ __forceinline__ int place(int i) {
        const int quad = i / 4;
        return (quad ^ (quad >> 3 & (QUADS - 1))) * 4 + i % 4;
    }

    static __device__ __forceinline__ void exchange(uint32_t &low, uint32_t &high) {
        const uint32_t x = min(low, high);
        high = max(low, high);
        low = x;
    }

    static __device__ __forceinline__ void put_row(const uint32_t (&w)[R], uint32_t *words, int t) {
#pragma unroll
        for (int q = 0; q < QUADS; q++) {
            *(uint4 *)(words + place(t * R + q * 4)) = make_uint4(w[q * 4], w[q * 4 + 1], w[q * 4 + 2], w[q * 4 + 3]);
        }
    }
    static __device__ __forceinline__ void get_row(uint32_t (&w)[R], const uint32_t *words, int t) {
#pragma unroll
        for (int q = 0; q < QUADS; q++) {
            const uint4 quad = *(const uint4 *)(words + place(t * R + q * 4));
            w[q * 4] = quad.x, w[q * 4 + 1] = quad.y, w[q * 4 + 2] = quad.z, w[q * 4 + 3] = quad.w;
        }
    }

    /* ---- between warps ---- */

    /* Exchanges, of W warps of slabs, words that are S/2, S/4, .. S/K slabs apart, in groups of S slabs. FLIP: in the
     * first step the second half of a group is mirrored. u: the thread among W warps. */
    template <int W, int S, int K, bool FLIP>
    static __device__ __forceinline__ void exchange_columns(uint32_t *words, int u) {
        enum { APART = S / K, COLUMNS = R / K };
#pragma unroll
        for (int k = 0; k < COLUMNS; k++) {
            const int x = u + k * WARP * W, column = x % SLAB, y = x / SLAB, b = y % APART, group = y / APART * S;
            uint32_t *lower = words + place((group + b) * SLAB + column);
            uint32_t *upper = FLIP ? words + place((group + APART - 1 - b) * SLAB + SLAB - 1 - column) : lower;
            uint32_t w[K];
#pragma unroll
            for (int a = 0; a < K; a++) {
                w[a] = (a < K / 2 ? lower : upper)[a * APART * SLAB];
            }
            if (FLIP) {
#pragma unroll
                for (int a = 0; a < K / 2; a++) {
                    exchange(w[a], w[K - 1 - a]);
                }
            }
#pragma unroll
            for (int d = FLIP ? K / 4 : K / 2; d >= 1; d /= 2) {
#pragma unroll
                for (int a = 0; a < K; a++) {
                    if (!(a & d)) {
                        exchange(w[a], w[a + d]);
                    }
                }
            }
#pragma unroll
            for (int a = 0; a < K; a++) {
                (a < K / 2 ? lower : upper)[a * APART * SLAB] = w[a];
            }
        }
    }
    template <int W, int S, bool FLIP>
    static __device__ __forceinline__ void merge_columns(uint32_t *words, int u, bool on) {
        constexpr int K = S < R ? S : R;
        if (on) {
            exchange_columns<W, S, K, FLIP>(words, u);
        }
        if constexpr (S / K > 1) {
            __syncthreads();
            merge_columns<W, S / K, false>(words, u, on);
        }
    }
    /* Merges runs of W/2 warps in pairs, then longer ones. Warps beyond the count only take part in barriers. */
    template <int W>
    static __device__ __forceinline__ void merge_warps(uint32_t (&w)[R], uint32_t *words, int warp, int t, int count,
                                                       const network_ones &ones) {
        if constexpr (W <= NT / WARP) {
            if (W / 2 * SLAB < count) {
                const int first = warp & ~(W - 1);
                const bool on = first * SLAB < count;
                if (on) {
                    put_row(w, words, t);
                }
                __syncthreads();
                merge_columns<W, W, true>(words + first * SLAB, t & (WARP * W - 1), on);
                __syncthreads();
                if (warp * SLAB < count) {
                    get_row(w, words, t);
                    halve_down<WARP / 2>(w, ones);
                    merge_words<R, 0, R>(w, ones);
                }
                merge_warps<W * 2>(w, words, warp, t, count, ones);
            }
        }
    }

    /* Sorts `count` words; word i is at place(i). Those from the count to the end of its slab are ~0. All threads call
     * it together, after a barrier, and make one after it. */
    static __device__ __forceinline__ void sort(uint32_t *words, int count, const network_ones &ones) {
        const int t = (int)threadIdx.x, warp = __shfl_sync(~0u, t / WARP, 0);
        const bool active = warp * SLAB < count;
        uint32_t w[R];
#pragma unroll
        for (int r = 0; r < R; r++) {
            w[r] = ~0u;
        }
        if (active) {
            get_row(w, words, t);
            sort_known_lanes<WARP>(w, ones);
        }
        merge_warps<2>(w, words, warp, t, count, ones);
        if (active) {
            put_row(w, words, t);
        }
    }
};
