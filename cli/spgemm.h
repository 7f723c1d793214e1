/* One run of spgemm-cli: what was asked, what was read, what came out. */
#ifndef LSP_CLI_SPGEMM_H
#define LSP_CLI_SPGEMM_H

#include "libsparse.h"
#include "loader.h"
#include "options.h"
#include "peer_cusparse.h"
#include "progress.h"

typedef struct cli_matrix {
    lsp_csr csr;
    lsp_mtx_info file;
    bool generated;
    const char *name; /* the file, "standard input", or the generator's words */
} cli_matrix;

/* What one of cuSPARSE's algorithms came to. */
typedef struct cli_rival {
    const char *name;
    bool ran;
    double fastest_ms;
    int64_t peak_bytes;
    lsp_csr_difference difference; /* from our C */
    char why[256];                 /* it did not run */
} cli_rival;

typedef struct cli_job {
    cli_options options;
    cli_progress progress;
    lsp_ctx *ctx;
    cli_loader loader;    /* begun: of a GPU */
    lsp_ctx *gpu;         /* what multiplies, of the loader; NULL: the CPU, with `ctx` */
    lsp_ctx_info machine; /* of what multiplies */
    cli_matrix A, B;
    const cli_matrix *second; /* &B, or &A when there is no B */
    cli_matrix mask;          /* a pattern; of A's own file A's arrays */
    lsp_csr C;                /* on the GPU still, if only its file wants it */
    bool multiplied, written;
    const char *remedy; /* the end of a sentence on too little memory; NULL: there is none */
    bool streamed;      /* C did not fit the memory: it was written in blocks, and only its size is known */
    lsp_spgemm_info plan;
    double read_ms, multiply_ms, median_ms, write_ms; /* multiply_ms: the fastest */
    double cold_ms;                                   /* of the run before those that --repeat counts */
    double copy_ms;                                   /* to the GPU and back */
    int64_t repeats, peak_bytes;
    int64_t held_bytes; /* by A, B and the mask */
    bool checked, check_ok;
    lsp_csr_difference difference;
    peer_cusparse *cusparse; /* --compare; else NULL */
    bool compared;
    cli_rival rivals[PEER_CUSPARSE_WAYS];
    FILE *report;   /* standard output, or standard error when C itself goes to standard output */
    FILE *picture;  /* the same, but never where a JSON object stands alone */
    bool to_pipe;   /* C goes to standard output */
    bool pipe_ends; /* SIGPIPE was not ignored by the caller */
} cli_job;

/* The steps of a run. Each returns an exit code, having told what is wrong. */
int cli_read(cli_job *job);
int cli_product(cli_job *job);
int cli_check_failed(const cli_job *job);
int cli_compare(cli_job *job); /* after the product, whose C it looks at */

/* Leaves the function with the code of a step that failed. */
#define CLI_STEP(call)                                                                                                 \
    do {                                                                                                               \
        int code_ = (call);                                                                                            \
        if (code_ != CLI_DONE) {                                                                                       \
            return code_;                                                                                              \
        }                                                                                                              \
    } while (0)

lsp_type cli_value_type(const cli_options *options);

/* "A*B", "A*A^T", ... */
const char *cli_formula(const cli_job *job);

/* op(A) is rows x inner_a, op(B) inner_b x cols. */
typedef struct cli_sizes {
    int64_t rows, inner_a, inner_b, cols;
} cli_sizes;
cli_sizes cli_sizes_of(const cli_job *job);

/* Which product of a matrix that is not square is defined where this one is not, as the end of a sentence. */
const char *cli_instead(const cli_job *job);

/* Floating point operations a nanosecond; 0 when nothing was multiplied. */
double cli_gflops(const cli_job *job);

/* The job as a table or as JSON, after a product or a dry run. */
void cli_report(const cli_job *job);

/* What --info tells of A, B and their product. Returns an exit code. */
int cli_info(cli_job *job);

/* Head of every table: the matrices, a line each. */
void cli_table_matrices(const cli_job *job);
void cli_table_row(FILE *to, const char *label, const char *value, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* "real symmetric, 2,596 stored", "generated, seed 2". */
void cli_describe(const cli_job *job, const cli_matrix *matrix, char *text, size_t bytes);
const char *cli_symmetry_name(lsp_symmetry symmetry);
const char *cli_field_name(lsp_mtx_field field);

/* Prints a context's last sentence, or one of our own, and returns the exit code. */
int cli_failed(cli_job *job, lsp_status status);
int cli_failed_in(cli_job *job, const lsp_ctx *ctx, lsp_status status);

/* A GPU is opened beside all else; once _end has waited for it and for what it was given, it is job->gpu. False: it
 * cannot be used, and job->loader.error says why. */
bool cli_gpu_begin(cli_job *job);
bool cli_gpu_end(cli_job *job);
void cli_read_there(cli_job *job); /* between the two: what was read before _begin is given to it */
int cli_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The pattern of a matrix as a picture: an SVG file that appears complete or not at all, or characters. */
int cli_spy_svg(const char *path, const lsp_csr *matrix, const char *title);
int cli_spy_text(FILE *to, const lsp_csr *matrix, const char *title);

#endif
