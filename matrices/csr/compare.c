/* Compares two matrices: where their patterns first differ, and the largest distance of values at the same place. If
 * patterns differ, entries of unsorted rows find each other in sorted copies. */
#include "core/cuda.h"
#include "matrices/bodies.h"

/* The column of entry k of row i, or INT64_MAX if the row has ended. */
static lsp_status column_of(lsp_ctx *ctx, const lsp_csr *A, int64_t i, int64_t k, int64_t *column) {
    LSP_TRY(lsp_csr_read_rowptr(ctx, A, i + 1, column));
    if (k < *column) {
        return lsp_read_index(ctx, A->where, A->col, A->col_type, k, column);
    }
    *column = INT64_MAX;
    return LSP_OK;
}

/* Names the first place where the patterns part: in the first row that ends elsewhere, or at the first entry of another
 * column, if that comes before. */
static lsp_status name_difference(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_found *found,
                                  lsp_csr_difference *result) {
    int64_t row = (int64_t)found->first[0], k = found->first[1] == LSP_NOWHERE ? INT64_MAX : (int64_t)found->first[1];
    int64_t begin = INT64_MAX, a, b;
    if (found->first[0] != LSP_NOWHERE) {
        LSP_TRY(lsp_csr_read_rowptr(ctx, A, row, &begin));
        LSP_TRY(lsp_csr_read_rowptr(ctx, A, row + 1, &a));
        LSP_TRY(lsp_csr_read_rowptr(ctx, B, row + 1, &b));
        k = lsp_min(k, lsp_min(a, b));
    }
    if (k < begin) {
        lsp_csr_spot spot;
        LSP_TRY(lsp_csr_spot_of(ctx, A, k, &spot));
        row = spot.row;
    }
    LSP_TRY(column_of(ctx, A, row, k, &a));
    LSP_TRY(column_of(ctx, B, row, k, &b));
    result->same_pattern = result->same_bits = false;
    result->row = row;
    result->col = lsp_min(a, b);
    return LSP_OK;
}

/* *distance = what the values at common places of different patterns tell. */
static lsp_status measure_common(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_found *distance) {
    LSP_OWNED_CSR(ctx, a);
    LSP_OWNED_CSR(ctx, b);
    LSP_TRY(lsp_csr_order(ctx, &A, false, A->val_type, &a));
    LSP_TRY(lsp_csr_order(ctx, &B, false, B->val_type, &b));
    const comparing c = {.A = *A, .B = *B, .mixed = A->val_type != B->val_type};
    return LSP_EACH_ENTRY(ctx, apart_by_column, (lsp_entry_job){.args = &c, .A = A, .found = distance});
}

static lsp_status compare(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_csr_difference *result) {
    lsp_found parts, distance;
    const comparing a = {.A = *A, .B = *B, .entries = lsp_min(A->nnz, B->nnz), .mixed = A->val_type != B->val_type};
    lsp_csr_spot spot = {.row = -1, .col = -1};
    LSP_TRY(LSP_EACH(ctx, A->where, differs,
                     (lsp_each_job){.args = &a, .n = lsp_max(A->rows, a.entries), .found = &parts}));
    *result = (lsp_csr_difference){.same_shape = true, .same_pattern = true, .row = -1, .col = -1};
    if (parts.first[0] != LSP_NOWHERE || parts.first[1] != LSP_NOWHERE) {
        LSP_TRY(name_difference(ctx, A, B, &parts, result));
        LSP_TRY(measure_common(ctx, A, B, &distance));
    } else {
        LSP_TRY(LSP_EACH(
            ctx, A->where, apart,
            (lsp_each_job){
                .args = &a, .n = A->nnz, .kind = {.index = A->col_type, .val = A->val_type}, .found = &distance}));
        LSP_TRY(distance.most > 0 ? lsp_csr_spot_of(ctx, A, (int64_t)distance.at, &spot) : LSP_OK);
        result->row = spot.row, result->col = spot.col;
        result->same_bits = distance.flags == 0 && A->val_type == B->val_type;
    }
    memcpy(&result->max_rel, &distance.most, sizeof result->max_rel);
    return LSP_OK;
}

lsp_status lsp_csr_compare(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_csr_difference *result) {
    lsp_csr_difference found;
    LSP_TRY(lsp_csr_check_header(ctx, "A", A));
    LSP_TRY(lsp_csr_check_header(ctx, "B", B));
    LSP_REQUIRE(A->where == B->where, LSP_ERR_ARGUMENT,
                "one of the matrices to be compared lies on the GPU, the other in the memory of the host");
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    LSP_TRY(lsp_csr_check_valid(ctx, "B", B));
    LSP_REQUIRE(result, LSP_ERR_ARGUMENT, "the place for the difference is NULL");
    if (A->rows != B->rows || A->cols != B->cols) {
        *result = (lsp_csr_difference){.row = -1, .col = -1, .max_rel = INFINITY};
        return LSP_OK;
    }
    LSP_TRY(compare(ctx, A, B, &found));
    *result = found;
    return LSP_OK;
}
