/* Plans on the CPU: what is prepared for each strategy, and the calls. */
#include "cpu.h"
#include <stdio.h>
#include <string.h>

typedef struct parts {
    void *index; /* direct, rescan: the map, of type index_type */
    lsp_type index_type;
    lsp_pairs pairs; /* invert */
    lsp_stage stage; /* stage */
} parts;

typedef struct narrowing {
    const lsp_gather_args *args;
    int32_t *narrow;
} narrowing;

static void narrow_share(void *data, int64_t begin, int64_t end) {
    const narrowing *n = data;
    for (int64_t i = begin; i < end; i++) {
        n->narrow[i] = (int32_t)lsp_index_at(n->args->index, n->args->index_type, i);
    }
}

/* The map with 32-bit indices if they fit, in scratch: less to read. */
static lsp_status narrow_index(lsp_ctx *ctx, lsp_gather_args *args) {
    narrowing n = {.args = args};
    if (args->index_type == LSP_I32 || args->extent > INT32_MAX) {
        return LSP_OK;
    }
    LSP_TRY(LSP_SCRATCH(ctx, args->n, &n.narrow));
    lsp_for_shares(ctx, args->n, LSP_GATHER_WORTH_A_THREAD, narrow_share, &n);
    args->index = n.narrow;
    args->index_type = LSP_I32;
    return LSP_OK;
}

static lsp_status keep_index(lsp_gather_plan *plan, const lsp_gather_args *args) {
    parts *made = plan->parts;
    const size_t bytes = lsp_type_bytes(args->index_type);
    made->index_type = args->index_type;
    LSP_TRY(lsp_alloc(plan->ctx, LSP_HOST, args->n, bytes, &made->index));
    memcpy(made->index, args->index, (size_t)args->n * bytes);
    return LSP_OK;
}

/* Prepares a map of one index or more. */
static lsp_status prepare(lsp_gather_plan *plan, const lsp_gather_job *job) {
    lsp_ctx *ctx = plan->ctx;
    parts *made = plan->parts;
    lsp_gather_info *info = &plan->info;
    if (info->strategy == LSP_STRATEGY_STAGE && !lsp_gather_stage_fits(job)) {
        info->strategy = LSP_STRATEGY_DIRECT;
        snprintf(info->reason, sizeof info->reason, "%lld indices are too few to stage %lld elements",
                 (long long)job->args.n, (long long)job->args.extent);
    }
    switch (info->strategy) {
    case LSP_STRATEGY_STAGE:
        return lsp_gather_stage_make(ctx, job, &made->stage);
    case LSP_STRATEGY_INVERT:
        return lsp_gather_pairs_make(ctx, job, &made->pairs);
    default:
        return keep_index(plan, &job->args);
    }
}

static lsp_status make_plan(lsp_gather_plan *plan) {
    lsp_ctx *ctx = plan->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    lsp_gather_job job = plan->job;
    parts *made;
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, 1, sizeof *made, (void **)&made));
    *made = (parts){0};
    plan->parts = made;
    if (job.args.n > 0) {
        LSP_TRY(narrow_index(ctx, &job.args));
        LSP_TRY(prepare(plan, &job));
    }
    return LSP_OK;
}

static lsp_status run_plan(lsp_gather_plan *plan, const lsp_column *columns, int64_t count) {
    int64_t bad = INT64_MAX;
    const parts *made = plan->parts;
    lsp_ctx *ctx = plan->ctx;
    lsp_gather_job job = plan->job;
    job.args.columns = columns;
    job.args.column_count = count;
    switch (plan->info.strategy) {
    case LSP_STRATEGY_STAGE:
        lsp_gather_stage_run(ctx, &job, &made->stage);
        return LSP_OK;
    case LSP_STRATEGY_INVERT:
        lsp_gather_pairs_run(ctx, &job, &made->pairs);
        return LSP_OK;
    default:
        job.args.index = made->index;
        job.args.index_type = made->index_type;
        return lsp_gather_cpu_scan(ctx, &job, job.choice.passes, &bad);
    }
}

const lsp_gather_device lsp_gather_cpu = {
    .run = lsp_gather_cpu_run, .find_bad = lsp_gather_cpu_find_bad, .make_plan = make_plan, .run_plan = run_plan};
