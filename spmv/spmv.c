/* Y = alpha*op(A)*X + beta*Y in one call, without a plan. */
#include "spmv.h"
#include "transpose.h"

/* Row pointers of a matrix on the host that go from 0 to nnz. Those between are looked at by the engines. */
static lsp_status check_ends(lsp_ctx *ctx, const lsp_csr *A) {
    lsp_status status = LSP_OK;
    const int64_t first = lsp_index_at(A->rowptr, A->rowptr_type, 0);
    const int64_t last = lsp_index_at(A->rowptr, A->rowptr_type, A->rows);
    LSP_REQUIRE(first == 0 && last == A->nnz, LSP_ERR_FORMAT,
                "A: its row pointers go from %lld to %lld, not from 0 to %lld", (long long)first, (long long)last,
                (long long)A->nnz);
done:
    return status;
}

lsp_status lsp_spmv(lsp_ctx *ctx, const lsp_csr *A, const lsp_spmv_options *options, const lsp_spmv_vectors *vectors) {
    lsp_status status = LSP_OK;
    lsp_spmv_job job;
    lsp_csr transposed = {0};
    if (ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    LSP_TRY(lsp_spmv_check(ctx, A, options, &job));
    LSP_TRY(lsp_spmv_check_vectors(ctx, vectors, &job));
    if (options != NULL && options->transpose) {
        LSP_TRY(lsp_spmv_transpose(ctx, A, &transposed));
        job.A = transposed;
        job.planned = true;
    } else if (A->where == LSP_HOST) {
        LSP_TRY(check_ends(ctx, A));
    }
    LSP_TRY(lsp_spmv_choose(ctx, &job, NULL));
    if (job.A.rows > 0) {
        LSP_TRY(lsp_spmv_engine_of(&job, job.choice.method)->run(ctx, &job, NULL));
    }
done:
    lsp_csr_free(ctx, &transposed);
    return status;
}
