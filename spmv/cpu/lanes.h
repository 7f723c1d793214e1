/* 32-byte vectors of doubles and of floats, as AVX2 has them; elsewhere arrays, with the same results bit for bit.
 * A wider processor runs the same code: its gathers of x are no faster, and x is what a row waits for. */
#pragma once

#include "core/core.h"
#include "core/vector.h"
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
typedef __m256d vec_f64;
typedef __m256 vec_f32;
#else
typedef struct vec_f64 {
    double at[4];
} vec_f64;
typedef struct vec_f32 {
    float at[8];
} vec_f32;
#endif

/* all_T: x in every lane. load_T, save_T: memory. plus_f64, times_add_T: a*b + c in one rounding. pick_T: the lanes of
 * x named by consecutive columns. from_f32: four floats as doubles. */
#if defined(__AVX2__)
ALWAYS vec_f64 all_f64(double x) { return _mm256_set1_pd(x); }
ALWAYS vec_f32 all_f32(float x) { return _mm256_set1_ps(x); }
ALWAYS vec_f64 load_f64(const double *p) { return _mm256_loadu_pd(p); }
ALWAYS vec_f32 load_f32(const float *p) { return _mm256_loadu_ps(p); }
ALWAYS vec_f64 from_f32(const float *p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
ALWAYS void save_f64(double *p, vec_f64 x) { _mm256_storeu_pd(p, x); }
ALWAYS void save_f32(float *p, vec_f32 x) { _mm256_storeu_ps(p, x); }
ALWAYS vec_f64 plus_f64(vec_f64 a, vec_f64 b) { return _mm256_add_pd(a, b); }
ALWAYS vec_f64 times_add_f64(vec_f64 a, vec_f64 b, vec_f64 c) { return _mm256_fmadd_pd(a, b, c); }
ALWAYS vec_f32 times_add_f32(vec_f32 a, vec_f32 b, vec_f32 c) { return _mm256_fmadd_ps(a, b, c); }
/* (x0 + x2) + (x1 + x3) */
ALWAYS double across_f64(vec_f64 x) {
    const __m128d pairs = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
    return _mm_cvtsd_f64(_mm_add_sd(pairs, _mm_unpackhi_pd(pairs, pairs)));
}
/* The lanes x4 .. x7 are added to x0 .. x3 first. */
ALWAYS float across_f32(vec_f32 x) {
    const __m128 fours = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    const __m128 pairs = _mm_add_ps(fours, _mm_movehl_ps(fours, fours));
    return _mm_cvtss_f32(_mm_add_ss(pairs, _mm_shuffle_ps(pairs, pairs, 1)));
}
#else
#define EACH(n, i) UNROLLED for (int i = 0; i < (n); i++)
#define ARRAY_OF(type, suffix, n, fused)                                                                               \
    ALWAYS vec_##suffix all_##suffix(type x) {                                                                         \
        vec_##suffix r;                                                                                                \
        EACH(n, i) { r.at[i] = x; }                                                                                    \
        return r;                                                                                                      \
    }                                                                                                                  \
    ALWAYS vec_##suffix load_##suffix(const type *p) {                                                                 \
        vec_##suffix r;                                                                                                \
        memcpy(r.at, p, sizeof r.at);                                                                                  \
        return r;                                                                                                      \
    }                                                                                                                  \
    ALWAYS void save_##suffix(type *p, vec_##suffix x) { memcpy(p, x.at, sizeof x.at); }                               \
    ALWAYS vec_##suffix times_add_##suffix(vec_##suffix a, vec_##suffix b, vec_##suffix c) {                           \
        EACH(n, i) { c.at[i] = fused(a.at[i], b.at[i], c.at[i]); }                                                     \
        return c;                                                                                                      \
    }
ARRAY_OF(double, f64, 4, __builtin_fma)
ARRAY_OF(float, f32, 8, __builtin_fmaf)
ALWAYS vec_f64 from_f32(const float *p) { return (vec_f64){{p[0], p[1], p[2], p[3]}}; }
ALWAYS vec_f64 plus_f64(vec_f64 a, vec_f64 b) {
    EACH(4, i) { a.at[i] += b.at[i]; }
    return a;
}
ALWAYS double across_f64(vec_f64 x) { return (x.at[0] + x.at[2]) + (x.at[1] + x.at[3]); }
ALWAYS float across_f32(vec_f32 x) {
    return ((x.at[0] + x.at[4]) + (x.at[2] + x.at[6])) + ((x.at[1] + x.at[5]) + (x.at[3] + x.at[7]));
}
#endif

/* load_V_T: values from entry k on, as T; ones: a pattern. fused_T: one product more. */
#define VALUES_OF(v, V, t, load)                                                                                       \
    ALWAYS vec_##t load_##v##_##t(const V *val, int64_t k) { return load(val + k); }
VALUES_OF(f64, double, f64, load_f64)
VALUES_OF(f32, float, f64, from_f32)
VALUES_OF(f32, float, f32, load_f32)
#define load_ones_f64(val, k) ((void)(val), all_f64(1))
#define load_ones_f32(val, k) ((void)(val), all_f32(1))
#define fused_f64 __builtin_fma
#define fused_f32 __builtin_fmaf

/* x at the columns k, k + 1, ... */
#define X_OF(i) x[lsp_index_at(col, type, k + (i))]
#if defined(__AVX2__)
ALWAYS vec_f64 pick_f64(const double *x, const void *col, lsp_type type, int64_t k) {
    const __m128d low = _mm_setr_pd(X_OF(0), X_OF(1));
    return _mm256_set_m128d(_mm_setr_pd(X_OF(2), X_OF(3)), low);
}
ALWAYS vec_f32 pick_f32(const float *x, const void *col, lsp_type type, int64_t k) {
    const __m128 low = _mm_setr_ps(X_OF(0), X_OF(1), X_OF(2), X_OF(3)); /* by halves: eight columns take registers */
    return _mm256_set_m128(_mm_setr_ps(X_OF(4), X_OF(5), X_OF(6), X_OF(7)), low);
}
#else
ALWAYS vec_f64 pick_f64(const double *x, const void *col, lsp_type type, int64_t k) {
    return (vec_f64){{X_OF(0), X_OF(1), X_OF(2), X_OF(3)}};
}
ALWAYS vec_f32 pick_f32(const float *x, const void *col, lsp_type type, int64_t k) {
    return (vec_f32){{X_OF(0), X_OF(1), X_OF(2), X_OF(3), X_OF(4), X_OF(5), X_OF(6), X_OF(7)}};
}
#endif
#undef X_OF

/* ---- eight chains of sums, of either type ---- */

typedef struct chains_f64 {
    vec_f64 low, high;
} chains_f64;
typedef struct chains_f32 {
    vec_f32 all;
} chains_f32;

/* f(part of the chains, its first lane), for each part. */
#define EACH_CHAIN_f64(f) f(low, 0) f(high, 4)
#define EACH_CHAIN_f32(f) f(all, 0)
ALWAYS chains_f64 no_chains_f64(void) { return (chains_f64){all_f64(0), all_f64(0)}; }
ALWAYS chains_f32 no_chains_f32(void) { return (chains_f32){all_f32(0)}; }
ALWAYS double total_f64(chains_f64 s) { return across_f64(plus_f64(s.low, s.high)); }
ALWAYS float total_f32(chains_f32 s) { return across_f32(s.all); }
