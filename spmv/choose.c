/* Which method a product takes: the one that was asked for, else without a plan CSR as it is, else the one for which
 * the model predicts the least time of all expected calls with the making of the plan. */
#include "cache_model/cache_model.h"
#include "core/cuda.h"
#include "spmv.h"
#include <math.h>
#include <stdio.h>

const lsp_spmv_engine *lsp_spmv_engine_of(const lsp_spmv_job *job, lsp_spmv_method method) {
    return job->A.where == LSP_HOST ? lsp_spmv_engine_cpu(method) : lsp_spmv_engine_cuda(method);
}

/* From here on the methods are prepared by a plan. */
static bool needs_plan(lsp_spmv_method method) { return method >= LSP_SPMV_DIAGONALS; }

/* Can it run this job? */
static bool is_offered(lsp_ctx *ctx, const lsp_spmv_job *job, lsp_spmv_method method, const lsp_spmv_facts *facts) {
    const lsp_spmv_engine *engine = lsp_spmv_engine_of(job, method);
    return engine != NULL && (facts != NULL || !needs_plan(method)) &&
           (method != LSP_SPMV_BLOCKS || job->choice.block > 0) && (engine->fits == NULL || engine->fits(ctx, job));
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

static lsp_status refuse(lsp_ctx *ctx, const lsp_spmv_job *job, const lsp_spmv_facts *facts) {
    const lsp_spmv_method asked = job->options.method;
    const char *name = lsp_spmv_method_name(asked), *place = job->A.where == LSP_HOST ? "the host" : "a GPU";
    if (lsp_spmv_engine_of(job, asked) == NULL) {
        return lsp_fail(ctx, LSP_ERR_UNSUPPORTED, "the method %s is not offered for matrices on %s", name, place);
    }
    if (facts == NULL && needs_plan(asked)) {
        return lsp_fail(ctx, LSP_ERR_UNSUPPORTED, "the method %s needs a plan", name);
    }
    if (asked == LSP_SPMV_BLOCKS && job->choice.block == 0) {
        return lsp_fail(ctx, LSP_ERR_UNSUPPORTED, "the method %s needs a matrix of dense blocks of 2 to %d rows", name,
                        (int)LSP_SPMV_LARGEST_BLOCK);
    }
    return lsp_fail(ctx, LSP_ERR_UNSUPPORTED,
                    "the method %s does not offer this product: %lld x %lld with %lld entries, values %s, vectors %s, "
                    "%lld of them, semiring %s, on %s",
                    name, (long long)job->A.rows, (long long)job->A.cols, (long long)job->A.nnz,
                    lsp_type_name(job->A.val_type), lsp_type_name(job->options.type), (long long)job->options.vectors,
                    lsp_semiring_name(job->options.semiring), place);
}

/* Time of all calls with the plan. Where the caller does not say, a plan is taken to be used a thousand times. */
static double total(const lsp_spmv_job *job, lsp_spmv_method method) {
    const double calls = job->options.expected_calls > 0 ? (double)job->options.expected_calls : 1000;
    return job->choice.plan_seconds[method] + calls * job->choice.seconds[method];
}

static lsp_spmv_method least(lsp_ctx *ctx, const lsp_spmv_job *job, const lsp_spmv_facts *facts) {
    lsp_spmv_method best = LSP_SPMV_ROWS;
    for (int m = LSP_SPMV_ROWS; m < LSP_SPMV_METHODS; m++) {
        const bool known = job->choice.seconds[m] > 0 && is_offered(ctx, job, (lsp_spmv_method)m, facts);
        if (known && total(job, (lsp_spmv_method)m) < total(job, best)) {
            best = (lsp_spmv_method)m;
        }
    }
    return best;
}

/* Predictions of all methods that are offered. */
static lsp_status predict(lsp_ctx *ctx, lsp_spmv_job *job, const lsp_spmv_facts *facts) {
    lsp_status status = LSP_OK;
    const lsp_cache_figures *figures;
    LSP_TRY(lsp_cache_figures_of(ctx, &figures));
    lsp_spmv_predict(figures, job, facts, &job->choice);
    for (int m = 0; m < LSP_SPMV_METHODS; m++) {
        if (!is_offered(ctx, job, (lsp_spmv_method)m, facts)) {
            job->choice.seconds[m] = job->choice.plan_seconds[m] = 0;
        }
    }
done:
    return status;
}

/* The method that would be next; CSR as it is if no other is offered. */
static lsp_spmv_method second(const lsp_spmv_job *job, lsp_spmv_method best) {
    lsp_spmv_method next = best == LSP_SPMV_ROWS ? LSP_SPMV_AUTO : LSP_SPMV_ROWS;
    for (int m = LSP_SPMV_ROWS; m < LSP_SPMV_METHODS && best == LSP_SPMV_ROWS; m++) {
        const bool known = m != (int)best && job->choice.seconds[m] > 0;
        if (known && (next == LSP_SPMV_AUTO || total(job, (lsp_spmv_method)m) < total(job, next))) {
            next = (lsp_spmv_method)m;
        }
    }
    return next;
}

/* The sentence about a choice by the model: milliseconds of a call, of the making, and of the method that it passes. */
static void explain(lsp_spmv_job *job) {
    lsp_spmv_choice *choice = &job->choice;
    const lsp_spmv_method own = choice->method, other = second(job, own);
    char making[48] = "";
    if (choice->plan_seconds[own] > 0) {
        snprintf(making, sizeof making, " and %.3g ms once", 1e3 * choice->plan_seconds[own]);
    }
    int length = snprintf(choice->reason, sizeof choice->reason, "%s takes %.3g ms a call%s", lsp_spmv_method_name(own),
                          1e3 * choice->seconds[own], making);
    if (other != LSP_SPMV_AUTO) {
        length += snprintf(choice->reason + length, sizeof choice->reason - (size_t)length, ", %s %.3g ms",
                           lsp_spmv_method_name(other), 1e3 * choice->seconds[other]);
    }
    if (other != LSP_SPMV_AUTO && choice->plan_seconds[other] > 0) {
        snprintf(choice->reason + length, sizeof choice->reason - (size_t)length, " and %.3g ms once",
                 1e3 * choice->plan_seconds[other]);
    }
}

lsp_status lsp_spmv_choose(lsp_ctx *ctx, lsp_spmv_job *job, const lsp_spmv_facts *facts) {
    lsp_status status = LSP_OK;
    const lsp_spmv_method asked = job->options.method;
    lsp_spmv_choice *choice = &job->choice;
    *choice = (lsp_spmv_choice){.method = asked, .passes = 1, .block = best_block(facts)};
    if (asked != LSP_SPMV_AUTO && !is_offered(ctx, job, asked, facts)) {
        status = refuse(ctx, job, facts);
        choice->method = LSP_SPMV_AUTO; /* no engine has anything to release */
        goto done;
    }
    if (facts != NULL) {
        LSP_TRY(predict(ctx, job, facts));
    } else if (asked == LSP_SPMV_GATHER) { /* how many passes, if the columns are random */
        LSP_TRY(predict(ctx, job, &(lsp_spmv_facts){0}));
    }
    if (asked != LSP_SPMV_AUTO) {
        snprintf(choice->reason, sizeof choice->reason, "the caller asked for it");
    } else if (facts == NULL) {
        choice->method = LSP_SPMV_ROWS;
        snprintf(choice->reason, sizeof choice->reason, "one call: CSR as it is");
    } else {
        choice->method = least(ctx, job, facts);
        explain(job);
    }
    if (choice->method != LSP_SPMV_GATHER) {
        choice->passes = 1;
    }
done:
    return status;
}
