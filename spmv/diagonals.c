/* LSP_SPMV_DIAGONALS and LSP_SPMV_BLOCKS: the engine of both devices. */
#include "diagonals.h"
#include "cache_model/cache_model.h"
#include "spmv.h"

/* ---- the count before the choice ---- */

lsp_status lsp_spmv_count_slots(lsp_ctx *ctx, const lsp_spmv_job *job, lsp_spmv_facts *facts) {
    const lsp_csr *A = &job->A;
    lsp_diagonals_found found[LSP_DIAGONALS_SIZES] = {{0}};
    lsp_spmv_why why;
    if (A->nnz == 0 || !lsp_spmv_is_within(job, &lsp_spmv_diagonals.limits, &why)) {
        return LSP_OK;
    }
    for (int b = 1; b < LSP_DIAGONALS_SIZES; b++) {
        found[b].limit = b == 1 || lsp_diagonals_may_have_blocks(A, b) ? lsp_diagonals_limit(A, b) : 0;
    }
    LSP_TRY(job->device->diagonals->count(ctx, A, found, NULL));
    for (int b = 1; b < LSP_DIAGONALS_SIZES; b++) {
        const bool offered = lsp_diagonals_is_offered(&found[b]);
        *(b == 1 ? &facts->diagonal_slots : &facts->block_slots[b]) =
            offered ? found[b].total * LSP_SPMV_SLICE * b * b : 0;
        facts->filled_block = b > 1 && found[b].limit > 0 && !found[b].no_blocks && !offered ? b : facts->filled_block;
    }
    return LSP_OK;
}

/* ---- plans ---- */

/* The arrays of all diagonals, whose number is known now. */
static lsp_status allocate(lsp_spmv_plan *plan, lsp_diagonals *D) {
    lsp_ctx *ctx = plan->ctx;
    const size_t bytes = lsp_type_bytes(plan->job.A.val_type);
    const lsp_cache_figures *figures;
    int64_t stored = 0;
    LSP_REQUIRE(lsp_mul(D->count, LSP_SPMV_SLICE * D->block * D->block, &stored), LSP_ERR_OVERFLOW,
                "%lld diagonals have more entries than fit 64 bits", (long long)D->count);
    LSP_TRY(lsp_spmv_hold(plan, D->count, sizeof *D->at, (void **)&D->at));
    LSP_TRY(lsp_spmv_hold(plan, stored, bytes, &D->values));
    LSP_TRY(lsp_cache_figures_of(ctx, &figures));
    D->streams = (double)lsp_plan_bytes(plan) > 4 * figures->cache_bytes;
    plan->info.stored_entries = stored;
    return LSP_OK;
}

static lsp_status prepare(lsp_spmv_plan *plan) {
    lsp_ctx *ctx = plan->ctx;
    const lsp_csr *A = &plan->job.A;
    const lsp_diagonals_device *device = plan->job.device->diagonals;
    const int b = plan->job.choice.method == LSP_SPMV_BLOCKS ? plan->job.choice.block : 1;
    lsp_diagonals_found found[LSP_DIAGONALS_SIZES] = {[0] = {0}};
    lsp_diagonals *D;
    LSP_TRY(lsp_spmv_make_parts(plan, sizeof *D, (void **)&D));
    D->block = b;
    D->slices = lsp_diagonals_slices(A, b);
    LSP_TRY(lsp_spmv_hold(plan, D->slices + 1, sizeof *D->first, (void **)&D->first));
    found[b].limit = INT64_MAX;
    LSP_TRY(device->count(ctx, A, found, D->first));
    LSP_REQUIRE(!found[b].no_blocks, LSP_ERR_UNSUPPORTED, "the matrix does not consist of dense %d x %d blocks", b, b);
    D->count = found[b].total;
    LSP_TRY(allocate(plan, D));
    return device->fill(ctx, A, D, true);
}

static lsp_status update(lsp_spmv_plan *plan) {
    return plan->job.device->diagonals->fill(plan->ctx, &plan->job.A, plan->parts, false);
}

static lsp_status run(lsp_ctx *ctx, const lsp_spmv_job *job, void *parts) {
    return job->device->diagonals->multiply(ctx, job, parts);
}

const lsp_spmv_engine lsp_spmv_diagonals = {
    .limits = {.plus_times = true, .vectors = LSP_DIAGONALS_VECTORS, .rows = INT32_MAX - 1, .cols = INT32_MAX - 1},
    .prepare = prepare,
    .run = run,
    .update = update};
