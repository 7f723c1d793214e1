/* What the steps of a run share: the device, the times of runs, the time of one product. */
#include "cg.h"
#include "text.h"

#include <stdlib.h>

/* Multiplications from which --device auto starts a GPU: starting one takes a third of a second, in which the CPU does
 * about as many. */
static const double worth_a_gpu = 3e8;

enum { LONG_ENOUGH_MS = 20, MOST_PRODUCTS = 1 << 14 };

int cg_choose_device(cg_job *job, double multiplications) {
    cli_run *run = &job->run;
    const bool asked = run->loader.begun;
    if (job->options.device == CLI_AUTO && !asked && lsp_cuda_device_count() > 0 && multiplications >= worth_a_gpu) {
        (void)cli_gpu_begin(run);
    }
    if (run->loader.begun) {
        cli_loader_give(&run->loader, &job->A.csr);
        if (!cli_gpu_end(run) && asked) {
            return cli_fail(CLI_DEVICE, "%s", run->loader.error);
        }
        if (run->gpu && run->loader.status != LSP_OK) {
            if (asked) {
                return cli_failed_in(run, run->gpu, run->loader.status);
            }
            run->gpu = NULL; /* A does not fit there; the CPU takes it */
        }
    }
    (void)lsp_ctx_get_info(cg_ctx(job), &run->machine);
    return CLI_DONE;
}

lsp_ctx *cg_ctx(const cg_job *job) { return job->run.gpu ? job->run.gpu : job->run.ctx; }

const lsp_csr *cg_matrix(const cg_job *job) { return job->run.gpu ? &job->run.loader.on_gpu[0] : &job->A.csr; }

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void cg_keep_times(cg_job *job, double *seconds) {
    const size_t n = (size_t)job->repeats;
    qsort(seconds, n, sizeof *seconds, by_size);
    job->seconds = seconds[0];
    job->median_seconds = (seconds[(n - 1) / 2] + seconds[n / 2]) / 2;
}

/* ---- one product ---- */

static lsp_status run_products(lsp_ctx *ctx, lsp_spmv_plan *plan, const lsp_spmv_vectors *vectors, int64_t count,
                               double *ms) {
    const double begun = cli_now();
    lsp_status status = LSP_OK;
    for (int64_t i = 0; i < count && status == LSP_OK; i++) {
        status = lsp_spmv_execute(plan, vectors);
    }
    status = status == LSP_OK ? lsp_ctx_sync(ctx) : status;
    *ms = cli_now() - begun;
    return status;
}

void cg_time_product(cg_job *job) {
    lsp_ctx *ctx = cg_ctx(job);
    const lsp_csr *A = cg_matrix(job);
    const lsp_type type = cg_type(&job->options);
    const lsp_spmv_options how = {.type = type, .method = job->spmv->method, .passes = job->options.passes};
    const lsp_csr_types there = {.place = lsp_place_of(A->where)};
    lsp_spmv_plan *plan = NULL;
    lsp_csr zeros = {0}, x = {0}, y = {0};
    double ms = 0;
    lsp_status status = cg_vector_make(job->run.ctx, A->rows, type, &zeros);
    status = status == LSP_OK ? lsp_csr_copy(ctx, &zeros, &there, &x) : status;
    status = status == LSP_OK ? lsp_csr_copy(ctx, &zeros, &there, &y) : status;
    status = status == LSP_OK ? lsp_spmv_plan_create(ctx, A, &how, &plan) : status;
    const lsp_spmv_vectors vectors = {.alpha = 1, .x = x.val, .y = y.val};
    status = status == LSP_OK ? run_products(ctx, plan, &vectors, 1, &ms) : status;
    for (int64_t count = 1; count <= MOST_PRODUCTS && status == LSP_OK; count *= 4) {
        status = run_products(ctx, plan, &vectors, count, &ms);
        job->product_seconds = status == LSP_OK ? ms / 1e3 / (double)count : 0;
        if (ms >= LONG_ENOUGH_MS) {
            break;
        }
    }
    lsp_spmv_plan_destroy(plan);
    (void)lsp_csr_free(ctx, &x);
    (void)lsp_csr_free(ctx, &y);
    (void)lsp_csr_free(job->run.ctx, &zeros);
}
