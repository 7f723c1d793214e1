/* B = A + M. M holds the entries of A off the diagonal at their mirrored places; a general matrix has none. Rows of M
 * are put behind those of A, sorted in a stable way, and duplicates are summed. */
#include "matrices/bodies.h"

static lsp_status expand(lsp_ctx *ctx, const lsp_csr *A, lsp_symmetry symmetry, lsp_csr *B) {
    LSP_OWNED_CSR(ctx, T);
    LSP_OWNED_CSR(ctx, M);
    const lsp_part parts[] = {{.A = A}, {.A = &M}};
    if (symmetry != LSP_SYMMETRY_GENERAL) {
        LSP_TRY(lsp_csr_transpose(ctx, A, &T));
        LSP_TRY(LSP_KEEP(ctx, off_diagonal, &M, (lsp_keep){.args = &(keeping){.A = T}, .A = &T, .cols = A->cols}));
        if (symmetry != LSP_SYMMETRY_SYMMETRIC) {
            LSP_TRY(LSP_EACH(ctx, A->where, mirror_value,
                             (lsp_each_job){.args = &(valuing){.to = M.val, .symmetry = symmetry},
                                            .n = M.nnz,
                                            .kind = {.val = M.val_type}}));
        }
    }
    const lsp_csr_types stacked = lsp_types_like(A, A->cols, A->nnz + M.nnz);
    LSP_TRY(lsp_csr_join(ctx, parts, symmetry == LSP_SYMMETRY_GENERAL ? 1 : 2, A->rows, A->cols, &stacked, false, B));
    LSP_TRY(lsp_csr_sort_rows(ctx, B));
    LSP_TRY(lsp_csr_sum_duplicates(ctx, B, NULL));
    if (B->rowptr_type != A->rowptr_type && B->nnz <= INT32_MAX) {
        const lsp_csr_types types = lsp_types_of(A);
        LSP_TRY(lsp_csr_retype(ctx, &types, B));
    }
    return LSP_OK;
}

/* Integers narrower than LSP_I64 are expanded in that: sums and opposites must fit. */
static lsp_status expand_narrow(lsp_ctx *ctx, const lsp_csr *A, lsp_symmetry symmetry, lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    LSP_OWNED_CSR(ctx, made);
    lsp_csr wide;
    LSP_TRY(lsp_csr_widen(ctx, A, LSP_I64, &wide));
    LSP_TRY(lsp_csr_expand(ctx, &wide, symmetry, &made));
    LSP_TRY(lsp_csr_convert_integers(ctx, "the whole matrix", A->val_type, &made));
    return lsp_csr_put(ctx, B, &made, B == A);
}

lsp_status lsp_csr_expand(lsp_ctx *ctx, const lsp_csr *A, lsp_symmetry symmetry, lsp_csr *B) {
    LSP_OWNED_CSR(ctx, made);
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    LSP_REQUIRE(B, LSP_ERR_ARGUMENT, "the place for the whole matrix is NULL");
    LSP_REQUIRE((unsigned)symmetry <= LSP_SYMMETRY_HERMITIAN, LSP_ERR_ARGUMENT, "%d is no symmetry", (int)symmetry);
    LSP_REQUIRE(symmetry == LSP_SYMMETRY_GENERAL || A->rows == A->cols, LSP_ERR_ARGUMENT,
                "a matrix of %lld rows and %lld columns has no mirror image", (long long)A->rows, (long long)A->cols);
    if (lsp_wide_type(A->val_type) != A->val_type) {
        return expand_narrow(ctx, A, symmetry, B);
    }
    LSP_TRY(expand(ctx, A, symmetry, &made));
    return lsp_csr_put(ctx, B, &made, B == A);
}
