/* Rows whose products nearly all come from one row of B, as at the neighbours of a hub. A warp copies that long row to
 * C and merges the other products, which it has sorted, into it. Taken for rows of more than 256 products where
 * lsp_merges: set/kernel_window_count.cuh asks. */
#pragma once

#include "spgemm/gpu/job.cuh"

enum {
    MERGE_NT = 128,
    MERGE_WARPS = MERGE_NT / WARP,
    MERGE_VT = LSP_MERGE_MOST / WARP,
    MERGE_TOGETHER = 4 /* entries of the long row that a lane loads together */
};

/* A row of A, the entry of it that leads to the longest row of B, and that row. */
struct merge_row {
    uint32_t begin, end, longest, at, length;
};

/* A warp's shared memory. words: the other products, sorted, each a column above the product's number. where: for each
 * of their columns the position in the long row, and in the lowest bit whether the long row has it. first: the column's
 * first word. before: how many earlier columns the long row has not. a, b: the factors, by the product's number. */
template <typename V> struct merge_shared {
    uint32_t words[LSP_MERGE_MOST], where[LSP_MERGE_MOST];
    uint16_t first[LSP_MERGE_MOST + 2], before[LSP_MERGE_MOST];
    V a[LSP_MERGE_MOST], b[LSP_MERGE_MOST];
};

/* Numbers of the other products. */
struct merge_others {
    uint32_t columns, news; /* their distinct columns; those of these that the long row does not have */
    uint32_t ahead;         /* products that come before the long row's in the order of A's entries */
};

__device__ inline merge_row read_merge_row(const spg_job &job, uint32_t row) {
    merge_row m = {job.A.rowptr[row], job.A.rowptr[row + 1], 0, 0, 0};
    for (uint32_t p = m.begin + threadIdx.x % WARP; p < m.end; p += WARP) {
        const uint32_t length = row_of_entry(job, p, m.end).length;
        m.longest = length > m.length ? p : m.longest;
        m.length = max(m.length, length);
    }
    const uint32_t length = __reduce_max_sync(~0u, m.length);
    m.longest = __reduce_min_sync(~0u, m.length == length && length > 0 ? m.longest : ~0u);
    m.length = length;
    m.at = row_of_entry(job, m.longest, m.end).at;
    return m;
}

/* Makes words and factors of the other products, and returns how many there are. */
template <typename V>
__device__ inline uint32_t expand_others(const spg_job &job, const merge_row &m, merge_shared<V> &shared,
                                         uint32_t *ahead) {
    const uint32_t lane = threadIdx.x % WARP;
    uint32_t n = 0; /* at most LSP_MERGE_MOST in the end: only such rows are merged */
    *ahead = 0;
    for (uint32_t p = m.begin; p < m.end; p += WARP) {
        const row_part row = row_of_entry(job, p + lane, p + lane != m.longest ? m.end : 0);
        *ahead += __reduce_add_sync(~0u, p + lane < m.longest ? row.length : 0);
        n += each_product(row, [&](uint32_t i, uint32_t e, uint32_t q, bool some) {
            if (some) {
                shared.words[n + i] = __ldg(job.B.col + q) << LSP_MERGE_BITS | (n + i);
                shared.a[n + i] = value_at<V>(job.A, p + e), shared.b[n + i] = value_at<V>(job.B, q);
            }
        });
    }
    __syncwarp();
    return n;
}

/* Sorts the other products, and searches the long row for their columns. */
template <typename V>
__device__ inline merge_others find_others(const spg_job &job, const merge_row &m, merge_shared<V> &shared) {
    const uint32_t lane = threadIdx.x % WARP;
    merge_others others;
    const uint32_t n = expand_others(job, m, shared, &others.ahead);
    uint32_t w[MERGE_VT], column[MERGE_VT], length[1] = {m.length}, at[1][MERGE_VT];
    unsigned heads = 0, news = 0;
#pragma unroll
    for (uint32_t r = 0; r < MERGE_VT; r++) {
        w[r] = r * WARP + lane < n ? shared.words[r * WARP + lane] : ~0u;
    }
    __syncwarp();
    sort_lanes<MERGE_VT>(w, WARP, job.ones);
    const uint32_t last = __shfl_up_sync(~0u, w[MERGE_VT - 1], 1);
#pragma unroll
    for (uint32_t r = 0; r < MERGE_VT; r++) {
        const uint32_t i = lane * MERGE_VT + r;
        shared.words[i] = w[r];
        column[r] = w[r] >> LSP_MERGE_BITS;
        at[0][r] = m.at;
        const uint32_t other = (r > 0 ? w[r > 0 ? r - 1 : 0] : last) >> LSP_MERGE_BITS;
        heads |= i < n && (i == 0 || column[r] != other) ? 1u << r : 0;
    }
    lower_bounds<1, MERGE_VT>(job.B.col, length, column, at);
#pragma unroll
    for (uint32_t r = 0; r < MERGE_VT; r++) {
        const bool there = __ldg(job.B.col + min(at[0][r], m.at + m.length - 1)) == column[r];
        news |= heads >> r & !there ? 1u << r : 0;
    }
    uint32_t rank = sum_before((uint32_t)__popc(heads), &others.columns);
    uint32_t before = sum_before((uint32_t)__popc(news), &others.news);
#pragma unroll
    for (uint32_t r = 0; r < MERGE_VT; r++) {
        if (heads >> r & 1) {
            const uint32_t is_new = news >> r & 1;
            shared.where[rank] = (at[0][r] - m.at) << 1 | !is_new;
            shared.first[rank] = (uint16_t)(lane * MERGE_VT + r);
            shared.before[rank] = (uint16_t)before;
            rank++, before += is_new;
        }
    }
    if (lane == 0) {
        shared.first[others.columns] = (uint16_t)n;
    }
    __syncwarp();
    return others;
}

