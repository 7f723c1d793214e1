/* LSP_SPMV_GATHER, the paper's two steps, for both devices. Step 1 gathers an element of x for each entry. It may take
 * several passes over the columns, each for one part of x. In step 2 the device sums the elements of each row, which
 * are contiguous. */
#include "gather.h"
#include "bodies.h"
#include "core/cuda.h"

lsp_status lsp_spmv_dense_x(lsp_ctx *ctx, const lsp_spmv_job *job, int64_t v, void *dense, const void **x) {
    const int64_t bytes = (int64_t)lsp_type_bytes(job->options.type), step = job->x_row;
    const lsp_spmv_packing packing = {(const char *)job->vectors.x + v * job->x_vector * bytes, dense, step};
    const lsp_kind kind = {.index = bytes == 4 ? LSP_I32 : LSP_I64};
    *x = step == 1 ? packing.from : dense;
    return step == 1 ? LSP_OK
                     : LSP_EACH(ctx, job->A.where, spmv_pack,
                                (lsp_each_job){.args = &packing, .n = job->A.cols, .kind = kind});
}

/* Step 1 for vector v of X: gathered[k] = x[column of entry k]. */
static lsp_status gather(lsp_ctx *ctx, const lsp_spmv_job *job, int64_t v, const lsp_spmv_gathered *parts) {
    const lsp_csr *A = &job->A;
    const int passes = job->choice.passes;
    lsp_column column = {.to = parts->gathered, .bytes = lsp_type_bytes(job->options.type)};
    if (A->nnz == 0 || A->cols == 0) {
        return LSP_OK;
    }
    LSP_TRY(lsp_spmv_dense_x(ctx, job, v, parts->dense, &column.from));
    return lsp_gather(ctx,
                      &(lsp_gather_args){.n = A->nnz,
                                         .extent = A->cols,
                                         .index = A->col,
                                         .index_type = A->col_type,
                                         .columns = &column,
                                         .column_count = 1,
                                         .strategy = passes > 1 ? LSP_STRATEGY_RESCAN : LSP_STRATEGY_DIRECT,
                                         .passes = passes > 1 ? passes : 0,
                                         .where = A->where},
                      NULL);
}

lsp_status lsp_spmv_gather_run(lsp_ctx *ctx, const lsp_spmv_job *job, const lsp_spmv_gathered *parts,
                               lsp_spmv_sum_gathered *sum) {
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_csr *A = &job->A;
    const size_t item = lsp_type_bytes(job->options.type);
    lsp_spmv_gathered scratch = {NULL, NULL};
    if (parts == NULL) {
        LSP_REQUIRE(A->where == LSP_HOST || !lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                    "work on the stream is being recorded into a graph: the method gather needs a plan there, which "
                    "holds %lld elements",
                    (long long)A->nnz);
        LSP_TRY(lsp_scratch_at(ctx, A->where, A->nnz, item, &scratch.gathered));
        LSP_TRY(lsp_scratch_at(ctx, A->where, job->x_row != 1 ? A->cols : 0, item, &scratch.dense));
        parts = &scratch;
    }
    for (int64_t v = 0; v < job->options.vectors; v++) {
        LSP_TRY(gather(ctx, job, v, parts));
        LSP_TRY(sum(ctx, job, parts->gathered, v));
    }
    return LSP_OK;
}
