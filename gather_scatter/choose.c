/* Which strategy a call takes: the one that was asked for, else the one for which the cache model predicts the least
 * time. Small calls are direct at once: they must not pay for a prediction. A strategy not offered is refused. */
#include "cache_model/cache_model.h"
#include "core/cuda.h"
#include "gather_scatter.h"
#include <math.h>
#include <stdio.h>

/* Lines an access among 4096 neighbouring ones, below which a GPU scatters directly: each line is then written while
 * the L2 cache holds it. H200, 2^24 and 2^26 doubles, direct / stage in ms: .06 lines an access .263 / .433 and 1.05
 * / 1.62; .53 lines .442 / .389 and 1.81 / 1.52 (2026-11-24). */
static const double few_lines = 0.25;

/* An array up to this share of the last cache is moved directly. H200, 2^22 doubles, direct / by the gate and stage,
 * us: a permutation 119 / 101, sequential 22 / 45, 32 partitions 63 / 94. */
static const double cached_share[] = {[LSP_HOST] = 0.5, [LSP_CUDA] = 0.6};

enum {
    few = 1 << 16,         /* indices: a call with fewer takes less time than a choice could save */
    quick_windows = 2,     /* of a sample for one call */
    sampled_from = 1 << 18 /* a sample takes about a millisecond */
};

/* A gather needs a plan to be staged; only a scatter can be inverted, and only by a plan. */
static bool is_offered(const lsp_gather_job *job, lsp_strategy strategy) {
    return strategy == LSP_STRATEGY_STAGE    ? job->planned || job->scatter
           : strategy == LSP_STRATEGY_INVERT ? job->planned && job->scatter
                                             : true;
}

/* May AUTO take it? Several passes never won on a CPU. Sums have one way in a call on a GPU, which `direct` names, and
 * cannot be inverted, because several elements go to one place. */
static bool is_candidate(const lsp_gather_job *job, lsp_strategy strategy) {
    const bool adds = job->scatter && job->args.rule == LSP_SCATTER_ADD;
    const bool blind = !job->planned && job->args.where == LSP_CUDA;
    if (strategy == LSP_STRATEGY_DIRECT) {
        return true;
    }
    if (strategy == LSP_STRATEGY_RESCAN && job->args.where == LSP_HOST) {
        return false;
    }
    return is_offered(job, strategy) && !(adds && (blind || strategy == LSP_STRATEGY_INVERT));
}

/* Sets the pattern: a sample where indices can be read without a wait that the caller does not expect, else uniform. */
static lsp_status find_pattern(lsp_ctx *ctx, const lsp_gather_job *job, lsp_cache_case *what) {
    const lsp_gather_args *a = &job->args;
    if (a->n >= sampled_from && job->planned) {
        return lsp_cache_model_sample(ctx, a->index, a->index_type, a->n, job->most_bytes, a->where, &what->pattern);
    } else if (a->n >= sampled_from && a->where == LSP_HOST) {
        return lsp_cache_sample(ctx, a, job->most_bytes, quick_windows, &what->pattern);
    }
    return LSP_OK;
}

static void take(lsp_gather_info *choice, const lsp_cache_prediction *p, lsp_strategy strategy, int passes) {
    const double plan = p->plan_seconds[strategy], saved = p->seconds[LSP_STRATEGY_DIRECT] - p->seconds[strategy];
    const double calls = plan > 0 && saved > 0 ? plan / saved : 1e18;
    choice->strategy = strategy;
    choice->passes = strategy != LSP_STRATEGY_RESCAN ? 1 : passes > 0 ? passes : (int)lsp_max(p->passes[strategy], 1);
    choice->predicted_seconds = p->seconds[strategy];
    choice->direct_seconds = p->seconds[LSP_STRATEGY_DIRECT];
    choice->pays_after = !(plan > 0) ? 0 : calls < 1e18 ? (int64_t)calls + 1 : INT64_MAX;
}

