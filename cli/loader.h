/* The GPU of a run: it is opened, and the factors and the mask are copied to it, while files are still being read. */
#ifndef LSP_CLI_LOADER_H
#define LSP_CLI_LOADER_H

#include "libsparse.h"

#include <pthread.h>

enum { CLI_LOADER_MOST = 3, CLI_LOADER_WAIT = 20 };

/* What its thread does. All else is the caller's once _end has returned. */
typedef struct cli_loader {
    lsp_ctx_options wanted;
    lsp_ctx *ctx;                          /* NULL: it could not be opened, for which `error` has the sentence */
    const lsp_csr *given[CLI_LOADER_MOST]; /* on the host */
    lsp_csr there[CLI_LOADER_MOST];        /* on the GPU; as far as `status` let them */
    int count;                             /* given so far */
    int copied;
    lsp_status status; /* of the copies */
    double copy_ms;    /* what they took */
    char error[1024];
    bool begun, threaded, answered, closed; /* answered: the GPU is open, or cannot be */
    pthread_t thread;
    pthread_mutex_t mutex; /* for given, count, answered and closed while the thread runs */
    pthread_cond_t news;
} cli_loader;

/* Begins to open the GPU. Waits CLI_LOADER_WAIT milliseconds at most, in which a machine without a GPU has answered:
 * false then. */
bool cli_loader_begin(cli_loader *loader, const lsp_ctx_options *wanted);

/* One more matrix is to be on the GPU; it stays as it is until _end. After _begin. */
void cli_loader_give(cli_loader *loader, const lsp_csr *matrix);

/* Waits until all are there. Is the GPU open? */
bool cli_loader_end(cli_loader *loader);

/* The matrices on the GPU are dropped; the context stays. After _end. */
void cli_loader_drop(cli_loader *loader);

#endif
