/* Products and sums of spmv's kernels, for every semiring, and what kernels do at the two ends of a row: read its
 * pointers, write its element of y. */
#pragma once

#include "core/block.cuh"
#include "core/semiring.h"
#include "gpu.h"
#include <type_traits>

/* No value: of a pattern, whose entries are ones. */
struct spmv_one {};

/* PLUS: LSP_PLUS_TIMES, summed in T by fused multiply-add. The other semirings sum in double, which holds every
 * product, and counts exactly. */
template <typename T, bool PLUS> struct spmv_sum { typedef T type; };
template <typename T> struct spmv_sum<T, false> { typedef double type; };

/* N elements that are loaded and stored at once. */
template <typename X, int N> struct alignas(sizeof(X) * N) spmv_pack { X at[N]; };

/* Value of entry k. STREAM: caches need not keep it. */
template <typename V, bool STREAM = false> __device__ inline V spmv_value(const void *val, int64_t k) {
    if constexpr (std::is_same<V, spmv_one>::value) {
        return {};
    } else {
        return STREAM ? __ldcs((const V *)val + k) : ((const V *)val)[k];
    }
}

/* The same, if it is wanted: see lsp_read_if. */
template <typename V> __device__ inline void spmv_value_if(bool wanted, const void *val, int64_t k, V *v) {
    if constexpr (!std::is_same<V, spmv_one>::value) {
        lsp_read_if(wanted, (const V *)val + k, v);
    }
}

template <typename T, typename V> __device__ inline T spmv_factor(V value) { return (T)value; }
template <> __device__ inline float spmv_factor<float, spmv_one>(spmv_one) { return 1; }
template <> __device__ inline double spmv_factor<double, spmv_one>(spmv_one) { return 1; }

/* The sum that changes nothing. */
template <bool PLUS> __device__ inline double spmv_nothing(const spmv_job &job) { return PLUS ? -0.0 : job.empty; }

#define SPMV_PRODUCT_CASE(id, name, product, join, empty) LSP_PRODUCT_CASE(T, id, product)
template <typename T> __device__ inline T spmv_product(lsp_semiring semiring, T a, T b) {
    switch (semiring) { LSP_EACH_SEMIRING(SPMV_PRODUCT_CASE) }
    return 0;
}
__device__ inline double spmv_join_other(lsp_semiring semiring, double sum, double one) {
    switch (semiring) { LSP_EACH_SEMIRING(LSP_JOIN_CASE) }
    return sum;
}

/* `sum`, then `other`. */
template <typename T, bool PLUS>
__device__ inline typename spmv_sum<T, PLUS>::type
spmv_join(lsp_semiring semiring, typename spmv_sum<T, PLUS>::type sum, typename spmv_sum<T, PLUS>::type other) {
    if constexpr (PLUS) {
        return sum + other;
    } else {
        return spmv_join_other(semiring, sum, other);
    }
}

/* `sum`, then value * x. */
template <typename V, typename T, bool PLUS>
__device__ inline typename spmv_sum<T, PLUS>::type spmv_add(lsp_semiring semiring, typename spmv_sum<T, PLUS>::type sum,
                                                            V value, T x) {
    if constexpr (!PLUS) {
        return spmv_join_other(semiring, sum, (double)spmv_product<T>(semiring, spmv_factor<T, V>(value), x));
    } else if constexpr (std::is_same<V, spmv_one>::value) {
        return sum + x;
    } else {
        return fma((T)value, x, sum);
    }
}

/* The join of the lanes' sums in a group of `lanes` lanes, a power of two, in pairs: in every lane the same. All lanes
 * of the warp take part. */
template <typename T, bool PLUS>
__device__ inline typename spmv_sum<T, PLUS>::type spmv_join_lanes(lsp_semiring semiring,
                                                                   typename spmv_sum<T, PLUS>::type sum, int lanes) {
    for (int distance = 1; distance < lanes; distance *= 2) {
        const typename spmv_sum<T, PLUS>::type other = __shfl_xor_sync(~0u, sum, distance);
        const bool second = !PLUS && (threadIdx.x & (unsigned)distance) != 0;
        sum = spmv_join<T, PLUS>(semiring, second ? other : sum, second ? sum : other);
    }
    return sum;
}

/* What a thread found wrong: a word as lsp_cuda_fault wants it. Reported at its end: that word is on the host. */
struct spmv_faults {
    long long what = 0;
    __device__ inline void row(int64_t row) { what = (long long)row + 1; }
    __device__ inline void entry(int64_t k) { what = -1 - (long long)k; }
    __device__ inline void report(const spmv_job &job) const {
        if (what != 0) {
            *(volatile long long *)job.fault = what;
        }
    }
};

/* ---- columns ---- */

/* Columns may be outside the matrix. Kernels read x at the nearest column that exists, keep the largest column as a
 * number without sign (`top`), and look at it once, after the last entry. If it is outside, which is rare, they
 * multiply their entries again with a look at each one: outside entries are left out, and one of them is reported. */
