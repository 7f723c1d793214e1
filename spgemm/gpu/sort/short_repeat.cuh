/* Short rows of C that repeat one another, as on a regular grid: each row of A has the columns of the row before plus
 * one, and so have the rows of B that these lead to. A warp compares its rows with one of them, finds for that row
 * where each product goes, and then each lane sums its own row by the same plan. Nothing is sorted. Taken where
 * kernel_inspect.cuh finds at least SHORT_REPEAT_ROWS repeats in a warp, of SHORT_REPEAT_LEAST to SHORT_REPEAT_MOST
 * products each. */
#pragma once

#include "spgemm/gpu/job.cuh"

enum {
    SHORT_REPEAT_ROWS = 8,       /* least repeats in a warp, which must have twice as many rows */
    SHORT_REPEAT_ENTRIES = WARP, /* most entries of A's row */
    SHORT_REPEAT_LEAST = 9,      /* least products of a row; fewer are sorted by one lane */
    SHORT_REPEAT_LEAST_FEW = 33, /* the same, in a warp of fewer than 32 rows */
    SHORT_REPEAT_MOST = 128,
    SHORT_REPEAT_COLUMNS = 63, /* most entries of C's row */
    SHORT_REPEAT_FIRST = 64,   /* flag in the byte that holds a place */
    SHORT_REPEAT_SUMS = 448,   /* sums in shared memory: as many rows are made at a time as fit */
    SHORT_REPEAT_DEPTH = 8     /* entries of B that a lane loads together */
};

/* The products of the row that the others are compared with. */
template <typename V> struct short_repeat_shared {
    uint8_t place[SHORT_REPEAT_MOST]; /* of each product: its place, + SHORT_REPEAT_FIRST if it is the first there */
    uint32_t columns[SHORT_REPEAT_COLUMNS]; /* of C's row */
    union {
        struct {
            uint32_t column[SHORT_REPEAT_MOST]; /* of each product */
            uint32_t first[SHORT_REPEAT_MOST];  /* the column, if the product is the first one there; else ~0 */
        };
        V sums[value_kind<V>::valued ? (int)SHORT_REPEAT_SUMS : 1];
    };
};

/* The row that the others are compared with. It is a row in the middle of the warp, because the first and last rows are
 * more often at a border of the grid. Lane p has the column of entry p of A, and the row of B that this leads to. */
struct short_repeat_row {
    int lane;
    uint32_t entries, products, k;
    row_part b;
};

/* Loads that row. `begin`, `entries` and `products` are of each lane's own row. */
template <typename V>
__device__ inline short_repeat_row short_repeat_read(const spg_job &job, int its_lane, uint32_t begin, uint32_t entries,
                                                     uint32_t products, short_repeat_shared<V> &shared) {
    const uint32_t lane = threadIdx.x % WARP;
    short_repeat_row row = {};
    begin = __shfl_sync(~0u, begin, its_lane);
    row.lane = its_lane;
    row.entries = __shfl_sync(~0u, entries, its_lane);
    row.products = __shfl_sync(~0u, products, its_lane);
    if (lane < row.entries) {
        row.k = __ldg(job.A.col + begin + lane);
        row.b = row_of_b(job, row.k);
    }
    each_product(row.b, [&](uint32_t s, uint32_t, uint32_t q, bool some) {
        if (some) {
            shared.column[s] = __ldg(job.B.col + q);
        }
    });
    __syncwarp();
    return row;
}

/* The difference between the columns of this lane's row and that row's, if it is a repeat. */
__device__ inline uint32_t short_repeat_shift(uint32_t lane, int its_lane) { return lane - (uint32_t)its_lane; }

/* Does the lane's row repeat that row, shifted? Lanes whose rows do not repeat load from that row instead: loads under
 * a condition would be waited for one by one. */
template <typename V>
__device__ inline bool short_repeat_compare(const spg_job &job, bool repeats, uint32_t begin,
                                            const short_repeat_row &row, const short_repeat_shared<V> &shared) {
    const uint32_t shift = short_repeat_shift(threadIdx.x % WARP, row.lane);
    uint32_t s = 0;
    for (uint32_t p = 0; p < row.entries && __any_sync(~0u, repeats); p++) {
        const uint32_t k = __shfl_sync(~0u, row.k, (int)p), length = __shfl_sync(~0u, row.b.length, (int)p);
        const uint32_t begins = __shfl_sync(~0u, row.b.at, (int)p);
        const uint32_t from = repeats ? __ldg(job.A.col + begin + p) : k;
        repeats &= from == k + shift;
        const uint32_t b = __ldg(job.B.rowptr + (repeats ? from : k)),
                       e = __ldg(job.B.rowptr + (repeats ? from : k) + 1);
        repeats &= e - b == length;
        const uint32_t at = repeats ? b : begins;
#pragma unroll 4
        for (uint32_t q = 0; q < length; q++) {
            repeats &= __ldg(job.B.col + at + q) == shared.column[s + q] + shift;
        }
        s += length;
    }
    return repeats;
}

/* Finds the first product of each column. Returns the number of columns. */
template <typename V> __device__ inline uint32_t short_repeat_count(uint32_t products, short_repeat_shared<V> &shared) {
    uint32_t count = 0;
    for (uint32_t s = threadIdx.x % WARP; s < products; s += WARP) {
        const uint32_t x = shared.column[s];
        bool first = true;
        for (uint32_t i = 0; i < s; i++) {
            first &= shared.column[i] != x;
        }
        shared.first[s] = first ? x : ~0u;
        count += first;
    }
    __syncwarp();
    return __reduce_add_sync(~0u, count);
}

