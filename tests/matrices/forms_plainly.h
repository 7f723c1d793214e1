/* Parts and forms of matrices by definition: plain serial code that tests compare with. */
#pragma once

#include "tests/orders.h"

static const int64_t sizes[][3] = {{0, 0, 0},    {0, 7, 0},       {7, 0, 0},      {4, 4, 0},
                                   {1, 1, 1},    {5, 3, 40},      {60, 60, 500},  {50, 1, 99},
                                   {1, 50, 999}, {3, 2000, 4000}, {30, 9, 12000}, {2000, 300, 90000}};
enum { size_count = sizeof sizes / sizeof *sizes };

/* Values whose sums depend on the order, infinities, negative zeros and NaN of either sign. */
static inline void set_odd_values(const lsp_csr *A) {
    static const double odd[] = {1e16, 1, -1e16, -0.0, INFINITY, -INFINITY, 0.1, 3e-7, NAN};
    uint64_t state = 99;
    for (int64_t k = 0; k < A->nnz; k++) {
        const double sign = test_below(&state, 2) ? 1 : -1;
        test_set_value(A, k, copysign(odd[test_below(&state, k % 20 == 0 ? 9 : 4)], sign),
                       odd[test_below(&state, k % 20 == 0 ? 9 : 4)]);
    }
}
static inline lsp_csr odd_csr(lsp_ctx *ctx, const int64_t size[3], lsp_csr_types types, uint64_t seed) {
    lsp_csr A = test_random_csr(ctx, size[0], size[1], size[2], types, seed);
    set_odd_values(&A);
    return A;
}

/* ---- a matrix made entry by entry, rows in order ---- */

typedef struct plain {
    int64_t n, room;
    int64_t *row, *col;
    char *val; /* 16 bytes each */
} plain;

static inline void plain_add(plain *p, int64_t row, int64_t col, lsp_type type, const lsp_csr *A, int64_t k) {
    if (p->n == p->room) {
        p->room = 2 * p->room + 64;
        p->row = realloc(p->row, (size_t)p->room * 8);
        p->col = realloc(p->col, (size_t)p->room * 8);
        p->val = realloc(p->val, (size_t)p->room * 16);
    }
    p->row[p->n] = row, p->col[p->n] = col;
    char *to = p->val + 16 * p->n++;
    if (A->val_type == type) {
        lsp_move_value(to, 0, A->val, k, lsp_type_bytes(type));
    } else {
        lsp_value_set(type, to, 0, lsp_value_at(A, k));
    }
}

static inline lsp_csr plain_end(lsp_ctx *ctx, plain *p, int64_t rows, int64_t cols, lsp_csr_types types) {
    lsp_csr B;
    must(ctx, lsp_csr_create(ctx, rows, cols, p->n, &types, &B));
    int64_t k = 0;
    for (int64_t i = 0; i < rows; i++) {
        for (; k < p->n && p->row[k] == i; k++) {
            lsp_index_set(B.col, B.col_type, k, p->col[k]);
            lsp_move_value(B.val, k, p->val + 16 * k, 0, lsp_type_bytes(types.val_type));
        }
        lsp_index_set(B.rowptr, B.rowptr_type, i + 1, k);
    }
    cr_assert_eq(k, p->n);
    free(p->row), free(p->col), free(p->val);
    return B;
}

/* ---- the definitions ---- */

static inline lsp_csr block_plainly(lsp_ctx *ctx, const lsp_csr *A, const int64_t range[4]) {
    plain p = {0};
    for (int64_t i = range[0]; i < range[0] + range[1]; i++) {
        for (int64_t k = lsp_csr_rowptr(A, i); k < lsp_csr_rowptr(A, i + 1); k++) {
            const int64_t j = lsp_csr_col(A, k) - range[2];
            if (0 <= j && j < range[3]) {
                plain_add(&p, i - range[0], j, A->val_type, A, k);
            }
        }
    }
    return plain_end(ctx, &p, range[1], range[3], lsp_types_of(A));
}

static inline lsp_csr triangle_plainly(lsp_ctx *ctx, const lsp_csr *A, lsp_triangle triangle, int64_t diagonal) {
    plain p = {0};
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t k = lsp_csr_rowptr(A, i); k < lsp_csr_rowptr(A, i + 1); k++) {
            const int64_t d = lsp_csr_col(A, k) - i;
            if (triangle == LSP_TRIANGLE_LOWER ? d <= diagonal : d >= diagonal) {
                plain_add(&p, i, lsp_csr_col(A, k), A->val_type, A, k);
            }
        }
    }
    return plain_end(ctx, &p, A->rows, A->cols, lsp_types_of(A));
}

