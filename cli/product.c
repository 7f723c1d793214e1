/* C = A*B: multiplied, checked, and, unless it fails its check, written. */
#include "interrupt.h"
#include "spgemm.h"

#include <stdlib.h>

static int check_factors(const cli_job *job) {
    const cli_matrix *factors[] = {&job->A, job->second};
    for (int i = 0; i < 2; i++) {
        if (factors[i]->csr.val_type == LSP_C64) {
            return cli_fail(CLI_INPUT, "%s is complex: products of complex matrices are not supported",
                            factors[i]->name);
        }
    }
    const lsp_csr *A = &job->A.csr, *B = &job->second->csr;
    bool transpose = job->options.transpose_b;
    if (A->cols == (transpose ? B->cols : B->rows)) {
        return CLI_DONE;
    }
    if (A == B) {
        return cli_fail(CLI_INPUT, "%s is %lld x %lld: A*A is not defined, but A*A^T is (--transpose-b)", job->A.name,
                        (long long)A->rows, (long long)A->cols);
    }
    return cli_fail(CLI_INPUT, "%s is %lld x %lld and %s is %lld x %lld: %s is not defined", job->A.name,
                    (long long)A->rows, (long long)A->cols, job->B.name, (long long)B->rows, (long long)B->cols,
                    cli_formula(job));
}

static lsp_spgemm_options how_to_multiply(const cli_job *job, lsp_spgemm_method method) {
    return (lsp_spgemm_options){.method = method,
                                .transpose_b = job->options.transpose_b,
                                .types = {.val_type = cli_value_type(&job->options)}};
}

/* One product, or with --dry-run its plan alone. */
static lsp_status multiply_once(cli_job *job, double *ms) {
    const lsp_csr *A = &job->A.csr, *B = &job->second->csr;
    lsp_spgemm_options how = how_to_multiply(job, LSP_SPGEMM_AUTO);
    lsp_spgemm_plan *plan = NULL;
    lsp_csr_free(job->ctx, &job->C);
    cli_progress_begin(&job->progress, job->options.dry_run ? "planning" : "multiplying", cli_formula(job));
    lsp_status status = lsp_spgemm_plan_create(job->ctx, A, B, &how, &plan);
    if (status == LSP_OK && !job->options.dry_run) {
        status = lsp_spgemm_execute(plan, A, B, &job->C);
    }
    *ms = cli_progress_end(&job->progress);
    if (status == LSP_OK) {
        status = lsp_spgemm_plan_get_info(plan, &job->plan);
    }
    lsp_spgemm_plan_destroy(plan);
    return status;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int multiply(cli_job *job) {
    job->repeats = job->options.repeat > 0 ? job->options.repeat : 1;
    double *ms = calloc((size_t)job->repeats, sizeof *ms);
    if (!ms) {
        return cli_fail(CLI_MEMORY, "no memory for %lld times", (long long)job->repeats);
    }
    lsp_status status = LSP_OK;
    for (int64_t i = 0; i < job->repeats && status == LSP_OK; i++) {
        status = multiply_once(job, &ms[i]);
    }
    qsort(ms, (size_t)job->repeats, sizeof *ms, by_size);
    job->multiplied = status == LSP_OK && !job->options.dry_run;
    if (job->multiplied) {
        job->multiply_ms = ms[0];
        job->median_ms = (ms[(job->repeats - 1) / 2] + ms[job->repeats / 2]) / 2;
    }
    free(ms);
    return status == LSP_OK ? CLI_DONE : cli_failed(job, status);
}

double cli_gflops(const cli_job *job) {
    return job->multiplied && job->multiply_ms > 0 ? 2 * (double)job->plan.products / (job->multiply_ms * 1e6) : 0;
}

/* Every method sums in the same order with the same rounding, so nothing short of equality will do. */
static int check(cli_job *job) {
    lsp_csr expected = {0};
    lsp_spgemm_options how = how_to_multiply(job, LSP_SPGEMM_REFERENCE);
    cli_progress_begin(&job->progress, "checking", cli_formula(job));
    lsp_status status = lsp_spgemm(job->ctx, &job->A.csr, &job->second->csr, &how, &expected, NULL);
    if (status == LSP_OK) {
        status = lsp_csr_compare(job->ctx, &job->C, &expected, &job->difference);
    }
    cli_progress_end(&job->progress);
    lsp_csr_free(job->ctx, &expected);
    if (status != LSP_OK) {
        return cli_failed(job, status);
    }
    const lsp_csr_difference *d = &job->difference;
    job->checked = true;
    job->check_ok = d->same_shape && d->same_pattern && d->max_rel == 0;
    return CLI_DONE;
}

static void note_peak(cli_job *job) {
    if (lsp_ctx_get_info(job->ctx, &job->machine) == LSP_OK && job->machine.host_peak_bytes > job->peak_bytes) {
        job->peak_bytes = job->machine.host_peak_bytes;
    }
}

static int write_product(cli_job *job) {
    const char *path = job->options.output;
    cli_progress_begin(&job->progress, "writing", path);
    cli_guard_output(path);
    lsp_status status = lsp_mtx_write(job->ctx, path, &job->C, NULL);
    cli_guard_end();
    job->write_ms = cli_progress_end(&job->progress);
    job->written = status == LSP_OK;
    return status == LSP_OK ? CLI_DONE : cli_failed(job, status);
}

int cli_product(cli_job *job) {
    CLI_STEP(check_factors(job));
    CLI_STEP(multiply(job));
    note_peak(job);
    if (job->options.check) {
        CLI_STEP(check(job));
        (void)lsp_ctx_reset_peak(job->ctx); /* what the check took is not the product's */
    }
    if (job->options.output && (!job->checked || job->check_ok)) {
        CLI_STEP(write_product(job));
    }
    note_peak(job);
    return CLI_DONE;
}

int cli_check_failed(const cli_job *job) {
    const lsp_csr_difference *d = &job->difference;
    if (!d->same_shape || !d->same_pattern) {
        return cli_fail(CLI_CHECK, "the check failed: the pattern of %s is not the reference's, first in row %lld",
                        cli_formula(job), (long long)d->row + 1);
    }
    return cli_fail(CLI_CHECK, "the check failed: entry (%lld, %lld) of %s is off by %.3g of itself",
                    (long long)d->row + 1, (long long)d->col + 1, cli_formula(job), d->max_rel);
}