/* ---- counting ---- */

static __global__ void __launch_bounds__(MERGE_NT) kernel_merge_count(spg_job job, spg_rest list) {
    __shared__ merge_shared<no_value> shared[MERGE_WARPS];
    const uint32_t warp = threadIdx.x / WARP, count = *list.count;
    lsp_let_next_begin();
    for (uint32_t i = blockIdx.x * MERGE_WARPS + warp; i < count; i += gridDim.x * MERGE_WARPS) {
        const uint32_t row = list.rows[i];
        const merge_row m = read_merge_row(job, row);
        const merge_others others = find_others(job, m, shared[warp]);
        if (threadIdx.x % WARP == 0) {
            job.rowptr[row + 1] = m.length + others.news;
            job.groups[row] = LSP_GROUPS_MERGE;
        }
        __syncwarp();
    }
    lsp_end_after_previous();
}

/* ---- filling ---- */

/* Writes the columns that other products have to C's row, which begins at `to`, with their sums. The long row's product
 * is added at its turn. */
template <typename V>
__device__ inline void put_others(const spg_job &job, const merge_row &m, const merge_others &others, int64_t to, V a,
                                  const merge_shared<V> &shared) {
    for (uint32_t j = threadIdx.x % WARP; j < others.columns; j += WARP) {
        const uint32_t where = shared.where[j], place = where >> 1;
        const int64_t at = to + place + shared.before[j];
        put_col(job, at, shared.words[shared.first[j]] >> LSP_MERGE_BITS);
        if constexpr (value_kind<V>::valued) {
            bool due = where & 1; /* the long row has a product here, not added yet */
            const V b = value_at<V>(job.B, due ? m.at + place : 0);
            V sum = value_kind<V>::nothing(job);
            for (uint32_t k = shared.first[j]; k < shared.first[j + 1]; k++) {
                const uint32_t i = shared.words[k] % LSP_MERGE_MOST;
                if (due && i >= others.ahead) {
                    sum = add_times(job, a, b, sum);
                    due = false;
                }
                sum = add_times(job, shared.a[i], shared.b[i], sum);
            }
            put_value<V>(job, at, canonical(due ? add_times(job, a, b, sum) : sum));
        }
    }
}

/* Writes all other columns of the long row. */
template <typename V>
__device__ inline void put_longest(const spg_job &job, const merge_row &m, const merge_others &others, int64_t to, V a,
                                   const merge_shared<V> &shared) {
    const uint32_t lane = threadIdx.x % WARP;
    uint32_t j = 0, news = 0; /* of the other products' columns before the current 32: all, and those that the long row
                                 does not have */
    for (uint32_t first = 0; first < m.length; first += MERGE_TOGETHER * WARP) {
        uint32_t column[MERGE_TOGETHER];
        V b[MERGE_TOGETHER];
#pragma unroll
        for (uint32_t k = 0; k < MERGE_TOGETHER; k++) {
            const uint32_t at = m.at + min(first + k * WARP + lane, m.length - 1);
            column[k] = __ldg(job.B.col + at), b[k] = value_at<V>(job.B, at);
        }
#pragma unroll
        for (uint32_t k = 0; k < MERGE_TOGETHER; k++) {
            const uint32_t here = first + k * WARP + lane;
            bool mine = here < m.length;
            uint32_t before = news;
            for (uint32_t where; j < others.columns && (where = shared.where[j]) >> 1 < here - lane + WARP; j++) {
                const bool is_new = !(where & 1);
                mine &= is_new || where >> 1 != here;
                before += is_new && where >> 1 <= here;
                news += is_new;
            }
            if (mine) {
                put_col(job, to + here + before, column[k]);
                put_value<V>(job, to + here + before, canonical(times(job, a, b[k])));
            }
        }
    }
}

template <typename V> __global__ void __launch_bounds__(MERGE_NT) kernel_merge_rows(spg_job job, spg_list list) {
    LSP_DYNAMIC_SHARED(memory);
    const uint32_t warp = threadIdx.x / WARP, i = blockIdx.x * MERGE_WARPS + warp;
    lsp_let_next_begin();
    if (i < list.count) {
        merge_shared<V> &shared = ((merge_shared<V> *)memory)[warp];
        const uint32_t row = list_row(list, i);
        const merge_row m = read_merge_row(job, row);
        const merge_others others = find_others(job, m, shared);
        const V a = value_at<V>(job.A, m.longest);
        put_others(job, m, others, job.rowptr[row], a, shared);
        put_longest(job, m, others, job.rowptr[row], a, shared);
    }
    lsp_end_after_previous();
}
