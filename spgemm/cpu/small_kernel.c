/* C = A*B with few products and few columns, for one instruction set. One pass adds all products of a row in a window
 * of all columns, which stays in the first-level cache. A plan would take longer than the product itself. */
#include "complex.h"
#include "core/isa.h"
#include "integer.h"
#include "small.h"
#include "touched.h"
#include <math.h>
#include <string.h>

/* Adds the products of row i to the window, and does `mark` at the column c of each. Sums start from -0.0, so fused
 * multiply-add only rounds the first product. */
#define ADD_ROW(VALUE, FMA, mark)                                                                                      \
    for (int32_t p = a_rowptr[i]; p < a_rowptr[i + 1]; p++) {                                                          \
        const VALUE a = a_val[p];                                                                                      \
        const int32_t end = b_rowptr[a_col[p] + 1];                                                                    \
        for (int32_t q = b_rowptr[a_col[p]]; q < end; q++) {                                                           \
            const int32_t c = b_col[q];                                                                                \
            window[c] = FMA(a, b_val[q], window[c]);                                                                   \
            mark;                                                                                                      \
        }                                                                                                              \
    }
#define ARRAYS(VALUE)                                                                                                  \
    const int32_t *a_rowptr = job->A.rowptr, *a_col = job->A.col, *b_rowptr = job->B.rowptr, *b_col = job->B.col;      \
    const VALUE *a_val = job->A.val, *b_val = job->B.val;                                                              \
    VALUE *restrict window = job->window

/* Writes the columns of a word of bits, and their sums, to C. Sets the window back to -0.0. */
#define EMIT(VALUE, SETTLED, NOTHING, first, word)                                                                     \
    for (uint64_t mask = (word); mask != 0; mask &= mask - 1) {                                                        \
        const int32_t c = (first) + __builtin_ctzll(mask);                                                             \
        const VALUE sum = window[c];                                                                                   \
        col[n] = c;                                                                                                    \
        val[n++] = SETTLED(sum);                                                                                       \
        window[c] = NOTHING;                                                                                           \
    }

/* `blocks` has a bit for each block of 64 columns that was touched. */
#define ROWS(VALUE, FMA, SETTLED, NOTHING)                                                                             \
    ARRAYS(VALUE);                                                                                                     \
    VALUE *restrict val = job->val;                                                                                    \
    uint8_t *restrict touched = job->touched;                                                                          \
    int32_t *restrict col = job->col, *restrict rowptr = job->rowptr;                                                  \
    int64_t n = 0;                                                                                                     \
    for (int64_t i = job->first; i < job->end; i++) {                                                                  \
        uint64_t blocks = 0; /* touched */                                                                             \
        rowptr[i] = (int32_t)n;                                                                                        \
        ADD_ROW(VALUE, FMA, (touched[c] = 1, blocks |= (uint64_t)1 << (uint32_t)c / 64))                               \
        for (; blocks != 0; blocks &= blocks - 1) {                                                                    \
            const int32_t first = 64 * (int32_t)__builtin_ctzll(blocks);                                               \
            EMIT(VALUE, SETTLED, NOTHING, first, touched_mask(touched + first))                                        \
            memset(touched + first, 0, 64);                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    return n

/* Makes rows with B's columns as bits: the union of the rows of B gives C's columns, so no product marks anything. */
#define DENSE_ROWS(VALUE, FMA, SETTLED, NOTHING)                                                                       \
    ARRAYS(VALUE);                                                                                                     \
    VALUE *restrict val = job->val;                                                                                    \
    int32_t *restrict col = job->col, *restrict rowptr = job->rowptr;                                                  \
    const int64_t words = job->words;                                                                                  \
    int64_t n = 0;                                                                                                     \
    for (int64_t i = job->first; i < job->end; i++) {                                                                  \
        uint64_t all[LSP_SMALL_COLUMNS / 64] = {0};                                                                    \
        rowptr[i] = (int32_t)n;                                                                                        \
        for (int32_t p = a_rowptr[i]; p < a_rowptr[i + 1]; p++) {                                                      \
            unite(all, job->bits + a_col[p] * words, words);                                                           \
        }                                                                                                              \
        ADD_ROW(VALUE, FMA, (void)0)                                                                                   \
        for (int64_t w = 0; w < words; w++) {                                                                          \
            EMIT(VALUE, SETTLED, NOTHING, 64 * (int32_t)w, all[w])                                                     \
        }                                                                                                              \
    }                                                                                                                  \
    return n

static inline void unite(uint64_t *restrict all, const uint64_t *restrict bits, int64_t words) {
    for (int64_t w = 0; w < words; w += 8) {
        for (int64_t k = w; k < w + 8; k++) {
            all[k] |= bits[k];
        }
    }
}

/* The functions of one type. */
#define TYPED(suffix, ...)                                                                                             \
    static int64_t rows_##suffix(const lsp_small_job *job) { ROWS(__VA_ARGS__); }                                      \
    static int64_t dense_rows_##suffix(const lsp_small_job *job) { DENSE_ROWS(__VA_ARGS__); }
#define SETTLED_F32(sum) (isnan(sum) ? (float)NAN : (sum))
#define SETTLED_F64(sum) (isnan(sum) ? (double)NAN : (sum))
TYPED(f32, float, fmaf, SETTLED_F32, -0.0F)
TYPED(f64, double, fma, SETTLED_F64, -0.0)
TYPED(complex, complex_value, complex_fma, complex_settled, COMPLEX_NOTHING)
TYPED(i64, int64_t, integer_fma, , 0)

int64_t LSP_ISA_NAME(lsp_spgemm_small_rows)(const lsp_small_job *job) {
    if (job->bits != NULL) {
        return job->A.val_type == LSP_F64 ? dense_rows_f64(job) : dense_rows_f32(job);
    }
    return job->A.val_type == LSP_F64 ? rows_f64(job) : rows_f32(job);
}

int64_t LSP_ISA_NAME(lsp_spgemm_small_complex_rows)(const lsp_small_job *job) {
    return job->bits != NULL ? dense_rows_complex(job) : rows_complex(job);
}

int64_t LSP_ISA_NAME(lsp_spgemm_small_integer_rows)(const lsp_small_job *job) {
    return job->bits != NULL ? dense_rows_i64(job) : rows_i64(job);
}
