/* A stable partition by one digit. A block takes a tile and ranks its items: lanes of a warp that have the same digit
 * find each other by ballots, a counter for each warp and digit keeps count from row to row. Keys, then values, are
 * laid out by digit in shared memory and written as runs of neighbours. */
#ifndef LSP_SEGSORT_PARTITION_CUH
#define LSP_SEGSORT_PARTITION_CUH

#include "segsort_device.cuh"
#include "segsort_network.cuh"
#include <type_traits>

/* Tuned on an H200; see segsort/README.md. */
enum {
    SPLIT_BITS = 8,
    SPLIT_DIGITS = 1 << SPLIT_BITS,
    SPLIT_NT = 384,
    SPLIT_VT = 16,    /* a multiple of 4 */
    SPLIT_BLOCKS = 3, /* an SM; of keys or values of 8 bytes one fewer */
    SPLIT_WARPS = SPLIT_NT / WARP,
    SPLIT_TILE = SPLIT_NT * SPLIT_VT
};

/* Items begin .. end-1, to be split by the bits shift .. shift+width-1 of their numbers. Bits from `high` on are equal,
 * bits below `low` do not count. */
typedef struct seg_split {
    int64_t begin, end;
    int high, low, shift, width;
    int from, to; /* FROM_* */
} seg_split;

typedef struct split_shared {
    seg_split split;
    int64_t lo, hi;                /* this block's part of it */
    int64_t place[SPLIT_DIGITS];   /* of a digit's next item */
    int64_t base[SPLIT_DIGITS];    /* the same, less the digit's first place in the tile */
    int64_t cut[SPLIT_DIGITS + 1]; /* where buckets begin */
    int64_t sums[SPLIT_WARPS];
    unsigned long long diff;
    bool again;
    int groups;
} split_shared;

/* What follows in shared memory: counters, one a digit for each warp, and then room for the items of a tile; or
 * counters, one a digit for each lane. */
__device__ inline unsigned *counters_of(split_shared &sh) { return (unsigned *)(&sh + 1); }
__host__ __device__ inline size_t split_bytes(int item_bytes) {
    const size_t tile = SPLIT_WARPS * SPLIT_DIGITS * sizeof(unsigned) + (size_t)SPLIT_TILE * item_bytes;
    const size_t count = WARP * SPLIT_DIGITS * sizeof(unsigned);
    return tile > count ? tile : count;
}

/* Finds the digit of a key. */
typedef struct seg_digit {
    int shift;
    unsigned mask;
} seg_digit;
__device__ inline seg_digit digit_at(const seg_split &g) {
    seg_digit digit = {g.shift, (1u << g.width) - 1};
    return digit;
}
template <typename K> __device__ inline unsigned digit_of(const seg_job &job, seg_digit digit, K key) {
    return (unsigned)(number_of(key, job.order) >> digit.shift) & digit.mask;
}

/* The sum of x over the threads before this one. Before the next call somebody must wait for all. */
template <typename T> __device__ T split_scan(split_shared &sh, T x) {
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    T sum = x;
    for (unsigned d = 1; d < WARP; d *= 2) {
        T left = __shfl_up_sync(~0u, sum, d);
        sum += lane >= d ? left : 0;
    }
    if (lane == WARP - 1) {
        sh.sums[warp] = (int64_t)sum;
    }
    __syncthreads();
    T before = 0;
    for (unsigned w = 0; w < warp; w++) {
        before += (T)sh.sums[w];
    }
    return before + sum - x;
}

/* The lanes of the warp that have this digit too; only lanes that are `there` count. */
__device__ inline unsigned same_digit(unsigned digit, bool there) {
    unsigned same = __ballot_sync(~0u, there);
#pragma unroll
    for (unsigned b = 0; b < SPLIT_BITS; b++) {
        bool one = (digit >> b & 1) != 0;
        unsigned ones = __ballot_sync(~0u, one);
        same &= one ? ones : ~ones;
    }
    return same;
}

/* spot[j] = digit (high half) and rank among the warp's items of that digit (low half) of the warp's item j * 32 +
 * lane. */
template <typename K>
__device__ void rank_items(const seg_job &job, split_shared &sh, const K (&key)[SPLIT_VT], int left,
                           unsigned (&spot)[SPLIT_VT]) {
    unsigned *counter = counters_of(sh) + threadIdx.x / WARP * SPLIT_DIGITS;
    const unsigned below = (1u << threadIdx.x % WARP) - 1;
    const seg_digit at_digit = digit_at(sh.split);
#pragma unroll
    for (int j = 0; j < SPLIT_VT; j++) {
        const bool there = j * WARP < left;
        const unsigned digit = digit_of(job, at_digit, key[j]), same = same_digit(digit, there);
        const unsigned before = counter[digit], rank = (unsigned)__popc(same & below);
        __syncwarp();
        if (there && rank == 0) {
            counter[digit] = before + (unsigned)__popc(same);
        }
        __syncwarp();
        spot[j] = digit << 16 | (before + rank);
    }
}

