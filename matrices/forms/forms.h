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

/* A matrix that becomes a part of another: its first row and column there, and the number of its first entry. */
typedef struct lsp_part {
    const lsp_csr *A;
    int64_t row, col, number;
} lsp_part;
/* B = all parts, which lie in one place: in each row one behind the other, with indices and values of `types`.
 * numbered: the values of B are the numbers of the entries, places of a plan (csr/plans.h). */
lsp_status lsp_csr_join(lsp_ctx *ctx, const lsp_part *parts, int64_t count, int64_t rows, int64_t cols,
                        const lsp_csr_types *types, bool numbered, lsp_csr *B);

/* What was found of a list of columns: does it name one twice; does it fall. */
enum { LSP_LIST_TWICE = 1, LSP_LIST_FALLS = 2 };

/* Is D a dense array that this context can reach? *fit = D with its stride filled in. */
lsp_status lsp_dense_check(lsp_ctx *ctx, const lsp_dense *D, lsp_dense *fit);

LSP_END_DECLS
