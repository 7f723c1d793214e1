/* Opens the GPU of a run in a thread, and copies matrices to it while the next file is read. */
#pragma once

#include "libsparse.h"

#include <pthread.h>

enum { CLI_LOADER_MOST = 3, CLI_LOADER_WAIT = 20 }; /* matrices; milliseconds */

/* State of the thread. The caller may read it after _end; before that, only the thread and the functions below may. */
typedef struct cli_loader {
    lsp_ctx_options wanted;
    lsp_ctx *ctx;                          /* NULL: the GPU cannot be opened; `error` says why */
    const lsp_csr *queue[CLI_LOADER_MOST]; /* on the host */
    lsp_csr on_gpu[CLI_LOADER_MOST];       /* their copies, the first `copied` of them */
    int count;                             /* of `queue` */
    int copied;
    lsp_status status; /* the first copy that failed, otherwise LSP_OK */
    double copy_ms;    /* total time of the copies */
    char error[1024];
    bool begun, threaded, answered, closed; /* answered: opening the GPU has succeeded or failed */
    pthread_t thread;
    pthread_mutex_t mutex; /* protects queue, count, answered and closed */
    pthread_cond_t news;
} cli_loader;

/* Starts to open the GPU. Waits at most CLI_LOADER_WAIT milliseconds: a machine without a GPU fails within that time,
 * and false is returned before any file is read. */
bool cli_loader_begin(cli_loader *loader, const lsp_ctx_options *wanted);

/* Queues a host matrix to be copied. Call it after _begin; the matrix must not change until _end returns. */
void cli_loader_give(cli_loader *loader, const lsp_csr *matrix);

/* Waits until the GPU is open or has failed to open. Returns its context, NULL after a failure. */
lsp_ctx *cli_loader_wait(cli_loader *loader);

/* Waits until all matrices are copied. Returns true if the GPU is open. */
bool cli_loader_end(cli_loader *loader);

/* Frees the matrices on the GPU; the context stays open. Call it after _end. */
void cli_loader_drop(cli_loader *loader);
