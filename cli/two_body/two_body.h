/* One run of two-body: the options, the points, the result, the times; and its steps in the order in which main.c takes
 * them. A step that fails prints one sentence on standard error and returns its exit code; CLI_DONE otherwise. */
#pragma once

#include "devices.h"
#include "options.h"

typedef struct tb_set {
    lsp_points points; /* by rows, on the host */
    void *values;      /* their coordinates */
    const char *name;  /* of the file, or the SPEC */
} tb_set;

/* The share of one device. */
typedef struct tb_share {
    lsp_points points[2]; /* what it computes from: those of the host, or of there[] */
    lsp_array there[2];   /* all points on its GPU */
    bool lacks;           /* its GPU has no memory for them and the work */
    double ms;
    uint64_t *counts;
    lsp_pair_info info;
    lsp_csr C;
} tb_share;

typedef struct tb_job {
    tb_options options;
    cli_run run;
    cli_devices devices; /* of --devices */
    tb_share shares[CLI_MOST_DEVICES];
    tb_set sets[2];
    bool two; /* pairs of two sets */
    tb_cell cell;
    double volume; /* of the cell, or of the box that the points span */
    lsp_pair_info info;
    uint64_t *counts; /* of radii or bins */
    double *g;        /* of gr */
    void *density;    /* of each point of the first set, in the type of the points */
    lsp_csr C;
    bool written, checked;
    char checked_why[CLI_SENTENCE]; /* empty: the check found the same */
    int64_t peak_bytes;
    double compute_ms, check_ms, write_ms;
} tb_job;

/* Reads, selects and converts the points; finds the cell and the volume. */
int tb_read(tb_job *job);

/* Opens the GPU if it is asked for, and calls the library. */
int tb_compute(tb_job *job);

/* shares.c: the same by the devices of --devices, a share of the work each. _free: what they have. */
int tb_compute_shares(tb_job *job);
void tb_free_shares(tb_job *job);

/* call.c: the call of the verb for part `part` of `parts` (0: all). */
lsp_status tb_call(tb_job *job, lsp_ctx *ctx, int part, int parts, tb_share *share);

/* --check: a plain loop over all pairs, in double precision. In open space counts must be equal, as the header defines
 * d2; in a box, pairs that lie nearer to a limit than rounding explains may be on either side of it. */
int tb_check(tb_job *job);

/* --svg: the histogram or g(r) as a picture. */
int tb_draw(const tb_job *job);

/* Writes the matrix or the table of -o. */
int tb_write(tb_job *job);

/* Prints the result as a table or as JSON. */
void tb_report(const tb_job *job);

/* ---- call.c: what steps share ---- */

double tb_at(const tb_set *set, int64_t point, int dimension);
const tb_set *tb_second(const tb_job *job); /* the first, if there is one */
int64_t tb_count_of(const tb_job *job);     /* of job->counts */
uint64_t tb_pairs(const tb_job *job);       /* of all points */
lsp_ctx *tb_ctx(const tb_job *job);         /* that computes, of --devices the first */
double tb_density_at(const tb_job *job, int64_t point);
lsp_join_values tb_values(const tb_options *options);
