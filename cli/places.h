/* Checks the output paths of a run before anything is read. Creates and changes no file. */
#ifndef LSP_CLI_PLACES_H
#define LSP_CLI_PLACES_H

#include "options.h"

/* Returns CLI_INPUT if an output cannot be written, CLI_USAGE if it is an input or another output. */
int cli_places_check(const cli_options *options);

/* Writes the absolute path of a file, with all links followed, to target[PATH_MAX]. The file need not exist. Returns
 * false and sets errno if its folder does not exist. */
bool cli_place_of(const char *path, char *target);

#endif
