/* A gather or scatter on the CPU, without a plan: the chosen strategy runs, then an index outside is told. */
#include "cpu.h"

typedef struct search {
    const lsp_gather_job *job;
    int64_t bad; /* the lowest position found */
} search;

/* Looks for an index outside in blocks: inside a block without branches, so that the compiler uses vectors. */
static void search_share(void *data, int64_t begin, int64_t end) {
    enum { BLOCK = 1024 };
    search *s = data;
    const lsp_gather_args *args = &s->job->args;
    const uint64_t extent = (uint64_t)args->extent;
    for (int64_t block = begin; block < end; block += BLOCK) {
        const int64_t last = lsp_min(block + BLOCK, end);
        int outside = 0;
        if (args->index_type == LSP_I32) {
            const int32_t *index = args->index;
            const uint32_t most = (uint32_t)lsp_min(args->extent, (int64_t)1 << 31);
            for (int64_t i = block; i < last; i++) {
                outside |= (uint32_t)index[i] >= most;
            }
        } else {
            const int64_t *index = args->index;
            for (int64_t i = block; i < last; i++) {
                outside |= (uint64_t)index[i] >= extent;
            }
        }
        for (int64_t i = block; outside && i < last; i++) {
            if ((uint64_t)lsp_index_at(args->index, args->index_type, i) >= extent) {
                lsp_lower(&s->bad, i);
                return;
            }
        }
    }
}

lsp_status lsp_gather_find_bad_cpu(lsp_ctx *ctx, const lsp_gather_job *job, int64_t *bad, int64_t *index) {
    search s = {.job = job, .bad = INT64_MAX};
    lsp_for_shares(ctx, job->args.n, 1 << 16, search_share, &s);
    *bad = s.bad == INT64_MAX ? -1 : s.bad;
    *index = s.bad == INT64_MAX ? 0 : lsp_index_at(job->args.index, job->args.index_type, s.bad);
    return LSP_OK;
}

lsp_status lsp_gather_run_cpu(lsp_ctx *ctx, const lsp_gather_job *job) {
    lsp_status status = LSP_OK;
    const lsp_gather_args *args = &job->args;
    int64_t bad = INT64_MAX;
    LSP_TRY(lsp_gather_cpu_scan(ctx, job, job->choice.passes, &bad));
    if (bad != INT64_MAX) {
        status = lsp_gather_refuse_index(ctx, bad, lsp_index_at(args->index, args->index_type, bad), args->extent);
    }
done:
    return status;
}
