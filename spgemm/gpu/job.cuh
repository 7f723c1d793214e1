/* What all kernels of C = A*B share: the job, access to entries and rows of the operands, values and their sums. */
#pragma once

#include "choose.h"
#include "segsort/gpu/network.cuh"
#include <math.h>
#include <type_traits>

/* An operand: fewer than 2^32 entries, columns below 2^31. */
typedef struct spg_matrix {
    const uint32_t *rowptr;
    const uint32_t *col;
    const void *val; /* in the type of the arithmetic */
    int64_t rows, cols, nnz;
} spg_matrix;

/* The rows of one bin, by number. */
typedef struct spg_list {
    const uint32_t *rows; /* NULL: all rows */
    uint32_t count;
} spg_list;

/* Rows that one kernel leaves to the next. Only the GPU knows how many there are. */
typedef struct spg_rest {
    const uint32_t *rows, *count;
} spg_rest;

/* The product, passed to kernels by value. */
typedef struct spg_job {
    spg_matrix A, B;          /* B's rows ascend */
    bool duplicates;          /* B may have a column twice in a row */
    bool min_plus;            /* for `minmax` values: choose the least a + b; else the largest a * b */
    const uint8_t *repeats;   /* NULL, or REPEAT_... of each row of B: does it repeat the row before? */
    uint32_t cols;            /* of C, at most 2^31 */
    uint32_t shared_from;     /* see lsp_shared_bin */
    const uint32_t *products; /* of each row of C */
    uint8_t *groups;          /* LSP_GROUPS_...: what counting learns of each row of C */
    uint32_t *known, *kept;   /* columns that counting keeps for filling (gpu.h); how many they are */
    int64_t *rowptr;          /* while counting, the nnz of row i at i + 1; then C's row pointers */
    void *col, *val;          /* of C */
    bool wide_col;            /* C's columns are int64_t */
    const int64_t *names;     /* NULL, or names[k] is the column that number k stands for */
    network_ones ones;
} spg_job;

/* A piece of a row of C: n entries from `at` on. If it is sorted, its columns are in low .. high-1. */
typedef struct spg_piece {
    int64_t at;
    uint32_t row, low, high, n, products;
} spg_piece;

/* A row of C as the group that makes it has it. */
typedef struct spg_row {
    int64_t at; /* where it begins in C, when it is filled */
    uint32_t begin, entries, products;
} spg_row;

__device__ inline uint32_t list_row(const spg_list &list, uint32_t i) { return list.rows ? list.rows[i] : i; }

/* A hash whose upper bits are the place in a table. Two multiplications, because the columns of a grid come in even
 * steps, and one multiplication maps some steps to nearly the same place. */
__device__ inline uint32_t hash_of(uint32_t key) {
    const uint32_t x = key * 0x9E3779B1u;
    return (x ^ x >> 15) * 0x85EBCA77u;
}

/* ---- values ---- */

struct no_value {}; /* of a pattern */

/* A value whose products are not summed: the least a + b or the largest a * b is kept, as the job says. */
template <typename T> struct minmax { T x; };

/* A complex value, real part first. Arrays of them are aligned to 16 bytes (lsp_spgemm_gpu_aligned). */
struct complex_value {
    double2 z;
};

/* `nothing` is the value of a sum before its first product. */
template <typename V> struct value_kind {
    enum { valued = 1 };
    typedef V number;
    __device__ static V nothing(const spg_job &) { return (V)-0.0; }
};
template <> struct value_kind<no_value> {
    enum { valued = 0 };
};
template <> struct value_kind<complex_value> {
    enum { valued = 1 };
    typedef double2 number;
    __device__ static complex_value nothing(const spg_job &) { return {{-0.0, -0.0}}; }
};
template <typename T> struct value_kind<minmax<T>> {
    enum { valued = 1 };
    typedef T number;
    __device__ static minmax<T> nothing(const spg_job &job) { return {(T)(job.min_plus ? INFINITY : -INFINITY)}; }
};

