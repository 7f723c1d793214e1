/* Shared by all kernels of the segmented sort: the job, the order of keys, and the lists of segments by class.
 *
 * A list holds one 64-bit entry for each segment: its begin, its length, and the arrays that hold its items (the input,
 * the output, or the temporary arrays of giants). Sorted items always go to the output. gpu/kernel_tile.cuh sorts short
 * segments at once and lists longer ones by class; gpu/kernel_classes.cuh sorts the lists; gpu/kernel_giants.cuh first
 * splits giants by their leading digits into buckets, which join the lists. */
#pragma once

#include "network.cuh"
#include "segsort/job.h"
#include <cuda_pipeline_primitives.h>

enum {
    TILE_LONGEST = LSP_SORT_TILE_LONGEST, /* items: longer segments are never sorted by the tile kernel, but listed */
    LIST_LONGEST = 8192,                  /* items: longer segments are giants */
    LARGE_LONGEST = 16384,                /* items: giants up to here first go to class kernels, which try buckets */
    LIST_CLASSES = LSP_SORT_CLASSES,
    FROM_INPUT = 0, /* the arrays that hold the items of an entry */
    FROM_OUTPUT = 1,
    FROM_TEMPORARY = 2
};

/* Arrays of items. values is NULL if there are none; in the input also if the kernels make positions. */
typedef struct seg_arrays {
    void *keys, *values;
} seg_arrays;

typedef struct seg_giant {
    int64_t begin, end;
    int64_t wanted;      /* items from here on may stay in any order once they are in the output */
    int64_t unit, tiles; /* tiles of earlier giants of its round; its own tiles */
    ull diff;            /* the bits in which its numbers differ, found in the round */
    int high, from;      /* bits `high` and above are equal in all its numbers; FROM_* */
    bool pivoted;        /* it comes from a split by a pivot: the next one is by a digit */
} seg_giant;

/* Counters in device memory, all zero when a sort starts. [2]: one for even rounds of the giants, one for odd ones. */
typedef struct seg_counters {
    ull listed[LIST_CLASSES]; /* entries in the list of each class */
    ull giants[2];            /* giants of the round (lower 28 bits), and their tiles (above) */
    ull moved[2];             /* tiles that blocks have taken to move in the round */
    ull long_items;           /* items of all listed segments and giants of the input */
    ull barrier;              /* arrivals at the grid barrier of the giants' kernel */
    ull long_segments;        /* kernel_changes: long segments (lower 32 bits), their chunks (above) */
    ull chunk;                /* kernel_changes: the next chunk to take */
    ull units, selected;      /* kernel_select: units, and those that teams took after their first one */
} seg_counters;

/* A sort as the kernels see it, passed by value. */
typedef struct seg_job {
    int64_t n, segments, length, longest; /* a segment above `longest` is malformed */
    int64_t first;                        /* first items of each segment that are wanted; INT64_MAX: all */
    int64_t written;                      /* the first items of an entry that are written; INT64_MAX: all */
    int64_t select_from;                  /* longer segments are selected from (gpu/kernel_select.cuh) */
    int64_t select_unit;                  /* items of a unit of theirs */
    int large_longest;                    /* items: longer segments are giants; see large_longest() */
    int tile_longest;                     /* items: longer segments are listed */
    bool small;                           /* one kernel sorts all (gpu/kernel_small.cuh) */
    bool few;                             /* few items in all: one class kernel sorts the lists */
    int few_first;                        /* if few: a narrow kernel sorts classes below this; 0: none */
    bool list_few;                        /* one block lists all segments (gpu/kernel_list_few.cuh) */
    uint16_t class_longest[LIST_CLASSES]; /* items: limits of classes; an unused one has the limit before */
    const void *offsets, *ends;           /* NULL: all segments have `length` */
    bool wide_offsets;                    /* offsets, ends and the outputs of changes are int64, not int32 */
    bool positions, global_positions;     /* values are positions: the kernels make them */
    int value_bytes;
    lsp_key_order order;
    network_ones ones;
    seg_arrays arrays[3];
    seg_counters *counters;
    ull *list[LIST_CLASSES];  /* the entries of each class */
    seg_giant *giants[2];     /* of even and of odd rounds */
    int giant_tile;           /* items of a giant's tile */
    int split_bits;           /* most bits of a giant's digit, */
    int row_bits;             /* and those for which rows and counts have room */
    struct split_tile *tiles; /* the tiles of the round */
    struct seg_unit *units;   /* parts of the segments to select from, */
    unsigned *units_done;     /* how many of a segment's are done, at its first one's place, */
    int64_t *part_counts;     /* and the items kept by each warp of a unit */
    int64_t *counts;          /* digit counts of each part of a giant that several blocks count */
    uint32_t *rows;           /* digit counts before each tile, and totals of each giant */
    unsigned char *change;    /* outputs of kernel_changes, or NULL */
    void *change_at, *change_count;
    ull *changes;     /* scratch of kernel_changes */
    long long *fault; /* host memory: number + 1 of a malformed segment */
    void *group_at;   /* outputs of kernel_groups, or NULL */
    int64_t *group_count;
    ull *groups; /* scratch of kernel_groups */
} seg_job;

