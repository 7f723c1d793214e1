/* One run of spgemm-cli: the options, the matrices that were read, the product, and the times. Every step of the run
 * reads this one struct and fills its part. */
#ifndef LSP_CLI_JOB_H
#define LSP_CLI_JOB_H

#include "libsparse.h"
#include "loader.h"
#include "options.h"
#include "peer_cusparse.h"
#include "progress.h"

typedef struct cli_matrix {
    lsp_csr csr;
    lsp_mtx_info file;
    bool generated;
    const char *name; /* the file, "standard input", or the SPEC of --generate */
} cli_matrix;

/* The result of one cuSPARSE algorithm. */
typedef struct cli_peer {
    const char *name;
    bool ran;
    double fastest_ms;
    int64_t peak_bytes;
    lsp_csr_difference difference; /* between its C and ours */
    char why[256];                 /* why it did not run */
} cli_peer;

typedef struct cli_job {
    cli_options options;
    cli_progress progress;
    lsp_ctx *ctx;         /* the CPU */
    cli_loader loader;    /* opens the GPU; `begun` if a GPU is used */
    lsp_ctx *gpu;         /* the loader's context; NULL: the CPU multiplies */
    lsp_ctx_info machine; /* the device that multiplies */
    cli_matrix A, B;
    const cli_matrix *second; /* &B, or &A if no B is given */
    cli_matrix mask;          /* a pattern; shares A's arrays if both are the same file */
    lsp_csr C;                /* on the GPU if only the output file needs it, otherwise on the host */
    bool multiplied, written;
    bool streamed;      /* C did not fit into memory and was written in blocks: only its size is known */
    bool to_pipe;       /* C goes to standard output */
    bool pipe_ends;     /* the caller did not ignore SIGPIPE */
    const char *remedy; /* appended to the message about too little memory; NULL: nothing to suggest */
    lsp_spgemm_info plan;
    double read_ms, multiply_ms, median_ms, write_ms; /* multiply_ms: the fastest run */
    double cold_ms;                                   /* the first run, which --repeat does not count */
    double copy_ms;                                   /* to the GPU and back */
    int64_t repeats, peak_bytes;
    int64_t held_bytes; /* of A, B and the mask */
    bool checked, check_ok;
    lsp_csr_difference difference;
    peer_cusparse *cusparse; /* NULL without --compare */
    bool compared;
    cli_peer peers[PEER_CUSPARSE_WAYS];
    FILE *report;  /* standard output, or standard error if C goes to standard output */
    FILE *picture; /* the same, but standard error with --json: the object must stand alone */
} cli_job;

/* Returns the exit code of a step that failed from the calling function. */
#define CLI_STEP(call)                                                                                                 \
    do {                                                                                                               \
        int code_ = (call);                                                                                            \
        if (code_ != CLI_DONE) {                                                                                       \
            return code_;                                                                                              \
        }                                                                                                              \
    } while (0)

/* ---- messages ---- */

/* Prints "spgemm-cli: sentence" on standard error. Returns `code`. */
int cli_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints the context's last error and returns the exit code for `status`. cli_failed takes job->ctx. */
int cli_failed(cli_job *job, lsp_status status);
int cli_failed_in(cli_job *job, const lsp_ctx *ctx, lsp_status status);

/* Has the reader of standard output closed its end of the pipe? Always false if the caller ignored SIGPIPE. */
bool cli_reader_left(const cli_job *job);

/* ---- the product ---- */

lsp_type cli_value_type(const cli_options *options);

/* "A*B", "A*A^T", ... */
const char *cli_formula(const cli_job *job);

/* op(A) is rows x inner_a, op(B) is inner_b x cols. The product is defined if inner_a == inner_b. */
typedef struct cli_sizes {
    int64_t rows, inner_a, inner_b, cols;
} cli_sizes;
cli_sizes cli_sizes_of(const cli_job *job);

/* The end of the message that A*A is not defined: names the product with the transpose, which is. */
const char *cli_instead(const cli_job *job);

/* Two floating-point operations for each product, in Gflop/s; 0 if nothing was multiplied. */
double cli_gflops(const cli_job *job);

/* ---- the devices ---- */

/* Creates job->ctx for the CPU. Returns an exit code. */
int cli_cpu_open(cli_job *job);

/* _begin starts a thread that opens the GPU, _give hands it a matrix to copy, _end waits for all of it and sets
 * job->gpu. _begin and _end return false if the GPU cannot be used; job->loader.error then says why. */
bool cli_gpu_begin(cli_job *job);
void cli_gpu_give(cli_job *job, const cli_matrix *matrix); /* does nothing without a GPU, or with --info */
void cli_gpu_give_all(cli_job *job);                       /* A, B and the mask, if all were read before _begin */
bool cli_gpu_end(cli_job *job);

#endif
