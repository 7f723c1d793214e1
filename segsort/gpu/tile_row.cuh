/* A row of neighbouring segments, which a block of the tile kernel takes: reads their bounds, lists the long ones by
 * class, and says which of the short ones fit in shared memory together: the row's next part. */
#pragma once

#include "kernel_giants.cuh"
#include "kernel_select.cuh"
#include "network.cuh"

enum {
    TILE_NT = 128,
    TILE_EACH = 4,                  /* segments of a row whose bounds a thread reads, at most */
    TILE_ROW = TILE_EACH * TILE_NT, /* segments of a row at most */
    TILE_BLOCKS = 8,                /* resident blocks of a multiprocessor */
    TILE_VT = 8,                    /* items a lane at most */
    RUN_LANES = 8,                  /* lanes that copy a short run */
    RUN_SHORT = 100,                /* items: runs are short if they have fewer on average */
    TILE_SLACK = TILE_LONGEST + 8,  /* items that may be read beyond the last one */
    TILE_BITS = 6,                  /* bits of a position: TILE_LONGEST items */
    TILE_GROUP_BITS = 3,            /* bits of a segment's number among those of eight lanes */
    TILE_DIGIT = 32 - TILE_BITS - TILE_GROUP_BITS,
    TILE_CLASSES = 6,                 /* class c: segments of more than 32 >> c and at most 64 >> c items */
    TILE_SINGLES = 1 << TILE_CLASSES, /* in a set of classes: segments of one item */
    TILE_COUNT_BITS = 10              /* bits of a class's count in one word: up to TILE_ROW */
};

/* ---- shared memory of a block ---- */

/* A row of segments, and the part of it that is in shared memory. A run is a sequence of short segments whose items
 * follow each other without a gap. */
template <typename K> struct tile_row {
    K *keys;          /* the part's items from keys[skew] on: global and shared addresses agree modulo 16 bytes */
    char *values;     /* the same for values */
    uint16_t *source; /* source[i]: the place of the item that is number i of the output */
    uint32_t *at;     /* segment j has the items at[j] .. at[j+1]-1 of the row; none if it is long */
    uint16_t *order;  /* segments by class */
    uint16_t *head;   /* the first segment of each run */
    int segments, capacity, runs;
    int64_t s0, base;        /* the first segment; where the items of the first run begin */
    bool together;           /* there is one run, and arrays are aligned */
    unsigned classes;        /* the set of its segments' classes */
    int j0, j1, items, skew; /* the part: segments j0 .. j1-1, its items */

    __device__ int warps() const { return (segments + TILE_EACH * WARP - 1) / (TILE_EACH * WARP); }
    __device__ int start_of(int j) const { return (int)(at[j] - at[j0]) + skew; }
    __device__ int length_of(int j) const { return (int)(at[j + 1] - at[j]); }
    /* Are all segments of one class? That class. */
    __device__ bool pure() const { return (classes & (classes - 1)) == 0; }
    __device__ int only() const { return __ffs((int)classes) - 1; }
    /* The last index in from .. to-1 with at[index] <= x. */
    __device__ int last_at(uint32_t x, int from, int to) const {
        while (to - from > 1) {
            int middle = (from + to) / 2;
            if (at[middle] <= x) {
                from = middle;
            } else {
                to = middle;
            }
        }
        return from;
    }
};

__host__ __device__ inline int tile_fixed_bytes(int row) { return (row / 4 + 1) * 16 + 2 * ((row + 7) / 8 * 16); }
/* Shared memory for `capacity` items, and the items that fit in `bytes` of it. */
__host__ inline int tile_bytes(int row, int capacity, int item_bytes) {
    return tile_fixed_bytes(row) + (capacity + TILE_SLACK) * (item_bytes + 2);
}
__host__ inline int tile_capacity(int row, int bytes, int item_bytes) {
    return ((bytes - tile_fixed_bytes(row)) / (item_bytes + 2) - TILE_SLACK) / 8 * 8;
}

template <typename K>
__device__ inline void lay_out_row(const seg_job &job, char *memory, int segments, int capacity, tile_row<K> *row) {
    int places = capacity + TILE_SLACK, order_bytes = (segments + 7) / 8 * 16;
    row->segments = segments;
    row->capacity = capacity;
    row->values = memory;
    row->keys = (K *)(memory += places * (job.positions ? 0 : job.value_bytes));
    row->source = (uint16_t *)(memory += places * sizeof(K));
    row->order = (uint16_t *)(memory += places * 2);
    row->head = (uint16_t *)(memory += order_bytes);
    row->at = (uint32_t *)(memory + order_bytes);
}

