/* What the steps of a run share: messages with their exit codes, the shape of the product, and the two devices. */
#include "job.h"
#include "text.h"

#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

/* ---- messages ---- */

int cli_fail(int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    cli_say(spgemm_tool.name, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return code;
}

bool cli_reader_left(const cli_job *job) {
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
    if (status == LSP_ERR_IO && job->to_pipe && cli_reader_left(job)) {
        return CLI_PIPE;
    }
    if (job->options.verbose && !job->progress.verbose && job->progress.logged[0]) {
        (void)cli_fail(CLI_DONE, "%s", job->progress.logged); /* the report, which has this line, will not be printed */
    }
    const char *sentence = lsp_last_error(ctx), *verb = job->progress.verb, *object = job->progress.object;
    const bool named = !verb || strncmp(sentence, object, strlen(object)) == 0;
    if (codes[status] != CLI_MEMORY || named) {
        return cli_fail(codes[status], "%s", sentence);
    }
    return cli_fail(CLI_MEMORY, "%s %s: %s%s", verb, object, sentence, job->remedy ? job->remedy : "");
}

/* ---- the product ---- */

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

double cli_gflops(const cli_job *job) {
    return job->multiplied && job->multiply_ms > 0 ? 2 * (double)job->plan.products / (job->multiply_ms * 1e6) : 0;
}

/* ---- the devices ---- */

static lsp_ctx_options context_options(cli_job *job) {
    const cli_options *o = &job->options;
    return (lsp_ctx_options){.threads = (int)o->threads,
                             .max_bytes = o->max_bytes,
                             .log = cli_log_hook,
                             .progress = cli_progress_hook,
                             .hook_user = &job->progress};
}

int cli_cpu_open(cli_job *job) {
    char error[1024] = "";
    const lsp_ctx_options wanted = context_options(job);
    return lsp_ctx_create(&job->ctx, &wanted, error, sizeof error) == LSP_OK ? CLI_DONE
                                                                             : cli_fail(CLI_MEMORY, "%s", error);
}

bool cli_gpu_begin(cli_job *job) {
    lsp_ctx_options wanted = context_options(job);
    wanted.device = LSP_CUDA;
    wanted.ordinal = job->options.ordinal;
    return cli_loader_begin(&job->loader, &wanted);
}

void cli_gpu_give(cli_job *job, const cli_matrix *matrix) {
    if (job->loader.begun && !job->options.info) {
        cli_loader_give(&job->loader, &matrix->csr);
    }
}

void cli_gpu_give_all(cli_job *job) {
    cli_gpu_give(job, &job->A);
    if (job->second != &job->A) {
        cli_gpu_give(job, &job->B);
    }
    if (job->options.mask) {
        cli_gpu_give(job, &job->mask);
    }
}

bool cli_gpu_end(cli_job *job) {
    cli_progress_begin(&job->progress, "copying", "to the GPU");
    job->gpu = cli_loader_end(&job->loader) ? job->loader.ctx : NULL;
    cli_progress_end(&job->progress);
    job->copy_ms = job->loader.copy_ms;
    return job->gpu != NULL;
}
