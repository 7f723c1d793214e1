/* Sorts small inputs (up to 65,536 items in total) with one kernel. Their cost is launch latency and instruction cache
 * misses, so there is one launch and most loops are not unrolled. A block owns neighbouring items. It ranks each of
 * them among its own items of the same segment. Only the segments of its first and its last item can continue outside
 * the block: it looks up each outside item of these segments in a search tree of its own items, and counts it at the
 * place before which it belongs. An item's place is its rank among the own items plus the outside items before it. */
#pragma once

#include "core/launch.cuh"
#include "job.cuh"
#include <cooperative_groups.h>

enum {
    SMALL_ITEMS = LSP_SORT_SMALL_ITEMS, /* at most */
    SMALL_SEGMENTS = 1 << 11,           /* at most */
    SMALL_NT = 1024,
    SMALL_BLOCKS = 128,  /* blocks wanted */
    SMALL_LOG_LEAST = 1, /* 2^1 to 2^5 threads rank an item together */
    SMALL_LOG_MOST = 5,
    SMALL_OWN = SMALL_NT >> SMALL_LOG_LEAST, /* the most items that a block owns */
    SMALL_MANY = 1 << 13                     /* items in all: above, a thread looks up four items at a time, not two */
};

/* The items of a segment outside the block on one side, and the places low .. high-1 of the segment in the block. */
typedef struct small_beyond {
    int first, items;
    int low, high;
} small_beyond;

/* Shared memory: all segments, and the block's own items. */
template <typename K> struct small_shared {
    int begin[SMALL_SEGMENTS], end[SMALL_SEGMENTS];
    K numbers[SMALL_OWN];                            /* of the own items, unsorted */
    K rows[SMALL_OWN + SMALL_OWN / WARP + 2 * WARP]; /* rows of 32, each sorted within each segment: small_shift */
    K tree[2][SMALL_OWN];                            /* search trees of the first and the last segment: small_node */
    K last[2];                                       /* the largest numbers of these two */
    int before[SMALL_OWN];                           /* outside items that come just before a place */
    small_beyond beyond[2];
};

/* The block reads all segments. Returns true if one begins before the end of the one before it. */
__device__ inline bool small_read_segments(const seg_job &job, int *begins, int *ends) {
    bool wrong = false;
#pragma unroll 1
    for (int s = (int)threadIdx.x; s < (int)job.segments; s += SMALL_NT) {
        int64_t begin, end;
        segment_at(job, s, &begin, &end);
        begins[s] = (int)begin;
        ends[s] = (int)end;
        wrong |=
            s > 0 && job.offsets && begin < (job.ends ? bound_at(job, job.ends, s - 1) : bound_at(job, job.offsets, s));
    }
    return wrong;
}

/* Do segments that are not in order have more than n items together? For all threads of the block. */
__device__ inline bool small_overlap(const int *begins, const int *ends, int segments, int n) {
    __shared__ ull sum;
    if (threadIdx.x == 0) {
        sum = 0;
    }
    __syncthreads();
    for (int s = (int)threadIdx.x; s < segments; s += SMALL_NT) {
        atomicAdd(&sum, (ull)(ends[s] - begins[s]));
    }
    __syncthreads();
    return sum > (ull)n;
}

/* The segment that holds item i, or an empty one. sound: segments are in order, so a binary search finds it. */
__device__ inline void small_segment(const int *begins, const int *ends, int segments, bool sound, int i, int *begin,
                                     int *end) {
    int s = 0;
    if (sound) { /* the last that begins at i or before it */
        s = LSP_FIRST(1, segments, later, begins[later] > i) - 1;
    } else {
        while (s < segments - 1 && (i < begins[s] || i >= ends[s])) {
            s++;
        }
    }
    *begin = *end = i;
    if (i >= begins[s] && i < ends[s]) {
        *begin = begins[s];
        *end = ends[s];
    }
}

/* The shift of a row's items in rows[]. Without it binary searches would have bank conflicts. */
__device__ inline int small_shift(int row) { return row / WARP; }

