/* A stable partition of giants by one digit. A block takes a tile. Each warp ranks its items, a row of 32 at a time:
 * lanes with the same digit find each other by votes, and a counter for each digit holds the items of earlier rows. A
 * prefix sum over digits and warps turns the ranks into places in the tile. Keys, then values, are laid out by digit in
 * shared memory, and each digit's items are written as a run of neighbours. */
#pragma once

#include "partition_tile.cuh"

/* The exclusive prefix sum of x over the block. A barrier must come before the next call. */
__device__ inline ull split_scan(split_shared &sh, ull x) {
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const ull sum = warp_scan(x, (int)lane);
    if (lane == WARP - 1) {
        sh.sums[warp] = sum;
    }
    __syncthreads();
    ull before = lane < warp ? sh.sums[lane] : 0;
    for (unsigned d = 1; d < SPLIT_WARPS; d *= 2) {
        before += __shfl_xor_sync(~0u, before, d);
    }
    return __shfl_sync(~0u, before, 0) + sum - x;
}

/* Clears the warp's counters of the digits 0 .. digits-1. */
__device__ inline void clear_counters(split_counter *counter, unsigned digits) {
    for (unsigned i = threadIdx.x % WARP; i * (sizeof(uint4) / sizeof *counter) < digits; i += WARP) {
        ((uint4 *)counter)[i] = make_uint4(0, 0, 0, 0);
    }
    __syncwarp();
}

/* The lanes that agree with this lane in bits FIRST .. END-1 of the digit: one vote for each bit. */
template <int FIRST, int END> __device__ inline unsigned lanes_agreeing(unsigned digit) {
    unsigned same = ~0u;
#pragma unroll
    for (int bit = FIRST; bit < END; bit++) {
        const int sign = (int)(digit << (31 - bit)); /* negative if the bit is set */
        same &= ~(__ballot_sync(~0u, sign < 0) ^ (unsigned)(sign >> 31));
    }
    return same;
}
__device__ inline unsigned lanes_with(unsigned digit, bool wide) {
    const unsigned same = lanes_agreeing<0, SPLIT_BITS>(digit);
    return wide ? same & lanes_agreeing<SPLIT_BITS, SPLIT_WIDE_BITS>(digit) : same;
}

/* Places in a tile, two in a word to save registers. */
template <int VT> struct split_spots {
    unsigned pair[VT / 2];
    __device__ unsigned at(int j) const { return pair[j / 2] >> j % 2 * 16 & 0xFFFF; }
    __device__ void set(int j, unsigned spot) { /* even j before j + 1 */
        pair[j / 2] = j % 2 ? pair[j / 2] | spot << 16 : spot;
        lsp_settle(pair[j / 2]);
    }
    __device__ void put(int j, unsigned spot) { /* replaces a place */
        pair[j / 2] = j % 2 ? (pair[j / 2] & 0xFFFF) | spot << 16 : (pair[j / 2] & ~0xFFFFu) | spot;
        lsp_settle(pair[j / 2]);
    }
};

/* The rank of the warp's item j * 32 + lane among the warp's items of the same digit. digit_at(j) gives its digit. */
template <int VT, bool FULL, typename D>
__device__ inline void rank_items(split_counter *counter, int rows, bool wide, D digit_at, split_spots<VT> &ranks) {
    const unsigned below = (1u << threadIdx.x % WARP) - 1;
    unsigned digit = digit_at(0), same = lanes_with(digit, wide);
#pragma unroll
    for (int j = 0; j < VT; j++) {
        if (FULL || j < rows) {
            const unsigned before = *(volatile split_counter *)&counter[digit];
            const unsigned next = digit_at(j + 1 < VT ? j + 1 : j), next_same = lanes_with(next, wide);
            const unsigned rank = before + (unsigned)__popc(same & below);
            __syncwarp();
            if (same >> threadIdx.x % WARP == 1) { /* the last of the lanes with this digit */
                *(volatile split_counter *)&counter[digit] = (split_counter)(rank + 1);
            }
            __syncwarp();
            ranks.set(j, rank);
            digit = next, same = next_same;
        } else {
            ranks.set(j, 0);
        }
    }
}

