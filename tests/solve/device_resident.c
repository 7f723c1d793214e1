/* Conjugate gradients in one persistent kernel against plain loops on the host. Shapes with few unknowns a column block
 * make several column blocks, chunks and slices of small matrices. */
#include "../support.h"
#include "core/cuda.h"
#include "libsparse/unstable.h"
#include "solve/gpu/resident.h"
#include "solve/rules.h"
#include <math.h>

#if LSP_HAVE_CUDA /* other builds do not have the kernel */

/* ---- matrices: symmetric, positive definite ---- */

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* n unknowns, about `degree` neighbours each, unknown 0 next to every third; the diagonal exceeds the sum of the rest.
 */
static lsp_csr random_matrix(lsp_ctx *host, int n, int degree, lsp_csr_types types) {
    const int most = n * (degree + 4);
    int *row = malloc((size_t)most * sizeof *row), *col = malloc((size_t)most * sizeof *col), count = 0;
    double *val = malloc((size_t)most * sizeof *val), *sum = calloc((size_t)n, sizeof *sum);
    uint64_t state = 7;
    lsp_csr A = {0};
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < degree / 2 + (i % 3 == 0); k++) {
            const int j = k < degree / 2 ? (int)(next_random(&state) % (uint64_t)n) : 0;
            const double v =
                types.val_type == LSP_NONE && types.drop_values ? 1 : -(double)(next_random(&state) % 100 + 1) / 64;
            if (i != j) {
                row[count] = i, col[count] = j, val[count++] = v;
                row[count] = j, col[count] = i, val[count++] = v;
                sum[i] += fabs(v), sum[j] += fabs(v);
            }
        }
    }
    for (int i = 0; i < n; i++) {
        row[count] = col[count] = i;
        val[count++] = sum[i] + 0.5;
    }
    lsp_coo triples = {.rows = n,
                       .cols = n,
                       .nnz = count,
                       .row = row,
                       .col = col,
                       .val = val,
                       .index_type = LSP_I32,
                       .val_type = LSP_F64};
    must(host, lsp_coo_to_csr(host, &triples, &types, &A, NULL));
    free(row), free(col), free(val), free(sum);
    return A;
}

static int64_t index_at(const void *array, lsp_type type, int64_t i) { return lsp_index_at(array, type, i); }
static double value_at(const lsp_csr *A, int64_t k) {
    return A->val_type == LSP_F64   ? ((const double *)A->val)[k]
           : A->val_type == LSP_F32 ? (double)((const float *)A->val)[k]
                                    : 1;
}

static void multiply(const lsp_csr *A, const double *x, double *y) {
    for (int64_t i = 0; i < A->rows; i++) {
        y[i] = 0;
        for (int64_t k = index_at(A->rowptr, A->rowptr_type, i); k < index_at(A->rowptr, A->rowptr_type, i + 1); k++) {
            y[i] += value_at(A, k) * x[index_at(A->col, A->col_type, k)];
        }
    }
}

