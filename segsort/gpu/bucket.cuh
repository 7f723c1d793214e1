/* Words that lie about evenly sort themselves, nearly: each goes to one of half or a quarter as many buckets as there
 * are places, by its leading bits; the buckets are counted and laid one after the other; what is left is order within
 * buckets of a few words, which two short sorts in the lanes bring, the first across the borders of the lanes' rows.
 * For hundreds of words that is less work than a network. Where a bucket lies too far across a border they are left for
 * the network. */
#ifndef LSP_SEGSORT_GPU_BUCKET_CUH
#define LSP_SEGSORT_GPU_BUCKET_CUH

#include "network.cuh"

enum { SPREAD_SUMS = 16 }; /* warps at most */
/* Words of a bucket, on average; buckets of a row. */
__host__ __device__ constexpr int spread_mean(int VT) { return VT >= 24 ? 4 : 2; }
__host__ __device__ constexpr int spread_row(int VT) { return VT / spread_mean(VT); }

/* Rows of words that are full where a class has what it may expect. */
__host__ __device__ constexpr int spread_full(int VT) { return VT < 20 ? VT - 4 : VT - 8; }

/* Shared memory of G lanes with VT words each. */
template <int VT> struct spread_memory {
    uint32_t *words;    /* G * VT */
    uint32_t *counters; /* of each lane's buckets: how many words are in each, then where its next one goes */
    uint32_t *borders;  /* half a row of each warp's first lane */
    uint32_t *sums;     /* of each warp's buckets */
    uint32_t *uneven;   /* too uneven to be spread */

    __device__ spread_memory(uint32_t *shared, int G)
        : words(shared), counters(words + G * VT), borders(counters + G * spread_row(VT)),
          sums(borders + G / WARP * VT / 2), uneven(sums + SPREAD_SUMS) {}
};
/* A multiple of 16; of the last four words one is needed. */
__host__ __device__ constexpr int spread_bytes(int VT, int G) {
    return (G * VT + G * spread_row(VT) + G / WARP * VT / 2 + SPREAD_SUMS + 4) / 4 * 16;
}

/* Where word e lies, if rows have N: lanes read rows, 16 bytes at a time, in different banks. */
template <int N> __device__ inline uint32_t spread_place(uint32_t e) {
    return N == 32 ? e ^ (e >> 5 & 7) << 2 : N == 16 ? e ^ (e >> 5 & 3) << 2 : N == 8 ? e ^ (e >> 5 & 1) << 2 : e;
}

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

/* Some counters of a row. */
template <int N> struct alignas(N * sizeof(uint32_t)) spread_counters { uint32_t of[N]; };

/* Does a bucket of `count` words, `before` of them all come before it, lie across a border of rows so far that the
 * first sort would miss some? */
template <int VT> __device__ inline bool spread_too_far(uint32_t before, uint32_t count) {
    const uint32_t border = before / VT * VT + VT, end = before + count;
    return end > border && (border - before > VT / 2 || end - border > VT / 2);
}

