/* Computes the result, on one device or on all of --devices. */
#include "text.h"
#include "two_body.h"

#include <stdlib.h>

static int make_room(tb_job *job) {
    const size_t counts = (size_t)tb_count_of(job), n = (size_t)job->sets[0].points.n;
    if (counts > 0) {
        job->counts = calloc(counts, sizeof *job->counts);
        job->g = calloc(counts, sizeof *job->g);
    }
    if (job->options.verb == TB_DENSITY) {
        job->density = calloc(n > 0 ? n : 1, sizeof(double));
    }
    const bool lacks = counts > 0 ? !job->counts || !job->g : job->options.verb == TB_DENSITY && !job->density;
    return lacks ? cli_fail(CLI_MEMORY, "no memory for the result") : CLI_DONE;
}

/* A matrix that was made on a GPU comes to the host. */
static lsp_status fetch(tb_job *job, lsp_ctx *ctx) {
    lsp_csr back = {0};
    if (!tb_makes_matrix(&job->options) || job->C.where == LSP_HOST) {
        return LSP_OK;
    }
    const double begun = cli_now();
    const lsp_status status = lsp_csr_copy(ctx, &job->C, &(lsp_csr_types){.place = LSP_PLACE_HOST}, &back);
    if (status == LSP_OK) {
        (void)lsp_csr_free(ctx, &job->C);
        job->C = back;
        job->run.copy_ms += cli_now() - begun;
    }
    return status;
}

/* The call on one device. */
static int compute_all(tb_job *job) {
    lsp_ctx *ctx = tb_ctx(job);
    tb_share all = {.points = {job->sets[0].points, job->sets[1].points}, .counts = job->counts};
    lsp_status status = tb_call(job, ctx, 0, 0, &all);
    job->info = all.info, job->C = all.C;
    if (status == LSP_ERR_UNSUPPORTED) { /* the method, by the verb */
        (void)cli_progress_end(&job->run.progress);
        return cli_usage("%s", lsp_last_error(ctx));
    }
    status = status == LSP_OK ? fetch(job, ctx) : status;
    lsp_ctx_info now;
    if (lsp_ctx_get_info(ctx, &now) == LSP_OK) {
        job->peak_bytes = job->run.gpu ? now.cuda_peak_bytes : now.host_peak_bytes;
    }
    return status == LSP_OK ? CLI_DONE : cli_failed_in(&job->run, ctx, status);
}

/* The result of a run before. */
static void forget(tb_job *job) {
    (void)lsp_csr_free(job->devices.count > 0 ? job->run.ctx : tb_ctx(job), &job->C);
    for (int64_t i = 0; i < tb_count_of(job); i++) {
        job->counts[i] = 0;
    }
}

/* The first of several runs is cold, and its time is not counted. */
static int compute_again(tb_job *job) {
    for (int64_t i = 0; i <= job->options.repeat; i++) {
        forget(job);
        const double begun = cli_now();
        CLI_STEP(job->devices.count > 0 ? tb_compute_shares(job) : compute_all(job));
        const double ms = cli_now() - begun;
        job->compute_ms = i <= 1 || ms < job->compute_ms ? ms : job->compute_ms;
    }
    return CLI_DONE;
}

int tb_compute(tb_job *job) {
    static const char *const doing[] = {"counting", "counting", "counting", "joining", "searching", "summing"};
    const tb_options *o = &job->options;
    if (job->run.loader.begun && !cli_gpu_end(&job->run)) {
        return cli_fail(CLI_DEVICE, "%s", job->run.loader.error);
    }
    if (o->verb == TB_GR && !(job->volume > 0) && tb_pairs(job) > 0) {
        return cli_fail(CLI_INPUT, "%s: the points span no volume, which g(r) needs: give --box", job->sets[0].name);
    }
    CLI_STEP(make_room(job));
    lsp_ctx *ctx = tb_ctx(job);
    (void)lsp_ctx_get_info(ctx, &job->run.machine);
    cli_progress_begin(&job->run.progress, doing[o->verb], job->sets[0].name);
    CLI_STEP(compute_again(job));
    (void)cli_progress_end(&job->run.progress);
    lsp_status status = LSP_OK;
    if (o->verb == TB_GR && tb_pairs(job) > 0) {
        status = lsp_radial_distribution(ctx, job->counts, o->bins, o->range, job->sets[0].points.dimensions,
                                         (double)tb_pairs(job), job->volume, job->g);
    }
    return status == LSP_OK ? CLI_DONE : cli_failed_in(&job->run, ctx, status);
}
