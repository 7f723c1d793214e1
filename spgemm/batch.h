/* Many products C[i] = op(A[i])*op(B[i]) as one: all A form a block diagonal matrix, all B lie one below the other, and
 * the product of the two has all C one below the other. A table of spans says which rows and entries of such a stack
 * are whose. */
#pragma once

#include "job.h"

LSP_BEGIN_DECLS

/* A matrix of a stack. A table of `count` matrices has one span more, for the end of the stack. */
typedef struct lsp_batch_span {
    const void *rowptr, *col, *val; /* of the matrix, where it lies */
    int64_t row_at, entry_at;       /* rows and entries of the matrices before it */
    int64_t cols;
    int64_t shift; /* its columns 0, 1, ... are shift, shift + 1, ... of the stack */
} lsp_batch_span;

/* The place of entry 0 of matrix i among all entries; or of its row pointer 0 among all row pointers. A matrix has
 * one row pointer more than rows. */
LSP_BOTH_SIDES static inline int64_t lsp_batch_first(const lsp_batch_span *spans, bool pointers, int64_t i) {
    return pointers ? spans[i].row_at + i : spans[i].entry_at;
}

/* The matrix, one of low .. high, that has entry k, or row pointer k. */
LSP_BOTH_SIDES static inline int64_t lsp_batch_find(const lsp_batch_span *spans, bool pointers, int64_t k, int64_t low,
                                                    int64_t high) {
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (lsp_batch_first(spans, pointers, middle) <= k) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* One factor of all products. */
typedef struct lsp_batch_factor {
    const char *name; /* "A" or "B" */
    bool diagonal;    /* the columns of a matrix are behind those of the matrices before it, not beside them */
    bool transposed;  /* the product takes T */
    bool pattern;     /* values are not needed */
    int64_t count;
    lsp_batch_span *spans;             /* count + 1, on the host */
    lsp_csr like;                      /* place and types of each matrix; nothing else is set */
    lsp_csr stack;                     /* the matrices together */
    lsp_csr T;                         /* each matrix transposed, one below the other, columns not shifted */
    lsp_csr_transpose_plan *transpose; /* NULL: T is made once */
} lsp_batch_factor;

/* _open: checks the matrices and puts them together. The caller has set name, diagonal, transposed and pattern. With
 * `kept`, values can be taken again. _take_values: takes the values of matrices of the same sizes and types. */
lsp_status lsp_batch_open(lsp_ctx *ctx, lsp_batch_factor *f, const lsp_csr *matrices, int64_t count, bool kept);
lsp_status lsp_batch_take_values(lsp_ctx *ctx, lsp_batch_factor *f, const lsp_csr *matrices);

/* What the product of all takes. */
static inline const lsp_csr *lsp_batch_operand(const lsp_batch_factor *f) { return f->transposed ? &f->T : &f->stack; }

/* ---- what a device does ---- */

/* batch_gather: fills the stack: its values and, with `structure`, its rows and columns. Then *fault becomes the first
 * matrix whose arrays form no CSR matrix, or `count`. On a GPU only `structure` waits for the kernels. batch_shift: the
 * columns of T, which were rows of the stack, become rows of their own matrix. Matrix i has the same entries in T as in
 * the stack, in another order. batch_ends: writes the entries of W before each product to ends[0 .. count], on the
 * host. batch_rebase: rowptr[] = the row pointers of each product, each from 0 on. */
typedef struct lsp_batch_result {
    const lsp_batch_span *spans; /* the rows of the products */
    int64_t count;
    const lsp_csr *W;           /* the products one below the other */
    lsp_batch_span *spans_cuda; /* the spans on the GPU, in scratch, from `ends` to `rebase` */
} lsp_batch_result;

LSP_END_DECLS
