/* Which strategy a call takes: the one that was asked for, else direct. A strategy that is not offered is refused. */
#include "gather_scatter.h"
#include <stdio.h>

const char *lsp_strategy_name(lsp_strategy strategy) {
    static const char *const names[LSP_STRATEGIES] = {"auto", "direct", "rescan", "partition", "stage", "invert"};
    return (unsigned)strategy < LSP_STRATEGIES ? names[strategy] : "?";
}

/* A gather needs a plan to be staged; only a scatter can be inverted, and only by a plan. */
static bool is_offered(const lsp_gather_job *job, lsp_strategy strategy) {
    switch (strategy) {
    case LSP_STRATEGY_STAGE:
        return job->planned || job->scatter;
    case LSP_STRATEGY_INVERT:
        return job->planned && job->scatter;
    default:
        return true;
    }
}

lsp_status lsp_gather_choose(lsp_ctx *ctx, lsp_gather_job *job, const lsp_cache_pattern *pattern) {
    lsp_status status = LSP_OK;
    const lsp_strategy asked = job->args.strategy;
    (void)pattern;
    LSP_REQUIRE(is_offered(job, asked), LSP_ERR_UNSUPPORTED, "a %s %s a plan is not offered by the strategy %s",
                job->scatter ? "scatter" : "gather", job->planned ? "with" : "without", lsp_strategy_name(asked));
    job->choice = (lsp_gather_choice){.strategy = asked == LSP_STRATEGY_AUTO ? LSP_STRATEGY_DIRECT : asked};
    job->choice.passes = job->choice.strategy == LSP_STRATEGY_RESCAN ? (int)lsp_max(job->args.passes, 1) : 1;
    snprintf(job->choice.reason, sizeof job->choice.reason, "%s",
             asked == LSP_STRATEGY_AUTO ? "no model says otherwise" : "the caller asked for it");
done:
    return status;
}
