/* Sorting networks in registers: G lanes with VT words each sort G * VT words; lane t ends with the sorted words t*VT
 * .. t*VT + VT-1. Words are exchanged in the three patterns of the paper: within a lane (`exchange_words`), with the
 * mirrored word of the mirrored lane (`flip`), and with the same word of another lane (`halve_lanes`). A lane first
 * sorts its words by Batcher's merge exchange; then runs of 1, 2, 4, ... lanes are merged in pairs: a flip, halves, and
 * merges within lanes. VT need not be a power of two; G is a power of two, known at run time. */
#pragma once

#include "core/block.cuh"
#include <stdint.h>

/* 1 and -1, hidden from the compiler. If it knew them, it would replace multiplications, which run on an idle unit. */
struct network_ones {
    uint32_t plus = 1, minus = ~0u;
};

/* low, high = min, max. The unit for min and max limits throughput; the one for multiply-add is idle. So two of three
 * maxima are computed there, as low + high - min; the index I selects these two. */
template <int I> __device__ inline void exchange_words(uint32_t &low, uint32_t &high, const network_ones &ones) {
    uint32_t x = min(low, high);
    high = I % 3 == 0 ? max(low, high) : x * ones.minus + (low * ones.plus + high);
    low = x;
}

/* Returns x, but the compiler does not know that. So it computes values from the result again, instead of keeping them
 * in registers (for instance r * x for 32 values of r). */
__device__ inline int fresh(int x) {
    lsp_settle(x);
    return x;
}

/* ---- within a lane ---- */

/* One stage of Batcher's merge exchange (Knuth, 5.2.2 M) over the words AT .. AT+N-1. */
template <int VT, int AT, int N, int P, int R, int D, int I = 0>
__device__ inline void exchange_stage(uint32_t (&w)[VT], const network_ones &ones) {
    if constexpr (I + D < N) {
        if constexpr ((I & P) == R) {
            exchange_words<I>(w[AT + I], w[AT + I + D], ones);
        }
        exchange_stage<VT, AT, N, P, R, D, I + 1>(w, ones);
    }
}
template <int VT, int AT, int N, int P, int Q>
__device__ inline void exchange_stages(uint32_t (&w)[VT], const network_ones &ones) {
    if constexpr (Q > P) {
        exchange_stage<VT, AT, N, P, P, Q - P>(w, ones);
        exchange_stages<VT, AT, N, P, Q / 2>(w, ones);
    }
}
/* Sorts the N words from AT on. */
template <int VT, int AT, int N, int TOP, int P>
__device__ inline void sort_passes(uint32_t (&w)[VT], const network_ones &ones) {
    if constexpr (P > 0) {
        exchange_stage<VT, AT, N, P, 0, P>(w, ones);
        exchange_stages<VT, AT, N, P, TOP>(w, ones);
        sort_passes<VT, AT, N, TOP, P / 2>(w, ones);
    }
}
template <int VT, int AT, int N> __device__ inline void sort_words(uint32_t (&w)[VT], const network_ones &ones) {
    constexpr int top = N > 32 ? 32 : N > 16 ? 16 : N > 8 ? 8 : N > 4 ? 4 : N > 2 ? 2 : N > 1 ? 1 : 0;
    sort_passes<VT, AT, N, top, top>(w, ones);
}

/* Exchanges words AT .. AT+N/2-1 with those N/2 further. */
template <int VT, int AT, int N, int I = 0>
__device__ inline void exchange_halves(uint32_t (&w)[VT], const network_ones &ones) {
    if constexpr (I < N / 2) {
        exchange_words<I + AT>(w[AT + I], w[AT + I + N / 2], ones);
        exchange_halves<VT, AT, N, I + 1>(w, ones);
    }
}
/* Exchanges word I with word VT-1-I: two ascending halves become two bitonic ones, the smaller words first. */
template <int VT, int I = 0> __device__ inline void exchange_reflected(uint32_t (&w)[VT], const network_ones &ones) {
    if constexpr (I < VT / 2) {
        exchange_words<I>(w[I], w[VT - 1 - I], ones);
        exchange_reflected<VT, I + 1>(w, ones);
    }
}
/* Sorts the N words from AT on if they are bitonic: ascending, then descending, or a rotation of that. */
template <int VT, int AT, int N> __device__ inline void merge_words(uint32_t (&w)[VT], const network_ones &ones) {
    if constexpr (N % 2 != 0) {
        sort_words<VT, AT, N>(w, ones);
    } else {
        exchange_halves<VT, AT, N>(w, ones);
        merge_words<VT, AT, N / 2>(w, ones);
        merge_words<VT, AT + N / 2, N / 2>(w, ones);
    }
}

