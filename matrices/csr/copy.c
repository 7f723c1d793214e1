/* B = A in other types or another place, array by array: each is converted where it lies, then moved, so that only the
 * result crosses to the other place. */
#include "core/cuda.h"
#include "core/items.h"
#include "matrices/matrices.h"

enum { least_share = 1 << 15 };

/* to[i] = from[i] for begin <= i < end. */
LSP_INLINE void convert_index(lsp_type to_type, void *to, lsp_type from_type, const void *from, int64_t begin,
                              int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        lsp_index_set(to, to_type, i, lsp_index_at(from, from_type, i));
    }
}
static void convert_share(void *to, lsp_type to_type, const void *from, lsp_type from_type, int64_t begin,
                          int64_t end) {
    size_t bytes = lsp_type_bytes(to_type);
    if (to_type == from_type) {
        memcpy((char *)to + (size_t)begin * bytes, (const char *)from + (size_t)begin * bytes,
               (size_t)(end - begin) * bytes);
    } else if (to_type == LSP_I32) {
        convert_index(LSP_I32, to, LSP_I64, from, begin, end);
    } else {
        convert_index(LSP_I64, to, LSP_I32, from, begin, end);
    }
}

typedef struct array { /* n items of one type in one place */
    void *items;
    lsp_type type;
    lsp_where where;
    bool values; /* not indices */
} array;

typedef struct conversion {
    array to, from;
} conversion;

static void convert_items(void *data, int64_t begin, int64_t end) {
    const conversion *c = data;
    if (begin < end) {
        convert_share(c->to.items, c->to.type, c->from.items, c->from.type, begin, end);
    }
}

/* Both arrays lie in one place. */
static lsp_status convert(lsp_ctx *ctx, array to, array from, int64_t n) {
    if (to.values && to.type != from.type) {
        return lsp_convert_values(ctx, to.where, to.type, to.items, from.type, from.items, n);
    }
    if (to.where == LSP_HOST) {
        lsp_for_shares(ctx, n, least_share, convert_items, &(conversion){.to = to, .from = from});
        return LSP_OK;
    }
    if (to.type == from.type) {
        return lsp_cuda_copy(ctx, to.items, to.where, from.items, from.where, n * (int64_t)lsp_type_bytes(to.type));
    }
    return lsp_cuda_convert(ctx, to.items, to.type, from.items, from.type, n);
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
    if (to.where == from.where) {
        LSP_TRY(convert(ctx, to, from, n));
    } else {
        LSP_TRY(lsp_cuda_copy(ctx, to.items, to.where, from.items, from.where, bytes));
    }
    return LSP_OK;
}

lsp_status lsp_csr_retype(lsp_ctx *ctx, const lsp_csr_types *types, lsp_csr *A) {
    lsp_csr_types fit;
    lsp_csr made;
    LSP_TRY(lsp_csr_resolve(ctx, A->cols, A->nnz, A->val_type, types, &fit));
    if (lsp_where_of(fit.place, A->where) != A->where || fit.rowptr_type != A->rowptr_type ||
        fit.col_type != A->col_type || fit.val_type != A->val_type) {
        LSP_TRY(lsp_csr_copy(ctx, A, &fit, &made));
        lsp_csr_free(ctx, A);
        *A = made;
    }
    return LSP_OK;
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

lsp_status lsp_csr_copy(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr_types *types, lsp_csr *B) {
    lsp_csr_types fit;
    LSP_OWNED_CSR(ctx, made);
    LSP_TRY(lsp_csr_check_header(ctx, "A", A));
    LSP_REQUIRE(B, LSP_ERR_ARGUMENT, "the place for the copy is NULL");
    if (A->where == LSP_HOST) {
        LSP_TRY(lsp_csr_check(ctx, A, 0));
    } else {
        LSP_REQUIRE(ctx->options.device == LSP_CUDA, LSP_ERR_DEVICE,
                    "A lies on the GPU, and this context is on the host");
    }
    LSP_TRY(lsp_csr_resolve(ctx, A->cols, A->nnz, A->val_type, types, &fit));
    fit.place = lsp_place_of(lsp_where_of(fit.place, A->where));
    LSP_TRY(check_values(ctx, A, fit.val_type));
    LSP_TRY(lsp_csr_create(ctx, A->rows, A->cols, A->nnz, &fit, &made));
    LSP_TRY(copy_array(ctx, (array){made.rowptr, fit.rowptr_type, made.where, false},
                       (array){A->rowptr, A->rowptr_type, A->where, false}, A->rows + 1));
    LSP_TRY(copy_array(ctx, (array){made.col, fit.col_type, made.where, false},
                       (array){A->col, A->col_type, A->where, false}, A->nnz));
    LSP_TRY(copy_array(ctx, (array){made.val, fit.val_type, made.where, true},
                       (array){A->val, A->val_type, A->where, true}, A->nnz));
    return lsp_csr_put(ctx, B, &made, B == A);
}
