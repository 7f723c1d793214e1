/* Words that lie about evenly sort themselves, nearly: each goes to one of as many buckets as there are places, by its
 * leading bits; the buckets are counted and laid one after the other; what is left is order within buckets of a few
 * words, which two short sorts in the lanes bring, the first across the borders of the lanes' rows. For
 * thousands of words that is less work than a network. Where a bucket holds too many they are left for the network. */
#ifndef LSP_SEGSORT_SPREAD_CUH
#define LSP_SEGSORT_SPREAD_CUH

#include "segsort_network.cuh"

enum { SPREAD_SUMS = 32 };

/* Shared memory of G lanes with VT words each. */
template <int VT> struct spread_memory {
    uint32_t *words;    /* G * VT */
    uint32_t *counters; /* G * VT of 16 bits: how many words are in a bucket, then how many come before it */
    uint32_t *sums;     /* of each warp's buckets; the last one: does a bucket hold too many? */
};

/* Where word e lies: lanes read rows, 16 bytes at a time, in different banks. */
template <int VT> __device__ inline uint32_t spread_place(uint32_t e) { return VT == 32 ? e ^ (e >> 5 & 7) << 2 : e; }
/* And the counter of bucket b, of which lanes read rows too, 8 bytes at a time. */
template <int VT> __device__ inline uint32_t spread_counter(uint32_t b) { return VT == 32 ? b ^ (b >> 5 & 7) << 2 : b; }

/* Half a row of words, from place e on, to or from those from w[AT] on. */
template <int VT, int AT> __device__ inline void spread_load(uint32_t (&w)[VT], const uint32_t *words, uint32_t e) {
    enum { Q = VT % 8 == 0 ? 4 : 2 };
    lsp_settle(e);
#pragma unroll
    for (int r = 0; r < VT / 2; r += Q) {
        const uint32_t *from = words + spread_place<VT>(e + (uint32_t)r);
        if constexpr (Q == 4) {
            const uint4 x = *(const uint4 *)from;
            w[AT + r] = x.x, w[AT + r + 1] = x.y, w[AT + r + 2] = x.z, w[AT + r + 3] = x.w;
        } else {
            const uint2 x = *(const uint2 *)from;
            w[AT + r] = x.x, w[AT + r + 1] = x.y;
        }
    }
}
template <int VT, int AT> __device__ inline void spread_store(const uint32_t (&w)[VT], uint32_t *words, uint32_t e) {
    enum { Q = VT % 8 == 0 ? 4 : 2 };
    lsp_settle(e);
#pragma unroll
    for (int r = 0; r < VT / 2; r += Q) {
        uint32_t *to = words + spread_place<VT>(e + (uint32_t)r);
        if constexpr (Q == 4) {
            *(uint4 *)to = make_uint4(w[AT + r], w[AT + r + 1], w[AT + r + 2], w[AT + r + 3]);
        } else {
            *(uint2 *)to = make_uint2(w[AT + r], w[AT + r + 1]);
        }
    }
}

/* Counters to the numbers of words before: each lane those of its row. */
template <int VT> __device__ inline void spread_sum(const spread_memory<VT> &memory, int G, int t, int id) {
    uint32_t mine = 0, before = 0, first = (uint32_t)(t * VT);
#pragma unroll
    for (int k = 0; k < VT; k += 4) {
        const uint2 x = *(const uint2 *)(memory.counters + spread_counter<VT>(first + (uint32_t)k) / 2);
        mine += x.x + x.y; /* two sums of 16 bits */
    }
    mine = (mine & 0xFFFF) + (mine >> 16);
    uint32_t sum = mine;
#pragma unroll
    for (int d = 1; d < WARP; d *= 2) {
        const uint32_t other = __shfl_up_sync(~0u, sum, d);
        sum += (int)(threadIdx.x % WARP) >= d ? other : 0;
    }
    before = sum - mine;
    if (G > WARP) {
        if (threadIdx.x % WARP == WARP - 1) {
            memory.sums[t / WARP] = sum;
        }
        group_sync(G, id);
        for (int k = 0; k < t / WARP; k++) {
            before += memory.sums[k];
        }
    }
    lsp_settle(first); /* places are found anew, counters read again: registers are full */
#pragma unroll
    for (int k = 0; k < VT; k += 4) {
        uint2 *at = (uint2 *)(memory.counters + spread_counter<VT>(first + (uint32_t)k) / 2), x = *at, y;
        y.x = before * 0x10001 + (x.x << 16);
        before += (x.x & 0xFFFF) + (x.x >> 16);
        y.y = before * 0x10001 + (x.y << 16);
        before += (x.y & 0xFFFF) + (x.y >> 16);
        *at = y;
    }
}

