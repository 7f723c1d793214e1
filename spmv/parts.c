/* What the engine of a plan keeps: a struct on the host, and arrays where the matrix lies. */
#include "job.h"

#include <string.h>

lsp_status lsp_spmv_make_parts(lsp_spmv_plan *plan, size_t bytes) {
    const lsp_status status = lsp_alloc(plan->ctx, LSP_HOST, 1, bytes, &plan->parts);
    if (status == LSP_OK) {
        memset(plan->parts, 0, bytes);
    }
    return status;
}

lsp_status lsp_spmv_hold(lsp_spmv_plan *plan, int64_t count, size_t bytes, void **memory) {
    const lsp_status status = lsp_alloc(plan->ctx, plan->job.A.where, count, bytes, memory);
    plan->info.plan_bytes += count * (int64_t)bytes;
    if (status == LSP_OK) {
        plan->held[plan->held_count++] = *memory;
    }
    return status;
}

void lsp_spmv_drop_parts(lsp_spmv_plan *plan) {
    while (plan->held_count > 0) {
        lsp_free(plan->ctx, plan->held[--plan->held_count]);
    }
    lsp_free(plan->ctx, plan->parts);
    plan->parts = NULL;
}
