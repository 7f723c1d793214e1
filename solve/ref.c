/* The specification of the solvers: the textbook's loops on the host, one thread, sums in the order of the vectors. The
 * ends are those of rules.h, told a second time. A solve has rounds, as in run.c. */
#include "matrices/matrices.h"
#include "solve.h"

#include <math.h>

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

static void end(lsp_solve_state *s, lsp_solve_end why, int64_t iteration, int cause) {
    s->end = (int)why;
    s->end_iteration = iteration;
    s->cause = cause;
}

static bool reached(const lsp_solve_state *s) {
    const double r = sqrt(s->rr);
    return !s->fixed && (r <= s->rtol * sqrt(s->bb) || (s->atol > 0 && r <= s->atol));
}

/* r = b - A x; r*r */
static double find_residual(const equations *sys, const double *b, const double *x, double *r) {
    multiply(sys, x, r);
    for (int64_t i = 0; i < sys->n; i++) {
        r[i] = b[i] - r[i];
    }
    return dot(sys, r, r);
}

/* r = b - A x; s->bb and s->rr. Returns false if that ends the solver. */
static bool start(const equations *sys, const double *b, double *x, double *r, lsp_solve_state *s) {
    s->bb = dot(sys, b, b);
    s->rr = find_residual(sys, b, x, r);
    if (!isfinite(s->bb) || !isfinite(s->rr)) {
        end(s, LSP_SOLVE_NOT_FINITE, 0, LSP_CAUSE_RESIDUAL);
    } else if (s->bb == 0) {
        for (int64_t i = 0; i < sys->n; i++) {
            x[i] = 0;
        }
        end(s, LSP_SOLVE_CONVERGED, 0, LSP_CAUSE_NONE);
    } else if (reached(s)) {
        end(s, LSP_SOLVE_CONVERGED, 0, LSP_CAUSE_NONE);
    } else if (s->max_iterations == 0) { /* a round before did them all */
        end(s, LSP_SOLVE_MAX_ITERATIONS, 0, LSP_CAUSE_NONE);
    }
    return s->end == LSP_SOLVE_RUNS;
}

/* After iteration k: is it the last one? */
static bool is_last(lsp_solve_state *s, int64_t k) {
    s->iteration = k;
    if (reached(s)) {
        end(s, LSP_SOLVE_CONVERGED, k, LSP_CAUSE_NONE);
    } else if (k == s->max_iterations) {
        end(s, LSP_SOLVE_MAX_ITERATIONS, k, LSP_CAUSE_NONE);
    }
    return s->end != LSP_SOLVE_RUNS;
}

static void cg(const equations *sys, const double *b, double *x, double *const v[], lsp_solve_state *s) {
    double *r = v[0], *p = v[1], *q = v[2], *z = v[3];
    if (!start(sys, b, x, r, s)) {
        return;
    }
    precondition(sys, r, z);
    precondition(sys, r, p);
    s->rz = dot(sys, r, z);
    for (int64_t k = 1;; k++) {
        if (!(s->rz > 0) && !s->fixed) {
            end(s, isfinite(s->rz) ? LSP_SOLVE_INDEFINITE : LSP_SOLVE_NOT_FINITE, k, LSP_CAUSE_RZ);
            return;
        }
        multiply(sys, p, q);
        s->denominator = dot(sys, p, q);
        if (!(s->denominator > 0) && !(s->denominator == 0 && s->fixed)) {
            end(s, isfinite(s->denominator) ? LSP_SOLVE_INDEFINITE : LSP_SOLVE_NOT_FINITE, k, LSP_CAUSE_CURVATURE);
            return;
        }
        s->alpha = s->denominator > 0 ? s->rz / s->denominator : 0;
        for (int64_t i = 0; i < sys->n; i++) {
            x[i] += s->alpha * p[i];
            r[i] -= s->alpha * q[i];
        }
        s->rr = dot(sys, r, r);
        if (!isfinite(s->rr)) {
            end(s, LSP_SOLVE_NOT_FINITE, k, LSP_CAUSE_RESIDUAL);
            return;
        }
        if (is_last(s, k)) {
            return;
        }
        precondition(sys, r, z);
        const double before = s->rz;
        s->rz = dot(sys, r, z);
        s->beta = before > 0 ? s->rz / before : 0;
        for (int64_t i = 0; i < sys->n; i++) {
            p[i] = z[i] + s->beta * p[i];
        }
    }
}

