/* Triples to CSR: a stable counting sort by row, a stable sort of each row, and equal places summed. */
#include "core/cuda.h"
#include "matrices/bodies.h"

static lsp_status check_header(lsp_ctx *ctx, const lsp_coo *A) {
    LSP_REQUIRE(ctx && A, LSP_ERR_ARGUMENT, "the triples are NULL");
    LSP_REQUIRE(A->rows >= 0 && A->cols >= 0 && A->nnz >= 0, LSP_ERR_ARGUMENT,
                "%lld triples of a matrix of %lld rows and %lld columns: a negative size", (long long)A->nnz,
                (long long)A->rows, (long long)A->cols);
    LSP_REQUIRE(A->index_type == LSP_I32 || A->index_type == LSP_I64, LSP_ERR_ARGUMENT,
                "the triples have indices of type %s: only LSP_I32 and LSP_I64 are indices",
                lsp_type_name(A->index_type));
    LSP_REQUIRE(lsp_is_value(A->val_type), LSP_ERR_ARGUMENT,
                "the triples have values of type %s: only " LSP_VALUE_TYPE_NAMES " are offered",
                lsp_type_name(A->val_type));
    LSP_REQUIRE(A->nnz <= PTRDIFF_MAX / (int64_t)lsp_type_bytes(A->index_type) &&
                    (A->val_type == LSP_NONE || A->nnz <= PTRDIFF_MAX / (int64_t)lsp_type_bytes(A->val_type)),
                LSP_ERR_ARGUMENT, "%lld triples cannot be in memory", (long long)A->nnz);
    LSP_REQUIRE(A->nnz == 0 || (A->row && A->col), LSP_ERR_ARGUMENT, "there are %lld triples, but row or col is NULL",
                (long long)A->nnz);
    LSP_REQUIRE(A->nnz == 0 || !A->val == (A->val_type == LSP_NONE), LSP_ERR_ARGUMENT,
                "val is %s, but the values are of type %s", A->val ? "not NULL" : "NULL", lsp_type_name(A->val_type));
    LSP_REQUIRE(lsp_aligned(A->row, A->index_type) && lsp_aligned(A->col, A->index_type) &&
                    lsp_aligned(A->val, A->val_type),
                LSP_ERR_ARGUMENT, "an array of the triples is not aligned to its items: row %p, col %p, val %p", A->row,
                A->col, A->val);
    LSP_REQUIRE(A->where == LSP_HOST || A->where == LSP_CUDA, LSP_ERR_ARGUMENT,
                "the triples lie at place %d: LSP_HOST or LSP_CUDA is needed", (int)A->where);
    LSP_REQUIRE(A->where == LSP_HOST || ctx->options.device == LSP_CUDA, LSP_ERR_DEVICE,
                "the triples lie on the GPU, and this context is on the host");
    return LSP_OK;
}

/* All triples must be in the matrix. */
static lsp_status check_places(lsp_ctx *ctx, const lsp_coo *A) {
    int64_t first, row = 0, col = 0;
    LSP_TRY(LSP_EACH_FIRST(ctx, A->where, triple_outside, &first,
                           (lsp_each_job){.args = A, .n = A->nnz, .kind = {.index = A->index_type}}));
    if (first < A->nnz) {
        LSP_TRY(lsp_read_index(ctx, A->where, A->row, A->index_type, first, &row));
        LSP_TRY(lsp_read_index(ctx, A->where, A->col, A->index_type, first, &col));
    }
    LSP_REQUIRE(first == A->nnz, LSP_ERR_FORMAT,
                "triple %lld is at row %lld, column %lld: outside %lld x %lld (indices are from 0)", (long long)first,
                (long long)row, (long long)col, (long long)A->rows, (long long)A->cols);
    return LSP_OK;
}

lsp_status lsp_coo_to_csr(lsp_ctx *ctx, const lsp_coo *A, const lsp_csr_types *types, lsp_csr *B, int64_t *duplicates) {
    LSP_OWNED_CSR(ctx, made);
    lsp_csr_types fit;
    int64_t merged;
    LSP_TRY(check_header(ctx, A));
    LSP_REQUIRE(B, LSP_ERR_ARGUMENT, "the place for the matrix is NULL");
    LSP_TRY(lsp_csr_resolve(ctx, A->cols, 0, A->val_type, types, &fit));
    LSP_TRY(check_places(ctx, A));
    const bool integers = lsp_is_integer(A->val_type) && lsp_is_integer(fit.val_type);
    const lsp_type sums = integers && A->val_type != fit.val_type ? LSP_I64 : fit.val_type;
    LSP_TRY(lsp_csr_create(ctx, A->rows, A->cols, A->nnz,
                           &(lsp_csr_types){.val_type = A->val_type, .place = lsp_place_of(A->where)}, &made));
    LSP_TRY(lsp_csr_file(
        ctx, &(lsp_filing){.n = A->nnz, .row = A->row, .col = A->col, .val = A->val, .index_type = A->index_type},
        &made));
    LSP_TRY(lsp_csr_sort_rows(ctx, &made));
    LSP_TRY(lsp_csr_retype(ctx, &(lsp_csr_types){.val_type = sums, .drop_values = sums == LSP_NONE}, &made));
    LSP_TRY(lsp_csr_sum_duplicates(ctx, &made, &merged));
    LSP_TRY(lsp_csr_retype(ctx, types, &made));
    LSP_TELL(duplicates, merged);
    return lsp_csr_put(ctx, B, &made, false);
}
