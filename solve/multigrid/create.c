/* A hierarchy is made, described, given new values and destroyed. */
#include "matrices/matrices.h"
#include "multigrid.h"
#include "solve/solve.h"

#include <string.h>

/* Sizes, radii, complexities and bytes. */
static void describe(lsp_multigrid *m) {
    lsp_multigrid_info *info = &m->info;
    double rows = 0, nnz = 0;
    info->levels = m->levels;
    info->bytes = lsp_plan_bytes(m);
    for (int i = 0; i < m->levels; i++) {
        const lsp_level *l = &m->level[i];
        info->rows[i] = l->A.rows;
        info->nnz[i] = l->A.nnz;
        info->radius[i] = l->radius;
        rows += (double)l->A.rows;
        nnz += (double)l->A.nnz;
    }
    info->grid_complexity = m->n > 0 ? rows / (double)m->n : 1;
    info->operator_complexity = m->given.nnz > 0 ? nnz / (double)m->given.nnz : 1;
}

lsp_status lsp_multigrid_create(lsp_ctx *ctx, const lsp_csr *A, const lsp_multigrid_options *options,
                                lsp_multigrid **m) {
    const double start = lsp_now();
    LSP_PLAN_MAKE(lsp_multigrid, made, m);
    LSP_TRY(lsp_multigrid_check(ctx, A, options, made));
    LSP_TRY(lsp_multigrid_set_up(made, A));
    LSP_TRY(lsp_multigrid_prepare_cycle(made));
    describe(made);
    made->info.setup_seconds = lsp_now() - start;
    lsp_log(ctx, "multigrid: %d levels, operator complexity %.3g, %.3g s: %s", made->levels,
            made->info.operator_complexity, made->info.setup_seconds, made->info.reason);
    return LSP_PLAN_GIVE(made, m);
}

void lsp_multigrid_destroy(lsp_multigrid *m) { lsp_plan_end(m); }

lsp_status lsp_multigrid_get_info(const lsp_multigrid *m, lsp_multigrid_info *info) { return LSP_PLAN_TELL(m, info); }

lsp_status lsp_multigrid_get_level(const lsp_multigrid *m, int level, lsp_csr *A, lsp_csr *P) {
    LSP_PLAN_USE(m);
    LSP_REQUIRE(level >= 0 && level < m->levels, LSP_ERR_ARGUMENT, "level %d: there are levels 0 to %d", level,
                m->levels - 1);
    LSP_TELL(A, m->level[level].A);
    LSP_TELL(P, m->level[level].P);
    return LSP_OK;
}

lsp_status lsp_multigrid_update(lsp_multigrid *m, const lsp_csr *A) {
    const double start = lsp_now();
    LSP_PLAN_USE(m);
    LSP_PLAN_HOLDS(ctx, m);
    LSP_TRY(lsp_solve_check_alike(ctx, "the hierarchy", &m->given, A));
    LSP_TRY(lsp_csr_check_valid(ctx, "A", A));
    LSP_TRY(lsp_multigrid_refill(m, A));
    LSP_TRY(lsp_multigrid_update_cycle(m));
    describe(m);
    m->info.setup_seconds = lsp_now() - start;
    m->broken = false;
    return LSP_OK;
}
