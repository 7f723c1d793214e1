/* The options of two-body. */
#pragma once

#include "points.h"
#include "run.h"

typedef enum tb_verb { TB_COUNT, TB_HISTOGRAM, TB_GR, TB_JOIN, TB_NEAREST, TB_DENSITY, TB_VERBS } tb_verb;

enum { TB_MOST_RADII = 256 };

typedef struct tb_options {
    tb_verb verb;
    const char *file[2]; /* "-": standard input; NULL: not given */
    const char *generate, *output, *svg, *element, *name, *box_text, *radius_text, *device_name, *devices;
    double box[TB_MOST_DIMENSIONS + 3]; /* sides, then tilts */
    int box_count;                      /* numbers of `box`; 0: not given */
    double radius[TB_MOST_RADII];
    int radius_count;
    double range, bandwidth;                                    /* < 0: not given */
    int64_t bins, neighbours, seed, threads, max_bytes, repeat; /* if not given: seed < 0, the others 0 */
    int kernel, format, method, precision;                      /* < 0: not given */
    cli_device device;
    int ordinal;
    bool approximate, squared, pattern, half, no_box, check, json, quiet, verbose, version, help;
} tb_options;

extern const cli_tool tb_tool;

/* Reads the command line and refuses options that contradict each other. Returns CLI_DONE or CLI_USAGE. */
int tb_options_read(int argc, char **argv, tb_options *options);

const char *tb_verb_name(tb_verb verb);

/* The type of coordinates. */
lsp_type tb_type(const tb_options *options);

/* Does the verb make a matrix? Otherwise it makes a table. */
bool tb_makes_matrix(const tb_options *options);
