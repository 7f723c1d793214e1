/* Makes rows of C where B is nearly dense. A warp makes a strip, 32 neighbouring columns of one row; each lane sums one
 * column. A table says for each row of B which columns of each strip it has and where they begin. So no column of B is
 * read or searched for, and no sum waits for another. */
#pragma once

#include "spgemm/gpu/gpu.h"
#include "spgemm/gpu/job.cuh"

enum {
    DENSE_B_NT = 256,
    DENSE_B_WARPS = DENSE_B_NT / WARP,
    DENSE_B_AHEAD = 8, /* entries of A whose strips are loaded together */
    DENSE_B_FILL_NT = 128,
    DENSE_B_FILL_WARPS = DENSE_B_FILL_NT / WARP,
    DENSE_B_STEP = WARP / 2 /* entries of A whose products are loaded together */
};

/* A row's part in one strip: which of the 32 columns it has, and where they begin: an entry of B, or a position in C's
 * row. */
struct alignas(8) spg_strip {
    uint32_t columns, at;
};

__device__ inline spg_strip strip_at(const spg_strip *strips, uint32_t i) {
    const uint2 x = __ldg((const uint2 *)strips + i);
    return {x.x, x.y};
}

/* Makes the table of B, one warp a row. */
static __global__ void __launch_bounds__(DENSE_B_NT) kernel_dense_b_index(spg_matrix B, lsp_spgemm_dense_b dense_b) {
    const uint32_t row = blockIdx.x * DENSE_B_WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (row < B.rows) {
        const uint32_t begin = B.rowptr[row], end = B.rowptr[row + 1];
        spg_strip *its = dense_b.B + row * dense_b.strips;
        for (uint32_t s = lane; s < dense_b.strips; s += WARP) {
            its[s] = {};
        }
        __syncwarp();
        for (uint32_t p = begin + lane; p < end; p += WARP) {
            const uint32_t k = __ldg(B.col + p), before = p > begin ? __ldg(B.col + p - 1) / WARP : ~0u;
            if (before != k / WARP) {
                its[k / WARP].at = p;
            }
            atomicOr(&its[k / WARP].columns, 1u << k % WARP);
        }
    }
}

/* Makes the table of C and counts its rows, 2^log_share warps a row. A strip of C is the union of strips of B. */
static __global__ void __launch_bounds__(DENSE_B_NT)
    kernel_dense_b_count(spg_job job, lsp_spgemm_dense_b dense_b, int log_share) {
    __shared__ uint32_t columns[DENSE_B_WARPS][WARP];
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, share = 1u << log_share;
    const uint32_t part = warp & (share - 1), row = (blockIdx.x * DENSE_B_WARPS + warp) >> log_share;
    const bool there = row < job.A.rows;
    const uint32_t begin = there ? job.A.rowptr[row] : 0, end = there ? job.A.rowptr[row + 1] : 0;
    uint32_t *its = columns[warp >> log_share], count = 0;
    for (uint32_t first = 0; first < dense_b.strips; first += WARP) {
        const uint32_t strip = min(first + lane, dense_b.strips - 1);
        uint32_t mine = 0, total;
        if (part == 0) {
            its[lane] = 0;
        }
        __syncthreads();
        for (uint32_t p = begin + part; p < end; p += min(end - p, DENSE_B_AHEAD * share)) {
            uint32_t k[DENSE_B_AHEAD];
#pragma unroll
            for (uint32_t i = 0; i < DENSE_B_AHEAD;
                 i++) { /* past the end it reads the last entry again, which does no harm */
                k[i] = __ldg(job.A.col + min(p + (i << log_share), end - 1));
            }
#pragma unroll
            for (uint32_t i = 0; i < DENSE_B_AHEAD; i++) {
                mine |= strip_at(dense_b.B, k[i] * dense_b.strips + strip).columns;
            }
        }
        atomicOr(its + lane, mine);
        __syncthreads();
        if (part == 0) {
            const bool some = there && first + lane < dense_b.strips;
            const uint32_t all = its[lane], before = sum_before(some ? (uint32_t)__popc(all) : 0, &total);
            if (some) {
                dense_b.C[row * dense_b.strips + strip] = {all, count + before};
            }
            count += total;
        }
    }
    if (there && part == 0 && lane == 0) {
        job.rowptr[row + 1] = count;
    }
}

/* An entry of A, and the strip of B's row that it leads to. */
template <typename V> struct alignas(16) strip_entry {
    spg_strip b;
    V a;
};

/* The values of B that the lane's column needs, for DENSE_B_STEP entries of A. */
template <typename V> struct strip_step {
    V b[DENSE_B_STEP];
    uint32_t has; /* bit k: entry k has the lane's column */

    __device__ void load(const spg_job &job, const strip_entry<V> *entries) {
        const uint32_t lane = threadIdx.x % WARP;
        has = 0;
#pragma unroll
        for (int k = 0; k < DENSE_B_STEP; k++) {
            const spg_strip its = entries[k].b;
            const uint32_t before = bits_below(its.columns, lane), mine = its.columns >> lane & 1;
            b[k] = value_at<V>(job.B, its.at + (mine ? before : 0));
            has |= mine << k;
        }
    }
    __device__ void add(const spg_job &job, const strip_entry<V> *entries, V &sum) const {
#pragma unroll
        for (int k = 0; k < DENSE_B_STEP; k++) {
            if (has >> k & 1) {
                sum = add_times(job, entries[k].a, b[k], sum);
            }
        }
    }
};

