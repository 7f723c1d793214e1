/* Splits giants, segments too long for the class kernels, by their leading digits. One cooperative kernel fills the GPU
 * and goes round by round until all buckets are short enough for the lists. A round has three steps, with a grid
 * barrier after each. Count: each block counts the digits of its share of neighbouring tiles, and writes for each tile
 * the counts before it. Sum: the counts of giants that several blocks share (two at most for a block) are summed over
 * the blocks. Move: blocks take tiles in order, so the places that they write at one time are near each other.
 *
 * Neighbouring short buckets share one entry. Leading bits in which no two keys of a giant differ are skipped. */
#ifndef LSP_SEGSORT_GPU_KERNEL_GIANTS_CUH
#define LSP_SEGSORT_GPU_KERNEL_GIANTS_CUH

#include "core/launch.cuh"
#include "giant_shares.cuh"

typedef struct giants_shared {
    giant_share share;
    int64_t sums[SPLIT_WARPS][WARP];
    split_shared split; /* the last member: counters and items follow it */
} giants_shared;

/* ---- counts in global memory ---- */

/* For the round's giant number `which`: the digit counts before a tile in its part, and the totals of the giant. */
__device__ inline uint32_t *row_of(const seg_job &job, int64_t which, int64_t tile) {
    return job.rows + (tile + 2 * which) * SPLIT_DIGITS;
}
__device__ inline int64_t *totals_of(const seg_job &job, int64_t which, int64_t end) {
    return (int64_t *)row_of(job, which, end);
}

/* A part is the tiles of a giant in one block's share, if other blocks have the rest. A block has two at most: of the
 * giant that began before its share, and of the one that begins in it and goes on. */
__device__ inline int64_t part_of(int64_t block, bool begins_there) { return 2 * block + begins_there; }
__device__ inline int64_t *counts_of(const seg_job &job, int64_t part) { return job.counts + part * SPLIT_DIGITS; }
/* From the counts of the giant's first part to those of its part number `part`. */
__device__ inline int64_t *part_after(int64_t *counts, int64_t part) {
    return counts + max(2 * part - 1, (int64_t)0) * SPLIT_DIGITS;
}

/* ---- counting ---- */

/* Tiles first .. end-1 of the round belong to the giant. */
typedef struct giant_place {
    int64_t first, end;
    bool begins, whole; /* its first tile, or all its tiles, are in this block's share */
} giant_place;

__device__ inline giant_place place_of(const giant_share &share, const seg_giant *giant) {
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
    tile.before = row_of(job, which, t);
    job.tiles[t] = tile;
}

/* Counts the digits of this block's tiles of a giant, and finds the bits in which its numbers differ from the first
 * one. There are two tables of counters: one counts a tile while the other, of the tile before, is read. */
template <typename KK, int V>
__device__ inline void count_part(const seg_job &job, giants_shared &sh, seg_giant *giants, int64_t which) {
    typedef typename KK::K K;
    enum { VT = split_items(sizeof(K), V) };
    seg_split g = giant_load(job, giants + which);
    const giant_place place = place_of(sh.share, giants + which);
    choose_digit(job, &g);
    const seg_digit at_digit = digit_at(job, g);
    const K *keys = (const K *)job.arrays[g.from].keys, head = KK::number(keys[g.begin], job.order);
    const int64_t from = max(place.first, sh.share.begin), to = min(place.end, sh.share.end);
    const int64_t part = part_of(blockIdx.x, place.begins);
    const unsigned d = threadIdx.x;
    unsigned *counter = counters_of(sh.split), sum = 0;
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
    load(from);
    if (d <= at_digit.mask) {
        counter[d] = counter[SPLIT_DIGITS + d] = 0;
    }
    if (d == 0) {
        sh.split.diff = 0;
    }
    __syncthreads();
    for (int64_t tile = from; tile < to; tile++) {
        unsigned *table = counter + (tile & 1) * SPLIT_DIGITS;
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
        if (d <= at_digit.mask) {
            __stcg(row_of(job, which, tile) + d, (uint32_t)sum);
            sum += table[d];
            table[d] = 0;
        }
        if (d == 0) {
            describe_tile(job, g, place, which, part, giants + which, tile);
        }
    }
    const unsigned upper = __reduce_or_sync(~0u, (unsigned)((unsigned long long)diff >> 32));
    const unsigned lower = __reduce_or_sync(~0u, (unsigned)diff);
    if (d % WARP == 0 && (upper | lower) != 0) {
        atomicOr(&sh.split.diff, (unsigned long long)upper << 32 | lower);
    }
    if (d <= at_digit.mask) {
        __stcg((place.whole ? totals_of(job, which, place.end) : counts_of(job, part)) + d, (int64_t)sum);
    }
    __syncthreads();
    if (d == 0 && sh.split.diff != 0) {
        atomicOr(&giants[which].diff, sh.split.diff);
    }
}

