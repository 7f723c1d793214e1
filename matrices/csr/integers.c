/* Integer values: sums and products are made in LSP_I64, and turned into narrower types at the end. So a matrix is
 * widened, the operation runs in 64 bits, and its result is narrowed if every value fits. */
#include "addition.h"
#include "matrices/bodies.h"

lsp_status lsp_csr_widen(lsp_ctx *ctx, const lsp_csr *A, lsp_type type, lsp_csr *view) {
    void *val;
    *view = *A;
    if (A->val_type != type) {
        LSP_TRY(lsp_scratch_at(ctx, A->where, A->nnz, lsp_type_bytes(type), &val));
        LSP_TRY(lsp_convert_values(ctx, A->where, type, val, A->val_type, A->val, A->nnz));
        view->val = val;
        view->val_type = type;
    }
    return LSP_OK;
}

/* ---- what fits ---- */

lsp_status lsp_csr_check_fits(lsp_ctx *ctx, const char *name, const lsp_csr *A, lsp_type type) {
    lsp_csr_spot spot;
    int64_t k;
    if (type != LSP_I32) {
        return LSP_OK;
    }
    LSP_TRY(LSP_EACH_FIRST(ctx, A->where, too_wide, &k,
                           (lsp_each_job){.args = &(valuing){.from = A->val},
                                          .n = A->nnz,
                                          .kind = {.index = A->col_type, .val = LSP_I64}}));
    if (k < A->nnz) {
        LSP_TRY(lsp_csr_spot_of(ctx, A, k, &spot));
        LSP_REQUIRE(false, LSP_ERR_OVERFLOW,
                    "%s, row %lld: the value at column %lld is %lld, which does not fit LSP_I32; LSP_I64 holds it",
                    name, (long long)spot.row, (long long)spot.col, (long long)spot.whole);
    }
    return LSP_OK;
}

lsp_status lsp_csr_convert_integers(lsp_ctx *ctx, const char *name, lsp_type type, lsp_csr *A) {
    void *val;
    if (A->val_type == type) {
        return LSP_OK;
    }
    LSP_TRY(lsp_csr_check_fits(ctx, name, A, type));
    LSP_TRY(lsp_alloc(ctx, A->where, A->nnz, lsp_type_bytes(type), &val));
    const lsp_status status = lsp_convert_values(ctx, A->where, type, val, A->val_type, A->val, A->nnz);
    lsp_free(ctx, status == LSP_OK ? A->val : val);
    LSP_TRY(status);
    A->val = val;
    A->val_type = type;
    return LSP_OK;
}

/* ---- sums ---- */

lsp_status lsp_csr_check_factors(lsp_ctx *ctx, lsp_type type, double alpha, double beta) {
    const double factors[] = {alpha, beta};
    for (int x = 0; x < 2 && lsp_is_integer(type); x++) {
        LSP_REQUIRE(lsp_is_whole(factors[x]), LSP_ERR_ARGUMENT,
                    "integers cannot be multiplied by %s = %.17g: a whole number below 2^63 is needed",
                    x == 0 ? "alpha" : "beta", factors[x]);
    }
    return LSP_OK;
}

lsp_status lsp_csr_widen_addends(lsp_ctx *ctx, lsp_type type, const lsp_csr *A, const lsp_csr *B, lsp_csr *a,
                                 lsp_csr *b) {
    const lsp_type wide = type == LSP_C64 ? LSP_F64 : lsp_wide_type(type);
    *a = *A, *b = *B;
    LSP_TRY(lsp_is_integer(A->val_type) || wide == LSP_I64 ? lsp_csr_widen(ctx, A, wide, a) : LSP_OK);
    return lsp_is_integer(B->val_type) || wide == LSP_I64 ? lsp_csr_widen(ctx, B, wide, b) : LSP_OK;
}
