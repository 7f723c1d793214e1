/* The cycle of multigrid against plain loops over the hierarchy; what CG needs is true of it; multigrid in the solvers
 * and by itself; arguments that are refused; allocations that fail. */
#include "cases.h"
#if LSP_HAVE_CUDA && !LSP_EMULATED
#include <cuda_runtime_api.h>
#endif

/* ---- the cycle by plain loops, in doubles on the host ---- */

typedef struct level {
    lsp_csr A, P; /* on the host; the last level has no P */
    double radius;
} level;

typedef struct hierarchy {
    lsp_multigrid_options options;
    int levels;
    level level[LSP_MULTIGRID_LEVELS];
} hierarchy;

static hierarchy read_hierarchy(lsp_ctx *ctx, const lsp_multigrid *m, lsp_multigrid_options options) {
    hierarchy h = {.options = options};
    lsp_multigrid_info info;
    must(ctx, lsp_multigrid_get_info(m, &info));
    h.levels = info.levels;
    h.options.sweeps = options.sweeps > 0 ? options.sweeps : options.smoother == LSP_SMOOTHER_JACOBI ? 1 : 2;
    for (int k = 0; k < h.levels; k++) {
        lsp_csr A, P;
        must(ctx, lsp_multigrid_get_level(m, k, &A, &P));
        must(ctx, lsp_csr_copy(ctx, &A, &(lsp_csr_types){.place = LSP_PLACE_HOST}, &h.level[k].A));
        if (k + 1 < h.levels) {
            must(ctx, lsp_csr_copy(ctx, &P, &(lsp_csr_types){.place = LSP_PLACE_HOST}, &h.level[k].P));
        }
        h.level[k].radius = info.radius[k];
    }
    return h;
}

static void free_hierarchy(lsp_ctx *ctx, hierarchy *h) {
    for (int k = 0; k < h->levels; k++) {
        lsp_csr_free(ctx, &h->level[k].A), lsp_csr_free(ctx, &h->level[k].P);
    }
}

/* y += factor * A*x, or A^T*x */
static void add_product(const lsp_csr *A, double factor, const double *x, double *y, bool transposed) {
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t e = lsp_csr_rowptr(A, i); e < lsp_csr_rowptr(A, i + 1); e++) {
            const int64_t j = lsp_csr_col(A, e);
            y[transposed ? j : i] += factor * lsp_value_at(A, e).re * x[transposed ? i : j];
        }
    }
}

static double *residual_of(const level *l, const double *b, const double *x) {
    double *r = malloc((size_t)(l->A.rows + 1) * sizeof *r);
    memcpy(r, b, (size_t)l->A.rows * sizeof *r);
    add_product(&l->A, -1, x, r, false);
    return r;
}

/* Sweeps of Jacobi, or Chebyshev by the polynomials themselves: the error after degree k is T_k((middle - t) / half) /
 * T_k(middle / half) times the first, for each eigenvalue t of D^-1 A; here by roots, one weighted Jacobi a root. */
static void smooth(const hierarchy *h, const level *l, const double *b, double *x) {
    const int degree = h->options.sweeps + (l > h->level);
    const double high = 1.1 * l->radius, low = 0.15 * high;
    for (int k = 0; k < degree; k++) {
        const double root = (high + low) / 2 + (high - low) / 2 * cos(3.14159265358979323846 * (k + 0.5) / degree);
        const double weight = h->options.smoother == LSP_SMOOTHER_JACOBI ? 1.6 / l->radius : 1 / root;
        double *r = residual_of(l, b, x);
        for (int64_t i = 0; i < l->A.rows; i++) {
            for (int64_t e = lsp_csr_rowptr(&l->A, i); e < lsp_csr_rowptr(&l->A, i + 1); e++) {
                x[i] += lsp_csr_col(&l->A, e) == i ? weight * r[i] / lsp_value_at(&l->A, e).re : 0;
            }
        }
        free(r);
    }
}

static void run_cycle(const hierarchy *h, int k, const double *b, double *x) {
    const level *l = &h->level[k];
    if (k + 1 == h->levels) {
        const int64_t n = l->A.rows;
        double *full = calloc((size_t)(n * n + 1), sizeof *full);
        for (int64_t i = 0; i < n; i++) {
            for (int64_t e = lsp_csr_rowptr(&l->A, i); e < lsp_csr_rowptr(&l->A, i + 1); e++) {
                full[i * n + lsp_csr_col(&l->A, e)] += lsp_value_at(&l->A, e).re;
            }
        }
        memcpy(x, b, (size_t)n * sizeof *x);
        eliminate(n, full, x);
        free(full);
        return;
    }
    smooth(h, l, b, x);
    double *r = residual_of(l, b, x);
    double *coarse = calloc((size_t)l->P.cols + 1, sizeof *coarse), *e = calloc((size_t)l->P.cols + 1, sizeof *e);
    add_product(&l->P, 1, r, coarse, true);
    for (int visit = 0; visit < (h->options.cycle == LSP_CYCLE_W ? 2 : 1); visit++) {
        run_cycle(h, k + 1, coarse, e);
    }
    add_product(&l->P, 1, e, x, false);
    smooth(h, l, b, x);
    free(r), free(coarse), free(e);
}

