/* Plans by diagonals: what both devices share. Which jobs fit, and the memory of a plan. */
#include "diagonals.h"

static bool fits(const lsp_spmv_job *job) {
    const lsp_type val = job->A.val_type;
    return job->options.semiring == LSP_PLUS_TIMES && job->options.vectors <= LSP_DIAGONALS_VECTORS &&
           (val == LSP_NONE || val == LSP_F32 || val == LSP_F64) && job->A.rows < INT32_MAX && job->A.cols < INT32_MAX;
}

bool lsp_spmv_diagonals_fits(lsp_ctx *ctx, const lsp_spmv_job *job) {
    (void)ctx;
    return fits(job);
}

bool lsp_spmv_blocks_fits(lsp_ctx *ctx, const lsp_spmv_job *job) {
    bool some = false;
    (void)ctx;
    for (int b = 2; b <= LSP_SPMV_LARGEST_BLOCK; b++) {
        some = some || lsp_diagonals_may_have_blocks(&job->A, b);
    }
    return some && fits(job);
}

lsp_status lsp_spmv_diagonals_begin(lsp_spmv_plan *plan, lsp_diagonals **made) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    const lsp_spmv_choice *choice = &plan->job.choice;
    const int b = choice->method == LSP_SPMV_BLOCKS ? choice->block : 1;
    lsp_diagonals *D;
    if (b != 1 && (b < 2 || b > LSP_SPMV_LARGEST_BLOCK || !lsp_diagonals_may_have_blocks(&plan->job.A, b))) {
        return lsp_spmv_diagonals_no_blocks(ctx, b);
    }
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, 1, sizeof *D, (void **)&D));
    *D = (lsp_diagonals){.block = b, .slices = lsp_diagonals_slices(&plan->job.A, b)};
    plan->parts = *made = D;
    LSP_TRY(lsp_alloc(ctx, plan->job.A.where, D->slices + 1, sizeof *D->first, (void **)&D->first));
done:
    return status;
}

lsp_status lsp_spmv_diagonals_allocate(lsp_spmv_plan *plan) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    lsp_diagonals *D = plan->parts;
    const lsp_where where = plan->job.A.where;
    const size_t bytes = lsp_type_bytes(plan->job.A.val_type);
    int64_t stored = 0;
    LSP_REQUIRE(lsp_mul(D->count, LSP_SPMV_SLICE * D->block * D->block, &stored), LSP_ERR_OVERFLOW,
                "%lld diagonals have more entries than fit 64 bits", (long long)D->count);
    LSP_TRY(lsp_alloc(ctx, where, D->count, sizeof *D->at, (void **)&D->at));
    if (bytes > 0) {
        LSP_TRY(lsp_alloc(ctx, where, stored, bytes, &D->values));
    }
    plan->info.stored_entries = stored;
    plan->info.plan_bytes +=
        (D->slices + 1) * (int64_t)sizeof *D->first + D->count * (int64_t)sizeof *D->at + stored * (int64_t)bytes;
done:
    return status;
}

lsp_status lsp_spmv_diagonals_no_blocks(lsp_ctx *ctx, int b) {
    return lsp_fail(ctx, LSP_ERR_UNSUPPORTED, "the matrix does not consist of dense %d x %d blocks", b, b);
}

void lsp_spmv_diagonals_release(lsp_spmv_plan *plan) {
    lsp_diagonals *D = plan->parts;
    if (D) {
        lsp_free(plan->ctx, D->values);
        lsp_free(plan->ctx, D->at);
        lsp_free(plan->ctx, D->first);
        lsp_free(plan->ctx, D);
    }
    plan->parts = NULL;
}
