/* Reads or generates the matrices of a run. */
#pragma once

#include "run.h"

typedef struct cli_matrix {
    lsp_csr csr;
    lsp_mtx_info file;
    bool generated;
    int64_t seed;     /* < 0: not given */
    const char *name; /* the file, "standard input", or the SPEC of --generate */
} cli_matrix;

typedef struct cli_source {
    const char *path; /* "-" is standard input; NULL: the matrix is generated */
    const char *spec;
    int64_t seed; /* < 0: not given */
    bool lenient;
    lsp_csr_types types;
} cli_source;

/* Reads or generates on the host, and adds the time to run->read_ms. Returns an exit code. */
int cli_matrix_make(cli_run *run, const cli_source *from, cli_matrix *matrix);

/* Bytes of its arrays. */
int64_t cli_matrix_bytes(const lsp_csr *matrix);

/* Entry i of row pointers or columns. */
int64_t cli_index_at(const void *array, lsp_type type, int64_t i);

/* Names of the generators, separated by |. */
extern const char cli_generators[];