/* Counters to the numbers of words before: each lane those of its row. */
template <int VT, bool MANY> __device__ inline void spread_sum(const spread_memory<VT> &memory, int G, int t, int id) {
    enum { ROW = spread_row(VT), Q = ROW % 4 == 0 ? 4 : ROW % 2 == 0 ? 2 : 1 };
    typedef spread_counters<Q> some;
    uint32_t mine = 0, most = 0, before = 0, first = (uint32_t)(t * ROW);
#pragma unroll
    for (int k = 0; k < ROW; k += Q) {
        const some x = *(const some *)(memory.counters + spread_place<ROW>(first + (uint32_t)k));
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
    if (most > VT / 2) { /* seldom */
        bool far = false;
        uint32_t at = before;
#pragma unroll 1
        for (int k = 0; k < ROW; k++) {
            const uint32_t count = memory.counters[spread_place<ROW>(first + (uint32_t)k)];
            far |= spread_too_far<VT>(at, count);
            at += count;
        }
        if (far) {
            *memory.uneven = 1;
        }
    }
    lsp_settle(first); /* places are found anew, counters read again: registers are full */
#pragma unroll
    for (int k = 0; k < ROW; k += Q) {
        some *const at = (some *)(memory.counters + spread_place<ROW>(first + (uint32_t)k));
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

/* Do so many of a warp's words fall together with the next one that it is not by chance? To count them would be in
 * vain, and slow. */
template <int VT> __device__ inline bool spread_alike(const uint32_t (&w)[VT], uint32_t buckets) {
    bool alike = false;
#pragma unroll
    for (int r = 0; r < 3; r++) {
        alike |= __umulhi(w[r], buckets) == __umulhi(w[r + 1], buckets);
    }
    return __popc(__ballot_sync(~0u, alike)) >= 4;
}

/* Rows shifted by half a row to rows: each lane gives its lower half to the one before. The first lane's is its own; it
 * gives the upper one to the last lane. */
template <int VT, bool MANY>
__device__ inline void spread_rows(uint32_t (&w)[VT], int G, int t, int id, const spread_memory<VT> &memory) {
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
            spread_store<VT, 0>(w, memory.borders, (uint32_t)(t / WARP * H));
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
        spread_load<VT, H>(w, memory.borders, (uint32_t)((t + 1 < G ? (t + 1) / WARP : 0) * H));
    }
}

/* Sorts the words of G lanes, 32 or more: word r of lane t is the one at t + r * G, of which those from n on are the
 * largest, and in order; lane t ends with the words t*VT .. in order, as after sort_group. False, and the words as they
 * were, if they lie too unevenly, or are too few to fill SURE rows. */
template <int VT, int SURE, bool MANY>
__device__ inline bool spread_group(uint32_t (&w)[VT], int n, int G, int t, int id, const spread_memory<VT> &memory,
                                    const network_ones &ones) {
    enum {
        H = VT / 2,
        ROW = spread_row(VT),
        N = 4 /* at a time */
    };
    t = fresh(t), G = fresh(G); /* nothing is found beforehand, for all segments: it would not fit registers */
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
    if (spread_alike(w, buckets)) {
        *memory.uneven = 1;
    } else {
#pragma unroll
        for (int r = 0; r < VT; r++) { /* what is not there counts nothing */
            if (r < SURE || t + r * G < n) {
                atomicAdd(memory.counters + spread_place<ROW>(__umulhi(w[r], buckets)), 1u);
            }
        }
    }
    group_sync<MANY>(G, id);
    if (*memory.uneven) {
        return false;
    }
    spread_sum<VT, MANY>(memory, G, t, id);
    group_sync<MANY>(G, id);
    if (*memory.uneven) {
        return false;
    }
    const uint32_t again = (uint32_t)fresh((int)buckets); /* places are found anew: kept, they would not fit */
    const int lanes = fresh(G);
#pragma unroll
    for (int r0 = 0; r0 < VT; r0 += N) {
        uint32_t to[N];
#pragma unroll
        for (int i = 0; i < N; i++) {
            const int r = r0 + i;
            to[i] = (uint32_t)(t + r * lanes);
            if (r < SURE || t + r * lanes < n) {
                to[i] = atomicAdd(memory.counters + spread_place<ROW>(__umulhi(w[r], again)), 1u);
            }
        }
#pragma unroll
        for (int i = 0; i < N; i++) {
            memory.words[spread_place<VT>(to[i])] = w[r0 + i];
        }
    }
    group_sync<MANY>(G, id);
    /* the upper half of the row before with the lower one; the first lane: the very last ones with the very first */
    const uint32_t row = (uint32_t)(t * VT), lower = t > 0 ? row - H : 0, upper = t > 0 ? row : (uint32_t)(G * VT - H);
    spread_load<VT, 0>(w, memory.words, lower);
    spread_load<VT, H>(w, memory.words, upper);
    sort_words<VT, 0, VT>(w, ones);
    spread_rows<VT, MANY>(w, G, t, id, memory);
    exchange_reflected(w, ones);
    merge_words<VT, 0, H>(w, ones);
    merge_words<VT, H, H>(w, ones);
    group_sync<MANY>(G, id);
    return true;
}

#endif
