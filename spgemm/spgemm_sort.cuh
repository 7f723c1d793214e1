/* Rows whose products are sorted: expand, sort, compress without leaving the chip. G lanes take a row of at
 * most VT * G products. A product is a word: its column above its slot, which counts the row's products in the order of
 * A's entries; a sorted word's slot leads back to the two factors, and equal neighbours are summed in order. */
#ifndef LSP_SPGEMM_SORT_CUH
#define LSP_SPGEMM_SORT_CUH

#include "segsort/segsort_move.cuh"
#include "spgemm_device.cuh"

/* Pieces of long rows that are sorted: their column and slot make a word. */
enum { SORT_MARKS = 512 }; /* words of bits, where columns are counted unsorted */
enum { PIECE_G = 256, PIECE_VT = 16, PIECE_PRODUCTS = PIECE_G * PIECE_VT, PIECE_RANGE = 1 << 20 };

template <int G, int VT> struct sort_shape {
    enum {
        capacity = G * VT, /* products, and entries of A */
        wide = G > WARP,
        pieces = capacity > 2048,    /* takes pieces of rows too, of any number of entries of A */
        nt = wide ? G : 128,         /* threads a block */
        team = wide ? G : (int)WARP, /* lanes that share memory: those of a row, or a warp */
        groups = team / G,           /* rows of a team */
        few = G > 4 ? 1 : 2,
        each = wide ? 4 : (int)few, /* entries of A that a lane reads at a time */
        parts = (capacity + 31) / 32,
        stride = capacity + (G < WARP ? G : 1), /* slots of a row, and some more: rows lie in different banks */
        padded = team * VT + team * VT / 8,     /* places for what is written VT items a lane: see word_place */
        narrow_blocks = G == 8 ? 8 : 10,        /* more take 9 % longer there: less memory is left to the first cache */
        wide_blocks = pieces ? 3 : 1024 / G,
        blocks = wide ? (int)wide_blocks : (int)narrow_blocks /* that a multiprocessor is to hold */
    };
};

/* An entry of A, the one at `origin`: the product in its slot s is of B's entry base + s. */
template <typename V> struct alignas(8) sort_entry { uint32_t base, origin; };
template <> struct alignas(4) sort_entry<no_value> { uint32_t base; };

template <bool MANY> struct sort_origin { typedef uint16_t type; };
template <> struct sort_origin<true> { typedef uint32_t type; };

/* B's value of a product: fetched at once, while neighbours in B's rows are, or (LATER) when it is used, which takes
 * less memory. */
template <typename V, bool LATER> struct sort_factor {
    V x;
    __device__ static sort_factor at(const spg_job &job, uint32_t place) { return {value_at<V>(job.B, place)}; }
    __device__ V value(const spg_job &) const { return x; }
};
template <typename V> struct sort_factor<V, true> {
    uint32_t place;
    __device__ static sort_factor at(const spg_job &, uint32_t place) { return {place}; }
    __device__ V value(const spg_job &job) const { return value_at<V>(job.B, place); }
};

/* Shared memory of a team: without values less is needed. */
template <int G, int VT, typename V> struct sort_shared {
    typedef sort_shape<G, VT> S;
    enum { valued = value_kind<V>::valued };
    enum { origins = valued ? S::groups * S::stride : 1 };
    union {
        struct {
            typename sort_origin<S::pieces>::type
                origin[origins]; /* of A's entries, the one of the product in a slot */
            union {
                struct {
                    sort_entry<V> entries[S::groups * S::stride];
                    uint32_t starts[S::groups * S::parts]; /* a bit a slot: an entry begins there */
                };
                alignas(16) uint32_t marks[valued || S::wide ? 4 : SORT_MARKS]; /* of columns */
                struct {
                    sort_factor<V, S::pieces> b[origins]; /* of the product in a slot */
                    uint32_t words[valued || S::wide ? S::padded : 1];
                };
            };
        };
        struct {
            V sums[valued ? S::padded : 1];
            uint32_t columns[S::padded];
        };
    };
    uint16_t before[S::wide ? S::parts : 1]; /* entries that begin in slots of earlier parts */
    uint32_t warp_sum[S::wide ? G / WARP : 1];
};

/* The lane of the group, and the group of the team. */
template <int G> __device__ inline int sort_lane() { return (int)threadIdx.x % G; }
template <int G> __device__ inline int sort_group_number() { return G > WARP ? 0 : (int)threadIdx.x % WARP / G; }

