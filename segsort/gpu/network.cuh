/* Sorting networks in registers: G lanes, each with VT words, sort G * VT words; lane t ends with the words t*VT ..
 * t*VT + VT-1 in order. The paper's three patterns of exchange are all there is: within a lane (`exchange`), with the
 * mirrored word of the mirrored lane (`flip`), with the same word of another lane (`halve`). A lane sorts its words by
 * Batcher's merge exchange; then runs of 1, 2, 4, ... lanes are merged two by two: a flip, halves, and the rest within
 * lanes. VT need not be a power of two; G is one, and known at run time. */
#ifndef LSP_SEGSORT_GPU_NETWORK_CUH
#define LSP_SEGSORT_GPU_NETWORK_CUH

#include "core/block.cuh"
#include <stdint.h>

/* 1 and -1, which the compiler must not know: it would take the busy unit. */
struct network_ones {
    uint32_t plus = 1, minus = ~0u;
};

/* low, high = min, max. The unit for min and max is the narrow one; two of three maxima are had from the idle one for
 * multiplication, as low + high - min: I tells them apart. */
template <int I> __device__ inline void exchange(uint32_t &low, uint32_t &high, const network_ones &ones) {
    uint32_t x = min(low, high);
    high = I % 3 == 0 ? max(low, high) : x * ones.minus + (low * ones.plus + high);
    low = x;
}

/* x, of which the compiler knows nothing: what it computed from x before, 32 times r * x, is not kept until here. */
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
            exchange<I>(w[AT + I], w[AT + I + D], ones);
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
/* Sorts the N words from AT. */
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

/* Words AT .. AT+N/2-1 against those N/2 further. */
template <int VT, int AT, int N, int I = 0>
__device__ inline void exchange_halves(uint32_t (&w)[VT], const network_ones &ones) {
    if constexpr (I < N / 2) {
        exchange<I + AT>(w[AT + I], w[AT + I + N / 2], ones);
        exchange_halves<VT, AT, N, I + 1>(w, ones);
    }
}
/* Word I against word VT-1-I: merges two risen halves into two that rise and fall. */
template <int VT, int I = 0> __device__ inline void exchange_reflected(uint32_t (&w)[VT], const network_ones &ones) {
    if constexpr (I < VT / 2) {
        exchange<I>(w[I], w[VT - 1 - I], ones);
        exchange_reflected<VT, I + 1>(w, ones);
    }
}
/* Sorts the N words from AT, which rise and then fall, or a rotation of that. */
template <int VT, int AT, int N> __device__ inline void merge_words(uint32_t (&w)[VT], const network_ones &ones) {
    if constexpr (N % 2 != 0) {
        sort_words<VT, AT, N>(w, ones);
    } else {
        exchange_halves<VT, AT, N>(w, ones);
        merge_words<VT, AT, N / 2>(w, ones);
        merge_words<VT, AT + N / 2, N / 2>(w, ones);
    }
}

/* ---- between the lanes of a warp; g = 2, 4, .. 32 lanes make a group of neighbours ---- */

/* Word r of lane l against word VT-1-r of lane g-1-l: merges two risen halves into two that rise and fall. */
template <int VT> __device__ inline void flip(uint32_t (&w)[VT], int g, const network_ones &ones) {
    bool upper = (threadIdx.x & (g / 2)) != 0;
#pragma unroll
    for (int r = 0; r < VT / 2; r++) {
        uint32_t x = __shfl_xor_sync(~0u, w[VT - 1 - r], g - 1), y = __shfl_xor_sync(~0u, w[r], g - 1);
        lsp_keep_one(w[r], x, upper, ones.plus);
        lsp_keep_one(w[VT - 1 - r], y, upper, ones.plus);
    }
}
/* Word r of lane l against word r of lane l ^ mask. */
template <int VT> __device__ inline void halve(uint32_t (&w)[VT], int mask, const network_ones &ones) {
    bool upper = (threadIdx.x & mask) != 0;
#pragma unroll
    for (int r = 0; r < VT; r++) {
        lsp_keep_one(w[r], __shfl_xor_sync(~0u, w[r], mask), upper, ones.plus);
    }
}
/* What is left of a merge when words of lanes more than `mask` apart are in order already. */
template <int VT> __device__ inline void merge_lanes(uint32_t (&w)[VT], int mask, const network_ones &ones) {
    for (; mask > 0; mask /= 2) {
        halve(w, mask, ones);
    }
    merge_words<VT, 0, VT>(w, ones);
}
/* Sorts the words of groups of G <= 32 lanes. */
template <int VT> __device__ inline void sort_lanes(uint32_t (&w)[VT], int G, const network_ones &ones = {}) {
    sort_words<VT, 0, VT>(w, ones);
    for (int g = 2; g <= G; g *= 2) {
        flip(w, g, ones);
        merge_lanes(w, g / 4, ones);
    }
}

