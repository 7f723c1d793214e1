/* The list of giants, and how the blocks share their work. Giants consist of tiles, which are numbered through all
 * giants of a round; each block counts an equal share of neighbouring tiles. */
#pragma once

#include "partition.cuh"

/* Tuned on an H200. */
enum {
    GIANT_WIDTH = LSP_SPLIT_LEAST, /* least bits of a digit, unless fewer are left */
    GIANT_MERGED = 1024,           /* items: neighbouring buckets share an entry up to this length */
    GIANT_RECOUNT = 3,             /* from this many equal leading bits on, another digit is chosen and counted */
    GIANT_BLOCKS = 1024,           /* most blocks */
    GIANT_COUNT_BITS = 28,         /* bits of the number of giants in seg_counters.giants */
    GIANT_ROWS = 4,                /* items of a thread in the shortest tiles */
    GIANT_PIVOT = 12               /* of 32 samples that agree: their number becomes the pivot */
};

__host__ __device__ inline int64_t giant_tiles(int64_t length, int tile) { return (length + tile - 1) / tile; }

/* ---- the list of giants ---- */

/* Lists a giant for a round. Its items from `wanted` on need no order. Its numbers are equal from bit `high` on. */
__device__ inline void giant_list(const seg_job &job, int round, int64_t begin, int64_t end, int64_t wanted, int high,
                                  int from, bool pivoted) {
    const ull tiles = (ull)giant_tiles(end - begin, job.giant_tile);
    const ull before = atomicAdd(&job.counters->giants[round & 1], tiles << GIANT_COUNT_BITS | 1);
    seg_giant giant = {begin, end,  wanted, (int64_t)(before >> GIANT_COUNT_BITS), (int64_t)tiles, 0,
                       high,  from, pivoted};
    job.giants[round & 1][before & ((1ull << GIANT_COUNT_BITS) - 1)] = giant;
}

/* Lists a segment of the input as a giant of the first round. */
__device__ inline void giant_add(const seg_job &job, int64_t begin, int64_t end) {
    giant_list(job, 0, begin, end, begin + min(job.first, end - begin), 64 - __clzll((long long)job.order.keep),
               FROM_INPUT, false);
}

/* Reads a giant past the L1 cache: other blocks have written it since the kernel began. */
__device__ inline seg_split giant_load(const seg_job &job, const seg_giant *giant) {
    seg_split g;
    g.begin = __ldcg(&giant->begin);
    g.end = __ldcg(&giant->end);
    g.high = __ldcg(&giant->high);
    g.from = g.to = __ldcg(&giant->from);
    g.low = max(__ffsll((long long)job.order.keep) - 1, 0);
    g.by_pivot = false;
    g.pivoted = __ldcg((const unsigned char *)&giant->pivoted) != 0;
    g.pivot = 0;
    return g;
}

/* Finds a number that many items have, if keys are so long that digits would take many rounds to tell it from those
 * that differ from it in their last bits. By a whole warp. */
template <typename KK> __device__ inline void choose_pivot(const seg_job &job, seg_split *g) {
    typedef typename KK::K K;
    if (!pivot_kind<KK>::by_pivot || g->pivoted || g->high - g->low <= 2 * SPLIT_BITS) {
        return;
    }
    const int64_t lane = threadIdx.x % WARP, place = g->begin + (g->end - g->begin) / WARP * lane + lane;
    const ull number = KK::number(((const K *)job.arrays[g->from].keys)[place], job.order);
    const unsigned same = __match_any_sync(~0u, (unsigned)number) & __match_any_sync(~0u, (unsigned)(number >> 32));
    const unsigned most = __reduce_max_sync(~0u, (unsigned)__popc(same));
    const int first = __ffs((int)__ballot_sync(~0u, (unsigned)__popc(same) == most)) - 1;
    g->pivot = __shfl_sync(~0u, number, first);
    g->by_pivot = most >= GIANT_PIVOT;
}

/* Chooses the digit: buckets should have at most five eighths of LIST_LONGEST items, after as few rounds as possible,
 * with as few bits per round as that allows. By a whole warp. */