/* Goes through a row of A, 32 entries at a time, and keeps those that lead to the strip. */
template <typename V> struct strip_walk {
    const spg_job &job;
    const lsp_spgemm_dense_b &dense_b;
    uint32_t strip, p, end; /* p .. end-1: the entries not yet read */
    uint32_t k;             /* the column of A that the lane reads next */
    spg_strip b;            /* the strip and the value that the lane has loaded last */
    V a;

    __device__ void find() { k = p + threadIdx.x % WARP < end ? __ldg(job.A.col + p + threadIdx.x % WARP) : ~0u; }
    /* Starts to load what the current entries lead to, then the columns of the next 32. */
    __device__ void fetch() {
        b = {};
        if (k != ~0u) {
            b = strip_at(dense_b.B, min(k, (uint32_t)job.B.rows - 1) * dense_b.strips + strip);
            a = value_at<V>(job.A, p + threadIdx.x % WARP);
        }
        p += min(end - p, (uint32_t)WARP);
        find();
    }
    /* Writes the entries that lead to the strip side by side and returns how many. Behind them it writes entries
     * without columns, so that a step can read beyond. */
    __device__ uint32_t put(strip_entry<V> *entries) const {
        const uint32_t lane = threadIdx.x % WARP;
        const unsigned some = __ballot_sync(~0u, b.columns != 0);
        const uint32_t n = (uint32_t)__popc(some), before = bits_below(some, lane);
        __syncwarp(); /* all lanes have read the entries before */
        entries[b.columns != 0 ? before : n + lane - before] = {b, a};
        __syncwarp();
        return n;
    }
};

/* The sum of the lane's column. While one half of the entries is added, the products of the other half are loaded. */
template <typename V>
__device__ inline V sum_strip(const spg_job &job, const lsp_spgemm_dense_b &dense_b, uint32_t row, uint32_t strip,
                              strip_entry<V> (*entries)[WARP]) {
    static_assert(2 * DENSE_B_STEP == WARP, "two steps of entries");
    const uint32_t end = min(job.A.rowptr[row + 1], (uint32_t)job.A.nnz);
    strip_walk<V> walk = {job, dense_b, strip, job.A.rowptr[row], end, ~0u, {}, V()};
    V sum = value_kind<V>::nothing(job);
    strip_step<V> first, second;
    if (walk.p >= walk.end) {
        return sum;
    }
    walk.find();
    walk.fetch();
    uint32_t n = walk.put(entries[0]);
    if (n > 0) {
        first.load(job, entries[0]);
    }
#pragma unroll 1
    for (uint32_t at = 0, more = 1; more; at = 1 - at) {
        const uint32_t now = n;
        more = walk.p < walk.end;
        walk.fetch();
        if (now > DENSE_B_STEP) {
            second.load(job, entries[at] + DENSE_B_STEP);
        }
        if (now > 0) {
            first.add(job, entries[at], sum);
        }
        n = walk.put(entries[1 - at]);
        if (n > 0) {
            first.load(job, entries[1 - at]);
        }
        if (now > DENSE_B_STEP) {
            second.add(job, entries[at] + DENSE_B_STEP, sum);
        }
    }
    return sum;
}

/* One warp a strip of a row of C. Writes values, and if rowptr is not NULL columns and row pointers too. If rowptr is
 * NULL, A and B may have changed since C was counted: all addresses are bounded, so that the kernel reads and writes
 * nothing outside the arrays. */
template <typename V>
__global__ void __launch_bounds__(DENSE_B_FILL_NT, 5)
    kernel_dense_b_fill(spg_job job, lsp_spgemm_dense_b dense_b, void *rowptr, bool wide_rowptr) {
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const uint32_t i = blockIdx.x * DENSE_B_FILL_WARPS + warp, row = i / dense_b.strips, strip = i % dense_b.strips;
    if (row >= job.A.rows) {
        return;
    }
    if (rowptr && strip == 0 && lane == 0) {
        const int64_t end = job.rowptr[row + 1];
        put_start(rowptr, wide_rowptr, row, end);
    }
    const spg_strip its = strip_at(dense_b.C, i);
    const bool mine = its.columns >> lane & 1;
    const int64_t at = job.rowptr[row] + its.at + bits_below(its.columns, lane);
    if (rowptr && mine) {
        put_col(job, at, strip * WARP + lane);
    }
    if constexpr (value_kind<V>::valued) {
        __shared__ strip_entry<V> entries[DENSE_B_FILL_WARPS][2][WARP];
        if (its.columns != 0) {
            const V sum = sum_strip(job, dense_b, row, strip, entries[warp]);
            if (mine) {
                put_value<V>(job, at, canonical(sum));
            }
        }
    }
}
