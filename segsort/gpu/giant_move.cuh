/* The last step of a round over the giants: blocks take tiles in order and move their items to the buckets of their
 * digits. The block with a giant's first tile lists the buckets for the class kernels or the next round. */
#pragma once

#include "giant_shares.cuh"

/* ---- from counts to buckets ---- */

/* Should the giant be counted again, by a digit that begins at the highest bit in which numbers differ? */
__device__ inline bool lower_high(seg_split *g, ull diff) {
    const int high = 64 - __clzll((long long)diff);
    const bool again = !g->by_pivot && diff != 0 && g->shift > g->low && g->high - high >= GIANT_RECOUNT;
    g->high = again ? high : g->high;
    return again;
}

/* Chooses the arrays that items move to: the output if all are equal or if it is free, else the temporary ones. */
__device__ inline int choose_target(const seg_job &job, const seg_split &g, ull diff) {
    const seg_arrays *in = &job.arrays[FROM_INPUT], *out = &job.arrays[FROM_OUTPUT];
    const bool in_place = in->keys == out->keys || (!job.positions && in->values && in->values == out->values);
    const bool away = g.from == FROM_OUTPUT || (g.from == FROM_INPUT && in_place);
    return diff != 0 && away ? FROM_TEMPORARY : FROM_OUTPUT;
}

/* Merges neighbouring buckets of up to GIANT_MERGED items together; cut[]: where entries begin. By one thread. */
__device__ inline int merge_buckets(split_shared &sh, const seg_split &g) {
    enum { ahead = 8 }; /* digits read before any is written: their loads overlap */
    const int digits = 1 << g.width;
    int groups = 0;
    int64_t open = g.begin, next = open;
    for (int d = 0; d < digits; d += ahead) {
        int64_t end[ahead];
#pragma unroll
        for (int k = 0; k < ahead; k++) {
            end[k] = sh.cut[min(d + k + 1, digits)];
        }
#pragma unroll
        for (int k = 0; k < ahead; k++) {
            const int64_t begin = next;
            next = d + k < digits ? end[k] : next;
            if (next - open > GIANT_MERGED && begin > open) {
                sh.cut[groups++] = open;
                open = begin;
            }
        }
    }
    if (open < g.end) { /* false if only empty buckets follow a long one */
        sh.cut[groups++] = open;
    }
    sh.cut[groups] = g.end;
    return groups;
}

/* Lists the buckets, unless they are in the output already and need no more sorting, or none of their items is wanted
 * in order. */
__device__ inline void list_buckets(const seg_job &job, split_shared &sh, const seg_split &g, int64_t wanted,
                                    int round) {
    if (g.to == FROM_OUTPUT && (sh.diff == 0 || g.shift <= g.low)) {
        return;
    }
    const int64_t equal = sh.cut[1], equal_end = sh.cut[2]; /* the items that have the pivot */
    const int digits = 1 << g.width;
    bool long_ones = true;
    for (int k = (int)threadIdx.x; k < digits; k += SPLIT_NT) {
        long_ones = long_ones && sh.cut[k + 1] - sh.cut[k] > GIANT_MERGED;
    }
    long_ones = __syncthreads_and(long_ones) != 0;
    if (threadIdx.x == 0) {
        sh.groups = long_ones ? digits : merge_buckets(sh, g);
    }
    __syncthreads();
    for (int first = 0; first < sh.groups; first += SPLIT_NT) {
        const int k = first + (int)threadIdx.x;
        const bool done = g.by_pivot && k < sh.groups && sh.cut[k] >= equal && sh.cut[k + 1] <= equal_end;
        const bool here = k < sh.groups && (g.to != FROM_OUTPUT || (sh.cut[k] < wanted && !done));
        const int64_t begin = here ? sh.cut[k] : 0, length = here ? sh.cut[k + 1] - begin : 0;
        if (length > LIST_LONGEST) {
            giant_list(job, round + 1, begin, begin + length, wanted, g.by_pivot ? g.high : g.shift, g.to, g.by_pivot);
        }
        list_together(job, begin, g.to, length <= LIST_LONGEST ? (int)length : 0);
    }
}

/* ---- moving ---- */

/* Decides what happens to a tile; the same for all tiles of a giant. By one thread. */
__device__ inline void decide(const seg_job &job, split_shared &sh, split_tile *tile, ull diff, int round) {
    seg_split g = tile->split;
    tile->again = lower_high(&g, diff);
    tile->split.to = choose_target(job, g, diff);
    if (tile->again && tile->first) {
        giant_list(job, round + 1, g.begin, g.end, __ldcg(&tile->giant->wanted), g.high, g.from, g.pivoted);
    }
    sh.diff = diff;
}

/* Takes and moves tiles until none is left. The last warp, the finder, takes a tile's number two tiles ahead and reads
 * the tile one ahead, because each answer takes long. */
template <typename KK, int V>
__device__ inline void move_tiles(const seg_job &job, split_shared &sh, int64_t tiles, int round) {
    enum { VT = split_items(sizeof(typename KK::K), V), words = sizeof(split_tile) / sizeof(unsigned) };
    static_assert(sizeof(split_tile) % sizeof(unsigned) == 0 && sizeof(split_tile) <= 4 * WARP, "each lane has a word");
    const unsigned lane = threadIdx.x % WARP;
    const bool finder = threadIdx.x / WARP == SPLIT_WARPS - 1;
    typename KK::K key[VT];
    int64_t taken = 0;
    unsigned word = 0;
    auto take = [&]() {
        if (finder && lane == 0) {
            taken = (int64_t)atomicAdd(&job.counters->moved[round & 1], 1ull);
        }
    };
    auto read = [&]() {
        if (finder) {
            const int64_t t = __shfl_sync(~0u, taken, 0);
            word = 0;
            if (t < tiles && lane < words) {
                word = __ldcg((const unsigned *)(job.tiles + t) + lane);
            }
        }
    };
    auto put = [&](split_tile *to) {
        if (finder && lane < words) {
            ((unsigned *)to)[lane] = word;
        }
    };
    take();
    read();
    put(&sh.tile[0]);
    take();
    __syncthreads();
    get_keys(job, sh.tile[0], key);
    for (int at = 0; sh.tile[at].count > 0; at ^= 1) {
        split_tile &tile = sh.tile[at], &next = sh.tile[at ^ 1];
        ull diff = 0;
        read();
        take();
        if (finder && lane == 0) {
            diff = __ldcg(&tile.giant->diff);
        }
        auto meanwhile = [&]() {
            put(&next);
            if (finder && lane == 0) {
                decide(job, sh, &tile, diff, round);
            }
        };
        if (pivot_kind<KK>::by_pivot && tile.split.by_pivot) {
            move_tile<pivot_kind<KK>, V, false>(job, sh, tile, next, key, meanwhile);
        } else if (tile.count == SPLIT_NT * VT) {
            move_tile<KK, V, true>(job, sh, tile, next, key, meanwhile);
        } else {
            move_tile<KK, V, false>(job, sh, tile, next, key, meanwhile);
        }
        if (tile.first && !tile.again && tile.split.to != tile.split.from) {
            list_buckets(job, sh, tile.split, __ldcg(&tile.giant->wanted), round);
        }
    }
}
