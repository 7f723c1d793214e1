/* --class: the NAS conjugate gradient benchmark. Its matrix is generated, its iterations are run and timed by the
 * library, and its result zeta is compared with the published one. */
#include "cg.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 25, VECTORS = 6 }; /* steps of an outer iteration; vectors that it holds */

/* Entries at most: equal columns of a row, which are few, are not summed yet. */
static int64_t entries_of(const lsp_nas_class *c) { return c->n * (c->nonzer + 1) * (c->nonzer + 1); }

static int64_t bytes_of(const lsp_nas_class *c) {
    const int64_t entries = entries_of(c), pointer = entries > INT32_MAX ? 8 : 4;
    return entries * 12 + (c->n + 1) * pointer + VECTORS * 8 * c->n;
}

/* The bytes that a context may still take. */
static int64_t available(lsp_ctx *ctx) {
    lsp_ctx_info info;
    if (lsp_ctx_get_info(ctx, &info) != LSP_OK) {
        return INT64_MAX;
    }
    return info.max_bytes > 0 && info.max_bytes < info.device_free_bytes ? info.max_bytes : info.device_free_bytes;
}

static int refuse(const cg_job *job, const char *where, int64_t there) {
    const int64_t needed = bytes_of(&job->nas);
    return cli_fail(CLI_MEMORY, "class %c has up to %s entries: it needs %lld bytes (%s) %s, but only %s are available",
                    job->options.nas, cli_count(entries_of(&job->nas)).text, (long long)needed, cli_bytes(needed).text,
                    where, cli_bytes(there).text);
}

/* Refuses a class that does not fit, before anything is generated. Only classes of some size wait for the GPU. */
static int check_memory(cg_job *job) {
    cli_run *run = &job->run;
    const int64_t needed = bytes_of(&job->nas), here = available(run->ctx);
    if (needed > here) {
        return refuse(job, "of memory", here);
    }
    if (run->loader.begun && needed > (int64_t)1 << 30) {
        lsp_ctx *gpu = cli_loader_wait(&run->loader);
        if (gpu && needed > available(gpu)) {
            return refuse(job, "on the GPU", available(gpu));
        }
    }
    return CLI_DONE;
}

static int generate(cg_job *job) {
    static const char names[][8] = {"nascg:S", "nascg:W", "nascg:A", "nascg:B", "nascg:C", "nascg:D", "nascg:E"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i][6] == job->options.nas) {
            return cli_matrix_make(&job->run, &(cli_source){.spec = names[i], .seed = -1}, &job->A);
        }
    }
    return CLI_USAGE;
}

static void note(void *user, int64_t iteration, double residual, double zeta) {
    cg_job *job = user;
    cg_history *h = &job->history;
    cli_progress_note(&job->run.progress, "iteration %lld of %d, zeta %.10g", (long long)iteration, job->nas.iterations,
                      zeta);
    if (h->count < h->capacity) {
        h->iteration[h->count] = iteration;
        h->residual[h->count] = residual;
        h->zeta[h->count++] = zeta;
    }
}

static lsp_status run_once(cg_job *job, double *seconds) {
    const lsp_solve_options how = {.method = job->options.method, .passes = job->options.passes};
    job->history.count = 0;
    cli_progress_begin(&job->run.progress, "running", job->A.name);
    const lsp_status status =
        lsp_nas_cg(cg_ctx(job), job->options.nas, cg_matrix(job), &how, note, job, &job->benchmark);
    cli_progress_end(&job->run.progress);
    *seconds = job->benchmark.seconds;
    return status;
}

static int run_all(cg_job *job) {
    const int64_t repeat = job->options.repeat;
    job->repeats = repeat > 0 ? repeat : 1;
    double *seconds = calloc((size_t)job->repeats, sizeof *seconds);
    if (!seconds) {
        return cli_fail(CLI_MEMORY, "no memory for the times of %lld runs", (long long)job->repeats);
    }
    lsp_status status = repeat > 0 ? run_once(job, &job->cold_seconds) : LSP_OK;
    for (int64_t i = 0; i < job->repeats && status == LSP_OK; i++) {
        status = run_once(job, &seconds[i]);
    }
    const double last = job->benchmark.seconds;
    cg_keep_times(job, seconds);
    free(seconds);
    if (status != LSP_OK) {
        return cli_failed_in(&job->run, cg_ctx(job), status);
    }
    job->benchmark.mops *= job->seconds > 0 ? last / job->seconds : 0; /* of the fastest run */
    job->solved = true;
    job->spmv = &job->benchmark.spmv;
    return CLI_DONE;
}

int cg_benchmark(cg_job *job) {
    cg_history *h = &job->history;
    if (lsp_nas_get_class(job->run.ctx, job->options.nas, &job->nas) != LSP_OK) {
        return cli_failed(&job->run, LSP_ERR_ARGUMENT);
    }
    CLI_STEP(check_memory(job));
    h->capacity = job->nas.iterations;
    h->residual = calloc((size_t)h->capacity, sizeof *h->residual);
    h->zeta = calloc((size_t)h->capacity, sizeof *h->zeta);
    h->iteration = calloc((size_t)h->capacity, sizeof *h->iteration);
    if (!h->residual || !h->zeta || !h->iteration) {
        return cli_fail(CLI_MEMORY, "no memory for the residuals of %lld iterations", (long long)h->capacity);
    }
    CLI_STEP(generate(job));
    CLI_STEP(cg_choose_device(job, (double)job->A.csr.nnz * STEPS * job->nas.iterations));
    return run_all(job);
}
