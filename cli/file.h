/* A whole file in memory. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct cli_file {
    char *text; /* text[bytes] is 0 */
    size_t bytes;
} cli_file;

/* Reads a plain or a compressed file; "-" is standard input. `name` is for messages; `most`: bytes of memory, 0: no
 * limit. Returns an exit code. Free the text in each case. */
int cli_file_read(const char *path, const char *name, int64_t most, cli_file *file);
