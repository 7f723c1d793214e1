/* What a run of every tool has: the devices, the progress line, where its reports go, and how its failures are told. */
#pragma once

#include "arguments.h"
#include "libsparse.h"
#include "loader.h"
#include "progress.h"

typedef enum cli_device { CLI_AUTO, CLI_CPU, CLI_CUDA } cli_device;

typedef struct cli_run {
    lsp_ctx_options wanted; /* of every context: threads and memory budget; cli_cpu_open sets the hooks */
    int ordinal;            /* of the GPU */
    bool verbose;           /* a failure is preceded by the last line of the library's log */
    cli_progress progress;
    lsp_ctx *ctx;         /* the CPU */
    cli_loader loader;    /* opens the GPU; `begun` if a GPU is used */
    lsp_ctx *gpu;         /* the loader's context; NULL: the CPU computes */
    lsp_ctx_info machine; /* the device that computes */
    double read_ms;       /* reading or generating, all matrices */
    double copy_ms;       /* to the GPU and back */
    bool to_pipe;         /* a result goes to standard output */
    bool pipe_ends;       /* the caller did not ignore SIGPIPE */
    const char *remedy;   /* appended to the message about too little memory; NULL: nothing to suggest */
    FILE *report;         /* standard output, or standard error if a result goes to standard output */
} cli_run;

/* Returns the exit code of a step that failed from the calling function. */
#define CLI_STEP(call)                                                                                                 \
    do {                                                                                                               \
        int code_ = (call);                                                                                            \
        if (code_ != CLI_DONE) {                                                                                       \
            return code_;                                                                                              \
        }                                                                                                              \
    } while (0)

/* ---- begin and end ---- */

/* Sets the locale and the signals of broken pipes. Call it first. */
void cli_run_begin(cli_run *run);

/* Closes the devices and standard output. Returns the exit code of the run, which was `code` so far; ends by SIGPIPE if
 * the reader of standard output has left. */
int cli_run_end(cli_run *run, int code);

/* ---- failures ---- */

/* Prints the context's last error and returns the exit code for `status`. cli_failed takes run->ctx. */
int cli_failed(cli_run *run, lsp_status status);
int cli_failed_in(cli_run *run, const lsp_ctx *ctx, lsp_status status);

/* The same with the sentence and the device (NULL: there is one) that it is about. */
int cli_failed_on(cli_run *run, const char *device, const char *sentence, lsp_status status);

/* ---- the devices ---- */

/* Reads "auto", "cpu", "cuda" or "cuda:N"; NULL is "auto". Returns CLI_DONE or CLI_USAGE. */
int cli_read_device(const char *name, cli_device *device, int *ordinal);

/* Begins to open the GPU if it is asked for, creates run->ctx for the CPU, and starts the progress line unless `quiet`.
 * Set wanted, ordinal and verbose before. Returns an exit code. */
int cli_devices_open(cli_run *run, cli_device device, bool quiet);

/* Creates run->ctx for the CPU. Returns an exit code. */
int cli_cpu_open(cli_run *run);

/* _begin starts a thread that opens the GPU, cli_loader_give hands it a matrix to copy, _end waits for all of it and
 * sets run->gpu. _begin and _end return false if the GPU cannot be used; run->loader.error then says why. */
bool cli_gpu_begin(cli_run *run);
bool cli_gpu_end(cli_run *run);
