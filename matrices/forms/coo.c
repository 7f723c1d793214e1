/* B = the triples of A: columns and values are copied, and each entry gets the number of its row. */
#include "matrices/bodies.h"

lsp_status lsp_csr_to_coo(lsp_ctx *ctx, const lsp_csr *A, lsp_coo *B) {
    void *row = NULL, *col = NULL, *val = NULL;
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    LSP_REQUIRE(B, LSP_ERR_ARGUMENT, "the place for the triples is NULL");
    LSP_FREES(ctx, row);
    LSP_FREES(ctx, col);
    LSP_FREES(ctx, val);
    const lsp_type type = A->rows > (int64_t)INT32_MAX + 1 ? LSP_I64 : A->col_type; /* a row's number must fit too */
    LSP_TRY(lsp_alloc(ctx, A->where, A->nnz, lsp_type_bytes(type), &row));
    LSP_TRY(lsp_alloc(ctx, A->where, A->nnz, lsp_type_bytes(type), &col));
    LSP_TRY(lsp_alloc(ctx, A->where, A->nnz, lsp_type_bytes(A->val_type), &val));
    const listing a = {.A = *A, .row = row, .col = col, .val = val, .type = type};
    LSP_TRY(LSP_EACH_ENTRY(ctx, list_entry, (lsp_entry_job){.args = &a, .A = A}));
    *B = (lsp_coo){A->rows, A->cols, A->nnz, row, col, val, type, A->val_type, A->where};
    row = col = val = NULL;
    return LSP_OK;
}

lsp_status lsp_coo_free(lsp_ctx *ctx, lsp_coo *A) {
    LSP_REQUIRE(ctx, LSP_ERR_ARGUMENT, "the context is NULL");
    if (A) {
        LSP_REQUIRE((!A->row || lsp_owns(ctx, A->row)) && (!A->col || lsp_owns(ctx, A->col)) &&
                        (!A->val || lsp_owns(ctx, A->val)),
                    LSP_ERR_ARGUMENT,
                    "%lld triples of a matrix of %lld x %lld are not freed: their arrays are not this context's",
                    (long long)A->nnz, (long long)A->rows, (long long)A->cols);
        lsp_free(ctx, (void *)A->row);
        lsp_free(ctx, (void *)A->col);
        lsp_free(ctx, (void *)A->val);
        *A = (lsp_coo){0};
    }
    return LSP_OK;
}
