/* The bound up to which items of a segment are kept when only its first ones are wanted: from a sample, or by halves;
 * and the test of keys against it. Teams of TEAM warps work together. */
#pragma once

#include "job.cuh"

enum {
    SELECT_NT = 128,    /* threads of a block: 4 teams of a warp, or one of 4 warps */
    SELECT_VECTOR = 16, /* bytes that a lane copies at a time */
    SELECT_ROWS = 4     /* vectors that a lane takes at a time */
};

/* An item's number, and its place in the segment. Items up to the bound are kept. */
typedef struct select_bound {
    ull number;
    int64_t place;
} select_bound;

/* A unit: part `number` of the `units` of a segment of n items, whose first unit is `first`. */
typedef struct seg_unit {
    int64_t begin, n, first;
    int number, units;
} seg_unit;

/* What a team shares. */
template <typename K, int TEAM> struct select_shared {
    enum {
        NT = TEAM * WARP,
        V = SELECT_VECTOR / sizeof(K), /* keys of a vector */
        STEP = SELECT_ROWS * WARP      /* vectors that a warp takes at a time */
    };
    uint4 ring[TEAM][2][STEP];      /* what a warp reads, and what it is about to read */
    uint16_t queue[TEAM][STEP * V]; /* the keys that it keeps */
    K number[NT];                   /* the first of each thread's sample, */
    int64_t place[NT];              /* and its place */
    int64_t at[NT], sums[TEAM], counts[TEAM], next;
    seg_unit unit;                 /* in shared memory: registers are few */
    select_bound bound, low, high; /* fewer than wanted lie up to `low`, enough up to `high` */
    bool last;
};

template <int TEAM> __device__ inline void select_sync() {
    if (TEAM > 1) {
        __syncthreads();
    } else {
        __syncwarp();
    }
}

/* The items of a segment's first vector that come before the segment. */
template <typename K> __device__ inline int select_skew(const K *keys) {
    return (int)((uintptr_t)keys / sizeof(K) % (SELECT_VECTOR / sizeof(K)));
}

/* ---- from a sample ---- */

/* How many vectors each thread has in the sample of n items; which part of the items is to be kept, so that hardly ever
 * fewer than `first` are. */
__host__ __device__ inline int select_each(int64_t n, int team_items) {
    const int most = n < 1 << 20 ? 4 : 16;
    const int64_t each = n / (8 * team_items);
    return each < 1 ? 1 : each < most ? (int)each : most;
}
__host__ __device__ inline float select_share(int64_t n, int64_t first, int team_items) {
    const float samples = (float)(select_each(n, team_items) * team_items), mean = (float)first * samples / (float)n;
    return (mean + 4 * sqrtf(mean) + 3) / samples;
}

/* Sets the bound so that rank + 1 of the threads' items lie up to it. By a warp. */
template <typename K, int TEAM> __device__ inline void bound_of_rank(select_shared<K, TEAM> &sh, int rank, int64_t n) {
    const int lane = (int)threadIdx.x % WARP;
    K mine[TEAM], low = (K)-1, high = 0;
#pragma unroll
    for (int j = 0; j < TEAM; j++) {
        mine[j] = sh.number[j * WARP + lane];
        low = min(low, mine[j]), high = max(high, mine[j]);
    }
    for (int mask = 1; mask < WARP; mask *= 2) {
        low = min(low, __shfl_xor_sync(~0u, low, mask)), high = max(high, __shfl_xor_sync(~0u, high, mask));
    }
    auto count = [&](auto holds) {
        unsigned found = 0;
#pragma unroll
        for (int j = 0; j < TEAM; j++) {
            found += (unsigned)__popc(__ballot_sync(~0u, holds(j)));
        }
        return (int)found;
    };
    auto upto = [&](K number) { return count([&](int j) { return mine[j] <= number; }); };
    while (low < high) {
        const K middle = low + (high - low) / 2;
        const int found = upto(middle);
        low = found <= rank ? middle + 1 : found == rank + 1 ? middle : low;
        high = found > rank ? middle : high;
    }
    int64_t first = 0, place = n - 1;
    if (upto(low) > rank + 1) { /* equal numbers */
        const int less = low > 0 ? upto(low - 1) : 0;
        while (first < place) {
            const int64_t middle = first + (place - first) / 2;
            const bool enough =
                less + count([&](int j) { return mine[j] == low && sh.place[j * WARP + lane] <= middle; }) > rank;
            first = enough ? first : middle + 1;
            place = enough ? middle : place;
        }
    }
    if (lane == 0) {
        sh.bound = {low, place};
    }
}

