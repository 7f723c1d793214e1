/* Plans of gather and scatter: the map is checked once and prepared for the chosen strategy; each call then moves
 * columns by it. */
#include "core/cuda.h"
#include "gather_scatter.h"

static lsp_status create(lsp_ctx *ctx, const lsp_gather_args *args, bool scatter, lsp_gather_plan **plan) {
    LSP_PLAN_MAKE(lsp_gather_plan, made, plan);
    lsp_gather_job job;
    LSP_TRY(lsp_gather_check(ctx, args, scatter, true, &job));
    LSP_REQUIRE(args->where == LSP_HOST || !lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                "work on the stream is being recorded into a graph: a plan cannot be made there, because that waits");
    LSP_TRY(lsp_gather_check_indices(ctx, &job));
    LSP_TRY(lsp_gather_choose(ctx, &job));
    made->job = job;
    made->info = job.choice;
    LSP_TRY(lsp_gather_device_of(&job)->make_plan(made));
    made->info.plan_bytes = lsp_plan_bytes(made);
    made->job.args.index = NULL; /* the caller may free it */
    made->job.args.columns = NULL;
    lsp_log(ctx, "%s: a plan for %lld indices into %lld elements, strategy %s: %s", scatter ? "scatter" : "gather",
            (long long)args->n, (long long)args->extent, lsp_strategy_name(made->info.strategy), made->info.reason);
    return LSP_PLAN_GIVE(made, plan);
}

lsp_status lsp_gather_plan_create(lsp_ctx *ctx, const lsp_gather_args *args, lsp_gather_plan **plan) {
    return create(ctx, args, false, plan);
}

lsp_status lsp_scatter_plan_create(lsp_ctx *ctx, const lsp_gather_args *args, lsp_gather_plan **plan) {
    return create(ctx, args, true, plan);
}

void lsp_gather_plan_destroy(lsp_gather_plan *plan) { lsp_plan_end(plan); }

lsp_status lsp_gather_plan_get_info(const lsp_gather_plan *plan, lsp_gather_info *info) {
    return LSP_PLAN_TELL(plan, info);
}

lsp_status lsp_gather_execute(lsp_gather_plan *plan, const lsp_column *columns, int64_t column_count) {
    LSP_PLAN_USE(plan);
    LSP_TRY(lsp_gather_check_columns(ctx, &plan->job, columns, column_count));
    return plan->job.args.n > 0 ? lsp_gather_device_of(&plan->job)->run_plan(plan, columns, column_count) : LSP_OK;
}