/* Row `row` of A becomes row i: for each place in the list of columns, the entries there in their order. */
static inline void extract_row(plain *p, const lsp_csr *A, int64_t i, int64_t row, const lsp_index_list *cols) {
    const int64_t begin = lsp_csr_rowptr(A, row), end = lsp_csr_rowptr(A, row + 1);
    for (int64_t c = 0; c < (cols ? cols->count : 1); c++) {
        for (int64_t k = begin; k < end; k++) {
            if (!cols || lsp_index_at(cols->list, cols->type, c) == lsp_csr_col(A, k)) {
                plain_add(p, i, cols ? c : lsp_csr_col(A, k), A->val_type, A, k);
            }
        }
    }
}
static inline lsp_csr extract_plainly(lsp_ctx *ctx, const lsp_csr *A, const lsp_index_list *rows,
                                      const lsp_index_list *cols) {
    plain p = {0};
    const int64_t count = rows ? rows->count : A->rows;
    for (int64_t i = 0; i < count; i++) {
        extract_row(&p, A, i, rows ? lsp_index_at(rows->list, rows->type, i) : i, cols);
    }
    return plain_end(ctx, &p, count, cols ? cols->count : A->cols, lsp_types_of(A));
}

/* row_of[r] and col_of[c]: the rows and columns of block row r and block column c. */
static inline lsp_csr stack_plainly(lsp_ctx *ctx, const lsp_csr *const *blocks, const int64_t grid[2],
                                    const int64_t *rows, const int64_t *cols) {
    plain p = {0};
    lsp_type type = LSP_NONE;
    int64_t row = 0, col = 0;
    for (int64_t b = 0; b < grid[0] * grid[1]; b++) {
        type = blocks[b] && blocks[b]->val_type > type ? blocks[b]->val_type : type;
    }
    for (int64_t r = 0; r < grid[0]; r++) {
        for (int64_t i = 0; i < rows[r]; i++, row++) {
            col = 0;
            for (int64_t c = 0; c < grid[1]; col += cols[c++]) {
                const lsp_csr *A = blocks[r * grid[1] + c];
                for (int64_t k = A ? lsp_csr_rowptr(A, i) : 0; A && k < lsp_csr_rowptr(A, i + 1); k++) {
                    plain_add(&p, row, col + lsp_csr_col(A, k), type, A, k);
                }
            }
        }
    }
    for (int64_t c = col = 0; c < grid[1]; c++) {
        col += cols[c];
    }
    return plain_end(ctx, &p, row, col, (lsp_csr_types){LSP_I32, LSP_I32, type, false, LSP_PLACE_HOST});
}

/* ---- dense arrays ---- */

enum { pad_byte = 0xA5 };

static inline size_t dense_bytes(const lsp_dense *D) {
    const int64_t lines = D->by_columns ? D->cols : D->rows, length = D->by_columns ? D->rows : D->cols;
    return (size_t)(lines * (D->stride ? D->stride : length)) * lsp_type_bytes(D->val_type);
}
/* A dense array of the sizes of A with `pad` elements behind each line, all bytes pad_byte. */
static inline lsp_dense dense_like(const lsp_csr *A, lsp_type type, bool by_columns, int64_t pad) {
    lsp_dense D = {.rows = A->rows, .cols = A->cols, .val_type = type, .by_columns = by_columns};
    D.stride = pad ? (by_columns ? A->rows : A->cols) + pad : 0;
    D.val = malloc(dense_bytes(&D) + 1);
    memset(D.val, pad_byte, dense_bytes(&D));
    return D;
}
static inline int64_t dense_place(const lsp_dense *D, int64_t i, int64_t j) {
    const int64_t stride = D->stride ? D->stride : D->by_columns ? D->rows : D->cols;
    return D->by_columns ? j * stride + i : i * stride + j;
}

/* Fills D by the definition: the first entry at a place is stored, later ones are added. */
static inline void to_dense_plainly(const lsp_csr *A, const lsp_dense *D) {
    const size_t bytes = lsp_type_bytes(D->val_type);
    bool *seen = calloc((size_t)(A->rows * A->cols) + 1, 1);
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t j = 0; j < A->cols; j++) {
            memset((char *)D->val + (size_t)dense_place(D, i, j) * bytes, 0, bytes);
        }
        for (int64_t k = lsp_csr_rowptr(A, i); k < lsp_csr_rowptr(A, i + 1); k++) {
            const int64_t j = lsp_csr_col(A, k), at = dense_place(D, i, j);
            char pair[32];
            if (seen[i * A->cols + j]) {
                memcpy(pair, (char *)D->val + (size_t)at * bytes, bytes);
                lsp_value_set(D->val_type, pair, 1, lsp_value_at(A, k));
                lsp_value_add(D->val_type, pair, 0, pair, 1);
                memcpy((char *)D->val + (size_t)at * bytes, pair, bytes);
            } else if (A->val_type == LSP_NONE) {
                lsp_value_set(D->val_type, D->val, at, lsp_value_from(1, 0));
            } else {
                lsp_move_value(D->val, at, A->val, k, bytes);
            }
            seen[i * A->cols + j] = true;
        }
    }
    free(seen);
}
