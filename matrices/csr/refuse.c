/* What messages tell of a matrix in either place: its first fault, and one of its entries. csr/gpu/ refuses by these.
 */
#include "core/cuda.h"
#include "matrices/bodies.h"

lsp_status lsp_csr_spot_of(lsp_ctx *ctx, const lsp_csr *A, int64_t entry, lsp_csr_spot *spot) {
    lsp_found found;
    LSP_TRY(LSP_EACH(ctx, A->where, spot,
                     (lsp_each_job){.args = &(seeking){.A = *A, .entry = entry}, .n = 1, .found = &found}));
    *spot = (lsp_csr_spot){(int64_t)found.first[0], (int64_t)found.first[1], (int64_t)found.flags};
    return LSP_OK;
}

lsp_status lsp_csr_read_rowptr(lsp_ctx *ctx, const lsp_csr *A, int64_t i, int64_t *value) {
    return lsp_read_index(ctx, A->where, A->rowptr, A->rowptr_type, i, value);
}

lsp_status lsp_csr_refuse(lsp_ctx *ctx, const char *name, const lsp_csr *A) {
    int64_t start, stop, row, k;
    lsp_csr_spot spot;
    LSP_TRY(lsp_csr_read_rowptr(ctx, A, 0, &start));
    LSP_TRY(lsp_csr_read_rowptr(ctx, A, A->rows, &stop));
    LSP_REQUIRE(start == 0, LSP_ERR_FORMAT, "%s: rowptr[0] is %lld, not 0", name, (long long)start);
    LSP_REQUIRE(stop == A->nnz, LSP_ERR_FORMAT, "%s: rowptr[%lld] is %lld, but there are %lld entries", name,
                (long long)A->rows, (long long)stop, (long long)A->nnz);
    LSP_TRY(LSP_EACH_FIRST(ctx, A->where, row_falls, &row, (lsp_each_job){.args = A, .n = A->rows}));
    if (row < A->rows) {
        LSP_TRY(lsp_csr_read_rowptr(ctx, A, row, &start));
        LSP_TRY(lsp_csr_read_rowptr(ctx, A, row + 1, &stop));
        LSP_REQUIRE(false, LSP_ERR_FORMAT, "%s, row %lld ends at entry %lld, before its start at %lld", name,
                    (long long)row, (long long)stop, (long long)start);
    }
    LSP_TRY(LSP_EACH_FIRST(ctx, A->where, outside, &k,
                           (lsp_each_job){.args = &(indexing){.from = A->col, .limit = A->cols},
                                          .n = A->nnz,
                                          .kind = {.index = A->col_type}}));
    if (k < A->nnz) {
        LSP_TRY(lsp_csr_spot_of(ctx, A, k, &spot));
        LSP_REQUIRE(false, LSP_ERR_FORMAT, "%s, row %lld: column %lld is not in 0 .. %lld (indices are from 0)", name,
                    (long long)spot.row, (long long)spot.col, (long long)(A->cols - 1));
    }
    return LSP_OK;
}