/* ---- the cycle of the library ---- */

static double *apply(const problem *s, lsp_multigrid *m, const double *b) {
    void *sent = send(s, b), *x = send(s, b);
    must(s->ctx, lsp_multigrid_apply(m, sent, x));
    lsp_free(s->ctx, sent);
    return receive(s, x);
}

static double dot(int64_t n, const double *a, const double *b) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* Compares with the plain loops; <u, M v> = <M u, v>; <u, M u> > 0. */
static void check_cycle(const problem *s, lsp_multigrid_options options) {
    lsp_multigrid *m;
    const bool narrow = s->type == LSP_F32, mixed = options.level_values == LSP_F32 && !narrow;
    const double tolerance = narrow ? 2e-5 : mixed ? 1e-6 : 1e-12; /* mixed: P^T of the plain loops is P's own */
    options.type = s->type;
    must(s->ctx, lsp_multigrid_create(s->ctx, &s->there, &options, &m));
    hierarchy h = read_hierarchy(s->ctx, m, options);
    cr_assert(h.levels >= 3, "%d levels", h.levels);
    double *u = s->b, *v = random_vector(s->n, 77), *plain = calloc((size_t)s->n + 1, sizeof *plain);
    for (int64_t i = 0; i < s->n && narrow; i++) {
        v[i] = (double)(float)v[i];
    }
    double *Mu = apply(s, m, u), *Mv = apply(s, m, v), *again = apply(s, m, u);
    cr_assert(memcmp(Mu, again, (size_t)s->n * sizeof *Mu) == 0);
    run_cycle(&h, 0, u, plain);
    double difference = 0;
    for (int64_t i = 0; i < s->n; i++) {
        difference = fmax(difference, fabs(plain[i] - Mu[i]));
    }
    const double size = sqrt(dot(s->n, plain, plain) / (double)s->n);
    cr_assert(difference <= 10 * tolerance * size, "smoother %d, sweeps %d, cycle %d: differs by %g of %g",
              (int)options.smoother, options.sweeps, (int)options.cycle, difference, size);
    const double uMv = dot(s->n, u, Mv), vMu = dot(s->n, v, Mu), scale = sqrt(dot(s->n, u, Mu) * dot(s->n, v, Mv));
    cr_assert(dot(s->n, u, Mu) > 0 && fabs(uMv - vMu) <= tolerance * scale, "<u, M v> = %.17g, <M u, v> = %.17g", uMv,
              vMu);
    free(v), free(plain), free(Mu), free(Mv), free(again);
    free_hierarchy(s->ctx, &h);
    lsp_multigrid_destroy(m);
}

TEST_ON_BOTH(solve_multigrid_cycle, it_is_that_of_plain_loops_and_symmetric) {
    for (int k = 0; k < 16; k++) {
        problem s = named_system(ctx, k & 8 ? "poisson2d:31" : "stencil27:9", k & 4 ? LSP_F32 : LSP_F64);
        check_cycle(&s, (lsp_multigrid_options){.smoother = (lsp_smoother)(k & 1),
                                                .cycle = (lsp_cycle)(k >> 1 & 1),
                                                .sweeps = k >> 2 & 3,
                                                .level_values = k == 9 ? LSP_F32 : LSP_NONE,
                                                .coarsest = 8});
        free_system(&s);
    }
}

/* ---- in the solvers, and by itself ---- */

static const char *const systems[] = {"poisson2d:40", "stencil27:10", "spd:fem3:5"};

TEST_ON_BOTH(solve_multigrid_cycle, solvers_take_few_iterations) {
    for (int k = 0; k < 24; k++) {
        problem s = named_system(ctx, systems[k >> 3], k & 1 ? LSP_F32 : LSP_F64);
        lsp_multigrid *m = NULL;
        const lsp_multigrid_options how = {.type = s.type, .block = k >> 3 == 2 ? 3 : 1, .smoother = k >> 1 & 1};
        const bool own = k % 8 == 0;
        if (!own) {
            must(ctx, lsp_multigrid_create(ctx, &s.there, &how, &m));
        }
        const lsp_solve_options o = {.precondition = LSP_PRECONDITION_MULTIGRID, .multigrid = m};
        solved out = solve(&s, k >> 2 & 1, o, k & 2 ? s.b : NULL);
        cr_assert(out.status == LSP_OK && out.info.iterations <= (k >> 2 & 1 ? 16 : 26), "%s, %d: %s", systems[k >> 3],
                  k, out.info.reason);
        cr_assert(true_residual(&s, out.x) < (k & 1 ? 3e-4 : 3e-8));
        free(out.x);
        lsp_multigrid_destroy(m);
        free_system(&s);
    }
}

