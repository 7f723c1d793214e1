/* The first two steps of a round over the giants. Count: a block counts the digits of its share of tiles, and writes
 * for each tile the counts before it. Sum: counts of giants that several blocks share are summed over the blocks. */
#pragma once

#include "giant_shares.cuh"

typedef struct giants_shared {
    giant_share share;
    int64_t sums[SPLIT_WARPS][WARP];
    split_shared split; /* the last member: counters and items follow it */
} giants_shared;

/* ---- counts in global memory ---- */

/* For the round's giant number `which`: the digit counts before a tile in its part, and the totals of the giant. */
__device__ inline uint32_t *digits_row(const seg_job &job, int64_t which, int64_t tile) {
    return job.rows + ((tile + 2 * which) << job.row_bits);
}
__device__ inline int64_t *totals_of(const seg_job &job, int64_t which, int64_t end) {
    return (int64_t *)digits_row(job, which, end);
}

/* A part is the tiles of a giant in one block's share, if other blocks have the rest. A block has two at most: of the
 * giant that began before its share, and of the one that begins in it and goes on. */
__device__ inline int64_t part_of(int64_t block, bool begins_there) { return 2 * block + begins_there; }
__device__ inline int64_t *counts_of(const seg_job &job, int64_t part) { return job.counts + (part << job.row_bits); }
/* From the counts of the giant's first part to those of its part number `part`. */
__device__ inline int64_t *part_after(const seg_job &job, int64_t *counts, int64_t part) {
    return counts + (max(2 * part - 1, (int64_t)0) << job.row_bits);
}

/* ---- counting ---- */

/* Tiles first .. end-1 of the round belong to the giant. */
typedef struct giant_place {
    int64_t first, end;
    bool begins, whole; /* its first tile, or all its tiles, are in this block's share */
} giant_place;

__device__ inline giant_place place_of_giant(const giant_share &share, const seg_giant *giant) {
    giant_place place = {__ldcg(&giant->unit), __ldcg(&giant->tiles), false, false};
    place.end += place.first;
    place.begins = place.first >= share.begin;
    place.whole = place.begins && place.end <= share.end;
    return place;
}

/* Writes tile t for the block that moves it. By one thread. */
__device__ inline void describe_tile(const seg_job &job, const seg_split &g, const giant_place &place, int64_t which,
                                     int64_t part, const seg_giant *giant, int64_t t) {
    split_tile tile;
    tile.split = g;
    tile.begin = g.begin + (t - place.first) * job.giant_tile;
    tile.count = (int)min(g.end - tile.begin, (int64_t)job.giant_tile);
    tile.first = t == place.first;
    tile.again = false;
    tile.giant = giant;
    tile.totals = totals_of(job, which, place.end);
    tile.parts = place.whole ? NULL : counts_of(job, part);
    tile.before = digits_row(job, which, t);
    job.tiles[t] = tile;
}

/* Counts the digits of this block's tiles of a giant, and finds the bits in which its numbers differ from the first
 * one. There are two tables of counters: one counts a tile while the other, of the tile before, is read. */
