/* Fills rows of C whose columns counting has kept. G lanes own a row: they take A's entries one after the other, read
 * B's row side by side, search each column among those of the row, and add to its sum in shared memory. The columns of
 * a row of B differ, so no two lanes add to the same sum, and each sum grows in the order of A's entries. */
#pragma once

#include "kernel_repeats.cuh"

enum {
    KNOWN_NT = 128,
    KNOWN_LOADS = 8 /* products of a lane that are on their way together */
};

/* A row of C in shared memory: its columns, padded with ~0 to a power of two, and their sums. */
template <typename V, int MOST> struct known_row {
    V sums[value_kind<V>::valued ? MOST : 1];
    uint32_t columns[MOST], gap[8]; /* the rows of a warp begin in different banks */
};

/* The next EACH entries of A. Those behind the end of A's row have rows of B without entries. */
template <typename V, int EACH> struct known_entries {
    V a[EACH];
    row_part b[EACH];
    bool same[EACH]; /* nothing is to be searched: the row of B has the columns of the one before, or no entries */

    __device__ void load(const spg_job &job, uint32_t begin, uint32_t p, uint32_t end) {
        uint32_t before = p > begin && p < end ? __ldg(job.A.col + p - 1) : ~0u;
#pragma unroll
        for (uint32_t u = 0; u < EACH; u++) {
            b[u] = row_part{0, 0};
            same[u] = true;
            if (p + u < end) {
                const uint32_t k = __ldg(job.A.col + p + u);
                b[u] = row_of_b(job, k);
                a[u] = value_at<V>(job.A, p + u);
                same[u] = k == before + 1 && job.repeats && job.repeats[k] == REPEAT_SAME;
                before = k;
            }
        }
    }
};

/* Adds the products of one row. `top`: the size to which its columns are padded. All lanes of a warp call together.
 * Eight lanes search the columns of several rows of B at once; 16 lanes, which can take longer rows, only those of one,
 * and none if it repeats the row before. */
template <typename V, int G, int MOST>
__device__ inline void known_add(const spg_job &job, uint32_t begin, uint32_t end, uint32_t top,
                                 known_row<V, MOST> &row) {
    enum { DEEP = G / 4, EACH = KNOWN_LOADS / DEEP, TOGETHER = G == 8 ? (int)EACH : 1 };
    const uint32_t lane = threadIdx.x % G, *const columns = row.columns;
    uint32_t place[TOGETHER][DEEP] = {};
    known_entries<V, EACH> now, next;
    next.load(job, begin, begin, end);
    for (uint32_t p = begin; __any_sync(~0u, p < end); p += EACH) {
        V b[EACH][DEEP];
        uint32_t column[EACH][DEEP];
        now = next;
#pragma unroll
        for (uint32_t k = 0; k < KNOWN_LOADS; k++) {
            const uint32_t u = k / DEEP, v = k % DEEP, q = lane + v * G;
            column[u][v] = 0;
            if (q < now.b[u].length) {
                column[u][v] = __ldg(job.B.col + now.b[u].at + q);
                b[u][v] = value_at<V>(job.B, now.b[u].at + q);
            }
        }
        next.load(job, begin, p + EACH, end);
#pragma unroll
        for (uint32_t u = 0; u < EACH; u++) {
            uint32_t(&its)[DEEP] = place[u % TOGETHER];
            if (u % TOGETHER == 0 && (TOGETHER > 1 || __any_sync(~0u, !now.same[u]))) {
#pragma unroll
                for (uint32_t k = 0; k < TOGETHER * DEEP; k++) {
                    place[k / DEEP][k % DEEP] = 0;
                }
                for (uint32_t step = top / 2; step > 0; step /= 2) {
#pragma unroll
                    for (uint32_t k = 0; k < TOGETHER * DEEP; k++) {
                        uint32_t &at = place[k / DEEP][k % DEEP];
                        at += columns[at + step - 1] < column[u + k / DEEP][k % DEEP] ? step : 0;
                    }
                }
            }
#pragma unroll
            for (uint32_t v = 0; v < DEEP; v++) {
                if (lane + v * G < now.b[u].length) {
                    V &sum = row.sums[its[v]];
                    sum = add_times(job, now.a[u], b[u][v], sum);
                }
            }
            for (uint32_t q = lane + DEEP * G; q < now.b[u].length; q += G) {
                const uint32_t x = __ldg(job.B.col + now.b[u].at + q);
                uint32_t at = 0;
                for (uint32_t step = top / 2; step > 0; step /= 2) {
                    at += columns[at + step - 1] < x ? step : 0;
                }
                row.sums[at] = add_times(job, now.a[u], value_at<V>(job.B, now.b[u].at + q), row.sums[at]);
            }
            __syncwarp();
        }
    }
}

/* If 16 lanes own a row, rows are few: all should be resident at once. */
template <typename V, int G, int MOST>
__global__ void __launch_bounds__(KNOWN_NT, sizeof(V) > 8 ? 1
                                            : G == 16     ? 8
                                                          : 6) kernel_known_fill(spg_job job, spg_list list) {
    LSP_DYNAMIC_SHARED(memory);
    known_row<V, MOST> &row = ((known_row<V, MOST> *)memory)[threadIdx.x / G];
    const uint32_t lane = threadIdx.x % G, i = blockIdx.x * (KNOWN_NT / G) + threadIdx.x / G;
    const bool some = i < list.count;
    const uint32_t number = some ? list.rows[i] : 0, begin = some ? job.A.rowptr[number] : 0,
                   end = some ? job.A.rowptr[number + 1] : 0;
    const int64_t to = job.rowptr[number];
    const uint32_t n = some ? (uint32_t)(job.rowptr[number + 1] - to) : 0, top = 1u << lsp_bits_below(n);
    const uint32_t *const columns = job.known + (some ? job.known[number] : 0);
    lsp_let_next_begin();
    for (uint32_t k = lane; k < top; k += G) {
        row.columns[k] = k < n ? columns[k] : ~0u;
        if (k < n) {
            put_col(job, to + k, columns[k]);
        }
    }
    if constexpr (value_kind<V>::valued) {
        for (uint32_t k = lane; k < n; k += G) {
            row.sums[k] = value_kind<V>::nothing(job);
        }
        __syncwarp();
        known_add<V, G, MOST>(job, begin, end, top, row);
        for (uint32_t k = lane; k < n; k += G) {
            put_value<V>(job, to + k, canonical(row.sums[k]));
        }
    }
    lsp_end_after_previous();
}
