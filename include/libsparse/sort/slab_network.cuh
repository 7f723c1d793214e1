/* libsparse/sort/slab_network.cuh: the items of a slab sort in registers: their order, their exchange between lanes,
 * and the networks over the items of a lane. Part of slab.cuh. CUDA C++17. */
#ifndef LIBSPARSE_SORT_SLAB_NETWORK_CUH
#define LIBSPARSE_SORT_SLAB_NETWORK_CUH

#include "slab_place.h"
#include <cuda_runtime.h>
#include <stdint.h>
#include <string.h>

namespace lsp_slab {

enum { LANES = 32 };

/* Records are kept with the word whether the array has them. For numbers the largest one stands for one that it lacks.
 */
template <typename ITEM> struct padded {
    ITEM x;
    bool real;
};
template <typename ORDER, bool PADDED> struct held_as { typedef padded<typename ORDER::item> type; };
template <typename ORDER> struct held_as<ORDER, false> { typedef typename ORDER::item type; };
/* WHOLE: the array has all items of the tile, or of the rows. */
template <typename ORDER, bool WHOLE> using held = typename held_as<ORDER, !WHOLE && !ORDER::is_number>::type;

template <typename ITEM> __device__ __forceinline__ const ITEM &bare(const ITEM &x) { return x; }
template <typename ITEM> __device__ __forceinline__ const ITEM &bare(const padded<ITEM> &x) { return x.x; }

/* Is x before y? y is of a lower place, so it is real if x is. */
template <typename ORDER, typename ITEM>
__device__ __forceinline__ bool comes_before(const ORDER &order, const ITEM &x, const ITEM &y) {
    return order.before(x, y);
}
template <typename ORDER, typename ITEM>
__device__ __forceinline__ bool comes_before(const ORDER &order, const padded<ITEM> &x, const padded<ITEM> &y) {
    return x.real && order.before(x.x, y.x);
}

template <typename ORDER, typename ITEM>
__device__ __forceinline__ void exchange(const ORDER &order, ITEM &low, ITEM &high) {
    const ITEM x = low;
    if constexpr (ORDER::is_number) {
        low = min(low, high);
        high = max(x, high);
    } else {
        const bool swap = comes_before(order, high, low);
        low = swap ? high : low;
        high = swap ? x : high;
    }
}

/* ---- words ---- */

template <typename ITEM> struct words_of {
    enum { N = sizeof(ITEM) / 4 };
    uint32_t w[N];
};

template <typename ITEM> __device__ __forceinline__ ITEM shuffle(const ITEM &x, int mask) {
    words_of<ITEM> words;
    ITEM y;
    memcpy(words.w, &x, sizeof words.w);
#pragma unroll
    for (int k = 0; k < words_of<ITEM>::N; k++) {
        words.w[k] = __shfl_xor_sync(~0u, words.w[k], mask);
    }
    memcpy(&y, words.w, sizeof words.w);
    return y;
}
template <typename ITEM> __device__ __forceinline__ padded<ITEM> shuffle(const padded<ITEM> &x, int mask) {
    return {shuffle(x.x, mask), __shfl_xor_sync(~0u, (int)x.real, mask) != 0};
}

/* Of this lane's item and the other lane's: the one that comes later if `upper`, else the other one. */
template <typename ORDER, typename ITEM>
__device__ __forceinline__ void keep(const ORDER &order, ITEM &mine, const ITEM &other, bool upper) {
    if constexpr (ORDER::is_number && sizeof(ITEM) == 4) {
        mine = upper ? max(mine, other) : min(mine, other);
    } else {
        const bool swap = upper ? comes_before(order, mine, other) : comes_before(order, other, mine);
        mine = swap ? other : mine;
    }
}

/* ---- networks over the R items of a lane ---- */

/* Batcher's merge exchange (Knuth, 5.2.2 M): sorted runs of P items become runs of 2P. By templates: the compiler does
 * not unroll such loops for all types, and an array that it indexes goes to memory. */
template <int P, int D, int I, int R, typename ORDER, typename ITEM>
__device__ __forceinline__ void sort_stage(const ORDER &order, ITEM (&v)[R]) {
    if constexpr (I + D < R) {
        if constexpr ((I - D % P) / D % 2 == 0 && I / (2 * P) == (I + D) / (2 * P)) {
            exchange(order, v[I], v[I + D]);
        }
        sort_stage<P, D, I + 1>(order, v);
    }
}
template <int P, int D, int R, typename ORDER, typename ITEM>
__device__ __forceinline__ void sort_rows(const ORDER &order, ITEM (&v)[R]) {
    if constexpr (P < R) {
        sort_stage<P, D, D % P>(order, v);
        sort_rows<D == 1 ? 2 * P : P, D == 1 ? 2 * P : D / 2>(order, v);
    }
}

/* Merges: FLIP: two sorted halves, the second in reverse places. Else: a bitonic sequence. */
template <int R, bool FLIP, typename ORDER, typename ITEM>
__device__ __forceinline__ void merge_rows(const ORDER &order, ITEM (&v)[R]) {
    if constexpr (FLIP) {
#pragma unroll
        for (int i = 0; i < R / 2; i++) {
            exchange(order, v[i], v[R - 1 - i]);
        }
    }
#pragma unroll
    for (int d = FLIP ? R / 4 : R / 2; d >= 1; d /= 2) {
#pragma unroll
        for (int i = 0; i < R; i++) {
            if ((i & d) == 0) {
                exchange(order, v[i], v[i + d]);
            }
        }
    }
}

} // namespace lsp_slab

#endif
