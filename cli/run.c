/* What a run of every tool has: its beginning and end, how its failures are told, and the two devices. */
#include "run.h"
#include "text.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

/* ---- begin and end ---- */

void cli_run_begin(cli_run *run) {
    setlocale(LC_CTYPE, ""); /* pictures need the character set; LC_NUMERIC stays "C", so numbers keep their point */
    run->pipe_ends = signal(SIGPIPE, SIG_IGN) != SIG_IGN; /* a closed pipe is reported as a write error */
    signal(SIGXFSZ, SIG_IGN);                             /* so is a file over its size limit */
    run->report = stdout;
}

/* Has the reader of standard output closed its end of the pipe? Always false if the caller ignored SIGPIPE. */
static bool reader_left(const cli_run *run) {
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return run->pipe_ends && poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

/* A report that did not reach its reader is a failure too: most write errors show only when the file is closed. */
static int close_output(const cli_run *run, int code) {
    bool failed = ferror(stdout) != 0, used = failed || __fpending(stdout) > 0;
    bool left = reader_left(run);
    errno = 0;
    failed = fclose(stdout) != 0 || failed;
    if (failed && used && code == CLI_DONE && run->pipe_ends && (left || errno == EPIPE)) {
        return CLI_PIPE;
    }
    if (failed && used && code == CLI_DONE) { /* standard output may be closed if nothing was written to it */
        return cli_fail(CLI_INPUT, "standard output cannot be written%s%s", errno ? ": " : "",
                        errno ? strerror(errno) : "");
    }
    return code;
}

int cli_run_end(cli_run *run, int code) {
    cli_progress_stop(&run->progress);
    (void)cli_loader_end(&run->loader);
    lsp_ctx_destroy(run->loader.ctx);
    lsp_ctx_destroy(run->ctx);
    code = close_output(run, code);
    if (code == CLI_PIPE) { /* the shell expects a tool to end by the signal */
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    return code;
}

/* ---- failures ---- */

int cli_failed(cli_run *run, lsp_status status) { return cli_failed_in(run, run->ctx, status); }

int cli_failed_in(cli_run *run, const lsp_ctx *ctx, lsp_status status) {
    return cli_failed_on(run, NULL, lsp_last_error(ctx), status);
}

int cli_failed_on(cli_run *run, const char *device, const char *sentence, lsp_status status) {
    static const int codes[] = {
        [LSP_OK] = CLI_DONE,
        [LSP_ERR_ARGUMENT] = CLI_USAGE,
        [LSP_ERR_FORMAT] = CLI_INPUT,
        [LSP_ERR_IO] = CLI_INPUT,
        [LSP_ERR_MEMORY] = CLI_MEMORY,
        [LSP_ERR_DEVICE] = CLI_DEVICE,
        [LSP_ERR_UNSUPPORTED] = CLI_INPUT,
        [LSP_ERR_OVERFLOW] = CLI_MEMORY,
        [LSP_ERR_CONVERGENCE] = CLI_CHECK,
        [LSP_ERR_CANCELLED] = CLI_CHECK, /* only what another device stopped */
    };
    cli_progress_end(&run->progress);
    if (status == LSP_ERR_IO && run->to_pipe && reader_left(run)) {
        return CLI_PIPE;
    }
    if (run->verbose && !run->progress.verbose && run->progress.logged[0]) {
        (void)cli_fail(CLI_DONE, "%s", run->progress.logged); /* the report, which has this line, will not be printed */
    }
    const char *verb = run->progress.verb, *object = run->progress.object, *colon = device ? ": " : "";
    device = device ? device : "";
    const bool named = !verb || strncmp(sentence, object, strlen(object)) == 0;
    if (codes[status] != CLI_MEMORY || named) {
        return cli_fail(codes[status], "%s%s%s", device, colon, sentence);
    }
    return cli_fail(CLI_MEMORY, "%s%s%s %s: %s%s", device, colon, verb, object, sentence,
                    run->remedy ? run->remedy : "");
}

/* ---- the devices ---- */

int cli_read_device(const char *name, cli_device *device, int *ordinal) {
    int64_t number = 0;
    *device = CLI_AUTO;
    if (!name || strcmp(name, "auto") == 0) {
        return CLI_DONE;
    }
    if (strcmp(name, "cpu") == 0) {
        *device = CLI_CPU;
        return CLI_DONE;
    }
    *device = CLI_CUDA;
    if (strcmp(name, "cuda") == 0) {
        return CLI_DONE;
    }
    if (strncmp(name, "cuda:", 5) != 0) {
        return cli_unknown(name, "auto|cpu|cuda", "--device takes auto, cpu, cuda or cuda:N, not '%s'", name);
    }
    if (!cli_parse_count(name + 5, 0, 1023, &number)) {
        return cli_usage("--device %s: the number of a GPU is a whole number from 0 up", name);
    }
    *ordinal = (int)number;
    return CLI_DONE;
}

int cli_cpu_open(cli_run *run) {
    char error[1024] = "";
    run->wanted.log = cli_log_hook;
    run->wanted.progress = cli_progress_hook;
    run->wanted.hook_user = &run->progress;
    return lsp_ctx_create(&run->ctx, &run->wanted, error, sizeof error) == LSP_OK ? CLI_DONE
                                                                                  : cli_fail(CLI_MEMORY, "%s", error);
}

bool cli_gpu_begin(cli_run *run) {
    lsp_ctx_options wanted = run->wanted;
    wanted.log = cli_log_hook;
    wanted.progress = cli_progress_hook;
    wanted.hook_user = &run->progress;
    wanted.device = LSP_CUDA;
    wanted.ordinal = run->ordinal;
    return cli_loader_begin(&run->loader, &wanted);
}

bool cli_gpu_end(cli_run *run) {
    cli_progress_begin(&run->progress, "copying", "to the GPU");
    run->gpu = cli_loader_end(&run->loader) ? run->loader.ctx : NULL;
    cli_progress_end(&run->progress);
    run->copy_ms = run->loader.copy_ms;
    return run->gpu != NULL;
}

int cli_devices_open(cli_run *run, cli_device device, bool quiet) {
    run->progress.wanted = !quiet && isatty(STDERR_FILENO);
    if (device == CLI_CUDA && !cli_gpu_begin(run)) {
        return cli_fail(CLI_DEVICE, "%s", run->loader.error);
    }
    CLI_STEP(cli_cpu_open(run));
    cli_progress_start(&run->progress);
    return CLI_DONE;
}
