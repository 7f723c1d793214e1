/* B = the triples of A: columns and values are copied, and each entry gets the number of its row. */
#include "core/cuda.h"
#include "core/items.h"
#include "matrices/forms/gpu/gpu.h"
#include "matrices/matrices.h"

typedef struct triples { /* lsp_coo, before it becomes read-only */
    const lsp_csr *A;
    void *row, *col, *val;
    lsp_type type; /* of row and col */
} triples;

LSP_INLINE void fill_rows(lsp_type type, const triples *t, int64_t begin, int64_t end) {
    const lsp_csr *A = t->A;
    for (int64_t i = begin; i < end; i++) {
        const int64_t stop = lsp_csr_rowptr(A, i + 1);
        for (int64_t k = lsp_csr_rowptr(A, i); k < stop; k++) {
            lsp_index_set(t->row, type, k, i);
            lsp_index_set(t->col, type, k, lsp_csr_col(A, k));
        }
    }
    const size_t bytes = lsp_type_bytes(A->val_type);
    const size_t from = (size_t)lsp_csr_rowptr(A, begin) * bytes, to = (size_t)lsp_csr_rowptr(A, end) * bytes;
    if (to > from) {
        memcpy((char *)t->val + from, (const char *)A->val + from, to - from);
    }
}
LSP_SHARE(fill_share, const triples, t, LSP_WITH_INDEX(t->type, fill_rows, t, begin, end))

static lsp_status fill_cuda(lsp_ctx *ctx, const triples *t) {
    const lsp_csr *A = t->A;
    LSP_TRY(lsp_forms_on_gpu.csr_rows(ctx, A, t->row, t->type));
    LSP_TRY(lsp_cuda_convert(ctx, t->col, t->type, A->col, A->col_type, A->nnz));
    return lsp_cuda_copy(ctx, t->val, LSP_CUDA, A->val, LSP_CUDA, A->nnz * (int64_t)lsp_type_bytes(A->val_type));
}

static lsp_status make_triples(lsp_ctx *ctx, triples *t) {
    const lsp_csr *A = t->A;
    LSP_TRY(lsp_alloc(ctx, A->where, A->nnz, lsp_type_bytes(t->type), &t->row));
    LSP_TRY(lsp_alloc(ctx, A->where, A->nnz, lsp_type_bytes(t->type), &t->col));
    LSP_TRY(lsp_alloc(ctx, A->where, A->nnz, lsp_type_bytes(A->val_type), &t->val));
    if (A->where == LSP_CUDA) {
        return fill_cuda(ctx, t);
    }
    lsp_csr_for_rows(ctx, A, fill_share, t);
    return LSP_OK;
}

lsp_status lsp_csr_to_coo(lsp_ctx *ctx, const lsp_csr *A, lsp_coo *B) {
    triples t = {.A = A};
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    LSP_REQUIRE(B, LSP_ERR_ARGUMENT, "the place for the triples is NULL");
    t.type = A->rows > (int64_t)INT32_MAX + 1 ? LSP_I64 : A->col_type; /* a row's number must fit too */
    const lsp_status status = make_triples(ctx, &t);
    if (status == LSP_OK) {
        *B = (lsp_coo){A->rows, A->cols, A->nnz, t.row, t.col, t.val, t.type, A->val_type, A->where};
    } else {
        lsp_free(ctx, t.row), lsp_free(ctx, t.col), lsp_free(ctx, t.val);
    }
    return status;
}

lsp_status lsp_coo_free(lsp_ctx *ctx, lsp_coo *A) {
    LSP_REQUIRE(ctx, LSP_ERR_ARGUMENT, "the context is NULL");
    if (A) {
        LSP_REQUIRE((!A->row || lsp_owns(ctx, A->row)) && (!A->col || lsp_owns(ctx, A->col)) &&
                        (!A->val || lsp_owns(ctx, A->val)),
                    LSP_ERR_ARGUMENT,
                    "%lld triples of a matrix of %lld x %lld are not freed: their arrays are not this context's",
                    (long long)A->nnz, (long long)A->rows, (long long)A->cols);
        lsp_free(ctx, (void *)A->row);
        lsp_free(ctx, (void *)A->col);
        lsp_free(ctx, (void *)A->val);
        *A = (lsp_coo){0};
    }
    return LSP_OK;
}