static double dot(const double *x, const double *y, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

/* ---- a solve on the GPU ---- */

typedef struct solve {
    lsp_ctx *gpu, *host;
    lsp_csr A, there;
    lsp_resident *plan;
    double *b, *x, *inverse, *history; /* on the host; inverse NULL: no preconditioner */
    lsp_solve_state args, result;      /* before a run, but for the arrays; after it */
    bool use_x0;
} solve;

static void *there(solve *s, const void *from, int64_t count) {
    void *to = NULL;
    must(s->gpu, lsp_alloc(s->gpu, LSP_CUDA, count, sizeof(double), &to));
    must(s->gpu, lsp_cuda_copy(s->gpu, to, LSP_CUDA, from, LSP_HOST, count * (int64_t)sizeof(double)));
    return to;
}

static void begin(solve *s, lsp_csr A) {
    s->A = A;
    s->b = malloc((size_t)A.rows * sizeof *s->b);
    s->x = malloc((size_t)A.rows * sizeof *s->x);
    s->history = malloc(1000 * sizeof *s->history);
    for (int64_t i = 0; i < A.rows; i++) {
        s->b[i] = (double)(i % 7) - 2.5;
        s->x[i] = NAN;
    }
    must(s->gpu,
         lsp_csr_copy(s->gpu, &A,
                      &(lsp_csr_types){.place = LSP_PLACE_CUDA, .rowptr_type = A.rowptr_type, .col_type = A.col_type},
                      &s->there));
    s->args = (lsp_solve_state){.rtol = 1e-10, .max_iterations = 900, .history_capacity = 1000};
}

static void plan(solve *s, lsp_resident_shape shape) {
    lsp_plan_end(s->plan);
    s->plan = NULL;
    must(s->gpu, lsp_resident_create(s->gpu, &s->there, &shape, &s->plan));
    cr_assert(lsp_resident_entries(s->plan) >= s->A.nnz);
}

static void run(solve *s) {
    const int64_t n = s->A.rows;
    double *b = there(s, s->b, n), *inverse = s->inverse ? there(s, s->inverse, n) : NULL, *x = there(s, s->x, n);
    s->result = s->args;
    s->result.x = x;
    s->result.history = s->history;
    must(s->gpu, lsp_resident_cg(s->gpu, s->plan, b, inverse, s->use_x0, &s->result));
    must(s->gpu, lsp_cuda_copy(s->gpu, s->x, LSP_HOST, x, LSP_CUDA, n * (int64_t)sizeof(double)));
    lsp_free(s->gpu, b);
    lsp_free(s->gpu, x);
    lsp_free(s->gpu, inverse);
}

static void end(solve *s) {
    lsp_plan_end(s->plan);
    must(s->gpu, lsp_csr_free(s->gpu, &s->there));
    must(s->host, lsp_csr_free(s->host, &s->A));
    free(s->b), free(s->x), free(s->history), free(s->inverse);
    s->plan = NULL;
    s->inverse = NULL;
}

static void finish(solve *s) {
    lsp_ctx_destroy(s->gpu);
    lsp_ctx_destroy(s->host);
}

static double true_residual(const solve *s) {
    const int64_t n = s->A.rows;
    double *r = malloc((size_t)n * sizeof *r);
    multiply(&s->A, s->x, r);
    for (int64_t i = 0; i < n; i++) {
        r[i] = s->b[i] - r[i];
    }
    const double residual = sqrt(dot(r, r, n) / dot(s->b, s->b, n));
    free(r);
    return residual;
}

static void must_converge(const solve *s, const char *what) {
    cr_assert(s->result.end == LSP_SOLVE_CONVERGED, "%s: end %d after %lld", what, s->result.end,
              (long long)s->result.iteration);
    const double residual = lsp_rule_residual(s->result.rr, s->result.bb);
    cr_assert(residual <= s->args.rtol && true_residual(s) <= 2 * s->args.rtol, "%s: residual %g, truly %g", what,
              residual, true_residual(s));
    cr_assert(s->history[s->result.iteration] == residual);
}

static const lsp_resident_shape shapes[] = {
    {.columns = 1, .chunks = 1, .lanes = 1, .threads = 32, .stash = -1},
    {.columns = 1, .chunks = 5, .lanes = 2, .threads = 64, .dots = LSP_RESIDENT_DOTS_BLOCKS, .stash = 3000},
    {.columns = 3, .chunks = 4, .lanes = 1, .threads = 64, .dots = LSP_RESIDENT_DOTS_BLOCKS, .stash = -1},
    {.columns = 3, .chunks = 2, .lanes = 4, .threads = 96, .dots = LSP_RESIDENT_DOTS_OWNERS, .stash = 5000},
    {.columns = 7, .chunks = 3, .lanes = 1, .threads = 64, .dots = LSP_RESIDENT_DOTS_BLOCKS},
    {.columns = 9, .chunks = 2, .lanes = 2, .threads = 32, .dots = LSP_RESIDENT_DOTS_OWNERS},
    {0}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

Test(device_resident, every_shape_solves_regular_and_irregular_systems) {
    solve s = {.gpu = test_gpu_ctx_or_skip(), .host = test_ctx(2)};
    for (int m = 0; m < 3; m++) {
        lsp_csr A = {0};
        if (m == 0) {
            must(s.host, lsp_generate(s.host, "poisson2d:17", 1, NULL, &A));
        } else {
            A = random_matrix(s.host, m == 1 ? 501 : 130, m == 1 ? 12 : 60, (lsp_csr_types){0});
        }
        begin(&s, A);
        int64_t iterations = 0;
        for (int f = 0; f < SHAPES; f++) {
            char what[64];
            snprintf(what, sizeof what, "matrix %d, shape %d", m, f);
            plan(&s, shapes[f]);
            run(&s);
            must_converge(&s, what);
            iterations = f == 0 ? s.result.iteration : iterations;
            cr_assert(llabs(s.result.iteration - iterations) <= 2, "%s: %lld iterations, not %lld", what,
                      (long long)s.result.iteration, (long long)iterations);
        }
        end(&s);
    }
    finish(&s);
}

Test(device_resident, equal_bits_in_every_run_and_after_an_update) {
    solve s = {.gpu = test_gpu_ctx_or_skip(), .host = test_ctx(2)};
    begin(&s, random_matrix(s.host, 300, 20, (lsp_csr_types){0}));
    const size_t bytes = (size_t)s.A.rows * sizeof(double);
    double *before = malloc(bytes);
    plan(&s, shapes[4]);
    run(&s);
    memcpy(before, s.x, bytes);
    run(&s);
    cr_assert(memcmp(before, s.x, bytes) == 0);
    for (int64_t k = 0; k < s.A.nnz; k++) { /* other values, and the first ones again */
        ((double *)s.A.val)[k] *= 4;
    }
    must(s.gpu, lsp_cuda_copy(s.gpu, s.there.val, LSP_CUDA, s.A.val, LSP_HOST, s.A.nnz * 8));
    must(s.gpu, lsp_resident_update(s.gpu, s.plan, &s.there));
    run(&s);
    must_converge(&s, "after an update");
    for (int64_t i = 0; i < s.A.rows; i++) { /* powers of two change no other bit */
        cr_assert(s.x[i] * 4 == before[i], "x[%lld] = %g, and was %g", (long long)i, s.x[i], before[i]);
    }
    free(before);
    end(&s);
    finish(&s);
}

Test(device_resident, all_types_of_values_and_indices) {
    static const lsp_csr_types types[] = {{.val_type = LSP_F32},
                                          {.rowptr_type = LSP_I64, .val_type = LSP_F64},
                                          {.col_type = LSP_I64, .rowptr_type = LSP_I64, .val_type = LSP_F32}};
    solve s = {.gpu = test_gpu_ctx_or_skip(), .host = test_ctx(2)};
    for (int t = 0; t < 3; t++) {
        begin(&s, random_matrix(s.host, 211, 9, types[t]));
        plan(&s, shapes[2]);
        run(&s);
        must_converge(&s, "types");
        end(&s);
    }
    lsp_csr I = {0}; /* a pattern: its values are 1 */
    must(s.host, lsp_generate(s.host, "perm:64", 1, &(lsp_csr_types){.drop_values = true}, &I));
    for (int64_t i = 0; i < I.rows; i++) {
        ((int32_t *)I.col)[i] = (int32_t)i;
    }
    begin(&s, I);
    plan(&s, shapes[1]);
    run(&s);
    must_converge(&s, "pattern");
    cr_assert(s.result.iteration == 1 && memcmp(s.x, s.b, 64 * sizeof(double)) == 0);
    end(&s);
    finish(&s);
}

Test(device_resident, preconditioner_guess_and_tolerances) {
    solve s = {.gpu = test_gpu_ctx_or_skip(), .host = test_ctx(2)};
    begin(&s, random_matrix(s.host, 400, 10, (lsp_csr_types){0}));
    plan(&s, shapes[3]);
    run(&s);
    const int64_t plain = s.result.iteration;
    s.inverse = malloc(400 * sizeof(double));
    for (int64_t i = 0; i < 400; i++) {
        for (int64_t k = index_at(s.A.rowptr, s.A.rowptr_type, i); k < index_at(s.A.rowptr, s.A.rowptr_type, i + 1);
             k++) {
            if (index_at(s.A.col, s.A.col_type, k) == i) {
                s.inverse[i] = 1 / value_at(&s.A, k);
            }
        }
    }
    for (int f = 2; f < 6; f++) {
        plan(&s, shapes[f]);
        run(&s);
        must_converge(&s, "jacobi");
        cr_assert(s.result.iteration < plain, "%lld iterations, without a preconditioner %lld",
                  (long long)s.result.iteration, (long long)plain);
    }
    s.use_x0 = true; /* the solution itself */
    s.args.rtol = 1e-8;
    run(&s);
    must_converge(&s, "a good guess");
    cr_assert(s.result.iteration == 0);
    for (int64_t i = 0; i < 400; i++) {
        s.x[i] += i % 5 == 0 ? 1 : 0;
    }
    run(&s);
    must_converge(&s, "a bad guess");
    cr_assert(s.result.iteration > 0);
    s.use_x0 = false;
    s.args.rtol = 0;
    s.args.atol = 1e-3;
    run(&s);
    cr_assert(s.result.end == LSP_SOLVE_CONVERGED && sqrt(s.result.rr) <= 1e-3 && s.result.rr > 1e-20);
    end(&s);
    finish(&s);
}

Test(device_resident, every_end_is_told) {
    solve s = {.gpu = test_gpu_ctx_or_skip(), .host = test_ctx(2)};
    begin(&s, random_matrix(s.host, 150, 8, (lsp_csr_types){0}));
    for (int f = 1; f < 5; f++) {
        s.args.rtol = 1e-10;
        s.args.max_iterations = 3;
        plan(&s, shapes[f]);
        run(&s);
        cr_assert(s.result.end == LSP_SOLVE_MAX_ITERATIONS && s.result.iteration == 3);
        s.args.fixed = true; /* beyond a residual of 0: nothing becomes NaN */
        s.args.max_iterations = 150;
        run(&s);
        cr_assert(s.result.end == LSP_SOLVE_MAX_ITERATIONS && s.result.iteration == 150 && true_residual(&s) < 1e-12);
        s.args.fixed = false;
        s.args.max_iterations = 900;
        double *const at = &s.b[77], kept = *at;
        for (int bad = 0; bad < 2; bad++) { /* no number, and one whose square is infinite */
            *at = bad == 0 ? NAN : 1e200;
            run(&s);
            cr_assert(s.result.cause == LSP_CAUSE_RESIDUAL && s.result.iteration == -1);
        }
        *at = kept;
        double *const b = s.b;
        s.b = calloc(150, sizeof *b);
        run(&s);
        cr_assert(s.result.end == LSP_SOLVE_CONVERGED && s.result.iteration == 0 && s.result.rr == 0 && s.x[0] == 0 &&
                  s.x[149] == 0);
        free(s.b);
        s.b = b;
    }
    for (int bad = 0; bad < 2; bad++) { /* an entry that makes the matrix indefinite, and one that is no number */
        double *const at = (double *)s.A.val + (bad == 0 ? s.A.nnz - 1 : s.A.nnz / 2), kept = *at;
        *at = bad == 0 ? -1e6 : NAN;
        must(s.gpu, lsp_cuda_copy(s.gpu, s.there.val, LSP_CUDA, s.A.val, LSP_HOST, s.A.nnz * 8));
        for (int f = 1; f < 5; f++) {
            plan(&s, shapes[f]);
            run(&s);
            cr_assert(s.result.end == (bad == 0 ? LSP_SOLVE_INDEFINITE : LSP_SOLVE_NOT_FINITE) &&
                          s.result.cause == LSP_CAUSE_CURVATURE && s.result.iteration == 0,
                      "end %d after %lld iterations", s.result.end, (long long)s.result.iteration);
        }
        *at = kept;
    }
    end(&s);
    finish(&s);
}

/* Empty rows have no partial sum, and a chip with little shared memory has short slices. */
Test(device_resident, few_bytes_of_shared_memory_make_many_column_blocks) {
    solve s = {.gpu = test_gpu_ctx_or_skip(), .host = test_ctx(2)};
    lsp_cuda_chip *chip = (lsp_cuda_chip *)(uintptr_t)lsp_cuda_get_chip(s.gpu);
    lsp_resident_shape shape = {0};
    chip->shared_block_bytes = (4 << 10) + 400;
    must(s.host, lsp_generate(s.host, "poisson2d:19", 1, NULL, &s.A));
    begin(&s, s.A);
    cr_assert(lsp_resident_fits(s.gpu, &s.there, 5, &shape));
    plan(&s, (lsp_resident_shape){.threads = 64});
    lsp_resident_get_shape(s.plan, &shape);
    cr_assert(shape.columns >= 8 && shape.slice <= 50, "%d column blocks of %lld", shape.columns,
              (long long)shape.slice);
    run(&s);
    must_converge(&s, "short slices");
    chip->shared_block_bytes = (4 << 10) + 16;
    cr_assert(!lsp_resident_fits(s.gpu, &s.there, 5, NULL));
    must_fail(s.gpu, LSP_ERR_UNSUPPORTED, "does not fit", lsp_resident_create(s.gpu, &s.there, NULL, &s.plan));
    end(&s);
    finish(&s);
}

Test(device_resident, nas_benchmark_verifies) {
    static const int outer = 3; /* of 15: zeta has settled to eight digits by then */
    solve s = {.gpu = test_gpu_ctx_or_skip(), .host = test_ctx(2)};
    lsp_nas_class params;
    lsp_csr A = {0};
    double zeta[15], residual[15], seconds = 0, kept = 0;
    must(s.host, lsp_nas_get_class(s.host, 'S', &params));
    must(s.host, lsp_generate(s.host, "nascg:S", 1, NULL, &A));
    begin(&s, A);
    for (int f = 1; f < 5; f++) {
        const int iterations = f == 1 ? params.iterations : outer;
        plan(&s, shapes[f]);
        must(s.gpu, lsp_resident_nas(s.gpu, s.plan, params.shift, iterations, zeta, residual, &seconds));
        cr_assert(seconds > 0 && residual[iterations - 1] < 1e-12, "residual %g", residual[iterations - 1]);
        if (f == 1) {
            cr_assert(fabs(zeta[14] - params.zeta) <= 1e-10 * params.zeta, "zeta is %.13f", zeta[14]);
            kept = zeta[outer - 1];
        }
        cr_assert(fabs(zeta[outer - 1] - kept) <= 1e-11 * kept, "zeta is %.13f, and was %.13f", zeta[outer - 1], kept);
    }
    end(&s);
    finish(&s);
}
#endif
