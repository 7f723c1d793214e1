/* The levels, made one after the other: diagonal, radius, aggregates, P = T - 4/3 / radius * D^-1 A T, R = P^T, and A
 * of the next level = R A P. All but the aggregates and T is computed again for new values. Where that A would be too
 * full, P = T. */
#include "matrices/matrices.h"
#include "multigrid.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

enum { MOST_DIRECT = 1024 }; /* unknowns of a last level that is solved directly though it is not coarse enough */

/* ---- the diagonal ---- */

/* Names the first row whose diagonal entry is not positive. */
static lsp_status refuse_diagonal(lsp_multigrid *m, const void *diagonal, lsp_type type) {
    lsp_ctx *ctx = m->ctx;
    char *here;
    int64_t row = 0;
    double value;
    LSP_TRY(lsp_scratch_bytes(ctx, m->n, lsp_type_bytes(type), false, (void **)&here));
    LSP_TRY(lsp_array_copy(ctx, here, LSP_HOST, diagonal, m->where, (size_t)m->n * lsp_type_bytes(type)));
    while ((value = lsp_value_of(type, here, row).re) > 0 && value - value == 0) {
        row++;
    }
    LSP_REQUIRE(false, LSP_ERR_ARGUMENT, "row %lld: the diagonal entry is %g or missing, and must be positive",
                (long long)row, value);
    return LSP_OK;
}

/* inverse = 1 / diagonal of A. On the finest level every diagonal entry is positive, or the call is refused; below, one
 * that is rounding belongs to an unknown without an equation. */
static lsp_status invert_diagonal(lsp_multigrid *m, int at, const lsp_csr *A, void *inverse) {
    lsp_ctx *ctx = m->ctx;
    const lsp_type type = A->val_type != LSP_NONE ? A->val_type : LSP_F64;
    LSP_SCRATCH_SCOPE(ctx);
    lsp_setup s = {.type = m->type, .inverse = inverse, .diagonal_type = type, .from = m->scale};
    lsp_two sums;
    LSP_TRY(lsp_scratch_at(ctx, m->where, A->rows, lsp_type_bytes(type), (void **)&s.diagonal));
    LSP_TRY(lsp_csr_diagonal(ctx, A, (void *)s.diagonal));
    s.factor = 8 * (m->values == LSP_F32 ? (double)FLT_EPSILON : DBL_EPSILON);
    LSP_TRY(lsp_multigrid_pass(m, LSP_RULE_INVERT, &s, A->rows, &sums));
    LSP_TRY(at == 0 && sums.a > 0 ? refuse_diagonal(m, s.diagonal, type) : LSP_OK);
    LSP_REQUIRE(sums.a == 0, LSP_ERR_ARGUMENT,
                "%.0f diagonal entries of level %d are negative: A is not positive definite", sums.a, at);
    return LSP_OK;
}

/* m->scale of the next level. A scale for each row: where coefficients differ by 1e8, one for all would take the
 * equations of the weak part for rounding of the strong one. */
static lsp_status weigh(lsp_multigrid *m, const lsp_level *l) {
    lsp_setup s = {.A = l->R, .type = m->type, .inverse = l->inverse, .from = m->scale};
    void *scale = NULL;
    LSP_FREES(m->ctx, scale);
    LSP_TRY(lsp_alloc(m->ctx, m->where, l->R.rows, sizeof(double), &scale));
    s.to = scale;
    LSP_TRY(lsp_multigrid_pass(m, LSP_RULE_WEIGH, &s, l->R.rows, NULL));
    lsp_free(m->ctx, m->scale);
    m->scale = scale, scale = NULL;
    return LSP_OK;
}

static void forget_scale(lsp_multigrid *const *m) {
    lsp_free((*m)->ctx, (*m)->scale);
    (*m)->scale = NULL;
}

/* ---- a level ---- */

/* Options of the products of a hierarchy. */
#define LSP_PRODUCT(m) (&(lsp_spgemm_options){.types = {.val_type = (m)->values}})

/* P holds A*T: its values. */
static lsp_status smooth(lsp_multigrid *m, const lsp_level *l) {
    const lsp_setup s = {.A = l->T, .P = l->P, .type = m->type, .inverse = l->inverse, .factor = 4.0 / 3.0 / l->radius};
    return lsp_multigrid_pass(m, LSP_RULE_SMOOTH, &s, l->P.rows, NULL);
}

/* R, and A of the next level, for a P that stands. */
static lsp_status project(lsp_multigrid *m, lsp_level *l, lsp_csr *next) {
    LSP_TRY(lsp_csr_transpose(m->ctx, &l->P, &l->R));
    return lsp_spgemm_triple(m->ctx, &l->R, &l->A, &l->P, LSP_PRODUCT(m), next, NULL);
}

