/* The result of C = op(A)*op(B) before it is allocated: its types, sizes and bytes. */
#include "core/semiring.h"
#include "matrices/matrices.h"
#include "spgemm.h"

lsp_type lsp_spgemm_result_type(const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options) {
    const lsp_type wider = lsp_common_type(A->val_type, B->val_type);
    const bool counts = lsp_semiring_counts(options->semiring);
    return options->types.drop_values            ? LSP_NONE
           : options->types.val_type != LSP_NONE ? options->types.val_type
           : wider == LSP_NONE && counts         ? LSP_F64
                                                 : wider;
}

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
    lsp_status status = LSP_OK;
    lsp_csr_types types = plan->options.types, fit;
    types.val_type = plan->type;
    LSP_TRY(lsp_csr_resolve(plan->ctx, plan->facts.cols, plan->info.nnz, LSP_NONE, &types, &fit));
    *C = (lsp_csr){.rows = plan->facts.rows,
                   .cols = plan->facts.cols,
                   .nnz = plan->info.nnz,
                   .rowptr_type = fit.rowptr_type,
                   .col_type = fit.col_type,
                   .val_type = fit.val_type,
                   .where = plan->where};
done:
    return status;
}
