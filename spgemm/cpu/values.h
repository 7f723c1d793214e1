/* Complex values and integers in the CPU's kernels. A complex value is a vector of two doubles, the real part first.
 * Arrays of complex values are aligned to 8 bytes, and so is the type. */
#pragma once

#include "core/vector.h"
#include <math.h>

typedef double complex_value __attribute__((vector_size(16), aligned(8), may_alias));

#define COMPLEX_NOTHING ((complex_value){-0.0, -0.0})

/* sum + a*b in the order that the reference has: each part adds the product with a's real part first. */
ALWAYS complex_value complex_fma(complex_value a, complex_value b, complex_value sum) {
#if defined(__FMA__)
    const complex_value re = {a[0], a[0]}, im = {-a[1], a[1]}, swapped = {b[1], b[0]};
    return _mm_fmadd_pd(im, swapped, _mm_fmadd_pd(re, b, sum));
#else
    return (complex_value){fma(-a[1], b[1], fma(a[0], b[0], sum[0])), fma(a[1], b[0], fma(a[0], b[1], sum[1]))};
#endif
}

/* Every NaN becomes one and the same. */
ALWAYS complex_value complex_settled(complex_value x) {
    return (complex_value){x[0] == x[0] ? x[0] : (double)NAN, x[1] == x[1] ? x[1] : (double)NAN};
}

/* sum + a*b modulo 2^64, so that no order of products matters. Unsigned, because signed numbers must not overflow. */
ALWAYS int64_t integer_fma(int64_t a, int64_t b, int64_t sum) {
    return (int64_t)((uint64_t)sum + (uint64_t)a * (uint64_t)b);
}