/* ---- between lanes of a warp; g = 2, 4, .. 32 neighbouring lanes are a group ---- */

/* Exchanges word r of lane l with word VT-1-r of lane g-1-l: two ascending halves of a group become bitonic ones. */
template <int VT> __device__ inline void flip(uint32_t (&w)[VT], int g, const network_ones &ones) {
    bool upper = (threadIdx.x & (g / 2)) != 0;
#pragma unroll
    for (int r = 0; r < VT / 2; r++) {
        uint32_t x = __shfl_xor_sync(~0u, w[VT - 1 - r], g - 1), y = __shfl_xor_sync(~0u, w[r], g - 1);
        lsp_keep_one(w[r], x, upper, ones.plus);
        lsp_keep_one(w[VT - 1 - r], y, upper, ones.plus);
    }
}
/* Exchanges word r of lane l with word r of lane l ^ mask. */
template <int VT> __device__ inline void halve_lanes(uint32_t (&w)[VT], int mask, const network_ones &ones) {
    bool upper = (threadIdx.x & mask) != 0;
#pragma unroll
    for (int r = 0; r < VT; r++) {
        lsp_keep_one(w[r], __shfl_xor_sync(~0u, w[r], mask), upper, ones.plus);
    }
}
/* Ends a merge, after all exchanges between lanes more than `mask` apart. */
template <int VT> __device__ inline void merge_lanes(uint32_t (&w)[VT], int mask, const network_ones &ones) {
    for (; mask > 0; mask /= 2) {
        halve_lanes(w, mask, ones);
    }
    merge_words<VT, 0, VT>(w, ones);
}
/* Sorts the words of each group of G <= 32 lanes. */
template <int VT> __device__ inline void sort_lanes(uint32_t (&w)[VT], int G, const network_ones &ones = {}) {
    sort_words<VT, 0, VT>(w, ones);
    for (int g = 2; g <= G; g *= 2) {
        flip(w, g, ones);
        merge_lanes(w, g / 4, ones);
    }
}

/* ---- between several warps: G = 32, 64, .. threads, through word_place<VT>(G * VT) words of shared memory ---- */

/* The place of word e: gaps keep rows of VT words, and columns, from bank conflicts. */
template <int VT> __device__ inline int word_place(int e) {
    return e + e / (VT % WARP == 0 ? WARP : VT % 8 == 0 ? 8 : 4);
}

/* A barrier of the G threads of a group: of a warp or less, or barrier `id` of several warps. MANY: several warps. */
template <bool MANY = false> __device__ inline void group_sync(int G, int id) {
    if (!MANY && G <= WARP) {
        __syncwarp();
    } else {
        lsp_barrier(id, G);
    }
}

/* Exchanges words D apart within the first and within the second half of w; the second half is in descending order. */
template <int VT, int D, int I = 0>
__device__ inline void exchange_columns(uint32_t (&w)[VT], const network_ones &ones) {
    enum { H = VT / 2 };
    if constexpr (I < H) {
        if constexpr (I / D % 2 == 0) {
            exchange_words<I>(w[I], w[I + D], ones);
            exchange_words<I + 1>(w[H + I + D], w[H + I], ones);
        }
        exchange_columns<VT, D, I + 1>(w, ones);
    }
}
template <int VT, int D> __device__ inline void merge_columns(uint32_t (&w)[VT], const network_ones &ones) {
    exchange_columns<VT, D>(w, ones);
    if constexpr (D % 2 == 0) {
        merge_columns<VT, D / 2>(w, ones);
    }
}

/* Puts each thread's words into its row, and waits until all threads of the group have. */
template <int VT> __device__ inline void put_row(const uint32_t (&w)[VT], uint32_t *row, int G, int id) {
    group_sync(G, id);
#pragma unroll
    for (int r = 0; r < VT; r++) {
        row[word_place<VT>(r)] = w[r];
    }
    group_sync(G, id);
}

