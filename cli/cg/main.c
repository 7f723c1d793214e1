/* cg-bench: the NAS conjugate gradient benchmark, and linear systems A x = b by conjugate gradients or BiCGStab. Takes
 * the steps of a run in their order and ends with the exit code of the first one that fails. */
#include "cg.h"
#include "places.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int check_places(const cg_options *o) {
    cli_place places[] = {{.role = "A", .path = o->matrix},
                          {.role = "b", .path = o->rhs},
                          {.role = "x", .path = o->output, .output = true},
                          {.role = "the history", .path = o->history, .output = true}};
    return cli_places_check(places, sizeof places / sizeof *places);
}

static int open_contexts(cg_job *job) {
    const cg_options *o = &job->options;
    cli_run *run = &job->run;
    run->wanted = (lsp_ctx_options){.threads = (int)o->threads, .max_bytes = o->max_bytes};
    run->ordinal = o->ordinal;
    run->verbose = o->verbose;
    run->progress.wanted = !o->quiet && isatty(STDERR_FILENO);
    if ((o->device == CLI_CUDA || o->compare >= 0) && !cli_gpu_begin(run)) {
        return cli_fail(CLI_DEVICE, "%s", run->loader.error);
    }
    if (o->compare >= 0) {
        CLI_STEP(cg_compare_open(job));
    }
    CLI_STEP(cli_cpu_open(run));
    cli_progress_start(&run->progress);
    return CLI_DONE;
}

/* Records the peak memory of the device that computed. */
static void note_peak(cg_job *job) {
    lsp_ctx_info now;
    if (lsp_ctx_get_info(cg_ctx(job), &now) == LSP_OK) {
        job->peak_bytes = job->run.gpu ? now.cuda_peak_bytes : now.host_peak_bytes;
    }
}

static int run(cg_job *job) {
    const cg_options *o = &job->options;
    CLI_STEP(check_places(o));
    CLI_STEP(open_contexts(job));
    CLI_STEP(o->nas ? cg_benchmark(job) : cg_solve(job));
    note_peak(job);
    if (o->compare >= 0 && job->status == LSP_OK) {
        CLI_STEP(cg_compare(job));
    }
    if (o->verbose) {
        cg_time_product(job);
    }
    if (o->output && job->status == LSP_OK) {
        CLI_STEP(cg_write(job));
    }
    if (o->history) {
        CLI_STEP(cg_history_write(job));
    }
    cg_report(job);
    return cg_verdict(job);
}

int main(int argc, char **argv) {
    cg_job job = {0};
    cli_run_begin(&job.run);
    int code = cg_options_read(argc, argv, &job.options);
    if (code != CLI_DONE) {
        return code;
    }
    job.run.to_pipe = job.options.output && strcmp(job.options.output, "-") == 0;
    job.run.report = job.run.to_pipe ? stderr : stdout;
    if (job.options.help) {
        cli_help(&cg_tool, stdout);
    } else if (job.options.version) {
        printf("%s %s\n", cli_tool_name(), lsp_version());
    } else {
        code = run(&job);
    }
    peer_cg_close(job.peer);
    free(job.history.residual);
    free(job.history.zeta);
    free(job.history.iteration);
    return cli_run_end(&job.run, code);
}