/* Would the levels so far and one more of `nnz` entries pass the limit? */
static bool fills_up(const lsp_multigrid *m, int64_t nnz) {
    double sum = (double)nnz;
    for (int k = 0; k <= m->levels; k++) {
        sum += (double)m->level[k].A.nnz;
    }
    return sum > m->options.complexity * (double)m->given.nnz;
}

/* P, R, A and the scale of the next level, for a T that stands. In a graph a smoothed P couples nearly all
 * aggregates. */
static lsp_status make_next(lsp_multigrid *m, lsp_level *l, lsp_csr *next) {
    lsp_ctx *ctx = m->ctx;
    LSP_TRY(lsp_spgemm(ctx, &l->A, &l->T, LSP_PRODUCT(m), &l->P, NULL));
    LSP_TRY(smooth(m, l));
    LSP_TRY(project(m, l, next));
    l->plain = fills_up(m, next->nnz);
    if (l->plain) {
        LSP_TRY(lsp_csr_free(ctx, next));
        LSP_TRY(lsp_csr_free(ctx, &l->P));
        LSP_TRY(lsp_csr_free(ctx, &l->R));
        LSP_TRY(lsp_csr_copy(ctx, &l->T, NULL, &l->P));
        LSP_TRY(project(m, l, next));
    }
    return weigh(m, l);
}

/* P and R anew, for new values. The first update makes plans and replaces what make_next made. */
static lsp_status refill_prolongation(lsp_multigrid *m, lsp_level *l) {
    lsp_ctx *ctx = m->ctx;
    lsp_csr made;
    if (l->planned) {
        LSP_TRY(lsp_spgemm_refill(l->product, &l->A, &l->T, &l->P));
        LSP_TRY(smooth(m, l));
        return lsp_csr_transpose_refill(l->transpose, &l->P, &l->R);
    }
    LSP_TRY(l->product ? LSP_OK : lsp_spgemm_plan_create(ctx, &l->A, &l->T, LSP_PRODUCT(m), &l->product));
    LSP_TRY(lsp_spgemm_execute(l->product, &l->A, &l->T, &made));
    lsp_csr_put(ctx, &l->P, &made, true);
    LSP_TRY(smooth(m, l));
    LSP_TRY(l->transpose ? LSP_OK : lsp_csr_transpose_plan_create(ctx, &l->P, &l->transpose));
    LSP_TRY(lsp_csr_transpose_execute(l->transpose, &l->P, &made));
    lsp_csr_put(ctx, &l->R, &made, true);
    return LSP_OK;
}

/* All that make_next made, anew. Only the first update makes the plans: with them a set-up takes a third longer and
 * keeps twice the memory. */
static lsp_status refill_next(lsp_multigrid *m, lsp_level *l, lsp_csr *next) {
    lsp_ctx *ctx = m->ctx;
    lsp_csr made;
    LSP_TRY(l->plain ? LSP_OK : refill_prolongation(m, l));
    if (l->planned) {
        LSP_TRY(lsp_spgemm_triple_refill(l->triple, &l->R, &l->A, &l->P, next));
    } else {
        LSP_TRY(l->triple ? LSP_OK
                          : lsp_spgemm_triple_plan_create(ctx, &l->R, &l->A, &l->P, LSP_PRODUCT(m), &l->triple));
        LSP_TRY(lsp_spgemm_triple_execute(l->triple, &l->R, &l->A, &l->P, &made));
        lsp_csr_put(ctx, next, &made, true);
    }
    l->planned = true;
    return weigh(m, l);
}

#define LSP_REASON(...) snprintf(m->info.reason, sizeof m->info.reason, __VA_ARGS__)

/* Makes level `at` + 1, or sets *last. `near_null`: of level `at`; then of the next. */
static lsp_status go_down(lsp_multigrid *m, int at, int64_t block, double **near_null, bool *last) {
    lsp_ctx *ctx = m->ctx;
    lsp_level *l = &m->level[at];
    const long long rows = l->A.rows;
    LSP_TRY(lsp_alloc(ctx, m->where, l->A.rows, lsp_type_bytes(m->type), &l->inverse));
    LSP_TRY(invert_diagonal(m, at, &l->A, l->inverse));
    *last = true;
    if (l->A.rows <= m->options.coarsest) {
        LSP_REASON("%lld unknowns, not more than %lld: solved directly", rows, (long long)m->options.coarsest);
        return LSP_OK;
    }
    LSP_TRY(lsp_multigrid_radius(m, &l->A, l->inverse, &l->radius));
    if (at + 1 == LSP_MULTIGRID_LEVELS) {
        LSP_REASON("%lld unknowns on level %d, the last one possible", rows, at);
        return LSP_OK;
    }
    LSP_TRY(lsp_multigrid_aggregate(m, &l->A, block, near_null, &l->T));
    if (l->T.cols > l->A.rows / 5 * 4) {
        LSP_REASON("%lld unknowns, whose aggregates would leave %lld", rows, (long long)l->T.cols);
    } else if (l->T.cols == 0) {
        LSP_REASON("%lld unknowns, none of them coupled", rows);
    } else {
        *last = false;
        LSP_TRY(make_next(m, l, &m->level[at + 1].A));
    }
    return *last ? lsp_csr_free(ctx, &l->T) : LSP_OK;
}

