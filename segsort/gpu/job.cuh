/* What the kernels of the segmented sort share: the job, the order of keys, the lists of segments by class.
 *
 * A segment to sort is one 64-bit entry: where it begins, how long it is, and in which arrays its items lie: as they
 * came, in the output, or in the scratch for giants. Sorted, it always goes to the output. Short segments are sorted
 * where they are found (gpu/kernel_tile.cuh); longer ones are listed by class (gpu/kernel_classes.cuh); giants are
 * first cut by their leading digits into buckets (gpu/kernel_giants.cuh), which join the lists. */
#ifndef LSP_SEGSORT_GPU_JOB_CUH
#define LSP_SEGSORT_GPU_JOB_CUH

#include "network.cuh"
#include "segsort/segsort.h"
#include <cuda_pipeline_primitives.h>

enum {
    TILE_LONGEST = LSP_SORT_TILE_LONGEST, /* items: what the tile kernel can sort; longer segments are listed */
    LIST_LONGEST = 8192,                  /* items: sorted by the list kernels; longer ones are giants, */
    LARGE_LONGEST = 16384,                /* unless they are no longer than this, and spread (gpu/bucket.cuh) */
    LIST_CLASSES = LSP_SORT_CLASSES,
    FROM_INPUT = 0, /* where the items of an entry lie */
    FROM_OUTPUT = 1,
    FROM_TEMPORARY = 2
};

/* Where items lie, by FROM_*; values NULL where there are none, and for positions in the input. */
typedef struct seg_arrays {
    void *keys, *values;
} seg_arrays;

typedef struct seg_giant {
    int64_t begin, end;
    int64_t unit, tiles;     /* how many tiles come before it in its round, and its own */
    unsigned long long diff; /* found in the round: bits in which its numbers differ */
    int high, from;          /* bits from `high` on are equal in all its numbers; FROM_* */
} seg_giant;

/* Counters in device memory, all zero when a sort starts. */
typedef struct seg_counters {
    unsigned long long listed[LIST_CLASSES]; /* entries of each class */
    unsigned long long giants[2];            /* of the round at hand, and of the next: tiles, then giants (28 bits) */
    unsigned long long moved[2];             /* tiles of giants taken to be moved, in this round and the next */
    unsigned long long long_items;           /* of all segments that are listed as they came */
    unsigned long long barrier;              /* of the giants' kernel */
    unsigned long long long_segments;        /* of the search for changes: chunks, then segments (32 bits) */
    unsigned long long chunk;                /* the next chunk to be taken */
} seg_counters;

/* A sort as the kernels see it, passed by value. */
typedef struct seg_job {
    int64_t n, segments, length, longest; /* longest: a longer segment is malformed */
    int large_longest; /* LARGE_LONGEST or, see large_longest(), LIST_LONGEST: longer segments are giants */
    int tile_longest;  /* items: longer segments are listed */
    bool small, few;   /* items in all: one kernel sorts them; lists are brief, */
    int brief_first;   /* those from this class on; */
    bool one_lists;    /* segments are few, too: one block lists all */
    uint16_t class_longest[LIST_CLASSES]; /* items: the longest in each class; as before where the class is not used */
    const void *offsets, *ends;           /* NULL: segments of `length` */
    bool wide_offsets;                    /* int64 */
    bool positions, global_positions;     /* values are made, not read */
    int value_bytes;
    lsp_key_order order;
    network_ones ones;
    seg_arrays arrays[3];
    seg_counters *counters;
    unsigned long long *list[LIST_CLASSES]; /* entries */
    seg_giant *giants[2];                   /* this round's, and the next one's */
    int giant_tile;                         /* items */
    struct split_tile *tiles;               /* of this round */
    int64_t *counts;                        /* by part and digit */
    uint32_t *rows;                         /* by tile or giant, and digit */
    unsigned char *change;                  /* outputs of the search for changes, or NULL */
    void *change_at, *change_count;
    unsigned long long *changes; /* its scratch */
    long long *fault;            /* host memory: a malformed segment's number + 1 is written there */
} seg_job;

/* ---- entries: begin (46 bits), from (2), length - 1 (16) ---- */

__device__ inline unsigned long long entry_make(int64_t begin, int from, int64_t length) {
    return (unsigned long long)begin << 18 | (unsigned long long)from << 16 | (unsigned long long)(length - 1);
}
__device__ inline int64_t entry_begin(unsigned long long entry) { return (int64_t)(entry >> 18); }
__device__ inline int entry_from(unsigned long long entry) { return (int)(entry >> 16) & 3; }
__device__ inline int entry_length(unsigned long long entry) { return (int)(entry & 0xFFFF) + 1; }

/* Lanes and words a lane of a class; the most items that a segment of it can have. Few words a lane leave room for more
 * lanes at work, which short segments need: they wait much. Two classes of several warps have few, too: so their
 * code is half as long, and stays at hand. */
