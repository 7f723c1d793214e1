/* Checks the output paths of a run before anything is read. Creates and changes no file. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

typedef struct cli_place {
    const char *role, *path; /* path NULL: the option is not given; "-": standard input or output */
    bool output;
    bool exists;       /* set by cli_places_check */
    struct stat about; /* valid if it exists */
} cli_place;

/* The places are the inputs first, then the outputs. Returns CLI_INPUT if an output cannot be written, CLI_USAGE if it
 * is an input or another output. */
int cli_places_check(cli_place *places, int count);

/* Writes the absolute path of a file, with all links followed, to target[PATH_MAX]. The file need not exist. Returns
 * false and sets errno if its folder does not exist. */
bool cli_place_of(const char *path, char *target);
