/* C = alpha*A + beta*B. Here are the checks. Rows that ascend strictly are merged (add_strict.c; on a GPU gpu/add.cu),
 * other matrices are added as by a plan. */
#include "addition.h"
#include "matrices/gpu/gpu.h"

/* All but the columns on the host, which the sum itself reads. The header was checked. */
static lsp_status check_addend(lsp_ctx *ctx, const char *name, const lsp_csr *A) {
    return A->where == LSP_HOST ? lsp_csr_check_rows(ctx, name, A) : lsp_csr_check_valid(ctx, name, A);
}

static bool same_rowptr(const lsp_csr *A, const lsp_csr *B) {
    return A->where == LSP_HOST && A->rows == B->rows && A->nnz == B->nnz && A->rowptr_type == B->rowptr_type &&
           memcmp(A->rowptr, B->rowptr, (size_t)(A->rows + 1) * lsp_type_bytes(A->rowptr_type)) == 0;
}

/* Adds matrices on the host, if their rows ascend strictly. Otherwise they are checked. */
static lsp_status add_strict(lsp_ctx *ctx, const addition *s, const lsp_csr_types *types, bool *done) {
    lsp_csr a, b;
    addition widened = *s;
    widened.A = &a, widened.B = &b;
    LSP_TRY(lsp_csr_widen(ctx, s->A, types->val_type, &a));
    LSP_TRY(lsp_csr_widen(ctx, s->B, types->val_type, &b));
    LSP_TRY(lsp_csr_add_strict(ctx, &widened, types, done));
    LSP_TRY(*done ? LSP_OK : lsp_csr_check_valid(ctx, "A", s->A));
    return *done ? LSP_OK : lsp_csr_check_valid(ctx, "B", s->B);
}

lsp_status lsp_csr_add(lsp_ctx *ctx, double alpha, const lsp_csr *A, double beta, const lsp_csr *B, lsp_csr *C) {
    LSP_ENTER(ctx);
    LSP_OWNED_CSR(ctx, made);
    lsp_csr a, b;
    bool done = false;
    LSP_REQUIRE(C != NULL, LSP_ERR_ARGUMENT, "the place for the sum is NULL");
    LSP_TRY(lsp_csr_check_addends(ctx, A, B));
    LSP_TRY(A->where == LSP_CUDA ? lsp_csr_check_device(ctx, "A") : LSP_OK);
    const lsp_type type = lsp_common_type(A->val_type, B->val_type);
    LSP_TRY(lsp_csr_check_factors(ctx, type, alpha, beta));
    LSP_TRY(lsp_csr_widen_addends(ctx, type, A, B, &a, &b));
    /* both have integers, of LSP_I64, or neither has */
    addition s = {.A = &a, .B = &b, .C = &made, .alpha = alpha, .beta = beta, .isa = ctx->isa};
    const lsp_csr_types types = {.val_type = lsp_common_type(a.val_type, b.val_type)};
    LSP_TRY(check_addend(ctx, "A", &a));
    s.equal_rowptr = same_rowptr(&a, &b);
    LSP_TRY(s.equal_rowptr ? LSP_OK : check_addend(ctx, "B", &b));
    LSP_TRY(a.where == LSP_CUDA ? lsp_matrices_on_gpu.csr_add(ctx, alpha, &a, beta, &b, &made, &done)
                                : add_strict(ctx, &s, &types, &done));
    LSP_TRY(done ? LSP_OK : lsp_csr_add_stacked(ctx, &s));
    LSP_TRY(lsp_is_integer(type) ? lsp_csr_convert_integers(ctx, "the sum", type, &made) : LSP_OK);
    return lsp_csr_put(ctx, C, &made, C == A || C == B);
}
