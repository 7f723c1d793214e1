/* The public calls of gather and scatter, without a plan: to[i] = from[index[i]] and to[index[i]] = from[i]. */
#include "gather_scatter.h"
#include "core/cuda.h"

lsp_status lsp_gather_check_indices(lsp_ctx *ctx, const lsp_gather_job *job) {
    int64_t bad = -1, index = 0;
    LSP_TRY(job->args.n > 0 ? lsp_gather_device_of(job)->find_bad(ctx, job, &bad) : LSP_OK);
    if (bad < 0) {
        return LSP_OK;
    }
    LSP_TRY(lsp_read_index(ctx, job->args.where, job->args.index, job->args.index_type, bad, &index));
    return lsp_gather_refuse_index(ctx, bad, index, job->args.extent);
}

static lsp_status run(lsp_ctx *ctx, const lsp_gather_args *args, bool scatter, lsp_gather_info *info) {
    lsp_gather_job job;
    LSP_ENTER(ctx);
    LSP_TRY(lsp_gather_check(ctx, args, scatter, false, &job));
    LSP_TRY(lsp_gather_choose(ctx, &job));
    if (args->n > 0 && (args->flags & LSP_GATHER_CHECK)) {
        LSP_REQUIRE(args->where == LSP_HOST || !lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                    "work on the stream is being recorded into a graph: indices cannot be checked there, because the "
                    "check waits");
        LSP_TRY(lsp_gather_check_indices(ctx, &job));
    }
    LSP_TRY(args->n > 0 ? lsp_gather_device_of(&job)->run(ctx, &job) : LSP_OK);
    LSP_TELL(info, job.choice);
    return LSP_OK;
}

lsp_status lsp_gather(lsp_ctx *ctx, const lsp_gather_args *args, lsp_gather_info *info) {
    return run(ctx, args, false, info);
}

lsp_status lsp_scatter(lsp_ctx *ctx, const lsp_gather_args *args, lsp_gather_info *info) {
    return run(ctx, args, true, info);
}