/* The exclusive prefix sum over the block; *total is the sum of all. Warps from `warps` on have nothing to add. */
template <typename T> __device__ inline T scan_row(T x, int warps, T *total) {
    __shared__ T sums[TILE_NT / WARP];
    const int lane = fresh((int)threadIdx.x % WARP), warp = (int)threadIdx.x / WARP;
    T sum = x;
    if (warp < warps) {
        sum = warp_scan(x, lane);
        if (lane == WARP - 1) {
            sums[warp] = sum;
        }
    }
    return warps_before(sums, warps, warp, total) + sum - x;
}

/* ---- the row: its segments ---- */

/* Do all long segments that all blocks have found so far have at most n items together? If not, some overlap, and the
 * lists have no memory for them: a fault is reported. ALONE: there is no other block. */
template <bool ALONE>
__device__ inline bool fit_together(const seg_job &job, const int64_t (&n)[TILE_EACH], int64_t s0) {
    __shared__ ull sum;
    ull mine = 0;
    if (threadIdx.x == 0) {
        sum = 0;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE_EACH; k++) {
        mine += n[k] > job.tile_longest ? (ull)n[k] : 0;
    }
    mine = warp_sum(mine);
    if (threadIdx.x % WARP == 0 && mine > 0) {
        atomicAdd(&sum, mine);
    }
    __syncthreads();
    bool fit = true;
    if (threadIdx.x == 0 && (ALONE ? 0 : atomicAdd(&job.counters->long_items, sum)) + sum > (ull)job.n) {
        *job.fault = s0 + 1;
        fit = false;
    }
    return __syncthreads_and(fit);
}

/* Lists the long segments of the block, with one atomic operation a class. */
template <bool ALONE = false>
__device__ inline void list_long(const seg_job &job, const int64_t (&begin)[TILE_EACH], const int64_t (&n)[TILE_EACH],
                                 int64_t s0) {
    __shared__ unsigned count[LIST_CLASSES];
    __shared__ ull base[LIST_CLASSES];
    __shared__ unsigned units;
    __shared__ ull units_before;
    unsigned rank[TILE_EACH]; /* in its class, which stands above; or its first unit */
    if (!fit_together<ALONE>(job, n, s0)) {
        return;
    }
    if (threadIdx.x < LIST_CLASSES) {
        count[threadIdx.x] = 0;
        units = 0;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE_EACH; k++) {
        if (n[k] > job.select_from) {
            rank[k] = atomicAdd(&units, (unsigned)select_units(job, n[k]));
        } else if (n[k] > job.large_longest) {
            giant_add(job, begin[k], begin[k] + n[k]);
        } else if (n[k] > job.tile_longest) {
            const unsigned c = (unsigned)class_of(job, (int)n[k]);
            rank[k] = c << 16 | atomicAdd(&count[c], 1u);
        }
    }
    __syncthreads();
    if (ALONE && threadIdx.x < LIST_CLASSES) {
        job.counters->listed[threadIdx.x] = count[threadIdx.x];
    } else if (threadIdx.x < LIST_CLASSES && count[threadIdx.x] > 0) {
        base[threadIdx.x] = atomicAdd(&job.counters->listed[threadIdx.x], (ull)count[threadIdx.x]);
    }
    if (threadIdx.x == 0) {
        units_before = units > 0 ? atomicAdd(&job.counters->units, (ull)units) : 0;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE_EACH; k++) {
        if (n[k] > job.select_from) {
            select_list(job, begin[k], n[k], (int64_t)units_before + rank[k]);
        } else if (n[k] > job.tile_longest && n[k] <= job.large_longest) {
            const unsigned c = rank[k] >> 16;
            job.list[c][(ALONE ? 0 : base[c]) + (rank[k] & 0xFFFF)] = entry_make(begin[k], FROM_INPUT, n[k]);
        }
    }
}

/* The class of a segment of n > 1 items; TILE_CLASSES for one item. */
__device__ inline int tile_class(int n) { return __clz(n - 1) - (32 - TILE_BITS); }