/* Replaces each part's counts by their exclusive prefix sums over the parts, and writes the totals. The blocks of the
 * giant share the digits, 32 at a time; the warps of a block share the parts. */
__device__ inline void sum_parts(const seg_job &job, giants_shared &sh, const seg_giant *giants, int64_t which) {
    enum { ahead = 8 };
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    seg_split g = giant_load(job, giants + which);
    const giant_place place = place_of(sh.share, giants + which);
    if (place.whole) {
        return;
    }
    choose_digit(job, &g);
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
            sum += mine ? __ldcg(part_after(counts, part)) : 0;
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
                items[k] = part + k < to ? __ldcg(part_after(counts, part + k)) : 0;
            }
#pragma unroll
            for (int k = 0; k < ahead; k++) {
                if (part + k < to) {
                    __stcg(part_after(counts, part + k), before);
                }
                before += items[k];
            }
        }
        __syncthreads();
    }
}

/* ---- from counts to buckets ---- */

/* Should the giant be counted again, by a digit that begins at the highest bit in which numbers differ? */
__device__ inline bool lower_high(seg_split *g, unsigned long long diff) {
    const int high = 64 - __clzll((long long)diff);
    const bool again = diff != 0 && g->shift > g->low && g->high - high >= GIANT_RECOUNT;
    g->high = again ? high : g->high;
    return again;
}

/* Chooses the arrays that items move to: the output if all are equal or if it is free, else the temporary ones. */
__device__ inline int choose_target(const seg_job &job, const seg_split &g, unsigned long long diff) {
    const seg_arrays *in = &job.arrays[FROM_INPUT], *out = &job.arrays[FROM_OUTPUT];
    const bool in_place = in->keys == out->keys || (!job.positions && in->values && in->values == out->values);
    const bool away = g.from == FROM_OUTPUT || (g.from == FROM_INPUT && in_place);
    return diff != 0 && away ? FROM_TEMPORARY : FROM_OUTPUT;
}

/* Merges neighbouring buckets of up to GIANT_MERGED items together; cut[] becomes where entries begin. By one thread.
 */
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

/* Lists the buckets, unless they are in the output already and need no more sorting. */
__device__ inline void list_buckets(const seg_job &job, split_shared &sh, const seg_split &g, int round) {
    const int k = (int)threadIdx.x;
    if (g.to == FROM_OUTPUT && (sh.diff == 0 || g.shift <= g.low)) {
        return;
    }
    if (k == 0) {
        sh.groups = merge_buckets(sh, g);
    }
    __syncthreads();
    const bool here = k < sh.groups;
    const int64_t begin = here ? sh.cut[k] : 0, length = here ? sh.cut[k + 1] - begin : 0;
    if (length > LIST_LONGEST) {
        giant_list(job, round + 1, begin, begin + length, g.shift, g.to);
    }
    list_together(job, begin, g.to, length <= LIST_LONGEST ? (int)length : 0);
}

/* ---- moving ---- */

/* Decides what happens to a tile; the same for all tiles of a giant. By one thread. */
__device__ inline void decide(const seg_job &job, split_shared &sh, split_tile *tile, unsigned long long diff,
                              int round) {
    seg_split g = tile->split;
    tile->again = lower_high(&g, diff);
    tile->split.to = choose_target(job, g, diff);
    if (tile->again && tile->first) {
        giant_list(job, round + 1, g.begin, g.end, g.high, g.from);
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
        unsigned long long diff = 0;
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
        if (tile.count == SPLIT_NT * VT) {
            move_tile<KK, V, true>(job, sh, tile, next, key, meanwhile);
        } else {
            move_tile<KK, V, false>(job, sh, tile, next, key, meanwhile);
        }
        if (tile.first && !tile.again && tile.split.to != tile.split.from) {
            list_buckets(job, sh, tile.split, round);
        }
    }
}

