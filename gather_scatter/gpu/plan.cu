/* Plans of gather and scatter on a GPU: what depends on the indices alone is made once. A plan waits while it is made;
 * a call with it waits for nothing, allocates nothing and can be recorded into a graph.
 *
 * A scatter that writes is the gather by the inverted map, or a scatter without the positions that lose. A scatter that
 * adds has its positions sorted by destination. */
#include "core/cuda.h"
#include "gather_scatter/bodies.h"
#include "gpu.h"
#include <stdio.h>

typedef enum plan_way { WAY_MOVE, WAY_STAGE, WAY_SUM, WAY_STAGED_SUM } plan_way;

/* plan->parts, on the host; the arrays are on the GPU. */
typedef struct plan_parts {
    plan_way way;
    int passes;
    gather_move move;   /* WAY_MOVE */
    gather_stage stage; /* WAY_STAGE, WAY_STAGED_SUM */
    gather_order order; /* WAY_SUM, WAY_STAGED_SUM */
    void *moved;        /* WAY_STAGED_SUM: n elements in the order of destinations */
    void *list;         /* memory of the move */
} plan_parts;

static plan_parts *parts_of(const lsp_gather_plan *plan) { return (plan_parts *)plan->parts; }

/* ---- plans that move ---- */

/* A copy of the indices, without those that lose. */
static lsp_status copy_indices(lsp_gather_plan *plan, const void *owner) {
    lsp_ctx *ctx = plan->ctx;
    plan_parts *parts = parts_of(plan);
    const lsp_gather_job *job = &plan->job;
    const size_t bytes = lsp_type_bytes(job->args.index_type);
    LSP_TRY(lsp_alloc(plan->ctx, LSP_CUDA, job->args.n, bytes, &parts->list));
    LSP_TRY(owner ? lsp_gather_winners(ctx, job, owner, parts->list)
                  : lsp_cuda_copy(ctx, parts->list, LSP_CUDA, job->args.index, LSP_CUDA, job->args.n * (int64_t)bytes));
    parts->move = gather_whole_move(ctx, job, gather_list{parts->list, job->args.index_type}, false);
    if (plan->info.strategy == LSP_STRATEGY_RESCAN) {
        parts->passes = job->choice.passes;
    }
    return LSP_OK;
}

/* ---- plans that go by destination ---- */

/* Stages the map from destinations to sources; false: it does not fit, and the strategy gives way to direct. */
static lsp_status stage_map(lsp_gather_plan *plan, plan_way way, gather_list map, int64_t sources, int64_t dests,
                            int64_t moved, bool *fits) {
    plan_parts *parts = parts_of(plan);
    const size_t most = plan->job.most_bytes;
    *fits = lsp_gather_stage_fits(plan->ctx, sources, dests, moved, most, &parts->stage);
    if (*fits) {
        parts->way = way;
        return lsp_gather_stage_make(plan->ctx, map, most, &parts->stage);
    }
    plan->info.strategy = LSP_STRATEGY_DIRECT;
    plan->info.passes = 1;
    snprintf(plan->info.reason, sizeof plan->info.reason,
             "the strategy %s does not fit: there are too many elements, or too few for tiles and bins",
             lsp_strategy_name(plan->job.choice.strategy));
    return LSP_OK;
}

static lsp_status prepare_gather(lsp_gather_plan *plan) {
    const lsp_gather_args *args = &plan->job.args;
    bool fits = false;
    if (plan->job.choice.strategy == LSP_STRATEGY_STAGE) {
        LSP_TRY(stage_map(plan, WAY_STAGE, gather_list{args->index, args->index_type}, args->extent, args->n, args->n,
                          &fits));
    }
    return fits ? LSP_OK : copy_indices(plan, NULL);
}

/* The inverted map, by the faster way. */
static lsp_status find_owners(lsp_gather_plan *plan, void *owner) {
    const lsp_gather_args *args = &plan->job.args;
    const gather_list index = {args->index, args->index_type};
    const gather_move bins = gather_whole_move(plan->ctx, &plan->job, index, false);
    const bool beyond_cache = args->extent * 4 > lsp_cuda_get_chip(plan->ctx)->l2_bytes / 2;
    return beyond_cache && args->n >= args->extent / 4 && lsp_gather_bins_fit(plan->ctx, &bins, sizeof(int))
               ? lsp_gather_bins_owners(plan->ctx, &bins, (int *)owner)
               : lsp_gather_owners(plan->ctx, &plan->job, NULL, gather_gate{}, owner);
}

/* owner: the inverted map, on the GPU. Takes it over by setting *owner to NULL. */
static lsp_status prepare_inverted(lsp_gather_plan *plan, void **owner, bool *done_so) {
    lsp_ctx *ctx = plan->ctx;
    plan_parts *parts = parts_of(plan);
    const lsp_gather_args *args = &plan->job.args;
    const gather_list map = {*owner, gather_list_type(args->n)};
    *done_so = false;
    if (plan->job.choice.strategy == LSP_STRATEGY_STAGE) {
        const lsp_owning owning = {map.at};
        lsp_found owned;
        const lsp_each_job each = {&owning, args->extent, {map.type, LSP_NONE, LSP_PASS_BOTH}, &owned, false, false};
        LSP_TRY(LSP_EACH(ctx, LSP_CUDA, gather_owned, each));
        LSP_TRY(stage_map(plan, WAY_STAGE, map, args->n, args->extent, (int64_t)owned.count, done_so));
    } else if (plan->job.choice.strategy == LSP_STRATEGY_INVERT) {
        parts->move.n = args->extent;
        parts->move.index = map;
        parts->move.high = parts->move.extent = args->n;
        parts->list = *owner;
        *owner = NULL;
        *done_so = true;
    }
    return LSP_OK;
}