template <typename KK> __device__ inline void choose_digit(const seg_job &job, seg_split *g) {
    choose_pivot<KK>(job, g);
    const int bits = 64 - __clzll((long long)((g->end - g->begin - 1) / LSP_SPLIT_WANTED));
    const int rounds = (bits + job.split_bits - 1) / job.split_bits;
    g->width = g->by_pivot ? 2 : min(max((bits + rounds - 1) / rounds, (int)GIANT_WIDTH), g->high - g->low);
    g->shift = g->high - g->width;
}

static_assert((int)LSP_SPLIT_USUAL == (int)SPLIT_BITS && (int)LSP_SPLIT_WANTED == LIST_LONGEST / 8 * 5,
              "segsort.h tells these");

/* ---- sharing the work ---- */

/* A block counts the tiles begin .. end-1 out of `tiles` in the round; they belong to the giants first .. last. */
typedef struct giant_share {
    int64_t tiles, begin, end, first, last;
} giant_share;

/* The last of `count` entries with entry.unit <= unit: a search by all lanes of a warp, 32 entries per step. */
template <typename T> __device__ int64_t begun_by(const T *list, int64_t count, int64_t unit) {
    int64_t low = 0, high = count;
    while (high - low > 1) {
        const int64_t step = (high - low + WARP - 1) / WARP, i = low + threadIdx.x % WARP * step;
        const unsigned before = __ballot_sync(~0u, i < high && __ldcg(&list[min(i, high - 1)].unit) <= unit);
        low += (__popc(before) - 1) * step;
        high = min(high, low + step);
    }
    return low;
}

/* The first unit of a block's share; the block whose share has a unit. Shares differ by one unit at most. */
__device__ inline int64_t share_begin(int64_t units, int64_t block, int64_t blocks) {
    return units / blocks * block + min(block, units % blocks);
}
__device__ inline int64_t share_of(int64_t units, int64_t unit, int64_t blocks) {
    const int64_t each = units / blocks, more = units % blocks; /* the first `more` blocks have one unit more */
    return unit < more * (each + 1) ? unit / (each + 1) : more + (unit - more * (each + 1)) / each;
}

__device__ inline giant_share share_out(const seg_giant *giants, ull listed) {
    const int64_t count = (int64_t)(listed & ((1ull << GIANT_COUNT_BITS) - 1));
    giant_share s = {(int64_t)(listed >> GIANT_COUNT_BITS), 0, 0, 0, -1};
    s.begin = share_begin(s.tiles, blockIdx.x, gridDim.x);
    s.end = share_begin(s.tiles, (int64_t)blockIdx.x + 1, gridDim.x);
    if (s.begin < s.end) {
        s.first = begun_by(giants, count, s.begin);
        s.last = begun_by(giants, count, s.end - 1);
    }
    return s;
}

/* ---- the host's side ---- */

/* The most giants of a round. */
static int64_t giants_most(int64_t n) { return n / (LIST_LONGEST + 1) + 1; }

/* Items of a tile: as many as fit in registers, but fewer if blocks would have no tile. */
static int giants_tile(int64_t n, size_t key_bytes, size_t value_bytes, int sms) {
    const int64_t rows = n / ((int64_t)SPLIT_NT * SPLIT_BLOCKS * sms);
    return (int)lsp_max(lsp_min(rows, split_items((int)key_bytes, (int)value_bytes)), GIANT_ROWS) * SPLIT_NT;
}

/* The most tiles of a round; the most blocks. */
static int64_t giants_tiles(int64_t n, int tile) { return n / tile + giants_most(n); }
static int64_t giants_blocks(int64_t n, int tile) { return lsp_min(GIANT_BLOCKS, giants_tiles(n, tile)); }

/* The most short entries that buckets of giants can make. Two neighbouring entries have more than GIANT_MERGED
 * items together, unless a giant is between them; every round has giants, and takes GIANT_WIDTH bits or more, if it is
 * not by a pivot, after which the next one is. */
static int64_t giants_short_entries(const lsp_segsort_args *args) {
    const int64_t rounds = 2 * lsp_ceil_div((int64_t)lsp_type_bytes(args->key_type) * 8, GIANT_WIDTH);
    return lsp_min(args->n, args->n / GIANT_MERGED * 2 + 2 + 2 * rounds * giants_most(args->n));
}
