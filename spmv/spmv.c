/* Y = alpha*op(A)*X + beta*Y in one call, without a plan. */
#include "spmv.h"
#include "core/cuda.h"
#include "matrices/matrices.h"

lsp_status lsp_spmv(lsp_ctx *ctx, const lsp_csr *A, const lsp_spmv_options *options, const lsp_spmv_vectors *vectors,
                    lsp_spmv_info *info) {
    lsp_spmv_job job;
    LSP_OWNED_CSR(ctx, transposed);
    LSP_ENTER(ctx);
    LSP_TRY(lsp_spmv_check(ctx, A, options, &job));
    LSP_TRY(lsp_spmv_check_vectors(ctx, vectors, &job));
    if (options != NULL && options->transpose) {
        LSP_REQUIRE(A->where == LSP_HOST || !lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                    "work on the stream is being recorded into a graph: a matrix cannot be transposed there, because "
                    "that waits");
        LSP_TRY(lsp_csr_transpose(ctx, A, &transposed));
        job.A = transposed;
        job.planned = true;
    } else if (A->where == LSP_HOST) { /* before y is written; columns are looked at by the engines */
        LSP_TRY(lsp_csr_check_rows(ctx, "A", A));
    }
    LSP_TRY(lsp_spmv_choose(ctx, &job, NULL));
    if (job.A.rows > 0) {
        LSP_TRY(job.engine->run(ctx, &job, NULL));
    }
    if (info != NULL) {
        lsp_spmv_tell(&job, info);
    }
    return LSP_OK;
}
