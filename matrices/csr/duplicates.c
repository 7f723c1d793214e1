/* Sums entries of the same row and column in place. Each thread moves the entries of its rows to the left; then the
 * gaps between the threads' pieces are closed. */
#include "core/cuda.h"
#include "matrices/bodies.h"
#include "matrices/csr/facts.h"

/* Merges the rows begin .. end-1, whose entries start at `start`, to the left; returns the new end of their entries. */
LSP_INLINE int64_t merge_rows(lsp_type val_type, lsp_type col_type, const lsp_csr *A, int64_t begin, int64_t end,
                              int64_t start) {
    int64_t to = start;
    for (int64_t i = begin; i < end; i++) {
        int64_t row = to, stop = lsp_csr_rowptr(A, i + 1);
        for (int64_t k = start; k < stop; k++) {
            int64_t column = lsp_index_at(A->col, col_type, k);
            if (to > row && lsp_index_at(A->col, col_type, to - 1) == column) {
                lsp_value_add(val_type, A->val, to - 1, A->val, k);
            } else {
                lsp_index_set(A->col, col_type, to, column);
                lsp_move_value(A->val, to++, A->val, k, lsp_value_bytes(val_type));
            }
        }
        start = stop;
        lsp_index_set(A->rowptr, A->rowptr_type, i + 1, to);
    }
    return to;
}

typedef struct piece { /* the rows of one thread, their entries, and how far these move */
    int64_t begin, end, start, stop, shift;
} piece;

typedef struct merging {
    const lsp_csr *A;
    piece *pieces;
} merging;

static void merge_piece(void *data, int64_t p, int thread) {
    const merging *m = data;
    const lsp_csr *A = m->A;
    piece *mine = &m->pieces[p];
    (void)thread;
    mine->stop = LSP_WITH_BOTH(A->val_type, A->col_type, merge_rows, A, mine->begin, mine->end, mine->start);
}

static void shift_piece(void *data, int64_t p, int thread) {
    const merging *m = data;
    const piece *mine = &m->pieces[p];
    (void)thread;
    for (int64_t i = mine->begin; mine->shift > 0 && i < mine->end; i++) {
        lsp_index_set(m->A->rowptr, m->A->rowptr_type, i + 1, lsp_csr_rowptr(m->A, i + 1) - mine->shift);
    }
}

/* Moves the entries of all pieces together, in order; returns their number. */
static int64_t close_gaps(const lsp_csr *A, piece *pieces, int parts) {
    size_t col_bytes = lsp_type_bytes(A->col_type), val_bytes = lsp_type_bytes(A->val_type);
    int64_t to = 0;
    for (int p = 0; p < parts; p++) {
        int64_t from = pieces[p].start, n = pieces[p].stop - from;
        if (to < from && n > 0) {
            memmove((char *)A->col + (size_t)to * col_bytes, (char *)A->col + (size_t)from * col_bytes,
                    (size_t)n * col_bytes);
            if (val_bytes > 0) {
                memmove((char *)A->val + (size_t)to * val_bytes, (char *)A->val + (size_t)from * val_bytes,
                        (size_t)n * val_bytes);
            }
        }
        pieces[p].shift = from - to;
        to += n;
    }
    return to;
}

static lsp_status sum_on_host(lsp_ctx *ctx, lsp_csr *A) {
    LSP_SCRATCH_SCOPE(ctx);
    const int parts = lsp_csr_threads(ctx, A);
    piece *pieces;
    LSP_TRY(LSP_SCRATCH(ctx, parts, &pieces));
    for (int p = 0; p < parts; p++) {
        lsp_csr_share(A, p, parts, &pieces[p].begin, &pieces[p].end);
        pieces[p].start = lsp_csr_rowptr(A, pieces[p].begin);
    }
    merging m = {.A = A, .pieces = pieces};
    lsp_for_parts(ctx, parts, parts, merge_piece, &m);
    A->nnz = close_gaps(A, pieces, parts);
    lsp_for_parts(ctx, parts, parts, shift_piece, &m);
    return LSP_OK;
}

/* On a GPU: the first entry of each run of equal columns is kept, and becomes the sum of its run. */
static lsp_status sum_on_gpu(lsp_ctx *ctx, lsp_csr *A) {
    LSP_SCRATCH_SCOPE(ctx);
    LSP_OWNED_CSR(ctx, made);
    const lsp_csr_types types = lsp_types_of(A);
    const keeping a = {.A = *A};
    int64_t *heads;
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->nnz, &heads));
    LSP_TRY(LSP_KEEP(ctx, run_head, &made,
                     (lsp_keep){.args = &a, .A = A, .cols = A->cols, .sources = heads, .types = &types}));
    LSP_TRY(LSP_EACH(ctx, LSP_CUDA, sum_run,
                     (lsp_each_job){.args = &(running){.A = *A, .B = made, .heads = heads},
                                    .n = made.nnz,
                                    .kind = {.index = A->col_type, .val = A->val_type}}));
    return lsp_csr_put(ctx, A, &made, true);
}

/* The same for integers narrower than LSP_I64: sums are made in that, and must fit. */
static lsp_status sum_narrow(lsp_ctx *ctx, lsp_csr *A) {
    const lsp_type type = A->val_type;
    LSP_TRY(lsp_csr_convert_integers(ctx, "the matrix", LSP_I64, A));
    LSP_TRY(lsp_csr_sum_duplicates(ctx, A, NULL));
    return lsp_csr_convert_integers(ctx, "the matrix with its duplicates summed", type, A);
}

lsp_status lsp_csr_sum_duplicates(lsp_ctx *ctx, lsp_csr *A, int64_t *merged) {
    const int64_t before = A->nnz;
    int64_t row;
    LSP_TRY(lsp_csr_find_unsorted(ctx, A, true, &row));
    if (row < A->rows) {
        LSP_TRY(lsp_wide_type(A->val_type) != A->val_type ? sum_narrow(ctx, A)
                : A->where == LSP_CUDA                    ? sum_on_gpu(ctx, A)
                                                          : sum_on_host(ctx, A));
    }
    LSP_TELL(merged, before - A->nnz);
    return LSP_OK;
}

/* ---- rows in order ---- */

lsp_status lsp_csr_sort(lsp_ctx *ctx, lsp_csr *A) {
    const lsp_status status = lsp_csr_check_valid(ctx, "A", A);
    return status == LSP_OK ? lsp_csr_sort_rows(ctx, A) : status;
}

lsp_status lsp_csr_order(lsp_ctx *ctx, const lsp_csr **A, bool sums, lsp_type type, lsp_csr *made) {
    const lsp_csr *from = *A;
    int64_t row;
    LSP_TRY(lsp_csr_find_unsorted(ctx, from, sums, &row));
    if (row < from->rows) {
        const lsp_csr_types types = {from->rowptr_type, from->col_type, type, type == LSP_NONE, LSP_PLACE_SOURCE};
        LSP_TRY(lsp_csr_copy(ctx, from, &types, made));
        LSP_TRY(lsp_csr_sort_rows(ctx, made));
        LSP_TRY(sums ? lsp_csr_sum_duplicates(ctx, made, NULL) : LSP_OK);
        *A = made;
    }
    return LSP_OK;
}
