/* Matrices of integers in tests, and what is made of them by plain loops. */
#pragma once

#include "tests/complex.h"

static const lsp_type integer_types[] = {LSP_I32, LSP_I64, LSP_BOOL};

/* Value k of A as an integer, by a plain look: a pattern is ones. */
static inline int64_t whole_at(const lsp_csr *A, int64_t k) {
    return A->val_type == LSP_I32    ? ((const int32_t *)A->val)[k]
           : A->val_type == LSP_I64  ? ((const int64_t *)A->val)[k]
           : A->val_type == LSP_BOOL ? ((const uint8_t *)A->val)[k] != 0
                                     : 1;
}

/* Other values in the same places, here and where the context works. */
static inline void change_whole(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *there, bool wild, uint64_t seed) {
    for (int64_t k = 0; k < A->nnz && lsp_is_integer(A->val_type); k++) {
        set_whole(A->val_type, A->val, k, wild, &seed);
    }
    if (on_gpu(ctx) && lsp_is_integer(A->val_type) && A->nnz > 0) {
        must(ctx,
             lsp_cuda_copy(ctx, there->val, LSP_CUDA, A->val, LSP_HOST, A->nnz * (int64_t)lsp_type_bytes(A->val_type)));
    }
}

/* A matrix of random shape with values of `type`. */
static inline lsp_csr make_whole(lsp_type type, int64_t rows, int64_t cols, bool sorted, bool wild, uint64_t *state) {
    recipe r = {.rows = rows, .cols = cols, .entries = test_below(state, 7), .sorted = sorted, .wild = wild};
    r.dense_row = r.dense_col = -1;
    r.rowptr_type = index_type(state), r.col_type = index_type(state), r.val_type = type;
    return make(&r, test_random(state));
}

/* A dense array of integers, and which elements are entries. */
typedef struct plain {
    int64_t rows, cols;
    int64_t *val;
    bool *is;
} plain;
static inline plain plain_of(int64_t rows, int64_t cols) {
    return (plain){rows, cols, calloc((size_t)(rows * cols) + 1, sizeof(int64_t)),
                   calloc((size_t)(rows * cols) + 1, 1)};
}
static inline void plain_free(plain *p) { free(p->val), free(p->is); }

/* A on the host as a dense array; entries at the same place are summed. */
static inline plain plain_matrix(const lsp_csr *A) {
    plain p = plain_of(A->rows, A->cols);
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t k = lsp_csr_rowptr(A, i); k < lsp_csr_rowptr(A, i + 1); k++) {
            const int64_t at = i * A->cols + lsp_csr_col(A, k);
            p.val[at] = (int64_t)((uint64_t)p.val[at] + (uint64_t)whole_at(A, k));
            p.is[at] = true;
        }
    }
    return p;
}

/* The first element, row by row, that does not fit LSP_I32; -1: all fit. */
static inline int64_t plain_wide(const plain *p) {
    for (int64_t k = 0; k < p->rows * p->cols; k++) {
        if (p->is[k] && p->val[k] != (int32_t)p->val[k]) {
            return k;
        }
    }
    return -1;
}

/* C, on the host, must have the entries and values of `right` in its type. */
static inline void must_be_plain(const lsp_csr *C, const plain *right, const char *what) {
    int64_t k = 0;
    cr_assert(C->rows == right->rows && C->cols == right->cols, "%s: sizes", what);
    for (int64_t i = 0; i < right->rows; i++) {
        for (int64_t j = 0; j < right->cols; j++) {
            const int64_t at = i * right->cols + j, value = right->val[at];
            if (right->is[at]) {
                cr_assert(k < lsp_csr_rowptr(C, i + 1) && lsp_csr_col(C, k) == j, "%s: no entry (%lld, %lld)", what,
                          (long long)i, (long long)j);
                const int64_t expected = C->val_type == LSP_BOOL ? value != 0 : value;
                const int64_t is = C->val_type == LSP_BOOL ? ((const uint8_t *)C->val)[k] : whole_at(C, k);
                cr_assert(is == expected, "%s: (%lld, %lld) is %lld, not %lld", what, (long long)i, (long long)j,
                          (long long)is, (long long)expected);
                k++;
            }
        }
    }
    cr_assert(k == C->nnz, "%s: %lld entries, not %lld", what, (long long)C->nnz, (long long)k);
}

/* C was made with this status where the context works. It must be `right`, or refused with the first value that does
 * not fit. Frees C. */
static inline void must_be_made(lsp_ctx *ctx, lsp_status status, lsp_csr *C, lsp_type type, const plain *right,
                                const char *what) {
    const int64_t wide = type == LSP_I32 ? plain_wide(right) : -1;
    if (wide >= 0) {
        char place[120];
        snprintf(place, sizeof place, "row %lld: the value at column %lld is %lld, which does not fit LSP_I32",
                 (long long)(wide / right->cols), (long long)(wide % right->cols), (long long)right->val[wide]);
        must_fail(ctx, LSP_ERR_OVERFLOW, place, status);
        return;
    }
    cr_assert(status == LSP_OK, "%s: %s", what, lsp_last_error(ctx));
    cr_assert(C->val_type == type, "%s: %s", what, lsp_type_name(C->val_type));
    lsp_csr here = on_gpu(ctx) ? download(ctx, C) : *C;
    must_be_plain(&here, right, what);
    if (on_gpu(ctx)) {
        lsp_csr_free(ctx, &here);
    }
    lsp_csr_free(ctx, C);
}

/* A*B by a plain loop, for A and B of integers or patterns. */
static inline plain plain_product(const lsp_csr *A, const lsp_csr *B, lsp_semiring semiring) {
    plain C = plain_of(A->rows, B->cols);
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t p = lsp_csr_rowptr(A, i); p < lsp_csr_rowptr(A, i + 1); p++) {
            const int64_t k = lsp_csr_col(A, p);
            for (int64_t q = lsp_csr_rowptr(B, k); q < lsp_csr_rowptr(B, k + 1); q++) {
                const int64_t at = i * C.cols + lsp_csr_col(B, q);
                const uint64_t a = (uint64_t)whole_at(A, p), b = (uint64_t)whole_at(B, q), sum = (uint64_t)C.val[at];
                const int64_t product = (int64_t)(semiring == LSP_MIN_PLUS    ? a + b
                                                  : semiring == LSP_OR_AND    ? (a != 0 && b != 0)
                                                  : semiring == LSP_PLUS_PAIR ? 1
                                                                              : a * b);
                const bool sums = semiring == LSP_PLUS_TIMES || semiring == LSP_PLUS_PAIR;
                const bool takes = semiring == LSP_MIN_PLUS ? product < C.val[at] : product > C.val[at];
                C.val[at] = !C.is[at] ? product
                            : sums    ? (int64_t)(sum + (uint64_t)product)
                            : takes   ? product
                                      : C.val[at];
                C.is[at] = true;
            }
        }
    }
    return C;
}