__device__ inline unsigned spmv_inside(const spmv_job &job, int32_t c, unsigned *top) {
    *top = max(*top, (unsigned)c);
    return min((unsigned)c, job.cols_narrow - 1);
}
template <typename T> __device__ inline const T *spmv_x_at(const spmv_job &job, const T *x, unsigned c) {
    return (const T *)((const char *)x + (uint64_t)c * job.x_step);
}
__device__ inline bool spmv_is_outside(const spmv_job &job, unsigned top) { return top >= job.cols_narrow; }

/* Column of entry k, with a look at it; -1: outside, which is reported. */
__device__ inline int64_t spmv_careful_col(const spmv_job &job, int64_t k, spmv_faults *faults) {
    const int64_t c = index_at(job.col, job.wide_col, k);
    if (c >= 0 && c < job.cols) {
        return c;
    }
    faults->entry(k);
    return -1;
}

/* ---- the ends of a row ---- */

__device__ inline int64_t spmv_rowptr(const spmv_job &job, int64_t row) {
    return index_at(job.rowptr, job.wide_rowptr, row);
}

/* Several of them at once, so that the reads overlap. I: int for matrices of less than 2^31 entries, where a pointer
 * that does not fit becomes -1. */
template <int N, typename I> __device__ inline void spmv_rowptrs(const spmv_job &job, const I (&rows)[N], I (&at)[N]) {
    if (job.wide_rowptr) {
        int64_t wide[N];
#pragma unroll
        for (int i = 0; i < N; i++) {
            wide[i] = ((const int64_t *)job.rowptr)[rows[i]];
        }
#pragma unroll
        for (int i = 0; i < N; i++) {
            at[i] = sizeof(I) == 8 || (uint64_t)wide[i] <= (uint64_t)job.nnz ? (I)wide[i] : -1;
        }
    } else {
        int32_t narrow[N];
#pragma unroll
        for (int i = 0; i < N; i++) {
            narrow[i] = ((const int32_t *)job.rowptr)[rows[i]];
        }
#pragma unroll
        for (int i = 0; i < N; i++) {
            at[i] = narrow[i];
        }
    }
}

/* Row pointers may be wrong if no plan has checked them: then they are cut to the entries that exist. */
__device__ inline int64_t spmv_clamp(int64_t k, int64_t low, int64_t high) { return max(low, min(k, high)); }
__device__ inline int spmv_clamp_narrow(int k, int low, int high) { return max(low, min(k, high)); }
template <typename I> __device__ inline bool spmv_is_malformed(const spmv_job &job, I begin, I end) {
    return begin < 0 || end < begin || end > (I)job.nnz;
}

/* The new value of *y, an element of a row whose sum is complete. is_empty: the row has no entries. */
template <typename T, bool PLUS>
__device__ inline T spmv_result(const spmv_job &job, const T *y, typename spmv_sum<T, PLUS>::type sum, bool is_empty) {
    const T beta = job.beta_at ? __ldg((const T *)job.beta_at) : (T)job.beta;
    if constexpr (PLUS) {
        const T alpha = job.alpha_at ? __ldg((const T *)job.alpha_at) : (T)job.alpha;
        const T scaled = alpha * (is_empty ? (T)0 : sum);
        return beta == 0 ? scaled : fma(beta, *y, scaled);
    } else {
        const T old = beta == 0 ? 0 : *y;
        sum = beta == 0 ? sum : spmv_join_other(job.semiring, sum, (double)old);
        /* any y but 0 counts as 1. Chosen here and not before the join, which would cost registers */
        return (T)(job.semiring == LSP_OR_AND && old != 0 ? 1 : sum);
    }
}
template <typename T, bool PLUS>
__device__ inline void spmv_write(const spmv_job &job, T *y, typename spmv_sum<T, PLUS>::type sum, bool is_empty) {
    *y = spmv_result<T, PLUS>(job, y, sum, is_empty);
}
template <typename T, bool PLUS>
__device__ inline void spmv_finish(const spmv_job &job, int64_t row, int64_t vector,
                                   typename spmv_sum<T, PLUS>::type sum, bool is_empty) {
    spmv_write<T, PLUS>(job, (T *)job.y + row * job.y_row + vector * job.y_vector, sum, is_empty);
}

/* ---- on the host ---- */

/* f(std::integral_constant<int, n>) for the one of the numbers that n is; the last one if it is none. */
template <int NUMBER, int... MORE, typename F> static inline lsp_status by_constant(int n, F f) {
    if constexpr (sizeof...(MORE) > 0) {
        if (n != NUMBER) {
            return by_constant<MORE...>(n, f);
        }
    }
    return f(std::integral_constant<int, NUMBER>{});
}

/* The same for the block size of slices. */
template <typename F> static inline lsp_status by_block(int b, F f) { return by_constant<2, 3, 4, 1>(b, f); }

/* SPMV_BY_TYPES(job, f, (arguments)): f<V, T>(arguments) for the five pairs of types of values and vectors. */
#define SPMV_BY_TYPES(given, f, arguments)                                                                             \
    ((given)->options.type == LSP_F32                                                                                  \
         ? (given)->A.val_type == LSP_F32 ? f<float, float> arguments : f<spmv_one, float> arguments                   \
     : (given)->A.val_type == LSP_F64 ? f<double, double> arguments                                                    \
     : (given)->A.val_type == LSP_F32 ? f<float, double> arguments                                                     \
                                      : f<spmv_one, double>                                                            \
                                            arguments)