/* More lanes than a warp are all of their block. The compiler knows the number of their barrier: otherwise it sets
 * aside all that can be named, and a multiprocessor holds four such blocks. */
enum { SORT_BARRIER = 1 };
template <int G> __device__ inline void sort_sync() { group_sync(G, SORT_BARRIER); }

/* Exclusive sum over the group; *total is that of all. */
template <int G> __device__ inline uint32_t group_sum(uint32_t x, uint32_t *warp_sum, uint32_t *total) {
    constexpr int lanes = G < WARP ? G : WARP;
    const int t = sort_lane<G>();
    uint32_t sum = x;
    for (int d = 1; d < lanes; d *= 2) {
        uint32_t other = __shfl_up_sync(~0u, sum, d, lanes);
        sum += t % lanes >= d ? other : 0;
    }
    *total = __shfl_sync(~0u, sum, lanes - 1, lanes);
    if (G > WARP) {
        uint32_t before = 0, all = 0;
        if (t % WARP == WARP - 1) {
            warp_sum[t / WARP] = sum;
        }
        sort_sync<G>();
        for (int k = 0; k < G / WARP; k++) {
            before += k < t / WARP ? warp_sum[k] : 0;
            all += warp_sum[k];
        }
        sort_sync<G>();
        sum += before;
        *total = all;
    }
    return sum - x;
}

/* The entries of A's row that have products in the columns low .. high-1: where these begin and whence they come. The
 * warp comes here together. */
template <int G, int VT, typename V>
__device__ inline void read_entries(const spg_job &job, uint32_t begin, uint32_t entries, uint32_t low, uint32_t high,
                                    sort_shared<G, VT, V> &shared) {
    typedef sort_shape<G, VT> S;
    enum { N = S::each };
    const uint32_t outer[2] = {low, high};
    const int t = sort_lane<G>(), group = sort_group_number<G>();
    uint32_t slots = 0, kept = (uint32_t)(group * S::stride), rounds = (entries + G * N - 1) / (G * N);
    uint32_t *const starts = shared.starts + group * S::parts;
    if (G < WARP) {
        rounds = __reduce_max_sync(~0u, rounds);
    }
#pragma unroll
    for (int k = 0; k < S::parts; k += G) {
        if (k + t < S::parts) {
            starts[k + t] = 0;
        }
    }
    sort_sync<G>();
#pragma unroll 1
    for (uint32_t round = 0, i = (uint32_t)t * N; round < rounds; round++, i += G * N) {
        uint32_t at[N][2] = {}, n[N] = {}, mine = 0, total;
#pragma unroll
        for (int k = 0; k < N; k++) {
            if (i + k < entries) {
                const uint32_t row = __ldg(job.A.col + (begin + i + k));
                at[k][0] = __ldg(job.B.rowptr + row);
                n[k] = __ldg(job.B.rowptr + row + 1) - at[k][0];
            }
        }
#pragma unroll
        for (int k = 0; k < N; k++) {
            at[k][1] = at[k][0] + n[k];
        }
        if (S::pieces && (low > 0 || high < job.cols)) {
#pragma unroll
            for (int k = 0; k < N; k++) {
                at[k][1] = at[k][0];
            }
            lower_bounds<N, 2>(job.B.col, n, outer, at);
        }
#pragma unroll
        for (int k = 0; k < N; k++) {
            const uint32_t length = at[k][1] - at[k][0];
            mine += length | (length > 0) << 16;
        }
        const uint32_t sum = group_sum<G>(mine, shared.warp_sum, &total);
        uint32_t slot = slots + (sum & 0xFFFF), e = kept + (sum >> 16);
#pragma unroll
        for (int k = 0; k < N; k++) {
            const uint32_t length = at[k][1] - at[k][0];
            if (length > 0) {
                e++; /* as `expand` counts them, the first is 1 */
                if constexpr (value_kind<V>::valued) {
                    shared.entries[e] = {at[k][0] - slot, i + k};
                } else {
                    shared.entries[e] = {at[k][0] - slot};
                }
                atomicOr(&starts[slot / 32], 1u << (slot % 32));
                slot += length;
            }
        }
        slots += total & 0xFFFF, kept += total >> 16;
    }
    sort_sync<G>();
    if (S::wide) {
        const uint32_t bits = t < (int)S::parts ? (uint32_t)__popc(starts[t]) : 0;
        uint32_t all;
        const uint32_t sum = group_sum<G>(bits, shared.warp_sum, &all);
        if (t < (int)S::parts) {
            shared.before[t] = (uint16_t)sum;
        }
        sort_sync<G>();
    }
}

