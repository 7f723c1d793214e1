/* Bodies of items on the host, shared out among threads. */
#include "each_host.h"

enum { least_share = 1 << 15, least_heavy = 64 };

/* Threads add what few of them found, so a lock of one word is enough. */
void lsp_found_add(lsp_found *all, const lsp_found *mine) {
    static int busy;
    const lsp_found nothing = lsp_found_nothing();
    const bool found = mine->first[0] != nothing.first[0] || mine->first[1] != nothing.first[1] || mine->most != 0 ||
                       mine->flags != 0 || mine->count != 0;
    if (all == NULL || !found) {
        return;
    }
    while (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE) != 0) {
    }
    lsp_found_join(all, mine);
    __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

/* A loop that lsp_ctx_cancel ends runs in parts of least_share items. */
typedef struct stopping {
    lsp_each_host *host;
    lsp_each_job *job;
} stopping;

static void do_part(void *data, int64_t part, int thread) {
    const stopping *s = data;
    (void)thread;
    s->host(s->job, part * least_share, lsp_min((part + 1) * least_share, s->job->n));
}

lsp_status lsp_each_item(lsp_ctx *ctx, lsp_where where, lsp_each_host *host, lsp_each_cuda *cuda, lsp_each_job job) {
    if (job.found != NULL) {
        *job.found = lsp_found_nothing();
    }
    if (job.n == 0) {
        return LSP_OK;
    }
    if (where == LSP_CUDA) {
        return cuda(ctx, &job);
    }
    if (job.stops) {
        return lsp_try_parts(ctx, lsp_ceil_div(job.n, least_share), lsp_threads_for(ctx, job.n, least_share), do_part,
                             &(stopping){host, &job});
    }
    lsp_for_shares(ctx, job.n, job.heavy ? least_heavy : least_share, host, &job);
    return LSP_OK;
}

lsp_status lsp_each_first(lsp_ctx *ctx, lsp_where where, lsp_each_host *host, lsp_each_cuda *cuda, lsp_each_job job,
                          int64_t *first) {
    lsp_found found;
    job.found = &found;
    LSP_TRY(lsp_each_item(ctx, where, host, cuda, job));
    *first = found.first[0] == LSP_NOWHERE ? job.n : (int64_t)found.first[0];
    return LSP_OK;
}
