/* Facts about a matrix in either place, and what both devices compute alike. */
#pragma once

#include "matrices/matrices.h"

LSP_BEGIN_DECLS

/* ---- values ---- */

/* The length of a complex number, without overflow or underflow on the way. The C library's hypot rounds differently on
 * each device; these steps round alike everywhere. */
LSP_BOTH_SIDES static inline double lsp_length(double re, double im) {
    int exponent;
    const double most = fmax(fabs(re), fabs(im)), least = fmin(fabs(re), fabs(im));
    if (least == 0) {
        return most;
    }
    (void)frexp(most, &exponent);
    const double x = ldexp(most, -exponent), y = ldexp(least, -exponent);
    return ldexp(sqrt(x * x + y * y), exponent);
}

LSP_BOTH_SIDES static inline bool lsp_is_number(double x) { return x == x; }

/* |a-b| / max(|a|,|b|) of two complex numbers, scaled so that nothing overflows. 0 if both are equal or both NaN;
 * infinite if only one is NaN or either is infinite. */
LSP_BOTH_SIDES static inline double lsp_relative(double a_re, double a_im, double b_re, double b_im) {
    const bool same_re = a_re == b_re || (!lsp_is_number(a_re) && !lsp_is_number(b_re));
    const bool same_im = a_im == b_im || (!lsp_is_number(a_im) && !lsp_is_number(b_im));
    if (same_re && same_im) {
        return 0;
    }
    const bool numbers = lsp_is_number(a_re) && lsp_is_number(a_im) && lsp_is_number(b_re) && lsp_is_number(b_im);
    const double most = fmax(fmax(fabs(a_re), fabs(a_im)), fmax(fabs(b_re), fabs(b_im)));
    if (!numbers || most > 1.7976931348623157e308) {
        return (double)INFINITY;
    }
    int exponent;
    (void)frexp(most, &exponent);
    const double ax = ldexp(a_re, -exponent), ay = ldexp(a_im, -exponent);
    const double bx = ldexp(b_re, -exponent), by = ldexp(b_im, -exponent);
    return lsp_length(ax - bx, ay - by) / fmax(lsp_length(ax, ay), lsp_length(bx, by));
}

/* The same of two integers, whose difference is exact. */
LSP_BOTH_SIDES static inline uint64_t lsp_whole_size(int64_t x) { return x < 0 ? 0 - (uint64_t)x : (uint64_t)x; }
LSP_BOTH_SIDES static inline double lsp_relative_whole(int64_t a, int64_t b) {
    const uint64_t size_a = lsp_whole_size(a), size_b = lsp_whole_size(b);
    const uint64_t apart = a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
    return apart == 0 ? 0 : (double)apart / (double)(size_a > size_b ? size_a : size_b);
}

/* Is |x| at most this tolerance, which is 0 or more? No rounding on the way. */
LSP_BOTH_SIDES static inline bool lsp_whole_within(int64_t x, double tolerance) {
    return tolerance >= 9223372036854775808.0 /* 2^63 */ || lsp_whole_size(x) <= (uint64_t)tolerance;
}

/* factor * value k of an addend, in a sum of `type`: float by float, LSP_I64 modulo 2^64, LSP_C64 part by part. Sums of
 * two such terms, and what is stored. With constant types the parts that a type has not cost nothing. */
LSP_BOTH_SIDES LSP_INLINE lsp_value lsp_term(lsp_type type, lsp_type val_type, const void *val, int64_t k,
                                             double factor) {
    const lsp_value x = lsp_value_of(val_type, val, k);
    return type == LSP_I64   ? (lsp_value){0, 0, (int64_t)((uint64_t)(int64_t)factor * (uint64_t)x.whole)}
           : type == LSP_F32 ? lsp_value_from((double)((float)factor * (float)x.re), 0)
           : type == LSP_C64 ? lsp_value_from(factor * x.re, factor * x.im)
                             : lsp_value_from(factor * x.re, 0);
}
LSP_BOTH_SIDES LSP_INLINE lsp_value lsp_term_sum(lsp_type type, lsp_value x, lsp_value y) {
    return type == LSP_I64   ? (lsp_value){0, 0, (int64_t)((uint64_t)x.whole + (uint64_t)y.whole)}
           : type == LSP_F32 ? lsp_value_from((double)((float)x.re + (float)y.re), 0)
                             : lsp_value_from(x.re + y.re, x.im + y.im);
}
LSP_BOTH_SIDES LSP_INLINE void lsp_term_set(lsp_type type, void *val, int64_t k, lsp_value x) {
    lsp_value_set(type, val, k, (lsp_value){lsp_settled(x.re), lsp_settled(x.im), x.whole});
}

