/* Replay: for each entry of C, in the order of its sum, the pairs of entries of A and B that its products multiply.
 * Filling C with other values then only reads, multiplies and adds. A plan keeps the pairs from its second use on, if
 * memory allows and ranks do not fit (replay.cu). */
#pragma once

#include "spgemm/gpu/gpu.h"
#include "spgemm/gpu/job.cuh"

enum {
    REPLAY_NT = 128,
    REPLAY_WARPS = REPLAY_NT / WARP,
    REPLAY_BLOCK = 256, /* entries of C whose pairs one warp finds */
    REPLAY_GROUP = 128, /* entries of C that one warp sums */
    REPLAY_CHUNK = 256, /* products in a warp's shared memory at a time */
    REPLAY_MOST = 65535 /* products of one entry, at most */
};

/* The two factors of one product, as entries of A and of B. */
struct alignas(8) spg_pair {
    uint32_t a, b;
};

/* ---- finding ---- */

/* A warp's entries of C in shared memory: their columns, and where the next pair of each goes. */
struct replay_finder {
    uint32_t col[REPLAY_BLOCK], next[REPLAY_BLOCK];

    /* The entry in first .. last-1 that has the column; there is one. */
    __device__ uint32_t find(uint32_t first, uint32_t last, uint32_t column) const {
        return LSP_FIRST(first, last - 1, i, col[i] >= column);
    }
};

/* Handles the products of a row of C that belong to entries first .. last-1 of the block: counts them, or (PUT) writes
 * their pairs. Lanes take products in the order of the sum; lanes that have the same entry write side by side. */
template <bool PUT>
__device__ inline void find_products(const spg_job &job, uint32_t row, uint32_t first, uint32_t last,
                                     replay_finder &finder, spg_pair *to) {
    const uint32_t lane = threadIdx.x % WARP, end = __ldg(job.A.rowptr + row + 1);
    const uint32_t low = finder.col[first], high = finder.col[last - 1] + 1;
    for (uint32_t p = __ldg(job.A.rowptr + row); p < end; p += WARP) {
        const row_part part = part_of_row(job, row_of_entry(job, p + lane, end), low, high);
        each_product(part, [&](uint32_t, uint32_t e, uint32_t q, bool some) {
            const uint32_t place = some ? finder.find(first, last, __ldg(job.B.col + q)) : ~0u;
            const unsigned same = __match_any_sync(~0u, place);
            const uint32_t rank = bits_below(same, lane);
            if (PUT && some) {
                to[finder.next[place] + rank] = {p + e, q};
            }
            __syncwarp();
            if (rank == 0 && some) {
                finder.next[place] += (uint32_t)__popc(same);
            }
            __syncwarp();
        });
    }
}

/* The row that entry `at` is in. The whole warp calls together. */
template <typename R> __device__ inline int64_t row_at(const R *rowptr, int64_t rows, int64_t at) {
    return warp_first(0, rows, [&](int64_t row) { return rowptr[row + 1] > at; });
}

/* First run: counts the products of each entry and each group of C, and sets *most to those of an entry that has more
 * than REPLAY_MOST; the host then sums the groups. Second run (PUT):
 * writes the pairs. */
template <typename R, bool PUT>
__global__ void __launch_bounds__(REPLAY_NT)
    kernel_replay_find(spg_job job, const R *rowptr, lsp_spgemm_replay replay, unsigned *most) {
    __shared__ replay_finder finders[REPLAY_WARPS];
    enum { EACH = REPLAY_BLOCK / WARP, GROUPS = REPLAY_BLOCK / REPLAY_GROUP };
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    replay_finder &finder = finders[warp];
    const int64_t block = (int64_t)blockIdx.x * REPLAY_WARPS + warp, base = block * REPLAY_BLOCK;
    const uint32_t n = (uint32_t)min(replay.nnz - base, (int64_t)REPLAY_BLOCK);
    const int64_t begin = PUT && block > 0 ? replay.ends[block * GROUPS - 1] : 0;
    if (base >= replay.nnz) {
        return;
    }
    for (uint32_t i = lane, before = 0, total; i < REPLAY_BLOCK; i += WARP, before += total) {
        finder.col[i] = i < n ? replay.col[base + i] : 0;
        finder.next[i] = before + sum_before(PUT ? replay.counts[base + i] : 0, &total);
    }
    __syncwarp();
    int64_t row = row_at(rowptr, job.A.rows, base);
    for (uint32_t i = 0; i < n; row++) {
        if (rowptr[row + 1] <= base + i) { /* skip empty rows by a search, because there may be many in sequence */
            row = row_at(rowptr, job.A.rows, base + i);
        }
        const uint32_t last = (uint32_t)min(rowptr[row + 1] - base, (int64_t)n);
        find_products<PUT>(job, (uint32_t)row, i, last, finder, replay.pairs + begin);
        i = last;
    }
    if (!PUT) {
        for (uint32_t i = lane, group = 0, total; i < REPLAY_BLOCK; i += WARP) {
            const uint32_t count = finder.next[i];
            sum_before(count, &total);
            group = i / WARP % (REPLAY_GROUP / WARP) == 0 ? total : group + total;
            replay.counts[base + i] = (uint16_t)min(count, (uint32_t)REPLAY_MOST);
            if (count > REPLAY_MOST) {
                atomicMax(most, count);
            }
            if (lane == 0 && (i + WARP) % REPLAY_GROUP == 0) {
                replay.ends[(base + i) / REPLAY_GROUP] = group;
            }
        }
    }
}