TEST_ON_BOTH(solve_multigrid_cycle, by_itself_it_contracts_the_residual) {
    for (int k = 0; k < 4; k++) {
        problem s = named_system(ctx, "poisson2d:40", LSP_F64);
        lsp_multigrid *m;
        double history[200];
        lsp_solve_info info;
        must(ctx, lsp_multigrid_create(ctx, &s.there,
                                       &(lsp_multigrid_options){.smoother = k & 1, .cycle = (lsp_cycle)(k >> 1)}, &m));
        void *b = send(&s, s.b), *x = send(&s, s.b);
        must(ctx,
             lsp_multigrid_solve(m, b, &(lsp_solve_options){.history = history, .history_capacity = 200}, x, &info));
        cr_assert(info.end == LSP_SOLVE_CONVERGED && info.iterations < 80 && info.iterations > 3, "%s", info.reason);
        for (int64_t i = 3; i <= info.iterations; i++) {
            cr_assert(history[i] < 0.85 * history[i - 1], "iteration %d: %g after %g", (int)i, history[i],
                      history[i - 1]);
        }
        must_fail(ctx, LSP_ERR_CONVERGENCE, "2 iterations are the most",
                  lsp_multigrid_solve(m, b, &(lsp_solve_options){.max_iterations = 2}, x, &info));
        lsp_free(ctx, b);
        free(receive(&s, x));
        lsp_multigrid_destroy(m);
        free_system(&s);
    }
}

/* Coefficients of 1 and 1e-8 in squares of 8 x 8 unknowns: `islands` of the small one in a sea of the other, or the
 * other way round, where the sea is the only hold of each island. */
static problem contrast_system(lsp_ctx *ctx, int k, bool weak_islands) {
    char grid[32];
    snprintf(grid, sizeof grid, "poisson2d:%d", k);
    lsp_csr A = make_matrix(ctx, grid, (lsp_csr_types){.val_type = LSP_F64});
    for (int64_t i = 0; i < A.rows; i++) {
        double sum = 0;
        int64_t diagonal = 0;
        for (int64_t e = lsp_csr_rowptr(&A, i), end = lsp_csr_rowptr(&A, i + 1); e < end; e++) {
            const int64_t j = lsp_csr_col(&A, e);
            const bool in_i = i % k / 8 % 2 && i / k / 8 % 2, in_j = j % k / 8 % 2 && j / k / 8 % 2;
            const double edge = (in_i && in_j) == weak_islands && (in_i == in_j) ? 1e-8 : in_i != in_j ? 2e-8 : 1;
            test_set_value(&A, e, -edge, 0);
            sum += i == j ? 0 : edge;
            diagonal = i == j ? e : diagonal;
        }
        const int64_t missing = 5 - (lsp_csr_rowptr(&A, i + 1) - lsp_csr_rowptr(&A, i));
        test_set_value(&A, diagonal, sum + (double)missing * (weak_islands ? 1 : 1e-8), 0);
    }
    return make_system(ctx, A, LSP_F64, 5);
}

/* LSP_F32 beside 1 cannot hold what ties strong islands to the sea: each takes iterations of its own. */
TEST_ON_BOTH(solve_multigrid_cycle, weak_parts_of_a_matrix_are_no_rounding) {
    static const int most[] = {22, 17, 200, 17};
    for (int k = 0; k < 4; k++) {
        problem s = contrast_system(ctx, 56, k & 1);
        lsp_multigrid *m = NULL;
        const lsp_multigrid_options how = {.level_values = k & 2 ? LSP_F32 : LSP_NONE, .coarsest = 20};
        must(ctx, lsp_multigrid_create(ctx, &s.there, &how, &m));
        const lsp_solve_options o = {.precondition = LSP_PRECONDITION_MULTIGRID, .multigrid = m};
        solved out = solve(&s, 0, o, s.b);
        cr_assert(out.status == LSP_OK && out.info.iterations <= most[k], "%d: %s", k, out.info.reason);
        cr_assert(true_residual(&s, out.x) < 3e-8);
        free(out.x);
        lsp_multigrid_destroy(m);
        free_system(&s);
    }
}