/* Sorts the words of G lanes, 32 or more: word r of lane t is the one at t + r * G, of which those from n on are the
 * largest, and in order; lane t ends with the words t*VT .. in order, as after sort_group. False, and the words as they
 * were, if they lie too unevenly, or are too few for so many lanes. */
template <int VT>
__device__ inline bool spread_group(uint32_t (&w)[VT], int n, int G, int t, int id, const spread_memory<VT> &memory,
                                    const network_ones &ones) {
    enum { H = VT / 2, SURE = VT - 8, N = 4 }; /* words of a bucket at most; rows that are full; rows at a time */
    t = fresh(t), G = fresh(G); /* nothing is found beforehand, for all segments: it would not fit registers */
    const uint32_t buckets = (uint32_t)(G * VT);
    if (n < SURE * G) {
        return false;
    }
#pragma unroll
    for (int k = 0; k < VT / 4; k++) {
        *(uint2 *)(memory.counters + 2 * (t + k * G)) = make_uint2(0, 0);
    }
    if (t == 0) {
        memory.sums[SPREAD_SUMS - 1] = 0;
    }
    group_sync(G, id);
    uint32_t rank[(VT + 7) / 8] = {}, most = 0; /* among the words of its bucket; 4 bits each */
#pragma unroll
    for (int r0 = 0; r0 < VT; r0 += N) {
        uint32_t c[N];
#pragma unroll
        for (int i = 0; i < N; i++) { /* what is not there counts nothing */
            const bool here = r0 + i < SURE || t + (r0 + i) * G < n;
            c[i] = here ? spread_counter<VT>(__umulhi(w[r0 + i], buckets)) : (uint32_t)t;
            c[i] = c[i] % 2 * 16 + c[i] / 2 * 32;
            const uint32_t k = atomicAdd(memory.counters + c[i] / 32, (uint32_t)here << c[i] % 32);
            c[i] = here ? k >> c[i] % 32 & 0xFFFF : 0;
        }
#pragma unroll
        for (int i = 0; i < N; i++) {
            most = max(most, c[i]);
            rank[r0 / 8] |= c[i] << (r0 + i) % 8 * 4;
        }
        if (r0 % 8 + N == 8 && __any_sync(~0u, most >= H)) { /* nobody need count on */
            break;
        }
    }
    if (most >= H) {
        memory.sums[SPREAD_SUMS - 1] = 1;
    }
    group_sync(G, id);
    if (memory.sums[SPREAD_SUMS - 1]) {
        return false;
    }
    spread_sum<VT>(memory, G, t, id);
    group_sync(G, id);
    const uint32_t again = (uint32_t)fresh((int)buckets); /* places are found anew: kept, they would not fit */
    const int lanes = fresh(G);
#pragma unroll
    for (int r0 = 0; r0 < VT; r0 += N) {
        uint32_t to[N];
#pragma unroll
        for (int i = 0; i < N; i++) {
            const int r = r0 + i;
            const uint32_t c = spread_counter<VT>(__umulhi(w[r], again));
            to[i] = ((const uint16_t *)memory.counters)[c] + (rank[r / 8] >> r % 8 * 4 & 15);
            if (r >= SURE && t + r * lanes >= n) {
                to[i] = (uint32_t)(t + r * lanes);
            }
        }
#pragma unroll
        for (int i = 0; i < N; i++) {
            memory.words[spread_place<VT>(to[i])] = w[r0 + i];
        }
    }
    group_sync(G, id);
    /* the upper half of the row before with the lower one; the first lane: the very last ones with the very first */
    const uint32_t row = (uint32_t)(t * VT), lower = t > 0 ? row - H : 0, upper = t > 0 ? row : buckets - H;
    spread_load<VT, 0>(w, memory.words, lower);
    spread_load<VT, H>(w, memory.words, upper);
    sort_words<VT, 0, VT>(w, ones);
    spread_store<VT, 0>(w, memory.words, lower);
    spread_store<VT, H>(w, memory.words, upper);
    group_sync(G, id);
    spread_load<VT, 0>(w, memory.words, row);
    spread_load<VT, H>(w, memory.words, row + H);
    exchange_reflected(w, ones);
    merge_words<VT, 0, H>(w, ones);
    merge_words<VT, H, H>(w, ones);
    group_sync(G, id);
    return true;
}

#endif
