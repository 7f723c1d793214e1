/* What a partition of giants works on: sizes, a tile, its shared memory, the digit of a key. */
#pragma once

#include "job.cuh"
#include "network.cuh"
#include <type_traits>

/* Tuned on an H200. Longer tiles write longer runs, but one that does not fit in registers spills to local memory. */
enum {
    SPLIT_BITS = 8,                   /* of a usual digit, */
    SPLIT_WIDE_BITS = LSP_SPLIT_WIDE, /* of the widest */
    SPLIT_DIGITS = 1 << SPLIT_WIDE_BITS,
    SPLIT_THREADS = 1 << SPLIT_BITS, /* that have digits: one each, or some neighbouring ones */
    SPLIT_NT = 384,
    SPLIT_BLOCKS = 2, /* resident blocks of a multiprocessor */
    SPLIT_WARPS = SPLIT_NT / WARP,
    SPLIT_TILE_BITS = 16 /* bits of the number of items of a tile */
};
static_assert(SPLIT_NT >= SPLIT_THREADS + WARP, "no digit has a thread of the last warp");
typedef uint16_t split_counter; /* of items of a tile */

/* Items of a thread in the longest tile: a multiple of 4. */
__host__ __device__ constexpr int split_items(int key_bytes, int value_bytes) {
    return key_bytes > 4 ? 8 : value_bytes > 4 ? 12 : 16;
}
/* Are keys and values laid out together, as pairs? */
__host__ __device__ constexpr bool split_pairs(int key_bytes, int value_bytes) {
    return key_bytes == 4 && value_bytes == 4;
}

/* A split of the items begin .. end-1 by bits shift .. shift+width-1 of their numbers. Bits from `high` on are equal;
 * bits below `low` are not compared. Or by a pivot, a number that many items have: the digit is 0 below it, 1 for the
 * pivot, 2 above it. */
typedef struct seg_split {
    int64_t begin, end;
    int high, low, shift, width;
    int from, to; /* FROM_* */
    bool by_pivot, pivoted;
    ull pivot;
} seg_split;

/* The items that a block moves at a time. */
typedef struct split_tile {
    seg_split split;
    int64_t begin;
    int count;  /* items; 0: no tile */
    bool first; /* the first tile of its giant */
    bool again; /* the giant gets another digit: nothing moves */
    const seg_giant *giant;
    const int64_t *totals;  /* items of each digit in the giant */
    const int64_t *parts;   /* items of each digit in earlier parts of the giant; NULL: this is the first part */
    const uint32_t *before; /* items of each digit in earlier tiles of the part */
} split_tile;

struct __align__(16) split_shared {
    split_tile tile[2];            /* this tile and the next one */
    int64_t base[SPLIT_DIGITS];    /* a digit's first place in the output minus its first place in the tile */
    int64_t cut[SPLIT_DIGITS + 1]; /* where the giant's buckets begin */
    ull sums[SPLIT_WARPS];
    ull diff;
    int groups; /* entries to list */
};

/* Shared memory behind split_shared: each warp's counters of the digits, then the items of a tile. */
__device__ inline split_counter *counters_of(split_shared &sh) { return (split_counter *)(&sh + 1); }
template <int DIGITS> __device__ inline void *items_of(split_shared &sh) {
    return counters_of(sh) + SPLIT_WARPS * DIGITS;
}
/* How many digits a warp has counters for. lsp_split_most chooses wide digits for the same items. */
__host__ __device__ constexpr int split_most_digits(int key_bytes, int value_bytes) {
    return value_bytes == 0 || split_pairs(key_bytes, value_bytes) ? (int)SPLIT_DIGITS : (int)SPLIT_THREADS;
}
__host__ __device__ constexpr size_t split_bytes(int key_bytes, int value_bytes) {
    return SPLIT_WARPS * split_most_digits(key_bytes, value_bytes) * sizeof(split_counter) +
           (size_t)SPLIT_NT * split_items(key_bytes, value_bytes) *
               (key_bytes > 4 || value_bytes > 4 || split_pairs(key_bytes, value_bytes) ? 8 : 4);
}

/* How to get the digit of a key. */
typedef struct seg_digit {
    int shift;
    unsigned mask, flip; /* flip: XORed to plain keys */
    ull pivot;
} seg_digit;
__device__ inline seg_digit digit_at(const seg_job &job, const seg_split &g) {
    return {g.shift, (1u << g.width) - 1, (unsigned)(job.order.bias >> g.shift), g.pivot};
}
/* Keys of a giant that is split by a pivot: long ones only. */
template <typename KK> struct pivoted_keys : KK {
    enum { by_pivot = true };
};
template <typename KK>
using pivot_kind = typename std::conditional<sizeof(typename KK::K) == 8, pivoted_keys<KK>, KK>::type;
template <typename KK> __device__ inline unsigned digit_of(const seg_job &job, seg_digit digit, typename KK::K key) {
    if constexpr (KK::by_pivot) {
        const typename KK::K number = KK::number(key, job.order);
        return (unsigned)(number >= digit.pivot) + (unsigned)(number > digit.pivot);
    }
    return KK::plain ? ((unsigned)(key >> digit.shift) ^ digit.flip) & digit.mask
                     : (unsigned)(KK::number(key, job.order) >> digit.shift) & digit.mask;
}
