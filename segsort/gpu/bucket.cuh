/* A bucket sort of a group's words, for words that are about evenly distributed. Each word goes to a bucket by its
 * leading bits; there are half or a quarter as many buckets as words. The group counts its buckets, scans the counts
 * and puts the words in bucket order. Two short sorts in the lanes then sort within buckets; the first one works on
 * rows shifted by half a row, so that buckets across the border of two lanes' rows are sorted too. For hundreds of
 * words that is less work than a network. If a bucket reaches too far across a border, the words are left for the
 * network. */
#pragma once

#include "network.cuh"

enum { BUCKET_WARPS = 16 }; /* warps of a group at most */
/* The average number of words in a bucket; the number of buckets for a lane's row of VT words. */
__host__ __device__ constexpr int bucket_mean(int VT) { return VT >= 24 ? 4 : 2; }
__host__ __device__ constexpr int bucket_row(int VT) { return VT / bucket_mean(VT); }

/* Words r below this are in the segment for every lane if the segment's length is one that its class usually has. */
__host__ __device__ constexpr int bucket_full_rows(int VT) { return VT < 20 ? VT - 4 : VT - 8; }

/* Shared memory of G lanes with VT words each. */
template <int VT> struct bucket_memory {
    uint32_t *words;    /* G * VT */
    uint32_t *counters; /* a bucket's words, then the place of its next word */
    uint32_t *borders;  /* half a row from each warp's first lane */
    uint32_t *sums;     /* the words in each warp's buckets */
    uint32_t *uneven;   /* 1: the words are left for the network */

    __device__ bucket_memory(uint32_t *shared, int G)
        : words(shared), counters(words + G * VT), borders(counters + G * bucket_row(VT)),
          sums(borders + G / WARP * VT / 2), uneven(sums + BUCKET_WARPS) {}
};
/* The bytes of bucket_memory, a multiple of 16. Its last four words hold `uneven`. */
__host__ __device__ constexpr int bucket_bytes(int VT, int G) {
    return (G * VT + G * bucket_row(VT) + G / WARP * VT / 2 + BUCKET_WARPS + 4) / 4 * 16;
}

/* The place of word e in rows of N words: lanes that read their rows 16 bytes at a time meet in no bank. */
template <int N> __device__ inline uint32_t bucket_place(uint32_t e) {
    return N == 32 ? e ^ (e >> 5 & 7) << 2 : N == 16 ? e ^ (e >> 5 & 3) << 2 : N == 8 ? e ^ (e >> 5 & 1) << 2 : e;
}

/* Neighbouring words, read or written at once. */
template <int N> struct alignas(N * sizeof(uint32_t)) word_row { uint32_t of[N]; };
/* Those of rows of VT words. */
template <int VT> using bucket_words = word_row<(VT % 8 == 0 ? 4 : 2)>;

/* Loads or stores half a row, w[AT] .. w[AT + VT/2 - 1], from place e on. */
template <int VT, int AT> __device__ inline void bucket_load(uint32_t (&w)[VT], const uint32_t *words, uint32_t e) {
    enum { Q = sizeof(bucket_words<VT>) / sizeof(uint32_t) };
    lsp_settle(e);
#pragma unroll
    for (int r = 0; r < VT / 2; r += Q) {
        const bucket_words<VT> x = *(const bucket_words<VT> *)(words + bucket_place<VT>(e + (uint32_t)r));
#pragma unroll
        for (int i = 0; i < Q; i++) {
            w[AT + r + i] = x.of[i];
        }
    }
}
template <int VT, int AT> __device__ inline void bucket_store(const uint32_t (&w)[VT], uint32_t *words, uint32_t e) {
    enum { Q = sizeof(bucket_words<VT>) / sizeof(uint32_t) };
    lsp_settle(e);
#pragma unroll
    for (int r = 0; r < VT / 2; r += Q) {
        bucket_words<VT> x;
#pragma unroll
        for (int i = 0; i < Q; i++) {
            x.of[i] = w[AT + r + i];
        }
        *(bucket_words<VT> *)(words + bucket_place<VT>(e + (uint32_t)r)) = x;
    }
}

