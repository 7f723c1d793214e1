/* A walk over consecutive rows of a matrix whose columns may be outside it: they are checked 512 at a time, ahead of
 * the products, so that these need no check. The columns of a plan's matrix were checked before. */
#pragma once

#include "core/vector.h"
#include "cpu.h"

typedef struct row_walk {
    int64_t begin, end; /* of the row */
    int64_t good;       /* the columns of the entries before it were checked */
} row_walk;
enum { CHECKED = 512 }; /* columns that are checked at once, before they are used */

ALWAYS row_walk walk_from(const lsp_spmv_rows *r, int64_t begin) {
    const lsp_csr *A = &r->job->A;
    const int64_t first = lsp_index_at(A->rowptr, A->rowptr_type, begin);
    return (row_walk){.end = first, .good = r->job->planned ? A->nnz : first};
}

/* Are the columns begin .. end-1 inside the matrix? A negative one is above all others. */
static __attribute__((noinline)) bool columns_are_inside(const lsp_csr *A, int64_t begin, int64_t end) {
    uint32_t most = 0;
    uint64_t signs = 0; /* no instruction for the larger of two: it or its distance from the last is negative */
    if (A->col_type == LSP_I32) {
        const uint32_t *col = (const uint32_t *)A->col;
        UNROLLED_4 for (int64_t k = begin; k < end; k++) { most = col[k] > most ? col[k] : most; }
        return end <= begin || most < A->cols;
    }
    const uint64_t *col = (const uint64_t *)A->col, last = (uint64_t)(A->cols - 1);
    for (int64_t k = begin; k < end; k++) {
        signs |= col[k] | (last - col[k]);
    }
    return signs >> 63 == 0;
}

/* Is row i, which is not known to be good? *good becomes larger if its columns are. Checks on beyond the row. A row
 * with a column outside is left to the reference, which leaves the entry out and writes y. */
static __attribute__((noinline)) bool check_row(const lsp_spmv_rows *r, int64_t i, int64_t begin, int64_t end,
                                                int64_t *good) {
    const lsp_csr *A = &r->job->A;
    const int64_t from = lsp_max(*good, begin), to = lsp_min(lsp_max(end, from + CHECKED), A->nnz);
    if (columns_are_inside(A, from, to)) {
        *good = to;
        return true;
    }
    *good = end;
    if (columns_are_inside(A, from, end)) {
        return true;
    }
    lsp_spmv_ref_rows(r->job, i, i + 1, r->outside);
    return false;
}

/* Sets the walk to row i; false: its y is written. The caller has asked for all rows before. */
ALWAYS bool next_row(const lsp_spmv_rows *r, row_walk *walk, int64_t i) {
    const lsp_csr *A = &r->job->A;
    walk->begin = walk->end;
    walk->end = lsp_index_at(A->rowptr, A->rowptr_type, i + 1);
    return walk->end <= walk->good || check_row(r, i, walk->begin, walk->end, &walk->good);
}

static inline bool is_one_dense(const lsp_spmv_job *job) {
    return job->options.vectors == 1 && job->x_row == 1 && job->y_row == 1;
}
