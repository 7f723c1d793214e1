/* Matrices for the tests: random ones of any type, and plain serial code that computes the expected results. */
#pragma once

#include "matrices/matrices.h"
#include "support.h"

#include <math.h>

/* Combinations of the types of rowptr, col and values: 0 .. 15. */
enum { test_combinations = 16 };
static inline lsp_csr_types test_types(int c) {
    const lsp_type values[] = {LSP_NONE, LSP_F32, LSP_F64, LSP_C64};
    return (lsp_csr_types){
        .rowptr_type = c & 1 ? LSP_I64 : LSP_I32, .col_type = c & 2 ? LSP_I64 : LSP_I32, .val_type = values[c >> 2]};
}

static inline void test_set_value(const lsp_csr *A, int64_t k, double re, double im) {
    if (A->val_type == LSP_F32) {
        ((float *)A->val)[k] = (float)re;
    } else if (A->val_type == LSP_F64) {
        ((double *)A->val)[k] = re;
    } else if (A->val_type == LSP_C64) {
        ((double *)A->val)[2 * k] = re;
        ((double *)A->val)[2 * k + 1] = im;
    }
}

/* nnz entries at random places: rows are not sorted, duplicates are likely, some rows are empty. Every fifth entry is
 * in row 0. Values are small integers, so that sums are exact in any order and any type. */
static inline lsp_csr test_random_csr(lsp_ctx *ctx, int64_t rows, int64_t cols, int64_t nnz, lsp_csr_types types,
                                      uint64_t seed) {
    lsp_csr A;
    must(ctx, lsp_csr_create(ctx, rows, cols, nnz, &types, &A));
    int64_t *counts = calloc((size_t)rows + 1, sizeof *counts);
    for (int64_t k = 0; k < nnz; k++) {
        counts[1 + (k % 5 == 0 ? 0 : test_below(&seed, rows))]++;
    }
    for (int64_t i = 0; i < rows; i++) {
        counts[i + 1] += counts[i];
        lsp_index_set(A.rowptr, A.rowptr_type, i + 1, counts[i + 1]);
    }
    for (int64_t k = 0; k < nnz; k++) {
        lsp_index_set(A.col, A.col_type, k, test_below(&seed, cols));
        test_set_value(&A, k, (double)test_below(&seed, 64) - 32, (double)test_below(&seed, 64) - 32);
    }
    free(counts);
    return A;
}

/* A as a dense matrix, row by row. Each place has two doubles (real, imaginary): the sum of the entries there. An entry
 * of a pattern counts as 1. */
static inline double *test_dense(const lsp_csr *A) {
    double *dense = calloc((size_t)(2 * A->rows * A->cols + 1), sizeof *dense);
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t k = lsp_csr_rowptr(A, i); k < lsp_csr_rowptr(A, i + 1); k++) {
            lsp_value v = lsp_value_at(A, k);
            dense[2 * (i * A->cols + lsp_csr_col(A, k))] += v.re;
            dense[2 * (i * A->cols + lsp_csr_col(A, k)) + 1] += v.im;
        }
    }
    return dense;
}

/* A and B must have the same types, and the same entries bit for bit. */
static inline void must_be_same(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B) {
    lsp_csr_difference d;
    must(ctx, lsp_csr_compare(ctx, A, B, &d));
    cr_assert(d.same_shape && d.same_pattern && d.same_bits, "%ld x %ld, %ld entries: differ at (%ld, %ld) by %g",
              (long)A->rows, (long)A->cols, (long)A->nnz, (long)d.row, (long)d.col, d.max_rel);
    cr_assert(A->rowptr_type == B->rowptr_type && A->col_type == B->col_type && A->val_type == B->val_type);
}

/* A matrix whose arrays belong to the test: int32 indices, doubles. */
#define TEST_CSR(m, n, rowptr_, col_, val_)                                                                            \
    ((lsp_csr){.rows = (m),                                                                                            \
               .cols = (n),                                                                                            \
               .nnz = (rowptr_)[m],                                                                                    \
               .rowptr = (rowptr_),                                                                                    \
               .col = (col_),                                                                                          \
               .val = (val_),                                                                                          \
               .rowptr_type = LSP_I32,                                                                                 \
               .col_type = LSP_I32,                                                                                    \
               .val_type = LSP_F64})
