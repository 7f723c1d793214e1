/* Files that the tools write themselves, such as pictures: each appears complete or not at all. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

/* Written as `beside`, then renamed to `target`. */
typedef struct cli_output {
    char target[PATH_MAX], beside[PATH_MAX + 32];
    FILE *to;
} cli_output;

/* Opens the file; a signal that ends the program removes it. Returns false and sets errno on failure. Call _close in
 * either case: it completes the file, or says why the `kind` of file cannot be written. Returns an exit code. */
bool cli_output_open(cli_output *p, const char *path);
int cli_output_close(cli_output *p, bool opened, const char *path, const char *kind);
