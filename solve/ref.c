/* The specification of the solvers: the textbook's loops on the host, one thread, sums in the order of the vectors. The
 * decisions are those of rules.h. A solve has rounds, as in run.c. */
#include "matrices/matrices.h"
#include "rules.h"
#include "solve.h"

typedef struct equations {
    const lsp_csr *A;
    const double *inverse; /* Jacobi, or NULL */
    int64_t n;
} equations;

static double dot(const equations *sys, const double *a, const double *b) {
    double sum = 0;
    for (int64_t i = 0; i < sys->n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* y = A x */
static void multiply(const equations *sys, const double *x, double *y) {
    for (int64_t i = 0; i < sys->n; i++) {
        double sum = 0;
        for (int64_t k = lsp_csr_rowptr(sys->A, i); k < lsp_csr_rowptr(sys->A, i + 1); k++) {
            sum += lsp_value_at(sys->A, k).re * x[lsp_csr_col(sys->A, k)];
        }
        y[i] = sum;
    }
}

/* y = M x */
static void precondition(const equations *sys, const double *x, double *y) {
    for (int64_t i = 0; i < sys->n; i++) {
        y[i] = sys->inverse != NULL ? x[i] * sys->inverse[i] : x[i];
    }
}

/* z = x + factor y, unless the factor is 0: then y may be anything. */
static void add(const equations *sys, const double *x, double factor, const double *y, double *z) {
    for (int64_t i = 0; i < sys->n; i++) {
        z[i] = factor != 0 ? x[i] + factor * y[i] : x[i];
    }
}

/* r = b - A x; r*r */
static double find_residual(const equations *sys, const double *b, const double *x, double *r) {
    multiply(sys, x, r);
    add(sys, b, -1, r, r);
    return dot(sys, r, r);
}

static void cg(const equations *sys, const double *b, double *x, double *const v[], lsp_solve_state *s) {
    double *r = v[0], *p = v[1], *q = v[2], *z = v[3];
    double rr = find_residual(sys, b, x, r);
    for (;;) {
        precondition(sys, r, z);
        lsp_rule_turn(s, rr, dot(sys, r, z), false);
        if (s->due) {
            add(sys, x, s->alpha, p, x);
        }
        if (s->end != LSP_SOLVE_RUNS) {
            return;
        }
        add(sys, z, s->beta, p, p);
        multiply(sys, p, q);
        lsp_rule_length(s, dot(sys, p, q));
        if (s->end != LSP_SOLVE_RUNS) {
            return;
        }
        add(sys, r, -s->alpha, q, r);
        rr = dot(sys, r, r);
    }
}

static void bicgstab(const equations *sys, const double *b, double *x, double *const v[], lsp_solve_state *s) {
    double *r = v[0], *p = v[1], *q = v[2], *r_hat = v[3], *t = v[4], *p_hat = v[5], *s_hat = v[6];
    double rr = find_residual(sys, b, x, r);
    add(sys, r, 0, r, r_hat);
    for (;;) {
        lsp_rule_turn(s, rr, dot(sys, r_hat, r), true);
        if (s->due) {
            add(sys, x, s->alpha, p_hat, x);
            add(sys, x, s->omega, s_hat, x);
        }
        if (s->end != LSP_SOLVE_RUNS) {
            return;
        }
        add(sys, p, s->beta != 0 ? -s->omega : 0, q, p);
        add(sys, r, s->beta, p, p);
        precondition(sys, p, p_hat);
        multiply(sys, p_hat, q);
        lsp_rule_first_length(s, dot(sys, r_hat, q));
        if (s->end != LSP_SOLVE_RUNS) {
            return;
        }
        add(sys, r, -s->alpha, q, r); /* called s in the literature */
        precondition(sys, r, s_hat);
        multiply(sys, s_hat, t);
        lsp_rule_second_length(s, dot(sys, r, r), dot(sys, t, r), dot(sys, t, t));
        if (s->end != LSP_SOLVE_RUNS) {
            return;
        }
        add(sys, r, -s->omega, t, r);
        rr = dot(sys, r, r);
    }
}

lsp_status lsp_solve_ref(lsp_ctx *ctx, const lsp_csr *A, const lsp_solve_options *options, bool stabilized,
                         const double *b, double *x, lsp_solve_state *state) {
    enum { VECTORS = 7 };
    LSP_SCRATCH_SCOPE(ctx);
    equations sys = {.A = A, .n = A->rows};
    double *v[VECTORS], *inverse = NULL;
    int64_t bad = -1;
    const int64_t most = options->max_iterations > 0 ? options->max_iterations : 10 * sys.n;
    int64_t before = 0;
    double least = INFINITY;
    bool goes_on;
    for (int i = 0; i < VECTORS; i++) {
        LSP_TRY(LSP_SCRATCH_ZERO(ctx, sys.n, &v[i]));
    }
    if (options->precondition == LSP_PRECONDITION_JACOBI) {
        LSP_TRY(LSP_SCRATCH(ctx, sys.n, &inverse));
        LSP_TRY(lsp_solve_cpu.diagonal(ctx, A, LSP_F64, inverse, &bad));
        sys.inverse = inverse;
    }
    for (int64_t i = 0; !options->use_x0 && i < sys.n; i++) {
        x[i] = 0;
    }
    do {
        *state = (lsp_solve_state){.rtol = options->rtol > 0 ? options->rtol : 1e-8,
                                   .atol = options->atol,
                                   .max_iterations = most - before,
                                   .fixed = options->fixed,
                                   .bb = dot(&sys, b, b),
                                   .iteration = -1,
                                   .end = LSP_SOLVE_RUNS};
        (stabilized ? bicgstab : cg)(&sys, b, x, v, state);
        for (int64_t i = 0; state->bb == 0 && i < sys.n; i++) {
            x[i] = 0;
        }
        goes_on = lsp_rule_again(state, find_residual(&sys, b, x, v[0]), &least);
        state->end_iteration += before;
        before += state->iteration;
    } while (goes_on);
    state->iteration = before;
    return LSP_OK;
}
