/* B = A^T by a plan. The numbers of A's entries are transposed once, as if they were its values; then B's values are
 * gathered at these places. */
#include "matrices/bodies.h"

#include <stdio.h>

/* ---- what both plans need ---- */

lsp_status lsp_csr_check_planned(lsp_ctx *ctx, const char *name, const lsp_csr *planned, const lsp_csr *A) {
    LSP_TRY(lsp_csr_check_header(ctx, name, A));
    LSP_REQUIRE(A->where == planned->where, LSP_ERR_ARGUMENT, "%s lies %s, the plan was made for a matrix %s", name,
                A->where == LSP_CUDA ? "on the GPU" : "on the host",
                planned->where == LSP_CUDA ? "on the GPU" : "on the host");
    LSP_REQUIRE(A->rows == planned->rows && A->cols == planned->cols && A->nnz == planned->nnz, LSP_ERR_ARGUMENT,
                "%s is %lld x %lld with %lld entries; the plan was made for %lld x %lld with %lld", name,
                (long long)A->rows, (long long)A->cols, (long long)A->nnz, (long long)planned->rows,
                (long long)planned->cols, (long long)planned->nnz);
    LSP_REQUIRE(
        A->rowptr_type == planned->rowptr_type && A->col_type == planned->col_type && A->val_type == planned->val_type,
        LSP_ERR_ARGUMENT, "%s has types %s, %s and %s; the plan was made for %s, %s and %s", name,
        lsp_type_name(A->rowptr_type), lsp_type_name(A->col_type), lsp_type_name(A->val_type),
        lsp_type_name(planned->rowptr_type), lsp_type_name(planned->col_type), lsp_type_name(planned->val_type));
    return LSP_OK;
}

lsp_status lsp_csr_copy_structure(lsp_ctx *ctx, const lsp_csr *S, const lsp_csr *types, lsp_csr *C) {
    LSP_OWNED_CSR(ctx, made);
    const lsp_csr pattern = lsp_csr_pattern(S);
    LSP_TRY(lsp_csr_copy(ctx, &pattern,
                         &(lsp_csr_types){.rowptr_type = types->rowptr_type, .col_type = types->col_type}, &made));
    LSP_TRY(lsp_alloc(ctx, made.where, made.nnz, lsp_type_bytes(types->val_type), &made.val));
    made.val_type = types->val_type;
    return lsp_csr_put(ctx, C, &made, false);
}

lsp_status lsp_csr_tell_plan(const void *plan, int64_t nnz, const char *reason, lsp_csr_plan_info *info) {
    lsp_ctx *ctx = ((const lsp_plan *)plan)->ctx;
    LSP_REQUIRE(info != NULL, LSP_ERR_ARGUMENT, "the place for the plan's facts is NULL");
    *info = (lsp_csr_plan_info){.nnz = nnz, .plan_bytes = lsp_plan_bytes(plan)};
    (void)snprintf(info->reason, sizeof info->reason, "%s", reason);
    return LSP_OK;
}

/* ---- the plan ---- */

lsp_status lsp_csr_transpose_plan_as(lsp_ctx *ctx, const lsp_csr *A, bool wide, lsp_csr_transpose_plan **plan) {
    LSP_PLAN_MAKE(lsp_csr_transpose_plan, made, plan);
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    lsp_csr numbered = *A; /* unless A is a pattern, with the numbers of its entries for values */
    made->A = lsp_csr_outline(A);
    made->wide = wide || lsp_place_is_wide(A->nnz);
    if (A->val_type != LSP_NONE) {
        numbered.val_type = lsp_place_type(made->wide);
        LSP_TRY(lsp_scratch_at(ctx, A->where, A->nnz, lsp_place_bytes(made->wide), &numbered.val));
        LSP_TRY(lsp_count_up(ctx, A->where, numbered.val, made->wide ? LSP_I64 : LSP_I32, A->nnz));
    }
    LSP_TRY(lsp_csr_transpose_as(ctx, "A", &numbered, &made->B));
    return LSP_PLAN_GIVE(made, plan);
}

lsp_status lsp_csr_transpose_plan_create(lsp_ctx *ctx, const lsp_csr *A, lsp_csr_transpose_plan **plan) {
    return lsp_csr_transpose_plan_as(ctx, A, false, plan);
}

void lsp_csr_transpose_plan_destroy(lsp_csr_transpose_plan *plan) { lsp_plan_end(plan); }

lsp_status lsp_csr_transpose_plan_get_info(const lsp_csr_transpose_plan *plan, lsp_csr_plan_info *info) {
    LSP_PLAN_USE(plan);
    return lsp_csr_tell_plan(plan, plan->B.nnz,
                             plan->A.val_type == LSP_NONE
                                 ? "the structure of A^T: a pattern has no values to be moved"
                                 : "the structure of A^T, and the entry of A that each value comes from",
                             info);
}

/* ---- its use ---- */

static lsp_status fill(const lsp_csr_transpose_plan *plan, const lsp_csr *A, const lsp_csr *B) {
    const valuing a = {.from = A->val, .to = B->val, .places = plan->B.val, .wide = plan->wide};
    return A->val_type == LSP_NONE
               ? LSP_OK
               : LSP_EACH(plan->ctx, A->where, take_value,
                          (lsp_each_job){.args = &a, .n = A->nnz, .kind = {.index = A->col_type, .val = A->val_type}});
}

/* B as executions make it, without arrays. */
static lsp_csr result(const lsp_csr_transpose_plan *plan) {
    lsp_csr B = lsp_csr_outline(&plan->B);
    B.val_type = plan->A.val_type;
    return B;
}

lsp_status lsp_csr_transpose_execute(lsp_csr_transpose_plan *plan, const lsp_csr *A, lsp_csr *B) {
    LSP_PLAN_USE(plan);
    LSP_OWNED_CSR(ctx, made);
    const lsp_csr types = result(plan);
    LSP_TRY(lsp_csr_check_planned(ctx, "A", &plan->A, A));
    LSP_REQUIRE(B != NULL, LSP_ERR_ARGUMENT, "the place for the transpose is NULL");
    LSP_TRY(lsp_csr_copy_structure(ctx, &plan->B, &types, &made));
    LSP_TRY(fill(plan, A, &made));
    return lsp_csr_put(ctx, B, &made, B == A);
}

lsp_status lsp_csr_transpose_refill(lsp_csr_transpose_plan *plan, const lsp_csr *A, lsp_csr *B) {
    LSP_PLAN_USE(plan);
    const lsp_csr made = result(plan);
    LSP_TRY(lsp_csr_check_planned(ctx, "A", &plan->A, A));
    LSP_TRY(lsp_csr_check_planned(ctx, "B", &made, B));
    LSP_REQUIRE(B->val == NULL || B->val != A->val, LSP_ERR_ARGUMENT,
                "the values of B are those of A: they cannot be read and written at once");
    return fill(plan, A, B);
}
