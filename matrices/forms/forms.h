/* Shared by the files of this folder: entries chosen by their place, lists of indices, dense arrays. */
#pragma once

#include "core/core.h"

LSP_BEGIN_DECLS

/* Entry (i, j) is in the window if low <= j - (diagonal ? i : 0) <= high. A block of columns and a triangle are
 * windows. Entry (i, j) becomes entry (i, j - shift) of a matrix with `cols` columns. */
typedef struct lsp_window {
    int64_t low, high, shift, cols;
    bool diagonal;
} lsp_window;

/* B = the entries of A, a checked matrix, in the window, in their order, in A's types. Waits for a GPU. */
lsp_status lsp_csr_window(lsp_ctx *ctx, const lsp_csr *A, const lsp_window *window, lsp_csr *B);

/* The rows and columns that lsp_csr_extract takes. P: the places of each column of A in the list of columns, as the
 * rows of a pattern; P.rowptr is NULL without a list, and before it is made. */
typedef struct lsp_selection {
    const void *rows, *cols;  /* NULL: all */
    lsp_type type, cols_type; /* of rows; of cols */
    int64_t row_count, col_count;
    lsp_csr P;
} lsp_selection;

/* What was found of a list of columns: does it name one twice; does it fall. */
enum { LSP_LIST_TWICE = 1, LSP_LIST_FALLS = 2 };

/* Numbers of 31 bits and more, added apart, so that a sum of n < 2^33 numbers below 2^62 cannot overflow. */
typedef struct lsp_wide_sum {
    uint64_t low, high; /* the sum is high * 2^31 + low */
} lsp_wide_sum;
static inline bool lsp_wide_sum_fits(const lsp_wide_sum *sum) { return sum->high + (sum->low >> 31) < (1ll << 31); }
enum { LSP_WIDE_BITS = 31 };
static inline void lsp_wide_sum_add(lsp_wide_sum *sum, int64_t x) {
    sum->low += (uint64_t)x & ((1u << LSP_WIDE_BITS) - 1);
    sum->high += (uint64_t)x >> LSP_WIDE_BITS;
}

/* Fails if a matrix would have 2^62 entries or more. */
lsp_status lsp_check_total(lsp_ctx *ctx, const lsp_wide_sum *sum, int64_t rows, int64_t cols);

/* Is D a dense array that this context can reach? *fit = D with its stride filled in. */
lsp_status lsp_dense_check(lsp_ctx *ctx, const lsp_dense *D, lsp_dense *fit);

LSP_END_DECLS
