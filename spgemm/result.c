/* The result of C = op(A)*op(B) before it is allocated: its types, sizes and bytes; and how large a factor kernels
 * take.
 */
#include "job.h"

int64_t lsp_spgemm_matrix_bytes(int64_t rows, int64_t cols, int64_t nnz, const lsp_csr_types *types,
                                lsp_type val_type) {
    bool wide_rowptr = types->rowptr_type == LSP_NONE ? nnz > INT32_MAX : types->rowptr_type == LSP_I64;
    bool wide_col = types->col_type == LSP_NONE ? cols > (int64_t)INT32_MAX + 1 : types->col_type == LSP_I64;
    int64_t pointers, entries, bytes;
    bool fits = lsp_add(rows, 1, &pointers) && lsp_mul(pointers, wide_rowptr ? 8 : 4, &pointers) &&
                lsp_mul(nnz, (wide_col ? 8 : 4) + (int64_t)lsp_type_bytes(val_type), &entries) &&
                lsp_add(pointers, entries, &bytes);
    return fits ? bytes : INT64_MAX;
}

int64_t lsp_spgemm_result_bytes(const lsp_spgemm_plan *plan) {
    const int64_t nnz = plan->info.nnz;
    int64_t rounded = plan->type == plan->val_type ? 0 : (int64_t)lsp_type_bytes(plan->val_type), bytes;
    bytes = lsp_spgemm_matrix_bytes(plan->facts.rows, plan->facts.cols, nnz, &plan->options.types, plan->type);
    return lsp_mul(nnz, rounded, &rounded) && lsp_add(bytes, rounded, &bytes) ? bytes : INT64_MAX;
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

/* ---- limits: tests lower them, so that small factors are cut too ---- */

int64_t lsp_spgemm_most(const lsp_ctx *ctx) {
    const int64_t *own = ctx->tables[LSP_TABLE_SPGEMM];
    return own != NULL ? *own : INT32_MAX;
}

lsp_status lsp_spgemm_set_most(lsp_ctx *ctx, int64_t most) {
    void **own = &ctx->tables[LSP_TABLE_SPGEMM];
    LSP_REQUIRE(most >= 2 && most <= INT32_MAX, LSP_ERR_ARGUMENT, "factors of %lld entries: 2 to %d are offered",
                (long long)most, INT32_MAX);
    if (*own == NULL) {
        LSP_TRY(lsp_alloc(ctx, LSP_HOST, 1, sizeof most, own));
    }
    *(int64_t *)*own = most;
    return LSP_OK;
}
