/* A rule applied to all rows; its sums come to the host. */
#include "multigrid.h"

lsp_status lsp_multigrid_apply_rule(const lsp_multigrid *m, lsp_setup_rule rule, const lsp_setup *s, int64_t n,
                                    lsp_two *sums) {
    return (m->where == LSP_CUDA ? lsp_setup_cuda : lsp_setup_cpu)(m->ctx, rule, s, n, sums);
}

lsp_status lsp_multigrid_add_up(lsp_multigrid *m, const lsp_two *there, int64_t n, int passes, lsp_two *sums) {
    lsp_ctx *ctx = m->ctx;
    const int64_t pieces = lsp_ceil_div(n, LSP_SUM_ROWS), count = passes * pieces;
    LSP_SCRATCH_SCOPE(ctx);
    lsp_two *here;
    LSP_TRY(LSP_SCRATCH(ctx, count, &here));
    LSP_TRY(lsp_array_copy(ctx, here, LSP_HOST, there, m->where, (size_t)count * sizeof *here));
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
        return lsp_multigrid_apply_rule(m, rule, s, n, NULL);
    }
    LSP_TRY(lsp_scratch_at(ctx, m->where, lsp_ceil_div(n, LSP_SUM_ROWS), sizeof *sums, &there));
    LSP_TRY(lsp_multigrid_apply_rule(m, rule, s, n, there));
    return lsp_multigrid_add_up(m, there, n, 1, sums);
}
