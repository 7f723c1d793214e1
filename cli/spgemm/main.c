/* spgemm-cli: C = A*B for sparse matrices in Matrix Market files. Takes the steps of a run in their order: read,
 * multiply, draw, report; and ends with the exit code of the first one that fails. */
#include "places.h"
#include "steps.h"
#include "text.h"

#include <string.h>
#include <unistd.h>

/* The outputs may be no inputs, and must be writable. */
static int check_places(const cli_options *o) {
    const bool drawn = o->spy && strcmp(o->spy, "-") != 0; /* "-" draws with characters and overwrites no file */
    cli_place places[] = {{.role = "A", .path = o->a},
                          {.role = "B", .path = o->b},
                          {.role = "the mask", .path = o->mask},
                          {.role = "C", .path = o->output, .output = true},
                          {.role = "the picture", .path = drawn ? o->spy : NULL, .output = true}};
    return cli_places_check(places, sizeof places / sizeof *places);
}

static int open_contexts(cli_job *job) {
    const cli_options *o = &job->options;
    char error[1024] = "";
    job->run.wanted = (lsp_ctx_options){.threads = (int)o->threads, .max_bytes = o->max_bytes};
    job->run.ordinal = o->ordinal;
    job->run.verbose = o->verbose;
    job->run.progress.wanted = !o->quiet && isatty(STDERR_FILENO);
    job->run.progress.verbose = o->verbose && o->info; /* other reports show the plan themselves */
    if ((o->device == CLI_CUDA || o->compare >= 0) && !cli_gpu_begin(&job->run)) {
        return cli_fail(CLI_DEVICE, "%s", job->run.loader.error);
    }
    if (o->compare >= 0 && !(job->cusparse = peer_cusparse_open(o->ordinal, error, sizeof error))) {
        return cli_fail(CLI_DEVICE, "%s", error);
    }
    CLI_STEP(cli_cpu_open(&job->run));
    if (job->devices.count > 0) {
        cli_progress_start(&job->run.progress);
        CLI_STEP(cli_devices_begin(&job->run, &job->devices));
    }
    return CLI_DONE;
}

static int spy(cli_job *job) {
    const char *path = job->options.spy;
    const lsp_csr *matrix = job->multiplied ? &job->C : &job->A.csr;
    bool square = job->second == &job->A;
    char title[1024]; /* a longer name is cut at its end; the sizes come first and stay */
    snprintf(title, sizeof title, "%s%s%s: %s x %s, %s entries; A = %s%s%s", job->multiplied ? "C = " : "A",
             job->multiplied ? cli_formula(job) : "", job->multiplied && cli_filters(&job->options) ? ", filtered" : "",
             cli_count(matrix->rows).text, cli_count(matrix->cols).text, cli_count(matrix->nnz).text, job->A.name,
             square ? "" : ", B = ", square ? "" : job->B.name);
    if (strcmp(path, "-") == 0) {
        return cli_spy_text(job->picture, matrix, title);
    }
    CLI_STEP(cli_spy_svg(path, matrix, title));
    return job->options.quiet
               ? CLI_DONE
               : cli_fail(CLI_DONE, "the picture of %s was written to %s", job->multiplied ? "C" : "A", path);
}

static int run(cli_job *job) {
    const cli_options *o = &job->options;
    CLI_STEP(cli_devices_read(o->devices, &job->devices));
    CLI_STEP(check_places(o));
    CLI_STEP(open_contexts(job));
    CLI_STEP(cli_read(job));
    if (job->run.loader.begun && !cli_gpu_end(&job->run)) {
        return cli_fail(CLI_DEVICE, "%s", job->run.loader.error);
    }
    CLI_STEP(o->info ? cli_info(job) : cli_product(job));
    if (o->spy) {
        CLI_STEP(spy(job));
    }
    if (!o->info) {
        cli_report(job);
    }
    return job->checked && !job->check_ok ? cli_check_failed(job) : CLI_DONE;
}

int main(int argc, char **argv) {
    cli_job job = {0};
    cli_run_begin(&job.run);
    int code = cli_options_read(argc, argv, &job.options);
    if (code != CLI_DONE) {
        return code;
    }
    job.run.to_pipe = job.options.output && strcmp(job.options.output, "-") == 0;
    job.run.report = job.run.to_pipe ? stderr : stdout;
    job.picture = job.run.to_pipe || job.options.json ? stderr : stdout;
    if (job.options.help) {
        cli_options_help(stdout);
    } else if (job.options.version) {
        printf("%s %s\n", cli_tool_name(), lsp_version());
    } else {
        code = run(&job);
    }
    peer_cusparse_close(job.cusparse);
    cli_devices_end(&job.devices);
    return cli_run_end(&job.run, code);
}
