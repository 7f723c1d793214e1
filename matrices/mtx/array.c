/* Places of the numbers in an array file: column by column, in a symmetric file from the diagonal down. */
#include "mtx.h"

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