/* The near-null vectors of the finest level in f64. */
static lsp_status begin_near_null(lsp_multigrid *m, double **near_null) {
    const lsp_multigrid_options *o = &m->options;
    const int64_t n = m->n * o->near_null_vectors;
    void *made = NULL;
    LSP_TRY(lsp_alloc(m->ctx, m->where, n, sizeof(double), &made));
    *near_null = made;
    if (o->near_null != NULL) {
        LSP_TRY(lsp_convert_values(m->ctx, m->where, LSP_F64, made, m->type, o->near_null, n));
    } else {
        const lsp_setup s = {.to = made, .block = o->block, .vectors = o->near_null_vectors};
        LSP_TRY(lsp_multigrid_pass(m, LSP_RULE_CONSTANT, &s, m->n, NULL));
    }
    return LSP_OK;
}

/* Adds to the reason that prolongations are not smoothed. */
static void tell_plain(lsp_multigrid *m) {
    char *reason = m->info.reason;
    const size_t used = strlen(reason);
    int plain = 0;
    for (int k = 0; k < m->levels; k++) {
        plain += m->level[k].plain;
    }
    if (plain > 0) {
        snprintf(reason + used, sizeof m->info.reason - used,
                 "; %d of %d prolongations are not smoothed, for an operator complexity up to %g", plain, m->levels - 1,
                 m->options.complexity);
    }
}

/* Solves the last level directly, if its size allows that. */
static lsp_status end_last(lsp_multigrid *m) {
    lsp_level *l = &m->level[m->levels - 1];
    if (l->A.rows > lsp_max(m->options.coarsest, MOST_DIRECT)) {
        return LSP_OK;
    }
    l->radius = 0;
    return lsp_multigrid_invert(m, l);
}

lsp_status lsp_multigrid_set_up(lsp_multigrid *m, const lsp_csr *A) {
    lsp_multigrid *scaled LSP_AT_END(forget_scale) = m; /* the scale serves this call alone */
    double *near_null = NULL;
    LSP_FREES(m->ctx, near_null);
    bool last = false;
    m->level[0].A = *A;
    LSP_TRY(begin_near_null(m, &near_null));
    while (!last) {
        const int64_t block = m->levels == 0 ? m->options.block : m->options.near_null_vectors;
        LSP_TRY(go_down(m, m->levels, block, &near_null, &last));
        m->levels++;
    }
    LSP_TRY(end_last(m));
    tell_plain(m);
    m->options.near_null = NULL;
    return LSP_OK;
}

lsp_status lsp_multigrid_refill(lsp_multigrid *m, const lsp_csr *A) {
    lsp_ctx *ctx = m->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    lsp_multigrid *scaled LSP_AT_END(forget_scale) = m; /* the scale serves this call alone */
    const size_t bytes = (size_t)m->n * lsp_type_bytes(m->type);
    void *inverse;
    LSP_TRY(lsp_scratch_at(ctx, m->where, m->n, lsp_type_bytes(m->type), &inverse));
    LSP_TRY(invert_diagonal(m, 0, A, inverse)); /* a refused diagonal leaves the hierarchy as it was */
    m->level[0].A = *A;
    m->broken = true;
    LSP_TRY(lsp_array_copy(ctx, m->level[0].inverse, m->where, inverse, m->where, bytes));
    for (int at = 0; at < m->levels; at++) {
        lsp_level *l = &m->level[at];
        LSP_TRY(at > 0 ? invert_diagonal(m, at, &l->A, l->inverse) : LSP_OK);
        LSP_TRY(l->radius > 0 ? lsp_multigrid_radius(m, &l->A, l->inverse, &l->radius) : LSP_OK);
        LSP_TRY(at + 1 < m->levels ? refill_next(m, l, &m->level[at + 1].A) : LSP_OK);
    }
    return end_last(m);
}
