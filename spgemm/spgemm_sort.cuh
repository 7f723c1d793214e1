/* Rows whose products are sorted: expand, sort, compress without leaving the chip. G lanes take a row of at
 * most VT * G products. A product is a word: its column above its slot, which counts the row's products in the order of
 * A's entries; a sorted word's slot leads back to the two factors, and equal neighbours are summed in order. */
#ifndef LSP_SPGEMM_SORT_CUH
#define LSP_SPGEMM_SORT_CUH

#include "spgemm_device.cuh"

/* Pieces of long rows that are sorted: their column and slot make a word. */
enum { PIECE_G = 256, PIECE_VT = 16, PIECE_PRODUCTS = PIECE_G * PIECE_VT, PIECE_RANGE = 1 << 20 };

template <int G, int VT> struct sort_shape {
    enum {
        capacity = G * VT,      /* products, and entries of A */
        nt = G < 128 ? 128 : G, /* threads a block */
        groups = nt / G,
        wide = G > WARP,
        parts = (capacity + 31) / 32,
        each = G > WARP ? 4 : 1,         /* entries of A that a lane reads at a time */
        pieces = capacity > 2048,        /* takes pieces of rows too, of any number of entries of A */
        padded = capacity + capacity / 8 /* places for what is written VT items a lane: see word_place */
    };
};

template <bool MANY> struct sort_origin { typedef uint16_t type; };
template <> struct sort_origin<true> { typedef uint32_t type; };

/* Shared memory of a group: without values less is needed. */
template <int G, int VT, typename V> struct sort_shared {
    typedef sort_shape<G, VT> S;
    enum { valued = value_kind<V>::valued };
    union {
        struct {
            uint32_t base[S::capacity]; /* the product in slot s, of entry e, comes from B's entry base[e] + s */
            /* which of A's entries it is, those without products counted too */
            typename sort_origin<S::pieces>::type origin[valued ? S::capacity : 1];
            uint16_t source[valued ? S::capacity : 1]; /* the entry e of the product in a slot */
            uint32_t starts[S::parts];                 /* a bit a slot: an entry begins there */
            uint32_t words[valued || S::wide ? S::padded : 1];
        };
        struct {
            V sums[valued ? S::padded : 1];
            uint32_t columns[S::padded];
        };
    };
    uint16_t before[S::wide ? S::parts : 1]; /* entries that begin in slots of earlier parts */
    uint32_t warp_sum[S::wide ? G / WARP : 1];
};

template <int G> __device__ inline void sort_sync() { group_sync(G, (int)threadIdx.x / G + 1); }

