/* Y = alpha*A*X + beta*Y by diagonals. 32 rows are summed together, a vector of rows at a time; a row that a diagonal
 * does not have reads nothing and keeps its sum. */
#include "core/vector.h"
#include "cpu.h"

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

/* clear: sums that change nothing, not even the sign of a zero. empty: rows without entries have the sum 0, not -0. */
#define ENDS(type, suffix)                                                                                             \
    ALWAYS void clear_##suffix(type *sum, int n) {                                                                     \
        for (int k = 0; k < n; k++) {                                                                                  \
            sum[k] = (type)-0.0;                                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
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
ENDS(float, f32)
ENDS(double, f64)

/* ---- vectors of W rows: x, values of another type as those of x, and the sum of rows in a mask ---- */

/* VEC(op): the instruction on vectors of T; PS_f32, PS_f64: how it names the type. */
#define PS_f32 ps
#define PS_f64 pd
#define VEC(op) VEC_(op, TYPED(PS))
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

/* MORE(sum, v, x): the sums of W rows and W values, from v on, times x. */
#define LOAD_f64_f64(v) VEC(loadu)(v)
#define LOAD_f32_f64(v) WIDE(v)
#define LOAD_ones_f64(v) ((void)(v), VEC(set1)(1))
#define LOAD_f32_f32(v) VEC(loadu)(v)
#define LOAD_ones_f32(v) ((void)(v), VEC(set1)(1))
#define MORE(sum, v, x) (IS_PATTERN ? VEC(add)((x), (sum)) : VEC(fmadd)(NAME(LOAD)(v), (x), (sum)))
#define ADD_PRODUCT(v, x, sum) (IS_PATTERN ? (x) + (sum) : TYPED(fused)((T)(v), (x), (sum)))
/* f(..., b) with the size of a block a constant. */
#define BY_BLOCK(b, f, ...) ((b) == 2 ? f(__VA_ARGS__, 2) : (b) == 3 ? f(__VA_ARGS__, 3) : f(__VA_ARGS__, 4))
#define PAIR_TEMPLATE "diagonals_template.h"
#include "each_pair_template.h"

void LSP_ISA_NAME(lsp_diagonals_product)(const lsp_diagonals_work *work, int64_t begin, int64_t end) {
    LSP_SPMV_WITH_TYPES(work->A->val_type, work->job->options.type, product, work, begin, end);
}
