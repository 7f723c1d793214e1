/* A file that appears complete or not at all: it is written under another name in the same directory, then renamed.
 * Links are followed and stay; a device or a pipe is written in place. */
#ifndef LSP_CORE_OUTFILE_H
#define LSP_CORE_OUTFILE_H

#include <limits.h>
#include <stdbool.h>

typedef struct lsp_outfile {
    int fd;                   /* -1: closed */
    bool exists;              /* `temporary` has been made; false: written in place */
    char target[PATH_MAX];    /* the final path, links followed */
    char temporary[PATH_MAX]; /* the path that is written until then */
} lsp_outfile;

/* All return 0 or errno. The new file takes the permissions of the one that it replaces; a file without write
 * permission is not replaced. Call lsp_outfile_drop in any case. */
int lsp_outfile_open(const char *path, lsp_outfile *file);
/* Closes the file and gives it its name. */
int lsp_outfile_finish(lsp_outfile *file);
/* Closes, and removes a file that was not finished. */
void lsp_outfile_drop(lsp_outfile *file);

#endif
