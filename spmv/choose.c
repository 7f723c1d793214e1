/* Which method a product takes: the one that was asked for, else without a plan CSR as it is, else the one for which
 * the model predicts the least time of all expected calls with the making of the plan. */
#include "cache_model/cache_model.h"
#include "core/cuda.h"
#include "diagonals.h"
#include "spmv.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *lsp_spmv_method_name(lsp_spmv_method method) {
    static const char *const names[LSP_SPMV_METHODS] = {"auto",      "reference", "rows",    "equal",     "gather",
                                                        "diagonals", "blocks",    "lengths", "propagate", "packed"};
    return (unsigned)method < LSP_SPMV_METHODS ? names[method] : "?";
}

/* Are there blocks? job->choice.block is the best size among them. */
static bool has_blocks(const lsp_spmv_job *job, const lsp_spmv_facts *facts, lsp_spmv_why *why) {
    const int b = facts->filled_block;
    if (job->choice.block == 0 && b > 0) {
        const int64_t most = lsp_diagonals_limit(&job->A, b) * LSP_SPMV_SLICE * b * b;
        snprintf(why->text, sizeof why->text,
                 "stores up to %lld entries for the %lld of A: in %d x %d blocks, by slices, they would be more",
                 (long long)most, (long long)job->A.nnz, b, b);
    } else if (job->choice.block == 0) {
        snprintf(why->text, sizeof why->text, "needs a matrix of dense blocks of 2 to %d rows",
                 (int)LSP_SPMV_LARGEST_BLOCK);
    }
    return job->choice.block > 0;
}

/* Can it run this job? From LSP_SPMV_DIAGONALS on the methods are prepared by a plan. */
static bool is_offered(lsp_ctx *ctx, const lsp_spmv_job *job, lsp_spmv_method method, const lsp_spmv_facts *facts,
                       lsp_spmv_why *why) {
    const lsp_spmv_engine *engine = job->device->engines[method];
    if (engine == NULL) {
        snprintf(why->text, sizeof why->text, "is not offered for matrices on %s",
                 job->A.where == LSP_HOST ? "the host" : "a GPU");
        return false;
    } else if (facts == NULL && method >= LSP_SPMV_DIAGONALS) {
        snprintf(why->text, sizeof why->text, "needs a plan");
        return false;
    }
    return lsp_spmv_is_within(job, &engine->limits, why) &&
           (method != LSP_SPMV_BLOCKS || has_blocks(job, facts, why)) &&
           (engine->fits == NULL || engine->fits(ctx, job, why));
}

/* The block size that stores least. */
static int best_block(const lsp_spmv_facts *facts) {
    int best = 0;
    for (int b = 2; facts != NULL && b <= LSP_SPMV_LARGEST_BLOCK; b++) {
        if (facts->block_slots[b] > 0 && (best == 0 || facts->block_slots[b] <= facts->block_slots[best])) {
            best = b;
        }
    }
    return best;
}

/* Time of all calls with the plan. Where the caller does not say, a plan is taken to be used a thousand times. */
static double total(const lsp_spmv_job *job, lsp_spmv_method method) {
    const double calls = job->options.expected_calls > 0 ? (double)job->options.expected_calls : 1000;
    return job->choice.plan_seconds[method] + calls * job->choice.seconds[method];
}

/* The best method, without one that is passed over. Methods that are not offered have no seconds. */
static lsp_spmv_method least(const lsp_spmv_job *job, lsp_spmv_method passed) {
    lsp_spmv_method best = passed == LSP_SPMV_ROWS ? LSP_SPMV_AUTO : LSP_SPMV_ROWS;
    for (int m = LSP_SPMV_ROWS; m < LSP_SPMV_METHODS; m++) {
        const bool known = m != (int)passed && job->choice.seconds[m] > 0;
        if (known && (best == LSP_SPMV_AUTO || total(job, (lsp_spmv_method)m) < total(job, best))) {
            best = (lsp_spmv_method)m;
        }
    }
    return best;
}

/* The methods that can run this job, a set of bits. */
static unsigned offered_methods(lsp_ctx *ctx, const lsp_spmv_job *job, const lsp_spmv_facts *facts) {
    lsp_spmv_why why;
    unsigned offered = 0;
    for (int m = 0; m < LSP_SPMV_METHODS; m++) {
        offered |= (unsigned)is_offered(ctx, job, (lsp_spmv_method)m, facts, &why) << m;
    }
    return offered;
}

