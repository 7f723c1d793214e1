/* Many products C[i] = op(A[i])*op(B[i]) as one: all A form a block diagonal matrix, all B lie one below the other, and
 * the product of the two has all C one below the other. A table of spans says which rows and entries of such a stack
 * are whose. */
#pragma once

#include "core/each.h"
#include "job.h"

LSP_BEGIN_DECLS

/* ---- a stack ---- */

/* A matrix of a stack. A table of `count` matrices has one span more, for the end of the stack. */
typedef struct lsp_batch_span {
    const void *rowptr, *col, *val; /* of the matrix, where it lies */
    int64_t row_at, entry_at;       /* rows and entries of the matrices before it */
    int64_t cols;
    int64_t shift; /* its columns 0, 1, ... are shift, shift + 1, ... of the stack */
} lsp_batch_span;

/* The items of a stack. A matrix has one row pointer more than rows. */
typedef enum lsp_batch_items { LSP_BATCH_ENTRIES, LSP_BATCH_POINTERS, LSP_BATCH_MATRICES } lsp_batch_items;

/* The number of the first item of matrix i; with i = count, of all items. */
LSP_BODY_FUNCTION int64_t lsp_batch_first(const lsp_batch_span *spans, lsp_batch_items items, int64_t i) {
    return items == LSP_BATCH_ENTRIES ? spans[i].entry_at : items == LSP_BATCH_POINTERS ? spans[i].row_at + i : i;
}
/* The matrix, one of low .. high, that has item k. */
LSP_BODY_FUNCTION int64_t lsp_batch_find(const lsp_batch_span *spans, lsp_batch_items items, int64_t k, int64_t low,
                                         int64_t high) {
    return items == LSP_BATCH_MATRICES ? k
                                       : LSP_FIRST(low, high, middle, lsp_batch_first(spans, items, middle + 1) > k);
}

/* One factor of all products. */
typedef struct lsp_batch_factor {
    const char *name; /* "A" or "B" */
    int64_t count;
    bool diagonal;                     /* a matrix's columns are behind those of the matrices before, not beside them */
    bool transposed;                   /* the product takes T */
    bool pattern;                      /* values are not needed */
    lsp_batch_span *spans;             /* count + 1, on the host */
    lsp_csr like;                      /* place and types of each matrix: those of the first */
    lsp_csr stack;                     /* the matrices together */
    lsp_csr T;                         /* each matrix transposed, one below the other, columns not shifted */
    lsp_csr_transpose_plan *transpose; /* NULL: T is made once */
} lsp_batch_factor;

/* _open: checks the matrices and puts them together. The caller has set the fields before `spans`. With `kept`, values
 * can be taken again. _take_values: takes the values of matrices of the same sizes and types. */
lsp_status lsp_batch_open(lsp_ctx *ctx, lsp_batch_factor *f, const lsp_csr *matrices, bool kept);
lsp_status lsp_batch_take_values(lsp_ctx *ctx, lsp_batch_factor *f, const lsp_csr *matrices);

/* What the product of all takes. */
static inline const lsp_csr *lsp_batch_operand(const lsp_batch_factor *f) { return f->transposed ? &f->T : &f->stack; }

/* ---- what is done to each item of a stack: cpu/batch.c has the loops, gpu/batch.cu the kernels ---- */

/* One call. */
typedef struct lsp_batch_job {
    const lsp_batch_span *spans, *there; /* of `count` matrices: on the host, and where the arrays lie */
    int64_t count;
    lsp_csr from, to; /* the types of the matrices and their stack, or other arrays, as a body says */
    int64_t *fault;   /* becomes the lowest malformed matrix, if that is lower. Lies where the arrays do */
} lsp_batch_job;
typedef lsp_status lsp_batch_run(lsp_ctx *ctx, const lsp_batch_job *job);

/* Begins a job. A GPU gets a copy of the spans, in scratch. */
lsp_status lsp_batch_prepare(lsp_ctx *ctx, const lsp_batch_span *spans, int64_t count, const lsp_csr *from,
                             const lsp_csr *to, lsp_batch_job *job);

