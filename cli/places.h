/* Where a run writes: checked before anything is read, and nothing is created or touched for it. */
#ifndef LSP_CLI_PLACES_H
#define LSP_CLI_PLACES_H

#include "options.h"

/* Refuses an output that cannot be written (CLI_INPUT), or that is an input or another output (CLI_USAGE). */
int cli_places_check(const cli_options *options);

/* Where a file stands or will stand: an absolute name without links, of PATH_MAX bytes. False, with errno set, if its
 * folder is not there. */
bool cli_place_of(const char *path, char *target);

#endif
