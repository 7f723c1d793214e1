/* The first kernel of most sorts: reads each segment's bounds once, sorts segments of up to 64 items, and lists longer
 * ones by class. A block takes a row of segments. It works on one part of the row at a time, as large as shared memory
 * allows, and copies the part's items there in one coalesced sweep. A segment gets 1, 2, 4 or 8 lanes of up to 8 items,
 * so a warp sorts several. For each place of the output, the lanes store the index of the item that belongs there; a
 * last sweep writes the items coalesced. If leading bits tie and keys are out of order, the part is sorted again digit
 * by digit. */
#pragma once

#include "tile_copy.cuh"

/* ---- the part: lanes for its segments ---- */

/* The counts of all classes in one word, TILE_COUNT_BITS each. */
__device__ inline ull class_one(int c) { return 1ull << c * TILE_COUNT_BITS; }
__device__ inline int class_count(ull counts, int c) {
    return (int)(counts >> c * TILE_COUNT_BITS) & ((1 << TILE_COUNT_BITS) - 1);
}
/* The exclusive prefix sums over the classes, for all classes at once. */
__device__ inline ull classes_before(ull counts) {
    ull sum = 0;
    for (int c = 1; c < TILE_CLASSES; c++) {
        sum += counts << c * TILE_COUNT_BITS;
    }
    return sum;
}