/* Does a bucket of `count` words, with `before` words in earlier buckets, reach across a border of rows by more than
 * half a row? The first sort would miss the words beyond. */
template <int VT> __device__ inline bool bucket_too_far(uint32_t before, uint32_t count) {
    const uint32_t border = before / VT * VT + VT, end = before + count;
    return end > border && (border - before > VT / 2 || end - border > VT / 2);
}

/* Replaces the counters by their exclusive prefix sums; each lane has the counters of its row. Sets `uneven` if a
 * bucket reaches too far. */
template <int VT, bool MANY> __device__ inline void bucket_scan(const bucket_memory<VT> &memory, int G, int t, int id) {
    enum { ROW = bucket_row(VT), Q = ROW % 4 == 0 ? 4 : ROW % 2 == 0 ? 2 : 1 };
    typedef word_row<Q> some; /* counters */
    uint32_t mine = 0, most = 0, before = 0, first = (uint32_t)(t * ROW);
#pragma unroll
    for (int k = 0; k < ROW; k += Q) {
        const some x = *(const some *)(memory.counters + bucket_place<ROW>(first + (uint32_t)k));
#pragma unroll
        for (int i = 0; i < Q; i++) {
            mine += x.of[i];
            most = max(most, x.of[i]);
        }
    }
    const uint32_t sum = warp_scan(mine, (int)(threadIdx.x % WARP));
    before = sum - mine;
    if (MANY || G > WARP) {
        if (threadIdx.x % WARP == WARP - 1) {
            memory.sums[t / WARP] = sum;
        }
        group_sync<MANY>(G, id);
        for (int k = 0; k < t / WARP; k++) {
            before += memory.sums[k];
        }
    }
    if (most > VT / 2) { /* seldom; no shorter bucket reaches too far */
        bool far = false;
        uint32_t at = before;
#pragma unroll 1
        for (int k = 0; k < ROW; k++) {
            const uint32_t count = memory.counters[bucket_place<ROW>(first + (uint32_t)k)];
            far |= bucket_too_far<VT>(at, count);
            at += count;
        }
        if (far) {
            *memory.uneven = 1;
        }
    }
    lsp_settle(first); /* computes places and reads counters again: registers are too few to keep them */
#pragma unroll
    for (int k = 0; k < ROW; k += Q) {
        some *const at = (some *)(memory.counters + bucket_place<ROW>(first + (uint32_t)k));
        some x = *at;
#pragma unroll
        for (int i = 0; i < Q; i++) {
            const uint32_t count = x.of[i];
            x.of[i] = before;
            before += count;
        }
        *at = x;
    }
}

/* Do at least four lanes of the warp have two neighbouring words in one bucket? That is unlikely if words are evenly
 * distributed. If they are not, counting them would be useless, and slow because atomic operations collide. */
template <int VT> __device__ inline bool bucket_clustered(const uint32_t (&w)[VT], uint32_t buckets) {
    bool together = false;
#pragma unroll
    for (int r = 0; r < 3; r++) {
        together |= __umulhi(w[r], buckets) == __umulhi(w[r + 1], buckets);
    }
    return __popc(__ballot_sync(~0u, together)) >= 4;
}

/* From rows shifted by half a row back to rows: each lane takes the lower half of the next lane as its upper half. The
 * first lane's lower half is its own already; its upper half goes to the last lane. */
template <int VT, bool MANY>
__device__ inline void bucket_unshift(uint32_t (&w)[VT], int G, int t, int id, const bucket_memory<VT> &memory) {
    enum { H = VT / 2 };
    if (t < WARP) {
#pragma unroll
        for (int r = 0; r < H; r++) {
            const uint32_t x = w[r];
            w[r] = t == 0 ? w[H + r] : x;
            w[H + r] = t == 0 ? x : w[H + r];
        }
    }
    if (MANY || G > WARP) {
        if (threadIdx.x % WARP == 0) {
            bucket_store<VT, 0>(w, memory.borders, (uint32_t)(t / WARP * H));
        }
        group_sync<MANY>(G, id);
    }
    const int next = fresh((int)threadIdx.x) + 1;
#pragma unroll
    for (int r = 0; r < H; r++) {
        const uint32_t x = __shfl_sync(~0u, w[r], next);
        w[r] = w[H + r];
        w[H + r] = x;
    }
    if ((MANY || G > WARP) && threadIdx.x % WARP == WARP - 1) {
        bucket_load<VT, H>(w, memory.borders, (uint32_t)((t + 1 < G ? (t + 1) / WARP : 0) * H));
    }
}