/* The digits of a thread: `each` from `first` on. */
struct split_digits {
    unsigned first, end;
    __device__ explicit split_digits(int width) {
        const unsigned each = max(1u << width >> SPLIT_BITS, 1u);
        first = min(threadIdx.x * each, 1u << width), end = min(first + each, 1u << width);
    }
};

/* The items of a digit in the giant, and those of them before the tile. */
struct split_count {
    int64_t total, before;
};
__device__ inline split_count count_at(const split_tile &tile, unsigned d) {
    return {__ldcg(tile.totals + d), __ldcg(tile.before + d) + (tile.parts ? __ldcg(tile.parts + d) : 0)};
}

/* Turns the warps' counts into places in the tile, and sets base[] and cut[]. `of_first`: of the thread's first
 * digit. */
template <int DIGITS>
__device__ inline void place_digits(split_shared &sh, const split_tile &tile, const split_count &of_first) {
    const split_digits mine(tile.split.width);
    split_counter *const counter = counters_of(sh);
    unsigned sum = 0;
    int64_t total = 0;
    for (unsigned d = mine.first; d < mine.end; d++) {
        total += d == mine.first ? of_first.total : __ldcg(tile.totals + d);
#pragma unroll
        for (int w = 0; w < SPLIT_WARPS; w++) {
            sum += counter[w * DIGITS + d];
        }
    }
    const ull placed = split_scan(sh, (ull)total << SPLIT_TILE_BITS | sum);
    int64_t begin = tile.split.begin + (int64_t)(placed >> SPLIT_TILE_BITS);
    unsigned place = (unsigned)placed & ((1u << SPLIT_TILE_BITS) - 1);
    for (unsigned d = mine.first; d < mine.end; d++) {
        const split_count count = d == mine.first ? of_first : count_at(tile, d);
        sh.cut[d] = begin;
        sh.base[d] = begin + count.before - place;
        begin += count.total;
#pragma unroll
        for (int w = 0; w < SPLIT_WARPS; w++) {
            const unsigned items = counter[w * DIGITS + d];
            counter[w * DIGITS + d] = (split_counter)place;
            place += items;
        }
    }
    if (threadIdx.x == 0) {
        sh.cut[1u << tile.split.width] = tile.split.end;
    }
    __syncthreads();
}

/* The items of a tile that a thread reads and writes. It reads the lane's item of each row of its warp, and writes
 * every SPLIT_NT-th item of the tile. FULL: the tile has all items. */
template <int VT, bool FULL> struct split_work {
    int rows, at, left, left_out; /* left, left_out: items to read and to write lie below these */
    __device__ explicit split_work(int count) {
        const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
        rows = FULL ? VT : (count + SPLIT_NT - 1) / SPLIT_NT;
        at = warp * rows * WARP + lane;
        left = min(count - warp * rows * WARP, rows * WARP) - lane;
        left_out = count - (int)threadIdx.x;
    }
    __device__ bool has(int j) const { return FULL || j * WARP < left; }
    /* All ones if item j is missing, else 0. Not a bool, because predicate registers are scarcer than registers. */
    __device__ unsigned lacks(int j) const { return FULL ? 0 : (unsigned)((left - 1 - j * WARP) >> 31); }
    __device__ bool has_row(int j) const { return FULL || j < rows; }
    __device__ bool writes(int j) const { return FULL || j * SPLIT_NT < left_out; }
};

/* Writes the laid out keys. Keeps the digits of the items that the thread writes, four in a word, for the values. Wide
 * digits would not fit; items that have them have no values here. */
