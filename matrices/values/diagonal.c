/* The diagonal of a matrix, and the matrix of a diagonal. */
#include "matrices/bodies.h"
#include "matrices/gpu/gpu.h"

/* ---- of a matrix ---- */

typedef struct diagonal_of {
    const lsp_csr *A;
    void *diagonal;
} diagonal_of;

LSP_INLINE void take_rows(lsp_type type, lsp_type col_type, const diagonal_of *d, int64_t begin, int64_t end) {
    const lsp_type result = type == LSP_NONE ? LSP_F64 : type;
    for (int64_t i = begin; i < lsp_min(end, d->A->cols); i++) {
        double sum[2] = {0, 0};
        uint64_t whole = 0;
        bool first = true;
        for (int64_t k = lsp_csr_rowptr(d->A, i); k < lsp_csr_rowptr(d->A, i + 1); k++) {
            if (lsp_index_at(d->A->col, col_type, k) == i) {
                const lsp_value value = lsp_value_of(type, d->A->val, k);
                lsp_add_number(result, first, sum, (const double[]){value.re, value.im});
                whole += (uint64_t)value.whole;
                first = false;
            }
        }
        lsp_value_set(result, d->diagonal, i, (lsp_value){sum[0], sum[1], (int64_t)whole});
    }
}
LSP_SHARE(take_share, const diagonal_of, d, LSP_WITH_BOTH(d->A->val_type, d->A->col_type, take_rows, d, begin, end))

/* Fills a diagonal matrix that was created; `diagonal` NULL: ones. */
static lsp_status lay(lsp_ctx *ctx, const void *diagonal, const lsp_csr *B) {
    return LSP_EACH(ctx, B->where, lay_diagonal,
                    (lsp_each_job){.args = &(laying){.B = *B, .diagonal = diagonal},
                                   .n = B->nnz,
                                   .kind = {.index = B->col_type, .val = B->val_type}});
}

static lsp_status take_diagonal(lsp_ctx *ctx, const lsp_csr *A, const unsigned *gate, void *diagonal) {
    if (A->where == LSP_CUDA) {
        return lsp_matrices_on_gpu.csr_diagonal(ctx, A, gate, diagonal);
    }
    lsp_csr_for_rows(ctx, A, take_share, &(diagonal_of){.A = A, .diagonal = diagonal});
    return LSP_OK;
}

/* Integers narrower than LSP_I64 are summed in that: a diagonal matrix tells which sum does not fit. */
static lsp_status take_narrow(lsp_ctx *ctx, const lsp_csr *A, void *diagonal) {
    LSP_SCRATCH_SCOPE(ctx);
    const int64_t n = lsp_min(A->rows, A->cols);
    LSP_OWNED_CSR(ctx, D);
    lsp_csr wide;
    LSP_TRY(lsp_csr_widen(ctx, A, LSP_I64, &wide));
    LSP_TRY(lsp_csr_create(ctx, n, n, n, &(lsp_csr_types){.val_type = LSP_I64, .place = lsp_place_of(A->where)}, &D));
    LSP_TRY(lay(ctx, NULL, &D));
    LSP_TRY(take_diagonal(ctx, &wide, NULL, D.val));
    LSP_TRY(lsp_csr_check_fits(ctx, "the diagonal", &D, A->val_type));
    return lsp_convert_values(ctx, A->where, A->val_type, diagonal, LSP_I64, D.val, n);
}

lsp_status lsp_csr_diagonal(lsp_ctx *ctx, const lsp_csr *A, void *diagonal) {
    LSP_ENTER(ctx);
    const unsigned *gate;
    LSP_TRY(lsp_csr_check_header(ctx, "A", A));
    const lsp_type type = A->val_type == LSP_NONE ? LSP_F64 : A->val_type;
    LSP_REQUIRE(diagonal != NULL || A->rows == 0 || A->cols == 0, LSP_ERR_ARGUMENT,
                "the place for the diagonal is NULL");
    LSP_REQUIRE(lsp_aligned(diagonal, type), LSP_ERR_ARGUMENT, "the place for the diagonal is not aligned to its type");
    LSP_TRY(lsp_csr_check_apart(ctx, A, "diagonal", diagonal, lsp_min(A->rows, A->cols), lsp_type_bytes(type)));
    if (lsp_wide_type(A->val_type) != A->val_type) {
        LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
        LSP_TRY(take_narrow(ctx, A, diagonal));
    } else {
        LSP_TRY(lsp_csr_check_begin(ctx, "A", A, &gate));
        LSP_TRY(take_diagonal(ctx, A, gate, diagonal));
        LSP_TRY(lsp_csr_check_end(ctx, "A", A));
    }
    return LSP_OK;
}

/* ---- to a matrix ---- */

lsp_status lsp_csr_from_diagonal(lsp_ctx *ctx, int64_t n, const void *diagonal, lsp_type val_type, lsp_where where,
                                 lsp_csr *B) {
    LSP_OWNED_CSR(ctx, made);
    LSP_REQUIRE(ctx != NULL && B != NULL, LSP_ERR_ARGUMENT, "the place for the matrix is NULL");
    LSP_REQUIRE(where == LSP_HOST || where == LSP_CUDA, LSP_ERR_ARGUMENT, "there is no place %d for a matrix",
                (int)where);
    LSP_REQUIRE(n >= 0, LSP_ERR_ARGUMENT, "a diagonal of %lld numbers", (long long)n);
    LSP_REQUIRE(lsp_is_value(val_type), LSP_ERR_ARGUMENT,
                "a diagonal of type %s: one of " LSP_VALUE_TYPE_NAMES " is needed", lsp_type_name(val_type));
    LSP_REQUIRE(diagonal == NULL || val_type != LSP_NONE, LSP_ERR_ARGUMENT, "a pattern takes no diagonal of values");
    LSP_REQUIRE(lsp_aligned(diagonal, val_type), LSP_ERR_ARGUMENT, "the diagonal is not aligned to its type, %s",
                lsp_type_name(val_type));
    LSP_TRY(lsp_csr_create(ctx, n, n, n, &(lsp_csr_types){.val_type = val_type, .place = lsp_place_of(where)}, &made));
    LSP_TRY(lay(ctx, diagonal, &made));
    return lsp_csr_put(ctx, B, &made, false);
}
