/* The list of giants, and how the blocks share their work: giants are laid end to end in units, each block takes as
 * many neighbouring units as the others. */
#ifndef LSP_SEGSORT_SHARES_CUH
#define LSP_SEGSORT_SHARES_CUH

#include "segsort_partition.cuh"

/* Tuned on an H200; see segsort/README.md. */
enum {
    GIANT_UNIT = 2048,     /* items: shares of the work are whole units */
    GIANT_BUCKET = 1024,   /* items that a bucket has on average at most, in the end */
    GIANT_WIDTH = 4,       /* bits that the shortest giant is split by, if as many are left */
    GIANT_MERGED = 1024,   /* items: shorter buckets share an entry */
    GIANT_RECOUNT = 3,     /* leading bits that do not differ: then digits are chosen again */
    GIANT_BLOCKS = 1024,   /* at most */
    GIANT_COUNT_BITS = 28, /* of seg_counters.giants */
    GIANT_ROW = 16         /* items a thread has on their way when it counts */
};

static_assert(LIST_LONGEST / GIANT_BUCKET >= 1 << (GIANT_WIDTH - 1), "giants are split by GIANT_WIDTH bits or more");

__host__ __device__ inline int64_t giant_units(int64_t length) { return (length + GIANT_UNIT - 1) / GIANT_UNIT; }

/* ---- the list of giants ---- */

__device__ inline void giant_list(const seg_job &job, int round, int64_t begin, int64_t end, int high, int from) {
    const unsigned long long units = (unsigned long long)giant_units(end - begin);
    const unsigned long long before = atomicAdd(&job.counters->giants[round & 1], units << GIANT_COUNT_BITS | 1);
    seg_giant giant = {begin, end, (int64_t)(before >> GIANT_COUNT_BITS), 0, high, from};
    job.giants[round & 1][before & ((1ull << GIANT_COUNT_BITS) - 1)] = giant;
}

/* A segment longer than LIST_LONGEST, as it came. */
__device__ inline void giant_add(const seg_job &job, int64_t begin, int64_t end) {
    giant_list(job, 0, begin, end, 64 - __clzll((long long)job.order.keep), FROM_INPUT);
}

/* Others have written it since the kernel began. */
__device__ inline seg_split giant_load(const seg_job &job, const seg_giant *giant) {
    seg_split g;
    g.begin = __ldcg(&giant->begin);
    g.end = __ldcg(&giant->end);
    g.high = __ldcg(&giant->high);
    g.from = __ldcg(&giant->from);
    g.to = g.from;
    g.low = max(__ffsll((long long)job.order.keep) - 1, 0);
    return g;
}

/* The digit to split by: as few rounds as the length asks for, and as many bits in each. */
__device__ inline void choose_digit(seg_split *g) {
    const int wanted = 64 - __clzll((long long)((g->end - g->begin - 1) / GIANT_BUCKET));
    const int rounds = max((wanted + SPLIT_BITS - 1) / SPLIT_BITS, 1);
    g->width = min((wanted + rounds - 1) / rounds, g->high - g->low);
    g->shift = g->high - g->width;
}

/* ---- sharing the work ---- */

/* What a block does in a round: parts of giants that others work on too (-1: none), and whole giants. */
typedef struct giant_share {
    int64_t units, begin, end; /* of all blocks; of this one */
    int64_t part[2];
    int64_t whole, wholes;
} giant_share;

/* The last of `count` entries that begins at or before the unit, by all lanes of a warp. */
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

__device__ inline int64_t share_begin(int64_t units, int64_t block, int64_t blocks) {
    return units / blocks * block + min(block, units % blocks);
}
__device__ inline int64_t share_of(int64_t units, int64_t unit, int64_t blocks) {
    const int64_t each = units / blocks, more = units % blocks; /* the first `more` blocks have one more */
    return unit < more * (each + 1) ? unit / (each + 1) : more + (unit - more * (each + 1)) / each;
}

__device__ inline void share_out(const seg_giant *giants, unsigned long long listed, giant_share *share) {
    const int64_t units = (int64_t)(listed >> GIANT_COUNT_BITS);
    const int64_t count = (int64_t)(listed & ((1ull << GIANT_COUNT_BITS) - 1));
    giant_share s = {units, 0, 0, {-1, -1}, 0, 0};
    s.begin = share_begin(units, blockIdx.x, gridDim.x);
    s.end = share_begin(units, (int64_t)blockIdx.x + 1, gridDim.x);
    if (s.begin < s.end) {
        const int64_t first = begun_by(giants, count, s.begin), last = begun_by(giants, count, s.end - 1);
        const int64_t after = last + 1 < count ? __ldcg(&giants[last + 1].unit) : units;
        const bool begun = __ldcg(&giants[first].unit)<s.begin, tail = after> s.end && first < last;
        const bool head = begun || (after > s.end && first == last);
        s.part[0] = head ? first : -1;
        s.part[1] = tail ? last : -1;
        s.whole = first + head;
        s.wholes = last - tail - s.whole + 1;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        *share = s;
    }
    __syncthreads();
}

/* ---- the host's side ---- */

/* Giants of a round at most. */
static int64_t giants_most(const lsp_segsort_args *args) { return args->n / (LIST_LONGEST + 1) + 1; }

static int64_t giants_blocks(int64_t n) { return lsp_min(GIANT_BLOCKS, n / GIANT_UNIT + n / (LIST_LONGEST + 1) + 1); }

/* How many counts the kernel needs room for. */
static int64_t giants_counts(const lsp_segsort_args *args) { return giants_blocks(args->n) * 3 * SPLIT_DIGITS; }

/* Buckets that share a list with the shortest at most. Of two neighbouring entries one alone may be short, unless a
 * giant comes between; there are giants in every round, and each takes GIANT_WIDTH bits or more. */
static int64_t giants_short_entries(const lsp_segsort_args *args) {
    const int64_t rounds = lsp_ceil_div((int64_t)lsp_type_bytes(args->key_type) * 8, GIANT_WIDTH);
    return lsp_min(args->n, args->n / GIANT_MERGED * 2 + 2 + 2 * rounds * giants_most(args));
}

#endif