template <typename KK, int VT, bool FULL>
__device__ inline void put_keys(const seg_job &job, split_shared &sh, const void *room, const seg_split &g,
                                const split_work<VT, FULL> &work, unsigned (&digits)[VT / 4]) {
    typedef typename KK::K K;
    const K *items = (const K *)room + threadIdx.x;
    K *to = (K *)job.arrays[g.to].keys + threadIdx.x;
    const seg_digit at_digit = digit_at(job, g);
#pragma unroll
    for (int j = 0; j < VT; j++) {
        const K key = items[j * SPLIT_NT];
        const unsigned digit = digit_of<KK>(job, at_digit, key);
        K *place = to + sh.base[digit];
        if (work.writes(j)) {
            place[j * SPLIT_NT] = key;
        }
        digits[j / 4] = j % 4 ? digits[j / 4] | digit << j % 4 * 8 : digit;
        lsp_settle(digits[j / 4]);
    }
}

/* Writes keys and values that are laid out as pairs. */
template <typename KK, int VT, bool FULL>
__device__ inline void put_pairs(const seg_job &job, split_shared &sh, const void *room, const seg_split &g,
                                 const split_work<VT, FULL> &work) {
    const uint2 *items = (const uint2 *)room + threadIdx.x;
    uint32_t *to = (uint32_t *)job.arrays[g.to].keys + threadIdx.x;
    uint32_t *to_values = (uint32_t *)job.arrays[g.to].values + threadIdx.x;
    const seg_digit at_digit = digit_at(job, g);
#pragma unroll
    for (int j = 0; j < VT; j++) {
        const uint2 item = items[j * SPLIT_NT];
        const int64_t base = sh.base[digit_of<KK>(job, at_digit, (typename KK::K)item.x)];
        if (work.writes(j)) {
            (to + base)[j * SPLIT_NT] = item.x;
            (to_values + base)[j * SPLIT_NT] = item.y;
        }
    }
}

/* Reads the thread's values of the tile, or makes positions. A value is `parts` T; number `part` of them is read. */
template <typename T, int VT, bool FULL>
__device__ inline void get_values(const seg_job &job, const seg_split &g, int64_t first,
                                  const split_work<VT, FULL> &work, int parts, int part, T (&value)[VT]) {
    if (job.positions && g.from == FROM_INPUT) {
        const T position = (T)(first - (job.global_positions ? 0 : g.begin));
#pragma unroll
        for (int j = 0; j < VT; j++) {
            value[j] = position + j * WARP;
        }
        return;
    }
    const T *from = (const T *)job.arrays[g.from].values + first * parts + part;
#pragma unroll
    for (int j = 0; j < VT; j++) {
        value[j] = 0;
        if (work.has(j)) {
            value[j] = from[j * WARP * parts];
        }
    }
}

/* Writes the values from shared memory to their places. */
template <typename T, int VT, bool FULL>
__device__ inline void put_split_values(const seg_job &job, split_shared &sh, const void *room, const seg_split &g,
                                        const split_work<VT, FULL> &work, int parts, int part,
                                        const unsigned (&digits)[VT / 4]) {
    const T *items = (const T *)room + threadIdx.x;
    T *to = (T *)job.arrays[g.to].values + (int64_t)threadIdx.x * parts + part;
#pragma unroll
    for (int j = 0; j < VT; j++) {
        T value = items[j * SPLIT_NT];
        lsp_settle(value);
        T *place = to + sh.base[digits[j / 4] >> j % 4 * 8 & 0xFF] * parts;
        if (work.writes(j)) {
            place[j * SPLIT_NT * parts] = value;
        }
    }
}

/* Reads the thread's keys of a tile. */
template <typename K, int VT>
__device__ inline void get_keys(const seg_job &job, const split_tile &tile, K (&key)[VT]) {
    const split_work<VT, false> work(tile.count);
    const K *from = (const K *)job.arrays[tile.split.from].keys + tile.begin + work.at;
#pragma unroll
    for (int j = 0; j < VT; j++) {
        key[j] = 0;
        if (work.has(j)) {
            key[j] = from[j * WARP];
        }
    }
}

