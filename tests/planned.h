/* Matrices for the tests of plans and facts: random ones with wild values, tidy or not. */
#pragma once

#include "matrices.h"

static const int64_t planned_sizes[][3] = {{0, 0, 0},  {0, 7, 0},    {7, 0, 0},      {4, 4, 0},     {1, 1, 1},
                                           {5, 3, 40}, {60, 60, 90}, {1, 300, 2000}, {90, 70, 1500}};
enum { planned_size_count = sizeof planned_sizes / sizeof *planned_sizes };

/* Other values at the same places: zeros of both signs, NaN of both signs, infinities, and numbers that round. */
static inline void planned_new_values(const lsp_csr *A, uint64_t seed) {
    static const double odd[] = {0.0,    -0.0, (double)NAN, -(double)NAN, (double)INFINITY, -(double)INFINITY,
                                 5e-324, 1e300};
    for (int64_t k = 0; k < A->nnz; k++) {
        const bool wild = test_below(&seed, 4) == 0;
        const double re = wild ? odd[test_below(&seed, 8)] : (double)test_below(&seed, 1 << 20) / 1e3 - 500;
        test_set_value(A, k, re, wild ? odd[test_below(&seed, 8)] : 1 / re);
    }
}

/* rows, cols, entries; tidy: sorted, no column twice. */
static inline lsp_csr planned_random(lsp_ctx *ctx, const int64_t size[3], lsp_csr_types types, bool tidy,
                                     uint64_t seed) {
    lsp_csr A = test_random_csr(ctx, size[0], size[1], size[2], types, seed);
    if (tidy) {
        must(ctx, lsp_csr_sort(ctx, &A));
        must(ctx, lsp_csr_sum_duplicates(ctx, &A, NULL));
    }
    planned_new_values(&A, seed + 100);
    return A;
}
