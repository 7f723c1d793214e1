/* A gather or scatter on the CPU, without a plan: the chosen strategy runs, then an index outside is told. */
#include "cpu.h"

typedef struct search {
    const lsp_gather_args *args;
    int64_t bad;
} search;

static void search_share(void *data, int64_t begin, int64_t end) {
    search *s = data;
    lsp_lower(&s->bad, lsp_gather_first_outside(s->args, begin, end));
}

lsp_status lsp_gather_cpu_find_bad(lsp_ctx *ctx, const lsp_gather_job *job, int64_t *bad, int64_t *index) {
    search s = {.args = &job->args, .bad = INT64_MAX};
    lsp_for_shares(ctx, job->args.n, LSP_GATHER_WORTH_A_THREAD, search_share, &s);
    *bad = s.bad == INT64_MAX ? -1 : s.bad;
    *index = s.bad == INT64_MAX ? 0 : lsp_index_at(job->args.index, job->args.index_type, s.bad);
    return LSP_OK;
}

lsp_status lsp_gather_cpu_run(lsp_ctx *ctx, const lsp_gather_job *job) {
    const lsp_gather_args *args = &job->args;
    int64_t bad = args->extent > 0 ? INT64_MAX : 0;
    if (args->extent > 0 && job->choice.strategy == LSP_STRATEGY_STAGE) { /* a scatter: a gather needs a plan for it */
        LSP_TRY(lsp_gather_cpu_bins(ctx, job, &bad));
    } else if (args->extent > 0) {
        LSP_TRY(lsp_gather_cpu_scan(ctx, job, job->choice.passes, &bad));
    }
    return bad == INT64_MAX
               ? LSP_OK
               : lsp_gather_refuse_index(ctx, bad, lsp_index_at(args->index, args->index_type, bad), args->extent);
}