static void bicgstab(const equations *sys, const double *b, double *x, double *const v[], lsp_solve_state *s) {
    double *r = v[0], *p = v[1], *q = v[2], *r_hat = v[3], *t = v[4], *p_hat = v[5], *s_hat = v[6];
    if (!start(sys, b, x, r, s)) {
        return;
    }
    for (int64_t i = 0; i < sys->n; i++) {
        r_hat[i] = p[i] = r[i];
    }
    s->rz = s->rr;
    for (int64_t k = 1;; k++) {
        precondition(sys, p, p_hat);
        multiply(sys, p_hat, q);
        s->denominator = dot(sys, r_hat, q);
        if (!isfinite(s->denominator) || (s->denominator == 0 && !s->fixed)) {
            end(s, isfinite(s->denominator) ? LSP_SOLVE_BREAKDOWN : LSP_SOLVE_NOT_FINITE, k, LSP_CAUSE_CURVATURE);
            return;
        }
        s->alpha = s->denominator != 0 ? s->rz / s->denominator : 0;
        for (int64_t i = 0; i < sys->n; i++) {
            r[i] -= s->alpha * q[i]; /* called s in the literature */
        }
        s->rr = dot(sys, r, r);
        precondition(sys, r, s_hat);
        multiply(sys, s_hat, t);
        const double ts = dot(sys, t, r), tt = dot(sys, t, t);
        if (reached(s)) {
            s->omega = 0;
        } else if (!isfinite(s->rr) || !isfinite(ts) || !isfinite(tt)) {
            end(s, LSP_SOLVE_NOT_FINITE, k, LSP_CAUSE_RESIDUAL);
            return;
        } else if (tt == 0 && !s->fixed) {
            end(s, LSP_SOLVE_BREAKDOWN, k, LSP_CAUSE_TT);
            return;
        } else {
            s->omega = tt > 0 ? ts / tt : 0;
        }
        for (int64_t i = 0; i < sys->n; i++) {
            x[i] += s->omega != 0 ? s->alpha * p_hat[i] + s->omega * s_hat[i] : s->alpha * p_hat[i];
            r[i] -= s->omega != 0 ? s->omega * t[i] : 0;
        }
        s->rr = dot(sys, r, r);
        const double before = s->rz;
        s->rz = dot(sys, r_hat, r);
        if (is_last(s, k)) {
            return;
        }
        if ((s->rz == 0 || s->omega == 0) && !s->fixed) {
            end(s, LSP_SOLVE_BREAKDOWN, k + 1, s->rz == 0 ? LSP_CAUSE_RZ : LSP_CAUSE_OMEGA);
            return;
        }
        s->beta = before != 0 && s->omega != 0 ? s->rz / before * (s->alpha / s->omega) : 0;
        for (int64_t i = 0; i < sys->n; i++) {
            p[i] = s->beta != 0 ? r[i] + s->beta * (p[i] - s->omega * q[i]) : r[i];
        }
    }
}

/* Is another round needed, from x? *least: |b - A x| at the ends of the rounds before. */
static bool again(const equations *sys, const double *b, const double *x, double *r, double *least,
                  lsp_solve_state *s) {
    const double norm = sqrt(find_residual(sys, b, x, r)), before = *least;
    const bool broken = s->end == LSP_SOLVE_BREAKDOWN && s->iteration > 0;
    if (s->fixed || s->bb == 0 || (s->end != LSP_SOLVE_CONVERGED && !broken)) {
        return false;
    }
    if (norm <= LSP_SOLVE_SLACK * fmax(s->rtol * sqrt(s->bb), s->atol)) {
        end(s, LSP_SOLVE_CONVERGED, s->iteration, LSP_CAUSE_NONE);
        return false;
    }
    s->end = norm <= before / 2 || broken ? s->end : LSP_SOLVE_STAGNATED;
    *least = norm;
    return norm <= before / 2;
}

lsp_status lsp_solve_ref(lsp_ctx *ctx, const lsp_csr *A, const lsp_solve_options *options, bool stabilized,
                         const double *b, double *x, lsp_solve_state *state) {
    enum { VECTORS = 7 };
    LSP_SCRATCH_SCOPE(ctx);
    equations sys = {.A = A, .n = A->rows};
    double *v[VECTORS], *inverse = NULL;
    int64_t bad = -1;
    *state = (lsp_solve_state){
        .rtol = options->rtol > 0 ? options->rtol : 1e-8, .atol = options->atol, .fixed = options->fixed, .x = x};
    const int64_t most = options->max_iterations > 0 ? options->max_iterations : 10 * sys.n;
    int64_t before = 0;
    double least = INFINITY;
    bool goes_on;
    for (int i = 0; i < VECTORS; i++) {
        LSP_TRY(LSP_SCRATCH(ctx, sys.n, &v[i]));
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
        state->max_iterations = most - before;
        state->iteration = 0;
        state->end = LSP_SOLVE_RUNS;
        (stabilized ? bicgstab : cg)(&sys, b, x, v, state);
        goes_on = again(&sys, b, x, v[0], &least, state);
        state->end_iteration += before;
        before += state->iteration;
    } while (goes_on);
    state->iteration = before;
    return LSP_OK;
}