enum { NARROW_CLASS = 8, WIDE_CLASS = 16, LARGE_CLASS = 32 }; /* the first with 20 words; with 32 lanes; with 512 */
__host__ __device__ constexpr bool class_has_few(int c) {
    return c < NARROW_CLASS || c == WIDE_CLASS + 3 || c == WIDE_CLASS + 7;
}
__host__ __device__ constexpr int class_lanes(int c) { return (class_has_few(c) ? 4 : 2) << c / 4; }
__host__ __device__ constexpr int class_words(int c) { return (5 + c % 4) * (class_has_few(c) ? 2 : 4); }
__host__ __device__ constexpr int class_capacity(int c) { return class_lanes(c) * class_words(c); }

/* Where items are few in all latency is what counts, and that is code, which is not at hand when it is needed: all
 * classes but those of segments above LIST_LONGEST are sorted by the same, a power of two of lanes with as many words.
 */
enum { BRIEF_WORDS = 16 };
__host__ __device__ constexpr int brief_lanes(int c) { return c < WIDE_CLASS ? (int)WARP : 4 << c / 4; }
static_assert(brief_lanes(15) * BRIEF_WORDS == class_capacity(15) &&
                  brief_lanes(16) * BRIEF_WORDS == class_capacity(19) &&
                  brief_lanes(31) * BRIEF_WORDS == class_capacity(31),
              "lanes hold the longest segments that they sort");

/* The class of a listed length, 1 .. LIST_LONGEST. */
__device__ inline int class_of(const seg_job &job, int length) {
    int k = length <= class_capacity(3) ? 0 : 32 - __clz((length - 1) / class_capacity(3));
    int c = 4 * k + max((length - 1) / (8 << k) - 4, 0); /* the first that can hold it */
    while (length > job.class_longest[c]) {
        c++;
    }
    return c;
}

/* Adds a segment of each of the warp's lanes, all here, to its list; none of length 0. */
__device__ inline void list_together(const seg_job &job, int64_t begin, int from, int length) {
    const unsigned lane = threadIdx.x % WARP;
    const int c = length > 0 ? class_of(job, length) : (int)LIST_CLASSES;
    const unsigned same = __match_any_sync(~0u, (unsigned)c), before = same & ((1u << lane) - 1);
    unsigned long long at = 0;
    if (before == 0 && c < LIST_CLASSES) {
        at = atomicAdd(&job.counters->listed[c], (unsigned long long)__popc(same));
    }
    at = __shfl_sync(~0u, at, __ffs((int)same) - 1) + (unsigned)__popc(before);
    if (c < LIST_CLASSES) {
        job.list[c][at] = entry_make(begin, from, length);
    }
}

/* ---- segments and keys ---- */

/* Segment s; a malformed one is reported and comes out empty. */
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

/* The unsigned number of a key (see lsp_key_order): smaller numbers come first, equal numbers are equal keys. */
template <typename K> __device__ inline K number_of(K key, const lsp_key_order &order) {
    enum { top = 8 * sizeof(K) - 1 };
    K negative = (K)0 - (key >> top);
    K number = (K)((key ^ (negative & (K)order.flip) ^ (K)order.bias) & (K)order.keep);
    return order.is_float && (K)(key & ~((K)1 << top)) > (K)order.nan_above ? (K)-1 : number;
}

/* Kernels are made for plain keys, integers of which all bits count, and for any others. */
template <typename Key, bool PLAIN> struct key_kind {
    typedef Key K;
    enum { plain = PLAIN };
    static __device__ inline K number(K key, const lsp_key_order &order) {
        return PLAIN ? key ^ (K)order.bias : number_of(key, order);
    }
};

/* ---- copies to shared memory; positions instead of values ---- */

/* Copies of 4, 8 or 16 bytes from global to shared memory, on their way while the thread goes on; it awaits them in
 * groups: all but the `later` last ones are there. A barrier makes them everybody's. */
template <typename T> __device__ inline void copy_async(T *shared, const T *global) {
    __pipeline_memcpy_async(shared, global, sizeof(T));
}
__device__ inline void copy_group() { __pipeline_commit(); }
template <int later> __device__ inline void copy_wait() { __pipeline_wait_prior(later); }

/* The value of output item `at`: it was item `place` of the segment that starts at `begin`. */
__device__ inline void put_position(const seg_job &job, int64_t at, int64_t begin, int64_t place) {
    int64_t position = job.global_positions ? begin + place : place;
    if (job.value_bytes == 4) {
        ((uint32_t *)job.arrays[FROM_OUTPUT].values)[at] = (uint32_t)position;
    } else {
        ((int64_t *)job.arrays[FROM_OUTPUT].values)[at] = position;
    }
}

#endif