/* Counts the numbers below `number`, or up to it if `equal`, in the sorted list[from .. end-1] of at most WARP. Reads
 * up to 2 WARP numbers from `from` on. */
template <typename K> __device__ inline int small_until(const K *list, int from, int end, K number, bool equal) {
    K bound = number + (K)equal;
    int at = from;
    lsp_settle(bound);
#pragma unroll 1
    for (int step = WARP; step > 0; step /= 2) {
        const int last = at + step - 1;
        at += (last < end) & (list[last] < bound) ? step : 0;
    }
    return bound < number ? max(end - from, 0) : at - from; /* number + 1 overflowed: no number is larger */
}

/* The sum over the `share` neighbouring threads that rank an item together. */
__device__ inline int small_sum_parts(int x, int share) {
#pragma unroll 1
    for (int mask = 1; mask < share; mask *= 2) {
        x += __shfl_xor_sync(~0u, x, mask);
    }
    return x;
}

/* An own item: number o of the block's `own` items, in a segment whose own items are low .. high-1. This thread is
 * number `part` of the `share` threads that rank it. */
struct small_item {
    int own, o, low, high, part, share;
};

/* The rank of the item among the own items of its segment. The item is compared with all items of its row of 32. That
 * sorts the rows, so binary searches in the other rows give the rest of the rank. */
template <typename K> __device__ inline int small_rank(small_shared<K> &sh, const small_item &item, K number) {
    const int own = item.own, o = item.o, low = item.low, high = item.high, part = item.part, share = item.share;
    const int row = o & -WARP;
    int rank = 0, more = 0;
#pragma unroll 1
    for (int j = max(low, row) + part; j < min(high, row + WARP); j += share) {
        const K other = sh.numbers[j];
        rank += other < number || (other == number && j < o);
    }
    rank = small_sum_parts(rank, share);
    if (own > WARP) {
        if (part == 0) {
            sh.rows[max(low, row) + rank + small_shift(row)] = number;
        }
        __syncthreads();
#pragma unroll 1
        for (int other = part * WARP; other < own; other += share * WARP) {
            const int from = max(low, other), end = other == row ? from : min(high, other + WARP);
            const int shift = small_shift(other);
            more += small_until(sh.rows, from + shift, end + shift, number, other < row);
        }
        rank += small_sum_parts(more, share);
    }
    return rank;
}

/* The levels of a search tree for all but the last of `numbers` sorted numbers, and the node of the one at `place`. The
 * root is node 1, nodes 2 j and 2 j + 1 are below node j: a warp's lookups at one level are spread over the banks. */
__device__ inline int small_levels(int numbers) { return 32 - __clz(numbers - 1); }
__device__ inline int small_node(int place, int levels) {
    const int next = place + 1;
    return (next + (1 << levels)) >> __ffs(next);
}

/* The outside items that a thread looks up: at, at + stride, ... of the `items` of one side. */
typedef struct small_others {
    int side, at, stride, items;
} small_others;

/* Each warp looks up items of one side; the sides share the warps in proportion to their items. */
__device__ inline small_others small_share_out(const small_beyond beyond[2]) {
    static_assert(SMALL_NT == WARP * WARP, "each warp has a lane that votes for its side");
    const int left = beyond[0].items, all = left + beyond[1].items, t = (int)threadIdx.x;
    int split = __popc(__ballot_sync(~0u, t % WARP * all < WARP * left));
    split = left < all ? min(split, WARP - 1) : split;
    const int side = t / WARP >= split, before = side ? split * WARP : 0;
    return {side, t - before, side ? SMALL_NT - before : split * WARP, beyond[side].items};
}

/* Reads the next EACH keys to look up. */
template <int EACH, typename K>
__device__ inline void small_read_others(K (&key)[EACH], const K *keys, const small_others &others) {
#pragma unroll
    for (int u = 0; u < EACH; u++) {
        const int k = others.at + u * others.stride;
        key[u] = k < others.items ? keys[(unsigned)k] : (K)0;
    }
}

