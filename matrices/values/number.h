/* The arithmetic of one value, for the host and for the kernels: both give the same bits, because they run this code.
 * A value is x[0] + i x[1]; x[1] is 0 unless `complex`. */
#pragma once

#include "matrices/csr/facts.h"

#define LSP_NUMBER LSP_BOTH_SIDES static inline __attribute__((always_inline))

/* |re + i im|; NaN if a part is NaN. */
LSP_NUMBER double lsp_modulus(double re, double im) {
    return re != re || im != im ? (double)NAN : isinf(re) || isinf(im) ? (double)INFINITY : lsp_length(re, im);
}

/* |v|, of a type that is no integer. */
LSP_NUMBER double lsp_magnitude(lsp_type type, lsp_value v) {
    return type == LSP_C64 ? lsp_modulus(v.re, v.im) : fabs(v.re);
}

/* ---- products ---- */

/* x = x * y. A real factor multiplies both parts, so that infinity times a real number has no NaN in it. */
LSP_NUMBER void lsp_multiply(double x[2], bool x_complex, const double y[2], bool y_complex) {
    const double re = x_complex && y_complex ? x[0] * y[0] - x[1] * y[1] : x[0] * y[0];
    const double im = x_complex && y_complex ? x[0] * y[1] + x[1] * y[0] : x_complex ? x[1] * y[0] : x[0] * y[1];
    x[0] = re;
    x[1] = x_complex || y_complex ? im : 0;
}

/* to[at], of `type`, = a[i] * b[j], of a type that is `type` and one that may be narrower; LSP_I64 modulo 2^64. */
LSP_NUMBER void lsp_set_product(lsp_type type, void *to, int64_t at, const void *a, int64_t i, lsp_type type_b,
                                const void *b, int64_t j) {
    const lsp_value u = lsp_value_of(type, a, i), v = lsp_value_of(type_b, b, j);
    const lsp_value whole = {0, 0, (int64_t)((uint64_t)u.whole * (uint64_t)v.whole)};
    double x[2] = {u.re, u.im};
    const double y[2] = {v.re, v.im};
    lsp_multiply(x, type == LSP_C64, y, type_b == LSP_C64);
    lsp_value_set(type, to, at, type == LSP_I64 ? whole : lsp_value_from(lsp_settled(x[0]), lsp_settled(x[1])));
}

LSP_NUMBER double lsp_rounded(lsp_type type, double x) { return lsp_settled(type == LSP_F32 ? (double)(float)x : x); }

/* x = x * y, values of one type, rounded to it. */
LSP_NUMBER void lsp_scale_number(lsp_type type, double x[2], const double y[2]) {
    lsp_multiply(x, type == LSP_C64, y, type == LSP_C64);
    x[0] = lsp_rounded(type, x[0]);
    x[1] = lsp_rounded(type, x[1]);
}

/* sum = sum + y, or y if it is the first, rounded to their type. */
LSP_NUMBER void lsp_add_number(lsp_type type, bool first, double sum[2], const double y[2]) {
    sum[0] = first ? y[0] : lsp_rounded(type, sum[0] + y[0]);
    sum[1] = first ? y[1] : lsp_rounded(type, sum[1] + y[1]);
}

/* ---- lsp_csr_apply ---- */

/* x = 1/x. Smith's formula for complex ones: no square overflows. */
LSP_NUMBER void lsp_reciprocal(double x[2], bool complex) {
    const bool by_re = !complex || fabs(x[0]) >= fabs(x[1]);
    const double ratio = !complex ? 0 : by_re ? x[1] / x[0] : x[0] / x[1];
    const double below = !complex ? x[0] : by_re ? x[0] + x[1] * ratio : x[1] + x[0] * ratio;
    x[0] = (!complex || by_re ? 1 : ratio) / below;
    x[1] = complex ? -(by_re ? ratio : 1) / below : 0;
}

LSP_NUMBER double lsp_power(double a, double exponent) {
    double result = 1;
    if (!(fabs(exponent) <= 64 && exponent == (double)(int)exponent)) {
        return pow(a, exponent);
    }
    for (int left = (int)fabs(exponent); left > 0; left /= 2) {
        result = left % 2 != 0 ? result * a : result;
        a *= a;
    }
    return exponent < 0 ? 1 / result : result;
}

LSP_NUMBER double lsp_sign(double a) { return a > 0 ? 1 : a < 0 ? -1 : a; } /* zeros keep their sign */