/* ---- entries: begin (46 bits), from (2), length - 1 (16) ---- */

__device__ inline ull entry_make(int64_t begin, int from, int64_t length) {
    return (ull)begin << 18 | (ull)from << 16 | (ull)(length - 1);
}
__device__ inline int64_t entry_begin(ull entry) { return (int64_t)(entry >> 18); }
__device__ inline int entry_from(ull entry) { return (int)(entry >> 16) & 3; }
__device__ inline int entry_length(ull entry) { return (int)(entry & 0xFFFF) + 1; }

/* A class sorts a segment with class_lanes lanes of class_words words each. Short segments get few words per lane: that
 * leaves registers for more resident warps, which hide the latency that dominates there. Classes 19 and 23 get few
 * words too: their code is then half as long and stays in the instruction cache. */
enum {
    NARROW_CLASS = 8, /* the first class with 20 words a lane or more */
    WIDE_CLASS = 16,  /* the first with 32 lanes or more */
    LARGE_CLASS = 32  /* the first with 512 lanes and more than LIST_LONGEST items */
};
__host__ __device__ constexpr bool class_has_few(int c) {
    return c < NARROW_CLASS || c == WIDE_CLASS + 3 || c == WIDE_CLASS + 7;
}
__host__ __device__ constexpr int class_lanes(int c) { return (class_has_few(c) ? 4 : 2) << c / 4; }
__host__ __device__ constexpr int class_words(int c) { return (5 + c % 4) * (class_has_few(c) ? 2 : 4); }
__host__ __device__ constexpr int class_capacity(int c) { return class_lanes(c) * class_words(c); }

/* If items are few in all, latency decides, and most of it is instruction cache misses: one instance sorts all classes
 * below LARGE_CLASS, with FEW_WORDS words per lane and a power of two of lanes. */
enum { FEW_WORDS = 16 };
__host__ __device__ constexpr int few_lanes(int c) { return c < WIDE_CLASS ? (int)WARP : 4 << c / 4; }
static_assert(few_lanes(15) * FEW_WORDS == class_capacity(15) && few_lanes(16) * FEW_WORDS == class_capacity(19) &&
                  few_lanes(31) * FEW_WORDS == class_capacity(31),
              "the lanes hold the longest segment of each class");

/* The class of a listed length, 1 .. LIST_LONGEST. */
__device__ inline int class_of(const seg_job &job, int length) {
    int k = length <= class_capacity(3) ? 0 : 32 - __clz((length - 1) / class_capacity(3));
    int c = 4 * k + max((length - 1) / (8 << k) - 4, 0); /* the first that can hold it, used or not */
    while (length > job.class_longest[c]) {
        c++;
    }
    return c;
}