/* The thread's words, unsorted: slots t, t + G, ...; all ones where there is no product. B's values are fetched slot by
 * slot, as rows of B have them, and are on their way while the words are sorted. Nothing is fetched under a condition:
 * the compiler would wait for each; where there is no product it is B's first entry. */
template <int G, int VT, typename V, bool COUNT>
__device__ inline void expand(const spg_job &job, uint32_t products, int bits, uint32_t low,
                              sort_shared<G, VT, V> &shared, uint32_t (&w)[VT],
                              sort_factor<V, sort_shape<G, VT>::pieces> (&b)[VT]) {
    typedef sort_shape<G, VT> S;
    const int t = sort_lane<G>(), first = sort_group_number<G>() * S::stride;
    const uint32_t *const all_starts = shared.starts + sort_group_number<G>() * S::parts;
    const sort_entry<V> *all = shared.entries + first;
    uint32_t starts = 0, at[VT];
#pragma unroll
    for (int r = 0; r < VT; r++) {
        const int slot = t + r * G, bit = G > WARP ? t % 32 : t + r * G % 32;
        if (G > WARP) {
            starts = all_starts[slot / 32], all = shared.entries + shared.before[slot / 32];
        } else if (r * G % 32 == 0) {
            all += __popc(starts);
            starts = all_starts[r * G / 32];
        }
        const sort_entry<V> entry = all[__popc(starts & ((2u << bit) - 1))];
        at[r] = slot < (int)products ? entry.base + (uint32_t)slot : 0;
        if constexpr (!COUNT && value_kind<V>::valued) {
            shared.origin[first + slot] = (typename sort_origin<S::pieces>::type)entry.origin;
        }
    }
#pragma unroll
    for (int r = 0; r < VT; r++) {
        w[r] = __ldg(job.B.col + at[r]);
    }
    if constexpr (!COUNT) {
#pragma unroll
        for (int r = 0; r < VT; r++) {
            b[r] = sort_factor<V, S::pieces>::at(job, at[r]);
        }
    }
#pragma unroll
    for (int r = 0; r < VT; r++) {
        const int slot = t + r * G;
        w[r] = slot >= (int)products ? ~0u : COUNT ? w[r] - low : (w[r] - low) << bits | (uint32_t)slot;
    }
}

/* Bit r: the thread's sorted word r is the first of its column. */
template <int G, int VT, typename V>
__device__ inline unsigned find_heads(const uint32_t (&w)[VT], uint32_t products, int bits,
                                      sort_shared<G, VT, V> &shared) {
    constexpr int lanes = G < WARP ? G : WARP;
    const int t = sort_lane<G>();
    uint32_t before = __shfl_up_sync(~0u, w[VT - 1], 1, lanes);
    unsigned heads = 0;
    if (G > WARP) {
        if (t % WARP == WARP - 1) {
            shared.warp_sum[t / WARP] = w[VT - 1];
        }
        sort_sync<G>();
        if (t % WARP == 0 && t > 0) {
            before = shared.warp_sum[t / WARP - 1];
        }
        sort_sync<G>();
    }
#pragma unroll
    for (int r = 0; r < VT; r++) {
        uint32_t here = w[r] >> bits, last = r > 0 ? w[r > 0 ? r - 1 : 0] >> bits : before >> bits;
        bool head = (t == 0 && r == 0) || here != last;
        heads |= head && t * VT + r < (int)products ? 1u << r : 0;
    }
    return (unsigned)fresh((int)heads); /* as predicates ptxas 13.0 gets some of its uses wrong */
}

