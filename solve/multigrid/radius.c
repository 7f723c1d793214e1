/* The spectral radius of D^-1 A, from below: the largest eigenvalue of its projection to the Krylov space of a random
 * vector. The Krylov vectors are not made orthogonal, which would wait for a sum in each step. The moments x_i D x_j
 * tell as much: Chebyshev's algorithm turns them into the tridiagonal matrix of Lanczos. With the centre moved to 1 and
 * few steps that is accurate in f64. */
#include "multigrid.h"

enum { STEPS = 8, BISECTIONS = 50 };

/* How many eigenvalues of the tridiagonal matrix are less than x (Sturm). */
static int count_below(const double *a, const double *b, int n, double x) {
    int count = 0;
    double q = 1;
    for (int i = 0; i < n; i++) {
        q = a[i] - x - (i > 0 ? b[i] / q : 0);
        q = q == 0 ? 1e-300 : q;
        count += q < 0;
    }
    return count;
}

/* The largest eigenvalue for moments nu[0 .. 2 * STEPS - 1]. */
static double largest_of(const double *nu) {
    double a[STEPS], b[STEPS], before[2 * STEPS] = {0}, now[2 * STEPS], next[2 * STEPS] = {0}, low, high = 0;
    int n = 1;
    for (int l = 0; l < 2 * STEPS; l++) {
        now[l] = nu[l];
    }
    a[0] = nu[1] / nu[0], b[0] = 0;
    for (; n < STEPS; n++) {
        for (int l = n; l < 2 * STEPS - n; l++) {
            next[l] = now[l + 1] - a[n - 1] * now[l] - b[n - 1] * before[l];
        }
        b[n] = next[n] / now[n - 1];
        if (!(b[n] > 1e-10 * b[1]) || !(b[n] > 0)) { /* the space is invariant, or A is not symmetric */
            break;
        }
        a[n] = next[n + 1] / next[n] - now[n] / now[n - 1];
        for (int l = 0; l < 2 * STEPS; l++) {
            before[l] = now[l], now[l] = next[l];
        }
    }
    for (int i = 0; i < n; i++) { /* Gershgorin's bound, where 2 |b| <= 1 + b^2 */
        const double bound = a[i] + 1 + (b[i] + (i + 1 < n ? b[i + 1] : 0));
        high = bound > high ? bound : high;
    }
    low = a[0];
    for (int step = 0; step < BISECTIONS && high > low; step++) {
        const double middle = low + (high - low) / 2;
        if (count_below(a, b, n, middle) < n) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

lsp_status lsp_multigrid_radius(lsp_multigrid *m, const lsp_csr *A, const void *inverse, double *radius) {
    lsp_ctx *ctx = m->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    lsp_setup s = {.A = *A, .type = m->type, .inverse = (void *)inverse};
    const int64_t pieces = lsp_ceil_div(A->rows, LSP_SUM_ROWS);
    lsp_two moments[STEPS];
    double nu[2 * STEPS];
    void *x, *y, *sums;
    LSP_TRY(lsp_scratch_at(ctx, m->where, A->rows, sizeof(double), &x));
    LSP_TRY(lsp_scratch_at(ctx, m->where, A->rows, sizeof(double), &y));
    LSP_TRY(lsp_scratch_at(ctx, m->where, STEPS * pieces, sizeof *moments, &sums));
    s.to = x;
    LSP_TRY(lsp_multigrid_pass(m, LSP_RULE_SEED, &s, A->rows, NULL));
    for (int step = 0; step < STEPS; step++) {
        s.from = step % 2 == 0 ? x : y;
        s.to = step % 2 == 0 ? y : x;
        LSP_TRY(lsp_multigrid_apply_rule(m, LSP_RULE_KRYLOV, &s, A->rows, (lsp_two *)sums + step * pieces));
    }
    LSP_TRY(lsp_multigrid_add_up(m, sums, A->rows, STEPS, moments));
    for (int step = 0; step < STEPS; step++) {
        nu[2 * step] = moments[step].a, nu[2 * step + 1] = moments[step].b;
    }
    *radius = nu[0] > 0 ? 1 + largest_of(nu) : 1;
    LSP_REQUIRE(*radius - *radius == 0 && *radius > 0, LSP_ERR_ARGUMENT,
                "the spectral radius of diag(A)^-1 A was estimated as %g: A has values that are not finite, or is not "
                "positive definite",
                *radius);
    return LSP_OK;
}