/* Orders the part's segments by class, long ones first; returns how many there are of each class. */
template <typename K> __device__ inline ull order_by_class(const tile_row<K> &row) {
    if (row.pure()) {
        return row.classes == TILE_SINGLES ? 0 : class_one(row.only()) * (unsigned)(row.j1 - row.j0);
    }
    ull mine = 0, total;
    int j0 = (int)threadIdx.x * TILE_EACH, j1 = min(j0 + TILE_EACH, row.j1);
    j0 = max(j0, row.j0);
    for (int j = j0; j < j1; j++) {
        int n = row.length_of(j);
        mine += n > 1 ? class_one(tile_class(n)) : 0;
        if (n == 1) {
            int i = row.start_of(j);
            row.source[i] = (uint16_t)i;
        }
    }
    ull place = scan_row(mine, row.warps(), &total);
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

/* The work of a lane: it is lane t of the G lanes of a segment of n items from `start` on. most: the largest G in its
 * warp. */
struct tile_lane {
    int start, n, t, G, most;
};

/* The work of lane number `at` out of the `lanes` lanes that the part needs. */
template <typename K> __device__ inline tile_lane lane_of_item(const tile_row<K> &row, ull counts, int at, int lanes) {
    int log = max(3 - row.only(), 0), x = at, rank = 0;
    bool pure = row.pure();
    if (!pure) {
        int n8 = class_count(counts, 0), n4 = class_count(counts, 1), n2 = class_count(counts, 2);
        int end8 = 8 * n8, end4 = end8 + 4 * n4, end2 = end4 + 2 * n2;
        log = at < end8 ? 3 : at < end4 ? 2 : at < end2 ? 1 : 0;
        x = at - (at < end8 ? 0 : at < end4 ? end8 : at < end2 ? end4 : end2);
        rank = at < end8 ? 0 : at < end4 ? n8 : at < end2 ? n8 + n4 : n8 + n4 + n2;
    }
    tile_lane lane = {0, 0, x & ((1 << log) - 1), 1 << log, 1 << log};
    rank += x >> log;
    if (at < lanes) {
        int j = pure ? row.j0 + rank : row.order[rank];
        lane.start = row.start_of(j);
        lane.n = row.length_of(j);
    }
    if (!pure) {
        lane.most = __shfl_sync(~0u, lane.G, 0);
    }
    return lane;
}

/* ---- sorting in shared memory ---- */

/* Loads VT items. Items beyond the lane's own have any value. */
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

/* Stores the places of the lane's m sorted items. */
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

/* Sorts the words of groups of `most` lanes. Smaller groups inside stay apart if their words begin with the number of
 * their group. */
template <int VT> __device__ inline void sort_groups(uint32_t (&w)[VT], int most, const network_ones &ones) {
    sort_words<VT, 0, VT>(w, ones);
    if constexpr (VT == TILE_VT) {
#pragma unroll
        for (int g = 2; g <= 8; g *= 2) {
            if (g <= most) {
                flip(w, g, ones);
                merge_lanes(w, g / 4, ones);
            }
        }
    }
}

/* The bits in which the keys of the lane's segment differ from `first`, its first key. */
template <int VT, typename K>
__device__ inline K lane_differ(const K (&key)[VT], K first, const tile_lane &lane, int m, bool full) {
    K differ = 0;
    if (full) {
#pragma unroll
        for (int r = 0; r < VT; r++) {
            differ |= key[r] ^ first;
        }
    } else {
#pragma unroll
        for (int r = 0; r < VT; r++) {
            if (r < m) {
                differ |= key[r] ^ first;
            }
            lsp_settle(differ);
        }
    }
    if constexpr (VT == TILE_VT) {
#pragma unroll
        for (int mask = 1; mask < 8; mask *= 2) {
            if (mask < lane.most) {
                K other = __shfl_xor_sync(~0u, differ, mask);
                differ |= mask < lane.G ? other : (K)0;
            }
        }
    }
    return differ;
}

/* Sorts the segments of a warp, VT items a lane: by their leading bits (digit < 0), or by one more digit. Returns true
 * if leading bits tie although lower bits differ: then keys may be out of order. If the warp's segments have different
 * numbers of lanes, words begin with the number of their segment: all are then sorted as one of `most` lanes. */
template <int VT, typename KK>
__device__ inline bool sort_tile_short(const seg_job &job, const tile_row<typename KK::K> &row, const tile_lane &lane,
                                       int digit) {
    typedef typename KK::K K;
    enum { low = (1 << TILE_BITS) - 1, wide = 8 * sizeof(K), kept = 32 - TILE_BITS };
    int from = lane.start + lane.t * VT, m = lane.n - lane.t * VT; /* this lane's m items; none if m < 1 */
    bool full = !__any_sync(~0u, m < VT), aligned = !__any_sync(~0u, from % 4 != 0);
    bool mixed = !row.pure() && __any_sync(~0u, lane.G != lane.most);
    int left = 0, lost = 0; /* equal leading bits, which are shifted out; low bits that words do not hold */
    K key[VT], bias = 0;
    if (digit < 0) {
        lane_load<VT>(key, row.keys + from, aligned);
        K first = row.keys[lane.start];
        if constexpr (KK::plain) {
            bias = (K)job.order.bias; /* XORed later, into the words */
        } else {
            first = KK::number(first, job.order);
#pragma unroll
            for (int r = 0; r < VT; r++) {
                key[r] = KK::number(key[r], job.order);
            }
        }
        left = min(__clzll((long long)lane_differ<VT>(key, first, lane, m, full)) - (64 - wide), wide - 1);
        lost = wide - (mixed ? (int)TILE_DIGIT : (int)kept) - left;
    } else {
#pragma unroll
        for (int r = 0; r < VT; r++) {
            K number = r < m ? KK::number(row.keys[row.source[from + r]], job.order) : (K)0;
            key[r] = (K)(number >> digit * TILE_DIGIT) << (wide - TILE_DIGIT);
        }
    }
    uint32_t w[VT], high = (uint32_t)((K)(bias << left) >> (wide - 32)) & ~(uint32_t)low, last = ~0u;
#pragma unroll
    for (int r = 0; r < VT; r++) {
        w[r] = (uint32_t)((K)(key[r] << left) >> (wide - 32));
    }
    if (mixed) {
        uint32_t group = (threadIdx.x & 7 & -(unsigned)lane.G) << (32 - TILE_GROUP_BITS);
#pragma unroll
        for (int r = 0; r < VT; r++) {
            w[r] = (w[r] ^ high) >> TILE_GROUP_BITS;
            lsp_settle(w[r]);
        }
        high = group;
        last = group | ~0u >> TILE_GROUP_BITS;
    }
    high |= (uint32_t)(lane.t * VT);
#pragma unroll
    for (int r = 0; r < VT; r++) {
        w[r] = ((w[r] & ~(uint32_t)low) ^ high) + (uint32_t)r;
    }
    if (!full) {
#pragma unroll
        for (int r = 0; r < VT; r++) {
            w[r] = r < m ? w[r] : last;
            lsp_settle(w[r]);
        }
    }
    sort_groups(w, lane.most, job.ones);
    uint32_t nearest = ~0u; /* below `low` if two neighbours differ in their positions only */
    uint32_t next = __shfl_down_sync(~0u, w[0], 1);
    next = lane.t + 1 < lane.G ? next : ~w[VT - 1];
#pragma unroll
    for (int r = 0; r < VT; r++) {
        nearest = min((w[r] ^ (r + 1 < VT ? w[(r + 1) % VT] : next)) - 1, nearest); /* padding words are equal */
    }
#pragma unroll
    for (int r = 0; r < VT; r++) {
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

/* Sorts the part. Returns true if leading bits tie in some segment. */
template <typename KK>
__device__ inline bool sort_tile_segments(const seg_job &job, const tile_row<typename KK::K> &row, ull counts,
                                          int digit) {
    int ones = class_count(counts, 3) + class_count(counts, 4) + class_count(counts, 5);
    int many = 8 * class_count(counts, 0) + 4 * class_count(counts, 1) + 2 * class_count(counts, 2);
    bool tied = false;
    for (int at = (int)threadIdx.x; at / WARP * WARP < many + ones; at += TILE_NT) {
        tile_lane lane = lane_of_item(row, counts, at, many + ones);
        if (__any_sync(~0u, lane.n > 4)) {
            tied |= sort_tile_short<8, KK>(job, row, lane, digit);
        } else if (__any_sync(~0u, lane.n > 2)) {
            tied |= sort_tile_short<4, KK>(job, row, lane, digit);
        } else {
            tied |= sort_tile_short<2, KK>(job, row, lane, digit);
        }
    }
    return __syncthreads_or(tied) != 0;
}

/* Is some segment of the part out of order? */
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

/* Sorts the part of the row that fits in shared memory. */
template <typename KK> __device__ inline void sort_part(const seg_job &job, const tile_row<typename KK::K> &row) {
    typedef typename KK::K K;
    stage_tile(job, row, (char *)row.keys, job.arrays[FROM_INPUT].keys, sizeof(K));
    if (job.value_bytes > 0 && !job.positions) {
        stage_tile(job, row, row.values, job.arrays[FROM_INPUT].values, job.value_bytes);
    } else {
        copy_group();
    }
    ull counts = order_by_class(row);
    if (row.classes == TILE_SINGLES) {
        for (int i = (int)threadIdx.x; i < row.items; i += TILE_NT) {
            row.source[row.skew + i] = (uint16_t)(row.skew + i);
        }
    }
    copy_wait<1>(); /* for the keys; values may arrive later */
    __syncthreads();
    if (sort_tile_segments<KK>(job, row, counts, -1) && wrong_order<KK>(job, row)) {
        for (int i = (int)threadIdx.x; i < row.items; i += TILE_NT) { /* starts again, from the lowest digit */
            row.source[row.skew + i] = (uint16_t)(row.skew + i);
        }
        __syncthreads();
        for (int digit = 0; digit * TILE_DIGIT < 8 * (int)sizeof(K); digit++) {
            sort_tile_segments<KK>(job, row, counts, digit);
        }
    }
    copy_wait<0>();
    __syncthreads();
    write_items(job, row);
    __syncthreads();
}

/* Copies a row of segments of one item, with 4-byte values: there is nothing to sort. */
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

/* segments, capacity: those of a row. aligned: the input arrays begin at multiples of 16 bytes. */
template <typename KK>
__global__ void __launch_bounds__(TILE_NT, TILE_BLOCKS)
    kernel_tile(seg_job job, int segments, int capacity, bool aligned) {
    typedef typename KK::K K;
    LSP_DYNAMIC_SHARED(memory);
    tile_row<K> row;
    lay_out_row(job, memory, segments, capacity, &row);
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
