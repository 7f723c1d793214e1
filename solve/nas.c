/* The NAS conjugate gradient benchmark: the smallest eigenvalue of A by inverse iteration. Each outer iteration solves
 * A z = x by 25 steps, then zeta = shift + 1 / (x*z) and x = z / |z|.
 *
 * The outer loop is not in cg-bench, because on a GPU it is inside the one kernel. By an estimate, not a measurement,
 * an outer iteration of class A takes .2 to .3 ms there (26 steps of about 10 us), and a launch and a wait for each
 * would add 20 us or more: at least 7 %. Class C takes 2.7 ms each on an H200 (measured): it would lose about 1 %. */
#include "libsparse/unstable.h"
#include "matrices/matrices.h"
#include "rules.h"
#include "solve.h"

enum { STEPS = 25 };
static const double tolerance = 1e-10;

typedef struct benchmark {
    lsp_solve_plan *plan;
    lsp_nas_class class;
    lsp_nas_fn report;
    void *user;
    double *x, *z; /* where A lies */
} benchmark;

static lsp_status iterate(benchmark *run, lsp_nas_result *result) {
    lsp_ctx *ctx = run->plan->ctx;
    const lsp_solve_plan *plan = run->plan;
    const lsp_solve_backend *backend = plan->backend;
    lsp_solve_loop dots = {.s = run->x, .t = run->z}, scale = {.z = run->z, .x = run->x};
    lsp_solve_outcome outcome;
    double sums[2];
    LSP_TRY(lsp_solve_run(run->plan, run->x, run->z, &outcome));
    LSP_REQUIRE(outcome.state.end == LSP_SOLVE_MAX_ITERATIONS, LSP_ERR_CONVERGENCE,
                "step %lld of an inner solve failed: A is not the benchmark's matrix",
                (long long)outcome.state.end_iteration);
    LSP_TRY(backend->loop(plan, NULL, LSP_LOOP_DOTS, &dots, LSP_SLOT_DOTS)); /* z*x, z*z */
    LSP_TRY(backend->sums(plan, LSP_SLOT_DOTS, sums));
    scale.alpha = 1 / sqrt(sums[1]);
    LSP_TRY(backend->loop(plan, NULL, LSP_LOOP_SCALE, &scale, LSP_SLOT_DOTS));
    result->solver = outcome.solver;
    result->zeta = run->class.shift + 1 / sums[0];
    result->residual = sqrt(outcome.rr);
    return LSP_OK;
}

/* x = (1, ..., 1) */
static lsp_status set_ones(const benchmark *run) {
    return lsp_convert_values(run->plan->ctx, run->plan->where, LSP_F64, run->x, LSP_NONE, NULL, run->class.n);
}

static lsp_status run_iterations(benchmark *run, lsp_nas_result *result) {
    lsp_ctx *ctx = run->plan->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    LSP_TRY(lsp_scratch_at(ctx, run->plan->where, run->class.n, sizeof *run->x, (void **)&run->x));
    LSP_TRY(lsp_scratch_at(ctx, run->plan->where, run->class.n, sizeof *run->z, (void **)&run->z));
    LSP_TRY(set_ones(run));
    LSP_TRY(iterate(run, result)); /* untimed */
    LSP_TRY(set_ones(run));
    LSP_TRY(run->plan->where == LSP_CUDA ? lsp_cuda_sync(ctx) : LSP_OK);
    const double start = lsp_now();
    for (int64_t k = 1; k <= run->class.iterations; k++) {
        LSP_TRY(iterate(run, result));
        if (run->report != NULL) {
            run->report(run->user, k, result->residual, result->zeta);
        }
    }
    LSP_TRY(run->plan->where == LSP_CUDA ? lsp_cuda_sync(ctx) : LSP_OK);
    result->seconds = lsp_now() - start;
    return LSP_OK;
}

/* All iterations in one launch. */
static lsp_status run_resident(benchmark *run, lsp_nas_result *result) {
    lsp_ctx *ctx = run->plan->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    const int64_t iterations = run->class.iterations;
    double *zeta, *residual;
    LSP_TRY(LSP_SCRATCH(ctx, iterations, &zeta));
    LSP_TRY(LSP_SCRATCH(ctx, iterations, &residual));
    LSP_TRY(run->plan->backend->nas(ctx, run->plan->resident, run->class.shift, iterations, zeta, residual,
                                    &result->seconds));
    for (int64_t k = 1; run->report != NULL && k <= iterations; k++) {
        run->report(run->user, k, residual[k - 1], zeta[k - 1]);
    }
    result->zeta = zeta[iterations - 1];
    result->residual = residual[iterations - 1];
    result->solver = "resident";
    return LSP_OK;
}

/* Millions of operations per second, by the benchmark's own count: of the sizes that its generator was asked for, not
 * of the entries that A has. */
static double count_mops(const lsp_nas_class *class, double seconds) {
    const double entries = (double)class->nonzer * (class->nonzer + 1);
    const double operations =
        2 * (double)class->iterations * (double)class->n * (3 + entries + STEPS * (5 + entries) + 3);
    return operations / seconds / 1e6;
}

static void end(benchmark *run) { lsp_solve_plan_destroy(run->plan); }

lsp_status lsp_nas_cg(lsp_ctx *ctx, char name, const lsp_csr *A, const lsp_solve_options *options, lsp_nas_fn report,
                      void *user, lsp_nas_result *result) {
    benchmark run LSP_AT_END(end) = {.report = report, .user = user};
    lsp_nas_result found = {0};
    const lsp_solve_options wanted = {.type = LSP_F64,
                                      .fixed = true,
                                      .max_iterations = STEPS,
                                      .method = options != NULL ? options->method : LSP_SPMV_AUTO,
                                      .passes = options != NULL ? options->passes : 0};
    LSP_ENTER(ctx);
    LSP_REQUIRE(A != NULL && result != NULL, LSP_ERR_ARGUMENT, "the matrix or the place for the result is NULL");
    LSP_TRY(options != NULL ? lsp_check_reserved(ctx, "lsp_solve_options", options->reserved) : LSP_OK);
    LSP_TRY(lsp_nas_get_class(ctx, name, &run.class));
    LSP_REQUIRE(A->rows == run.class.n && A->cols == run.class.n && A->val_type == LSP_F64, LSP_ERR_ARGUMENT,
                "class %c needs %lld x %lld values of type LSP_F64: A has %lld x %lld of type %s", name,
                (long long)run.class.n, (long long)run.class.n, (long long)A->rows, (long long)A->cols,
                lsp_type_name(A->val_type));
    LSP_TRY(lsp_solve_plan_make(ctx, A, &wanted, false, false, &run.plan));
    run.plan->any_sign = true;
    LSP_TRY(run.plan->resident != NULL ? run_resident(&run, &found) : run_iterations(&run, &found));
    found.reference = run.class.zeta;
    found.verified = fabs(found.zeta - found.reference) <= tolerance * found.reference;
    found.mops = count_mops(&run.class, found.seconds);
    found.plan_seconds = run.plan->plan_seconds;
    found.iterations = run.class.iterations;
    found.spmv = run.plan->spmv_info;
    *result = found;
    return LSP_OK;
}
