/* Plans of gather and scatter: the map is checked once and prepared for the chosen strategy; each call then moves
 * columns by it. */
#include "core/cuda.h"
#include "gather_scatter.h"

static lsp_status create(lsp_ctx *ctx, const lsp_gather_args *args, bool scatter, lsp_gather_plan **plan) {
    lsp_gather_plan *made LSP_AT_END(lsp_gather_plan_drop) = NULL;
    lsp_gather_job job;
    LSP_ENTER(ctx);
    LSP_REQUIRE(plan != NULL, LSP_ERR_ARGUMENT, "the place for the plan is NULL");
    LSP_TRY(lsp_gather_check(ctx, args, scatter, true, &job));
    LSP_REQUIRE(args->where == LSP_HOST || !lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                "work on the stream is being recorded into a graph: a plan cannot be made there, because that waits");
    LSP_TRY(lsp_gather_check_indices(ctx, &job));
    LSP_TRY(lsp_gather_choose(ctx, &job));
    LSP_TRY(LSP_PLAN_NEW(ctx, &made));
    made->job = job;
    made->info = lsp_gather_info_of(&job);
    made->info.plan_bytes = (int64_t)sizeof *made;
    LSP_TRY(lsp_gather_device_of(&job)->make_plan(made));
    made->job.args.index = NULL; /* the caller may free it */
    made->job.args.columns = NULL;
    lsp_log(ctx, "%s: a plan for %lld indices into %lld elements, strategy %s: %s", scatter ? "scatter" : "gather",
            (long long)args->n, (long long)args->extent, lsp_strategy_name(made->info.strategy), made->info.reason);
    *plan = made, made = NULL;
    return LSP_OK;
}

lsp_status lsp_gather_plan_create(lsp_ctx *ctx, const lsp_gather_args *args, lsp_gather_plan **plan) {
    return create(ctx, args, false, plan);
}

lsp_status lsp_scatter_plan_create(lsp_ctx *ctx, const lsp_gather_args *args, lsp_gather_plan **plan) {
    return create(ctx, args, true, plan);
}

void lsp_gather_plan_destroy(lsp_gather_plan *plan) {
    if (plan != NULL && plan->ctx != NULL) {
        lsp_gather_device_of(&plan->job)->free_plan(plan);
    }
    lsp_plan_end(plan);
}

lsp_status lsp_gather_plan_get_info(const lsp_gather_plan *plan, lsp_gather_info *info) {
    return LSP_PLAN_TELL(plan, info);
}

lsp_status lsp_gather_execute(lsp_gather_plan *plan, const lsp_column *columns, int64_t column_count) {
    if (plan == NULL || plan->ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    LSP_TRY(lsp_gather_check_columns(plan->ctx, &plan->job, columns, column_count));
    if (plan->job.args.n > 0) {
        LSP_TRY(lsp_gather_device_of(&plan->job)->run_plan(plan, columns, column_count));
    }
    return LSP_OK;
}
