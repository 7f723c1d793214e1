/* The first kernel of every sort: looks at each segment once, sorts those of up to 64 items where they lie, and lists
 * the others by class. A block takes a row of segments; their items come to shared memory in one coalesced sweep, as
 * many segments at a time as fit. Segments then get 1, 2, 4 or 8 lanes of 8 items each, so that few of them fill a
 * warp, and leave for every place of the output which item belongs there; a last sweep fetches the items and writes
 * them coalesced. Leading bits that tie wrongly are seen in that sweep; then the tile is sorted digit by digit. */
#ifndef LSP_SEGSORT_TILE_CUH
#define LSP_SEGSORT_TILE_CUH

#include "segsort_giants.cuh"
#include "segsort_move.cuh"
#include "segsort_network.cuh"

enum {
    TILE_NT = 128,
    TILE_EACH = 4,                    /* segments of a row that a thread looks at, at most */
    TILE_ROW = TILE_EACH * TILE_NT,   /* segments of a row at most */
    TILE_BLOCKS = 8,                  /* an SM */
    TILE_VT = 8,                      /* items a lane */
    TILE_SLACK = TILE_LONGEST + 8,    /* items that may be read beyond the last one */
    TILE_BITS = 6,                    /* of a position: TILE_LONGEST items */
    TILE_CLASSES = 6,                 /* class c: up to 64 >> c items, more than half of that */
    TILE_SINGLES = 1 << TILE_CLASSES, /* in a set of classes: segments of one item */
    TILE_COUNT_BITS = 10              /* counts of all classes in one word: up to TILE_ROW each */
};

/* ---- shared memory of a block ---- */

/* A row of segments, and the part of it that is in shared memory. */
template <typename K> struct tile_row {
    K *keys;          /* the part's items, from `skew` on: global and shared addresses agree modulo 16 bytes */
    char *values;     /* the same */
    uint16_t *source; /* of the output at such a place: the place of its item */
    uint32_t *at;     /* segment j's items are at[j] .. at[j+1]-1, counted from the row's first */
    uint16_t *order;  /* segments by class */
    uint16_t *head;   /* runs of segments of which the items follow each other: the first segment of each */
    int segments, each, capacity, runs;
    int64_t s0, base;        /* the first segment; where the items of the only run begin */
    bool together;           /* a single run, and aligned arrays */
    unsigned classes;        /* of its segments */
    int j0, j1, items, skew; /* the part: its segments, its items */
    network_ones ones;

    __device__ int start_of(int j) const { return (int)(at[j] - at[j0]) + skew; }
    __device__ int length_of(int j) const { return (int)(at[j + 1] - at[j]); }
    /* One class, and which. */
    __device__ bool pure() const { return (classes & (classes - 1)) == 0; }
    __device__ int only() const { return __ffs((int)classes) - 1; }
    /* The last of at[from .. to-1] that is not beyond x. */
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
/* Items that fit in `bytes` of shared memory, and the other way round. */
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
    row->each = (segments + TILE_NT - 1) / TILE_NT;
    row->capacity = capacity;
    row->values = memory;
    row->keys = (K *)(memory += places * (job.positions ? 0 : job.value_bytes));
    row->source = (uint16_t *)(memory += places * sizeof(K));
    row->order = (uint16_t *)(memory += places * 2);
    row->head = (uint16_t *)(memory += order_bytes);
    row->at = (uint32_t *)(memory + order_bytes);
}

/* Exclusive sum over the block; *total is that of all. */
template <typename T> __device__ inline T block_sum(T x, T *total) {
    __shared__ T warp_sum[TILE_NT / WARP];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    T sum = x, before = 0, all = 0;
    for (int d = 1; d < WARP; d *= 2) {
        T other = __shfl_up_sync(~0u, sum, d);
        sum += lane >= d ? other : 0;
    }
    if (lane == WARP - 1) {
        warp_sum[warp] = sum;
    }
    __syncthreads();
    for (int k = 0; k < TILE_NT / WARP; k++) {
        before += k < warp ? warp_sum[k] : 0;
        all += warp_sum[k];
    }
    __syncthreads();
    *total = all;
    return before + sum - x;
}

