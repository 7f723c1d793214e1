/* Checks that a matrix has the symmetry that its file will declare: compares it with its transpose, entry by entry. */
#include "matrices/csr/facts.h"
#include "write.h"

static bool mirrors(lsp_symmetry symmetry, bool integers, lsp_value a, lsp_value b) {
    if (integers) {
        return symmetry == LSP_SYMMETRY_SKEW ? (uint64_t)a.whole + (uint64_t)b.whole == 0 : a.whole == b.whole;
    }
    double re = symmetry == LSP_SYMMETRY_SKEW ? -b.re : b.re, im = symmetry == LSP_SYMMETRY_SYMMETRIC ? b.im : -b.im;
    return lsp_same_number(a.re, re) && lsp_same_number(a.im, im);
}

/* Compares S, with sorted rows, and its transpose T; refuses the first entry without a mirror. */
static lsp_status compare_mirrors(lsp_ctx *ctx, const lsp_csr *S, const lsp_csr *T, lsp_symmetry symmetry) {
    static const char *const names[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
    for (int64_t i = 0; i < S->rows; i++) {
        int64_t s = lsp_csr_rowptr(S, i), s_end = lsp_csr_rowptr(S, i + 1);
        int64_t t = lsp_csr_rowptr(T, i), t_end = lsp_csr_rowptr(T, i + 1);
        for (; s < s_end || t < t_end; s++, t++) {
            int64_t a = s < s_end ? lsp_csr_col(S, s) : INT64_MAX, b = t < t_end ? lsp_csr_col(T, t) : INT64_MAX;
            LSP_REQUIRE(a == b, LSP_ERR_ARGUMENT,
                        "the matrix is not %s: the entry at row %lld, column %lld has no mirror", names[symmetry],
                        (long long)(a < b ? i : b) + 1, (long long)(a < b ? a : i) + 1);
            LSP_REQUIRE(S->val_type == LSP_NONE ||
                            mirrors(symmetry, lsp_is_integer(S->val_type), lsp_value_at(S, s), lsp_value_at(T, t)),
                        LSP_ERR_ARGUMENT, "the matrix is not %s: the entry at row %lld, column %lld disagrees with %s",
                        names[symmetry], (long long)i + 1, (long long)a + 1, a == i ? "itself" : "its mirror");
        }
    }
    return LSP_OK;
}

lsp_status lsp_mtx_check_symmetry(lsp_ctx *ctx, lsp_mtx_writing *work) {
    const lsp_csr *A = work->A, *sorted = A;
    LSP_OWNED_CSR(ctx, S);
    LSP_OWNED_CSR(ctx, T);
    LSP_REQUIRE(A->rows == A->cols, LSP_ERR_ARGUMENT, "a matrix of %lld rows and %lld columns is not symmetric",
                (long long)A->rows, (long long)A->cols);
    LSP_REQUIRE(work->symmetry != LSP_SYMMETRY_SKEW || A->val_type != LSP_NONE, LSP_ERR_ARGUMENT,
                "a pattern cannot be skew-symmetric");
    LSP_REQUIRE(work->symmetry != LSP_SYMMETRY_HERMITIAN || A->val_type == LSP_C64, LSP_ERR_ARGUMENT,
                "only a complex matrix can be written as hermitian");
    LSP_TRY(lsp_csr_order(ctx, &sorted, false, A->val_type, &S));
    LSP_TRY(lsp_csr_transpose(ctx, A, &T));
    LSP_TRY(compare_mirrors(ctx, sorted, &T, work->symmetry));
    work->entries = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t k = lsp_csr_rowptr(A, i); k < lsp_csr_rowptr(A, i + 1); k++) {
            work->entries += lsp_csr_col(A, k) <= i;
        }
    }
    return LSP_OK;
}