/* Looks up all of the thread's outside items, and counts each at the place that it comes before. */
template <int EACH, typename KK>
__device__ inline void small_look_up(const seg_job &job, small_shared<typename KK::K> &sh, small_others others,
                                     const typename KK::K *keys, typename KK::K (&key)[EACH]) {
    typedef typename KK::K K;
    const small_beyond beyond = sh.beyond[others.side];
    const K last = sh.last[others.side], later = (K)others.side;
    const int levels = small_levels(beyond.high - beyond.low);
    int left = -others.side * SMALL_OWN * (int)sizeof(K), right = left + (int)sizeof(K);
    lsp_settle(right); /* hides that right == left + const: a select instruction is faster here than a predicated add */
#pragma unroll 1
    while (others.at < others.items) {
        const int at = others.at;
        K after[EACH];  /* the item comes after all numbers below this */
        int node[EACH]; /* byte offset in both trees; that of a child is twice this, plus left or right */
#pragma unroll
        for (int u = 0; u < EACH; u++) {
            after[u] = KK::number(key[u], job.order) + later;
            node[u] = (int)sizeof(K) - left;
        }
        others.at += EACH * others.stride;
        small_read_others(key, keys, others);
#pragma unroll 1
        for (int level = levels; level > 0; level--) {
#pragma unroll
            for (int u = 0; u < EACH; u++) {
                const K passed = *(const K *)((const char *)sh.tree + node[u]);
                node[u] = 2 * node[u] + (passed < after[u] ? right : left);
            }
        }
#pragma unroll
        for (int u = 0; u < EACH; u++) {
            if (at + u * others.stride < others.items && after[u] <= last && after[u] >= later) {
                const int leaf = (int)((unsigned)(node[u] + left) / sizeof(K));
                atomicAdd(&sh.before[beyond.low + leaf - (1 << levels)], 1);
            }
        }
    }
}

/* Counts the outside items before `place`, in a segment whose first own place is `low`. */
template <typename K> __device__ inline int small_before(small_shared<K> &sh, int own, int low, int place) {
    const int t = (int)threadIdx.x;
    int sum = t < own ? sh.before[t] : 0; /* prefix sums within each row of 32; a loop, because its code is short */
#pragma unroll 1
    for (int step = 1; step < WARP; step *= 2) {
        const int other = __shfl_up_sync(~0u, sum, step);
        sum += t % WARP >= step ? other : 0;
    }
    if (t < own) {
        sh.before[t] = sum;
    }
    __syncthreads();
    sum = sh.before[place] - (low % WARP != 0 ? sh.before[low - 1] : 0);
#pragma unroll 1
    for (int row = low / WARP; row < place / WARP; row++) {
        sum += sh.before[row * WARP + WARP - 1];
    }
    return sum;
}