/* ---- the kernel ---- */

/* A grid barrier in two halves: await returns when all blocks have arrived `phase` times; what they wrote before they
 * arrived can then be read. */
__device__ inline void giants_arrive(const seg_job &job) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&job.counters->barrier, 1ull);
    }
}
__device__ inline void giants_await(const seg_job &job, unsigned long long phase) {
    if (threadIdx.x == 0) {
        while (*(volatile unsigned long long *)&job.counters->barrier < phase * gridDim.x) {
            __nanosleep(40);
        }
        __threadfence();
    }
    __syncthreads();
}

template <typename KK, int V>
__global__ void __launch_bounds__(SPLIT_NT, SPLIT_BLOCKS) kernel_giants(const __grid_constant__ seg_job job) {
    LSP_DYNAMIC_SHARED(giants_memory);
    giants_shared &sh = *(giants_shared *)giants_memory;
    for (int round = 0;; round++) {
        const unsigned long long listed = __ldcg(&job.counters->giants[round & 1]);
        seg_giant *giants = job.giants[round & 1];
        if (listed == 0) {
            return;
        }
        if (threadIdx.x < WARP) {
            const giant_share share = share_out(giants, listed);
            if (threadIdx.x == 0) {
                sh.share = share;
            }
        }
        __syncthreads();
        const giant_share &share = sh.share;
        for (int64_t which = share.first; which <= share.last; which++) {
            count_part<KK, V>(job, sh, giants, which);
        }
        giants_arrive(job);
        giants_await(job, 3ull * round + 1);
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            job.counters->giants[round & 1] = 0; /* all blocks have read it */
            job.counters->moved[~round & 1] = 0; /* all blocks have finished the round before */
        }
        if (share.first <= share.last) {
            sum_parts(job, sh, giants, share.first);
            if (share.first < share.last) {
                sum_parts(job, sh, giants, share.last);
            }
        }
        giants_arrive(job);
        giants_await(job, 3ull * round + 2);
        move_tiles<KK, V>(job, sh.split, share.tiles, round);
        giants_arrive(job);
        giants_await(job, 3ull * round + 3);
    }
}

/* ---- the host's side ---- */

template <typename KK, int V> static lsp_status start_giants_of(lsp_ctx *ctx, const seg_job *job) {
    lsp_status status = LSP_OK;
    const size_t shared = sizeof(giants_shared) + split_bytes(sizeof(typename KK::K), V);
    void (*kernel)(seg_job) = kernel_giants<KK, V>;
    const lsp_cuda_chip *chip = lsp_cuda_get_chip(ctx);
    const int64_t fit = chip->shared_sm_bytes / (int64_t)(shared + 2048); /* 2048: static and reserved memory */
    const int64_t resident = lsp_min(fit, SPLIT_BLOCKS);
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    LSP_TRY(lsp_allow_shared(ctx, kernel, shared));
    LSP_REQUIRE(resident > 0, LSP_ERR_DEVICE,
                "a block of %d threads with %zu bytes of shared memory does not fit the GPU", (int)SPLIT_NT, shared);
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    config.gridDim = dim3((unsigned)lsp_min(resident * chip->sms, giants_blocks(job->n, job->giant_tile)));
    config.blockDim = dim3(SPLIT_NT);
    config.dynamicSmemBytes = shared;
    config.stream = (cudaStream_t)lsp_cuda_stream(ctx);
    config.attrs = &attribute;
    config.numAttrs = 1;
    LSP_TRY(LSP_CUDA_CALL(ctx, cudaLaunchKernelEx(&config, kernel, *job)));
done:
    return status;
}

template <typename KK> static lsp_status start_giants(lsp_ctx *ctx, const seg_job *job) {
    switch (job->value_bytes) {
    case 0:
        return start_giants_of<KK, 0>(ctx, job);
    case 4:
        return start_giants_of<KK, 4>(ctx, job);
    case 8:
        return start_giants_of<KK, 8>(ctx, job);
    default:
        return start_giants_of<KK, 16>(ctx, job);
    }
}

#endif
