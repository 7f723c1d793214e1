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

/* A kernel for the plan's lanes; for rows in memory, or in registers. */
#define WITH_LANES(kernel, memory)                                                                                     \
    (plan->shape.lanes == 1 ? kernel<1, memory> : plan->shape.lanes == 2 ? kernel<2, memory> : kernel<4, memory>)
#define OF_PLAN(kernel) (plan->job.own ? WITH_LANES(kernel, true) : WITH_LANES(kernel, false))

lsp_status resident_try(lsp_ctx *ctx, const lsp_resident *plan) {
    const nas_task none = {};
    const lsp_status status = start(ctx, plan, OF_PLAN(kernel_nas), none);
    return status == LSP_OK ? lsp_cuda_sync(ctx)
                            : lsp_fail(ctx, LSP_ERR_UNSUPPORTED, "the driver does not run %d blocks together",
                                       plan->job.A.columns * plan->job.A.chunks);
}

extern "C" lsp_status lsp_resident_cg(lsp_ctx *ctx, const lsp_resident *plan, const double *b, const double *inverse,
                                      bool use_x0, lsp_solve_state *s) {
    LSP_SCRATCH_SCOPE(ctx);
    lsp_resident_result result;
    cg_task task = {b, inverse, use_x0, *s, (lsp_resident_result *)plan->result};
    task.s.history_capacity = s->history ? lsp_min(s->history_capacity, s->max_iterations + 1) : 0;
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, task.s.history_capacity, sizeof(double), (void **)&task.s.history));
    LSP_TRY(start(ctx, plan, OF_PLAN(kernel_cg), task));
    LSP_TRY(lsp_cuda_read(ctx, &result, plan->result, sizeof result));
    s->bb = result.bb;
    s->rr = result.rr;
    s->rz = result.rz;
    s->denominator = result.denominator;
    s->iteration = result.iteration;
    lsp_rule_stop(s, result.end, result.cause);
    const int64_t stored = lsp_min(task.s.history_capacity, s->iteration + 1);
    if (stored > 0) {
        LSP_TRY(lsp_cuda_read(ctx, s->history, task.s.history, stored * (int64_t)sizeof(double)));
    }
    for (int64_t k = 0; k < stored; k++) { /* the kernel has no registers for it */
        s->history[k] = lsp_rule_residual(s->history[k], s->bb);
    }
    return LSP_OK;
}

extern "C" lsp_status lsp_resident_nas(lsp_ctx *ctx, const lsp_resident *plan, double shift, int64_t iterations,
                                       double *zeta, double *residual, double *seconds) {
    LSP_SCRATCH_SCOPE(ctx);
    nas_task task = {};
    double began = 0;
    task.shift = shift;
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, iterations, &task.zeta));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, iterations, &task.residual));
    for (int timed = 0; timed < 2; timed++) {
        task.iterations = timed ? iterations : 1;
        began = lsp_now();
        LSP_TRY(start(ctx, plan, OF_PLAN(kernel_nas), task));
        LSP_TRY(lsp_cuda_sync(ctx));
    }
    *seconds = lsp_now() - began;
    LSP_TRY(lsp_cuda_read(ctx, zeta, task.zeta, iterations * (int64_t)sizeof *zeta));
    return lsp_cuda_read(ctx, residual, task.residual, iterations * (int64_t)sizeof *residual);
}