/* Moves a tile whose keys get_keys has read, and reads those of the next tile while this one is written. V: bytes of a
 * value. Missing items get the last digit, so they go behind all others. `meanwhile` runs while other warps rank:
 * in it the last warp, which has no digits, finds the places of this tile and chooses the next tile. */
template <typename KK, int V, bool FULL, int VT, typename F>
__device__ inline void move_tile(const seg_job &job, split_shared &sh, const split_tile &tile, const split_tile &next,
                                 typename KK::K (&key)[VT], F meanwhile) {
    typedef typename KK::K K;
    typedef typename std::conditional<V == 4, uint32_t, ull>::type T;
    enum { parts = V <= 8 ? 1 : V / 8, pairs = split_pairs(sizeof(K), V), DIGITS = split_most_digits(sizeof(K), V) };
    const seg_split &g = tile.split;
    const split_work<VT, FULL> work(tile.count);
    const int64_t at = tile.begin + work.at;
    const seg_digit at_digit = digit_at(job, g);
    split_counter *counter = counters_of(sh) + threadIdx.x / WARP * DIGITS;
    void *room = items_of<DIGITS>(sh);
    split_spots<VT> spots;
    if (V > 0 && !(job.positions && g.from == FROM_INPUT)) { /* values are read soon */
        const char *const values = (const char *)job.arrays[g.from].values + tile.begin * V;
        for (int line = (int)threadIdx.x * 128; line < tile.count * V; line += SPLIT_NT * 128) {
            lsp_prefetch(values + line);
        }
    }
    {
        T value[pairs ? VT : 1];
        const split_digits mine(g.width);
        split_count count = {0, 0};
        if (mine.first < mine.end) {
            count = count_at(tile, mine.first);
        }
        clear_counters(counter, at_digit.mask + 1);
        auto digit = [&](int j) { return (digit_of<KK>(job, at_digit, key[j]) | work.lacks(j)) & at_digit.mask; };
        rank_items<VT, FULL>(counter, work.rows, (int)DIGITS > (int)SPLIT_THREADS && g.width > SPLIT_BITS, digit,
                             spots);
        if constexpr (pairs) {
            get_values(job, g, at, work, 1, 0, value);
        }
        __syncthreads();
        meanwhile();
        place_digits<DIGITS>(sh, tile, count);
        if (tile.again || g.to == g.from) {
            get_keys(job, next, key);
            return;
        }
#pragma unroll
        for (int j = 0; j < VT; j++) {
            const unsigned spot = counter[digit(j)] + spots.at(j);
            if (work.has_row(j)) {
                if constexpr (pairs) {
                    ((uint2 *)room)[spot] = make_uint2(key[j], value[j]);
                } else {
                    ((K *)room)[spot] = key[j];
                }
            }
            if (V > 0 && !pairs) {
                spots.put(j, spot);
            }
        }
    }
    __syncthreads();
    if constexpr (pairs) {
        get_keys(job, next, key);
        put_pairs<KK>(job, sh, room, g, work);
        return;
    }
    unsigned digits[VT / 4];
    if (V == 0) {
        get_keys(job, next, key);
        put_keys<KK>(job, sh, room, g, work, digits);
    }
#pragma unroll 1
    for (int part = 0; V > 0 && part < parts; part++) {
        T value[VT]; /* loaded while keys are written */
        get_values(job, g, at, work, parts, part, value);
        if (part == 0) {
            put_keys<KK>(job, sh, room, g, work, digits);
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < VT; j++) {
            if (work.has_row(j)) {
                ((T *)room)[spots.at(j)] = value[j];
            }
        }
        __syncthreads();
        if (part == parts - 1) {
            get_keys(job, next, key);
        }
        put_split_values<T>(job, sh, room, g, work, parts, part, digits);
    }
}
