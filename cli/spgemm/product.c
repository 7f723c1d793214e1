/* C = A*B on the CPU or a GPU: multiplied, checked, compared and written. A product that fails its check is not
 * written. If C does not fit into memory and only a file needs it, it is multiplied and written in blocks of rows. */
#include "interrupt.h"
#include "steps.h"

#include <stdlib.h>

/* Complex matrices are multiplied by plus-times alone. */
static int check_complex(const cli_job *job) {
    const cli_options *o = &job->options;
    const char *name = job->A.csr.val_type == LSP_C64 ? job->A.name : job->second->name;
    if (cli_product_type(job) != LSP_C64) {
        return CLI_DONE;
    }
    return o->semiring ? cli_fail(CLI_INPUT, "%s is complex: --semiring %s is for real values", name, o->semiring_name)
           : job->cusparse ? cli_fail(CLI_INPUT, "%s is complex: --compare is for real values", name)
                           : CLI_DONE;
}

static int check_operands(const cli_job *job) {
    CLI_STEP(check_complex(job));
    const lsp_csr *A = &job->A.csr, *B = &job->second->csr;
    const cli_sizes sizes = cli_sizes_of(job);
    if (sizes.inner_a == sizes.inner_b) {
        return CLI_DONE;
    }
    if (A == B) {
        return cli_fail(CLI_INPUT, "%s is %lld x %lld: %s is not defined%s", job->A.name, (long long)A->rows,
                        (long long)A->cols, cli_formula(job), cli_instead(job));
    }
    return cli_fail(CLI_INPUT, "%s is %lld x %lld and %s is %lld x %lld: %s is not defined", job->A.name,
                    (long long)A->rows, (long long)A->cols, job->B.name, (long long)B->rows, (long long)B->cols,
                    cli_formula(job));
}

static int check_mask(const cli_job *job) {
    const lsp_csr *mask = &job->mask.csr;
    const cli_sizes sizes = cli_sizes_of(job);
    if (!job->options.mask || (mask->rows == sizes.rows && mask->cols == sizes.cols)) {
        return CLI_DONE;
    }
    return cli_fail(CLI_INPUT, "the mask %s is %lld x %lld, and %s is %lld x %lld", job->mask.name,
                    (long long)mask->rows, (long long)mask->cols, cli_formula(job), (long long)sizes.rows,
                    (long long)sizes.cols);
}

/* ---- the device ---- */

/* Products from which --device auto starts a GPU. Starting one takes a third of a second; the CPU computes this number
 * of products in that time. */
enum { WORTH_A_GPU = 100000000 };

static int64_t count_products(const cli_job *job) {
    const lsp_csr *A = &job->A.csr, *B = &job->second->csr;
    if (job->options.transpose_a || job->options.transpose_b) {
        const int64_t inner = cli_sizes_of(job).inner_b;
        return A->nnz / (inner > 0 ? inner : 1) * B->nnz;
    }
    int64_t products = 0;
    for (int64_t p = 0; p < A->nnz && products < WORTH_A_GPU; p++) {
        int64_t k = A->col_type == LSP_I32 ? ((const int32_t *)A->col)[p] : ((const int64_t *)A->col)[p];
        products += B->rowptr_type == LSP_I32 ? ((const int32_t *)B->rowptr)[k + 1] - ((const int32_t *)B->rowptr)[k]
                                              : ((const int64_t *)B->rowptr)[k + 1] - ((const int64_t *)B->rowptr)[k];
    }
    return products;
}

/* With --device auto: takes a GPU if one can be used and the product is large enough. */
static void choose_device(cli_job *job) {
    if (job->options.device == CLI_AUTO && !job->run.gpu && lsp_cuda_device_count() > 0 &&
        count_products(job) >= WORTH_A_GPU && cli_gpu_begin(&job->run)) {
        cli_gpu_give_all(job);
        (void)cli_gpu_end(&job->run);
    }
    (void)lsp_ctx_get_info(job->run.gpu ? job->run.gpu : job->run.ctx, &job->run.machine);
}

/* The operands and the mask, on the device that multiplies. */
typedef struct operands {
    lsp_ctx *ctx;
    lsp_csr A, B, mask;
} operands;

static lsp_status find_operands(const cli_job *job, operands *in) {
    const lsp_csr *there = job->run.loader.on_gpu;
    const bool two = job->second != &job->A;
    *in = job->run.gpu ? (operands){job->run.gpu, there[0], there[two], there[1 + two]}
                       : (operands){job->run.ctx, job->A.csr, job->second->csr, job->mask.csr};
    return job->run.gpu ? job->run.loader.status : LSP_OK;
}

/* Does anything besides the output file need C on the host? */
static bool wanted_here(const cli_job *job) {
    const cli_options *o = &job->options;
    return o->check || o->spy || job->cusparse || o->semiring || (o->json && !o->output);
}

