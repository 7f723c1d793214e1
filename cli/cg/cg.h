/* One run of cg-bench: the options, the system, the result, the times; and its steps in the order in which main.c takes
 * them. A step that fails prints one sentence on standard error and returns its exit code; CLI_DONE otherwise. */
#pragma once

#include "options.h"
#include "peer_cg.h"
#include "run.h"
#include "source.h"

/* What cuSPARSE and cuBLAS took for the same work. */
typedef struct cg_peer {
    const char *name;
    bool ran;
    double seconds;  /* the fastest */
    double zeta;     /* of the benchmark */
    double residual; /* of a system: |b - A x| / |b| */
    char why[256];   /* why it did not run */
} cg_peer;

/* The residuals of iteration 0, 1, ... of a system; of the outer iterations of the benchmark, with zeta. */
typedef struct cg_history {
    double *residual, *zeta; /* zeta: NULL for a system */
    int64_t *iteration;      /* NULL: 0, 1, ... */
    int64_t count, capacity;
} cg_history;

typedef struct cg_job {
    cg_options options;
    cli_run run;
    lsp_nas_class nas; /* of --class */
    cli_matrix A, b;   /* b: the file of --rhs */
    lsp_csr rhs, x;    /* of a system: dense vectors as matrices of one column, on the host */
    lsp_nas_result benchmark;
    lsp_solve_info solution;
    lsp_multigrid_info multigrid; /* levels 0: there is none */
    const lsp_spmv_info *spmv;    /* of either */
    lsp_status status;            /* of the solver: LSP_OK or LSP_ERR_CONVERGENCE */
    char sentence[512];           /* why it did not converge */
    bool solved, written;
    double seconds, median_seconds, cold_seconds; /* seconds: the fastest run */
    double write_ms;
    double product_seconds; /* of one product with A, measured with --verbose; 0: not measured */
    double error;           /* b = A * ones: the largest |x - 1| */
    int64_t repeats, peak_bytes;
    cg_history history;
    peer_cg *peer; /* NULL without --compare */
    bool compared;
    cg_peer peers[PEER_CG_WAYS];
} cg_job;

/* --class: refuses a class for which the memory is too small, makes its matrix, runs and verifies the benchmark. */
int cg_benchmark(cg_job *job);

/* Reads or generates A and b, and solves A x = b. A solver that does not converge is no failure of this step. */
int cg_solve(cg_job *job);

/* --compare: the same work by cuSPARSE and cuBLAS, and whether its result is right. _open loads them. */
int cg_compare_open(cg_job *job);
int cg_compare(cg_job *job);

/* Writes x. */
int cg_write(cg_job *job);

/* --history: an SVG or a JSON file, which appears complete or not at all. */
int cg_history_write(const cg_job *job);

/* Prints the result as a table or as JSON. */
void cg_report(const cg_job *job);

/* The exit code of the result: CLI_CHECK, with a sentence, if zeta does not verify or the solver did not converge. */
int cg_verdict(const cg_job *job);

/* ---- what steps share ---- */

/* Takes the device of --device for about `multiplications`, opens it and copies A to it. */
int cg_choose_device(cg_job *job, double multiplications);

/* The context that computes, and A there. */
lsp_ctx *cg_ctx(const cg_job *job);
const lsp_csr *cg_matrix(const cg_job *job);

/* Keeps the times of the runs: the fastest and the median of `seconds`. Sorts them. */
void cg_keep_times(cg_job *job, double *seconds);

/* Times one product with A by the method that the solver took. Cost: a plan and some products. */
void cg_time_product(cg_job *job);

/* ---- vectors ---- */

/* A dense vector as a matrix of one column with all entries, zero each, on the host. */
lsp_status cg_vector_make(lsp_ctx *ctx, int64_t n, lsp_type type, lsp_csr *v);
double cg_vector_get(const lsp_csr *v, int64_t i);
void cg_vector_set(lsp_csr *v, int64_t i, double value);