/* ---- checks ---- */

/* Refuses A, whose header was checked, because of its row pointers or columns: names the first fault. LSP_OK if there
 * is none. */
lsp_status lsp_csr_refuse(lsp_ctx *ctx, const char *name, const lsp_csr *A);

/* *value = A->rowptr[i]. Waits for a GPU. */
lsp_status lsp_csr_read_rowptr(lsp_ctx *ctx, const lsp_csr *A, int64_t i, int64_t *value);

/* *row = the first row whose columns do not ascend, or with `strictly` also repeat; A->rows if none. For a checked
 * matrix in either place. Waits for a GPU. */
lsp_status lsp_csr_find_unsorted(lsp_ctx *ctx, const lsp_csr *A, bool strictly, int64_t *row);

/* *A = a copy with sorted rows, *made, unless its rows ascend. `sums`: unless they ascend strictly; then values become
 * those of `type`, and entries at one place are summed. For a checked matrix in either place. */
lsp_status lsp_csr_order(lsp_ctx *ctx, const lsp_csr **A, bool sums, lsp_type type, lsp_csr *made);

/* Sorts the rows of A, whose values have 4 bytes or more. heads[], unless NULL: where runs of equal columns begin;
 * counts[i] of them from the begin of row i on. */
lsp_status lsp_csr_sort_runs(lsp_ctx *ctx, const lsp_csr *A, void *heads, void *counts);

/* An entry, for a message. Waits for a GPU. */
typedef struct lsp_csr_spot {
    int64_t row, col, whole; /* whole: its value, if that is an integer */
} lsp_csr_spot;
lsp_status lsp_csr_spot_of(lsp_ctx *ctx, const lsp_csr *A, int64_t entry, lsp_csr_spot *spot);

/* ---- statistics ---- */

/* What symmetry is lost by an entry and its mirror, x and y: of integers, of other values. */
enum { LSP_LOST_PATTERN = 1, LSP_LOST_SYMMETRIC = 2, LSP_LOST_SKEW = 4, LSP_LOST_HERMITIAN = 8 };
LSP_BOTH_SIDES static inline unsigned lsp_lost_whole(uint64_t x, uint64_t y) {
    return (x == y ? 0u : LSP_LOST_SYMMETRIC | LSP_LOST_HERMITIAN) | (x + y == 0 ? 0u : (unsigned)LSP_LOST_SKEW);
}
LSP_BOTH_SIDES static inline unsigned lsp_lost_number(double x_re, double x_im, double y_re, double y_im) {
    const bool re = lsp_same_number(x_re, y_re), im = lsp_same_number(x_im, y_im);
    const bool minus_re = lsp_same_number(x_re, -y_re), minus_im = lsp_same_number(x_im, -y_im);
    return (re && im ? 0u : (unsigned)LSP_LOST_SYMMETRIC) | (minus_re && minus_im ? 0u : (unsigned)LSP_LOST_SKEW) |
           (re && minus_im ? 0u : (unsigned)LSP_LOST_HERMITIAN);
}

/* lsp_csr_check_valid in two halves, for calls whose kernels may run before the host knows the answer: gpu/gpu.h
 * tells how. On the host the first half is all, and *gate = NULL. *gate lies in scratch. */
lsp_status lsp_csr_check_begin(lsp_ctx *ctx, const char *name, const lsp_csr *A, const unsigned **gate);
lsp_status lsp_csr_check_end(lsp_ctx *ctx, const char *name, const lsp_csr *A);

LSP_END_DECLS