/* A plan with a hierarchy of its own, and one with the caller's. */
TEST_ON_BOTH(solve_multigrid_cycle, plans_take_several_sides_and_new_values) {
    for (int k = 0; k < 4; k++) {
        problem s = named_system(ctx, "poisson2d:30", LSP_F64), t = named_system(ctx, "poisson2d:30", LSP_F64);
        lsp_multigrid *m = NULL;
        lsp_solve_plan *plan;
        must(ctx, lsp_csr_apply(ctx, &t.there, LSP_APPLY_MULTIPLY, 3));
        if (t.where == LSP_CUDA) {
            must(ctx, lsp_csr_apply(ctx, &t.A, LSP_APPLY_MULTIPLY, 3));
        }
        if (k & 2) {
            must(ctx, lsp_multigrid_create(ctx, &s.there, NULL, &m));
        }
        const lsp_solve_options o = {.precondition = LSP_PRECONDITION_MULTIGRID, .multigrid = m};
        must(ctx, (k & 1 ? lsp_bicgstab_plan_create : lsp_cg_plan_create)(ctx, &s.there, &o, &plan));
        for (int round = 0; round < 4; round++) {
            const problem *now = round >> 1 & 1 ? &t : &s;
            lsp_solve_info info;
            if (round == 2) {
                must(ctx, lsp_solve_update(plan, &t.there));
                must(ctx, m != NULL ? lsp_multigrid_update(m, &t.there) : LSP_OK);
            }
            void *b = send(now, now->b), *x = send(now, now->b);
            must(ctx, lsp_solve_execute(plan, b, x, &info));
            lsp_free(ctx, b);
            double *found = receive(now, x);
            cr_assert(true_residual(now, found) < 3e-8 && info.iterations < 20, "%s", info.reason);
            free(found);
        }
        lsp_solve_plan_destroy(plan);
        lsp_multigrid_destroy(m);
        free_system(&s), free_system(&t);
    }
}

/* ---- in a CUDA graph ---- */

#if LSP_HAVE_CUDA && !LSP_EMULATED
#define must_cuda(call) cr_assert((call) == cudaSuccess, "%s", #call)

static void check_replay(lsp_ctx *ctx, cudaStream_t stream, const lsp_multigrid_options *options) {
    cudaGraph_t graph;
    cudaGraphExec_t run;
    lsp_multigrid *m;
    problem s = named_system(ctx, "poisson2d:70", LSP_F64);
    const size_t bytes = (size_t)s.n * sizeof(double);
    void *b = send(&s, s.b), *x = send(&s, s.b), *expected = send(&s, s.b);
    must(ctx, lsp_multigrid_create(ctx, &s.there, options, &m));
    must_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    must(ctx, lsp_multigrid_apply(m, b, x));
    must_cuda(cudaStreamEndCapture(stream, &graph));
    must_cuda(cudaGraphInstantiateWithFlags(&run, graph, 0));
    double *here = malloc(2 * bytes);
    for (uint64_t round = 0; round < 3; round++) {
        double *v = random_vector(s.n, round + 9);
        must(ctx, lsp_cuda_copy(ctx, b, LSP_CUDA, v, LSP_HOST, (int64_t)bytes));
        must_cuda(cudaGraphLaunch(run, stream));
        must(ctx, lsp_multigrid_apply(m, b, expected));
        must(ctx, lsp_cuda_copy(ctx, here, LSP_HOST, x, LSP_CUDA, (int64_t)bytes));
        must(ctx, lsp_cuda_copy(ctx, here + s.n, LSP_HOST, expected, LSP_CUDA, (int64_t)bytes));
        must(ctx, lsp_ctx_sync(ctx));
        cr_assert(memcmp(here, here + s.n, bytes) == 0, "replay %d", (int)round);
        free(v);
    }
    free(here);
    must_cuda(cudaGraphExecDestroy(run));
    must_cuda(cudaGraphDestroy(graph));
    lsp_multigrid_destroy(m);
    lsp_free(ctx, b), lsp_free(ctx, x), lsp_free(ctx, expected);
    free_system(&s);
}

Test(device_solve, a_cycle_of_multigrid_in_a_graph_is_replayed) {
    lsp_ctx_destroy(test_gpu_ctx_or_skip());
    cudaStream_t stream;
    lsp_ctx *ctx = NULL;
    must_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cr_assert_eq(lsp_ctx_create(&ctx, &(lsp_ctx_options){.device = LSP_CUDA, .stream = stream}, NULL, 0), LSP_OK);
    for (int k = 0; k < 4; k++) {
        check_replay(ctx, stream,
                     &(lsp_multigrid_options){.smoother = k & 1, .cycle = (lsp_cycle)(k >> 1), .coarsest = 40});
    }
    lsp_ctx_destroy(ctx);
    must_cuda(cudaStreamDestroy(stream));
}
#endif