/* sums[r]: of the products of word r's column up to it that are the thread's own, and, of its last run, all others. */
template <int G, int VT, typename V>
__device__ inline void sum_runs(const spg_job &job, uint32_t begin, uint32_t products, int bits, unsigned heads,
                                sort_shared<G, VT, V> &shared, const uint32_t (&w)[VT],
                                const sort_factor<V, sort_shape<G, VT>::pieces> (&own)[VT], V (&sums)[VT]) {
    typedef sort_shape<G, VT> S;
    const int t = sort_lane<G>(), lane = (int)threadIdx.x % S::team; /* of the team */
    const uint32_t mask = (1u << bits) - 1, column = w[VT - 1] >> bits;
    sort_factor<V, S::pieces> *const b = shared.b + sort_group_number<G>() * S::stride;
    const typename sort_origin<S::pieces>::type *const origin = shared.origin + sort_group_number<G>() * S::stride;
    enum { TOGETHER = S::pieces ? 4 : VT, TAIL = S::pieces ? 4 : 1 }; /* products whose factors come together */
    V sum = value_kind<V>::nothing(job);
#pragma unroll
    for (int r = 0; r < VT; r++) {
        b[t + r * G] = own[r];
    }
#pragma unroll
    for (int first = 0; first < VT; first += TOGETHER) {
        V a[TOGETHER], its_b[TOGETHER];
#pragma unroll
        for (int k = 0; k < TOGETHER; k++) {
            const bool there = t * VT + first + k < (int)products;
            a[k] = value_at<V>(job.A, there ? begin + origin[w[first + k] & mask] : 0);
        }
        if (first == 0) {
            sort_sync<G>();
        }
#pragma unroll
        for (int k = 0; k < TOGETHER; k++) {
            its_b[k] = b[w[first + k] & mask].value(job);
        }
#pragma unroll
        for (int k = 0; k < TOGETHER; k++) {
            sum = add_times(job, a[k], its_b[k], heads >> (first + k) & 1 ? value_kind<V>::nothing(job) : sum);
            sums[first + k] = sum;
        }
    }
    /* does the last run go on? */
    bool more = heads != 0;
    if (!S::wide) {
        more = (__shfl_down_sync(~0u, w[0], 1) >> bits == column) && more && (t + 1) * VT < (int)products;
        if (!__any_sync(~0u, more)) {
            return;
        }
    }
#pragma unroll
    for (int r = 0; r < VT; r++) {
        shared.words[word_place<VT>(lane * VT) + word_place<VT>(r)] = w[r];
    }
    sort_sync<G>();
    for (int i = (t + 1) * VT, at = (lane + 1) * VT; more && i < (int)products; i += TAIL, at += TAIL) {
        V a[TAIL], its_b[TAIL];
        bool same[TAIL];
#pragma unroll
        for (int k = 0; k < TAIL; k++) {
            const bool there = i + k < (int)products;
            const uint32_t word = there ? shared.words[word_place<VT>(at + k)] : 0;
            same[k] = there && word >> bits == column;
            a[k] = its_b[k] = V{};
            if (same[k]) {
                a[k] = value_at<V>(job.A, begin + origin[word & mask]), its_b[k] = b[word & mask].value(job);
            }
        }
#pragma unroll
        for (int k = 0; k < TAIL; k++) {
            sum = same[k] ? add_times(job, a[k], its_b[k], sum) : sum;
        }
        more = same[TAIL - 1];
    }
    sums[VT - 1] = sum;
}

/* Entries first .. end-1 of what a team has made, to C from `at` on; `step` lanes, of which this is lane t, begin at a
 * whole line of memory. */
template <int G, int VT, typename V, bool PLAIN>
__device__ inline void copy_out(const spg_job &job, int64_t at, int first, int end, int t, int step, uint32_t low,
                                const sort_shared<G, VT, V> &shared) {
    uint32_t *const col = (uint32_t *)job.col + at;
    V *const val = (V *)job.val + at;
#pragma unroll 1
    for (int begin = step < WARP ? first : first - (int)((uint32_t)(at + first) % WARP); begin < end; begin += step) {
        const int i = begin + t;
        if (i >= first && i < end) {
            const uint32_t place = (uint32_t)i + (uint32_t)i / 8;
            if (PLAIN) {
                col[i] = low + shared.columns[place];
            } else {
                put_col(job, at + i, low + shared.columns[place]);
            }
            if constexpr (value_kind<V>::valued) {
                val[i] = settled(shared.sums[place]);
            }
        }
    }
}

/* A row of C, from `at` on, from its sorted words; columns are counted from `low`. The rows of a warp are written
 * together where they follow each other. */
