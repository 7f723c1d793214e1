/* One run of spgemm-cli: the options, the matrices that were read, the product, and the times. Every step of the run
 * reads this one struct and fills its part. */
#pragma once

#include "options.h"
#include "parts.h"
#include "peer_cusparse.h"
#include "run.h"
#include "source.h"

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
    cli_run run;
    cli_devices devices; /* of --devices; then C is gathered on the host */
    cli_part parts[CLI_MOST_DEVICES];
    cli_matrix A, B;
    const cli_matrix *second; /* &B, or &A if no B is given */
    cli_matrix mask;          /* a pattern; shares A's arrays if both are the same file */
    lsp_csr C;                /* on the GPU if only the output file needs it, otherwise on the host */
    bool multiplied, written;
    bool streamed; /* C did not fit into memory and was written in blocks: only its size is known */
    bool timed;    /* the product was made at once; else its time includes that of counting and writing */
    lsp_spgemm_info plan;
    double multiply_ms, median_ms, write_ms; /* multiply_ms: the fastest run */
    double cold_ms;                          /* the first run, which --repeat does not count */
    int64_t repeats, peak_bytes;
    int64_t held_bytes; /* of A, B and the mask */
    bool checked, check_ok;
    lsp_csr_difference difference;
    peer_cusparse *cusparse; /* NULL without --compare */
    bool compared;
    cli_peer peers[PEER_CUSPARSE_WAYS];
    FILE *picture; /* where the report goes, but standard error with --json: the object must stand alone */
} cli_job;

/* ---- the product ---- */

/* The type of C's values: complex if those of A or B are. */
lsp_type cli_product_type(const cli_job *job);

/* "A*B", "A*A^T", ... */
const char *cli_formula(const cli_job *job);

/* op(A) is rows x inner_a, op(B) is inner_b x cols. The product is defined if inner_a == inner_b. */
typedef struct cli_sizes {
    int64_t rows, inner_a, inner_b, cols;
} cli_sizes;
cli_sizes cli_sizes_of(const cli_job *job);

/* The end of the message that A*A is not defined: names the product with the transpose, which is. */
const char *cli_instead(const cli_job *job);

/* Options of the unfiltered product; and the filter, whose mask must be on the same device as the operands. */
lsp_spgemm_options cli_how_to_multiply(const cli_job *job, lsp_spgemm_method method);
lsp_filter cli_filter_of(const cli_job *job, const lsp_csr *mask);

/* Two floating-point operations for each product, eight if it is complex, in Gflop/s; 0 if nothing was multiplied. */
double cli_gflops(const cli_job *job);

/* ---- the GPU ---- */

bool cli_on_gpus(const cli_job *job); /* are the devices of --devices GPUs? */

void cli_gpu_give(cli_job *job,
                  const cli_matrix *matrix); /* to be copied. Does nothing without a GPU, or with --info */
void cli_gpu_give_all(cli_job *job);         /* A, B and the mask, if all were read before the GPU was begun */
