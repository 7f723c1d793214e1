/* Uses a batch of entries: pass 1 counts them by row, pass 2 puts each into the next free slot of its row. */
#include "matrices/matrices.h"
#include "mtx.h"

LSP_INLINE void count_by(bool wide, void *slots, const int64_t *row, int64_t n) {
    for (int64_t k = 0; k < n; k++) {
        lsp_place_set(slots, wide, row[k], lsp_place_at(slots, wide, row[k]) + 1);
    }
}

/* slot[k] = the next free slot of row[k], prefetched for the stores that follow, which would otherwise miss the cache
 * one after the other. False if a slot lies outside the matrix. */
LSP_INLINE bool take_slots(bool wide, void *slots, const lsp_csr *A, lsp_mtx_batch *batch) {
    const size_t col_bytes = lsp_type_bytes(A->col_type), val_bytes = lsp_type_bytes(A->val_type);
    for (int64_t k = 0; k < batch->count; k++) {
        const int64_t slot = lsp_place_at(slots, wide, batch->row[k]);
        lsp_place_set(slots, wide, batch->row[k], slot + 1);
        if (__builtin_expect((uint64_t)slot >= (uint64_t)A->nnz, 0)) {
            return false;
        }
        __builtin_prefetch((const char *)A->col + (size_t)slot * col_bytes, 1);
        if (val_bytes > 0) {
            __builtin_prefetch((const char *)A->val + (size_t)slot * val_bytes, 1);
        }
        batch->slot[k] = slot;
    }
    return true;
}

LSP_INLINE void store_columns(lsp_type type, const lsp_csr *A, const lsp_mtx_batch *batch) {
    for (int64_t k = 0; k < batch->count; k++) {
        lsp_index_set(A->col, type, batch->slot[k], batch->col[k]);
    }
}
LSP_INLINE void store_typed(lsp_type val_type, const lsp_csr *A, bool complex, const lsp_mtx_batch *batch) {
    for (int64_t k = 0; val_type != LSP_NONE && k < batch->count; k++) {
        lsp_value_set(val_type, A->val, batch->slot[k],
                      lsp_is_integer(val_type) ? (lsp_value){0, 0, batch->whole[k]}
                                               : lsp_value_from(batch->re[k], complex ? batch->im[k] : 0));
    }
}

/* The entries of the batch alone, without their mirrors. */
static bool use_entries(const lsp_mtx_job *job, const lsp_mtx_part *part) {
    const lsp_csr *A = &job->reader->A;
    lsp_mtx_batch *batch = part->batch;
    if (job->pass == LSP_MTX_COUNT) {
        LSP_WITH_FLAG(job->slots.wide, count_by, part->slots, batch->row, batch->count);
        return true;
    }
    if (!LSP_WITH_FLAG(job->slots.wide, take_slots, part->slots, A, batch)) {
        return false;
    }
    LSP_WITH_INDEX(A->col_type, store_columns, A, batch);
    LSP_WITH_VALUE(A->val_type, store_typed, A, job->reader->header.field == LSP_MTX_COMPLEX, batch);
    return true;
}

/* Turns the entries off the diagonal into their mirrors and drops the others. */
static void mirror_batch(const lsp_mtx_job *job, lsp_mtx_batch *batch) {
    const lsp_mtx_header *header = &job->reader->header;
    const bool values = job->pass == LSP_MTX_PLACE && header->field != LSP_MTX_PATTERN;
    int64_t kept = 0;
    for (int64_t k = 0; k < batch->count; k++) {
        if (batch->row[k] != batch->col[k]) {
            lsp_mtx_mirror(header, values, batch, k, kept++);
        }
    }
    batch->count = kept;
}

bool lsp_mtx_use_batch(const lsp_mtx_job *job, const lsp_mtx_part *part) {
    if (job->mirror && !use_entries(job, part)) {
        return false;
    }
    if (job->mirror) {
        mirror_batch(job, part->batch);
    }
    return use_entries(job, part);
}

/* ---- places in an array file: column by column, in a symmetric file from the diagonal down ---- */

/* The first row that the file stores in a column. */
static int64_t first_row(const lsp_mtx_header *header, int64_t col) {
    return header->symmetry == LSP_SYMMETRY_GENERAL ? 0 : col + (header->symmetry == LSP_SYMMETRY_SKEW);
}

lsp_mtx_cursor lsp_mtx_array_place(const lsp_mtx_header *header, int64_t k) {
    if (header->symmetry == LSP_SYMMETRY_GENERAL || header->rows == 0) {
        return header->rows > 0 ? (lsp_mtx_cursor){k % header->rows, k / header->rows} : (lsp_mtx_cursor){0, 0};
    }
    lsp_mtx_cursor cursor = {first_row(header, 0), 0};
    while (cursor.col < header->cols &&
           k >= header->rows - cursor.row) { /* at most k steps: each skips a number or more */
        k -= header->rows - cursor.row;
        cursor.row = first_row(header, ++cursor.col);
    }
    cursor.row += k;
    return cursor;
}

void lsp_mtx_array_entries(const lsp_mtx_header *header, lsp_mtx_cursor *cursor, lsp_mtx_batch *batch) {
    bool complex = header->field == LSP_MTX_COMPLEX;
    int64_t kept = 0;
    for (int64_t k = 0; k < batch->count; k++) {
        double re = batch->re[k], im = complex ? batch->im[k] : 0;
        bool outside = cursor->row >= header->rows || cursor->col >= header->cols;
        if (outside || (header->symmetry == LSP_SYMMETRY_HERMITIAN && cursor->row == cursor->col && im != 0)) {
            batch->fault = outside ? LSP_MTX_EXTRA : LSP_MTX_DIAGONAL;
            batch->count = k;
            return;
        }
        if (re != 0 || im != 0) {
            batch->row[kept] = cursor->row;
            batch->col[kept] = cursor->col;
            batch->re[kept] = re;
            if (header->whole) {
                batch->whole[kept++] = batch->whole[k];
            } else {
                batch->im[kept++] = im;
            }
        }
        if (++cursor->row == header->rows) {
            cursor->row = first_row(header, ++cursor->col);
        }
    }
    batch->count = kept;
}
