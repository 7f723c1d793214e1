/* One thread opens the GPU, which takes about a third of a second, and then copies the queued matrices in order; files
 * are read meanwhile. If no thread can be created, cli_loader_end does the work itself. */
#include "loader.h"
#include "text.h"

#include <errno.h>
#include <time.h>

/* Waits for the next matrix. Returns NULL after the last one. */
static const lsp_csr *take(cli_loader *loader) {
    pthread_mutex_lock(&loader->mutex);
    while (loader->copied == loader->count && !loader->closed) {
        pthread_cond_wait(&loader->news, &loader->mutex);
    }
    const lsp_csr *matrix = loader->copied < loader->count ? loader->queue[loader->copied] : NULL;
    pthread_mutex_unlock(&loader->mutex);
    return matrix;
}

static void *load(void *data) {
    cli_loader *loader = data;
    lsp_ctx *ctx = NULL;
    (void)lsp_ctx_create(&ctx, &loader->wanted, loader->error, sizeof loader->error);
    pthread_mutex_lock(&loader->mutex);
    loader->ctx = ctx;
    loader->answered = true;
    pthread_cond_broadcast(&loader->news);
    pthread_mutex_unlock(&loader->mutex);
    for (const lsp_csr *matrix; ctx && loader->status == LSP_OK && (matrix = take(loader));) {
        const double begun = cli_now();
        loader->status =
            lsp_csr_copy(ctx, matrix, &(lsp_csr_types){.place = LSP_PLACE_CUDA}, &loader->on_gpu[loader->copied]);
        loader->copy_ms += cli_now() - begun;
        loader->copied += loader->status == LSP_OK;
    }
    return NULL;
}

bool cli_loader_begin(cli_loader *loader, const lsp_ctx_options *wanted) {
    struct timespec until;
    *loader = (cli_loader){.wanted = *wanted, .begun = true};
    pthread_mutex_init(&loader->mutex, NULL);
    pthread_cond_init(&loader->news, NULL);
    loader->threaded = pthread_create(&loader->thread, NULL, load, loader) == 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += CLI_LOADER_WAIT * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&loader->mutex);
    while (loader->threaded && !loader->answered &&
           pthread_cond_timedwait(&loader->news, &loader->mutex, &until) != ETIMEDOUT) {
    }
    const bool failed = loader->answered && !loader->ctx;
    pthread_mutex_unlock(&loader->mutex);
    return !failed;
}

void cli_loader_give(cli_loader *loader, const lsp_csr *matrix) {
    pthread_mutex_lock(&loader->mutex);
    loader->queue[loader->count++] = matrix;
    pthread_cond_broadcast(&loader->news);
    pthread_mutex_unlock(&loader->mutex);
}

lsp_ctx *cli_loader_wait(cli_loader *loader) {
    pthread_mutex_lock(&loader->mutex);
    while (loader->threaded && !loader->answered) {
        pthread_cond_wait(&loader->news, &loader->mutex);
    }
    lsp_ctx *ctx = loader->ctx;
    pthread_mutex_unlock(&loader->mutex);
    return ctx;
}

bool cli_loader_end(cli_loader *loader) {
    if (loader->begun && !loader->closed) {
        pthread_mutex_lock(&loader->mutex);
        loader->closed = true;
        pthread_cond_broadcast(&loader->news);
        pthread_mutex_unlock(&loader->mutex);
        if (loader->threaded) {
            pthread_join(loader->thread, NULL);
        } else {
            load(loader);
        }
    }
    return loader->ctx != NULL;
}

void cli_loader_drop(cli_loader *loader) {
    for (; loader->copied > 0; loader->copied--) {
        lsp_csr_free(loader->ctx, &loader->on_gpu[loader->copied - 1]);
    }
}
