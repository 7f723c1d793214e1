/* Inside gather and scatter on the CPU: the strategies. Each moves all columns of a job whose arrays are checked. An
 * index outside is never followed; *bad becomes the lowest position that has one, or stays INT64_MAX. */
#ifndef LSP_GATHER_SCATTER_CPU_CPU_H
#define LSP_GATHER_SCATTER_CPU_CPU_H

#include "gather_scatter/gather_scatter.h"

/* One pass for each of `passes` parts of the indexed array; direct is one pass. */
lsp_status lsp_gather_cpu_scan(lsp_ctx *ctx, const lsp_gather_job *job, int passes, int64_t *bad);

#endif
