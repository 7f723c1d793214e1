/* The cycle: x = about A^-1 * b. A smoother takes the error that changes from node to node, the next level the rest:
 *     x += p(D^-1 A) D^-1 (b - A x);  x += P * cycle(R * (b - A x));  x += p(D^-1 A) D^-1 (b - A x)
 * The polynomial p is the same before and after, so the cycle of a symmetric A is symmetric. The residual is carried
 * along: a step d of the smoother costs r -= A d and one loop over the vectors, and the residual for the next level
 * none. */
#include "core/layout.h"
#include "job.h"
#include "smooth.h"
#include "solve/solve.h"

#include <math.h>

enum { PITCH = 256, SWEEPS_UNSOLVED = 16, VECTORS = 4 };
/* Tuned on poisson2d, stencil27, elasticity and a triangulated surface. A damping of 2 over the true radius would
 * diverge, and the radius is an estimate from below. */
static const double jacobi_damping = 1.6, chebyshev_top = 1.1, chebyshev_share = 0.15, kernel_seconds = 2.5e-6;

/* ---- what a cycle needs ---- */

static bool is_solved(const lsp_level *l) { return l->solution.rowptr != NULL; }

/* One sweep more below the finest level, where it costs little: poisson2d:1000 takes 20 iterations for 25. */
static int sweeps_of(const lsp_multigrid *m, const lsp_level *l) { return m->options.sweeps + (l > m->level); }

/* A plan of products with A, unless A is empty; its time, `calls` times a cycle, joins the prediction. */
static lsp_status plan_product(lsp_multigrid *m, const lsp_csr *A, double calls, lsp_spmv_plan **plan) {
    enum { EXPECTED_CYCLES = 50 };
    lsp_spmv_info info;
    const lsp_spmv_options wanted = {.type = m->type, .expected_calls = (int64_t)(calls * EXPECTED_CYCLES)};
    if (A->rows == 0) {
        return LSP_OK;
    }
    LSP_TRY(lsp_spmv_plan_create(m->ctx, A, &wanted, plan));
    LSP_TRY(lsp_spmv_plan_get_info(*plan, &info));
    m->cycle_seconds += calls * (info.predicted_seconds + 2 * kernel_seconds);
    return LSP_OK;
}

/* The vectors of all levels, one behind the other. The finest level has the caller's b and x. */
static lsp_status allocate_vectors(lsp_multigrid *m) {
    for (int pass = 0; pass < 2; pass++) {
        lsp_layout layout = {.memory = m->memory, .align = PITCH};
        for (int k = 0; k < m->levels; k++) {
            lsp_level *l = &m->level[k];
            void **vectors[VECTORS] = {&l->b, &l->x, &l->w, &l->d};
            for (int v = k == 0 ? 2 : 0; v < (is_solved(l) ? 2 : VECTORS); v++) {
                *vectors[v] = lsp_layout_take(&layout, l->A.rows, (int64_t)lsp_type_bytes(m->type));
            }
        }
        LSP_TRY(pass == 0 ? lsp_alloc(m->ctx, m->where, layout.bytes, 1, &m->memory) : LSP_OK);
    }
    return LSP_OK;
}

lsp_status lsp_multigrid_prepare_cycle(lsp_multigrid *m) {
    double visits = 1; /* of a level in a cycle */
    m->cycle_seconds = 0;
    for (int k = 0; k < m->levels; k++) {
        lsp_level *l = &m->level[k];
        if (is_solved(l)) {
            LSP_TRY(plan_product(m, &l->solution, visits, &l->direct));
        } else {
            LSP_TRY(plan_product(m, &l->A, visits * 2 * sweeps_of(m, l), &l->a));
            LSP_TRY(plan_product(m, &l->P, visits, &l->p));
            LSP_TRY(plan_product(m, &l->R, visits, &l->r));
        }
        visits *= m->options.cycle == LSP_CYCLE_W && k + 2 < m->levels ? 2 : 1;
    }
    return allocate_vectors(m);
}

lsp_status lsp_multigrid_update_cycle(lsp_multigrid *m) {
    m->version++;
    for (int k = 0; k < m->levels; k++) {
        const lsp_level *l = &m->level[k];
        LSP_TRY(l->a != NULL ? lsp_spmv_update(l->a, &l->A) : LSP_OK);
        LSP_TRY(l->p != NULL ? lsp_spmv_update(l->p, &l->P) : LSP_OK);
        LSP_TRY(l->r != NULL ? lsp_spmv_update(l->r, &l->R) : LSP_OK);
        LSP_TRY(l->direct != NULL ? lsp_spmv_update(l->direct, &l->solution) : LSP_OK);
    }
    return LSP_OK;
}