/* Each lane of a whole warp adds a segment to the list of its class; length 0: none. One atomic operation per class. */
__device__ inline void list_together(const seg_job &job, int64_t begin, int from, int length) {
    const unsigned lane = threadIdx.x % WARP;
    const int c = length > 0 ? class_of(job, length) : (int)LIST_CLASSES;
    const unsigned same = __match_any_sync(~0u, (unsigned)c), before = same & ((1u << lane) - 1);
    ull at = 0;
    if (before == 0 && c < LIST_CLASSES) {
        at = atomicAdd(&job.counters->listed[c], (ull)__popc(same));
    }
    at = __shfl_sync(~0u, at, __ffs((int)same) - 1) + (unsigned)__popc(before);
    if (c < LIST_CLASSES) {
        job.list[c][at] = entry_make(begin, from, length);
    }
}

/* ---- segments and keys ---- */

/* Element i of the offsets or ends. */
__device__ inline int64_t bound_at(const seg_job &job, const void *bounds, int64_t i) {
    return index_at(bounds, job.wide_offsets, i);
}

/* The bounds of segment s. A malformed one is reported in *fault and treated as empty. */
__device__ inline void segment_at(const seg_job &job, int64_t s, int64_t *begin, int64_t *end) {
    int64_t b, e;
    if (!job.offsets) {
        b = s * job.length;
        e = min(b + job.length, job.n);
    } else if (job.wide_offsets) {
        b = ((const int64_t *)job.offsets)[s];
        e = job.ends ? ((const int64_t *)job.ends)[s] : ((const int64_t *)job.offsets)[s + 1];
    } else {
        b = ((const int32_t *)job.offsets)[s];
        e = job.ends ? ((const int32_t *)job.ends)[s] : ((const int32_t *)job.offsets)[s + 1];
    }
    if (b < 0 || e < b || e > job.n || e - b > job.longest) {
        *job.fault = s + 1;
        b = e = 0;
    }
    *begin = b;
    *end = e;
}

/* Maps a key to an unsigned number (see lsp_key_order): smaller numbers come first, equal keys have equal numbers. */
template <typename K> __device__ inline K number_of_key(K key, const lsp_key_order &order) {
    enum { top = 8 * sizeof(K) - 1 };
    K negative = (K)0 - (key >> top);
    K stepped =
        key + (K)((int64_t)(int)negative * (int)order.step); /* one instruction of the multiplier, mostly idle */
    K number = (K)((stepped ^ (negative & (K)order.flip) ^ (K)order.bias) & (K)order.keep);
    return order.is_float && (K)(key & ~((K)1 << top)) > (K)order.nan_above ? (K)-1 : number;
}

/* Kernels have two instances for each key width: PLAIN for integers compared by all their bits, which need one XOR, and
 * one for all other keys. */
template <typename Key, bool PLAIN> struct key_kind {
    typedef Key K;
    enum { plain = PLAIN, by_pivot = false };
    static __device__ inline K number(K key, const lsp_key_order &order) {
        return PLAIN ? key ^ (K)order.bias : number_of_key(key, order);
    }
};

/* ---- copies to shared memory; positions instead of values ---- */

/* Copies 4, 8 or 16 bytes from global to shared memory asynchronously. copy_group closes a group of the thread's
 * copies; copy_wait waits for all groups but the `later` last ones. Other threads see the data after a barrier. */
template <typename T> __device__ inline void fetch_async(T *shared, const T *global) {
    __pipeline_memcpy_async(shared, global, sizeof(T));
}
__device__ inline void copy_group() { __pipeline_commit(); }
template <int later> __device__ inline void copy_wait() { __pipeline_wait_prior(later); }

/* Writes the position of output item `at`, which was item `place` of the segment that begins at `begin`. */
__device__ inline void put_position(const seg_job &job, int64_t at, int64_t begin, int64_t place) {
    int64_t position = job.global_positions ? begin + place : place;
    if (job.value_bytes == 4) {
        ((uint32_t *)job.arrays[FROM_OUTPUT].values)[at] = (uint32_t)position;
    } else {
        ((int64_t *)job.arrays[FROM_OUTPUT].values)[at] = position;
    }
}
