/* Launches the persistent kernel. Its blocks wait for each other, so the launch is cooperative: the driver runs all of
 * them together or refuses. */
#include "kernel_cg.cuh"
#include "kernel_nas.cuh"

/* Starts `kernel` once the barrier's words are cleared. */
template <typename Task>
static lsp_status start(lsp_ctx *ctx, const lsp_resident *plan, void (*kernel)(resident_job, Task), const Task &task) {
    const int64_t blocks = (int64_t)plan->job.A.columns * plan->job.A.chunks;
    LSP_TRY(lsp_cuda_clear(ctx, plan->job.words, 4 * blocks * blocks * (int64_t)sizeof *plan->job.words));
    LSP_TRY(lsp_allow_shared(ctx, kernel, plan->shared));
    return LSP_LAUNCH_TOGETHER(ctx, true, kernel, blocks, plan->shape.threads, plan->shared, plan->job, task);
}

template <bool MEMORY> static lsp_status start_cg(lsp_ctx *ctx, const lsp_resident *plan, const cg_task &task) {
    return plan->shape.lanes == 1   ? start(ctx, plan, kernel_cg<1, MEMORY>, task)
           : plan->shape.lanes == 2 ? start(ctx, plan, kernel_cg<2, MEMORY>, task)
                                    : start(ctx, plan, kernel_cg<4, MEMORY>, task);
}
template <bool MEMORY> static lsp_status start_nas(lsp_ctx *ctx, const lsp_resident *plan, const nas_task &task) {
    return plan->shape.lanes == 1   ? start(ctx, plan, kernel_nas<1, MEMORY>, task)
           : plan->shape.lanes == 2 ? start(ctx, plan, kernel_nas<2, MEMORY>, task)
                                    : start(ctx, plan, kernel_nas<4, MEMORY>, task);
}

lsp_status resident_try(lsp_ctx *ctx, const lsp_resident *plan) {
    const nas_task none = {};
    const lsp_status status = plan->job.own ? start_nas<true>(ctx, plan, none) : start_nas<false>(ctx, plan, none);
    return status == LSP_OK ? lsp_cuda_sync(ctx)
                            : lsp_fail(ctx, LSP_ERR_UNSUPPORTED, "the driver does not run %d blocks together",
                                       plan->job.A.columns * plan->job.A.chunks);
}

extern "C" lsp_status lsp_resident_cg(lsp_ctx *ctx, lsp_resident *plan, const lsp_resident_args *args,
                                      lsp_resident_result *result) {
    LSP_SCRATCH_SCOPE(ctx);
    cg_task task = {};
    task.b = args->b;
    task.x = args->x;
    task.inverse = args->inverse;
    task.rtol = args->rtol;
    task.atol = args->atol;
    task.max_iterations = args->max_iterations;
    task.fixed = args->fixed;
    task.use_x0 = args->use_x0;
    task.history_capacity = args->history ? lsp_min(args->history_capacity, args->max_iterations + 1) : 0;
    task.result = (lsp_resident_result *)plan->result;
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, task.history_capacity, sizeof(double), (void **)&task.history));
    LSP_TRY(plan->job.own ? start_cg<true>(ctx, plan, task) : start_cg<false>(ctx, plan, task));
    LSP_TRY(lsp_cuda_read(ctx, result, plan->result, sizeof *result));
    const int64_t stored = lsp_min(task.history_capacity, result->iteration + 1);
    if (stored > 0) {
        LSP_TRY(lsp_cuda_copy(ctx, args->history, LSP_HOST, task.history, LSP_CUDA, stored * (int64_t)sizeof(double)));
        LSP_TRY(lsp_cuda_wait(ctx));
    }
    for (int64_t k = 0; k < stored; k++) { /* the kernel has no registers for it */
        args->history[k] = lsp_rule_residual(args->history[k], result->bb);
    }
    return LSP_OK;
}

extern "C" lsp_status lsp_resident_nas(lsp_ctx *ctx, lsp_resident *plan, const lsp_resident_nas_args *args,
                                       double *seconds) {
    LSP_SCRATCH_SCOPE(ctx);
    const int64_t bytes = args->iterations * (int64_t)sizeof(double);
    nas_task task = {};
    double began = 0;
    task.shift = args->shift;
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, lsp_max(args->iterations, 1), sizeof(double), (void **)&task.zeta));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, lsp_max(args->iterations, 1), sizeof(double), (void **)&task.residual));
    for (int timed = 0; timed < 2; timed++) {
        task.iterations = timed ? args->iterations : 1;
        began = lsp_now();
        LSP_TRY(plan->job.own ? start_nas<true>(ctx, plan, task) : start_nas<false>(ctx, plan, task));
        LSP_TRY(lsp_cuda_sync(ctx));
    }
    *seconds = lsp_now() - began;
    if (args->zeta) {
        LSP_TRY(lsp_cuda_copy(ctx, args->zeta, LSP_HOST, task.zeta, LSP_CUDA, bytes));
    }
    if (args->residual) {
        LSP_TRY(lsp_cuda_copy(ctx, args->residual, LSP_HOST, task.residual, LSP_CUDA, bytes));
    }
    return LSP_OK;
}