/* The first product of a sum is rounded. Adding it to -0 by fused multiply-add gives the same bits. */
__device__ inline double times(const spg_job &, double a, double b) { return __dmul_rn(a, b); }
__device__ inline float times(const spg_job &, float a, float b) { return __fmul_rn(a, b); }
__device__ inline no_value times(const spg_job &, no_value, no_value) { return no_value{}; }
__device__ inline double add_times(const spg_job &, double a, double b, double sum) { return __fma_rn(a, b, sum); }
__device__ inline float add_times(const spg_job &, float a, float b, float sum) { return __fmaf_rn(a, b, sum); }
__device__ inline no_value add_times(const spg_job &, no_value, no_value, no_value) { return no_value{}; }
template <typename T> __device__ inline minmax<T> times(const spg_job &job, minmax<T> a, minmax<T> b) {
    return {job.min_plus ? a.x + b.x : a.x * b.x};
}
/* The first of equal products stays. A NaN product replaces the sum, and stays, as no product is better than a NaN. */
template <typename T>
__device__ inline minmax<T> add_times(const spg_job &job, minmax<T> a, minmax<T> b, minmax<T> sum) {
    const minmax<T> product = times(job, a, b);
    const bool better = job.min_plus ? product.x < sum.x : product.x > sum.x;
    return better || isnan(product.x) ? product : sum;
}

/* Each part adds the product with a's real part first, as in the reference. */
__device__ inline complex_value add_times(const spg_job &, complex_value a, complex_value b, complex_value sum) {
    return {{__fma_rn(-a.z.y, b.z.y, __fma_rn(a.z.x, b.z.x, sum.z.x)),
             __fma_rn(a.z.y, b.z.x, __fma_rn(a.z.x, b.z.y, sum.z.y))}};
}
__device__ inline complex_value times(const spg_job &job, complex_value a, complex_value b) {
    return add_times(job, a, b, value_kind<complex_value>::nothing(job));
}

/* Every NaN becomes the same quiet NaN. */
__device__ inline double canonical(double x) { return isnan(x) ? __longlong_as_double(0x7FF8000000000000ll) : x; }
__device__ inline float canonical(float x) { return isnan(x) ? __int_as_float(0x7FC00000) : x; }
__device__ inline no_value canonical(no_value x) { return x; }
__device__ inline complex_value canonical(complex_value value) {
    return {{canonical(value.z.x), canonical(value.z.y)}};
}
template <typename T> __device__ inline minmax<T> canonical(minmax<T> value) { return {canonical(value.x)}; }

template <typename V> __device__ inline V value_at(const spg_matrix &A, uint32_t p) {
    if constexpr (value_kind<V>::valued) {
        return V{__ldg((const typename value_kind<V>::number *)A.val + p)};
    } else {
        return no_value{};
    }
}

/* Reads the value of one of G lanes. `members` is the mask of the lanes that call together. */
template <int G = WARP, typename V> __device__ inline V value_of_lane(V value, uint32_t lane, unsigned members = ~0u) {
    if constexpr (!value_kind<V>::valued) {
        return value;
    } else if constexpr (std::is_arithmetic_v<V>) {
        return __shfl_sync(members, value, (int)lane, G);
    } else if constexpr (std::is_same_v<V, complex_value>) {
        return {{__shfl_sync(members, value.z.x, (int)lane, G), __shfl_sync(members, value.z.y, (int)lane, G)}};
    } else {
        return {__shfl_sync(members, value.x, (int)lane, G)};
    }
}

/* ---- lanes of a warp ---- */

/* How many of the bits below bit i < 32 are set; with a vote of lanes, how many of the lanes before lane i. */
__device__ inline uint32_t bits_below(unsigned bits, uint32_t i) { return (uint32_t)__popc(bits & ((1u << i) - 1)); }

/* The exclusive prefix sum of x over the warp's lanes. */
__device__ inline uint32_t sum_before(uint32_t x, uint32_t *total) {
    const uint32_t sum = warp_scan(x, (int)threadIdx.x % WARP);
    *total = __shfl_sync(~0u, sum, WARP - 1);
    return sum - x;
}

/* Adds the products of the first n lanes in order. All lanes get the sum. */
template <typename V> __device__ inline V add_lanes(const spg_job &job, V a, V b, uint32_t n, V sum) {
#pragma unroll 8
    for (uint32_t k = 0; k < WARP; k++) {
        const V next = add_times(job, value_of_lane(a, k), value_of_lane(b, k), sum);
        sum = k < n ? next : sum;
    }
    return sum;
}

/* ---- C ---- */

__device__ inline void put_col(const spg_job &job, int64_t at, uint32_t column) {
    if (job.wide_col) {
        ((int64_t *)job.col)[at] = job.names ? job.names[column] : (int64_t)column;
    } else {
        ((uint32_t *)job.col)[at] = job.names ? (uint32_t)job.names[column] : column;
    }
}
/* Writes the column's number, even where columns have names; put_col writes the name later. */
__device__ inline void put_number(const spg_job &job, int64_t at, uint32_t number) {
    index_set(job.col, job.wide_col, at, number);
}
__device__ inline uint32_t number_at(const spg_job &job, int64_t at) {
    return ((const uint32_t *)job.col)[at << job.wide_col]; /* the lower half of an int64_t */
}
__device__ inline void put_start(void *rowptr, bool wide, int64_t row, int64_t end) {
    if (row == 0) {
        index_set(rowptr, wide, 0, 0);
    }
    index_set(rowptr, wide, row + 1, end);
}
template <typename V> __device__ inline void put_value(const spg_job &job, int64_t at, V value) {
    if constexpr (value_kind<V>::valued) {
        ((V *)job.val)[at] = value;
    }
}

