/* The transposed matrix of a call or of a plan. A plan also keeps the place in A of each of its entries, so that new
 * values are one gather. */
#include "core/cuda.h"
#include "matrices/matrices.h"
#include "spmv.h"

int64_t lsp_spmv_transposed_bytes(const lsp_spmv_plan *plan) {
    const lsp_csr *T = &plan->transposed;
    const int64_t rowptr = (int64_t)lsp_type_bytes(T->rowptr_type), col = (int64_t)lsp_type_bytes(T->col_type);
    const int64_t places = plan->places != NULL ? (int64_t)lsp_type_bytes(plan->given.rowptr_type) : 0;
    return T->rowptr == NULL ? 0
                             : (T->rows + 1) * rowptr + T->nnz * (col + places + (int64_t)lsp_type_bytes(T->val_type));
}

lsp_status lsp_spmv_transpose(lsp_ctx *ctx, const lsp_csr *A, lsp_csr *T, void **places) {
    lsp_status status = LSP_OK;
    LSP_REQUIRE(A->where == LSP_HOST || !lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                "work on the stream is being recorded into a graph: a matrix cannot be transposed there, because that "
                "waits");
    LSP_TRY(lsp_csr_transpose(ctx, A, T));
    (void)places; /* not yet: an update of a transposed plan transposes again */
done:
    return status;
}

lsp_status lsp_spmv_take_values(lsp_spmv_plan *plan, const lsp_csr *A) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    lsp_csr T = {0};
    LSP_TRY(lsp_csr_transpose(ctx, A, &T));
    lsp_csr_free(ctx, &plan->transposed);
    plan->transposed = T;
    plan->job.A = T;
done:
    return status;
}
