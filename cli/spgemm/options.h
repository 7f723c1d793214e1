/* The options of spgemm-cli. */
#pragma once

#include "run.h"

typedef struct cli_options {
    const char *a, *b; /* files; a is NULL with --generate, b is NULL if A is also the second operand */
    const char *output, *generate, *spy, *device_name, *devices, *semiring_name, *mask;
    int64_t seed, threads, max_bytes, repeat, keep; /* if not given: seed < 0, the others 0 */
    double drop;                                    /* < 0: not given */
    cli_device device;
    int ordinal;
    int semiring;  /* an lsp_semiring */
    int precision; /* 0: f64, 1: f32, 2: i64, 3: i32, 4: bool */
    int compare;   /* < 0: not given */
    bool transpose_a, transpose_b, complement, info, dry_run, check, json, quiet, verbose, lenient, version, help;
} cli_options;

/* Reads the command line and refuses options that contradict each other. Returns CLI_DONE or CLI_USAGE. */
int cli_options_read(int argc, char **argv, cli_options *options);

/* Prints the help. */
void cli_options_help(FILE *to);

/* --precision as a type and by its name; is it one of the integers? */
lsp_type cli_value_type(const cli_options *options);
const char *cli_precision_name(const cli_options *options);
bool cli_integers(const cli_options *options);

/* Is C filtered: by --mask, --drop or --keep? */
bool cli_filters(const cli_options *options);