/* The sentence about a choice by the model: milliseconds of a call and of the making; and those of CSR as it is or, if
 * that was chosen, of the next method. */
static void explain(const lsp_cache_figures *figures, lsp_spmv_job *job) {
    lsp_spmv_choice *choice = &job->choice;
    const bool is_rows = choice->method == LSP_SPMV_ROWS;
    const lsp_spmv_method methods[2] = {choice->method, is_rows ? least(job, LSP_SPMV_ROWS) : LSP_SPMV_ROWS};
    const size_t room = sizeof choice->reason;
    size_t used = (size_t)snprintf(choice->reason, room, "%s", figures->threads == 1 ? "on one thread " : "");
    for (int i = 0; i < 2 && methods[i] != LSP_SPMV_AUTO; i++) {
        const double once = 1e3 * choice->plan_seconds[methods[i]];
        used +=
            (size_t)snprintf(choice->reason + used, room - used, i == 0 ? "%s takes %.3g ms a call" : ", %s %.3g ms",
                             lsp_spmv_method_name(methods[i]), 1e3 * choice->seconds[methods[i]]);
        if (once > 0) {
            used += (size_t)snprintf(choice->reason + used, room - used, " and %.3g ms once", once);
        }
    }
}

lsp_status lsp_spmv_choose(lsp_ctx *ctx, lsp_spmv_job *job, const lsp_spmv_facts *facts) {
    const lsp_spmv_method asked = job->options.method;
    lsp_spmv_choice *choice = &job->choice;
    const lsp_cache_figures *figures, *chosen_by = NULL;
    const lsp_spmv_facts none = {0}, *known = facts != NULL ? facts : &none; /* without facts for random columns */
    lsp_spmv_why why;
    unsigned offered = 0;
    *choice = (lsp_spmv_choice){.method = asked, .passes = 1, .block = best_block(facts)};
    LSP_REQUIRE(asked == LSP_SPMV_AUTO || is_offered(ctx, job, asked, facts, &why), LSP_ERR_UNSUPPORTED,
                "the method %s %s", lsp_spmv_method_name(asked), why.text);
    if (facts != NULL || asked == LSP_SPMV_GATHER) {
        offered = offered_methods(ctx, job, known);
    }
    if (asked != LSP_SPMV_AUTO) {
        snprintf(choice->reason, sizeof choice->reason, "the caller asked for it");
    } else if (facts == NULL || facts->unseen) {
        choice->method = LSP_SPMV_ROWS;
        offered &= 1u << LSP_SPMV_ROWS;
        snprintf(choice->reason, sizeof choice->reason, "%s: CSR as it is", facts == NULL ? "one call" : "few calls");
    } else { /* methods sum in different orders */
        LSP_TRY(lsp_cache_figures_for_bits(ctx, job->A.where, &chosen_by));
        lsp_spmv_predict(chosen_by, job, facts, offered, choice);
        choice->method = least(job, LSP_SPMV_AUTO);
        explain(chosen_by, job);
    }
    if (offered != 0) { /* the times here, and passes */
        LSP_TRY(lsp_cache_figures_of(ctx, &figures));
        if (figures != chosen_by) {
            lsp_spmv_predict(figures, job, known, offered, choice);
        }
    }
    if (choice->method != LSP_SPMV_GATHER) {
        choice->passes = 1;
    }
    job->engine = job->device->engines[choice->method];
    return LSP_OK;
}

void lsp_spmv_tell(const lsp_spmv_job *job, lsp_spmv_info *info) {
    const lsp_spmv_choice *choice = &job->choice;
    const double making = choice->plan_seconds[choice->method];
    const double saved = choice->seconds[LSP_SPMV_ROWS] - choice->seconds[choice->method];
    *info = (lsp_spmv_info){.method = choice->method,
                            .passes = choice->passes,
                            .predicted_seconds = choice->seconds[choice->method],
                            .rows_seconds = choice->seconds[LSP_SPMV_ROWS],
                            .stored_entries = job->A.nnz};
    memcpy(info->reason, choice->reason, sizeof info->reason);
    memcpy(info->seconds, choice->seconds, sizeof info->seconds);
    if (making > 0) {
        const double calls = saved > 0 ? making / saved : 1e18;
        info->pays_after = calls < 1e18 ? (int64_t)calls + 1 : INT64_MAX;
    }
}
