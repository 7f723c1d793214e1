/* Rows that are made by sorting, first step (expand): G lanes turn the products of a row, at most VT * G, into words
 * and values. A word is the product's column above its slot; slots number the row's products in the order of A's
 * entries. After the sort, the slot leads back to the two factors. Used by kernel_sort.cuh. */
#pragma once

#include "spgemm/gpu/job.cuh"

enum {
    SORT_MARKS = 512, /* 32-bit words of a warp's table of bits, for counting without a sort */
    SORT_OWN = 16     /* products of a column beyond a lane's own words; with more, its warp adds them together */
};

template <int G, int VT> struct sort_shape {
    enum {
        capacity = G * VT, /* most products, and most entries of A */
        wide = G > WARP,
        pieces = capacity > 2048, /* also takes pieces of long rows, whose rows of A may have any number of entries */
        nt = wide ? G : 128,      /* threads a block */
        team = wide ? G : (int)WARP, /* lanes that share memory: the lanes of a row, or a warp */
        groups = team / G,           /* rows a team */
        narrow_each = G > 4 ? 1 : 2,
        each = wide ? 4 : (int)narrow_each, /* entries of A that a lane reads together */
        parts = (capacity + 31) / 32,
        marked = wide ? capacity / 64 * (capacity / 64) / 2 : 1, /* words of a bit a block of columns: rank_blocks */
        stride = capacity + (G < WARP ? G : 1), /* slots of a row, and some more, to put rows in different banks */
        padded = team * VT + team * VT / 8,     /* places for items that are written VT a lane: see word_place */
        narrow_blocks = G == 8 ? 8 : 10,        /* with 8 lanes, ten blocks were 9 % slower */
        wide_blocks = pieces ? 3 : 1024 / G,
        blocks = wide ? (int)wide_blocks : (int)narrow_blocks /* that a multiprocessor must hold */
    };
};

/* Entry `origin` of A's row: the product in slot s belongs to B's entry base + s. */
template <typename V> struct alignas(8) sort_entry { uint32_t base, origin; };
template <> struct alignas(4) sort_entry<no_value> { uint32_t base; };

/* B's value of a product. It is loaded at once, in the order of B's rows; or (LATER) only its place is kept and it is
 * loaded when it is used, which takes less memory. */
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

/* A team's shared memory. A pattern needs less of it. */
template <int G, int VT, typename V> struct sort_shared {
    typedef sort_shape<G, VT> S;
    enum { valued = value_kind<V>::valued };
    typedef std::conditional_t<S::pieces, uint32_t, uint16_t> origin_type;
    enum { origins = valued ? S::groups * S::stride : 1 };
    union {
        struct {
            /* of each slot: the entry of A that its product belongs to */
            origin_type origin[origins];
            union {
                struct {
                    sort_entry<V> entries[S::groups * S::stride];
                    uint32_t starts[S::groups * S::parts]; /* one bit a slot: an entry of A begins there */
                };
                struct {
                    uint32_t blocks[S::marked];                  /* one bit a block of columns that has products */
                    uint16_t block_rank[S::marked];              /* of each 32 blocks: the marked ones before them */
                    uint32_t waiting[S::wide ? S::capacity : 1]; /* the column of each slot */
                };
                alignas(16) uint32_t marks[valued || S::wide ? 4 : SORT_MARKS]; /* one bit a hashed column */
                alignas(16) uint32_t table[valued || !S::wide ? 4 : 2 * S::capacity];
                struct {
                    sort_factor<V, S::pieces> b[origins]; /* of each slot: B's value */
                    uint32_t words[valued || S::wide ? S::padded : 1];
                };
            };
        };
        struct {
            V sums[valued ? S::padded : 1];
            uint32_t columns[S::padded];
        };
    };
    uint16_t before[S::wide ? S::parts : 1]; /* of each 32 slots: the entries of A that begin before them */
    uint32_t warp_sum[S::wide ? G / WARP : 1];
    int shift;                                    /* log2 of a block's columns, if blocks are ranked; else 0 */
    uint16_t block_of[S::wide ? S::capacity : 1]; /* numbers of the marked blocks; see sort_bytes */

    /* The column, counted from `low`, that a word has. */
    __device__ uint32_t column_of(uint32_t x) const {
        return S::wide && shift > 0 ? (uint32_t)block_of[x >> shift] << shift | (x & ((1u << shift) - 1)) : x;
    }
};

/* Shared memory of a block that fills rows of a C of `cols` columns. With 0 columns: of a block that counts. */
template <int G, int VT, typename V> static inline size_t sort_bytes(uint32_t cols) {
    typedef sort_shape<G, VT> S;
    const bool ranks = !S::wide || lsp_bits_below(S::capacity) + lsp_bits_below(cols) > 32;
    return S::nt / S::team * sizeof(sort_shared<G, VT, V>) - (ranks ? 0 : sizeof(sort_shared<G, VT, V>::block_of));
}