/* Reads the thread's `count` segments from s on. Bit k of the result: segment k begins a run. */
__device__ inline unsigned read_segments(const seg_job &job, int64_t s, int count, bool first,
                                         int64_t (&begin)[TILE_EACH], int64_t (&n)[TILE_EACH]) {
    unsigned heads = 0;
    int64_t follow = -1; /* where the next segment of the same run would begin */
#pragma unroll
    for (int k = 0; k < TILE_EACH; k++) {
        n[k] = begin[k] = 0;
    }
    if (count <= 0) {
        return 0;
    }
    if (job.offsets && !job.ends && count == TILE_EACH &&
        !first) { /* the usual case: all are short and follow each other */
        uint64_t limit = (uint64_t)min(job.longest, (int64_t)job.tile_longest), worst = 0;
        int64_t bound[TILE_EACH + 2];
#pragma unroll
        for (int k = 0; k < TILE_EACH + 2; k++) {
            bound[k] = job.wide_offsets ? ((const int64_t *)job.offsets)[s - 1 + k]
                                        : ((const int32_t *)job.offsets)[s - 1 + k];
        }
#pragma unroll
        for (int k = 0; k <= TILE_EACH; k++) {
            worst = max(worst, (uint64_t)(bound[k + 1] - bound[k]));
        }
        if (worst <= limit && bound[0] >= 0 && bound[TILE_EACH + 1] <= job.n) {
#pragma unroll
            for (int k = 0; k < TILE_EACH; k++) {
                begin[k] = bound[k + 1];
                n[k] = (uint32_t)bound[k + 2] - (uint32_t)bound[k + 1];
            }
            return 0;
        }
    }
    if (!first) {
        int64_t b;
        segment_at(job, s - 1, &b, &follow);
        follow = follow - b > job.tile_longest ? -1 : follow;
    }
#pragma unroll
    for (int k = 0; k < TILE_EACH; k++) {
        if (k < count) {
            int64_t end;
            segment_at(job, s + k, &begin[k], &end);
            n[k] = end - begin[k];
            bool here = n[k] <= job.tile_longest;
            heads |= here && begin[k] != follow ? 1u << k : 0;
            follow = here ? end : -1;
        }
    }
    return heads;
}

/* Reads the row's segments: sets at[] and head[] for the short ones, and lists the long ones. */
template <typename K> __device__ inline void read_row(const seg_job &job, tile_row<K> *row) {
    __shared__ unsigned classes;
    __shared__ int64_t base;
    int64_t begin[TILE_EACH], n[TILE_EACH];
    int j0 = (int)threadIdx.x * TILE_EACH, here = (int)min(job.segments - row->s0, (int64_t)row->segments) - j0;
    unsigned heads = read_segments(job, row->s0 + j0, here, j0 == 0, begin, n), mine = 0;
    uint32_t sum = (uint32_t)__popc(heads) << 16, total; /* items in the lower half, runs in the upper half */
    bool any_long = false;
    if (threadIdx.x == 0) {
        classes = 0;
    }
#pragma unroll
    for (int k = 0; k < TILE_EACH; k++) {
        bool shorter = n[k] <= job.tile_longest;
        mine |= shorter && n[k] > 0 ? 1u << tile_class((int)n[k]) : 0;
        sum += shorter ? (uint32_t)n[k] : 0;
        any_long |= !shorter;
    }
    if (__syncthreads_or(any_long)) {
        list_long(job, begin, n, row->s0);
    }
    uint32_t at = scan_row(sum, row->warps(), &total);
    mine = __reduce_or_sync(~0u, mine);
    if (threadIdx.x % WARP == 0) {
        atomicOr(&classes, mine);
    }
#pragma unroll
    for (int k = 0; k < TILE_EACH; k++) {
        if (j0 + k < row->segments) {
            row->at[j0 + k] = at & 0xFFFF;
            if (heads >> k & 1) {
                row->head[at >> 16] = (uint16_t)(j0 + k);
                if (at >> 16 == 0) {
                    base = begin[k];
                }
                at += 1u << 16;
            }
            at += n[k] <= job.tile_longest ? (uint32_t)n[k] : 0;
        }
    }
    if (threadIdx.x == 0) {
        row->at[row->segments] = total & 0xFFFF;
    }
    __syncthreads();
    row->runs = (int)(total >> 16);
    row->base = base;
    row->classes = classes;
}

/* The next part of the row: the segments from j0 on that fit in shared memory. */
template <typename K> __device__ inline void next_part(tile_row<K> *row) {
    uint32_t from = row->at[row->j0], limit = from + (uint32_t)row->capacity;
    row->j1 = row->at[row->segments] <= limit ? row->segments : row->last_at(limit, row->j0, row->segments);
    row->items = (int)(row->at[row->j1] - from);
    row->skew = row->together ? (int)(row->base + from) & 3 : 0;
}
