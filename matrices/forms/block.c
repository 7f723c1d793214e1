/* B = consecutive rows and columns of A, and where to cut A into such blocks. Consecutive rows are a matrix over A's
 * own arrays, with row pointers that begin at 0; their columns are then cut out, or copied if all are wanted. */
#include "matrices/bodies.h"
#include "matrices/gpu/gpu.h"

lsp_status lsp_csr_view_rows(lsp_ctx *ctx, const lsp_csr *A, int64_t first, int64_t rows, lsp_csr *S) {
    indexing a = {.from = A->rowptr, .first = first};
    int64_t end;
    LSP_TRY(lsp_csr_read_rowptr(ctx, A, first, &a.less));
    LSP_TRY(lsp_csr_read_rowptr(ctx, A, first + rows, &end));
    LSP_TRY(lsp_scratch_at(ctx, A->where, rows + 1, lsp_type_bytes(A->rowptr_type), &a.to));
    LSP_TRY(
        LSP_EACH(ctx, A->where, shift, (lsp_each_job){.args = &a, .n = rows + 1, .kind = {.index = A->rowptr_type}}));
    *S = *A;
    S->rows = rows;
    S->nnz = end - a.less;
    S->rowptr = a.to;
    if (S->nnz > 0) {
        S->col = (char *)A->col + (size_t)a.less * lsp_type_bytes(A->col_type);
        S->val = A->val ? (char *)A->val + (size_t)a.less * lsp_type_bytes(A->val_type) : NULL;
    }
    return LSP_OK;
}

lsp_status lsp_csr_take_columns(lsp_ctx *ctx, const lsp_csr *A, int64_t first, int64_t cols, lsp_csr *B) {
    const lsp_window window = {.low = first, .high = first + cols - 1, .shift = first, .cols = cols};
    return lsp_csr_window(ctx, A, &window, B);
}

/* ---- cuts ---- */

lsp_status lsp_csr_cut_rows(lsp_ctx *ctx, const lsp_csr *A, int64_t first, int64_t most, int64_t *end, int64_t *next) {
    int64_t begin, at, low = first, high = A->rows; /* rows first .. low-1 fit */
    LSP_TRY(lsp_csr_read_rowptr(ctx, A, first, &begin));
    while (low < high) {
        const int64_t middle = high - (high - low) / 2;
        LSP_TRY(lsp_csr_read_rowptr(ctx, A, middle, &at));
        if (at - begin <= most) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    *next = 0;
    if (low < A->rows) {
        LSP_TRY(lsp_csr_read_rowptr(ctx, A, low, &begin));
        LSP_TRY(lsp_csr_read_rowptr(ctx, A, low + 1, &at));
        *next = at - begin;
    }
    *end = low;
    return LSP_OK;
}

lsp_status lsp_csr_cut_columns(lsp_ctx *ctx, const lsp_csr *A, int64_t first, int64_t most, int64_t *end,
                               int64_t *next) {
    enum { BUCKETS = 1024 };
    LSP_SCRATCH_SCOPE(ctx);
    int64_t *counts, low = first, high = A->cols, left = most; /* columns first .. low-1 fit */
    *next = 0;
    LSP_TRY(LSP_SCRATCH(ctx, BUCKETS, &counts));
    for (int shift = 1; low < high && shift > 0; high = low + lsp_min(high - low, (int64_t)1 << shift)) {
        int b = 0;
        shift = lsp_bits((uint64_t)((high - low - 1) / BUCKETS));
        LSP_TRY(lsp_matrices_on_gpu.csr_count_columns(ctx, A, &(lsp_buckets){low, high, shift, BUCKETS}, counts));
        for (; low < high && counts[b] <= left; b++) {
            left -= counts[b];
            low += lsp_min(high - low, (int64_t)1 << shift);
        }
        *next = low < high ? counts[b] : 0;
    }
    *end = low;
    return LSP_OK;
}

static lsp_status check_range(lsp_ctx *ctx, const char *what, int64_t first, int64_t count, int64_t all) {
    return first >= 0 && count >= 0 && first <= all && count <= all - first
               ? LSP_OK
               : lsp_fail(ctx, LSP_ERR_ARGUMENT, "a block of %lld %s from %lld on is not within the %lld of A",
                          (long long)count, what, (long long)first, (long long)all);
}

lsp_status lsp_csr_block(lsp_ctx *ctx, const lsp_csr *A, int64_t first_row, int64_t rows, int64_t first_col,
                         int64_t cols, lsp_csr *B) {
    LSP_ENTER(ctx);
    LSP_OWNED_CSR(ctx, made);
    lsp_csr S;
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    LSP_REQUIRE(B, LSP_ERR_ARGUMENT, "the place for the block is NULL");
    LSP_TRY(check_range(ctx, "rows", first_row, rows, A->rows));
    LSP_TRY(check_range(ctx, "columns", first_col, cols, A->cols));
    LSP_TRY(lsp_csr_view_rows(ctx, A, first_row, rows, &S));
    const lsp_csr_types types = lsp_types_of(A);
    LSP_TRY(cols == A->cols ? lsp_csr_copy_checked(ctx, &S, &types, &made)
                            : lsp_csr_take_columns(ctx, &S, first_col, cols, &made));
    return lsp_csr_put(ctx, B, &made, B == A);
}