/* Finds the place of each product and the columns of C's row. */
template <typename V> __device__ inline void short_repeat_place(uint32_t products, short_repeat_shared<V> &shared) {
    for (uint32_t s = threadIdx.x % WARP; s < products; s += WARP) {
        const uint32_t x = shared.column[s];
        uint32_t place = 0;
        for (uint32_t i = 0; i < products; i++) {
            place += shared.first[i] < x;
        }
        if (shared.first[s] == x) {
            shared.columns[place] = x;
            place += SHORT_REPEAT_FIRST;
        }
        shared.place[s] = (uint8_t)place;
    }
    __syncwarp();
}

/* For counting: does the lane's row, one of rows_each, repeat others of the warp? Then *count is its nnz in C. */
__device__ inline bool find_short_repeats(const spg_job &job, int rows_each, uint32_t begin, uint32_t entries,
                                          uint32_t products, short_repeat_shared<no_value> &shared, uint32_t *count) {
    const int its_lane = rows_each / 2;
    const uint32_t its_products = __shfl_sync(~0u, products, its_lane);
    if (its_products < (rows_each < WARP ? SHORT_REPEAT_LEAST_FEW : SHORT_REPEAT_LEAST) ||
        its_products > SHORT_REPEAT_MOST) {
        return false;
    }
    const uint32_t its_entries = __shfl_sync(~0u, entries, its_lane);
    const uint32_t column =
        __ldg(job.A.col + (products > 0 ? begin : 0)) - short_repeat_shift(threadIdx.x % WARP, its_lane);
    const uint32_t its_column = __shfl_sync(~0u, column, its_lane);
    bool repeats = entries == its_entries && products == its_products && column == its_column;
    if (its_entries > SHORT_REPEAT_ENTRIES || __popc(__ballot_sync(~0u, repeats)) < SHORT_REPEAT_ROWS) {
        return false;
    }
    const short_repeat_row row = short_repeat_read(job, its_lane, begin, entries, products, shared);
    repeats = short_repeat_compare(job, repeats, begin, row, shared);
    if (__popc(__ballot_sync(~0u, repeats)) < SHORT_REPEAT_ROWS) {
        return false;
    }
    *count = short_repeat_count(row.products, shared);
    return repeats && *count <= SHORT_REPEAT_COLUMNS;
}

/* For filling: makes the rows of those lanes that have `repeats`. `count` is the nnz of the lane's row. */
template <typename V>
__device__ inline void fill_short_repeats(const spg_job &job, int rows_each, bool repeats, const spg_row &mine,
                                          uint32_t count, short_repeat_shared<V> &shared) {
    const uint32_t lane = threadIdx.x % WARP;
    const short_repeat_row row = short_repeat_read(job, rows_each / 2, mine.begin, mine.entries, mine.products, shared);
    const uint32_t shift = short_repeat_shift(lane, row.lane);
    const unsigned all = __ballot_sync(~0u, repeats);
    short_repeat_count(row.products, shared);
    short_repeat_place(row.products, shared);
    count = __shfl_sync(~0u, count, row.lane);
    const uint32_t stride = count | 1; /* odd, so that rows lie in different banks */
    uint32_t width = WARP;             /* rows made at a time */
    while (value_kind<V>::valued && width * stride > SHORT_REPEAT_SUMS) {
        width /= 2;
    }
    for (uint32_t first = 0; first < (uint32_t)rows_each; first += width) {
        const bool now = repeats && lane - first < width;
        if constexpr (value_kind<V>::valued) {
            V *const sums = shared.sums + lane % width * stride;
            uint32_t s = 0;
            for (uint32_t p = 0; p < row.entries; p++) {
                const uint32_t k = __shfl_sync(~0u, row.k, (int)p), length = __shfl_sync(~0u, row.b.length, (int)p);
                const uint32_t b = __ldg(job.B.rowptr + (now ? k + shift : k));
                const V a = value_at<V>(job.A, now ? mine.begin + p : 0);
                for (uint32_t q = 0; q < length; q += SHORT_REPEAT_DEPTH) {
                    V x[SHORT_REPEAT_DEPTH];
#pragma unroll
                    for (uint32_t u = 0; u < SHORT_REPEAT_DEPTH; u++) {
                        x[u] = q + u < length ? value_at<V>(job.B, b + q + u) : a;
                    }
#pragma unroll
                    for (uint32_t u = 0; u < SHORT_REPEAT_DEPTH; u++) {
                        if (now && q + u < length) {
                            const uint32_t place = shared.place[s + q + u];
                            V *const sum = sums + place % SHORT_REPEAT_FIRST;
                            *sum = place >= SHORT_REPEAT_FIRST ? times(job, a, x[u]) : add_times(job, a, x[u], *sum);
                        }
                    }
                }
                s += length;
            }
            __syncwarp();
        }
        uint32_t r = lane / count, j = lane % count;
        for (uint32_t i = 0; i < width * count; i += WARP) {
            const uint32_t from = first + (r < width ? r : 0);
            const int64_t its_at = __shfl_sync(~0u, mine.at, (int)from);
            if (r < width && (all >> from & 1)) {
                put_col(job, its_at + j, shared.columns[j] + short_repeat_shift(from, row.lane));
                if constexpr (value_kind<V>::valued) {
                    put_value<V>(job, its_at + j, canonical(shared.sums[r * stride + j]));
                }
            }
            j += WARP % count, r += WARP / count;
            if (j >= count) {
                j -= count, r++;
            }
        }
        __syncwarp();
    }
}