/* Sets the bound for n items, of which `times` as many as usual are to be kept. t: the thread of the team. */
template <typename KK, int TEAM>
__device__ inline void sample_bound(const seg_job &job, select_shared<typename KK::K, TEAM> &sh,
                                    const typename KK::K *keys, int64_t begin, int64_t n, int times, int t) {
    typedef typename KK::K K;
    typedef select_shared<K, TEAM> shared;
    enum { V = shared::V, NT = shared::NT };
    const int skew = select_skew(keys), each = select_each(n, NT * V);
    const int64_t vectors = (n + skew) / V - (skew > 0);            /* that lie in the segment */
    const ull width = ((ull)vectors << 16) / (unsigned)(each * NT); /* of a part of them, in 65536ths of a vector */
    const K *inner = keys + (skew > 0 ? V - skew : 0);
    const float share = min(select_share(n, job.first, NT * V) * (float)times, .9f);
    K best = (K)-1;
    int64_t place = n - 1;
    float none = 1;
#pragma unroll 4
    for (int i = 0; i < each; i++) { /* a random vector of the part */
        const uint32_t sample = (uint32_t)(i * NT + t);
        const uint32_t random = (sample * 2654435761u ^ (uint32_t)begin) * 2246822519u >> 16;
        const int64_t at = (int64_t)((sample * width + (random * width >> 16)) >> 16) * V;
        const uint4 four = *(const uint4 *)(inner + at);
        K key[V];
        memcpy(key, &four, sizeof four);
#pragma unroll
        for (int k = 0; k < V; k++) {
            const K number = KK::number(key[k], job.order);
            place = number < best || (i == 0 && k == 0) ? at + k : place;
            best = min(number, best);
            none *= 1 - share;
        }
    }
    sh.number[t] = best;
    sh.place[t] = place + (inner - keys);
    select_sync<TEAM>();
    if (t < WARP) {
        bound_of_rank(sh, min((int)((1 - none) * NT), NT - 1), n);
    }
    select_sync<TEAM>();
}

/* ---- by halves ---- */

/* Sets the bound between `low` and `high`. By one thread. */
__device__ inline void halve_bound(select_bound *bound, select_bound *low, const select_bound &high, int64_t n) {
    if (low->number + 1 == high.number && low->place >= n - 1) {
        *low = {high.number, -1};
    }
    *bound = low->number < high.number ? select_bound{low->number + (high.number - low->number) / 2, n - 1}
                                       : select_bound{high.number, low->place + (high.place - low->place + 1) / 2};
}

/* ---- which keys are kept ---- */

/* Tells whether a key's number is at most that of a bound or, beyond its place, below it. */
template <typename KK> struct select_test {
    typedef typename KK::K K;
    enum { FAST, EXACT, ALL, NONE };
    K flip, limit; /* FAST: (key ^ flip) <= limit, of integers compared by all bits and, as floats, of floats */
    K exact;       /* the same limit for numbers */
    int how;

    __device__ select_test(const seg_job &job, ull number, bool beyond) {
        flip = (K)job.order.bias;
        limit = exact = (K)((K)number - beyond);
        how = beyond && number == 0 ? NONE : limit == (K)-1 ? ALL : KK::plain || job.order.is_float ? FAST : EXACT;
        if (!KK::plain && job.order.is_float) {
            const K sign = (K)1 << (8 * sizeof(K) - 1), x = limit ^ flip;
            const K key = x & sign ? (x ^ (K)job.order.flip) + (K)job.order.step : x; /* the key with this number */
            flip = flip & 1 ? sign : 0;                                               /* descending: compares -key */
            limit = key ^ flip;
            const bool is_nan = (limit & ~sign) > (K)job.order.nan_above, zero = (limit & ~sign) == 0;
            how = how != FAST ? how : zero ? EXACT : is_nan && limit & sign ? NONE : FAST; /* -0 == +0, as floats */
            limit = is_nan ? (K)job.order.nan_above : limit;                               /* infinity */
        }
    }
    __device__ bool has(K key) const {
        const K x = key ^ flip;
        return KK::plain        ? x <= limit
               : sizeof(K) == 4 ? __int_as_float((int)x) <= __int_as_float((int)limit)
                                : __longlong_as_double((long long)x) <= __longlong_as_double((long long)limit);
    }
};
