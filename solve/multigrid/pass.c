/* A rule applied to all rows; its sums come to the host. */
#include "multigrid.h"

lsp_status lsp_multigrid_pass(lsp_multigrid *m, lsp_setup_rule rule, const lsp_setup *s, int64_t n, lsp_two *sums) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = m->ctx;
    const int64_t pieces = lsp_ceil_div(n, LSP_SUM_ROWS);
    const size_t mark = lsp_scratch_mark(ctx);
    void *there;
    lsp_two *here;
    if (sums == NULL) {
        return m->backend->apply(ctx, rule, s, n, NULL);
    }
    *sums = (lsp_two){0, 0};
    LSP_TRY(lsp_scratch_at(ctx, m->where, pieces, sizeof *here, &there));
    LSP_TRY(m->backend->apply(ctx, rule, s, n, there));
    here = there;
    if (m->where == LSP_CUDA) {
        LSP_TRY(LSP_SCRATCH(ctx, pieces, &here));
        LSP_TRY(lsp_array_copy(ctx, here, LSP_HOST, there, LSP_CUDA, (size_t)pieces * sizeof *here));
    }
    for (int64_t i = 0; i < pieces; i++) {
        sums->a += here[i].a;
        sums->b += here[i].b;
    }
done:
    lsp_scratch_release(ctx, mark);
    return status;
}
