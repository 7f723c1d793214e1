/* spgemm-cli: C = A*B for sparse matrices in Matrix Market files. Takes the steps of a run in their order: read,
 * multiply, draw, report; and ends with the exit code of the first one that fails. */
#include "places.h"
#include "steps.h"
#include "text.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

static int open_contexts(cli_job *job) {
    const cli_options *o = &job->options;
    char error[1024] = "";
    job->progress.wanted = !o->quiet && isatty(STDERR_FILENO);
    job->progress.verbose = o->verbose && o->info; /* other reports show the plan themselves */
    if ((o->device == CLI_CUDA || o->compare >= 0) && !cli_gpu_begin(job)) {
        return cli_fail(CLI_DEVICE, "%s", job->loader.error);
    }
    if (o->compare >= 0 && !(job->cusparse = peer_cusparse_open(o->ordinal, error, sizeof error))) {
        return cli_fail(CLI_DEVICE, "%s", error);
    }
    return cli_cpu_open(job);
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
    CLI_STEP(cli_places_check(o));
    CLI_STEP(open_contexts(job));
    CLI_STEP(cli_read(job));
    if (job->loader.begun && !cli_gpu_end(job)) {
        return cli_fail(CLI_DEVICE, "%s", job->loader.error);
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

/* A report that did not reach its reader is a failure too: most write errors show only when the file is closed. */
static int close_output(const cli_job *job, int code) {
    bool failed = ferror(stdout) != 0, used = failed || __fpending(stdout) > 0;
    bool left = cli_reader_left(job);
    errno = 0;
    failed = fclose(stdout) != 0 || failed;
    if (failed && used && code == CLI_DONE && job->pipe_ends && (left || errno == EPIPE)) {
        return CLI_PIPE;
    }
    if (failed && used && code == CLI_DONE) { /* standard output may be closed if nothing was written to it */
        return cli_fail(CLI_INPUT, "standard output cannot be written%s%s", errno ? ": " : "",
                        errno ? strerror(errno) : "");
    }
    return code;
}

int main(int argc, char **argv) {
    cli_job job = {0};
    setlocale(LC_CTYPE, ""); /* pictures need the character set; LC_NUMERIC stays "C", so numbers keep their point */
    job.pipe_ends = signal(SIGPIPE, SIG_IGN) != SIG_IGN; /* a closed pipe is reported as a write error */
    signal(SIGXFSZ, SIG_IGN);                            /* so is a file over its size limit */
    int code = cli_options_read(argc, argv, &job.options);
    if (code != CLI_DONE) {
        return code;
    }
    job.to_pipe = job.options.output && strcmp(job.options.output, "-") == 0;
    job.report = job.to_pipe ? stderr : stdout;
    job.picture = job.to_pipe || job.options.json ? stderr : stdout;
    if (job.options.help) {
        cli_options_help(stdout);
    } else if (job.options.version) {
        printf("spgemm-cli %s\n", lsp_version());
    } else {
        code = run(&job);
    }
    peer_cusparse_close(job.cusparse);
    (void)cli_loader_end(&job.loader);
    lsp_ctx_destroy(job.loader.ctx);
    lsp_ctx_destroy(job.ctx);
    code = close_output(&job, code);
    if (code == CLI_PIPE) { /* the shell expects a tool to end by the signal */
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    return code;
}