/* Sorts the words of G >= 32 lanes. Word r of lane t is number t + r * G; the words from number n on are the largest
 * and in order. Lane t ends with the sorted words t*VT .. t*VT + VT-1, as after sort_group. Returns false, with the
 * words unchanged, if they are too uneven, or too few to give every lane SURE words. */
template <int VT, int SURE, bool MANY>
__device__ inline bool bucket_group(uint32_t (&w)[VT], int n, int G, int t, int id, const bucket_memory<VT> &memory,
                                    const network_ones &ones) {
    enum {
        H = VT / 2,
        ROW = bucket_row(VT),
        N = 4 /* at a time */
    };
    t = fresh(t),
    G = fresh(G); /* keeps the compiler from hoisting addresses out of the loop over segments into registers */
    const uint32_t buckets = (uint32_t)(G * ROW);
    if (n < SURE * G) {
        return false;
    }
#pragma unroll
    for (int k = 0; k < (ROW + 1) / 2; k++) {
        if (ROW % 2 == 0 || t + k * G < G * ROW / 2) {
            *(uint2 *)(memory.counters + 2 * (t + k * G)) = make_uint2(0, 0);
        }
    }
    if (t == 0) {
        *memory.uneven = 0;
    }
    group_sync<MANY>(G, id);
    if (bucket_clustered(w, buckets)) {
        *memory.uneven = 1;
    } else {
#pragma unroll
        for (int r = 0; r < VT; r++) { /* words from n on are not counted: they stay at their places */
            if (r < SURE || t + r * G < n) {
                atomicAdd(memory.counters + bucket_place<ROW>(__umulhi(w[r], buckets)), 1u);
            }
        }
    }
    group_sync<MANY>(G, id);
    if (*memory.uneven) {
        return false;
    }
    bucket_scan<VT, MANY>(memory, G, t, id);
    group_sync<MANY>(G, id);
    if (*memory.uneven) {
        return false;
    }
    const uint32_t again = (uint32_t)fresh((int)buckets); /* computes the buckets again: registers are too few */
    const int lanes = fresh(G);
#pragma unroll
    for (int r0 = 0; r0 < VT; r0 += N) {
        uint32_t to[N];
#pragma unroll
        for (int i = 0; i < N; i++) {
            const int r = r0 + i;
            to[i] = (uint32_t)(t + r * lanes);
            if (r < SURE || t + r * lanes < n) {
                to[i] = atomicAdd(memory.counters + bucket_place<ROW>(__umulhi(w[r], again)), 1u);
            }
        }
#pragma unroll
        for (int i = 0; i < N; i++) {
            memory.words[bucket_place<VT>(to[i])] = w[r0 + i];
        }
    }
    group_sync<MANY>(G, id);
    /* the shifted row: the previous lane's upper half, then this lane's lower half; the first lane wraps around */
    const uint32_t row = (uint32_t)(t * VT), lower = t > 0 ? row - H : 0, upper = t > 0 ? row : (uint32_t)(G * VT - H);
    bucket_load<VT, 0>(w, memory.words, lower);
    bucket_load<VT, H>(w, memory.words, upper);
    sort_words<VT, 0, VT>(w, ones);
    bucket_unshift<VT, MANY>(w, G, t, id, memory);
    exchange_reflected(w, ones);
    merge_words<VT, 0, H>(w, ones);
    merge_words<VT, H, H>(w, ones);
    group_sync<MANY>(G, id);
    return true;
}