/* What happens to item r of matrix i, whose spans are s[0] and s[1]. True: the matrix is malformed. */
typedef bool lsp_batch_body(const lsp_batch_job *a, const lsp_batch_span *s, int64_t i, int64_t r);
#define LSP_BATCH_BODY(name)                                                                                           \
    LSP_BODY_FUNCTION bool name##_body(const lsp_batch_job *a, const lsp_batch_span *s, int64_t i, int64_t r)

/* The sum is unsigned, because numbers of a malformed matrix may overflow it. */
LSP_BODY_FUNCTION int64_t lsp_batch_behind(int64_t shift, int64_t x) {
    return (int64_t)((uint64_t)shift + (uint64_t)x);
}

/* The stack `to` from the arrays of each matrix. Row pointer 0 is the last one of the matrix before. */
LSP_BATCH_BODY(put_pointer) {
    const int64_t rows = s[1].row_at - s->row_at, nnz = s[1].entry_at - s->entry_at;
    const int64_t start = lsp_index_at(s->rowptr, a->from.rowptr_type, r);
    const int64_t before = r > 0 ? lsp_index_at(s->rowptr, a->from.rowptr_type, r - 1) : 0;
    if (r > 0) {
        lsp_index_set(a->to.rowptr, a->to.rowptr_type, s->row_at + r, lsp_batch_behind(s->entry_at, start));
    }
    return (r == 0 ? start != 0 : start < before) || (r == rows && start != nnz);
}
LSP_BATCH_BODY(put_column) {
    const int64_t j = lsp_index_at(s->col, a->from.col_type, r);
    lsp_index_set(a->to.col, a->to.col_type, s->entry_at + r, lsp_batch_behind(s->shift, j));
    return (uint64_t)j >= (uint64_t)s->cols;
}
LSP_BATCH_BODY(put_value) {
    lsp_move_value(a->to.val, s->entry_at + r, s->val, r, lsp_value_bytes(a->from.val_type));
    return false;
}

/* The columns of `to`, in place: they were rows of the stack, and become rows of their own matrix. */
LSP_BATCH_BODY(unshift) {
    const int64_t k = s->entry_at + r;
    lsp_index_set(a->to.col, a->from.col_type, k, lsp_index_at(a->to.col, a->from.col_type, k) - s->row_at);
    return false;
}

/* The products lie one below the other in `from`. find_end: to.rowptr[i] = the end of product i. rebase: to.rowptr[] =
 * the row pointers of all, those of each product from 0 on. */
LSP_BATCH_BODY(find_end) {
    lsp_index_set(a->to.rowptr, LSP_I64, i, lsp_index_at(a->from.rowptr, a->from.rowptr_type, s[1].row_at));
    return false;
}
LSP_BATCH_BODY(rebase) {
    const int64_t base = lsp_index_at(a->from.rowptr, a->from.rowptr_type, s->row_at);
    const int64_t start = lsp_index_at(a->from.rowptr, a->from.rowptr_type, s->row_at + r);
    lsp_index_set(a->to.rowptr, a->to.rowptr_type, s->row_at + i + r, start - base);
    return false;
}

/* THE list: a body, its items, and the type in `from` that a loop of the host knows, with the macro of its kind. */
#define LSP_BATCH_BODIES(X)                                                                                            \
    X(put_pointer, LSP_BATCH_POINTERS, rowptr_type, LSP_WITH_INDEX)                                                    \
    X(put_column, LSP_BATCH_ENTRIES, col_type, LSP_WITH_INDEX)                                                         \
    X(put_value, LSP_BATCH_ENTRIES, val_type, LSP_WITH_VALUE)                                                          \
    X(unshift, LSP_BATCH_ENTRIES, col_type, LSP_WITH_INDEX)                                                            \
    X(find_end, LSP_BATCH_MATRICES, rowptr_type, LSP_WITH_INDEX)                                                       \
    X(rebase, LSP_BATCH_POINTERS, rowptr_type, LSP_WITH_INDEX)
#define LSP_BATCH_MEMBER(name, ...) lsp_batch_run *name;
typedef struct lsp_batch_table {
    LSP_BATCH_BODIES(LSP_BATCH_MEMBER)
} lsp_batch_table;
extern const lsp_batch_table lsp_batch_on_cpu, lsp_batch_on_gpu;

LSP_END_DECLS
