/* B = A^T: its entries are filed into rows by their columns. */
#include "matrices/bodies.h"
#include "matrices/gpu/gpu.h"

lsp_status lsp_count_up(lsp_ctx *ctx, lsp_where where, void *to, lsp_type type, int64_t n) {
    return LSP_EACH(ctx, where, count_up,
                    (lsp_each_job){.args = &(indexing){.to = to}, .n = n, .kind = {.index = type}});
}

static lsp_status file_columns(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    const lsp_filing by_column = {.n = A->nnz, .row = A->col, .val = A->val, .index_type = A->col_type, .by = A};
    return lsp_csr_file(ctx, &by_column, B);
}

lsp_status lsp_csr_file_transpose(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    const lsp_csr_types types = lsp_types_like(A, A->rows, A->nnz);
    const lsp_status status = lsp_csr_create(ctx, A->cols, A->rows, A->nnz, &types, B);
    return status != LSP_OK ? status : file_columns(ctx, A, B);
}

lsp_status lsp_csr_transpose_as(lsp_ctx *ctx, const char *name, const lsp_csr *A, lsp_csr *B) {
    LSP_OWNED_CSR(ctx, made);
    bool done = false;
    LSP_TRY(lsp_csr_check_header(ctx, name, A));
    LSP_TRY(A->where == LSP_HOST ? lsp_csr_check_valid(ctx, name, A) : lsp_csr_check_device(ctx, name));
    LSP_REQUIRE(B, LSP_ERR_ARGUMENT, "the place for the transpose is NULL");
    const lsp_csr_types types = lsp_types_like(A, A->rows, A->nnz);
    LSP_TRY(lsp_csr_create(ctx, A->cols, A->rows, A->nnz, &types, &made));
    if (A->where == LSP_CUDA) { /* checks A on the way */
        LSP_TRY(lsp_matrices_on_gpu.csr_transpose(ctx, name, A, &made, &done));
    }
    if (!done) {
        LSP_TRY(file_columns(ctx, A, &made));
    }
    return lsp_csr_put(ctx, B, &made, B == A);
}

lsp_status lsp_csr_transpose(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *B) {
    return lsp_csr_transpose_as(ctx, "A", A, B);
}