/* ---- the smoother ---- */

/* y = alpha*A*x + beta*y */
static lsp_status multiply(lsp_spmv_plan *plan, double alpha, const void *x, double beta, void *y) {
    return lsp_spmv_execute(plan, &(lsp_spmv_vectors){.alpha = alpha, .beta = beta, .x = x, .y = y});
}

/* Step k of the smoother: d = c * D^-1 r + beta * d. Chebyshev's is that for the interval of D^-1 A that the smoother
 * is to reduce, by the recurrence of three terms; *rho is its ratio of two polynomials at 0. */
static void set_factors(const lsp_multigrid *m, const lsp_level *l, int k, double *rho, lsp_smooth *s) {
    const double high = chebyshev_top * l->radius, low = chebyshev_share * high;
    const double middle = (high + low) / 2, half = (high - low) / 2, before = *rho;
    if (m->options.smoother == LSP_SMOOTHER_JACOBI) {
        s->c = jacobi_damping / l->radius;
        s->beta = 0;
        return;
    }
    *rho = k == 0 ? half / middle : 1 / (2 * middle / half - before);
    s->c = k == 0 ? 1 / middle : 2 * *rho / half;
    s->beta = k == 0 ? 0 : *rho * before;
}

/* The sweeps of one side. zero: x is 0 and was not written. residual: leaves b - A x in l->w. */
static lsp_status smooth(const lsp_multigrid *m, const lsp_level *l, const void *b, void *x, bool zero, bool residual) {
    const int sweeps = sweeps_of(m, l);
    double rho = 0;
    const void *moved = NULL; /* by the last step */
    if (!zero) {
        LSP_TRY(multiply(l->a, 1, x, 0, l->w));
    }
    for (int k = 0; k < sweeps; k++) {
        const bool more = k + 1 < sweeps || residual, first = k == 0;
        lsp_smooth s = {.b = first ? b : NULL, .inverse = l->inverse, .w = l->w, .x = x, .zero = zero && first};
        set_factors(m, l, k, &rho, &s);
        s.old = s.beta != 0 ? moved : NULL;
        s.keep = first && more;
        s.d = more && !s.zero ? l->d : NULL; /* the first step from 0 is x itself */
        if (!first) {
            LSP_TRY(multiply(l->a, -1, moved, 1, l->w));
        }
        LSP_TRY((m->where == LSP_CUDA ? lsp_smooth_cuda : lsp_smooth_cpu)(m->ctx, l->A.rows, m->type, &s));
        moved = s.zero ? x : l->d;
    }
    return residual ? multiply(l->a, -1, moved, 1, l->w) : LSP_OK;
}

/* ---- the cycle ---- */

/* One cycle from level k on: x = about A^-1 * b. zero: x is 0 and was not written; otherwise it is improved. */
static lsp_status cycle(const lsp_multigrid *m, int k, const void *b, void *x, bool zero) {
    const lsp_level *l = &m->level[k], *next = l + 1;
    if (is_solved(l)) {
        return multiply(l->direct, 1, b, 0, x);
    }
    if (k + 1 == m->levels) {
        for (int i = 0; i < SWEEPS_UNSOLVED; i++) {
            LSP_TRY(smooth(m, l, b, x, zero && i == 0, false));
        }
        return LSP_OK;
    }
    LSP_TRY(smooth(m, l, b, x, zero, true));
    LSP_TRY(multiply(l->r, 1, l->w, 0, next->b));
    LSP_TRY(cycle(m, k + 1, next->b, next->x, true));
    if (m->options.cycle == LSP_CYCLE_W && k + 2 < m->levels) {
        LSP_TRY(cycle(m, k + 1, next->b, next->x, false));
    }
    LSP_TRY(multiply(l->p, 1, next->x, 1, x));
    return smooth(m, l, b, x, false, false);
}

lsp_status lsp_multigrid_run_cycle(lsp_multigrid *m, const void *b, void *x) {
    return m->broken   ? lsp_fail(m->ctx, LSP_ERR_ARGUMENT, "the hierarchy's last update failed: update it again")
           : m->n == 0 ? LSP_OK
                       : cycle(m, 0, b, x, true);
}

lsp_status lsp_multigrid_apply(lsp_multigrid *m, const void *b, void *x) {
    LSP_PLAN_USE(m);
    LSP_TRY(lsp_solve_check_pair(m->ctx, m->n, m->type, b, x));
    return lsp_multigrid_run_cycle(m, b, x);
}