template <typename KK, int V>
__device__ inline void count_tiles(const seg_job &job, giants_shared &sh, seg_giant *giants, int64_t which,
                                   const seg_split &g) {
    typedef typename KK::K K;
    enum {
        VT = split_items(sizeof(K), V),
        DIGITS = split_most_digits(sizeof(K), V),
        EACH = (DIGITS + SPLIT_NT - 1) / SPLIT_NT
    };
    const giant_place place = place_of_giant(sh.share, giants + which);
    const seg_digit at_digit = digit_at(job, g);
    const K *keys = (const K *)job.arrays[g.from].keys, head = KK::number(keys[g.begin], job.order);
    const int64_t from = max(place.first, sh.share.begin), to = min(place.end, sh.share.end);
    const int64_t part = part_of(blockIdx.x, place.begins);
    const unsigned d = threadIdx.x;
    unsigned *counter = (unsigned *)counters_of(sh.split), sum[EACH] = {};
    K key[VT], diff = 0;
    int left = 0;
    auto load = [&](int64_t tile) {
        const int64_t begin = g.begin + (tile - place.first) * job.giant_tile;
        left = (int)min(g.end - begin, (int64_t)job.giant_tile) - (int)threadIdx.x;
#pragma unroll
        for (int j = 0; j < VT; j++) {
            if (j * SPLIT_NT < left) {
                key[j] = keys[begin + threadIdx.x + j * SPLIT_NT];
            }
        }
    };
    const auto each_digit = [&](auto use) {
        unsigned x = d; /* a digit of this thread */
#pragma unroll
        for (unsigned k = 0; k < EACH; k++, x += SPLIT_NT) {
            if (x <= at_digit.mask) {
                use(x, sum[k]);
            }
        }
    };
    load(from);
    each_digit([&](unsigned x, unsigned &) { counter[x] = counter[DIGITS + x] = 0; });
    if (d == 0) {
        sh.split.diff = 0;
    }
    __syncthreads();
    for (int64_t tile = from; tile < to; tile++) {
        unsigned *table = counter + (tile & 1) * DIGITS;
#pragma unroll
        for (int j = 0; j < VT; j++) {
            if (j * SPLIT_NT < left) {
                diff |= KK::number(key[j], job.order) ^ head;
                atomicAdd(&table[digit_of<KK>(job, at_digit, key[j])], 1u);
            }
        }
        if (tile + 1 < to) {
            load(tile + 1);
        }
        __syncthreads();
        each_digit([&](unsigned x, unsigned &before) {
            __stcg(digits_row(job, which, tile) + x, (uint32_t)before);
            before += table[x];
            table[x] = 0;
        });
        if (d == 0) {
            describe_tile(job, g, place, which, part, giants + which, tile);
        }
    }
    const unsigned upper = __reduce_or_sync(~0u, (unsigned)((ull)diff >> 32));
    const unsigned lower = __reduce_or_sync(~0u, (unsigned)diff);
    if (d % WARP == 0 && (upper | lower) != 0) {
        atomicOr(&sh.split.diff, (ull)upper << 32 | lower);
    }
    int64_t *const totals = place.whole ? totals_of(job, which, place.end) : counts_of(job, part);
    each_digit([&](unsigned x, unsigned &all) { __stcg(totals + x, (int64_t)all); });
    __syncthreads();
    if (d == 0 && sh.split.diff != 0) {
        atomicOr(&giants[which].diff, sh.split.diff);
    }
}

template <typename KK, int V>
__device__ inline void count_giant_part(const seg_job &job, giants_shared &sh, seg_giant *giants, int64_t which) {
    seg_split g = giant_load(job, giants + which);
    choose_digit<KK>(job, &g);
    if (pivot_kind<KK>::by_pivot && g.by_pivot) {
        count_tiles<pivot_kind<KK>, V>(job, sh, giants, which, g);
    } else {
        count_tiles<KK, V>(job, sh, giants, which, g);
    }
}

/* Replaces each part's counts by their exclusive prefix sums over the parts, and writes the totals. The blocks of the
 * giant share the digits, 32 at a time; the warps of a block share the parts. */
template <typename KK>
__device__ inline void sum_parts(const seg_job &job, giants_shared &sh, const seg_giant *giants, int64_t which) {
    enum { ahead = 8 };
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    seg_split g = giant_load(job, giants + which);
    const giant_place place = place_of_giant(sh.share, giants + which);
    if (place.whole) {
        return;
    }
    choose_digit<KK>(job, &g);
    const int64_t first_block = share_of(sh.share.tiles, place.first, gridDim.x);
    const int64_t parts = share_of(sh.share.tiles, place.end - 1, gridDim.x) - first_block + 1;
    const int64_t from = parts * warp / SPLIT_WARPS, to = parts * (warp + 1) / SPLIT_WARPS;
    const unsigned digits = 1u << g.width;
    for (int64_t d = (blockIdx.x - first_block) * WARP; d < digits; d += parts * WARP) {
        const bool mine = d + lane < digits;
        int64_t *counts = counts_of(job, part_of(first_block, true)) + d + lane;
        int64_t sum = 0, before = 0;
#pragma unroll 8
        for (int64_t part = from; part < to; part++) {
            sum += mine ? __ldcg(part_after(job, counts, part)) : 0;
        }
        sh.sums[warp][lane] = sum;
        __syncthreads();
        for (unsigned w = 0; w < warp; w++) {
            before += sh.sums[w][lane];
        }
        if (warp == SPLIT_WARPS - 1 && mine) {
            __stcg(totals_of(job, which, place.end) + d + lane, before + sum);
        }
        for (int64_t part = from; mine && part < to; part += ahead) {
            int64_t items[ahead];
#pragma unroll
            for (int k = 0; k < ahead; k++) {
                items[k] = part + k < to ? __ldcg(part_after(job, counts, part + k)) : 0;
            }
#pragma unroll
            for (int k = 0; k < ahead; k++) {
                if (part + k < to) {
                    __stcg(part_after(job, counts, part + k), before);
                }
                before += items[k];
            }
        }
        __syncthreads();
    }
}