/* Exclusive sum over the group; *total is that of all. */
template <int G> __device__ inline uint32_t group_sum(uint32_t x, int t, uint32_t *warp_sum, uint32_t *total) {
    constexpr int lanes = G < WARP ? G : WARP;
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
__device__ inline void read_entries(const spg_job &job, uint32_t begin, uint32_t entries, int t, uint32_t low,
                                    uint32_t high, sort_shared<G, VT, V> &shared) {
    typedef sort_shape<G, VT> S;
    enum { N = S::each };
    const uint32_t outer[2] = {low, high};
    uint32_t slots = 0, kept = 0, rounds = (entries + G * N - 1) / (G * N);
    if (G < WARP) {
        rounds = __reduce_max_sync(~0u, rounds);
    }
    for (int k = t; k < S::parts; k += G) {
        shared.starts[k] = 0;
    }
    sort_sync<G>();
    for (uint32_t round = 0, i = (uint32_t)t * N; round < rounds; round++, i += G * N) {
        uint32_t at[N][2] = {}, n[N] = {}, mine = 0, total;
#pragma unroll
        for (int k = 0; k < N; k++) {
            if (i + k < entries) {
                const uint32_t row = __ldg(job.A.col + begin + i + k);
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
        const uint32_t sum = group_sum<G>(mine, t, shared.warp_sum, &total);
        uint32_t slot = slots + (sum & 0xFFFF), e = kept + (sum >> 16);
#pragma unroll
        for (int k = 0; k < N; k++) {
            const uint32_t length = at[k][1] - at[k][0];
            if (length > 0) {
                shared.base[e] = at[k][0] - slot;
                if (value_kind<V>::valued) {
                    shared.origin[e] = (typename sort_origin<S::pieces>::type)(i + k);
                }
                atomicOr(&shared.starts[slot / 32], 1u << (slot % 32));
                slot += length, e++;
            }
        }
        slots += total & 0xFFFF, kept += total >> 16;
    }
    sort_sync<G>();
    if (S::wide) {
        const uint32_t bits = t < (int)S::parts ? (uint32_t)__popc(shared.starts[t]) : 0;
        uint32_t all;
        const uint32_t sum = group_sum<G>(bits, t, shared.warp_sum, &all);
        if (t < (int)S::parts) {
            shared.before[t] = (uint16_t)sum;
        }
        sort_sync<G>();
    }
}

/* The thread's words, unsorted: slots t, t + G, ...; all ones where there is no product. */
template <int G, int VT, typename V, bool COUNT>
__device__ inline void expand(const spg_job &job, uint32_t products, int bits, int t, uint32_t low,
                              sort_shared<G, VT, V> &shared, uint32_t (&w)[VT]) {
    uint32_t starts = 0, before = 0;
#pragma unroll
    for (int r = 0; r < VT; r++) {
        const uint32_t slot = (uint32_t)(t + r * G);
        if (G > WARP) {
            starts = shared.starts[slot / 32], before = shared.before[slot / 32];
        } else if (r * G % 32 == 0) {
            before += (uint32_t)__popc(starts);
            starts = shared.starts[r * G / 32];
        }
        w[r] = ~0u;
        if (slot < products) {
            const uint32_t e = before + (uint32_t)__popc(starts & ((2u << (slot % 32)) - 1)) - 1;
            const uint32_t column = __ldg(job.B.col + (shared.base[e] + slot)) - low;
            w[r] = COUNT ? column : column << bits | slot;
            if (!COUNT && value_kind<V>::valued) {
                shared.source[slot] = (uint16_t)e;
            }
        }
    }
}

/* Bit r: the thread's sorted word r is the first of its column. */
template <int G, int VT, typename V>
__device__ inline unsigned find_heads(const uint32_t (&w)[VT], uint32_t products, int bits, int t,
                                      sort_shared<G, VT, V> &shared) {
    constexpr int lanes = G < WARP ? G : WARP;
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

/* The factors of the product in a slot. */
template <int G, int VT, typename V>
__device__ inline void factors_of(const spg_job &job, uint32_t begin, uint32_t slot,
                                  const sort_shared<G, VT, V> &shared, V *a, V *b) {
    const uint32_t e = shared.source[slot];
    *a = value_at<V>(job.A, begin + shared.origin[e]);
    *b = value_at<V>(job.B, shared.base[e] + slot);
}

/* sums[r]: of the products of word r's column up to it that are the thread's own, and, of its last run, all others. */
template <int G, int VT, typename V>
__device__ inline void sum_runs(const spg_job &job, uint32_t begin, uint32_t products, int bits, int t, unsigned heads,
                                const sort_shared<G, VT, V> &shared, const uint32_t (&w)[VT], V (&sums)[VT]) {
    const uint32_t mask = (1u << bits) - 1, column = w[VT - 1] >> bits;
    enum { DEPTH = 4, TAIL = G > WARP ? DEPTH : 1 }; /* products of which the factors are on their way together */
    V sum = V{};
    if (heads == 0) { /* all are summed by threads before */
        return;
    }
#pragma unroll
    for (int first = 0; first < VT; first += DEPTH) {
        V a[DEPTH], b[DEPTH];
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            a[k] = b[k] = V{};
            if (t * VT + first + k < (int)products) {
                factors_of<G, VT, V>(job, begin, w[first + k] & mask, shared, &a[k], &b[k]);
            }
        }
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            sum = heads >> (first + k) & 1 ? times(job, a[k], b[k]) : add_times(job, a[k], b[k], sum);
            sums[first + k] = sum;
        }
    }
    bool more = true;
    for (int i = (t + 1) * VT; more && i < (int)products; i += TAIL) {
        V a[TAIL], b[TAIL];
        bool same[TAIL];
#pragma unroll
        for (int k = 0; k < TAIL; k++) {
            const uint32_t word = shared.words[word_place<VT>(i + k)];
            same[k] = i + k < (int)products && word >> bits == column;
            a[k] = b[k] = V{};
            if (same[k]) {
                factors_of<G, VT, V>(job, begin, word & mask, shared, &a[k], &b[k]);
            }
        }
#pragma unroll
        for (int k = 0; k < TAIL; k++) {
            sum = same[k] ? add_times(job, a[k], b[k], sum) : sum;
        }
        more = same[TAIL - 1];
    }
    sums[VT - 1] = sum;
}

/* A row of C, from `at` on, from its sorted words; columns are counted from `low`. */
template <int G, int VT, typename V>
__device__ inline void compress(const spg_job &job, int64_t at, uint32_t begin, uint32_t products, int bits, int t,
                                uint32_t low, unsigned heads, uint32_t rank, uint32_t total, const uint32_t (&w)[VT],
                                sort_shared<G, VT, V> &shared) {
    V sums[VT];
    if constexpr (value_kind<V>::valued) {
#pragma unroll
        for (int r = 0; r < VT; r++) {
            shared.words[word_place<VT>(t * VT) + word_place<VT>(r)] = w[r];
        }
        sort_sync<G>();
        sum_runs<G, VT, V>(job, begin, products, bits, t, heads, shared, w, sums);
    }
    sort_sync<G>();
    const int here = min(max((int)products - t * VT, 0), VT); /* the thread's words that are products */
    unsigned ends = heads >> 1 | (1u << here) >> 1;           /* the last of each column, or of the thread's words */
    ends = heads ? ends & ~((heads & (0u - heads)) - 1) : 0;
#pragma unroll
    for (int r = 0; r < VT; r++) {
        rank += heads >> r & 1;
        if (ends >> r & 1) {
            const int place = word_place<VT>((int)rank - 1);
            shared.columns[place] = w[r] >> bits;
            if constexpr (value_kind<V>::valued) {
                shared.sums[place] = settled(sums[r]);
            }
        }
    }
    sort_sync<G>();
    uint32_t *const plain = job.wide_col || job.names ? NULL : (uint32_t *)job.col + at;
    for (uint32_t i = (uint32_t)t; i < total; i += G) {
        const int place = word_place<VT>((int)i);
        if (plain) {
            plain[i] = low + shared.columns[place];
        } else {
            put_col(job, at + i, low + shared.columns[place]);
        }
        if constexpr (value_kind<V>::valued) {
            put_value<V>(job, at + i, shared.sums[place]);
        }
    }
}

/* A row of C as the group that makes it has it. */
typedef struct spg_row {
    int64_t at; /* where it begins in C, when it is filled */
    uint32_t begin, entries, products;
} spg_row;

/* Fills a row of C, or only counts it (COUNT): the number of its entries. Groups of one warp come here together. */
template <int G, int VT, typename V, bool COUNT>
__device__ inline uint32_t sort_row(const spg_job &job, const spg_row &row, int t, sort_shared<G, VT, V> &shared) {
    uint32_t w[VT], total;
    const int bits = !COUNT && row.products > 1 ? 32 - __clz((int)row.products - 1) : 0;
    read_entries<G, VT, V>(job, row.begin, row.entries, t, 0, job.cols, shared);
    expand<G, VT, V, COUNT>(job, row.products, bits, t, 0, shared, w);
    sort_group<VT, (G > WARP)>(w, G, t, (int)threadIdx.x / G + 1, shared.words, job.ones);
    sort_sync<G>();
    const unsigned heads = find_heads<G, VT, V>(w, row.products, bits, t, shared);
    const uint32_t rank = group_sum<G>((uint32_t)__popc(heads), t, shared.warp_sum, &total);
    if (!COUNT) {
        compress<G, VT, V>(job, row.at, row.begin, row.products, bits, t, 0, heads, rank, total, w, shared);
    }
    return total;
}

/* Fills the listed rows of C. */
template <int G, int VT, typename V>
__global__ void __launch_bounds__(sort_shape<G, VT>::nt) kernel_sort_rows(spg_job job, spg_list list) {
    typedef sort_shape<G, VT> S;
    LSP_DYNAMIC_SHARED(memory);
    const int t = (int)threadIdx.x % G, group = (int)threadIdx.x / G;
    const uint32_t i = blockIdx.x * (uint32_t)S::groups + (uint32_t)group;
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
    sort_row<G, VT, V, false>(job, row, t, ((sort_shared<G, VT, V> *)memory)[group]);
    lsp_end_after_previous();
}

/* Fills pieces of long rows, of at most 4096 products each; the first is the last in memory. */
template <typename V>
__global__ void __launch_bounds__(PIECE_G, 3)
    kernel_sort_pieces(spg_job job, const spg_piece *pieces_end, const uint32_t *made) {
    enum { G = PIECE_G, VT = PIECE_VT };
    LSP_DYNAMIC_SHARED(memory);
    sort_shared<G, VT, V> &shared = *(sort_shared<G, VT, V> *)memory;
    const int t = (int)threadIdx.x;
    lsp_let_next_begin();
    for (uint32_t i = blockIdx.x; i < *made; i += gridDim.x) {
        const spg_piece piece = pieces_end[-1 - (int64_t)i];
        const uint32_t begin = job.A.rowptr[piece.row], entries = job.A.rowptr[piece.row + 1] - begin;
        const uint32_t products = piece.products;
        uint32_t w[VT], total;
        const int bits = products > 1 ? 32 - __clz((int)products - 1) : 0;
        read_entries<G, VT, V>(job, begin, entries, t, piece.low, piece.high, shared);
        expand<G, VT, V, false>(job, products, bits, t, piece.low, shared, w);
        sort_group<VT, true>(w, G, t, 1, shared.words, job.ones);
        sort_sync<G>();
        const unsigned heads = find_heads<G, VT, V>(w, products, bits, t, shared);
        const uint32_t rank = group_sum<G>((uint32_t)__popc(heads), t, shared.warp_sum, &total);
        compress<G, VT, V>(job, piece.at, begin, products, bits, t, piece.low, heads, rank, total, w, shared);
        sort_sync<G>();
    }
    lsp_end_after_previous();
}

#endif