template <int G, int VT, typename V>
__device__ inline void compress(const spg_job &job, int64_t at, uint32_t begin, uint32_t products, int bits,
                                uint32_t low, unsigned heads, const uint32_t (&w)[VT],
                                const sort_factor<V, sort_shape<G, VT>::pieces> (&b)[VT],
                                sort_shared<G, VT, V> &shared) {
    typedef sort_shape<G, VT> S;
    const int t = sort_lane<G>();
    V sums[VT];
    if constexpr (value_kind<V>::valued) {
        sum_runs<G, VT, V>(job, begin, products, bits, heads, shared, w, b, sums);
    }
    const uint32_t count = (uint32_t)__popc(heads);
    uint32_t end, rank = group_sum<S::team>(count, shared.warp_sum, &end), first = 0;
    int step = S::team;
    if (G < WARP) {
        const uint32_t its_first = __shfl_sync(~0u, rank, 0, G), its_end = __shfl_sync(~0u, rank + count, G - 1, G);
        at -= its_first;
        const int64_t leader = __shfl_sync(~0u, at, 0);
        if (__all_sync(~0u, at == leader || its_first == its_end)) {
            at = leader;
        } else {
            first = its_first, end = its_end, step = G;
        }
    }
    sort_sync<G>();
    const int here = min(max((int)products - t * VT, 0), VT); /* the thread's words that are products */
    unsigned ends = heads >> 1 | (1u << here) >> 1;           /* the last of each column, or of the thread's words */
    ends = heads ? ends & ~((heads & (0u - heads)) - 1) : 0;
    rank--;
#pragma unroll
    for (int r = 0; r < VT; r++) {
        rank += heads >> r & 1;
        if (ends >> r & 1) {
            const uint32_t place = rank + rank / 8;
            shared.columns[place] = w[r] >> bits;
            if constexpr (value_kind<V>::valued) {
                shared.sums[place] = sums[r];
            }
        }
    }
    sort_sync<G>();
    const int lane = step == G ? t : (int)threadIdx.x % S::team;
    if (job.wide_col || job.names) {
        copy_out<G, VT, V, false>(job, at, (int)first, (int)end, lane, step, low, shared);
    } else {
        copy_out<G, VT, V, true>(job, at, (int)first, (int)end, lane, step, low, shared);
    }
}

/* A row of C as the group that makes it has it. */
typedef struct spg_row {
    int64_t at; /* where it begins in C, when it is filled */
    uint32_t begin, entries, products;
} spg_row;

/* The words of a row's products in columns low .. high-1, sorted, and which are the first of their column. */
template <int G, int VT, typename V>
__device__ inline unsigned sort_products(const spg_job &job, uint32_t products, int bits, uint32_t (&w)[VT],
                                         sort_shared<G, VT, V> &shared) {
    sort_sync<G>();
    sort_group_of<G, VT>(w, sort_lane<G>(), SORT_BARRIER, shared.words, job.ones);
    sort_sync<G>();
    return find_heads<G, VT, V>(w, products, bits, shared);
}

/* Different columns of a row, if hardly any are there twice: a column marks its bit of a table; those that find theirs
 * marked are looked for among the others, one by one. False if they are many. A warp comes here together. */
template <int G, int VT>
__device__ inline bool count_unsorted(const uint32_t (&w)[VT], uint32_t products, sort_shared<G, VT, no_value> &shared,
                                      uint32_t *total) {
    enum { LOG_BITS = 9 + (G >= 2) + (G >= 4) + (G >= 8) + (G >= 16) + (G >= 32), MOST = 16 };
    const int t = sort_lane<G>(), lane = (int)threadIdx.x % WARP;
    const unsigned group = ~0u >> (32 - G) << (lane - t);
    uint32_t *const marks = shared.marks + sort_group_number<G>() * ((1 << LOG_BITS) / 32);
    unsigned again = 0;
    sort_sync<G>();
#pragma unroll
    for (int k = 0; k < SORT_MARKS / 128; k++) {
        ((uint4 *)shared.marks)[lane + k * WARP] = {};
    }
    __syncwarp();
#pragma unroll
    for (int r = 0; r < VT; r++) {
        const uint32_t bit = w[r] * 0x9E3779B1u >> (32 - LOG_BITS), mark = 1u << bit % 32;
        if (t + r * G < (int)products) {
            again |= atomicOr(marks + bit / 32, mark) & mark ? 1u << r : 0;
        }
    }
    const uint32_t found = (uint32_t)__popc(again);
    if (__reduce_add_sync(~0u, found) > MOST) {
        return false;
    }
    group_sum<G>(found, NULL, total);
    *total = products - *total;
    for (unsigned with; (with = __ballot_sync(~0u, again != 0)) != 0;) {
        uint32_t x = ~0u;
        unsigned equal = 0;
#pragma unroll
        for (int r = VT - 1; r >= 0; r--) {
            x = again >> r & 1 ? w[r] : x;
        }
        x = __shfl_sync(~0u, x, with & group ? __ffs((int)(with & group)) - 1 : lane);
#pragma unroll
        for (int r = 0; r < VT; r++) {
            equal |= w[r] == x ? 1u << r : 0;
        }
        const unsigned others = __ballot_sync(~0u, (equal & ~again) != 0);
        *total += (with & group) != 0 && (others & group) == 0;
        again &= ~equal;
    }
    return true;
}