/* x = function(x). */
LSP_NUMBER void lsp_map(lsp_function function, double parameter, double x[2], bool complex) {
    switch (function) {
    case LSP_APPLY_ABS:
        x[0] = complex ? lsp_modulus(x[0], x[1]) : fabs(x[0]);
        x[1] = 0;
        break;
    case LSP_APPLY_NEGATE:
        x[0] = -x[0];
        x[1] = -x[1];
        break;
    case LSP_APPLY_RECIPROCAL:
        lsp_reciprocal(x, complex);
        break;
    case LSP_APPLY_SQRT:
        x[0] = sqrt(x[0]);
        break;
    case LSP_APPLY_SIGN:
        x[0] = lsp_sign(x[0]);
        break;
    case LSP_APPLY_CONJUGATE:
        x[1] = -x[1];
        break;
    case LSP_APPLY_MULTIPLY:
        x[0] *= parameter;
        x[1] *= parameter;
        break;
    case LSP_APPLY_ADD:
        x[0] += parameter;
        break;
    case LSP_APPLY_POWER:
        x[0] = lsp_power(x[0], parameter);
        break;
    default: /* LSP_APPLY_CONSTANT */
        x[0] = parameter;
        x[1] = 0;
    }
}

/* ---- integers: all of it modulo 2^64 ---- */

/* a raised to a whole number that is 0 or more. */
LSP_NUMBER int64_t lsp_whole_power(int64_t a, uint64_t exponent) {
    uint64_t result = 1, square = (uint64_t)a;
    for (; exponent > 0; exponent /= 2) {
        result = exponent % 2 != 0 ? result * square : result;
        square *= square;
    }
    return (int64_t)result;
}

/* function(x), of those that integers have. The parameter is whole. */
LSP_NUMBER int64_t lsp_map_whole(lsp_function function, double parameter, int64_t x) {
    switch (function) {
    case LSP_APPLY_ABS:
        return (int64_t)lsp_whole_size(x);
    case LSP_APPLY_NEGATE:
        return (int64_t)(0 - (uint64_t)x);
    case LSP_APPLY_SIGN:
        return (x > 0) - (x < 0);
    case LSP_APPLY_MULTIPLY:
        return (int64_t)((uint64_t)(int64_t)parameter * (uint64_t)x);
    case LSP_APPLY_ADD:
        return (int64_t)((uint64_t)x + (uint64_t)(int64_t)parameter);
    case LSP_APPLY_POWER:
        return lsp_whole_power(x, (uint64_t)parameter);
    case LSP_APPLY_CONSTANT:
        return (int64_t)parameter;
    default: /* LSP_APPLY_CONJUGATE */
        return x;
    }
}

/* Does x fit an integer type? Everything fits LSP_BOOL, where all but 0 is 1. */
LSP_NUMBER bool lsp_fits_integer(lsp_type type, __int128 x) {
    return type == LSP_BOOL || (type == LSP_I32 ? x == (int32_t)x : x == (int64_t)x);
}

/* Does the exact function(x) fit an integer type? */
LSP_NUMBER bool lsp_map_fits(lsp_type type, lsp_function function, double parameter, int64_t x) {
    const __int128 whole = function >= LSP_APPLY_MULTIPLY ? (int64_t)parameter : 0;
    __int128 y = function == LSP_APPLY_ABS && x < 0 ? -(__int128)x
                 : function == LSP_APPLY_NEGATE     ? -(__int128)x
                 : function == LSP_APPLY_MULTIPLY   ? x * whole
                 : function == LSP_APPLY_ADD        ? x + whole
                 : function == LSP_APPLY_POWER      ? 1
                 : function == LSP_APPLY_CONSTANT   ? whole
                                                    : x;
    for (int64_t left = function == LSP_APPLY_POWER && (x < -1 || x > 1) ? (int64_t)whole : 0;
         left > 0 && lsp_fits_integer(LSP_I64, y); left--) { /* at most 64 steps */
        y *= x;
    }
    return lsp_fits_integer(type, y);
}

/* Does the exact row * x * col fit an integer type? */
LSP_NUMBER bool lsp_scale_fits(lsp_type type, int64_t row, int64_t x, int64_t col) {
    const __int128 first = (__int128)row * x, most = (__int128)1 << 63;
    return col == 0 || (first >= -most && first <= most && lsp_fits_integer(type, first * col));
}