/* Room for the n columns of a row of C, if they are to be kept, and C made of them; else NULL. One thread asks. Rows of
 * fewer products a column ask in vain, so the room lasts for all rows. */
__device__ inline uint32_t *room_for_columns(const spg_job &job, uint32_t row, uint32_t n) {
    const uint32_t products = job.products[row], entries = job.A.rowptr[row + 1] - job.A.rowptr[row];
    if (job.known == NULL || n == 0 || n > LSP_COLLECT_MOST || products / LSP_KNOWN_FROM < n ||
        products > min((uint32_t)LSP_KNOWN_MOST, job.shared_from) || entries > job.shared_from) {
        return NULL;
    }
    job.known[row] = (uint32_t)job.A.rows + atomicAdd(job.kept, n);
    return job.known + job.known[row];
}

/* ---- rows of A and B ---- */

/* A row of A, to be made from its entry `at` of C on. */
__device__ inline spg_row read_row(const spg_job &job, int64_t row, int64_t at) {
    const uint32_t begin = job.A.rowptr[row];
    return {at, begin, job.A.rowptr[row + 1] - begin, job.products[row]};
}

/* Neighbouring entries of a row of B: the first one, and how many they are. */
struct row_part {
    uint32_t at, length;
};
__device__ inline row_part row_of_b(const spg_job &job, uint32_t k) {
    const uint32_t at = __ldg(job.B.rowptr + k);
    return {at, __ldg(job.B.rowptr + k + 1) - at};
}
/* The row of B that entry p of A leads to; no entries if p is not below `end`. */
__device__ inline row_part row_of_entry(const spg_job &job, uint32_t p, uint32_t end) {
    return p < end ? row_of_b(job, __ldg(job.A.col + p)) : row_part{0, 0};
}

/* N binary searches in each of ROWS rows of B, all at once, so that their loads overlap. In: at[r][..] is the first
 * entry of row r, and n[r] its length. Out: at[r][k] is the first entry whose column is not below x[k]; n is lost. */
template <int ROWS, int N>
__device__ inline void lower_bounds(const uint32_t *col, uint32_t (&n)[ROWS], const uint32_t *x,
                                    uint32_t (&at)[ROWS][N]) {
    uint32_t most = 0;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        most = max(most, n[r]);
    }
    for (; most > 0; most /= 2) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const uint32_t half = (n[r] + 1) / 2;
#pragma unroll
            for (int k = 0; k < N; k++) {
                at[r][k] += half > 0 && __ldg(col + (at[r][k] + half - 1)) < x[k] ? half : 0;
            }
            n[r] /= 2;
        }
    }
}

/* The part of a row of B with columns low .. high-1. */
__device__ inline row_part part_of_row(const spg_job &job, row_part row, uint32_t low, uint32_t high) {
    const uint32_t outer[2] = {low, high};
    uint32_t n[1] = {row.length}, ends[1][2] = {{row.at, row.at}};
    lower_bounds<1, 2>(job.B.col, n, outer, ends);
    return {ends[0][0], ends[0][1] - ends[0][0]};
}

/* Goes through the products of a warp's 32 entries of A, `row` being those of B that this lane's entry leads to: in
 * order, 32 products at a time. Calls use(i, e, q, some) with a product's number, its entry of A as a lane, and its
 * entry of B; `some` is false in lanes behind the last product. Returns the number of products. */
template <typename F> __device__ inline uint32_t each_product(const row_part &row, F use) {
    const uint32_t lane = threadIdx.x % WARP;
    uint32_t total;
    const uint32_t before = sum_before(row.length, &total);
    for (uint32_t i = lane; i < total + lane; i += WARP) {
        uint32_t e = 0; /* the last lane whose products begin at or before i */
        for (uint32_t step = WARP / 2; step > 0; step /= 2) {
            e += __shfl_sync(~0u, before, (int)(e + step)) <= i ? step : 0;
        }
        use(i, e, __shfl_sync(~0u, row.at - before, (int)e) + i, i < total);
    }
    return total;
}
