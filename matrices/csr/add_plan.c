/* C = alpha*A + beta*B by a plan. Equal patterns whose rows ascend strictly need no plan: entry k is the sum of entries
 * k. Else the numbers of the entries of A and B are stacked row by row and sorted by column: entry c of C is the sum of
 * a run of this list. lsp_csr_add does the same on a GPU for rows that do not ascend strictly. */
#include "addition.h"
#include "matrices/bodies.h"

/* ---- the structure ---- */

/* C = the columns of P at heads[]. Row i has counts[i] of them; heads[] holds them from the begin of P's row i on. Both
 * arrays have the type of P's row pointers. *starts[c] = the head of entry c, and the end of P; NULL: not wanted. */
static lsp_status take_heads(lsp_ctx *ctx, const lsp_csr *P, const void *heads, const void *counts, bool wide,
                             void **starts, lsp_csr *C) {
    LSP_SCRATCH_SCOPE(ctx);
    summing s = {.P = *P, .heads = heads, .wide = wide};
    indexing sizes = {.from = counts};
    LSP_TRY(lsp_scratch_at(ctx, P->where, P->rows + 1, sizeof(int64_t), &sizes.to));
    LSP_TRY(LSP_EACH(ctx, P->where, size_behind,
                     (lsp_each_job){.args = &sizes, .n = P->rows + 1, .kind = {.index = P->rowptr_type}}));
    LSP_TRY(lsp_csr_make_rows(ctx, P->where, P->rows, P->cols, sizes.to, -1, &(lsp_csr_types){.drop_values = true}, C));
    if (starts) {
        LSP_TRY(lsp_alloc(ctx, P->where, C->nnz + 1, lsp_place_bytes(wide), starts));
        s.starts = *starts;
    }
    s.C = *C;
    return LSP_EACH_ENTRY(ctx, take_head, (lsp_entry_job){.args = &s, .A = C});
}

/* Makes the plan's structure and sources. */
static lsp_status merge(lsp_csr_add_plan *plan, const lsp_csr *A, const lsp_csr *B) {
    lsp_ctx *ctx = plan->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    const bool valued = plan->C.val_type != LSP_NONE;
    const lsp_type val_type = plan->C.val_type;
    const lsp_part parts[] = {{.A = A}, {.A = B, .number = A->nnz}};
    LSP_OWNED_CSR(ctx, P);
    void *heads, *counts;
    plan->C.nnz = 0;
    LSP_TRY(lsp_csr_join(ctx, parts, 2, A->rows, A->cols, &(lsp_csr_types){.val_type = lsp_place_type(plan->from.wide)},
                         true, &P));
    const size_t bytes = lsp_type_bytes(P.rowptr_type);
    LSP_TRY(lsp_scratch_at(ctx, A->where, P.nnz, bytes, &heads));
    LSP_TRY(lsp_scratch_at(ctx, A->where, P.rows, bytes, &counts));
    LSP_TRY(lsp_csr_sort_runs(ctx, &P, heads, counts));
    LSP_TRY(take_heads(ctx, &P, heads, counts, plan->from.wide, valued ? &plan->from.starts : NULL, &plan->C));
    plan->C.val_type = val_type;
    if (valued) {
        plan->from.sources = P.val;
        P.val = NULL;
    }
    return LSP_OK;
}

static void free_parts(lsp_csr_add_plan *plan) {
    lsp_csr_free(plan->ctx, &plan->C);
    lsp_free(plan->ctx, plan->from.starts);
    lsp_free(plan->ctx, plan->from.sources);
}

lsp_status lsp_csr_add_stacked(lsp_ctx *ctx, const addition *s) {
    lsp_csr_add_plan once LSP_AT_END(free_parts) = {.ctx = ctx, .C = lsp_csr_outline(s->A)};
    lsp_csr *C = &once.C;
    C->val_type = lsp_common_type(s->A->val_type, s->B->val_type);
    once.from.nnz_a = s->A->nnz;
    once.from.wide = lsp_place_is_wide(s->A->nnz + s->B->nnz);
    LSP_TRY(merge(&once, s->A, s->B));
    LSP_TRY(lsp_alloc(ctx, C->where, C->nnz, lsp_type_bytes(C->val_type), &C->val));
    addition sum = *s;
    sum.C = C, sum.from = &once.from;
    LSP_TRY(lsp_csr_sum_values(ctx, &sum));
    return lsp_csr_put(ctx, s->C, C, false);
}

/* ---- the plan ---- */

/* Have A and B one pattern, whose rows ascend strictly? */
static lsp_status find_equal(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, bool *equal) {
    const lsp_csr a = lsp_csr_pattern(A), b = lsp_csr_pattern(B);
    lsp_csr_difference d;
    int64_t row = -1;
    *equal = false;
    LSP_TRY(A->nnz == B->nnz ? lsp_csr_find_unsorted(ctx, A, true, &row) : LSP_OK);
    if (row == A->rows) {
        LSP_TRY(lsp_csr_compare(ctx, &a, &b, &d));
        *equal = d.same_pattern;
    }
    return LSP_OK;
}

lsp_status lsp_csr_add_plan_as(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, bool wide, lsp_csr_add_plan **plan) {
    LSP_PLAN_MAKE(lsp_csr_add_plan, made, plan);
    lsp_csr_types fit;
    LSP_TRY(lsp_csr_check_addends(ctx, A, B));
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    LSP_TRY(lsp_csr_check_valid(ctx, "B", B));
    LSP_TRY(lsp_csr_resolve(ctx, A->cols, A->nnz, LSP_NONE, NULL, &fit));
    made->A = lsp_csr_outline(A);
    made->B = lsp_csr_outline(B);
    made->C = lsp_csr_outline(A);
    made->C.rowptr_type = fit.rowptr_type;
    made->C.col_type = fit.col_type;
    made->C.val_type = lsp_common_type(A->val_type, B->val_type);
    LSP_TRY(find_equal(ctx, A, B, &made->equal));
    if (!made->equal) {
        made->from.nnz_a = A->nnz;
        made->from.wide = wide || lsp_place_is_wide(A->nnz + B->nnz);
        LSP_TRY(merge(made, A, B));
    }
    return LSP_PLAN_GIVE(made, plan);
}

lsp_status lsp_csr_add_plan_create(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_csr_add_plan **plan) {
    return lsp_csr_add_plan_as(ctx, A, B, false, plan);
}

lsp_status lsp_csr_add_plan_get_info(const lsp_csr_add_plan *plan, lsp_csr_plan_info *info) {
    LSP_PLAN_USE(plan);
    return lsp_csr_tell_plan(plan, plan->C.nnz,
                             plan->equal          ? "nothing: A and B have one pattern, whose rows ascend strictly"
                             : plan->from.sources ? "the structure of C, and the entries that each value is the sum of"
                                                  : "the structure of C: patterns have no values to be added",
                             info);
}

void lsp_csr_add_plan_destroy(lsp_csr_add_plan *plan) { lsp_plan_end(plan); }
