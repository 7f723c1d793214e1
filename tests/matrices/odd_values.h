/* Sizes of matrices, and values that functions of values must treat alike: infinities, NaN, both zeros. */
#pragma once

#include "tests/orders.h"
#include <math.h>

static const int64_t sizes[][3] = {{0, 0, 0}, {0, 5, 0},  {5, 0, 0},     {4, 4, 0},
                                   {1, 1, 3}, {7, 5, 30}, {60, 70, 900}, {3, 9, 20000}};
enum { size_count = sizeof sizes / sizeof *sizes };

static const double odd[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e300, -1e-300, 3, -2.5};
static inline double odd_value(uint64_t *state) {
    const int64_t pick = test_below(state, 40);
    return pick < 9 ? odd[pick] : (double)test_below(state, 2000) / 64 - 15;
}
static inline void set_odd_values(const lsp_csr *A, uint64_t seed) {
    for (int64_t k = 0; k < A->nnz; k++) {
        test_set_value(A, k, odd_value(&seed), odd_value(&seed));
    }
}

/* Equal numbers, or both NaN; +0 is not -0. */
static inline bool same_number(double a, double b) { return a == b ? signbit(a) == signbit(b) : a != a && b != b; }
static inline double rounded(lsp_type type, double x) { return type == LSP_F32 ? (double)(float)x : x; }