/* 2^log_share neighbouring threads rank one item. in_place: a grid barrier: all blocks read before any writes. */
template <int EACH, typename KK>
__global__ void __launch_bounds__(SMALL_NT, 1) kernel_small(seg_job job, int log_share, bool in_place) {
    typedef typename KK::K K;
    __shared__ small_shared<K> sh;
    const int n = (int)job.n, segments = (int)job.segments, words = job.value_bytes / 4;
    const int share = 1 << log_share, own = SMALL_NT >> log_share, t = (int)threadIdx.x, part = t & (share - 1),
              o = t >> log_share;
    const int first = (int)blockIdx.x * own, after = min(first + own, n), i = first + o;
    const bool here = i < n, reads = here && !job.positions;
    const K *keys = (const K *)job.arrays[FROM_INPUT].keys;
    const uint32_t *values = (const uint32_t *)job.arrays[FROM_INPUT].values + (int64_t)i * words + part;
    const K key = here ? keys[i] : (K)0;
    uint32_t value = reads && part < words ? values[0] : 0;
    const uint32_t more = reads && part + share < words ? values[share] : 0;
    const K number = KK::number(key, job.order);
    const bool wrong = small_read_segments(job, sh.begin, sh.end);
    if (part == 0) {
        sh.numbers[o] = number;
        sh.before[o] = 0;
    }
    ((K *)sh.tree)[t] = (K)-1;
    const bool sound = !__syncthreads_or(wrong);
    if (!sound && small_overlap(sh.begin, sh.end, segments, n)) {
        *job.fault = 1;
    }
    int begin, end;
    small_segment(sh.begin, sh.end, segments, sound, i, &begin, &end);
    const int low = max(begin, first) - first, high = min(end, after) - first;
    if (t == 0) {
        sh.beyond[0] = {begin, first - begin, 0, high};
    }
    if (o == max(after - first, 1) - 1 && part == 0) {
        sh.beyond[1] = {after, max(end - after, 0), low, after - first};
    }
    __syncthreads();
    const bool beyond = sh.beyond[0].items + sh.beyond[1].items > 0;
    const small_others others = small_share_out(sh.beyond);
    const K *from = keys + sh.beyond[others.side].first;
    K other[EACH];
    small_read_others(other, from, others);
    int rank = small_rank(sh, {own, o, low, high, part, share}, number);
    if (beyond) {
        const int place = low + rank;
        if (here && part < 2) {
            const small_beyond side = sh.beyond[part];
            if (side.items > 0 && place >= side.low && place < side.high - 1) {
                sh.tree[part][small_node(place - side.low, small_levels(side.high - side.low))] = number;
            } else if (side.items > 0 && place == side.high - 1) {
                sh.last[part] = number;
            }
        }
        __syncthreads();
        small_look_up<EACH, KK>(job, sh, others, from, other);
        __syncthreads();
        rank += small_before(sh, own, low, place);
    }
    if (in_place) {
        cooperative_groups::this_grid().sync();
    }
    const int to = begin + rank;
    if (here && to < end) { /* false if segments overlap */
        if (part == 0) {
            ((K *)job.arrays[FROM_OUTPUT].keys)[to] = key;
            value = job.positions ? (uint32_t)(job.global_positions ? i : i - begin) : value;
        }
        uint32_t *values_out = (uint32_t *)job.arrays[FROM_OUTPUT].values + (int64_t)to * words + part;
        if (part < words) {
            values_out[0] = value;
        }
        if (part + share < words) {
            values_out[share] = more;
        }
    }
}

/* ---- the host's side ---- */

/* The logarithm of the number of threads that rank an item: the largest for which the items fit SMALL_BLOCKS blocks, or
 * one block per multiprocessor if there are fewer multiprocessors. */
static inline int small_log_share(int64_t n, const lsp_cuda_chip *chip) {
    int log = SMALL_LOG_MOST;
    while (log > SMALL_LOG_LEAST && n > (SMALL_NT >> log) * lsp_min(SMALL_BLOCKS, chip->sms)) {
        log--;
    }
    return log;
}
static inline int64_t small_blocks(int64_t n, const lsp_cuda_chip *chip) {
    return lsp_max(lsp_ceil_div(n, SMALL_NT >> small_log_share(n, chip)), 1);
}

/* Can one kernel sort it? Its blocks must be resident together, for the grid barrier. */
static inline bool small_fits(const lsp_segsort_args *args, const lsp_cuda_chip *chip) {
    return args->n <= SMALL_ITEMS && args->segments <= SMALL_SEGMENTS && small_blocks(args->n, chip) <= chip->sms;
}

template <typename KK> static lsp_status start_small(lsp_ctx *ctx, const seg_job *job) {
    const lsp_cuda_chip *chip = lsp_cuda_get_chip(ctx);
    const seg_arrays *from = &job->arrays[FROM_INPUT], *to = &job->arrays[FROM_OUTPUT];
    const bool in_place = from->keys == to->keys || (job->value_bytes > 0 && from->values == to->values);
    const int log_share = small_log_share(job->n, chip);
    const int64_t blocks = small_blocks(job->n, chip);
    void (*small_kernel)(seg_job, int, bool) = job->n > SMALL_MANY ? kernel_small<4, KK> : kernel_small<2, KK>;
    return LSP_LAUNCH_TOGETHER(ctx, in_place, small_kernel, blocks, SMALL_NT, 0, *job, log_share, in_place);
}
