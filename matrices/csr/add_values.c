/* The use of a plan of C = alpha*A + beta*B: C's values from the values of A and B. */
#include "addition.h"
#include "matrices/bodies.h"

enum {
    least_share = 1 << 15,
    bypass_from = 4 << 20 /* bytes; values of C of this size or more are stored past the cache */
};

/* Equal patterns on the host: vectors of one type. */
LSP_SHARE(sum_vectors, const addition, s, LSP_ISA_PICK(s->isa, lsp_add_values)(s, begin, end))

lsp_status lsp_csr_sum_values(lsp_ctx *ctx, const addition *u) {
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_csr *C = u->C;
    const lsp_type type = C->val_type;
    lsp_csr A, B;
    LSP_TRY(lsp_csr_widen(ctx, u->A, type, &A));
    LSP_TRY(lsp_csr_widen(ctx, u->B, type, &B));
    adding a = {.of = {{A.val, 0, u->alpha}, {B.val, 0, u->beta}}, .val = C->val};
    lsp_each_job job = {.args = &a, .n = type == LSP_NONE ? 0 : C->nnz, .kind = {.val = type}};
    if (u->from) {
        a.from = *u->from;
        a.of[1].first = u->from->nnz_a;
        job.kind.index = u->from->wide ? LSP_I64 : LSP_I32;
        return LSP_EACH(ctx, C->where, add_sources, job);
    }
    if (C->where == LSP_HOST && (type == LSP_F32 || type == LSP_F64)) {
        addition s = *u;
        s.A = &A, s.B = &B, s.isa = ctx->isa;
        s.bypass = C->nnz * (int64_t)lsp_type_bytes(type) >= bypass_from;
        lsp_for_shares(ctx, C->nnz, least_share, sum_vectors, &s);
        return LSP_OK;
    }
    return LSP_EACH(ctx, C->where, add_equal, job);
}

/* Integers are widened first, and their sum is narrowed, if it fits, to C's type. */
static lsp_status fill(lsp_ctx *ctx, const addition *u) {
    const lsp_type type = u->C->val_type;
    lsp_csr a, b, c = *u->C;
    LSP_TRY(lsp_csr_check_factors(ctx, type, u->alpha, u->beta));
    LSP_TRY(lsp_csr_widen_addends(ctx, type, u->A, u->B, &a, &b));
    c.val_type = lsp_wide_type(type);
    if (c.val_type != type) {
        LSP_TRY(lsp_scratch_at(ctx, c.where, c.nnz, sizeof(int64_t), &c.val));
    }
    addition wide = *u;
    wide.A = &a, wide.B = &b, wide.C = &c;
    LSP_TRY(lsp_csr_sum_values(ctx, &wide));
    if (c.val_type != type) {
        LSP_TRY(lsp_csr_check_fits(ctx, "the sum", &c, type));
        LSP_TRY(lsp_convert_values(ctx, c.where, type, u->C->val, LSP_I64, c.val, c.nnz));
    }
    return LSP_OK;
}

static lsp_status check_operands(lsp_csr_add_plan *plan, const lsp_csr *A, const lsp_csr *B) {
    LSP_TRY(lsp_csr_check_planned(plan->ctx, "A", &plan->A, A));
    return lsp_csr_check_planned(plan->ctx, "B", &plan->B, B);
}

static const lsp_csr_sources *sources_of(const lsp_csr_add_plan *plan) { return plan->equal ? NULL : &plan->from; }

lsp_status lsp_csr_add_execute(lsp_csr_add_plan *plan, double alpha, const lsp_csr *A, double beta, const lsp_csr *B,
                               lsp_csr *C) {
    LSP_PLAN_USE(plan);
    LSP_OWNED_CSR(ctx, made);
    LSP_TRY(check_operands(plan, A, B));
    LSP_REQUIRE(C != NULL, LSP_ERR_ARGUMENT, "the place for the sum is NULL");
    LSP_TRY(lsp_csr_copy_structure(ctx, plan->equal ? A : &plan->C, &plan->C, &made));
    LSP_TRY(fill(ctx, &(addition){.A = A, .B = B, .C = &made, .alpha = alpha, .beta = beta, .from = sources_of(plan)}));
    return lsp_csr_put(ctx, C, &made, C == A || C == B);
}

lsp_status lsp_csr_add_refill(lsp_csr_add_plan *plan, double alpha, const lsp_csr *A, double beta, const lsp_csr *B,
                              lsp_csr *C) {
    LSP_PLAN_USE(plan);
    LSP_TRY(check_operands(plan, A, B));
    LSP_TRY(lsp_csr_check_planned(ctx, "C", &plan->C, C));
    LSP_REQUIRE(plan->equal || C->val == NULL || (C->val != A->val && C->val != B->val), LSP_ERR_ARGUMENT,
                "the values of C are those of an addend: they cannot be read and written at once");
    return fill(ctx, &(addition){.A = A, .B = B, .C = C, .alpha = alpha, .beta = beta, .from = sources_of(plan)});
}
