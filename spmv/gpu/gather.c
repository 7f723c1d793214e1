/* LSP_SPMV_GATHER on a GPU: what a plan holds, and the sums of rows. */
#include "spmv/gather.h"
#include "gpu.h"

static lsp_status prepare(lsp_spmv_plan *plan) {
    lsp_spmv_gathered *parts;
    const size_t item = lsp_type_bytes(plan->job.options.type);
    LSP_TRY(lsp_spmv_make_parts(plan, sizeof *parts, (void **)&parts));
    LSP_TRY(lsp_spmv_hold(plan, plan->job.A.nnz, item, &parts->gathered));
    return lsp_spmv_hold(plan, plan->job.A.cols, item, &parts->dense);
}

static lsp_status sum_rows(lsp_ctx *ctx, const lsp_spmv_job *given, const void *gathered, int64_t v) {
    spmv_job job;
    lsp_spmv_gpu_job(ctx, given, &job);
    job.x = gathered;
    job.y = (char *)job.y + v * job.y_vector * (int64_t)lsp_type_bytes(given->options.type);
    job.gathered = true;
    job.col = given->planned ? NULL : job.col;
    job.vectors = 1;
    return lsp_spmv_lanes_start(ctx, given, &job);
}

static lsp_status run(lsp_ctx *ctx, const lsp_spmv_job *job, void *parts) {
    return lsp_spmv_gather_run(ctx, job, parts, sum_rows);
}

const lsp_spmv_engine lsp_spmv_gather_cuda = {.prepare = prepare, .run = run};