static lsp_status predict(lsp_ctx *ctx, lsp_gather_job *job) {
    const lsp_strategy asked = job->args.strategy;
    lsp_gather_info *choice = &job->choice;
    const lsp_cache_figures *f;
    lsp_cache_case what = {.n = job->args.n,
                           .extent = job->args.extent,
                           .element_bytes = job->most_bytes,
                           .index_bytes = lsp_type_bytes(job->args.index_type),
                           .scatter = job->scatter,
                           .planned = job->planned,
                           .calls = job->args.expected_calls};
    lsp_cache_prediction p;
    LSP_TRY(lsp_cache_figures_of(ctx, &f));
    LSP_TRY(find_pattern(ctx, job, &what));
    LSP_TRY(lsp_cache_model_predict(ctx, f, &what, &p));
    for (int s = LSP_STRATEGY_DIRECT; s < LSP_STRATEGIES && asked == LSP_STRATEGY_AUTO; s++) {
        if (!is_candidate(job, (lsp_strategy)s)) {
            p.seconds[s] = 0;
        }
    }
    if (asked == LSP_STRATEGY_AUTO) {
        lsp_cache_choose(&what, &p);
    }
    take(choice, &p, asked == LSP_STRATEGY_AUTO ? p.best : asked, job->args.passes);
    snprintf(choice->reason, sizeof choice->reason, "%s",
             asked == LSP_STRATEGY_AUTO ? p.reason : "the caller asked for it");
    if (asked == LSP_STRATEGY_AUTO && p.best != LSP_STRATEGY_DIRECT && !job->planned && job->args.where == LSP_CUDA) {
        job->switch_lines = few_lines;
    }
    return LSP_OK;
}

/* Do neighbours mostly lie within a cache line of each other, at 16 places of the array? */
static bool looks_sequential(const lsp_gather_args *a, size_t bytes) {
    enum { places = 16, steps = 32, line = 64 };
    const uint64_t reach = line / (uint64_t)lsp_min((int64_t)bytes, line);
    int near = 0;
    for (int p = 0; p < places; p++) {
        const int64_t begin = (a->n - steps - 1) / (places - 1) * p;
        for (int64_t i = begin; i < begin + steps; i++) {
            const uint64_t here = (uint64_t)lsp_index_at(a->index, a->index_type, i);
            const uint64_t next = (uint64_t)lsp_index_at(a->index, a->index_type, i + 1);
            near += next - here + reach <= 2 * reach;
        }
    }
    return near > places * steps * 3 / 4;
}

/* One call: direct without a sample if the array fits half of the last cache; on the host a gather, or one in order. */
static lsp_status is_plain_call(lsp_ctx *ctx, const lsp_gather_job *job, bool *plain) {
    const lsp_cache_figures *f;
    *plain = false;
    if (job->planned || job->args.strategy != LSP_STRATEGY_AUTO) {
        return LSP_OK;
    }
    LSP_TRY(lsp_cache_figures_of(ctx, &f));
    *plain = (double)job->args.extent * (double)job->most_bytes <= f->cache_bytes * cached_share[job->args.where] ||
             (job->args.where == LSP_HOST && (!job->scatter || looks_sequential(&job->args, job->most_bytes)));
    return LSP_OK;
}

/* Is the answer known without a prediction? */
static bool is_plain(const lsp_gather_job *job) {
    const lsp_strategy asked = job->args.strategy;
    const bool few_indices = job->args.n < few || job->args.extent == 0;
    return asked == LSP_STRATEGY_AUTO     ? few_indices
           : asked == LSP_STRATEGY_RESCAN ? few_indices || (!job->planned && job->args.passes > 0)
                                          : !job->planned || few_indices;
}

lsp_status lsp_gather_choose(lsp_ctx *ctx, lsp_gather_job *job) {
    const lsp_strategy asked = job->args.strategy;
    LSP_REQUIRE(is_offered(job, asked), LSP_ERR_UNSUPPORTED, "a %s %s a plan is not offered by the strategy %s",
                job->scatter ? "scatter" : "gather", job->planned ? "with" : "without", lsp_strategy_name(asked));
    bool plain = is_plain(job);
    if (!plain) {
        LSP_TRY(is_plain_call(ctx, job, &plain));
    }
    if (plain) {
        job->choice = (lsp_gather_info){.strategy = asked == LSP_STRATEGY_AUTO ? LSP_STRATEGY_DIRECT : asked};
        job->choice.passes = asked == LSP_STRATEGY_RESCAN ? (int)lsp_max(job->args.passes, 1) : 1;
        snprintf(job->choice.reason, sizeof job->choice.reason, "%s",
                 asked == LSP_STRATEGY_AUTO ? "few indices, a small array, an order that a cache likes, or no other way"
                                            : "the caller asked for it");
    } else {
        LSP_TRY(predict(ctx, job));
    }
    return LSP_OK;
}
