/* What flags ask of a matrix, in either place: columns that ascend, no column twice, values that are finite. A place
 * searches for the first fault; the sentences stand here. */
#include "core/cuda.h"
#include "facts.h"
#include "matrices/csr/gpu/gpu.h"
#include "matrices/matrices.h"

#include <math.h>

/* The first entry that is NaN or infinite. */
LSP_INLINE int64_t not_finite(lsp_type type, const lsp_csr *A, int64_t begin, int64_t end) {
    for (int64_t k = begin; type != LSP_NONE && k < end; k++) {
        lsp_value value = lsp_value_of(type, A->val, k);
        if (!isfinite(value.re) || !isfinite(value.im)) {
            return k;
        }
    }
    return end;
}

static int64_t find_not_finite(const void *data, int64_t begin, int64_t end) {
    const lsp_csr *A = data;
    return LSP_WITH_VALUE(A->val_type, not_finite, A, begin, end);
}

lsp_status lsp_csr_find_unsorted(lsp_ctx *ctx, const lsp_csr *A, bool strictly, int64_t *row) {
    if (A->where == LSP_CUDA) {
        return lsp_csr_on_gpu.csr_find_unsorted(ctx, A, strictly, row);
    }
    *row = lsp_csr_first_unsorted(ctx, A, strictly);
    return LSP_OK;
}

/* Checks that no row has a column twice: compares neighbours, after sorting a copy of the columns if they are unsorted.
 */
static lsp_status check_unique(lsp_ctx *ctx, const char *name, const lsp_csr *A) {
    lsp_status status = LSP_OK;
    size_t mark = lsp_scratch_mark(ctx);
    lsp_csr columns = *A;
    int64_t row;
    LSP_TRY(lsp_csr_find_unsorted(ctx, A, true, &row));
    if (row < A->rows) {
        const int64_t bytes = A->nnz * (int64_t)lsp_type_bytes(A->col_type);
        LSP_TRY(lsp_scratch_at(ctx, A->where, bytes, 1, &columns.col));
        if (A->where == LSP_CUDA) {
            LSP_TRY(lsp_cuda_copy(ctx, columns.col, LSP_CUDA, A->col, LSP_CUDA, bytes));
        } else {
            memcpy(columns.col, A->col, (size_t)bytes);
        }
        columns.val = NULL;
        columns.val_type = LSP_NONE;
        LSP_TRY(lsp_csr_sort_rows(ctx, &columns));
        LSP_TRY(lsp_csr_find_unsorted(ctx, &columns, true, &row));
        LSP_REQUIRE(row == A->rows, LSP_ERR_FORMAT, "%s, row %lld holds a column twice", name, (long long)row);
    }
done:
    lsp_scratch_release(ctx, mark);
    return status;
}

static lsp_status check_finite(lsp_ctx *ctx, const char *name, const lsp_csr *A) {
    lsp_status status = LSP_OK;
    lsp_csr_spot spot;
    int64_t k;
    if (A->where == LSP_CUDA) {
        LSP_TRY(lsp_csr_on_gpu.csr_find_not_finite(ctx, A, &k));
    } else {
        k = lsp_first(ctx, A->nnz, find_not_finite, A);
    }
    if (k < A->nnz) {
        LSP_TRY(lsp_csr_spot_of(ctx, A, k, &spot));
        LSP_REQUIRE(false, LSP_ERR_FORMAT, "%s, row %lld: the value at column %lld is not finite", name,
                    (long long)spot.row, (long long)spot.col);
    }
done:
    return status;
}

lsp_status lsp_csr_check_flags(lsp_ctx *ctx, const char *name, const lsp_csr *A, unsigned flags) {
    lsp_status status = LSP_OK;
    int64_t row = A->rows;
    if (flags & LSP_CHECK_SORTED) {
        LSP_TRY(lsp_csr_find_unsorted(ctx, A, false, &row));
    }
    LSP_REQUIRE(row == A->rows, LSP_ERR_FORMAT, "%s, row %lld: its columns do not ascend", name, (long long)row);
    LSP_TRY(flags & LSP_CHECK_UNIQUE ? check_unique(ctx, name, A) : LSP_OK);
    LSP_TRY(flags & LSP_CHECK_FINITE ? check_finite(ctx, name, A) : LSP_OK);
done:
    return status;
}
