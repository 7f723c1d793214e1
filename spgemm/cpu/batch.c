/* The bodies of a batch on the CPU. Threads take shares of all items, however long a matrix is, and go from matrix to
 * matrix in them. */
#include "spgemm/batch.h"

enum { least_share = 1 << 15 };

/* Items k .. last-1. What it reads of the job and the spans is copied, so that what it writes cannot change it. */
LSP_INLINE void walk(lsp_batch_body *body, lsp_batch_items items, const lsp_batch_job *job, int64_t k, int64_t last) {
    const lsp_batch_job own = *job;
    for (int64_t i = lsp_batch_find(own.spans, items, k, 0, own.count - 1); k < last; i++) {
        const lsp_batch_span s[] = {own.spans[i], own.spans[i + 1]};
        const int64_t first = lsp_batch_first(own.spans, items, i);
        const int64_t stop = lsp_min(lsp_batch_first(own.spans, items, i + 1), last);
        bool bad = false;
        for (; k < stop; k++) {
            bad |= body(&own, s, i, k - first);
        }
        if (bad) {
            lsp_lower(own.fault, i);
        }
    }
}

#define LSP_BATCH_HOST(name, items, member, WITH)                                                                      \
    LSP_INLINE void name##_typed(lsp_type type, lsp_batch_job job, int64_t begin, int64_t end) {                       \
        job.from.member = type;                                                                                        \
        walk(name##_body, items, &job, begin, end);                                                                    \
    }                                                                                                                  \
    static void name##_share(void *data, int64_t begin, int64_t end) {                                                 \
        const lsp_batch_job *job = data;                                                                               \
        WITH(job->from.member, name##_typed, *job, begin, end);                                                        \
    }                                                                                                                  \
    static lsp_status name(lsp_ctx *ctx, const lsp_batch_job *job) {                                                   \
        lsp_batch_job own = *job;                                                                                      \
        lsp_for_shares(ctx, lsp_batch_first(job->spans, items, job->count), least_share, name##_share, &own);          \
        return LSP_OK;                                                                                                 \
    }
LSP_BATCH_BODIES(LSP_BATCH_HOST)

#define LSP_BATCH_NAME(name, ...) name,
const lsp_batch_table lsp_batch_on_cpu = {LSP_BATCH_BODIES(LSP_BATCH_NAME)};