/* ---- between many lanes: G = 32, 64, .. threads, through shared memory of word_place<VT>(G * VT) words ---- */

/* Where word e lies: places are left free so that neither rows of VT words nor columns meet in a bank. */
template <int VT> __device__ inline int word_place(int e) {
    return e + e / (VT % WARP == 0 ? WARP : VT % 8 == 0 ? 8 : 4);
}

/* Barrier of the G threads that sort together: a warp or less, or `id` of several warps, as MANY promises. */
template <bool MANY = false> __device__ inline void group_sync(int G, int id) {
    if (!MANY && G <= WARP) {
        __syncwarp();
    } else {
        lsp_barrier(id, G);
    }
}

/* Exchanges of words D apart among the first (at 0) or second half of w; in the second higher words come first. */
template <int VT, int D, int I = 0>
__device__ inline void exchange_columns(uint32_t (&w)[VT], const network_ones &ones) {
    enum { H = VT / 2 };
    if constexpr (I < H) {
        if constexpr (I / D % 2 == 0) {
            exchange<I>(w[I], w[I + D], ones);
            exchange<I + 1>(w[H + I + D], w[H + I], ones);
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
template <int VT, int I = 0> __device__ inline void exchange_mirrored(uint32_t (&w)[VT], const network_ones &ones) {
    if constexpr (I < VT / 2) {
        exchange<I>(w[I], w[VT / 2 + I], ones);
        exchange_mirrored<VT, I + 1>(w, ones);
    }
}

/* Word r of thread t against word r of thread t ^ mask, which is in another warp. */
template <int VT>
__device__ inline void halve_far(uint32_t (&w)[VT], int mask, int G, int t, int id, uint32_t *shared,
                                 const network_ones &ones) {
    const uint32_t *other = shared + word_place<VT>((t ^ mask) * VT);
    uint32_t *row = shared + word_place<VT>(t * VT);
    group_sync(G, id);
#pragma unroll
    for (int r = 0; r < VT; r++) {
        row[word_place<VT>(r)] = w[r];
    }
    group_sync(G, id);
#pragma unroll
    for (int r = 0; r < VT; r++) {
        lsp_keep_one(w[r], other[word_place<VT>(r)], (t & mask) != 0, ones.plus);
    }
}

/* Merges two runs of g/2 threads each into one of g >= 32: thread u of g takes the words u, u + g, u + 2g, ... of the
 * lower run and their mirrors of the upper one, so that flip and the first halves happen within threads. */
template <int VT>
__device__ inline void merge_threads(uint32_t (&w)[VT], int g, int G, int t, int id, uint32_t *shared,
                                     const network_ones &ones) {
    constexpr int stages = VT % 32 == 0 ? 5 : VT % 8 == 0 ? 3 : 2, H = VT / 2; /* stages that happen so */
    int u = t & (g - 1), step = word_place<VT>(g);                             /* g is a power of 2 */
    uint32_t *row = shared + word_place<VT>(t * VT);
    uint32_t *lower = shared + word_place<VT>((t - u) * VT) + word_place<VT>(u);
    uint32_t *upper = shared + word_place<VT>((t - u + g) * VT - 1 - u);
    group_sync(G, id);
#pragma unroll
    for (int r = 0; r < VT; r++) {
        row[word_place<VT>(r)] = w[r];
    }
    group_sync(G, id);
#pragma unroll
    for (int j = 0; j < H; j++) {
        w[j] = lower[j * step];
        w[H + j] = upper[-j * step];
    }
    exchange_mirrored(w, ones);
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

/* Sorts the words of G threads, t = 0 .. G-1: less than a warp, or (WIDE) at least one. */
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

/* The same for a number of lanes that is known: without loops, which takes fewer moves and more code. */
template <int MASK, int VT> __device__ inline void halve_down(uint32_t (&w)[VT], const network_ones &ones) {
    if constexpr (MASK > 0) {
        halve(w, MASK, ones);
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

#endif
