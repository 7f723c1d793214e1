/* Inside gather and scatter. A gather reads to[i] = from[index[i]], a scatter writes to[index[i]] = from[i]. Each
 * public call becomes a job: checked arguments, and the strategy that the cache model chose. */
#ifndef LSP_GATHER_SCATTER_GATHER_SCATTER_H
#define LSP_GATHER_SCATTER_GATHER_SCATTER_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A strategy and what the model says of it. */
typedef struct lsp_gather_choice {
    lsp_strategy strategy;
    int passes; /* of a rescan, else 1 */
    double seconds, direct_seconds, plan_seconds;
    double switch_lines; /* one call on a GPU, where the host does not see the indices: the strategy is for uniformly
                            random ones. Direct is faster if neighbouring accesses touch fewer lines an access than
                            this. 0: the strategy stays */
    char reason[160];
} lsp_gather_choice;

typedef struct lsp_gather_job {
    lsp_gather_args args; /* checked */
    bool scatter;
    bool planned;      /* this job makes or runs a plan */
    size_t most_bytes; /* of an element of any column */
    lsp_gather_choice choice;
} lsp_gather_job;

struct lsp_gather_plan {
    lsp_ctx *ctx; /* NULL once the context is destroyed */
    lsp_plan_life life;
    lsp_gather_job job; /* its index and columns must not be followed after plan creation */
    void *parts;        /* what cpu/ or gpu/ prepared, on the host; its own struct */
    lsp_gather_info info;
};

/* check.c: refuses arguments that are wrong, with a sentence; fills the job without its choice. */
lsp_status lsp_gather_check(lsp_ctx *ctx, const lsp_gather_args *args, bool scatter, bool planned, lsp_gather_job *job);
/* check.c: refuses columns that do not fit the plan. */
lsp_status lsp_gather_check_columns(lsp_ctx *ctx, const lsp_gather_job *job, const lsp_column *columns, int64_t count);
/* The sentence about the index at `position`, which is `index`. Returns LSP_ERR_ARGUMENT. */
lsp_status lsp_gather_refuse_index(lsp_ctx *ctx, int64_t position, int64_t index, int64_t extent);

/* choose.c: sets job->choice. `pattern` NULL: not known, taken as uniformly random. A strategy that was asked for and
 * is not offered for this job is refused. */
lsp_status lsp_gather_choose(lsp_ctx *ctx, lsp_gather_job *job, const lsp_cache_pattern *pattern);

/* ref.c: the specification, one thread on the host. *bad: the position of an index outside, or -1. */
void lsp_gather_ref(const lsp_gather_job *job, int64_t *bad);

/* cpu/ and gpu/: a whole call; *bad (CPU) as above. */
lsp_status lsp_gather_run_cpu(lsp_ctx *ctx, const lsp_gather_job *job);
lsp_status lsp_gather_run_cuda(lsp_ctx *ctx, const lsp_gather_job *job);
/* The first position whose index is outside, or -1. The GPU's waits. */
lsp_status lsp_gather_find_bad_cpu(lsp_ctx *ctx, const lsp_gather_job *job, int64_t *bad, int64_t *index);
lsp_status lsp_gather_find_bad_cuda(lsp_ctx *ctx, const lsp_gather_job *job, int64_t *bad, int64_t *index);
/* Plans: prepare sets plan->parts and adds to plan->info.plan_bytes; the indices are checked and the choice is made. */
lsp_status lsp_gather_prepare_cpu(lsp_gather_plan *plan);
lsp_status lsp_gather_prepare_cuda(lsp_gather_plan *plan);
lsp_status lsp_gather_execute_cpu(lsp_gather_plan *plan, const lsp_column *columns, int64_t count);
lsp_status lsp_gather_execute_cuda(lsp_gather_plan *plan, const lsp_column *columns, int64_t count);
/* Frees plan->parts and all that it holds; parts NULL: nothing. */
void lsp_gather_release_cpu(lsp_gather_plan *plan);
void lsp_gather_release_cuda(lsp_gather_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
