/* C = A*B by Gustavson's algorithm (1978) with a dense accumulator: each thread adds up a row of C in a dense vector
 * and sorts the columns it touched. A first pass counts the entries of each row, so that C is allocated once. */
#include "peers.h"
#include <omp.h>
#include <stdlib.h>
#include <string.h>

typedef struct dense {
    lsp_csr A, B;
    int threads;
    int64_t *rowptr;
    int32_t *col;
    void *val;
} dense;

static void swap_numbers(int32_t *a, int32_t *b) {
    const int32_t t = *a;
    *a = *b;
    *b = t;
}

/* Quicksort with the median of three; insertion sort up to 24 items. */
static void sort_columns(int32_t *col, int64_t n) {
    while (n > 24) {
        int64_t i = 0, j = n - 1;
        const int32_t a = col[0], b = col[n / 2], c = col[n - 1];
        const int32_t pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
        while (i <= j) {
            while (col[i] < pivot) {
                i++;
            }
            while (col[j] > pivot) {
                j--;
            }
            if (i <= j) {
                swap_numbers(col + i++, col + j--);
            }
        }
        if (j + 1 < n - i) { /* recursion on the shorter side keeps the stack short */
            sort_columns(col, j + 1);
            col += i, n -= i;
        } else {
            sort_columns(col + i, n - i);
            n = j + 1;
        }
    }
    for (int64_t i = 1; i < n; i++) {
        const int32_t x = col[i];
        int64_t j = i;
        for (; j > 0 && col[j - 1] > x; j--) {
            col[j] = col[j - 1];
        }
        col[j] = x;
    }
}

/* Lists the columns of row i of C in the order of their first product; sets seen[column] to i + 1. */
static int64_t touch(const lsp_csr *A, const lsp_csr *B, int64_t i, int32_t *seen, int32_t *touched) {
    const int32_t *rowptr = A->rowptr, *col = A->col, *b_rowptr = B->rowptr, *b_col = B->col;
    int64_t count = 0;
    for (int32_t p = rowptr[i]; p < rowptr[i + 1]; p++) {
        for (int32_t q = b_rowptr[col[p]]; q < b_rowptr[col[p] + 1]; q++) {
            if (seen[b_col[q]] != i + 1) {
                seen[b_col[q]] = (int32_t)(i + 1);
                touched[count++] = b_col[q];
            }
        }
    }
    return count;
}

#define DENSE_ROW(type, name)                                                                                          \
    static void name(dense *d, int64_t i, int32_t *seen, void *accumulator) {                                          \
        const int32_t *rowptr = d->A.rowptr, *col = d->A.col, *b_rowptr = d->B.rowptr, *b_col = d->B.col;              \
        const type *val = d->A.val, *b_val = d->B.val;                                                                 \
        type *sum = accumulator, *out = (type *)d->val + d->rowptr[i];                                                 \
        int32_t *touched = d->col + d->rowptr[i];                                                                      \
        int64_t count = 0;                                                                                             \
        for (int32_t p = rowptr[i]; p < rowptr[i + 1]; p++) {                                                          \
            const type a = val[p];                                                                                     \
            for (int32_t q = b_rowptr[col[p]]; q < b_rowptr[col[p] + 1]; q++) {                                        \
                const int32_t j = b_col[q];                                                                            \
                if (seen[j] != i + 1) {                                                                                \
                    seen[j] = (int32_t)(i + 1);                                                                        \
                    touched[count++] = j;                                                                              \
                    sum[j] = a * b_val[q];                                                                             \
                } else {                                                                                               \
                    sum[j] += a * b_val[q];                                                                            \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        sort_columns(touched, count);                                                                                  \
        for (int64_t k = 0; k < count; k++) {                                                                          \
            out[k] = sum[touched[k]];                                                                                  \
        }                                                                                                              \
    }
DENSE_ROW(double, dense_row_f64)
DENSE_ROW(float, dense_row_f32)

static void release(void *self) {
    dense *d = self;
    free(d->rowptr);
    free(d->col);
    free(d->val);
    d->rowptr = NULL, d->col = NULL, d->val = NULL;
}

/* Counts the rows of C, makes rowptr and allocates the other arrays. */
static bool count_rows(dense *d) {
    const int64_t m = d->A.rows;
    bool enough = (d->rowptr = malloc(((size_t)m + 1) * sizeof *d->rowptr)) != NULL;
#pragma omp parallel num_threads(d->threads) reduction(&& : enough)
    {
        int32_t *seen = calloc((size_t)d->B.cols, sizeof *seen), *touched = malloc((size_t)d->B.cols * sizeof *touched);
        enough = enough && seen && touched;
#pragma omp for schedule(dynamic, 128)
        for (int64_t i = 0; i < m; i++) {
            if (enough) {
                d->rowptr[i + 1] = touch(&d->A, &d->B, i, seen, touched);
            }
        }
        free(seen);
        free(touched);
    }
    if (!enough) {
        return false;
    }
    d->rowptr[0] = 0;
    for (int64_t i = 0; i < m; i++) {
        d->rowptr[i + 1] += d->rowptr[i];
    }
    const size_t nnz = (size_t)d->rowptr[m];
    d->col = malloc(nnz * sizeof *d->col + 1);
    d->val = malloc(nnz * lsp_type_bytes(d->A.val_type) + 1);
    return d->col && d->val;
}

static bool multiply(void *self) {
    dense *d = self;
    void (*const row)(dense *, int64_t, int32_t *, void *) = d->A.val_type == LSP_F64 ? dense_row_f64 : dense_row_f32;
    bool enough = count_rows(d);
    if (enough) {
#pragma omp parallel num_threads(d->threads) reduction(&& : enough)
        {
            int32_t *seen = calloc((size_t)d->B.cols, sizeof *seen);
            void *sum = malloc((size_t)d->B.cols * lsp_type_bytes(d->A.val_type));
            enough = seen && sum;
#pragma omp for schedule(dynamic, 128)
            for (int64_t i = 0; i < d->A.rows; i++) {
                if (enough) {
                    row(d, i, seen, sum);
                }
            }
            free(seen);
            free(sum);
        }
    }
    if (!enough) {
        release(d);
    }
    return enough;
}

static void *prepare(const peer_factors *f, int threads) {
    dense *d = calloc(1, sizeof *d);
    if (d) {
        *d = (dense){.A = *f->A, .B = *f->B, .threads = threads};
    }
    return d;
}

static void view(void *self, lsp_csr *C) {
    const dense *d = self;
    *C = (lsp_csr){.rows = d->A.rows,
                   .cols = d->B.cols,
                   .nnz = d->rowptr[d->A.rows],
                   .rowptr = d->rowptr,
                   .col = d->col,
                   .val = d->val,
                   .rowptr_type = LSP_I64,
                   .col_type = LSP_I32,
                   .val_type = d->A.val_type};
}

const peer_product peer_dense = {true, true, false, prepare, multiply, view, release, free, NULL};
