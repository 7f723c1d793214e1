/* The transposed matrix of a call or of a plan. A plan also keeps the place in A of each of its entries, so that new
 * values are one gather: the numbers of the entries are transposed as if they were values. */
#include "transpose.h"
#include "core/cuda.h"
#include "matrices/matrices.h"

lsp_status lsp_spmv_transpose(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *T) {
    lsp_status status = LSP_OK;
    LSP_REQUIRE(A->where == LSP_HOST || !lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                "work on the stream is being recorded into a graph: a matrix cannot be transposed there, because that "
                "waits");
    LSP_TRY(lsp_csr_transpose(ctx, A, T));
done:
    return status;
}

/* ---- plans ---- */

int64_t lsp_spmv_transposed_bytes(const lsp_spmv_plan *plan) {
    const lsp_csr *T = &plan->transposed;
    const size_t entry = lsp_type_bytes(T->col_type) + lsp_type_bytes(T->val_type) +
                         (plan->places != NULL ? lsp_type_bytes(plan->given.rowptr_type) : 0);
    return T->rowptr == NULL ? 0 : (T->rows + 1) * (int64_t)lsp_type_bytes(T->rowptr_type) + T->nnz * (int64_t)entry;
}

typedef struct numbers {
    double *val;
    void *places;
    lsp_type type;
} numbers;

static void number(void *data, int64_t begin, int64_t end) {
    const numbers *n = data;
    for (int64_t k = begin; k < end; k++) {
        n->val[k] = (double)k;
    }
}

static void place(void *data, int64_t begin, int64_t end) {
    const numbers *n = data;
    for (int64_t k = begin; k < end; k++) {
        lsp_index_set(n->places, n->type, k, (int64_t)n->val[k]);
    }
}

enum { least_share = 1 << 16 };

/* val[k] = k. */
static lsp_status number_entries(lsp_ctx *ctx, const lsp_csr *A) {
    if (A->where == LSP_CUDA) {
        return lsp_spmv_number_cuda(ctx, A->val, A->nnz);
    }
    lsp_for_shares(ctx, A->nnz, least_share, number, &(numbers){.val = A->val});
    return LSP_OK;
}

/* places[k] = val[k]. */
static lsp_status place_entries(lsp_spmv_plan *plan, const lsp_csr *T) {
    if (T->where == LSP_CUDA) {
        return lsp_spmv_places_cuda(plan->ctx, plan->places, plan->given.rowptr_type, T->val, T->nnz);
    }
    numbers n = {T->val, plan->places, plan->given.rowptr_type};
    lsp_for_shares(plan->ctx, T->nnz, least_share, place, &n);
    return LSP_OK;
}

lsp_status lsp_spmv_transpose_plan(lsp_spmv_plan *plan) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    lsp_csr *T = &plan->transposed, numbered = plan->given;
    const lsp_type val_type = plan->given.val_type;
    numbered.val = NULL;
    if (val_type == LSP_NONE || plan->given.nnz == 0) {
        return lsp_spmv_transpose(ctx, &plan->given, T);
    }
    numbered.val_type = LSP_F64;
    LSP_TRY(lsp_alloc(ctx, T->where = numbered.where, numbered.nnz, sizeof(double), &numbered.val));
    LSP_TRY(number_entries(ctx, &numbered));
    LSP_TRY(lsp_spmv_transpose(ctx, &numbered, T));
    LSP_TRY(lsp_alloc(ctx, T->where, T->nnz, lsp_type_bytes(plan->given.rowptr_type), &plan->places));
    LSP_TRY(place_entries(plan, T));
    lsp_free(ctx, T->val);
    T->val = NULL;
    T->val_type = val_type;
    LSP_TRY(lsp_alloc(ctx, T->where, T->nnz, lsp_type_bytes(val_type), &T->val));
    LSP_TRY(lsp_spmv_take_values(plan, &plan->given));
done:
    lsp_free(ctx, numbered.val);
    return status;
}

lsp_status lsp_spmv_take_values(lsp_spmv_plan *plan, const lsp_csr *A) {
    const lsp_column column = {.from = A->val, .to = plan->transposed.val, .bytes = lsp_type_bytes(A->val_type)};
    if (plan->places == NULL) {
        return LSP_OK;
    }
    return lsp_gather(plan->ctx, &(lsp_gather_args){.n = A->nnz,
                                                    .extent = A->nnz,
                                                    .index = plan->places,
                                                    .index_type = plan->given.rowptr_type,
                                                    .columns = &column,
                                                    .column_count = 1,
                                                    .strategy = LSP_STRATEGY_DIRECT,
                                                    .where = A->where});
}
