/* Y = alpha*A*X + beta*Y by diagonals. 32 rows are summed together, a vector of rows at a time; a row that a diagonal
 * does not have reads nothing and keeps its sum. */
#include "core/isa.h"
#include "core/vector.h"
#include "diagonals.h"

enum { SLICE = LSP_SPMV_SLICE, MOST_AT_ONCE = 8 }; /* vectors */

typedef struct slice_place {
    int64_t row, cols; /* the slice's first row, and all columns; in blocks */
} slice_place;

/* One rounding where the processor has the instruction; elsewhere it would be a slow call. */
#if defined(__FMA__)
ALWAYS float fused_f32(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
ALWAYS double fused_f64(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
ALWAYS float fused_f32(float a, float b, float c) { return a * b + c; }
ALWAYS double fused_f64(double a, double b, double c) { return a * b + c; }
#endif

/* The sum that changes nothing: not even the sign of a zero. */
ALWAYS void clear_f32(float *sum, int n) {
    for (int k = 0; k < n; k++) {
        sum[k] = -0.0F;
    }
}
ALWAYS void clear_f64(double *sum, int n) {
    for (int k = 0; k < n; k++) {
        sum[k] = -0.0;
    }
}

/* Rows without entries: their sum is 0, not -0. */
#define EMPTY(type, suffix)                                                                                            \
    ALWAYS void empty_##suffix(type *sum, const lsp_diagonal *at, int64_t n, int b) {                                  \
        uint32_t present = 0;                                                                                          \
        for (int64_t d = 0; d < n; d++) {                                                                              \
            present |= at[d].rows;                                                                                     \
        }                                                                                                              \
        for (uint32_t left = ~present; left != 0; left &= left - 1) {                                                  \
            for (int i = 0; i < b; i++) {                                                                              \
                sum[i * SLICE + __builtin_ctz(left)] = 0;                                                              \
            }                                                                                                          \
        }                                                                                                              \
    }
EMPTY(float, f32)
EMPTY(double, f64)

/* ---- vectors of W rows: x, values of another type as those of x, and the sum of rows in a mask ---- */

/* VEC(op): the instruction on vectors of T; PS_f32, PS_f64: how it names the type. */
#define PS_f32 ps
#define PS_f64 pd
#define VEC(op) VEC_(op, OF(PS))
#define VEC_(op, ps) VEC__(op, ps)
#if defined(__AVX512F__)
#define VEC__(op, ps) _mm512_##op##_##ps
#define W_f64 8
#define W_f32 16
typedef __m512d v_f64;
typedef __m512 v_f32;
typedef __mmask8 m_f64;
typedef __mmask16 m_f32;
#define MASK_f64(rows, w) ((m_f64)((rows) >> (8 * (w))))
#define MASK_f32(rows, w) ((m_f32)((rows) >> (16 * (w))))
#define SOME(x, m) VEC(maskz_loadu)((m), (x))
#define WIDE(x) _mm512_cvtps_pd(_mm256_loadu_ps(x))
#define KEEP(sum, more, m) VEC(mask_mov)((sum), (m), (more))
#elif defined(__AVX2__)
#define VEC__(op, ps) _mm256_##op##_##ps
#define W_f64 4
#define W_f32 8
typedef __m256d v_f64;
typedef __m256 v_f32;
typedef __m256i m_f64, m_f32; /* the highest bit of each lane decides */
#define MASK_f64(rows, w)                                                                                              \
    _mm256_sllv_epi64(_mm256_set1_epi64x(rows),                                                                        \
                      _mm256_sub_epi64(_mm256_setr_epi64x(63, 62, 61, 60), _mm256_set1_epi64x(4 * (w))))
#define MASK_f32(rows, w)                                                                                              \
    _mm256_sllv_epi32(_mm256_set1_epi32((int)(rows)),                                                                  \
                      _mm256_sub_epi32(_mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24), _mm256_set1_epi32(8 * (w))))
#define SOME(x, m) VEC(maskload)((x), (m))
#define WIDE(x) _mm256_cvtps_pd(_mm_loadu_ps(x))
#define KEEP(sum, more, m) VEC(blendv)((sum), (more), VEC(castsi256)(m))
#endif

#ifdef LANES
#define STREAM_END() _mm_sfence()
#else
#define STREAM_END() (void)0
#endif

#define NAME__(f, v, t) f##_##v##_##t
#define NAME_(f, v, t) NAME__(f, v, t)
#define NAME(f) NAME_(f, V_NAME, T_NAME)
#define OF_(f, t) f##_##t
#define OF__(f, t) OF_(f, t)
#define OF(f) OF__(f, T_NAME)

/* MORE(sum, v, x): the sum of W rows and W values, from v on, times x. */
#define T double
#define T_NAME f64
#define V double
#define V_NAME f64
#define MORE(sum, v, x) VEC(fmadd)(VEC(loadu)(v), (x), (sum))
#include "diagonals_template.h"
#define V float
#define V_NAME f32
#define MORE(sum, v, x) VEC(fmadd)(WIDE(v), (x), (sum))
#include "diagonals_template.h"
#define PATTERN
#define V double
#define V_NAME ones
#define MORE(sum, v, x) VEC(add)((x), (sum))
#include "diagonals_template.h"
#undef PATTERN
#undef T
#undef T_NAME
#define T float
#define T_NAME f32
#define V float
#define V_NAME f32
#define MORE(sum, v, x) VEC(fmadd)(VEC(loadu)(v), (x), (sum))
#include "diagonals_template.h"
#define PATTERN
#define V float
#define V_NAME ones
#define MORE(sum, v, x) VEC(add)((x), (sum))
#include "diagonals_template.h"
#undef PATTERN

void LSP_ISA_NAME(lsp_diagonals_product)(const lsp_diagonals_product *p, int64_t begin, int64_t end) {
    LSP_SPMV_WITH_TYPES(p->A->val_type, p->type, product, p, begin, end);
}