/* The number of a row's entries in C. `sorted`: have columns of rows before been there twice too often not to sort? */
template <int G, int VT>
__device__ inline uint32_t count_row(const spg_job &job, const spg_row &row, sort_shared<G, VT, no_value> &shared,
                                     bool *sorted) {
    uint32_t w[VT], total;
    sort_factor<no_value, sort_shape<G, VT>::pieces> b[VT];
    read_entries<G, VT, no_value>(job, row.begin, row.entries, 0, job.cols, shared);
    expand<G, VT, no_value, true>(job, row.products, 0, 0, shared, w, b);
    if constexpr (G >= 8 && G <= WARP) {
        if (!*sorted && count_unsorted<G, VT>(w, row.products, shared, &total)) {
            return total;
        }
        *sorted = true;
    }
    const unsigned heads = sort_products<G, VT, no_value>(job, row.products, 0, w, shared);
    group_sum<G>((uint32_t)__popc(heads), shared.warp_sum, &total);
    return total;
}

/* Fills a row of C, or of a piece of it the columns low .. high-1. Groups of one warp come here together. */
template <int G, int VT, typename V>
__device__ inline void fill_row(const spg_job &job, const spg_row &row, uint32_t low, uint32_t high,
                                sort_shared<G, VT, V> &shared) {
    uint32_t w[VT];
    sort_factor<V, sort_shape<G, VT>::pieces> b[VT];
    const int bits = row.products > 1 ? 32 - __clz((int)row.products - 1) : 0;
    read_entries<G, VT, V>(job, row.begin, row.entries, low, high, shared);
    expand<G, VT, V, false>(job, row.products, bits, low, shared, w, b);
    const unsigned heads = sort_products<G, VT, V>(job, row.products, bits, w, shared);
    compress<G, VT, V>(job, row.at, row.begin, row.products, bits, low, heads, w, b, shared);
}

/* Fills the listed rows of C. */
template <int G, int VT, typename V>
__global__ void __launch_bounds__(sort_shape<G, VT>::nt, sort_shape<G, VT>::blocks)
    kernel_sort_rows(spg_job job, spg_list list) {
    typedef sort_shape<G, VT> S;
    LSP_DYNAMIC_SHARED(memory);
    const uint32_t i = (blockIdx.x * (uint32_t)S::nt + threadIdx.x) / G;
    spg_row row = {};
    lsp_let_next_begin();
    if (i < list.count) {
        const uint32_t number = list_row(list, i);
        row.products = job.products[number];
        row.begin = job.A.rowptr[number];
        row.entries = row.products > 0 ? job.A.rowptr[number + 1] - row.begin : 0;
        row.at = job.rowptr[number];
    }
    if (row.entries > S::capacity || row.products > S::capacity) { /* never: the bins see to it */
        row.entries = row.products = 0;
    }
    fill_row<G, VT, V>(job, row, 0, job.cols, ((sort_shared<G, VT, V> *)memory)[threadIdx.x / S::team]);
    lsp_end_after_previous();
}

/* Fills pieces of long rows, of at most 4096 products each; the first is the last in memory. */
template <typename V>
__global__ void __launch_bounds__(PIECE_G, 3)
    kernel_sort_pieces(spg_job job, const spg_piece *pieces_end, const uint32_t *made) {
    LSP_DYNAMIC_SHARED(memory);
    lsp_let_next_begin();
    for (uint32_t i = blockIdx.x; i < *made; i += gridDim.x) {
        const spg_piece piece = pieces_end[-1 - (int64_t)i];
        const uint32_t begin = job.A.rowptr[piece.row], entries = job.A.rowptr[piece.row + 1] - begin;
        fill_row<PIECE_G, PIECE_VT, V>(job, {piece.at, begin, entries, piece.products}, piece.low, piece.high,
                                       *(sort_shared<PIECE_G, PIECE_VT, V> *)memory);
        sort_sync<PIECE_G>();
    }
    lsp_end_after_previous();
}

#endif
