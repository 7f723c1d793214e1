/* Gathers and scatters on the CPU, without a plan and with one: what is prepared for each strategy, and the calls. */
#include "cpu.h"
#include <stdio.h>
#include <string.h>

/* ---- one call: the chosen strategy runs, then an index outside is told ---- */

typedef struct search {
    const lsp_gather_args *args;
    int64_t bad;
} search;

static void search_share(void *data, int64_t begin, int64_t end) {
    search *s = data;
    lsp_lower(&s->bad, lsp_gather_first_outside(s->args, begin, end));
}

static lsp_status find_bad(lsp_ctx *ctx, const lsp_gather_job *job, int64_t *bad) {
    search s = {.args = &job->args, .bad = INT64_MAX};
    lsp_for_shares(ctx, job->args.n, LSP_GATHER_WORTH_A_THREAD, search_share, &s);
    *bad = s.bad == INT64_MAX ? -1 : s.bad;
    return LSP_OK;
}

static lsp_status run(lsp_ctx *ctx, const lsp_gather_job *job) {
    const lsp_gather_args *args = &job->args;
    int64_t bad = args->extent > 0 ? INT64_MAX : 0;
    if (args->extent > 0 && job->choice.strategy == LSP_STRATEGY_STAGE) { /* a scatter: a gather needs a plan for it */
        LSP_TRY(lsp_gather_cpu_bins(ctx, job, &bad));
    } else if (args->extent > 0) {
        LSP_TRY(lsp_gather_cpu_scan(ctx, job, job->choice.passes, &bad));
    }
    return bad == INT64_MAX
               ? LSP_OK
               : lsp_gather_refuse_index(ctx, bad, lsp_index_at(args->index, args->index_type, bad), args->extent);
}

/* ---- plans ---- */

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

static lsp_status make_plan(lsp_gather_plan *plan) {
    lsp_ctx *ctx = plan->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    lsp_gather_job job = plan->job;
    lsp_gather_info *info = &plan->info;
    parts *made;
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, 1, sizeof *made, (void **)&made));
    *made = (parts){0};
    plan->parts = made;
    if (job.args.n == 0) {
        return LSP_OK;
    }
    LSP_TRY(narrow_index(ctx, &job.args));
    if (info->strategy == LSP_STRATEGY_STAGE && !lsp_gather_stage_fits(&job)) {
        info->strategy = LSP_STRATEGY_DIRECT;
        snprintf(info->reason, sizeof info->reason, "%lld indices are too few to stage %lld elements",
                 (long long)job.args.n, (long long)job.args.extent);
    }
    return info->strategy == LSP_STRATEGY_STAGE    ? lsp_gather_stage_make(ctx, &job, &made->stage)
           : info->strategy == LSP_STRATEGY_INVERT ? lsp_gather_pairs_make(ctx, &job, &made->pairs)
                                                   : keep_index(plan, &job.args);
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
    .run = run, .find_bad = find_bad, .make_plan = make_plan, .run_plan = run_plan};
