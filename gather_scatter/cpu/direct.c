/* Direct: to[i] = from[index[i]] or to[index[i]] = from[i], in one pass. */
#include "cpu.h"

lsp_status lsp_gather_cpu_scan(lsp_ctx *ctx, const lsp_gather_job *job, int passes, int64_t *bad) {
    int64_t found;
    (void)ctx, (void)passes;
    lsp_gather_ref(job, &found);
    *bad = found < 0 ? *bad : found;
    return LSP_OK;
}
