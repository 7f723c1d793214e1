/* The options of cg-bench. */
#pragma once

#include "run.h"

enum { CG_CONJUGATE_GRADIENTS = 0, CG_BICGSTAB = 1 };   /* values of `solver` */
enum { CG_PLAIN = 0, CG_JACOBI = 1, CG_MULTIGRID = 2 }; /* values of `precondition` */

typedef struct cg_options {
    const char *matrix, *generate, *rhs, *output, *history; /* files; "-" for standard input or output */
    const char *class_name, *device_name, *passes_name, *method_name;
    char nas;                                                 /* the class; 0: a system is solved */
    int64_t seed, threads, max_bytes, repeat, max_iterations; /* if not given: seed < 0, the others 0 */
    double rtol;                                              /* < 0: not given */
    cli_device device;
    int ordinal;
    int precision;                        /* 0: f64, 1: f32 */
    int solver, precondition;             /* < 0: not given */
    int compare;                          /* < 0: not given */
    int mg_smoother, mg_cycle, mg_levels; /* < 0: not given */
    int64_t mg_sweeps, mg_block;          /* 0: not given */
    double mg_threshold;                  /* < 0: not given */
    lsp_spmv_method method;
    int passes; /* 0: the cache model chooses */
    bool lenient, json, quiet, verbose, version, help;
} cg_options;

extern const cli_tool cg_tool;

/* Reads the command line and refuses options that contradict each other. Returns CLI_DONE or CLI_USAGE. */
int cg_options_read(int argc, char **argv, cg_options *options);

/* The type of all numbers. */
lsp_type cg_type(const cg_options *options);

/* The residual to reach, given or usual: f32 cannot reach the usual one of f64. */
double cg_rtol(const cg_options *options);

/* How multigrid is set up. */
lsp_multigrid_options cg_multigrid(const cg_options *options);

/* "cg" or "bicgstab"; "none", "jacobi" or "multigrid"; "jacobi" or "chebyshev". */
const char *cg_solver_name(const cg_options *options);
const char *cg_precondition_name(const cg_options *options);
const char *cg_smoother_name(const cg_options *options);

/* Is the history a picture? Otherwise it is JSON. */
bool cg_history_drawn(const cg_options *options);