/* ---- the row: its segments ---- */

/* Lists the long segments among the thread's, one atomic operation a class and block. */
__device__ inline void list_long(const seg_job &job, const int64_t (&begin)[TILE_EACH], const int64_t (&n)[TILE_EACH]) {
    __shared__ unsigned count[LIST_CLASSES];
    __shared__ unsigned long long base[LIST_CLASSES];
    unsigned rank[TILE_EACH];
    if (threadIdx.x < LIST_CLASSES) {
        count[threadIdx.x] = 0;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE_EACH; k++) {
        if (n[k] > LIST_LONGEST) {
            giant_add(job, begin[k], begin[k] + n[k]);
        } else if (n[k] > TILE_LONGEST) {
            rank[k] = atomicAdd(&count[class_of((int)n[k])], 1u);
        }
    }
    __syncthreads();
    if (threadIdx.x < LIST_CLASSES && count[threadIdx.x] > 0) {
        base[threadIdx.x] = atomicAdd(&job.counters->listed[threadIdx.x], (unsigned long long)count[threadIdx.x]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE_EACH; k++) {
        if (n[k] > TILE_LONGEST && n[k] <= LIST_LONGEST) {
            int c = class_of((int)n[k]);
            job.list[c][base[c] + rank[k]] = entry_make(begin[k], FROM_INPUT, n[k]);
        }
    }
}

/* The class of n > 1 items. */
__device__ inline int tile_class(int n) { return __clz(n - 1) - (32 - TILE_BITS); }

/* Reads the row's segments; leaves at[] and head[] of the short ones, lists the others. */
template <typename K> __device__ inline void read_row(const seg_job &job, tile_row<K> *row) {
    __shared__ unsigned classes;
    __shared__ int64_t base;
    int64_t begin[TILE_EACH], n[TILE_EACH], follow = -1; /* where a segment of the same run would begin */
    uint32_t sum = 0, total;                             /* items, and above them runs */
    unsigned mine = 0, heads = 0;
    int j0 = (int)threadIdx.x * row->each, s_left = (int)min(job.segments - row->s0, (int64_t)row->segments);
    if (threadIdx.x == 0) {
        classes = 0;
    }
    if (j0 > 0 && j0 < s_left) {
        int64_t b;
        segment_at(job, row->s0 + j0 - 1, &b, &follow);
        follow = follow - b > TILE_LONGEST ? -1 : follow;
    }
    bool any_long = false;
#pragma unroll
    for (int k = 0; k < TILE_EACH; k++) {
        n[k] = begin[k] = 0;
        if (k < row->each && j0 + k < s_left) {
            int64_t end;
            segment_at(job, row->s0 + j0 + k, &begin[k], &end);
            n[k] = end - begin[k];
            bool here = n[k] <= TILE_LONGEST, head = here && begin[k] != follow;
            mine |= !here || n[k] == 0 ? 0 : n[k] == 1 ? TILE_SINGLES : 1u << tile_class((int)n[k]);
            heads |= head ? 1u << k : 0;
            sum += (here ? (uint32_t)n[k] : 0) + (head ? 1u << 16 : 0);
            follow = here ? end : -1;
            any_long |= !here;
        }
    }
    if (__syncthreads_or(any_long)) {
        list_long(job, begin, n);
    }
    uint32_t at = block_sum(sum, &total);
    mine = __reduce_or_sync(~0u, mine);
    if (threadIdx.x % WARP == 0) {
        atomicOr(&classes, mine);
    }
#pragma unroll
    for (int k = 0; k < TILE_EACH; k++) {
        if (k < row->each && j0 + k < row->segments) {
            row->at[j0 + k] = at & 0xFFFF;
            if (heads >> k & 1) {
                row->head[at >> 16] = (uint16_t)(j0 + k);
                if (at >> 16 == 0) {
                    base = begin[k];
                }
                at += 1u << 16;
            }
            at += n[k] <= TILE_LONGEST ? (uint32_t)n[k] : 0;
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

/* The segments from j0 on that fit in shared memory. */
template <typename K> __device__ inline void next_part(tile_row<K> *row) {
    uint32_t from = row->at[row->j0], limit = from + (uint32_t)row->capacity;
    row->j1 = row->at[row->segments] <= limit ? row->segments : row->last_at(limit, row->j0, row->segments);
    row->items = (int)(row->at[row->j1] - from);
    row->skew = row->together ? (int)(row->base + from) & 3 : 0;
}

/* ---- the part: lanes for its segments ---- */

/* Counts of all classes, or places in order of class, in one word. */
__device__ inline unsigned long long class_one(int c) { return 1ull << c * TILE_COUNT_BITS; }
__device__ inline int class_count(unsigned long long counts, int c) {
    return (int)(counts >> c * TILE_COUNT_BITS) & ((1 << TILE_COUNT_BITS) - 1);
}
/* The sum of the classes before, for each class. */
__device__ inline unsigned long long classes_before(unsigned long long counts) {
    unsigned long long sum = 0;
    for (int c = 1; c < TILE_CLASSES; c++) {
        sum += counts << c * TILE_COUNT_BITS;
    }
    return sum;
}

/* Puts the segments in order of their class, the long ones first; returns how many there are of each. */
template <typename K> __device__ inline unsigned long long order_by_class(const tile_row<K> &row) {
    if (row.pure()) {
        return row.classes == TILE_SINGLES ? 0 : class_one(row.only()) * (unsigned)(row.j1 - row.j0);
    }
    unsigned long long mine = 0, total;
    int j0 = (int)threadIdx.x * row.each, j1 = min(j0 + row.each, row.j1);
    j0 = max(j0, row.j0);
    for (int j = j0; j < j1; j++) {
        int n = row.length_of(j);
        mine += n > 1 ? class_one(tile_class(n)) : 0;
        if (n == 1) {
            int i = row.start_of(j);
            row.source[i] = (uint16_t)i;
        }
    }
    unsigned long long place = block_sum(mine, &total);
    place += classes_before(total);
    for (int j = j0; j < j1; j++) {
        int n = row.length_of(j), c = tile_class(n);
        if (n > 1) {
            row.order[class_count(place, c)] = (uint16_t)j;
            place += class_one(c);
        }
    }
    return total;
}

/* What a lane sorts: its place t among the G lanes of a segment of n items from `start` on; `most`: G at most in its
 * warp. */
struct tile_lane {
    int start, n, t, G, most;
};

/* Lane number `at` of all those that the part needs. */
template <typename K>
__device__ inline tile_lane lane_of(const tile_row<K> &row, unsigned long long counts, int at, int lanes) {
    int n8 = class_count(counts, 0), n4 = class_count(counts, 1), n2 = class_count(counts, 2);
    int end8 = 8 * n8, end4 = end8 + 4 * n4, end2 = end4 + 2 * n2;
    int log = at < end8 ? 3 : at < end4 ? 2 : at < end2 ? 1 : 0;
    int x = at - (at < end8 ? 0 : at < end4 ? end8 : at < end2 ? end4 : end2);
    int rank = (at < end8 ? 0 : at < end4 ? n8 : at < end2 ? n8 + n4 : n8 + n4 + n2) + (x >> log);
    tile_lane lane = {0, 0, x & ((1 << log) - 1), 1 << log, 0};
    lane.most = __shfl_sync(~0u, lane.G, 0);
    if (at < lanes) {
        int j = row.pure() ? row.j0 + rank : row.order[rank];
        lane.start = row.start_of(j);
        lane.n = row.length_of(j);
    }
    return lane;
}

/* ---- sorting in shared memory ---- */

/* The lane's items, also such as it does not have. */
template <int VT, typename T> __device__ inline void lane_load(T (&x)[VT], const T *items, bool aligned) {
    if (aligned && VT * sizeof(T) >= 16) {
#pragma unroll
        for (int v = 0; v < (int)(VT * sizeof(T) / 16); v++) {
            uint4 four = ((const uint4 *)items)[v];
            memcpy(&x[v * 16 / (int)sizeof(T)], &four, 16);
        }
    } else {
#pragma unroll
        for (int r = 0; r < VT; r++) {
            x[r] = items[r];
        }
    }
}

/* Leaves the places of the sorted items. */
template <int VT>
__device__ inline void lane_store(uint16_t *source, const uint32_t (&place)[VT], int m, bool aligned) {
    if (aligned && VT >= 4) {
#pragma unroll
        for (int r = 0; r < VT; r += 4) {
            *(uint2 *)(source + r) =
                make_uint2(place[r] | place[(r + 1) % VT] << 16, place[(r + 2) % VT] | place[(r + 3) % VT] << 16);
        }
    } else {
#pragma unroll
        for (int r = 0; r < VT; r++) {
            if (r < m) {
                source[r] = (uint16_t)place[r];
            }
        }
    }
}

/* Sorts the words of groups of lanes, not all of the same size. */
template <int VT>
__device__ inline void sort_groups(uint32_t (&w)[VT], const tile_lane &lane, const network_ones &ones) {
    bool mixed = __any_sync(~0u, lane.G != lane.most);
    sort_words<VT, 0, VT>(w, ones);
    if constexpr (VT == TILE_VT) {
        for (int g = 2; g <= lane.most; g *= 2) {
            uint32_t before[VT];
            if (mixed) {
                memcpy(before, w, sizeof w);
            }
            flip(w, g);
            merge_lanes(w, g / 4, ones);
            if (mixed && g > lane.G) {
                memcpy(w, before, sizeof w);
            }
        }
    }
}

/* Sorts the segments of a warp, VT items a lane: by their leading bits (digit < 0), or on by one digit. True if some
 * leading bits tie: then keys may be in the wrong order. */
template <int VT, typename KK>
__device__ inline bool sort_short(const seg_job &job, const tile_row<typename KK::K> &row, const tile_lane &lane,
                                  int digit) {
    typedef typename KK::K K;
    enum { bits = TILE_BITS, low = (1 << bits) - 1, wide = 8 * sizeof(K), kept = 32 - bits };
    int from = lane.start + lane.t * VT, m = lane.n - lane.t * VT; /* this lane's items, m or less than 1 */
    bool full = !__any_sync(~0u, m < VT), aligned = !__any_sync(~0u, from % 4 != 0);
    K key[VT];
    uint32_t w[VT];
    int left = wide - kept, lost = 0; /* how far numbers go to the left to lose what is equal; bits lost below */
    if (digit < 0) {
        lane_load<VT>(key, row.keys + from, aligned);
        K differ = 0, first = KK::number(row.keys[lane.start], job.order);
#pragma unroll
        for (int r = 0; r < VT; r++) {
            key[r] = KK::number(key[r], job.order);
            if (!full) {
                key[r] = r < m ? key[r] : first;
            }
            differ |= key[r] ^ first;
        }
        for (int mask = 1; mask < lane.most; mask *= 2) {
            K other = __shfl_xor_sync(~0u, differ, mask);
            differ |= mask < lane.G ? other : (K)0;
        }
        left = min(__clzll((long long)differ) - (64 - wide), wide - 1);
        lost = wide - kept - left;
    } else {
#pragma unroll
        for (int r = 0; r < VT; r++) {
            K number = r < m ? KK::number(row.keys[row.source[from + r]], job.order) : (K)0;
            key[r] = (K)(number >> digit * kept) << (wide - kept);
        }
        left = 0;
    }
#pragma unroll
    for (int r = 0; r < VT; r++) {
        w[r] = ((uint32_t)((K)(key[r] << left) >> (wide - 32)) & ~(uint32_t)low) | (uint32_t)(lane.t * VT + r);
        if (!full) {
            w[r] = r < m ? w[r] : ~0u;
        }
    }
    sort_groups(w, lane, row.ones);
    uint32_t nearest = ~0u; /* words that differ in their positions only are nearer than `low` */
    uint32_t next = __shfl_down_sync(~0u, w[0], 1);
    next = lane.t + 1 < lane.G ? next : ~0u;
#pragma unroll
    for (int r = 0; r < VT; r++) {
        nearest = min((w[r] ^ (r + 1 < VT ? w[(r + 1) % VT] : next)) - 1, nearest); /* pads are equal */
        w[r] = (w[r] & low) + (uint32_t)lane.start;
    }
    if (digit >= 0) {
#pragma unroll
        for (int r = 0; r < VT; r++) {
            w[r] = r < m ? row.source[w[r]] : 0;
        }
        __syncwarp();
    }
    lane_store<VT>(row.source + from, w, m, full && aligned);
    __syncwarp();
    return nearest < low && lost > 0;
}

/* Sorts the part. True if leading bits tie somewhere. */
template <typename KK>
__device__ inline bool sort_segments(const seg_job &job, const tile_row<typename KK::K> &row, unsigned long long counts,
                                     int digit) {
    int ones = class_count(counts, 3) + class_count(counts, 4) + class_count(counts, 5);
    int many = 8 * class_count(counts, 0) + 4 * class_count(counts, 1) + 2 * class_count(counts, 2);
    bool tied = false;
    for (int at = (int)threadIdx.x; at / WARP * WARP < many + ones; at += TILE_NT) {
        tile_lane lane = lane_of(row, counts, at, many + ones);
        if (__any_sync(~0u, lane.n > 4)) {
            tied |= sort_short<8, KK>(job, row, lane, digit);
        } else if (__any_sync(~0u, lane.n > 2)) {
            tied |= sort_short<4, KK>(job, row, lane, digit);
        } else {
            tied |= sort_short<2, KK>(job, row, lane, digit);
        }
    }
    return __syncthreads_or(tied) != 0;
}

/* Is a segment not in order? */
template <typename KK> __device__ inline bool wrong_order(const seg_job &job, const tile_row<typename KK::K> &row) {
    bool wrong = false;
    for (int j = row.j0 + (int)threadIdx.x; j < row.j1; j += TILE_NT) {
        int start = row.start_of(j);
        for (int i = start + 1; i < start + row.length_of(j); i++) {
            wrong |=
                KK::number(row.keys[row.source[i]], job.order) < KK::number(row.keys[row.source[i - 1]], job.order);
        }
    }
    return __syncthreads_or(wrong) != 0;
}

/* ---- in and out ---- */

/* f(step, first, place, at, count): this thread's items are first, first + step, ... of `count` items that lie from
 * `place` on in shared memory and from `at` on in global memory. A run is a warp's, or the block's if there is one. */
template <typename K, typename F> __device__ inline void each_run(const seg_job &job, const tile_row<K> &row, F f) {
    if (row.runs == 1) {
        f(TILE_NT, (int)threadIdx.x, row.skew, row.base + row.at[row.j0], row.items);
        return;
    }
    int low = 0, high = row.runs;
    while (high - low > 1) { /* the last run that begins in the part's first segment or before it */
        int middle = (low + high) / 2;
        if (row.head[middle] <= row.j0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    for (int h = low + (int)threadIdx.x / WARP; h < row.runs && row.head[h] < row.j1; h += TILE_NT / WARP) {
        uint32_t run = row.at[row.head[h]], from = max(run, row.at[row.j0]);
        uint32_t to = min(row.at[h + 1 < row.runs ? row.head[h + 1] : row.segments], row.at[row.j1]);
        int64_t begin, end;
        segment_at(job, row.s0 + row.head[h], &begin, &end);
        f(WARP, (int)threadIdx.x % WARP, (int)(from - row.at[row.j0]) + row.skew, begin + (from - run),
          (int)to - (int)from);
    }
}

/* Items of item_bytes from the 16-byte aligned `from` on, of which those before `end` are there. */
__device__ inline void stage_whole(char *to, const char *from, const char *end, int bytes) {
    for (int i = (int)threadIdx.x * 16; i < bytes; i += TILE_NT * 16) {
        if (end - from >= i + 16) {
            __pipeline_memcpy_async(to + i, from + i, 16);
        } else {
            for (int k = i; k < i + 16 && end - from > k; k += 4) {
                __pipeline_memcpy_async(to + k, from + k, 4);
            }
        }
    }
}
template <typename T, typename K>
__device__ inline void stage_runs(const seg_job &job, const tile_row<K> &row, T *to, const void *from, int parts) {
    each_run(job, row, [&](int step, int first, int place, int64_t at, int count) {
        const T *source = (const T *)from + at * parts;
        for (int i = first; i < count * parts; i += step) {
            copy_async(to + place * parts + i, source + i);
        }
    });
}
template <typename K>
__device__ inline void stage(const seg_job &job, const tile_row<K> &row, char *to, const void *from, int item_bytes) {
    if (row.together) {
        const char *items = (const char *)from;
        int64_t first = row.base + row.at[row.j0] - row.skew;
        stage_whole(to, items + first * item_bytes, items + job.n * item_bytes, (row.items + row.skew) * item_bytes);
    } else if (item_bytes == 4) {
        stage_runs(job, row, (uint32_t *)to, from, 1);
    } else {
        stage_runs(job, row, (unsigned long long *)to, from, item_bytes / 8);
    }
    copy_group();
}

struct no_value {};

/* Writes keys and values, four of a thread's items at a time. */
template <typename V, typename K> __device__ inline void write_part(const seg_job &job, const tile_row<K> &row) {
    enum { sweep = 4, valued = sizeof(V) > 1 };
    each_run(job, row, [&](int step, int first, int place, int64_t at, int count) {
        K *to = (K *)job.arrays[FROM_OUTPUT].keys + at + first;
        V *to_values = (V *)job.arrays[FROM_OUTPUT].values + (valued ? at + first : 0);
        const V *values = (const V *)row.values;
        const uint16_t *source = row.source + place + first;
        for (int left = count - first; left > 0; left -= sweep * step) {
            K key[sweep];
            V value[sweep];
#pragma unroll
            for (int k = 0; k < sweep; k++) {
                if (left > k * step) {
                    int from = source[k * step];
                    key[k] = row.keys[from];
                    if constexpr (valued) {
                        value[k] = values[from];
                    }
                }
            }
#pragma unroll
            for (int k = 0; k < sweep; k++) {
                if (left > k * step) {
                    to[k * step] = key[k];
                    if constexpr (valued) {
                        to_values[k * step] = value[k];
                    }
                }
            }
            to += sweep * step, to_values += valued ? sweep * step : 0, source += sweep * step;
        }
    });
}
template <typename K> __device__ inline void write_positions(const seg_job &job, const tile_row<K> &row) {
    each_run(job, row, [&](int step, int first, int place, int64_t at, int count) {
        for (int i = first; i < count; i += step) {
            int from = row.source[place + i], start = place + i; /* of the segment, if that is asked for */
            if (!job.global_positions) {
                start = row.start_of(row.last_at(row.at[row.j0] + (uint32_t)(place + i - row.skew), row.j0, row.j1));
            }
            put_position(job, at + i, at + i - (place + i - start), from - start);
        }
    });
}
template <typename K> __device__ inline void write_items(const seg_job &job, const tile_row<K> &row) {
    if (job.positions || job.value_bytes == 0) {
        write_part<no_value>(job, row);
    } else if (job.value_bytes == 4) {
        write_part<uint32_t>(job, row);
    } else if (job.value_bytes == 8) {
        write_part<unsigned long long>(job, row);
    } else {
        write_part<ulonglong2>(job, row);
    }
    if (job.positions) {
        write_positions(job, row);
    }
}

/* Sorts the part of the row that fits in shared memory. */
template <typename KK> __device__ inline void sort_part(const seg_job &job, const tile_row<typename KK::K> &row) {
    typedef typename KK::K K;
    stage(job, row, (char *)row.keys, job.arrays[FROM_INPUT].keys, sizeof(K));
    if (job.value_bytes > 0 && !job.positions) {
        stage(job, row, row.values, job.arrays[FROM_INPUT].values, job.value_bytes);
    } else {
        copy_group();
    }
    unsigned long long counts = order_by_class(row);
    if (row.classes == TILE_SINGLES) {
        for (int i = (int)threadIdx.x; i < row.items; i += TILE_NT) {
            row.source[row.skew + i] = (uint16_t)(row.skew + i);
        }
    }
    copy_wait<1>(); /* the values have time */
    __syncthreads();
    if (sort_segments<KK>(job, row, counts, -1) && wrong_order<KK>(job, row)) {
        for (int i = (int)threadIdx.x; i < row.items; i += TILE_NT) { /* begin anew, from the lowest digit */
            row.source[row.skew + i] = (uint16_t)(row.skew + i);
        }
        __syncthreads();
        for (int digit = 0; digit * (32 - TILE_BITS) < 8 * (int)sizeof(K); digit++) {
            sort_segments<KK>(job, row, counts, digit);
        }
    }
    copy_wait<0>();
    __syncthreads();
    write_items(job, row);
    __syncthreads();
}

/* Nothing to sort: segments of one item. */
template <typename K> __device__ inline void copy_singles(const seg_job &job, const tile_row<K> &row) {
    const K *keys = (const K *)job.arrays[FROM_INPUT].keys + row.base;
    K *to = (K *)job.arrays[FROM_OUTPUT].keys + row.base;
    const uint32_t *values = (const uint32_t *)job.arrays[FROM_INPUT].values + row.base;
    uint32_t *to_values = (uint32_t *)job.arrays[FROM_OUTPUT].values + row.base;
    K key[TILE_EACH];
    uint32_t value[TILE_EACH];
    int left = (int)row.at[row.segments] - (int)threadIdx.x;
#pragma unroll
    for (int k = 0; k < TILE_EACH; k++) {
        if (left > k * TILE_NT) {
            key[k] = keys[(int)threadIdx.x + k * TILE_NT];
            value[k] = values[(int)threadIdx.x + k * TILE_NT];
        }
    }
#pragma unroll
    for (int k = 0; k < TILE_EACH; k++) {
        if (left > k * TILE_NT) {
            to[(int)threadIdx.x + k * TILE_NT] = key[k];
            to_values[(int)threadIdx.x + k * TILE_NT] = value[k];
        }
    }
}

/* `aligned`: the arrays that are read begin at multiples of 16 bytes. */
template <typename KK>
__global__ void __launch_bounds__(TILE_NT, TILE_BLOCKS)
    kernel_tile(seg_job job, int segments, int capacity, bool aligned, network_ones ones) {
    typedef typename KK::K K;
    extern __shared__ __align__(16) char memory[];
    tile_row<K> row;
    lay_out_row(job, memory, segments, capacity, &row);
    row.ones = ones;
    row.s0 = (int64_t)blockIdx.x * segments;
    read_row(job, &row);
    row.together = aligned && row.runs == 1;
    if (row.classes == TILE_SINGLES && row.runs == 1 && job.value_bytes == 4 && !job.positions) {
        copy_singles(job, row);
        return;
    }
    for (row.j0 = 0; row.j0 < segments; row.j0 = row.j1) {
        next_part(&row);
        if (row.items > 0) {
            sort_part<KK>(job, row);
        }
    }
}

#endif
