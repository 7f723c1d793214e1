/* A walk over consecutive rows of a matrix that may be malformed: columns are checked a thousand at a time, ahead of
 * the products, so that these need no check. The rows of a plan were checked before. */
#ifndef LSP_SPMV_CPU_WALK_H
#define LSP_SPMV_CPU_WALK_H

#include "core/vector.h"
#include "rows.h"

typedef struct row_walk {
    int64_t begin, end; /* of the row */
    int64_t good;       /* the columns of the entries before it were checked */
} row_walk;
enum { ROW_GOOD, ROW_DONE, ROW_WRONG }; /* to be summed; y is written; its pointers are wrong */
enum { CHECKED = 1024 };                /* columns that are checked at once, before they are used */

ALWAYS row_walk walk_from(const lsp_spmv_rows *r, int64_t begin) {
    const lsp_csr *A = &r->job->A;
    const int64_t first = lsp_index_at(A->rowptr, A->rowptr_type, begin);
    return (row_walk){.end = first, .good = r->job->planned ? A->nnz : first};
}

/* Are the columns begin .. end-1 inside the matrix? */
static bool columns_are_inside(const lsp_csr *A, int64_t begin, int64_t end) {
    bool outside = false;
    if (A->col_type == LSP_I32) {
        const uint32_t *col = (const uint32_t *)A->col, limit = (uint32_t)lsp_min(A->cols, (int64_t)1 << 31);
        for (int64_t k = begin; k < end; k++) {
            outside |= col[k] >= limit;
        }
    } else {
        const uint64_t *col = (const uint64_t *)A->col;
        for (int64_t k = begin; k < end; k++) {
            outside |= col[k] >= (uint64_t)A->cols;
        }
    }
    return !outside;
}

/* Checks on beyond the row. A row with a column outside is left to the reference, which leaves the entry out. */
static int check_row(const lsp_spmv_rows *r, row_walk *walk, int64_t i) {
    const lsp_csr *A = &r->job->A;
    const int64_t from = lsp_max(walk->good, walk->begin);
    const int64_t to = lsp_min(lsp_max(walk->end, from + CHECKED), A->nnz);
    if (columns_are_inside(A, from, to)) {
        walk->good = to;
        return ROW_GOOD;
    }
    if (columns_are_inside(A, from, walk->end)) {
        walk->good = walk->end;
        return ROW_GOOD;
    }
    lsp_spmv_ref_rows(r->job, i, i + 1, r->faults);
    walk->good = walk->end;
    return ROW_DONE;
}

/* Sets the walk to row i. The caller has asked for all rows before. */
ALWAYS int next_row(const lsp_spmv_rows *r, row_walk *walk, int64_t i) {
    const lsp_csr *A = &r->job->A;
    walk->begin = walk->end;
    walk->end = lsp_index_at(A->rowptr, A->rowptr_type, i + 1);
    if (walk->begin < 0 || walk->end < walk->begin || walk->end > A->nnz) {
        lsp_lower(&r->faults->row, i);
        return ROW_WRONG;
    }
    return walk->end <= walk->good ? ROW_GOOD : check_row(r, walk, i);
}

static inline bool is_one_dense(const lsp_spmv_job *job) {
    return job->options.vectors == 1 &&
           (job->options.by_columns || (job->vectors.x_stride == 1 && job->vectors.y_stride == 1));
}

#endif
