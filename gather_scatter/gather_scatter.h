/* Inside gather and scatter. A gather reads to[i] = from[index[i]], a scatter writes to[index[i]] = from[i]. Each
 * public call becomes a job: checked arguments, and the strategy that the cache model chose. */
#pragma once

#include "job.h"

/* The device of a call. */
static inline const lsp_gather_device *lsp_gather_device_of(const lsp_gather_job *job) {
    return job->args.where == LSP_HOST ? &lsp_gather_cpu : &lsp_gather_cuda;
}

/* check.c: refuses arguments that are wrong, with a sentence; fills the job without its choice. */
lsp_status lsp_gather_check(lsp_ctx *ctx, const lsp_gather_args *args, bool scatter, bool planned, lsp_gather_job *job);
/* check.c: refuses columns that do not fit the plan. */
lsp_status lsp_gather_check_columns(lsp_ctx *ctx, const lsp_gather_job *job, const lsp_column *columns, int64_t count);

/* choose.c: sets job->choice. A strategy that was asked for and is not offered for this job is refused. */
lsp_status lsp_gather_choose(lsp_ctx *ctx, lsp_gather_job *job);

/* gather_scatter.c: names the first index that is outside. */
lsp_status lsp_gather_check_indices(lsp_ctx *ctx, const lsp_gather_job *job);

/* ref.c: the specification, one thread on the host. *bad: the position of an index outside, or -1. */
void lsp_gather_ref(const lsp_gather_job *job, int64_t *bad);