/* a and b joined, and what changes neither, for LSP_REDUCE_SUM, LSP_REDUCE_MIN and LSP_REDUCE_MAX. */
LSP_NUMBER int64_t lsp_join_whole(lsp_reduction reduction, int64_t a, int64_t b) {
    return reduction == LSP_REDUCE_MIN   ? (a < b ? a : b)
           : reduction == LSP_REDUCE_MAX ? (a > b ? a : b)
                                         : (int64_t)((uint64_t)a + (uint64_t)b);
}
LSP_NUMBER int64_t lsp_none_whole(lsp_reduction reduction) {
    return reduction == LSP_REDUCE_MIN ? INT64_MAX : reduction == LSP_REDUCE_MAX ? INT64_MIN : 0;
}

/* ---- lsp_csr_reduce: a term of each entry, terms joined to one number, the result made of that ---- */

/* Is the result of a reduction of integers an integer? Norms are doubles. */
static inline bool lsp_reduces_whole(lsp_type val_type, lsp_reduction reduction) {
    return lsp_is_integer(val_type) && reduction <= LSP_REDUCE_MAX;
}

/* The type of the results of lsp_csr_reduce. */
static inline lsp_type lsp_reduce_type(lsp_type val_type, lsp_reduction reduction) {
    return reduction == LSP_REDUCE_COUNT ? LSP_I64
           : lsp_is_integer(val_type)    ? (lsp_reduces_whole(val_type, reduction) ? LSP_I64 : LSP_F64)
           : val_type == LSP_NONE        ? LSP_F64
           : val_type == LSP_C64 && reduction != LSP_REDUCE_SUM ? LSP_F64
                                                                : val_type;
}

LSP_NUMBER bool lsp_takes_largest(lsp_reduction reduction) {
    return reduction == LSP_REDUCE_MIN || reduction == LSP_REDUCE_MAX || reduction == LSP_REDUCE_NORM_MAX;
}

/* The smallest is minus the largest of what is negated. */
LSP_NUMBER double lsp_reduce_term(lsp_reduction reduction, double re, double im, bool complex) {
    switch (reduction) {
    case LSP_REDUCE_MIN:
        return lsp_settled(-re);
    case LSP_REDUCE_MAX:
        return lsp_settled(re);
    case LSP_REDUCE_NORM1:
    case LSP_REDUCE_NORM_MAX:
        return lsp_settled(complex ? lsp_modulus(re, im) : fabs(re));
    case LSP_REDUCE_NORM2:
        return complex ? re * re + im * im : re * re;
    default:
        return re;
    }
}

/* An integer that orders numbers by size, -0 below 0 and the NaN without sign above infinity. */
LSP_NUMBER int64_t lsp_size_order(double x) {
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? bits ^ INT64_MAX : bits;
}

LSP_NUMBER double lsp_reduce_join(bool largest, double a, double b) {
    return !largest ? a + b : lsp_size_order(a) > lsp_size_order(b) ? a : b;
}

/* What changes no term: -0, for 0 would turn a sum of -0 into 0. */
LSP_NUMBER double lsp_reduce_none(lsp_reduction reduction) {
    return reduction == LSP_REDUCE_MIN || reduction == LSP_REDUCE_MAX ? -(double)INFINITY
           : reduction == LSP_REDUCE_NORM_MAX                         ? 0
                                                                      : -0.0;
}

/* The result of `count` terms that were joined to x. */
LSP_NUMBER double lsp_reduce_result(lsp_reduction reduction, int64_t count, double x) {
    const double result = reduction == LSP_REDUCE_MIN                   ? -x
                          : count == 0 && !lsp_takes_largest(reduction) ? 0
                          : reduction == LSP_REDUCE_NORM2               ? sqrt(x)
                                                                        : x;
    return lsp_settled(result);
}

/* The result of `count` ones, the entries of a pattern. */
LSP_NUMBER double lsp_reduce_ones(lsp_reduction reduction, int64_t count) {
    const double none = lsp_reduce_none(reduction), term = reduction == LSP_REDUCE_MIN ? -1 : 1;
    const double joined = !lsp_takes_largest(reduction) ? (double)count : count > 0 ? term : none;
    return lsp_reduce_result(reduction, count, joined);
}

/* A list of more than LSP_LIST_PIECE terms is cut into pieces of that many, whose sums are a list again. In a piece,
 * lane l of LSP_LIST_LANES joins the terms l, l + 32, l + 64, ... in order; then lanes l and l + 16 are joined, l and
 * l + 8, and so on. So the order depends on the number of terms alone, and a warp takes a piece. */
enum { LSP_LIST_LANES = 32, LSP_LIST_PIECE = 4096 };
