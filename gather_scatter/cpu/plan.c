/* Plans on the CPU: what is prepared for each strategy, and the calls. */
#include "cpu.h"
#include <string.h>

typedef struct parts {
    void *index; /* direct, rescan: a copy of the map */
} parts;

lsp_status lsp_gather_prepare_cpu(lsp_gather_plan *plan) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    const lsp_gather_args *args = &plan->job.args;
    const size_t bytes = lsp_type_bytes(args->index_type);
    parts *made;
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, 1, sizeof *made, (void **)&made));
    *made = (parts){0};
    plan->parts = made;
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, args->n, bytes, &made->index));
    if (args->n > 0) {
        memcpy(made->index, args->index, (size_t)args->n * bytes);
    }
    plan->info.plan_bytes += (int64_t)sizeof *made + args->n * (int64_t)bytes;
done:
    return status;
}

lsp_status lsp_gather_execute_cpu(lsp_gather_plan *plan, const lsp_column *columns, int64_t count) {
    int64_t bad = INT64_MAX;
    const parts *made = plan->parts;
    lsp_gather_job job = plan->job;
    job.args.index = made->index;
    job.args.columns = columns;
    job.args.column_count = count;
    return lsp_gather_cpu_scan(plan->ctx, &job, job.choice.passes, &bad);
}

void lsp_gather_release_cpu(lsp_gather_plan *plan) {
    parts *made = plan->parts;
    if (made) {
        lsp_free(plan->ctx, made->index);
        lsp_free(plan->ctx, made);
    }
    plan->parts = NULL;
}
