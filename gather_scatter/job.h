/* What cpu/ and gpu/ of gather and scatter know of a call: the job, the plan, and the table that each of them fills. */
#pragma once

#include "core/core.h"

LSP_BEGIN_DECLS

typedef struct lsp_gather_job {
    lsp_gather_args args; /* checked */
    bool scatter;
    bool planned;      /* this job makes or runs a plan */
    size_t most_bytes; /* of an element of any column */
    lsp_gather_info choice;
    double switch_lines; /* one call on a GPU, where the host does not see the indices: the strategy is for uniformly
                            random ones. Direct is faster if neighbouring accesses touch fewer lines an access than
                            this. 0: the strategy stays */
} lsp_gather_job;

struct lsp_gather_plan {
    lsp_ctx *ctx; /* NULL once the context is destroyed */
    lsp_plan_life life;
    lsp_gather_job job; /* its index and columns must not be followed after plan creation */
    void *parts;        /* what cpu/ or gpu/ prepared, on the host; its own struct */
    lsp_gather_info info;
};

/* What a device does. */
typedef struct lsp_gather_device {
    lsp_status (*run)(lsp_ctx *ctx, const lsp_gather_job *job); /* a call of one index or more */
    /* *bad = the first position whose index is outside, or -1. A GPU's waits. */
    lsp_status (*find_bad)(lsp_ctx *ctx, const lsp_gather_job *job, int64_t *bad);
    /* Sets plan->parts; the indices are checked and the choice is made. */
    lsp_status (*make_plan)(lsp_gather_plan *plan);
    lsp_status (*run_plan)(lsp_gather_plan *plan, const lsp_column *columns, int64_t count);
} lsp_gather_device;

extern const lsp_gather_device lsp_gather_cpu, lsp_gather_cuda;

/* check.c: the sentence about the index at `position`, which is `index`. Returns LSP_ERR_ARGUMENT. */
lsp_status lsp_gather_refuse_index(lsp_ctx *ctx, int64_t position, int64_t index, int64_t extent);

LSP_END_DECLS
