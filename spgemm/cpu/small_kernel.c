/* C = A*B of few products and few columns, for one instruction set: one pass, a window of all columns that
 * stays in the nearest cache. A plan, threads and ranks would take longer than the product itself. */
#include "core/isa.h"
#include "small.h"
#include <math.h>
#include <string.h>

/* Bit k: is touched[k] 1? For 64 of them. */
static inline uint64_t touched_mask(const uint8_t *touched) {
    uint64_t mask = 0;
    for (int k = 0; k < 64; k += 8) {
        uint64_t flags;
        memcpy(&flags, touched + k, 8);
        mask |= (flags * 0x0102040810204080u >> 56) << k;
    }
    return mask;
}

/* Sums begin with -0.0, to which fused multiply-add only rounds the first product; the window is left as it was. */
#define ROWS(VALUE, FMA, ISNAN)                                                                                        \
    const int32_t *a_rowptr = job->A.rowptr, *a_col = job->A.col, *b_rowptr = job->B.rowptr, *b_col = job->B.col;      \
    const VALUE *a_val = job->A.val, *b_val = job->B.val;                                                              \
    VALUE *restrict window = job->window, *restrict val = job->val;                                                    \
    uint8_t *restrict touched = job->touched;                                                                          \
    int32_t *restrict col = job->col;                                                                                  \
    int64_t n = 0;                                                                                                     \
    for (int64_t i = job->first; i < job->end; i++) {                                                                  \
        uint64_t blocks = 0; /* of 64 columns, touched */                                                              \
        job->rowptr[i] = (int32_t)n;                                                                                   \
        for (int32_t p = a_rowptr[i]; p < a_rowptr[i + 1]; p++) {                                                      \
            const VALUE a = a_val[p];                                                                                  \
            const int32_t k = a_col[p];                                                                                \
            for (int32_t q = b_rowptr[k]; q < b_rowptr[k + 1]; q++) {                                                  \
                const int32_t c = b_col[q];                                                                            \
                window[c] = FMA(a, b_val[q], window[c]);                                                               \
                touched[c] = 1;                                                                                        \
                blocks |= (uint64_t)1 << c / 64;                                                                       \
            }                                                                                                          \
        }                                                                                                              \
        for (; blocks != 0; blocks &= blocks - 1) {                                                                    \
            const int32_t first = 64 * (int32_t)__builtin_ctzll(blocks);                                               \
            for (uint64_t mask = touched_mask(touched + first); mask != 0; mask &= mask - 1) {                         \
                const int32_t c = first + __builtin_ctzll(mask);                                                       \
                const VALUE sum = window[c];                                                                           \
                col[n] = c;                                                                                            \
                val[n++] = ISNAN(sum) ? (VALUE)NAN : sum;                                                              \
                window[c] = -(VALUE)0;                                                                                 \
            }                                                                                                          \
            memset(touched + first, 0, 64);                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    return n

static int64_t rows_f64(const lsp_few_job *job) { ROWS(double, fma, isnan); }
static int64_t rows_f32(const lsp_few_job *job) { ROWS(float, fmaf, isnan); }

int64_t LSP_ISA_NAME(lsp_spgemm_few_rows)(const lsp_few_job *job) {
    return job->A.val_type == LSP_F64 ? rows_f64(job) : rows_f32(job);
}