/* Exchanges word r of thread t with word r of thread t ^ mask, which is in another warp. */
template <int VT>
__device__ inline void halve_far(uint32_t (&w)[VT], int mask, int G, int t, int id, uint32_t *shared,
                                 const network_ones &ones) {
    const uint32_t *other = shared + word_place<VT>((t ^ mask) * VT);
    put_row(w, shared + word_place<VT>(t * VT), G, id);
#pragma unroll
    for (int r = 0; r < VT; r++) {
        lsp_keep_one(w[r], other[word_place<VT>(r)], (t & mask) != 0, ones.plus);
    }
}

/* Merges two runs of g/2 threads each, g >= 32, into one. Thread u of g loads the words u, u + g, u + 2g, ... of the
 * lower run and their mirrors of the upper one, so the flip and the first halves are exchanges within threads. */
template <int VT>
__device__ inline void merge_threads(uint32_t (&w)[VT], int g, int G, int t, int id, uint32_t *shared,
                                     const network_ones &ones) {
    constexpr int stages = VT % 32 == 0 ? 5 : VT % 8 == 0 ? 3 : 2, H = VT / 2; /* steps within threads */
    int u = t & (g - 1), step = word_place<VT>(g);                             /* g is a power of 2 */
    uint32_t *row = shared + word_place<VT>(t * VT);
    uint32_t *lower = shared + word_place<VT>((t - u) * VT) + word_place<VT>(u);
    uint32_t *upper = shared + word_place<VT>((t - u + g) * VT - 1 - u);
    put_row(w, row, G, id);
#pragma unroll
    for (int j = 0; j < H; j++) {
        w[j] = lower[j * step];
        w[H + j] = upper[-j * step];
    }
    exchange_halves<VT, 0, VT>(w, ones);
    merge_columns<VT, H / 2>(w, ones);
    step = fresh(step);
#pragma unroll
    for (int j = 0; j < H; j++) {
        lower[j * step] = w[j];
        upper[-j * step] = w[H + j];
    }
    group_sync(G, id);
#pragma unroll
    for (int r = 0; r < VT; r++) {
        w[r] = row[word_place<VT>(r)];
    }
    int mask = g >> (stages + 1);
    for (; VT % 32 != 0 && mask >= WARP; mask /= 2) {
        halve_far(w, mask, G, t, id, shared, ones);
    }
    merge_lanes(w, mask, ones);
}

/* Sorts the words of G threads, t = 0 .. G-1: fewer than a warp or, if WIDE, a warp or more. */
template <int VT, bool WIDE>
__device__ inline void sort_group(uint32_t (&w)[VT], int G, int t, int id, uint32_t *shared, const network_ones &ones) {
    sort_lanes(w, WIDE ? WARP / 2 : G, ones);
    if constexpr (WIDE) {
        for (int g = WARP; g <= G; g *= 2) {
            merge_threads(w, g, G, t, id, shared, ones);
        }
        group_sync(G, id);
    }
}

/* As sort_lanes, for a number of lanes known at compile time: no loops, so fewer moves but more code. */
template <int MASK, int VT> __device__ inline void halve_down(uint32_t (&w)[VT], const network_ones &ones) {
    if constexpr (MASK > 0) {
        halve_lanes(w, MASK, ones);
        halve_down<MASK / 2>(w, ones);
    }
}
template <int G, int VT> __device__ inline void sort_known_lanes(uint32_t (&w)[VT], const network_ones &ones) {
    if constexpr (G == 1) {
        sort_words<VT, 0, VT>(w, ones);
    } else {
        sort_known_lanes<G / 2>(w, ones);
        flip(w, G, ones);
        halve_down<G / 4>(w, ones);
        merge_words<VT, 0, VT>(w, ones);
    }
}
template <int G, int VT>
__device__ inline void sort_known_group(uint32_t (&w)[VT], int t, int id, uint32_t *shared, const network_ones &ones) {
    if constexpr (G <= WARP) {
        sort_known_lanes<G>(w, ones);
    } else {
        sort_group<VT, true>(w, G, t, id, shared, ones);
    }
}