/* Copies C to the host. */
static lsp_status fetch_product(cli_job *job, lsp_csr *C) {
    const lsp_csr_types here = {.rowptr_type = C->rowptr_type, .col_type = C->col_type, .place = LSP_PLACE_HOST};
    cli_progress_begin(&job->run.progress, "copying", "from the GPU");
    lsp_status status = lsp_csr_copy(job->run.gpu, C, &here, &job->C);
    job->run.copy_ms += cli_progress_end(&job->run.progress);
    return status;
}

/* ---- the product ---- */

/* With --dry-run it only says how, and leaves the filter away. */
static lsp_status multiply_once(cli_job *job, const operands *in, lsp_csr *C, double *ms) {
    lsp_spgemm_options how = cli_how_to_multiply(job, LSP_SPGEMM_AUTO);
    lsp_status status;
    lsp_csr_free(in->ctx, C);
    cli_progress_begin(&job->run.progress, job->options.dry_run ? "planning" : "multiplying", cli_formula(job));
    if (job->options.dry_run) {
        status = lsp_spgemm_explain(in->ctx, &in->A, &in->B, &how, &job->plan);
    } else {
        how.filter = cli_filter_of(job, &in->mask);
        status = lsp_spgemm(in->ctx, &in->A, &in->B, &how, C, &job->plan);
    }
    if (status == LSP_OK && job->run.gpu) {
        status = lsp_ctx_sync(in->ctx);
    }
    *ms = cli_progress_end(&job->run.progress);
    return status;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* May C be multiplied and written in blocks? Only if the output file alone needs it. */
static bool can_stream(const cli_job *job) {
    const cli_options *options = &job->options;
    return options->output && !options->check && !options->dry_run && !options->spy && options->repeat <= 1 &&
           !job->cusparse && job->devices.count == 0;
}

static lsp_status stream(cli_job *job, lsp_ctx *ctx) {
    const char *path = job->options.output;
    lsp_spgemm_options how = cli_how_to_multiply(job, LSP_SPGEMM_AUTO);
    how.filter = cli_filter_of(job, &job->mask.csr);
    how.types.place = job->run.gpu ? LSP_PLACE_CUDA : LSP_PLACE_HOST;
    cli_progress_begin(&job->run.progress, "multiplying and writing", path);
    cli_guard_output(path);
    const lsp_mtx_write_options file = {.field = cli_product_field(job)};
    lsp_status status = lsp_spgemm_write(ctx, path, &job->A.csr, &job->second->csr, &how, 0, &file, &job->plan);
    cli_guard_end();
    job->write_ms = cli_progress_end(&job->run.progress);
    job->streamed = job->written = status == LSP_OK;
    job->C.nnz = job->streamed ? job->plan.nnz : 0;
    return status;
}

/* The end of the message that C does not fit into memory: the option without which it would be written in blocks. */
static const char *remedy_of(const cli_job *job) {
    const cli_options *o = &job->options;
    return o->dry_run || can_stream(job) || job->devices.count > 0 ? NULL
           : !o->output ? "; with -o FILE alone it is multiplied and written in blocks of rows, which need less memory"
           : o->check   ? "; without --check it is multiplied and written in blocks of rows, which need less memory"
           : o->spy     ? "; without --spy it is multiplied and written in blocks of rows, which need less memory"
           : o->repeat > 1
               ? "; without --repeat it is multiplied and written in blocks of rows, which need less memory"
               : "; without --compare it is multiplied and written in blocks of rows, which need less memory";
}

/* On one device. C stays there if only the output file needs it. */
static int multiply_here(cli_job *job, double *ms) {
    operands in;
    lsp_csr C = {0};
    lsp_status status = find_operands(job, &in);
    if (job->options.repeat > 0 && status == LSP_OK) { /* the cold run: first allocations, empty caches */
        status = multiply_once(job, &in, &C, &job->cold_ms);
    }
    for (int64_t i = 0; i < job->repeats && status == LSP_OK; i++) {
        status = multiply_once(job, &in, &C, &ms[i]);
    }
    if (status == LSP_OK && job->run.gpu && !job->options.dry_run && wanted_here(job)) {
        status = fetch_product(job, &C);
        lsp_csr_free(in.ctx, &C);
    } else {
        job->C = C;
    }
    cli_loader_drop(&job->run.loader);
    if (status == LSP_ERR_MEMORY && can_stream(job)) {
        status = stream(job, in.ctx);
    }
    const int code = status == LSP_OK ? CLI_DONE : cli_failed_in(&job->run, in.ctx, status);
    /* an integer that does not fit is no lack of memory */
    return status == LSP_ERR_OVERFLOW && cli_integers(&job->options) ? CLI_INPUT : code;
}

static int multiply(cli_job *job) {
    job->run.remedy = remedy_of(job);
    job->repeats = job->options.repeat > 0 ? job->options.repeat : 1;
    double *ms = calloc((size_t)job->repeats, sizeof *ms);
    if (!ms) {
        return cli_fail(CLI_MEMORY, "no memory for the times of %lld runs", (long long)job->repeats);
    }
    job->timed = !job->options.dry_run;
    const int code = job->devices.count > 0 ? cli_multiply_parts(job, ms) : multiply_here(job, ms);
    qsort(ms, (size_t)job->repeats, sizeof *ms, by_size);
    job->multiplied = code == CLI_DONE && !job->options.dry_run;
    job->timed = job->timed && job->multiplied && !job->streamed;
    if (job->timed) {
        job->multiply_ms = ms[0];
        job->median_ms = (ms[(job->repeats - 1) / 2] + ms[job->repeats / 2]) / 2;
    }
    free(ms);
    job->run.remedy = NULL;
    return code;
}

/* Every method adds in the same order with the same rounding, so C must equal the reference exactly. */
static int check(cli_job *job) {
    lsp_csr expected = {0};
    lsp_spgemm_options how = cli_how_to_multiply(job, LSP_SPGEMM_REFERENCE);
    how.filter = cli_filter_of(job, &job->mask.csr);
    cli_progress_begin(&job->run.progress, "checking", cli_formula(job));
    lsp_status status = lsp_spgemm(job->run.ctx, &job->A.csr, &job->second->csr, &how, &expected, NULL);
    if (status == LSP_OK) {
        status = lsp_csr_compare(job->run.ctx, &job->C, &expected, &job->difference);
    }
    cli_progress_end(&job->run.progress);
    lsp_csr_free(job->run.ctx, &expected);
    if (status != LSP_OK) {
        return cli_failed(&job->run, status);
    }
    const lsp_csr_difference *d = &job->difference;
    job->checked = true;
    job->check_ok = d->same_shape && d->same_pattern && d->max_rel == 0;
    return CLI_DONE;
}

/* Records the peak memory of the device that multiplied: of several GPUs, of one. */
static void note_peak(cli_job *job) {
    lsp_ctx_info now;
    int64_t shares = 0;
    for (int i = 0; i < job->devices.count; i++) {
        const lsp_ctx_info *device = &job->devices.at[i].about;
        shares += device->host_peak_bytes;
        job->peak_bytes = device->cuda_peak_bytes > job->peak_bytes ? device->cuda_peak_bytes : job->peak_bytes;
    }
    if (cli_on_gpus(job)) {
        (void)lsp_ctx_get_info(job->run.ctx, &job->run.machine);
    } else if (lsp_ctx_get_info(job->run.gpu ? job->run.gpu : job->run.ctx, &now) == LSP_OK) {
        int64_t peak = job->run.gpu ? now.cuda_peak_bytes : now.host_peak_bytes + shares;
        job->peak_bytes = peak > job->peak_bytes ? peak : job->peak_bytes;
        job->run.machine = now;
    }
}

static int write_product(cli_job *job) {
    const char *path = job->options.output;
    const bool there = job->C.where == LSP_CUDA;
    lsp_ctx *ctx = there ? job->run.gpu : job->run.ctx;
    cli_progress_begin(&job->run.progress, "writing", path);
    cli_guard_output(path);
    const lsp_mtx_write_options file = {.field = cli_product_field(job)};
    lsp_status status = lsp_mtx_write(ctx, path, &job->C, &file);
    cli_guard_end();
    job->write_ms = cli_progress_end(&job->run.progress);
    job->written = status == LSP_OK;
    if (status == LSP_ERR_MEMORY && there && can_stream(job)) {
        lsp_csr_free(ctx, &job->C);
        status = stream(job, ctx);
    }
    return status == LSP_OK ? CLI_DONE : cli_failed_in(&job->run, ctx, status);
}

int cli_product(cli_job *job) {
    CLI_STEP(check_operands(job));
    CLI_STEP(check_mask(job));
    if (job->devices.count == 0) {
        choose_device(job);
    }
    CLI_STEP(multiply(job));
    note_peak(job);
    if (job->options.check) {
        CLI_STEP(check(job));
        (void)lsp_ctx_reset_peak(job->run.ctx); /* the memory of the check does not count for the product */
    }
    if (job->cusparse && !job->streamed) {
        CLI_STEP(cli_compare(job));
    }
    if (job->options.output && !job->streamed && (!job->checked || job->check_ok)) {
        CLI_STEP(write_product(job));
    }
    note_peak(job);
    return CLI_DONE;
}

int cli_check_failed(const cli_job *job) {
    const lsp_csr_difference *d = &job->difference;
    if (!d->same_shape || !d->same_pattern) {
        return cli_fail(CLI_CHECK, "the check failed: the pattern of %s differs from the reference, first in row %lld",
                        cli_formula(job), (long long)d->row + 1);
    }
    return cli_fail(CLI_CHECK, "the check failed: entry (%lld, %lld) of %s has a relative error of %.3g",
                    (long long)d->row + 1, (long long)d->col + 1, cli_formula(job), d->max_rel);
}
