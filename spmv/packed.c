/* LSP_SPMV_PACKED: the engine of both devices. */
#include "packed.h"
#include "spmv.h"
#include <math.h>

/* The matrix of the rows that have entries. */
static lsp_csr packed_matrix(const lsp_csr *A, const lsp_packed *p) {
    lsp_csr P = *A;
    P.rows = p->count;
    P.rowptr = p->rowptr;
    return P;
}

static lsp_status prepare(lsp_spmv_plan *plan) {
    lsp_status status = LSP_OK;
    const lsp_csr *A = &plan->job.A;
    lsp_spmv_options options = plan->job.options;
    lsp_packed *p;
    LSP_TRY(lsp_spmv_make_parts(plan, sizeof *p));
    p = plan->parts;
    p->count = A->rows - plan->facts.empty_rows;
    LSP_TRY(lsp_spmv_hold(plan, p->count, sizeof *p->rows, (void **)&p->rows));
    LSP_TRY(lsp_spmv_hold(plan, p->count + 1, lsp_type_bytes(A->rowptr_type), &p->rowptr));
    LSP_TRY(lsp_spmv_hold(plan, p->count, (size_t)options.vectors * lsp_type_bytes(options.type), &p->sums));
    LSP_TRY(plan->job.device->packed->list(plan->ctx, A, p));
    const lsp_csr P = packed_matrix(A, p);
    options.method = LSP_SPMV_AUTO;
    LSP_TRY(lsp_spmv_plan_create(plan->ctx, &P, &options, &plan->packed));
    p->plan = plan->packed;
    plan->info.plan_bytes += p->plan->info.plan_bytes;
    plan->info.stored_entries = p->plan->info.stored_entries;
done:
    return status;
}

static lsp_status update(lsp_spmv_plan *plan) {
    const lsp_packed *p = plan->parts;
    const lsp_csr P = packed_matrix(&plan->job.A, p);
    return lsp_spmv_update(p->plan, &P);
}

/* May Y change where a row has no entries? Not if it becomes alpha*0 + 1*Y. */
static bool changes_empty_rows(const lsp_spmv_job *job) {
    const lsp_spmv_vectors *v = &job->vectors;
    return job->options.semiring != LSP_PLUS_TIMES || v->alpha_at != NULL || v->beta_at != NULL || v->beta != 1 ||
           !isfinite(v->alpha);
}

static lsp_status run(lsp_ctx *ctx, const lsp_spmv_job *job, void *parts) {
    lsp_status status = LSP_OK;
    const lsp_packed *p = parts;
    const lsp_spmv_vectors sums = {.alpha = 1, .x = job->vectors.x, .x_stride = job->vectors.x_stride, .y = p->sums};
    LSP_TRY(p->count > 0 ? lsp_spmv_execute(p->plan, &sums) : LSP_OK);
    LSP_TRY(job->device->packed->spread(ctx, job, p, changes_empty_rows(job)));
done:
    return status;
}

const lsp_spmv_engine lsp_spmv_packed = {.prepare = prepare, .run = run, .update = update};
