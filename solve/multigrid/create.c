/* A hierarchy is made, described, given new values and destroyed. */
#include "multigrid.h"

#include <string.h>

static int64_t bytes_of(const lsp_ctx *ctx, const lsp_csr *A) {
    return lsp_bytes_at(ctx, A->rowptr) + lsp_bytes_at(ctx, A->col) + lsp_bytes_at(ctx, A->val);
}

/* Of the plans that the first update makes. */
static int64_t plan_bytes(const lsp_level *l) {
    lsp_spgemm_info product = {0}, inner = {0}, outer = {0};
    lsp_csr_plan_info transpose = {0};
    if (l->planned) {
        (void)lsp_spgemm_plan_get_info(l->product, &product);
        (void)lsp_csr_transpose_plan_get_info(l->transpose, &transpose);
        (void)lsp_spgemm_triple_plan_get_info(l->triple, &inner, &outer);
    }
    return product.plan_bytes + transpose.plan_bytes + inner.plan_bytes + outer.plan_bytes;
}

/* Sizes, radii, complexities and bytes, of a hierarchy without its cycle. */
static void describe(lsp_multigrid *m) {
    lsp_multigrid_info *info = &m->info;
    double rows = 0, nnz = 0;
    info->levels = m->levels;
    info->bytes = m->cycle_bytes;
    for (int i = 0; i < m->levels; i++) {
        const lsp_level *l = &m->level[i];
        info->rows[i] = l->A.rows;
        info->nnz[i] = l->A.nnz;
        info->radius[i] = l->radius;
        rows += (double)l->A.rows;
        nnz += (double)l->A.nnz;
        info->bytes += (i > 0 ? bytes_of(m->ctx, &l->A) : 0) + bytes_of(m->ctx, &l->P) + bytes_of(m->ctx, &l->R) +
                       bytes_of(m->ctx, &l->solution) + bytes_of(m->ctx, &l->T) + lsp_bytes_at(m->ctx, l->inverse) +
                       plan_bytes(l);
    }
    info->grid_complexity = m->n > 0 ? rows / (double)m->n : 1;
    info->operator_complexity = m->given.nnz > 0 ? nnz / (double)m->given.nnz : 1;
}

lsp_status lsp_multigrid_create(lsp_ctx *ctx, const lsp_csr *A, const lsp_multigrid_options *options,
                                lsp_multigrid **m) {
    lsp_multigrid *made LSP_AT_END(lsp_multigrid_drop) = NULL;
    const double start = lsp_now();
    LSP_ENTER(ctx);
    LSP_REQUIRE(m != NULL, LSP_ERR_ARGUMENT, "the place for the hierarchy is NULL");
    LSP_TRY(LSP_PLAN_NEW(ctx, &made));
    LSP_TRY(lsp_multigrid_check(ctx, A, options, made));
    LSP_TRY(lsp_multigrid_set_up(made, A));
    describe(made);
    LSP_TRY(lsp_multigrid_prepare_cycle(made));
    made->info.setup_seconds = lsp_now() - start;
    lsp_log(ctx, "multigrid: %d levels, operator complexity %.3g, %.3g s: %s", made->levels,
            made->info.operator_complexity, made->info.setup_seconds, made->info.reason);
    *m = made, made = NULL;
    return LSP_OK;
}

void lsp_multigrid_destroy(lsp_multigrid *m) {
    if (m == NULL) {
        return;
    }
    lsp_multigrid_release_cycle(m);
    for (int i = 0; i < LSP_MULTIGRID_LEVELS; i++) {
        lsp_level *l = &m->level[i];
        lsp_spgemm_plan_destroy(l->product);
        lsp_csr_transpose_plan_destroy(l->transpose);
        lsp_spgemm_triple_plan_destroy(l->triple);
        if (m->ctx != NULL) {
            lsp_csr *const own[] = {i > 0 ? &l->A : &l->T, &l->P, &l->R, &l->solution, &l->T};
            for (int k = 0; k < 5; k++) {
                lsp_csr_free(m->ctx, own[k]);
            }
            lsp_free(m->ctx, l->inverse);
        }
    }
    lsp_plan_end(m);
}

lsp_status lsp_multigrid_get_info(const lsp_multigrid *m, lsp_multigrid_info *info) { return LSP_PLAN_TELL(m, info); }

lsp_status lsp_multigrid_get_level(const lsp_multigrid *m, int level, lsp_csr *A, lsp_csr *P) {
    if (m == NULL || m->ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    lsp_ctx *ctx = m->ctx;
    LSP_REQUIRE(level >= 0 && level < m->levels, LSP_ERR_ARGUMENT, "level %d: there are levels 0 to %d", level,
                m->levels - 1);
    if (A != NULL) {
        *A = m->level[level].A;
    }
    if (P != NULL) {
        *P = m->level[level].P;
    }
    return LSP_OK;
}

lsp_status lsp_multigrid_update(lsp_multigrid *m, const lsp_csr *A) {
    const double start = lsp_now();
    if (m == NULL || m->ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    LSP_TRY(lsp_multigrid_check_same(m, A));
    LSP_TRY(lsp_multigrid_refill(m, A));
    LSP_TRY(lsp_multigrid_update_cycle(m));
    describe(m);
    m->info.setup_seconds = lsp_now() - start;
    m->broken = false;
    return LSP_OK;
}
