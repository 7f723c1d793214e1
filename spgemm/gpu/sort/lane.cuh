/* Filling rows of few products from few entries of A. One lane makes a row: it merges the rows of B that A's entries
 * lead to. Each step makes an entry of C and waits for the entries of B after those that it took, so this pays only
 * where most entries are sums of several products. Sorting loads all products at once. Taken in kernel_short.cuh, if
 * rows have at most LANE_PRODUCTS products on average and lane_pays. */
#pragma once

#include "spgemm/gpu/job.cuh"

enum {
    LANE_ENTRIES = 8,     /* most entries of A in a row */
    LANE_PRODUCTS = 16,   /* most products */
    LANE_STAGE = 256,     /* entries of C that a warp gathers in shared memory, to write them together */
    LANE_NO_COLUMN = ~0u, /* above every column */
    LANE_BITS = 4
};

/* Do most entries of C sum several products? */
static __host__ __device__ inline bool lane_pays(int64_t products, int64_t entries) {
    return products >= entries + entries / 2;
}

/* A warp's shared memory. */
template <typename V> struct lane_shared {
    V values[value_kind<V>::valued ? (int)LANE_STAGE : 1];
    uint32_t columns[LANE_STAGE];
};

/* A lane's place in each of the rows of B: the next entry and its column. */
struct lane_heads {
    uint32_t at[LANE_ENTRIES], column[LANE_ENTRIES];
    uint32_t left; /* LANE_BITS bits for each row of B: its entries after the next one */
    int most;      /* entries of A in any row of the warp */
};

/* Runs the body for each head. The bound is the same in all lanes. */
#define FOR_HEADS(i, heads) _Pragma("unroll") for (int i = 0; i < (int)LANE_ENTRIES; i++) if (i < (heads).most)

/* The whole warp calls together. Lanes without a row have 0 entries. */
__device__ inline lane_heads lane_open(const spg_job &job, const spg_row &row) {
    lane_heads heads;
    uint32_t k[LANE_ENTRIES], length[LANE_ENTRIES];
    static_assert(LANE_PRODUCTS <= 1 << LANE_BITS && LANE_ENTRIES * LANE_BITS <= 32, "heads.left holds these");
    heads.left = 0;
    heads.most = (int)__reduce_max_sync(~0u, row.entries);
#pragma unroll
    for (int i = 0; i < (int)LANE_ENTRIES; i++) {
        heads.column[i] = LANE_NO_COLUMN;
    }
    FOR_HEADS(i, heads) { k[i] = (uint32_t)i < row.entries ? __ldg(job.A.col + row.begin + i) : 0; }
    FOR_HEADS(i, heads) {
        heads.at[i] = __ldg(job.B.rowptr + k[i]);
        length[i] = (uint32_t)i < row.entries ? __ldg(job.B.rowptr + k[i] + 1) - heads.at[i] : 0;
    }
    FOR_HEADS(i, heads) {
        if (length[i] > 0) {
            heads.column[i] = __ldg(job.B.col + heads.at[i]);
            heads.left |= (length[i] - 1) << LANE_BITS * i;
        }
    }
    return heads;
}

__device__ inline uint32_t lane_least(const lane_heads &heads) {
    uint32_t least = LANE_NO_COLUMN;
    FOR_HEADS(i, heads) { least = min(least, heads.column[i]); }
    return least;
}

__device__ inline void lane_advance(const spg_job &job, lane_heads &heads, int i) {
    const bool more = (heads.left >> LANE_BITS * i) % (1u << LANE_BITS) > 0;
    heads.left -= more ? 1u << LANE_BITS * i : 0;
    heads.at[i] += more;
    heads.column[i] = more ? __ldg(job.B.col + heads.at[i]) : LANE_NO_COLUMN;
}

/* Fills the lane's row of C. `base` is where the warp's rows begin in C if they are to be gathered first, which needs
 * room for all of them; else -1. */
template <typename V>
__device__ inline void lane_fill(const spg_job &job, const spg_row &row, int64_t base, lane_shared<V> &shared) {
    enum { KEPT = sizeof(V) <= 8 }; /* larger values of A are loaded again for each product */
    lane_heads heads = lane_open(job, row);
    V a[LANE_ENTRIES];
    if constexpr (KEPT) {
        FOR_HEADS(i, heads) {
            if ((uint32_t)i < row.entries) {
                a[i] = value_at<V>(job.A, row.begin + i);
            }
        }
    }
    int64_t at = row.at;
    for (uint32_t column; (column = lane_least(heads)) != LANE_NO_COLUMN; at++) {
        V sum;
        if constexpr (value_kind<V>::valued) {
            sum = value_kind<V>::nothing(job);
        }
        FOR_HEADS(i, heads) {
            while (heads.column[i] == column) { /* more than once if B's row has the column twice */
                sum = add_times(job, KEPT ? a[i] : value_at<V>(job.A, row.begin + i), value_at<V>(job.B, heads.at[i]),
                                sum);
                lane_advance(job, heads, i);
            }
        }
        if (base < 0) {
            put_col(job, at, column);
            put_value<V>(job, at, canonical(sum));
        } else {
            shared.columns[at - base] = column;
            if constexpr (value_kind<V>::valued) {
                shared.values[at - base] = canonical(sum);
            }
        }
    }
}

/* Writes the n gathered entries to C. The whole warp calls together. */
template <typename V>
__device__ inline void lane_write(const spg_job &job, int64_t base, uint32_t n, const lane_shared<V> &shared) {
    __syncwarp();
    for (uint32_t i = threadIdx.x % WARP; i < n; i += WARP) {
        put_col(job, base + i, shared.columns[i]);
        if constexpr (value_kind<V>::valued) {
            put_value<V>(job, base + i, shared.values[i]);
        }
    }
    __syncwarp();
}

/* Fills very short rows of the warp, one a lane, if that pays. `count` is the row's nnz; `free`: nothing else fills the
 * row. Returns whether the lane's row is filled. The whole warp calls together. */
template <typename V>
__device__ inline bool fill_lanes(const spg_job &job, bool free, spg_row row, uint32_t count, lane_shared<V> &shared) {
    const bool fits = free && row.products <= LANE_PRODUCTS && row.entries <= LANE_ENTRIES;
    const uint32_t entries = __reduce_add_sync(~0u, fits ? count : 0);
    if (entries == 0 || !lane_pays(__reduce_add_sync(~0u, fits ? row.products : 0), entries)) {
        return false;
    }
    const bool gather = __all_sync(~0u, fits || count == 0) && entries <= LANE_STAGE;
    const int64_t base = gather ? __shfl_sync(~0u, row.at, 0) : -1;
    row.entries = fits ? row.entries : 0;
    lane_fill<V>(job, row, base, shared);
    if (gather) {
        lane_write<V>(job, base, entries, shared);
    }
    return fits;
}
