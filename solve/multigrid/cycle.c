/* The cycle. */
#include "job.h"

lsp_status lsp_multigrid_prepare_cycle(lsp_multigrid *m) {
    (void)m;
    return LSP_OK;
}
lsp_status lsp_multigrid_update_cycle(lsp_multigrid *m) {
    (void)m;
    return LSP_OK;
}
void lsp_multigrid_release_cycle(lsp_multigrid *m) { (void)m; }
lsp_status lsp_multigrid_run_cycle(lsp_multigrid *m, const void *b, void *x) {
    (void)b, (void)x;
    return lsp_fail(m->ctx, LSP_ERR_UNSUPPORTED, "there is no cycle yet");
}
lsp_status lsp_multigrid_apply(lsp_multigrid *m, const void *b, void *x) {
    return m == NULL || m->ctx == NULL ? LSP_ERR_ARGUMENT : lsp_multigrid_run_cycle(m, b, x);
}
