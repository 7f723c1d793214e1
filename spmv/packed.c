/* LSP_SPMV_PACKED: the engine of both devices, which lists rows and brings sums to Y. The plan makes the sums. */
#include "bodies.h"
#include "core/scan.h"
#include "spmv.h"
#include <math.h>

/* Fills rows and rowptr of p. Waits for nothing. */
static lsp_status list(lsp_ctx *ctx, const lsp_csr *A, const lsp_packed *p) {
    LSP_SCRATCH_SCOPE(ctx);
    lsp_spmv_listing listing = {.A = *A, .p = *p};
    lsp_each_job rows = lsp_each_of(&listing, A->rows + 1);
    rows.kind.index = A->rowptr_type;
    LSP_TRY(lsp_scratch_at(ctx, A->where, A->rows + 1, sizeof *listing.before, (void **)&listing.before));
    LSP_TRY(LSP_EACH(ctx, A->where, spmv_has_entries, rows));
    if (A->where == LSP_HOST) {
        lsp_prefix_sum(ctx, listing.before, A->rows);
    } else {
        LSP_TRY(lsp_cuda_scan(ctx, listing.before, A->rows + 1, NULL));
    }
    return LSP_EACH(ctx, A->where, spmv_list_row, rows);
}

static lsp_status prepare(lsp_spmv_plan *plan) {
    const lsp_csr *A = &plan->job.A;
    const lsp_spmv_options *options = &plan->job.options;
    lsp_packed *p;
    LSP_TRY(lsp_spmv_make_parts(plan, sizeof *p, (void **)&p));
    p->count = A->rows - plan->facts.empty_rows;
    LSP_TRY(lsp_spmv_hold(plan, p->count, sizeof *p->rows, (void **)&p->rows));
    LSP_TRY(lsp_spmv_hold(plan, p->count + 1, lsp_type_bytes(A->rowptr_type), &p->rowptr));
    LSP_TRY(lsp_spmv_hold(plan, p->count, (size_t)options->vectors * lsp_type_bytes(options->type), &p->sums));
    return list(plan->ctx, A, p);
}

/* May Y change where a row has no entries? Not if it becomes alpha*0 + 1*Y. */
static bool changes_empty_rows(const lsp_spmv_job *job) {
    const lsp_spmv_vectors *v = &job->vectors;
    return job->options.semiring != LSP_PLUS_TIMES || v->alpha_at != NULL || v->beta_at != NULL || v->beta != 1 ||
           !isfinite(v->alpha);
}

static lsp_status run(lsp_ctx *ctx, const lsp_spmv_job *job, void *parts) {
    return job->device->spread(ctx, job, parts, changes_empty_rows(job));
}

const lsp_spmv_engine lsp_spmv_packed = {.prepare = prepare, .run = run};
