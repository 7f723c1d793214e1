/* Files that the tools write themselves, such as pictures: each appears complete or not at all. */
#ifndef LSP_CLI_PICTURE_H
#define LSP_CLI_PICTURE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

/* Written as `beside`, then renamed to `target`. */
typedef struct cli_picture {
    char target[PATH_MAX], beside[PATH_MAX + 32];
    FILE *to;
} cli_picture;

/* Opens the file; a signal that ends the program removes it. Returns false and sets errno on failure. Call _close in
 * either case: it completes the file, or says why the `kind` of file cannot be written. Returns an exit code. */
bool cli_picture_open(cli_picture *p, const char *path);
int cli_picture_close(cli_picture *p, bool opened, const char *path, const char *kind);

/* Writes text into XML: escaped, and without characters that XML forbids. */
void cli_xml_text(FILE *to, const char *text);

#endif
