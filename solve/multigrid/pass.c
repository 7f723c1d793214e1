/* A rule applied to all rows; its sums come to the host. */
#include "multigrid.h"

lsp_status lsp_multigrid_add_up(lsp_multigrid *m, const lsp_two *there, int64_t n, int passes, lsp_two *sums) {
    lsp_ctx *ctx = m->ctx;
    const int64_t pieces = lsp_ceil_div(n, LSP_SUM_ROWS), count = passes * pieces;
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_two *here = there;
    if (m->where == LSP_CUDA) {
        lsp_two *copy;
        LSP_TRY(LSP_SCRATCH(ctx, count, &copy));
        LSP_TRY(lsp_array_copy(ctx, copy, LSP_HOST, there, LSP_CUDA, (size_t)count * sizeof *copy));
        here = copy;
    }
    for (int pass = 0; pass < passes; pass++) {
        sums[pass] = (lsp_two){0, 0};
        for (int64_t i = 0; i < pieces; i++, here++) {
            sums[pass].a += here->a;
            sums[pass].b += here->b;
        }
    }
    return LSP_OK;
}

lsp_status lsp_multigrid_pass(lsp_multigrid *m, lsp_setup_rule rule, const lsp_setup *s, int64_t n, lsp_two *sums) {
    lsp_ctx *ctx = m->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    void *there;
    if (sums == NULL) {
        return m->backend->apply(ctx, rule, s, n, NULL);
    }
    LSP_TRY(lsp_scratch_at(ctx, m->where, lsp_ceil_div(n, LSP_SUM_ROWS), sizeof *sums, &there));
    LSP_TRY(m->backend->apply(ctx, rule, s, n, there));
    return lsp_multigrid_add_up(m, there, n, 1, sums);
}
