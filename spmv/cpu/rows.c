/* CSR as it is, on the CPU: threads own consecutive rows. */
#include "cpu.h"
#include "spmv/ref.h"

typedef struct work {
    const lsp_spmv_job *job;
    lsp_spmv_faults faults;
} work;

static void do_share(void *data, int64_t begin, int64_t end) {
    work *w = data;
    lsp_spmv_ref_rows(w->job, begin, end, &w->faults);
}

static lsp_status run(lsp_ctx *ctx, const lsp_spmv_job *job, void *parts) {
    work w = {job, {INT64_MAX, INT64_MAX}};
    (void)parts;
    lsp_for_shares(ctx, job->A.rows, 1024, do_share, &w);
    return lsp_spmv_tell_faults(ctx, job, &w.faults);
}

const lsp_spmv_engine lsp_spmv_rows_cpu = {.run = run};
