/* The result of C = op(A)*op(B) before it is filled: types, sizes, bytes; and how large a factor kernels take. */
#include "job.h"

int64_t lsp_spgemm_matrix_bytes(int64_t rows, int64_t cols, int64_t nnz, const lsp_csr_types *types,
                                lsp_type val_type) {
    const bool wide_rowptr = types->rowptr_type == LSP_NONE ? nnz > INT32_MAX : types->rowptr_type == LSP_I64;
    const bool wide_col = types->col_type == LSP_NONE ? cols > (int64_t)INT32_MAX + 1 : types->col_type == LSP_I64;
    const int64_t pointers = lsp_spgemm_bytes(rows, wide_rowptr ? 8 : 4, wide_rowptr ? 8 : 4);
    return lsp_spgemm_bytes(nnz, (wide_col ? 8 : 4) + (int64_t)lsp_type_bytes(val_type), pointers);
}

int64_t lsp_spgemm_result_bytes(const lsp_spgemm_plan *plan) {
    const int64_t nnz = plan->info.nnz, rounded = (int64_t)lsp_type_bytes(plan->val_type);
    const int64_t bytes =
        lsp_spgemm_matrix_bytes(plan->facts.rows, plan->facts.cols, nnz, &plan->options.types, plan->type);
    return lsp_spgemm_bytes(nnz, plan->type == plan->val_type ? 0 : rounded, bytes);
}

lsp_status lsp_spgemm_shape(lsp_spgemm_plan *plan, lsp_csr *C) {
    lsp_csr_types fit;
    LSP_TRY(lsp_csr_resolve(plan->ctx, plan->facts.cols, plan->info.nnz, LSP_NONE, &plan->options.types, &fit));
    *C = (lsp_csr){.rows = plan->facts.rows,
                   .cols = plan->facts.cols,
                   .nnz = plan->info.nnz,
                   .rowptr_type = fit.rowptr_type,
                   .col_type = fit.col_type,
                   .val_type = fit.val_type,
                   .where = plan->where};
    return LSP_OK;
}

lsp_status lsp_spgemm_allocate(lsp_spgemm_plan *plan, lsp_csr *C) {
    lsp_ctx *ctx = plan->ctx;
    LSP_TRY(lsp_spgemm_shape(plan, C));
    LSP_TRY(lsp_alloc(ctx, C->where, C->rows + 1, lsp_type_bytes(C->rowptr_type), &C->rowptr));
    LSP_TRY(lsp_alloc(ctx, C->where, C->nnz, lsp_type_bytes(C->col_type), &C->col));
    return lsp_alloc(ctx, C->where, C->val_type ? C->nnz : 0, lsp_type_bytes(C->val_type), &C->val);
}

/* ---- limits: tests lower them, so that small factors are cut too ---- */

int64_t lsp_spgemm_most(const lsp_ctx *ctx) {
    const int64_t *own = ctx->tables[LSP_TABLE_SPGEMM];
    return own != NULL ? *own : INT32_MAX;
}

lsp_status lsp_spgemm_set_most(lsp_ctx *ctx, int64_t most) {
    void **own = &ctx->tables[LSP_TABLE_SPGEMM];
    LSP_REQUIRE(most >= 2 && most <= INT32_MAX, LSP_ERR_ARGUMENT, "factors of %lld entries: 2 to %d are offered",
                (long long)most, INT32_MAX);
    LSP_TRY(*own == NULL ? lsp_alloc(ctx, LSP_HOST, 1, sizeof most, own) : LSP_OK);
    *(int64_t *)*own = most;
    return LSP_OK;
}
