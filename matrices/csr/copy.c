/* B = A in other types or another place, array by array: each is converted where it lies, then moved, so that only the
 * result crosses to the other place. */
#include "core/cuda.h"
#include "core/items.h"
#include "matrices/matrices.h"

typedef struct array { /* n items of one type in one place */
    void *items;
    lsp_type type;
    lsp_where where;
    bool values; /* not indices */
} array;

/* Both arrays lie in one place. Indices of a GPU, whose matrix is not checked, must fit their new type. */
static lsp_status convert(lsp_ctx *ctx, array to, array from, int64_t n) {
    return to.values || to.where == LSP_HOST
               ? lsp_convert_values(ctx, to.where, to.type, to.items, from.type, from.items, n)
               : lsp_cuda_convert(ctx, to.items, to.type, from.items, from.type, n);
}

static lsp_status copy_array(lsp_ctx *ctx, array to, array from, int64_t n) {
    LSP_SCRATCH_SCOPE(ctx);
    int64_t bytes = n * (int64_t)lsp_type_bytes(to.type);
    if (bytes == 0) {
        return LSP_OK;
    }
    if (to.where != from.where && to.type != from.type) {
        array near = {.type = to.type, .where = from.where, .values = to.values};
        LSP_TRY(lsp_scratch_at(ctx, near.where, bytes, 1, &near.items));
        LSP_TRY(convert(ctx, near, from, n));
        from = near;
    }
    return to.where == from.where ? convert(ctx, to, from, n)
                                  : lsp_cuda_copy(ctx, to.items, to.where, from.items, from.where, bytes);
}

lsp_status lsp_csr_retype(lsp_ctx *ctx, const lsp_csr_types *types, lsp_csr *A) {
    lsp_csr_types fit;
    LSP_TRY(lsp_csr_resolve(ctx, A->cols, A->nnz, A->val_type, types, &fit));
    return lsp_where_of(fit.place, A->where) == A->where && fit.rowptr_type == A->rowptr_type &&
                   fit.col_type == A->col_type && fit.val_type == A->val_type
               ? LSP_OK
               : lsp_csr_copy(ctx, A, &fit, A);
}

/* Can the values of A become values of `type`? */
static lsp_status check_values(lsp_ctx *ctx, const lsp_csr *A, lsp_type type) {
    const lsp_type from = A->val_type;
    if (type == from || type == LSP_NONE || from == LSP_NONE) {
        return LSP_OK;
    }
    LSP_REQUIRE(type != LSP_C64 && from != LSP_C64, LSP_ERR_UNSUPPORTED,
                "real values do not become complex, nor complex values real");
    LSP_REQUIRE(!lsp_is_integer(type) || lsp_is_integer(from), LSP_ERR_UNSUPPORTED,
                "values of type %s do not become integers of type %s", lsp_type_name(from), lsp_type_name(type));
    return from == LSP_I64 ? lsp_csr_check_fits(ctx, "A", A, type) : LSP_OK;
}

lsp_status lsp_csr_copy_checked(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr_types *types, lsp_csr *B) {
    LSP_OWNED_CSR(ctx, made);
    LSP_TRY(lsp_csr_create(ctx, A->rows, A->cols, A->nnz, types, &made));
    LSP_TRY(copy_array(ctx, (array){made.rowptr, made.rowptr_type, made.where, false},
                       (array){A->rowptr, A->rowptr_type, A->where, false}, A->rows + 1));
    LSP_TRY(copy_array(ctx, (array){made.col, made.col_type, made.where, false},
                       (array){A->col, A->col_type, A->where, false}, A->nnz));
    LSP_TRY(copy_array(ctx, (array){made.val, made.val_type, made.where, true},
                       (array){A->val, A->val_type, A->where, true}, A->nnz));
    return lsp_csr_put(ctx, B, &made, B == A);
}

lsp_status lsp_csr_copy(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr_types *types, lsp_csr *B) {
    lsp_csr_types fit;
    LSP_TRY(lsp_csr_check_header(ctx, "A", A));
    LSP_REQUIRE(B, LSP_ERR_ARGUMENT, "the place for the copy is NULL");
    LSP_TRY(A->where == LSP_HOST ? lsp_csr_check_valid(ctx, "A", A) : lsp_csr_check_device(ctx, "A"));
    LSP_TRY(lsp_csr_resolve(ctx, A->cols, A->nnz, A->val_type, types, &fit));
    fit.place = lsp_place_of(lsp_where_of(fit.place, A->where));
    LSP_TRY(check_values(ctx, A, fit.val_type));
    return lsp_csr_copy_checked(ctx, A, &fit, B);
}
