/* A stable partition by one digit. A block takes a tile. Each warp counts its digits, the counts are summed up to
 * places in the tile, and then the warp ranks its items row by row: lanes that have the same digit find each other by a
 * word of the digit's in shared memory in which each sets its bit. Keys, then values, are laid out by digit in shared
 * memory and written as runs of neighbours. */
#ifndef LSP_SEGSORT_PARTITION_CUH
#define LSP_SEGSORT_PARTITION_CUH

#include "segsort_device.cuh"
#include "segsort_move.cuh"
#include "segsort_network.cuh"
#include <type_traits>

/* Tuned on an H200; see segsort/README.md. */
enum {
    SPLIT_BITS = 7, /* wider digits write shorter runs: of eight bits two rounds take longer than three of six */
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

typedef struct __align__(16) split_shared {
    seg_split split;
    int64_t lo, hi;                /* this block's part of it */
    int64_t place[SPLIT_DIGITS];   /* of a digit's next item */
    int64_t base[SPLIT_DIGITS];    /* the same, less the digit's first place in the tile */
    int64_t cut[SPLIT_DIGITS + 1]; /* where buckets begin */
    int64_t sums[SPLIT_WARPS];
    unsigned long long diff;
    bool again;
    int groups;
}
split_shared;

/* What follows in shared memory: two words a digit for each warp, a counter and a mask of lanes (zero between tiles),
 * and then room for the items of a tile. */
__device__ inline unsigned *counters_of(split_shared &sh) { return (unsigned *)(&sh + 1); }
__device__ inline unsigned *masks_of(split_shared &sh) { return counters_of(sh) + SPLIT_WARPS * SPLIT_DIGITS; }
__device__ inline void *room_of(split_shared &sh) { return masks_of(sh) + SPLIT_WARPS * SPLIT_DIGITS; }
__host__ __device__ inline size_t split_bytes(int item_bytes) {
    return 2 * SPLIT_WARPS * SPLIT_DIGITS * sizeof(unsigned) + (size_t)SPLIT_TILE * item_bytes;
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
template <typename KK> __device__ inline unsigned digit_of(const seg_job &job, seg_digit digit, typename KK::K key) {
    return (unsigned)(KK::number(key, job.order) >> digit.shift) & digit.mask;
}

/* The sum of x over the threads before this one. Before the next call somebody must wait for all. */
template <typename T> __device__ T split_scan(split_shared &sh, T x) {
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    T sum = x;
#pragma unroll
    for (unsigned d = 1; d < WARP; d *= 2) {
        T left = __shfl_up_sync(~0u, sum, d);
        sum += lane >= d ? left : 0;
    }
    if (lane == WARP - 1) {
        sh.sums[warp] = (int64_t)sum;
    }
    __syncthreads();
    T before = lane < warp ? (T)sh.sums[lane] : 0;
    for (unsigned d = 1; d < SPLIT_WARPS; d *= 2) {
        before += __shfl_xor_sync(~0u, before, d);
    }
    return __shfl_sync(~0u, before, 0) + sum - x;
}

/* All counters of the warp are zero. */
__device__ inline void clear_counters(unsigned *counter) {
    for (unsigned i = threadIdx.x % WARP; i < SPLIT_DIGITS / 4; i += WARP) {
        ((uint4 *)counter)[i] = make_uint4(0, 0, 0, 0);
    }
    __syncwarp();
}

/* Counts become places in the tile, and the tile's items are taken off the digits' room. */
__device__ inline void place_digits(split_shared &sh) {
    const unsigned d = threadIdx.x;
    unsigned *counter = counters_of(sh) + d, sum = 0;
    if (d < SPLIT_DIGITS) {
#pragma unroll
        for (int w = 0; w < SPLIT_WARPS; w++) {
            const unsigned items = counter[w * SPLIT_DIGITS];
            counter[w * SPLIT_DIGITS] = sum;
            sum += items;
        }
    }
    const unsigned first = split_scan(sh, sum);
    if (d < SPLIT_DIGITS) {
#pragma unroll
        for (int w = 0; w < SPLIT_WARPS; w++) {
            counter[w * SPLIT_DIGITS] += first;
        }
        sh.base[d] = sh.place[d] - first;
        sh.place[d] += sum;
    }
    __syncthreads();
}

/* spot[j], the digit of the warp's item j * 32 + lane, becomes the item's place in the tile. */
__device__ inline void rank_items(unsigned *counter, unsigned *mask, unsigned (&spot)[SPLIT_VT]) {
    const unsigned mine = 1u << threadIdx.x % WARP, below = mine - 1;
#pragma unroll
    for (int j = 0; j < SPLIT_VT; j++) {
        const unsigned digit = spot[j];
        atomicOr(&mask[digit], mine);
        __syncwarp();
        const unsigned same = *(volatile unsigned *)&mask[digit], next = *(volatile unsigned *)&counter[digit];
        const unsigned rank = (unsigned)__popc(same & below);
        __syncwarp();
        if (rank == 0) {
            *(volatile unsigned *)&mask[digit] = 0;
            *(volatile unsigned *)&counter[digit] = next + (unsigned)__popc(same);
        }
        __syncwarp();
        spot[j] = next + rank;
        lsp_settle(spot[j]);
    }
}

/* Brings memory that will be read soon near. */
__device__ inline void fetch_ahead(const void *from, int bytes) {
    enum { line = 128 };
    for (int at = (int)threadIdx.x * line; at < bytes; at += SPLIT_NT * line) {
        lsp_prefetch((const char *)from + at);
    }
}

/* Writes the laid out keys; the digits of the places tid, tid + NT, ... go to `digits`, four to a word. */
template <typename KK>
__device__ inline void put_keys(const seg_job &job, const split_shared &sh, const typename KK::K *items, int left,
                                unsigned (&digits)[SPLIT_VT / 4]) {
    typedef typename KK::K K;
    K *to = (K *)job.arrays[sh.split.to].keys + threadIdx.x;
    const seg_digit at_digit = digit_at(sh.split);
#pragma unroll
    for (int j = 0; j < SPLIT_VT; j++) {
        const K key = items[j * SPLIT_NT];
        const unsigned digit = digit_of<KK>(job, at_digit, key);
        K *place = to + sh.base[digit];
        if (j * SPLIT_NT < left) {
            place[j * SPLIT_NT] = key;
        }
        digits[j / 4] = j % 4 ? digits[j / 4] | digit << j % 4 * 8 : digit;
        lsp_settle(digits[j / 4]);
    }
}

/* Values of the tile, as they came; or their positions. A value is `parts` T, of which one is read. */
template <typename T>
__device__ void get_values(const seg_job &job, const seg_split &g, int64_t first, int left, int parts, int part,
                           T (&value)[SPLIT_VT]) {
    if (job.positions && g.from == FROM_INPUT) {
        const T position = (T)(first - (job.global_positions ? 0 : g.begin));
#pragma unroll
        for (int j = 0; j < SPLIT_VT; j++) {
            value[j] = position + j * WARP;
        }
        return;
    }
    const T *from = (const T *)job.arrays[g.from].values + first * parts + part;
#pragma unroll
    for (int j = 0; j < SPLIT_VT; j++) {
        value[j] = 0;
        if (j * WARP < left) {
            value[j] = from[j * WARP * parts];
        }
    }
}

template <typename T>
__device__ inline void put_values(const seg_job &job, const split_shared &sh, const T *items, int left, int parts,
                                  int part, const unsigned (&digits)[SPLIT_VT / 4]) {
    T *to = (T *)job.arrays[sh.split.to].values + (int64_t)threadIdx.x * parts + part;
#pragma unroll
    for (int j = 0; j < SPLIT_VT; j++) {
        T value = items[j * SPLIT_NT];
        lsp_settle(value);
        T *place = to + sh.base[digits[j / 4] >> j % 4 * 8 & 0xFF] * parts;
        if (j * SPLIT_NT < left) {
            place[j * SPLIT_NT * parts] = value;
        }
    }
}

/* Items `tile` .. tile+count-1; V is the bytes of a value. Items that are not there have the last digit: they come to
 * lie behind all others. */
template <typename KK, int V>
__device__ inline void move_tile(const seg_job &job, split_shared &sh, int64_t tile, int count) {
    typedef typename KK::K K;
    typedef typename std::conditional<V == 4, uint32_t, unsigned long long>::type T;
    enum { parts = V <= 8 ? 1 : V / 8 };
    const int at = (int)(threadIdx.x / WARP * WARP * SPLIT_VT + threadIdx.x % WARP), left = count - at;
    unsigned *counter = counters_of(sh) + threadIdx.x / WARP * SPLIT_DIGITS;
    void *room = room_of(sh);
    unsigned spot[SPLIT_VT], digits[SPLIT_VT / 4];
    if (V > 0 && !(job.positions && sh.split.from == FROM_INPUT)) {
        fetch_ahead((const char *)job.arrays[sh.split.from].values + tile * V, count * V);
    }
    {
        K key[SPLIT_VT];
        const K *from = (const K *)job.arrays[sh.split.from].keys + tile + at;
        const seg_digit at_digit = digit_at(sh.split);
#pragma unroll
        for (int j = 0; j < SPLIT_VT; j++) {
            key[j] = j * WARP < left ? from[j * WARP] : 0;
        }
        clear_counters(counter);
#pragma unroll
        for (int j = 0; j < SPLIT_VT; j++) {
            spot[j] = j * WARP < left ? digit_of<KK>(job, at_digit, key[j]) : at_digit.mask;
            atomicAdd(&counter[spot[j]], 1u);
        }
        __syncthreads();
        place_digits(sh);
        rank_items(counter, masks_of(sh) + threadIdx.x / WARP * SPLIT_DIGITS, spot);
#pragma unroll
        for (int j = 0; j < SPLIT_VT; j++) {
            ((K *)room)[spot[j]] = key[j];
        }
    }
    __syncthreads();
    if (V == 0) {
        put_keys<KK>(job, sh, (const K *)room + threadIdx.x, count - (int)threadIdx.x, digits);
    }
#pragma unroll 1
    for (int part = 0; V > 0 && part < parts; part++) {
        T value[SPLIT_VT]; /* on its way while keys are written */
        get_values(job, sh.split, tile + at, left, parts, part, value);
        if (part == 0) {
            put_keys<KK>(job, sh, (const K *)room + threadIdx.x, count - (int)threadIdx.x, digits);
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < SPLIT_VT; j++) {
            ((T *)room)[spot[j]] = value[j];
        }
        __syncthreads();
        put_values(job, sh, (const T *)room + threadIdx.x, count - (int)threadIdx.x, parts, part, digits);
    }
}

#endif