/* The lane's number in its group, and the group's number in its team. */
template <int G> __device__ inline int sort_lane() { return (int)threadIdx.x % G; }
template <int G> __device__ inline int sort_group_number() { return G > WARP ? 0 : (int)threadIdx.x % WARP / G; }

/* A group larger than a warp is a whole block. The compiler must know the number of its barrier: otherwise it reserves
 * all 16, and a multiprocessor then holds only four such blocks. */
enum { SORT_BARRIER = 1 };
template <int G> __device__ inline void sort_sync() { group_sync(G, SORT_BARRIER); }

/* The exclusive prefix sum over the group; *total is the sum of all. */
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

/* Reads the entries of A's row that have products in columns low .. high-1, and notes in which slots their products
 * begin. Returns the number of these products. The whole warp calls together. */
template <int G, int VT, typename V>
__device__ inline uint32_t read_entries(const spg_job &job, uint32_t begin, uint32_t entries, uint32_t low,
                                        uint32_t high, sort_shared<G, VT, V> &shared) {
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
                e++; /* `expand` numbers entries from 1 */
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
    return slots;
}

/* Replaces each column by a smaller number in the same order, for words of 32 bits: only those blocks of 2^shift
 * columns that have products are numbered. `columns` is the number of all columns. The row's columns wait in shared
 * memory meanwhile: with them in registers more would be spilled, in rows that need no ranks, too. */
template <int G, int VT, typename V>
__device__ inline void rank_blocks(uint32_t products, uint32_t columns, int shift, sort_shared<G, VT, V> &shared,
                                   uint32_t (&w)[VT]) {
    const uint32_t t = (uint32_t)sort_lane<G>(), words = ((columns - 1) >> shift) / 32 + 1;
    uint32_t all = 0, here;
    sort_sync<G>();
    for (uint32_t k = t; k < words; k += G) {
        shared.blocks[k] = 0;
    }
#pragma unroll
    for (int r = 0; r < VT; r++) {
        shared.waiting[t + (uint32_t)(r * G)] = w[r];
    }
    sort_sync<G>();
#pragma unroll 4
    for (uint32_t slot = t; slot < products; slot += G) {
        const uint32_t block = shared.waiting[slot] >> shift;
        atomicOr(shared.blocks + block / 32, 1u << block % 32);
    }
    sort_sync<G>();
    for (uint32_t first = 0; first < words; first += G) {
        const uint32_t k = first + t;
        uint32_t left = k < words ? shared.blocks[k] : 0;
        uint32_t rank = all + group_sum<G>((uint32_t)__popc(left), shared.warp_sum, &here);
        if (k < words) {
            shared.block_rank[k] = (uint16_t)rank;
        }
        for (; left; left &= left - 1) {
            shared.block_of[rank++] = (uint16_t)(k * 32 + (uint32_t)__ffs((int)left) - 1);
        }
        all += here;
    }
    sort_sync<G>();
#pragma unroll 4
    for (uint32_t slot = t; slot < products; slot += G) {
        const uint32_t column = shared.waiting[slot], block = column >> shift;
        const uint32_t rank = shared.block_rank[block / 32] + bits_below(shared.blocks[block / 32], block % 32);
        shared.waiting[slot] = rank << shift | (column & ((1u << shift) - 1));
    }
#pragma unroll
    for (int r = 0; r < VT; r++) {
        w[r] = shared.waiting[t + (uint32_t)(r * G)];
    }
}

/* Makes the thread's words, unsorted, for slots t, t + G, ...; ~0 where there is no product. B's values are loaded in
 * the order of slots, in which lanes read neighbours, and arrive while the words are sorted. A lane without a product
 * loads B's first entry, because loads under a condition would be waited for one by one. */
template <int G, int VT, typename V, bool COUNT>
__device__ inline void expand(const spg_job &job, uint32_t products, int bits, uint32_t low, uint32_t high,
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
            shared.origin[first + slot] = (typename sort_shared<G, VT, V>::origin_type)entry.origin;
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
        w[r] -= low;
    }
    if constexpr (S::wide && !COUNT) {
        const int shift = bits + lsp_bits_below(high - low) <= 32 ? 0 : 32 - 2 * bits;
        if (t == 0) {
            shared.shift = shift;
        }
        if (shift > 0) {
            rank_blocks<G, VT, V>(products, high - low, shift, shared, w);
        }
    }
#pragma unroll
    for (int r = 0; r < VT; r++) {
        const int slot = t + r * G;
        w[r] = slot >= (int)products ? ~0u : COUNT ? w[r] : w[r] << bits | (uint32_t)slot;
    }
}
