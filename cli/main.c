/* spgemm-cli: C = A*B for sparse matrices in Matrix Market files. Read, multiply, check, write, draw, report. */
#include "places.h"
#include "spgemm.h"
#include "text.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

int cli_fail(int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    cli_say(spgemm_tool.name, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return code;
}

/* Is standard output a pipe that nobody reads any more, and would that end other tools silently? */
static bool reader_left(const cli_job *job) {
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return job->pipe_ends && poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

int cli_failed(cli_job *job, lsp_status status) { return cli_failed_in(job, job->ctx, status); }

int cli_failed_in(cli_job *job, const lsp_ctx *ctx, lsp_status status) {
    static const int codes[] = {
        [LSP_OK] = CLI_DONE,
        [LSP_ERR_ARGUMENT] = CLI_USAGE,
        [LSP_ERR_FORMAT] = CLI_INPUT,
        [LSP_ERR_IO] = CLI_INPUT,
        [LSP_ERR_MEMORY] = CLI_MEMORY,
        [LSP_ERR_DEVICE] = CLI_DEVICE,
        [LSP_ERR_UNSUPPORTED] = CLI_INPUT,
        [LSP_ERR_OVERFLOW] = CLI_MEMORY,
    };
    cli_progress_end(&job->progress);
    if (status == LSP_ERR_IO && job->to_pipe && reader_left(job)) {
        return CLI_PIPE;
    }
    if (job->options.verbose && !job->progress.verbose && job->progress.logged[0]) { /* no report will say it */
        (void)cli_fail(CLI_DONE, "%s", job->progress.logged);
    }
    const char *sentence = lsp_last_error(ctx), *verb = job->progress.verb, *object = job->progress.object;
    const bool named = !verb || strncmp(sentence, object, strlen(object)) == 0;
    if (codes[status] != CLI_MEMORY || named) {
        return cli_fail(codes[status], "%s", sentence);
    }
    return cli_fail(CLI_MEMORY, "%s %s: %s%s", verb, object, sentence, job->remedy ? job->remedy : "");
}

lsp_type cli_value_type(const cli_options *options) { return options->precision == 1 ? LSP_F32 : LSP_F64; }

const char *cli_formula(const cli_job *job) {
    static const char *const formulas[2][2][2] = {{{"A*B", "A*B^T"}, {"A^T*B", "A^T*B^T"}},
                                                  {{"A*A", "A*A^T"}, {"A^T*A", "A^T*A^T"}}};
    return formulas[job->second == &job->A][job->options.transpose_a][job->options.transpose_b];
}

cli_sizes cli_sizes_of(const cli_job *job) {
    const lsp_csr *A = &job->A.csr, *B = &job->second->csr;
    const bool turn_a = job->options.transpose_a, turn_b = job->options.transpose_b;
    return (cli_sizes){.rows = turn_a ? A->cols : A->rows,
                       .inner_a = turn_a ? A->rows : A->cols,
                       .inner_b = turn_b ? B->cols : B->rows,
                       .cols = turn_b ? B->rows : B->cols};
}

const char *cli_instead(const cli_job *job) {
    return job->options.transpose_a ? ", but A^T*A is (--transpose-a alone)" : ", but A*A^T is (--transpose-b)";
}

/* ---- the device ---- */

static lsp_ctx_options context_options(cli_job *job) {
    const cli_options *o = &job->options;
    return (lsp_ctx_options){.threads = (int)o->threads,
                             .max_bytes = o->max_bytes,
                             .log = cli_log_hook,
                             .progress = cli_progress_hook,
                             .hook_user = &job->progress};
}

bool cli_gpu_begin(cli_job *job) {
    lsp_ctx_options wanted = context_options(job);
    wanted.device = LSP_CUDA;
    wanted.ordinal = job->options.ordinal;
    return cli_loader_begin(&job->loader, &wanted);
}

bool cli_gpu_end(cli_job *job) {
    cli_progress_begin(&job->progress, "copying", "to the GPU");
    job->gpu = cli_loader_end(&job->loader) ? job->loader.ctx : NULL;
    cli_progress_end(&job->progress);
    job->copy_ms = job->loader.copy_ms;
    return job->gpu != NULL;
}

static int open_context(cli_job *job) {
    const cli_options *o = &job->options;
    char error[1024] = "";
    job->progress.wanted = !o->quiet && isatty(STDERR_FILENO);
    job->progress.verbose = o->verbose && o->info; /* other reports have the plan, and the log of it */
    if ((o->device == CLI_CUDA || o->compare >= 0) && !cli_gpu_begin(job)) {
        return cli_fail(CLI_DEVICE, "%s", job->loader.error);
    }
    if (o->compare >= 0 && !(job->cusparse = peer_cusparse_open(o->ordinal, error, sizeof error))) {
        return cli_fail(CLI_DEVICE, "%s", error);
    }
    lsp_ctx_options wanted = context_options(job);
    if (lsp_ctx_create(&job->ctx, &wanted, error, sizeof error) != LSP_OK) {
        return cli_fail(CLI_MEMORY, "%s", error);
    }
    return CLI_DONE;
}

/* ---- the whole ---- */

static int spy(cli_job *job) {
    const char *path = job->options.spy;
    const lsp_csr *matrix = job->multiplied ? &job->C : &job->A.csr;
    bool square = job->second == &job->A;
    char title[1024]; /* a name longer than that loses its tail, not the sizes */
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
               : cli_fail(CLI_DONE, "the picture of %s is written: %s", job->multiplied ? "C" : "A", path);
}

static int run(cli_job *job) {
    const cli_options *o = &job->options;
    CLI_STEP(cli_places_check(o));
    CLI_STEP(open_context(job));
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

/* A report that did not reach its reader is a failure too. */
static int close_output(const cli_job *job, int code) {
    bool failed = ferror(stdout) != 0, used = failed || __fpending(stdout) > 0;
    bool left = reader_left(job);
    errno = 0;
    failed = fclose(stdout) != 0 || failed;
    if (failed && used && code == CLI_DONE && job->pipe_ends && (left || errno == EPIPE)) {
        return CLI_PIPE;
    }
    if (failed && used && code == CLI_DONE) { /* a closed output that nobody used is nobody's loss */
        return cli_fail(CLI_INPUT, "standard output cannot be written%s%s", errno ? ": " : "",
                        errno ? strerror(errno) : "");
    }
    return code;
}

int main(int argc, char **argv) {
    cli_job job = {0};
    setlocale(LC_CTYPE, "");                             /* for the pictures; numbers keep their point */
    job.pipe_ends = signal(SIGPIPE, SIG_IGN) != SIG_IGN; /* a reader that left is a write that failed, */
    signal(SIGXFSZ, SIG_IGN);                            /* and so is a file over its limit */
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
    if (code == CLI_PIPE) { /* as the shell expects of a tool */
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    return code;
}