static lsp_status prepare_scatter(lsp_gather_plan *plan) {
    lsp_ctx *ctx = plan->ctx;
    const lsp_gather_args *args = &plan->job.args;
    const lsp_strategy strategy = plan->job.choice.strategy;
    const bool last = args->rule == LSP_SCATTER_LAST;
    bool prepared = false;
    void *owner = NULL;
    LSP_FREES(ctx, owner);
    if (last || strategy == LSP_STRATEGY_STAGE || strategy == LSP_STRATEGY_INVERT) {
        LSP_TRY(lsp_alloc(ctx, LSP_CUDA, args->extent, lsp_type_bytes(gather_list_type(args->n)), &owner));
        LSP_TRY(find_owners(plan, owner));
        LSP_TRY(prepare_inverted(plan, &owner, &prepared));
    }
    return prepared ? LSP_OK : copy_indices(plan, last ? owner : NULL);
}

static lsp_status prepare_add(lsp_gather_plan *plan) {
    plan_parts *parts = parts_of(plan);
    const lsp_gather_args *args = &plan->job.args;
    gather_order *order = &parts->order;
    bool fits = false;
    *order = gather_order_for(&plan->job);
    parts->way = WAY_SUM;
    LSP_TRY(lsp_alloc(plan->ctx, LSP_CUDA, args->n, (size_t)order->key_bytes, &order->keys));
    LSP_TRY(lsp_alloc(plan->ctx, LSP_CUDA, args->n, (size_t)order->position_bytes, &order->position));
    LSP_TRY(lsp_gather_sort(plan->ctx, &plan->job, gather_list{args->index, args->index_type}, NULL, order));
    if (plan->job.choice.strategy == LSP_STRATEGY_STAGE) {
        LSP_TRY(stage_map(plan, WAY_STAGED_SUM, gather_list{order->position, gather_list_type(args->n)}, args->n,
                          args->n, args->n, &fits));
    }
    return fits ? lsp_alloc(plan->ctx, LSP_CUDA, args->n, plan->job.most_bytes, &parts->moved) : LSP_OK;
}

static lsp_status make_plan(lsp_gather_plan *plan) {
    const lsp_gather_args *args = &plan->job.args;
    if (args->n == 0) {
        return LSP_OK;
    }
    LSP_TRY(lsp_alloc(plan->ctx, LSP_HOST, 1, sizeof(plan_parts), &plan->parts));
    *parts_of(plan) = plan_parts{};
    parts_of(plan)->passes = 1;
    return !plan->job.scatter              ? prepare_gather(plan)
           : args->rule == LSP_SCATTER_ADD ? prepare_add(plan)
                                           : prepare_scatter(plan);
}

/* ---- calls ---- */

static lsp_status execute_column(lsp_gather_plan *plan, const lsp_column *column) {
    lsp_ctx *ctx = plan->ctx;
    const plan_parts *parts = parts_of(plan);
    lsp_column half = *column;
    switch (parts->way) {
    case WAY_MOVE:
        return lsp_gather_rescan(ctx, &parts->move, parts->passes, column);
    case WAY_STAGE:
        return lsp_gather_stage_run(ctx, &parts->stage, column);
    case WAY_SUM:
        return lsp_gather_sum(ctx, &parts->order, plan->job.args.n, plan->job.args.extent, false, column);
    case WAY_STAGED_SUM:
        half.to = parts->moved;
        LSP_TRY(lsp_gather_stage_run(ctx, &parts->stage, &half));
        half.to = column->to;
        half.from = parts->moved;
        LSP_TRY(lsp_gather_sum(ctx, &parts->order, plan->job.args.n, plan->job.args.extent, true, &half));
    }
    return LSP_OK;
}

static lsp_status run_plan(lsp_gather_plan *plan, const lsp_column *columns, int64_t count) {
    for (int64_t c = 0; plan->parts && c < count; c++) {
        LSP_TRY(execute_column(plan, &columns[c]));
    }
    return LSP_OK;
}

static lsp_status find_bad(lsp_ctx *ctx, const lsp_gather_job *job, int64_t *bad) {
    const lsp_gather_args *args = &job->args;
    const lsp_each_job each = {args, args->n, {args->index_type, LSP_NONE, LSP_PASS_BOTH}, NULL, false, false};
    LSP_TRY(LSP_EACH_FIRST(ctx, LSP_CUDA, gather_outside, bad, each));
    *bad = *bad < args->n ? *bad : -1;
    return LSP_OK;
}

const lsp_gather_device lsp_gather_cuda = {lsp_gather_run, find_bad, make_plan, run_plan};
