/* C = A*B on a GPU where B is nearly dense: starts both passes of kernel_strips.cuh. Taken for the whole product, where
 * lsp_is_dense_b and memory holds the tables. */
#include "core/scan.h"
#include "kernel_strips.cuh"
#include "spgemm/gpu/launch.cuh"

/* Allocates both tables, unless that would leave too little memory for C. */
static lsp_status take_tables(lsp_spgemm_plan *plan, const spg_job *job) {
    lsp_ctx *ctx = plan->ctx;
    LSP_PLAN_HOLDS(ctx, plan);
    lsp_spgemm_dense_b *kept = &plan->gpu->dense_b;
    const int64_t bytes = kept->bytes + plan->info.bound_bytes;
    if (bytes > lsp_spgemm_room(ctx, LSP_CUDA, bytes)) {
        return LSP_ERR_MEMORY;
    }
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, job->B.rows * kept->strips, sizeof *kept->B, (void **)&kept->B));
    return lsp_alloc(ctx, LSP_CUDA, job->A.rows * kept->strips, sizeof *kept->C, (void **)&kept->C);
}

static lsp_status count(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands) {
    lsp_ctx *ctx = plan->ctx;
    const spg_job job = job_of(plan, operands);
    const lsp_spgemm_dense_b *kept = &plan->gpu->dense_b;
    ull *nnz = &plan->gpu->report->counting.nnz, here;
    int log_share = 0; /* log2 of the warps that share a row, from the average number of entries in A's rows */
    while (1 << log_share < DENSE_B_WARPS && (job.A.rows * DENSE_B_AHEAD) << log_share < job.A.nnz) {
        log_share++;
    }
    LSP_TRY(take_tables(plan, &job));
    plan->gpu->counting = true;
    LSP_TRY(
        LSP_LAUNCH(ctx, kernel_dense_b_index, lsp_ceil_div(job.B.rows, DENSE_B_WARPS), DENSE_B_NT, 0, job.B, *kept));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_dense_b_count, lsp_ceil_div(job.A.rows << log_share, DENSE_B_WARPS), DENSE_B_NT, 0,
                       job, *kept, log_share));
    LSP_TRY(lsp_cuda_scan_async(ctx, job.rowptr + 1, job.A.rows, (int64_t *)nnz));
    LSP_TRY(lsp_cuda_read(ctx, &here, nnz, sizeof here));
    plan->info.nnz = (int64_t)here;
    plan->gpu->summed = true;
    return LSP_OK;
}

lsp_status spg_count_dense_b(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands) {
    const lsp_status status = count(plan, operands);
    if (status != LSP_OK) {
        lsp_free(plan->ctx, plan->gpu->dense_b.B);
        lsp_free(plan->ctx, plan->gpu->dense_b.C);
        plan->gpu->dense_b = (lsp_spgemm_dense_b){};
    }
    return status == LSP_ERR_MEMORY ? LSP_OK : status; /* without memory for the tables, C is made in another way */
}

template <typename V> static lsp_status start_fill(lsp_spgemm_plan *plan, const spg_job *job, bool update, lsp_csr *C) {
    const int64_t warps = job->A.rows * plan->gpu->dense_b.strips;
    return LSP_LAUNCH(plan->ctx, kernel_dense_b_fill<V>, lsp_ceil_div(warps, DENSE_B_FILL_WARPS), DENSE_B_FILL_NT, 0,
                      *job, plan->gpu->dense_b, update ? NULL : C->rowptr, C->rowptr_type == LSP_I64);
}

lsp_status spg_fill_dense_b(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, bool update, lsp_csr *C) {
    const spg_job job = job_to(plan, operands, C);
    return spg_with_value(plan, [&](auto v) { return start_fill<decltype(v)>(plan, &job, update, C); });
}
