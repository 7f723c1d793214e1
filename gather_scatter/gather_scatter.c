/* The public calls of gather and scatter, without a plan: to[i] = from[index[i]] and to[index[i]] = from[i]. Each call
 * asks once where the arrays are: the CPU moves arrays on the host, the GPU those on the GPU. */
#include "gather_scatter.h"
#include "core/cuda.h"

/* Looks for an index outside before anything is written, if the caller wishes it. */
static lsp_status check_indices(lsp_ctx *ctx, const lsp_gather_job *job) {
    lsp_status status = LSP_OK;
    int64_t bad = -1, index = 0;
    if (!(job->args.flags & LSP_GATHER_CHECK)) {
        return LSP_OK;
    }
    if (job->args.where == LSP_HOST) {
        LSP_TRY(lsp_gather_find_bad_cpu(ctx, job, &bad, &index));
    } else {
        LSP_REQUIRE(!lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                    "work on the stream is being recorded into a graph: indices cannot be checked there, because the "
                    "check waits");
        LSP_TRY(lsp_gather_find_bad_cuda(ctx, job, &bad, &index));
    }
    if (bad >= 0) {
        status = lsp_gather_refuse_index(ctx, bad, index, job->args.extent);
    }
done:
    return status;
}

static lsp_status run(lsp_ctx *ctx, const lsp_gather_args *args, bool scatter) {
    lsp_status status = LSP_OK;
    lsp_gather_job job;
    if (ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    LSP_TRY(lsp_gather_check(ctx, args, scatter, false, &job));
    LSP_TRY(lsp_gather_choose(ctx, &job, NULL));
    if (job.args.n == 0) {
        return LSP_OK;
    }
    LSP_TRY(check_indices(ctx, &job));
    LSP_TRY(args->where == LSP_HOST ? lsp_gather_run_cpu(ctx, &job) : lsp_gather_run_cuda(ctx, &job));
done:
    return status;
}

lsp_status lsp_gather(lsp_ctx *ctx, const lsp_gather_args *args) { return run(ctx, args, false); }

lsp_status lsp_scatter(lsp_ctx *ctx, const lsp_gather_args *args) { return run(ctx, args, true); }
