/* The predictions of the cache model. Streams (indices, the array in order) and random accesses share the memory, so
 * their times are added: seconds = start + accesses (access.c) + stream bytes / copy rate. Strategies with phases are
 * in phases.c. */
#include "cache_model.h"
#include <math.h>
#include <stdio.h>

static const int passes_tried[] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
enum { TRIED = sizeof passes_tried / sizeof *passes_tried };
static const double margin = 1.05; /* direct is taken unless another strategy is faster by more than this factor */

const char *lsp_strategy_name(lsp_strategy strategy) {
    static const char *const names[LSP_STRATEGIES] = {"auto", "direct", "rescan", "stage", "invert"};
    return (unsigned)strategy < LSP_STRATEGIES ? names[strategy] : "?";
}

/* ---- checks ---- */

static lsp_status check_pattern(lsp_ctx *ctx, const lsp_cache_pattern *p) {
    LSP_TRY(lsp_check_reserved(ctx, "lsp_cache_pattern", p->reserved));
    LSP_REQUIRE(p->kind >= LSP_PATTERN_UNIFORM && p->kind <= LSP_PATTERN_SAMPLE, LSP_ERR_ARGUMENT,
                "the pattern's kind %d is none of LSP_PATTERN_...", (int)p->kind);
    LSP_REQUIRE(p->kind != LSP_PATTERN_PARTITIONS || p->partitions >= 1, LSP_ERR_ARGUMENT,
                "a pattern of %lld partitions: there must be 1 or more", (long long)p->partitions);
    for (int w = 0; p->kind == LSP_PATTERN_SAMPLE && w < LSP_PATTERN_WINDOWS; w++) {
        LSP_REQUIRE(p->sectors[w] > 0 && p->sectors[w] <= 1 && p->lines[w] > 0 && p->lines[w] <= 1, LSP_ERR_ARGUMENT,
                    "window %d of the pattern touches %g sectors and %g lines an access: a sample has more than 0 and "
                    "at most 1",
                    w, p->sectors[w], p->lines[w]);
    }
    LSP_REQUIRE(p->kind != LSP_PATTERN_SAMPLE || p->regions >= 1, LSP_ERR_ARGUMENT,
                "a window of the pattern touches %g regions: a sample has 1 or more", p->regions);
    LSP_REQUIRE(p->kind != LSP_PATTERN_SAMPLE || p->touched_bytes > 0, LSP_ERR_ARGUMENT,
                "the pattern touches %lld bytes: a sample has more than 0", (long long)p->touched_bytes);
    return LSP_OK;
}

/* Fills in the context's figures for NULL; refuses figures that no device has and a case that makes no sense. */
static lsp_status check_case(lsp_ctx *ctx, const lsp_cache_figures **figures, const lsp_cache_case *what) {
    static const int64_t most = INT64_C(1) << 48;
    LSP_TRY(*figures ? lsp_cache_check_figures(ctx, *figures) : lsp_cache_figures_of(ctx, figures));
    LSP_REQUIRE(what, LSP_ERR_ARGUMENT, "the case is NULL");
    LSP_TRY(lsp_check_reserved(ctx, "lsp_cache_case", what->reserved));
    LSP_REQUIRE(what->n >= 0 && what->n <= most && what->extent >= 0 && what->extent <= most, LSP_ERR_ARGUMENT,
                "%lld indices into %lld elements: both must lie between 0 and 2^48", (long long)what->n,
                (long long)what->extent);
    LSP_REQUIRE(what->element_bytes >= 1 && what->element_bytes <= 4096, LSP_ERR_ARGUMENT,
                "elements of %zu bytes: 1 to 4096 can be predicted", what->element_bytes);
    LSP_REQUIRE(what->index_bytes == 4 || what->index_bytes == 8, LSP_ERR_ARGUMENT,
                "indices of %zu bytes: they have 4 or 8", what->index_bytes);
    LSP_REQUIRE(what->calls >= 0, LSP_ERR_ARGUMENT, "%lld calls: the number is negative", (long long)what->calls);
    return check_pattern(ctx, &what->pattern);
}

/* ---- one pass, several passes ---- */

/* The corrected equation 11. In P passes the footprint shrinks as well as the accesses; the indices are read P times;
 * the array in order is touched in parts of sectors, and a part that is written is filled first. */
