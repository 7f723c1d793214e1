/* The iterations on a GPU. "streamed": kernels for products and vectors, which decide by themselves; the host enqueues
 * iterations in batches, as one CUDA graph unless the user's functions take part, and reads what an earlier batch found
 * while the next one runs. "resident": one kernel does everything (resident.h). */
#include "gpu.h"
#include "resident.h"
#include "solve/multigrid/job.h"
#include "solve/rules.h"

enum { MOST_BATCH = 16, USER_BATCH = 4 };
static const double batch_seconds = 150e-6, kernel_seconds = 2.5e-6, bytes_a_second = 3e12;

/* Iterations of a batch: enough to hide the host, and few, because the host ends a batch late. */
static int batch_for(const lsp_solve_plan *plan) {
    if (lsp_solve_has_user_part(plan)) {
        return USER_BATCH;
    }
    const double products = plan->bicgstab ? 2 : 1, kernels = 4 * products, vectors = 10 * products;
    const bool cycles = plan->options.precondition == LSP_PRECONDITION_MULTIGRID;
    const double cycle_seconds = cycles ? plan->options.multigrid->cycle_seconds : 0;
    const double seconds = products * (plan->spmv_info.predicted_seconds + cycle_seconds) + kernels * kernel_seconds +
                           vectors * (double)plan->n * (double)lsp_type_bytes(plan->type) / bytes_a_second;
    const double batch = batch_seconds / seconds;
    return batch > MOST_BATCH ? MOST_BATCH : batch > 1 ? (int)batch : 1;
}

static lsp_status prepare(lsp_solve_plan *plan) {
    LSP_TRY(lsp_alloc(plan->ctx, LSP_CUDA, 1, sizeof(lsp_solve_area), &plan->parts));
    return lsp_cuda_queue_open(plan->ctx, &plan->queue, sizeof(lsp_solve_news));
}

/* ---- batches ---- */

static lsp_status enqueue_iterations(lsp_solve_plan *plan, lsp_solve_outcome *outcome) {
    for (int k = batch_for(plan); k > 0; k--) {
        LSP_TRY(lsp_solve_iterate(plan, outcome));
    }
    return LSP_OK;
}

/* Records a batch, unless that was done or cannot be done: then each launch is enqueued by itself. */
static void record(lsp_solve_plan *plan, lsp_solve_outcome *outcome) {
    const lsp_multigrid *m = plan->options.multigrid;
    if (m != NULL && m->version != plan->recorded) {
        lsp_cuda_queue_forget(&plan->queue); /* it reads the hierarchy before its update */
        plan->recorded = m->version;
    }
    if (plan->queue.graph == NULL && !lsp_solve_has_user_part(plan) &&
        lsp_cuda_queue_record(plan->ctx, &plan->queue) == LSP_OK &&
        lsp_cuda_queue_recorded(plan->ctx, &plan->queue, enqueue_iterations(plan, outcome)) != LSP_OK) {
        lsp_log(plan->ctx, "solve: no CUDA graph: %s", lsp_last_error(plan->ctx));
    }
}

/* Tells the hook what it has not seen. Returns true if it stops the solver. */
static bool tell(const lsp_solve_plan *plan, const lsp_solve_news *news, int64_t before, int64_t *seen) {
    const lsp_solve_options *o = &plan->options;
    while (o->on_iteration != NULL && *seen < news->state.iteration) {
        const int64_t k = ++*seen;
        if (o->on_iteration(o->iteration_user, before + k, news->recent[k % LSP_SOLVE_RECENT])) {
            return true;
        }
    }
    return false;
}

/* Enqueues batches, one ahead of what the host knows, until one of them brings the end. */
static lsp_status run_batches(lsp_solve_plan *plan, lsp_solve_outcome *outcome) {
    lsp_ctx *ctx = plan->ctx;
    const lsp_cuda_queue *queue = &plan->queue;
    const lsp_solve_area *area = plan->parts;
    int64_t sent = 0, read = 0, seen = 0;
    bool ended = false;
    while (!ended || read < sent) {
        LSP_TRY(lsp_go_on(ctx));
        if (!ended) {
            LSP_TRY(queue->graph != NULL ? lsp_cuda_queue_replay(ctx, queue) : enqueue_iterations(plan, outcome));
            LSP_TRY(lsp_cuda_queue_send(ctx, queue, (int)(sent++ % LSP_CUDA_SLOTS), &area->news));
        }
        if (ended || sent - read == LSP_CUDA_SLOTS) {
            const void *memory;
            LSP_TRY(lsp_cuda_queue_news(ctx, queue, (int)(read++ % LSP_CUDA_SLOTS), &memory));
            const lsp_solve_news *news = memory;
            outcome->state = news->state;
            outcome->stopped = outcome->stopped || tell(plan, news, outcome->before, &seen);
            ended = outcome->stopped || news->state.end != LSP_SOLVE_RUNS;
        }
    }
    return LSP_OK;
}

/* ---- the whole ---- */

static lsp_status enqueue(lsp_solve_plan *plan, const void *b, lsp_solve_outcome *outcome) {
    lsp_ctx *ctx = plan->ctx;
    lsp_solve_area *area = plan->parts;
    lsp_solve_state *s = &outcome->state;
    double *const told = s->history; /* on the host */
    int64_t kept = lsp_min(s->history_capacity, s->max_iterations < INT64_MAX ? s->max_iterations + 1 : INT64_MAX);
    void *history = NULL;
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, kept, sizeof *told, &history));
    s->history = history;
    s->history_capacity = kept;
    record(plan, outcome);
    LSP_TRY(lsp_cuda_copy(ctx, plan->bicgstab ? &area->after_second : &area->after_first, LSP_CUDA, s, LSP_HOST,
                          sizeof *s));
    LSP_TRY(lsp_solve_start(plan, b, outcome));
    LSP_TRY(run_batches(plan, outcome));
    kept = lsp_min(kept, s->iteration + 1);
    return lsp_cuda_copy(ctx, told, LSP_HOST, history, LSP_CUDA, kept * (int64_t)sizeof *told);
}

static lsp_status run_streamed(lsp_solve_plan *plan, const void *b, lsp_solve_outcome *outcome) {
    LSP_SCRATCH_SCOPE(plan->ctx);
    const lsp_status status = enqueue(plan, b, outcome);
    if (status != LSP_OK) {
        (void)lsp_cuda_sync(plan->ctx); /* what was enqueued uses the plan's memory */
    }
    return status;
}

static lsp_status run_round(lsp_solve_plan *plan, const void *b, lsp_solve_outcome *outcome) {
    if (plan->resident != NULL) {
        outcome->solver = "resident";
        return lsp_resident_cg(plan->ctx, plan->resident, b, plan->vectors.inverse, outcome->guess, &outcome->state);
    }
    return run_streamed(plan, b, outcome);
}

static lsp_status update(lsp_solve_plan *plan, const lsp_csr *A) {
    lsp_cuda_queue_forget(&plan->queue); /* it reads the arrays of the old A */
    return plan->resident != NULL ? lsp_resident_update(plan->ctx, plan->resident, A) : LSP_OK;
}

const lsp_solve_backend lsp_solve_cuda = {.solver = "streamed",
                                          .prepare = prepare,
                                          .run = run_round,
                                          .loop = lsp_solve_launch_loop,
                                          .sums = lsp_solve_launch_sums,
                                          .diagonal = lsp_solve_launch_diagonal,
                                          .fits = lsp_resident_fits,
                                          .keep = lsp_resident_create,
                                          .update = update,
                                          .nas = lsp_resident_nas};