/* Counts become places in the tile, and the tile's items are taken off the digits' room. */
__device__ inline void place_digits(split_shared &sh) {
    const unsigned d = threadIdx.x;
    unsigned *counter = counters_of(sh) + d, sum = 0;
    for (int w = 0; d < SPLIT_DIGITS && w < SPLIT_WARPS; w++) {
        sum += counter[w * SPLIT_DIGITS];
    }
    const unsigned first = split_scan(sh, sum);
    if (d < SPLIT_DIGITS) {
        unsigned next = first;
        for (int w = 0; w < SPLIT_WARPS; w++) {
            const unsigned items = counter[w * SPLIT_DIGITS];
            counter[w * SPLIT_DIGITS] = next;
            next += items;
        }
        sh.base[d] = sh.place[d] - first;
        sh.place[d] += sum;
    }
    __syncthreads();
}

/* Writes the laid out keys; the digits of the places tid, tid + NT, ... go to `digits`, four to a word. */
template <typename K>
__device__ void put_keys(const seg_job &job, const split_shared &sh, const K *items, int left,
                         unsigned (&digits)[SPLIT_VT / 4]) {
    K *to = (K *)job.arrays[sh.split.to].keys + threadIdx.x;
    const seg_digit at_digit = digit_at(sh.split);
#pragma unroll
    for (int j = 0; j < SPLIT_VT; j++) {
        digits[j / 4] = j % 4 ? digits[j / 4] : 0;
        if (j * SPLIT_NT < left) {
            const K key = items[j * SPLIT_NT];
            const unsigned digit = digit_of(job, at_digit, key);
            to[sh.base[digit] + j * SPLIT_NT] = key;
            digits[j / 4] |= digit << j % 4 * 8;
        }
    }
}

/* Values of the tile, as they came; or their positions. A value is `parts` T, of which one is read. */
template <typename T>
__device__ void get_values(const seg_job &job, const seg_split &g, int64_t first, int left, int parts, int part,
                           T (&value)[SPLIT_VT]) {
    const bool made = job.positions && g.from == FROM_INPUT;
    const T *from = (const T *)job.arrays[g.from].values + first * parts + part;
    const T position = (T)(first - (job.global_positions ? 0 : g.begin));
#pragma unroll
    for (int j = 0; j < SPLIT_VT; j++) {
        value[j] = made ? position + j * WARP : j * WARP < left ? from[j * WARP * parts] : 0;
    }
}

template <typename T>
__device__ void put_values(const seg_job &job, const split_shared &sh, const T *items, int left, int parts, int part,
                           const unsigned (&digits)[SPLIT_VT / 4]) {
    T *to = (T *)job.arrays[sh.split.to].values + (int64_t)threadIdx.x * parts + part;
#pragma unroll
    for (int j = 0; j < SPLIT_VT; j++) {
        if (j * SPLIT_NT < left) {
            to[(sh.base[digits[j / 4] >> j % 4 * 8 & 0xFF] + j * SPLIT_NT) * parts] = items[j * SPLIT_NT];
        }
    }
}

/* Items `tile` .. tile+count-1; V is the bytes of a value. */
template <typename K, int V> __device__ void move_tile(const seg_job &job, split_shared &sh, int64_t tile, int count) {
    typedef typename std::conditional<V == 4, uint32_t, unsigned long long>::type T;
    enum { parts = V <= 8 ? 1 : V / 8 };
    const int at = (int)(threadIdx.x / WARP * WARP * SPLIT_VT + threadIdx.x % WARP), left = count - at;
    const K *from = (const K *)job.arrays[sh.split.from].keys + tile + at;
    unsigned *counters = counters_of(sh), *counter = counters + threadIdx.x / WARP * SPLIT_DIGITS;
    void *room = counters + SPLIT_WARPS * SPLIT_DIGITS;
    unsigned spot[SPLIT_VT], digits[SPLIT_VT / 4];
    {
        K key[SPLIT_VT];
#pragma unroll
        for (int j = 0; j < SPLIT_VT; j++) {
            key[j] = j * WARP < left ? from[j * WARP] : 0;
        }
        for (int d = (int)threadIdx.x; d < SPLIT_WARPS * SPLIT_DIGITS; d += SPLIT_NT) {
            counters[d] = 0;
        }
        __syncthreads();
        rank_items(job, sh, key, left, spot);
        __syncthreads();
        place_digits(sh);
#pragma unroll
        for (int j = 0; j < SPLIT_VT; j++) {
            spot[j] = counter[spot[j] >> 16] + (spot[j] & 0xFFFF);
            if (j * WARP < left) {
                ((K *)room)[spot[j]] = key[j];
            }
        }
    }
    __syncthreads();
    if (V == 0) {
        put_keys(job, sh, (const K *)room + threadIdx.x, count - (int)threadIdx.x, digits);
    }
#pragma unroll 1
    for (int part = 0; V > 0 && part < parts; part++) {
        T value[SPLIT_VT]; /* on its way while keys are written */
        get_values(job, sh.split, tile + at, left, parts, part, value);
        if (part == 0) {
            put_keys(job, sh, (const K *)room + threadIdx.x, count - (int)threadIdx.x, digits);
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < SPLIT_VT; j++) {
            if (j * WARP < left) {
                ((T *)room)[spot[j]] = value[j];
            }
        }
        __syncthreads();
        put_values(job, sh, (const T *)room + threadIdx.x, count - (int)threadIdx.x, parts, part, digits);
    }
    __syncthreads();
}

#endif