static double rescan_seconds(const lsp_cache_figures *f, const lsp_cache_case *what, int passes) {
    const double n = (double)what->n, indices = n * (double)what->index_bytes;
    const lsp_access a = lsp_access_of(f, what, passes);
    const double streams = lsp_stream_seconds(f, what, indices) + lsp_parts_seconds(f, what, passes) / passes;
    return passes * (f->start_seconds + lsp_pass_seconds(f, n, &a, streams)) + lsp_parts_scan(f, n, passes);
}

/* ---- the choice ---- */

static void offer_rescan(const lsp_cache_figures *f, const lsp_cache_case *what, lsp_cache_prediction *p) {
    p->seconds[LSP_STRATEGY_RESCAN] = INFINITY;
    for (int i = 0; i < TRIED; i++) {
        const double seconds = rescan_seconds(f, what, passes_tried[i]);
        if (seconds < p->seconds[LSP_STRATEGY_RESCAN]) {
            p->seconds[LSP_STRATEGY_RESCAN] = seconds;
            p->passes[LSP_STRATEGY_RESCAN] = passes_tried[i];
        }
    }
}

/* Seconds of one of all calls, with its share of the plan. */
static double whole_seconds(const lsp_cache_case *what, const lsp_cache_prediction *p, int strategy) {
    return p->seconds[strategy] + (what->calls > 0 ? p->plan_seconds[strategy] / (double)what->calls : 0);
}

void lsp_cache_choose(const lsp_cache_case *what, lsp_cache_prediction *p) {
    const double direct = whole_seconds(what, p, LSP_STRATEGY_DIRECT);
    int best = LSP_STRATEGY_DIRECT, second = LSP_STRATEGY_DIRECT;
    for (int s = LSP_STRATEGY_DIRECT + 1; s < LSP_STRATEGIES; s++) {
        if (p->seconds[s] <= 0) {
            continue;
        }
        const double own = whole_seconds(what, p, s);
        second = second == LSP_STRATEGY_DIRECT || own < whole_seconds(what, p, second) ? s : second;
        if (own * margin < direct && (best == LSP_STRATEGY_DIRECT || own < whole_seconds(what, p, best))) {
            best = s;
        }
    }
    p->best = (lsp_strategy)best;
    const int other = best == LSP_STRATEGY_DIRECT ? second : LSP_STRATEGY_DIRECT;
    snprintf(p->reason, sizeof p->reason, "%s takes %.3g ms, %s %.3g ms; %.0f %% of accesses hit the cache directly",
             lsp_strategy_name(p->best), 1e3 * whole_seconds(what, p, best), lsp_strategy_name((lsp_strategy)other),
             1e3 * whole_seconds(what, p, other), 100 * p->hit_rate);
}

static void predict(const lsp_cache_figures *f, const lsp_cache_case *what, lsp_cache_prediction *p) {
    const lsp_access a = lsp_access_of(f, what, 1);
    p->hit_rate = fmax(0, 1 - lsp_access_misses(f, &a) / a.n);
    p->seconds[LSP_STRATEGY_DIRECT] = rescan_seconds(f, what, 1);
    offer_rescan(f, what, p);
    lsp_phases_predict(f, what, p);
    lsp_cache_choose(what, p);
}

lsp_status lsp_cache_model_predict(lsp_ctx *ctx, const lsp_cache_figures *figures, const lsp_cache_case *what,
                                   lsp_cache_prediction *prediction) {
    LSP_ENTER(ctx);
    LSP_REQUIRE(prediction, LSP_ERR_ARGUMENT, "the place for the prediction is NULL");
    LSP_TRY(check_case(ctx, &figures, what));
    lsp_cache_prediction p = {.hit_rate = 1, .best = LSP_STRATEGY_DIRECT, .reason = "there are no indices"};
    if (what->n > 0 && what->extent > 0) {
        predict(figures, what, &p);
    }
    *prediction = p;
    return LSP_OK;
}

lsp_status lsp_cache_model_rescan(lsp_ctx *ctx, const lsp_cache_figures *figures, const lsp_cache_case *what,
                                  int passes, double *seconds) {
    LSP_ENTER(ctx);
    LSP_REQUIRE(seconds, LSP_ERR_ARGUMENT, "the place for the seconds is NULL");
    LSP_REQUIRE(passes >= 1, LSP_ERR_ARGUMENT, "%d passes: there must be 1 or more", passes);
    LSP_TRY(check_case(ctx, &figures, what));
    *seconds = what->n > 0 && what->extent > 0 ? rescan_seconds(figures, what, passes) : 0;
    return LSP_OK;
}