/* ---- filling ---- */

/* The factors of some products in a warp's shared memory. */
template <typename V> struct replay_chunk {
    V a[REPLAY_CHUNK], b[REPLAY_CHUNK];

    /* Loads the factors of the first n products, four a lane at a time. What lies behind them is never used. */
    __device__ void read(const spg_job &job, const spg_pair *pairs, uint32_t n) {
        enum { TOGETHER = 4 };
        for (uint32_t first = threadIdx.x % WARP; first < n + threadIdx.x % WARP; first += TOGETHER * WARP) {
            uint2 at[TOGETHER];
            V x[TOGETHER], y[TOGETHER];
#pragma unroll
            for (uint32_t k = 0; k < TOGETHER; k++) {
                at[k] = __ldg((const uint2 *)pairs + min(first + k * WARP, n - 1));
            }
#pragma unroll
            for (uint32_t k = 0; k < TOGETHER; k++) {
                x[k] = value_at<V>(job.A, at[k].x), y[k] = value_at<V>(job.B, at[k].y);
            }
#pragma unroll
            for (uint32_t k = 0; k < TOGETHER; k++) {
                a[first + k * WARP] = x[k], b[first + k * WARP] = y[k];
            }
        }
        __syncwarp();
    }
};

template <typename V> __device__ inline void put_entry(const lsp_spgemm_replay &replay, V *val, int64_t i, V sum) {
    if (i < replay.nnz) {
        val[i] = canonical(sum);
    }
}

/* Fills a warp's group of entries. */
template <typename V>
__device__ inline void fill_group(const spg_job &job, const lsp_spgemm_replay &replay, V *val, char *memory) {
    enum { EACH = REPLAY_GROUP / WARP };
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    replay_chunk<V> &chunk = ((replay_chunk<V> *)memory)[warp];
    const int64_t group = (int64_t)blockIdx.x * REPLAY_WARPS + warp, base = group * REPLAY_GROUP;
    uint32_t begin[EACH], end[EACH], products = 0;
    V sum[EACH];
    if (base >= replay.nnz) {
        return;
    }
    const int64_t start = group > 0 ? replay.ends[group - 1] : 0;
    const spg_pair *pairs = replay.pairs + start;
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        uint32_t total;
        const uint32_t count = replay.counts[base + k * WARP + lane];
        begin[k] = products + sum_before(count, &total);
        end[k] = begin[k] + count;
        products += total;
        sum[k] = value_kind<V>::nothing(job);
    }
    for (uint32_t first = 0; first < products; first += REPLAY_CHUNK) {
        const uint32_t n = min(products - first, (uint32_t)REPLAY_CHUNK);
        chunk.read(job, pairs + first, n);
#pragma unroll
        for (int k = 0; k < EACH; k++) {
#pragma unroll 2
            for (uint32_t i = max(begin[k], first), to = min(end[k], first + n); i < to; i++) {
                sum[k] = add_times(job, chunk.a[i - first], chunk.b[i - first], sum[k]);
            }
        }
        __syncwarp();
    }
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        put_entry(replay, val, base + k * WARP + lane, sum[k]);
    }
}

/* Writes C's values. */
template <typename V>
__global__ void __launch_bounds__(REPLAY_NT) kernel_replay_fill(spg_job job, lsp_spgemm_replay replay, V *val) {
    LSP_DYNAMIC_SHARED(memory);
    fill_group(job, replay, val, memory);
}
