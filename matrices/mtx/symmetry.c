/* Checks that a matrix has the symmetry that its file will declare: compares it with its transpose, entry by entry. */
#include "matrices/csr/facts.h"
#include "write.h"

static bool mirrors(lsp_symmetry symmetry, lsp_type type, lsp_value a, lsp_value b) {
    const unsigned lost = lsp_is_integer(type) ? lsp_lost_whole((uint64_t)a.whole, (uint64_t)b.whole)
                                               : lsp_lost_number(a.re, a.im, b.re, b.im);
    return (lost >> symmetry & 1) == 0; /* LSP_LOST_SYMMETRIC is bit LSP_SYMMETRY_SYMMETRIC, and so on */
}

/* Compares S, with sorted rows, and its transpose T; refuses the first entry without a mirror. Counts the entries at
 * and below the diagonal. */
static lsp_status compare_mirrors(lsp_ctx *ctx, const lsp_csr *S, const lsp_csr *T, lsp_symmetry symmetry,
                                  int64_t *entries) {
    static const char *const names[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
    *entries = 0;
    for (int64_t i = 0; i < S->rows; i++) {
        int64_t s = lsp_csr_rowptr(S, i), s_end = lsp_csr_rowptr(S, i + 1);
        int64_t t = lsp_csr_rowptr(T, i), t_end = lsp_csr_rowptr(T, i + 1);
        for (; s < s_end || t < t_end; s++, t++) {
            int64_t a = s < s_end ? lsp_csr_col(S, s) : INT64_MAX, b = t < t_end ? lsp_csr_col(T, t) : INT64_MAX;
            LSP_REQUIRE(a == b, LSP_ERR_ARGUMENT,
                        "the matrix is not %s: the entry at row %lld, column %lld has no mirror", names[symmetry],
                        (long long)(a < b ? i : b) + 1, (long long)(a < b ? a : i) + 1);
            LSP_REQUIRE(S->val_type == LSP_NONE ||
                            mirrors(symmetry, S->val_type, lsp_value_at(S, s), lsp_value_at(T, t)),
                        LSP_ERR_ARGUMENT, "the matrix is not %s: the entry at row %lld, column %lld disagrees with %s",
                        names[symmetry], (long long)i + 1, (long long)a + 1, a == i ? "itself" : "its mirror");
            *entries += a <= i;
        }
    }
    return LSP_OK;
}

lsp_status lsp_mtx_check_symmetry(lsp_ctx *ctx, const lsp_csr *A, lsp_symmetry symmetry, int64_t *entries) {
    const lsp_csr *sorted = A;
    LSP_OWNED_CSR(ctx, S);
    LSP_OWNED_CSR(ctx, T);
    LSP_REQUIRE(A->rows == A->cols, LSP_ERR_ARGUMENT, "a matrix of %lld rows and %lld columns is not symmetric",
                (long long)A->rows, (long long)A->cols);
    LSP_REQUIRE(symmetry != LSP_SYMMETRY_SKEW || A->val_type != LSP_NONE, LSP_ERR_ARGUMENT,
                "a pattern cannot be skew-symmetric");
    LSP_REQUIRE(symmetry != LSP_SYMMETRY_HERMITIAN || A->val_type == LSP_C64, LSP_ERR_ARGUMENT,
                "only a complex matrix can be written as hermitian");
    LSP_TRY(lsp_csr_order(ctx, &sorted, false, A->val_type, &S));
    LSP_TRY(lsp_csr_transpose(ctx, A, &T));
    return compare_mirrors(ctx, sorted, &T, symmetry, entries);
}
