/* The set-up of multigrid: the hierarchy has the same bits on every device and for every number of threads; what it
 * must be, by plain code; new values. */
#include "cases.h"
#include "solve/multigrid/job.h"

/* ---- systems ---- */

typedef struct setup_case {
    const char *name; /* for make_matrix, or below */
    lsp_multigrid_options options;
} setup_case;

/* "graph:NAME": a generated matrix with the identity added, made symmetric and positive definite; "diagonal:N";
 * "neumann:K": poisson2d:K without boundary values, singular; "parts:K": two of poisson2d:K beside each other, and an
 * unknown that nothing couples. */
static lsp_csr setup_matrix(lsp_ctx *ctx, const char *name, lsp_csr_types types) {
    long n = 0;
    lsp_csr A, B, none;
    types.val_type = types.val_type == LSP_NONE ? LSP_F64 : types.val_type;
    if (strncmp(name, "graph:", 6) == 0) {
        lsp_csr G = make_matrix(ctx, name + 6, types);
        must(ctx, lsp_csr_from_diagonal(ctx, G.rows, NULL, types.val_type, LSP_HOST, &B));
        must(ctx, lsp_csr_add(ctx, 1, &G, 1, &B, &A));
        lsp_csr_free(ctx, &G), lsp_csr_free(ctx, &B);
        make_definite(ctx, &A);
        return A;
    }
    if (sscanf(name, "diagonal:%ld", &n) == 1) {
        must(ctx, lsp_csr_from_diagonal(ctx, n, NULL, types.val_type, LSP_HOST, &A));
        return A;
    }
    if (sscanf(name, "neumann:%ld", &n) == 1) {
        char grid[32];
        snprintf(grid, sizeof grid, "poisson2d:%ld", n);
        A = make_matrix(ctx, grid, types);
        for (int64_t i = 0; i < A.rows; i++) {
            int64_t diagonal = 0;
            for (int64_t k = lsp_csr_rowptr(&A, i); k < lsp_csr_rowptr(&A, i + 1); k++) {
                diagonal = lsp_csr_col(&A, k) == i ? k : diagonal;
            }
            test_set_value(&A, diagonal, (double)(lsp_csr_rowptr(&A, i + 1) - lsp_csr_rowptr(&A, i) - 1), 0);
        }
        return A;
    }
    if (sscanf(name, "parts:%ld", &n) == 1) {
        char grid[32];
        snprintf(grid, sizeof grid, "poisson2d:%ld", n);
        A = make_matrix(ctx, grid, types);
        must(ctx, lsp_csr_from_diagonal(ctx, 1, NULL, types.val_type, LSP_HOST, &B));
        const lsp_csr *blocks[] = {&A, NULL, NULL, NULL, &B, NULL, NULL, NULL, &A};
        must(ctx, lsp_csr_stack(ctx, blocks, 3, 3, &none));
        lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &B);
        return none;
    }
    return make_matrix(ctx, name, types);
}

static const setup_case setup_cases[] = {
    {"poisson2d:40", {.coarsest = 20}},
    {"stencil27:12", {.coarsest = 20}},
    {"spd:fem3:7", {.coarsest = 12, .block = 3}},
    {"graph:rmat:10:6", {.coarsest = 30}},
    {"graph:rmat:9:8", {.coarsest = 30, .threshold = 0.1}},
    {"poisson2d:30", {.coarsest = 20, .level_values = LSP_F32}},
    {"random:2000", {.coarsest = 50}},
    {"neumann:30", {.coarsest = 20}},
    {"parts:20", {.coarsest = 20}},
    {"diagonal:1500", {.coarsest = 20}},
    {"diagonal:0", {0}},
    {"poisson2d:5", {0}},
};
/* Fewer of the cases where they take long. */
static int pace(int all, int reduced) { return getenv("LSP_TEST_REDUCED") != NULL ? reduced : all; }

enum { SETUP_CASES = sizeof setup_cases / sizeof *setup_cases };

/* ---- a hierarchy on the host ---- */

typedef struct taken {
    lsp_multigrid_info info;
    lsp_csr A[LSP_MULTIGRID_LEVELS], P[LSP_MULTIGRID_LEVELS], T[LSP_MULTIGRID_LEVELS], solution;
    bool plain[LSP_MULTIGRID_LEVELS]; /* P = T */
} taken;

static lsp_csr to_host(lsp_ctx *ctx, const lsp_csr *M) {
    lsp_csr copy = {0};
    lsp_csr_types types = lsp_types_of(M);
    types.place = LSP_PLACE_HOST;
    if (M->rowptr != NULL) {
        must(ctx, lsp_csr_copy(ctx, M, &types, &copy));
    }
    return copy;
}

static taken take(lsp_ctx *ctx, const lsp_multigrid *m) {
    taken t = {0};
    must(ctx, lsp_multigrid_get_info(m, &t.info));
    for (int k = 0; k < t.info.levels; k++) {
        lsp_csr A, P;
        must(ctx, lsp_multigrid_get_level(m, k, &A, &P));
        cr_assert(A.rows == t.info.rows[k] && A.nnz == t.info.nnz[k]);
        cr_assert((P.rowptr != NULL) == (k + 1 < t.info.levels));
        t.A[k] = to_host(ctx, &A), t.P[k] = to_host(ctx, &P), t.T[k] = to_host(ctx, &m->level[k].T);
        t.plain[k] = m->level[k].plain;
    }
    t.solution = to_host(ctx, &m->level[t.info.levels - 1].solution);
    return t;
}

static void free_taken(lsp_ctx *ctx, taken *t) {
    for (int k = 0; k < t->info.levels; k++) {
        lsp_csr_free(ctx, &t->A[k]), lsp_csr_free(ctx, &t->P[k]), lsp_csr_free(ctx, &t->T[k]);
    }
    lsp_csr_free(ctx, &t->solution);
}

static taken take_new(lsp_ctx *ctx, const lsp_csr *A, const lsp_multigrid_options *options) {
    lsp_multigrid *m;
    must(ctx, lsp_multigrid_create(ctx, A, options, &m));
    taken t = take(ctx, m);
    lsp_multigrid_destroy(m);
    return t;
}

/* The matrices of two contexts on the host. */
static bool same_bits(const lsp_csr *A, const lsp_csr *B) {
    bool same = A->rows == B->rows && A->cols == B->cols && A->nnz == B->nnz && A->val_type == B->val_type &&
                (A->rowptr == NULL) == (B->rowptr == NULL);
    for (int64_t i = 0; i <= A->rows && same && A->rowptr != NULL; i++) {
        same = lsp_csr_rowptr(A, i) == lsp_csr_rowptr(B, i);
    }
    for (int64_t k = 0; k < A->nnz && same; k++) {
        same = lsp_csr_col(A, k) == lsp_csr_col(B, k);
    }
    return same && (A->nnz == 0 || memcmp(A->val, B->val, (size_t)A->nnz * lsp_type_bytes(A->val_type)) == 0);
}

static void must_be_same_hierarchy(const char *name, const taken *a, const taken *b) {
    cr_assert(a->info.levels == b->info.levels, "%s: %d and %d levels", name, a->info.levels, b->info.levels);
    for (int k = 0; k < a->info.levels; k++) {
        cr_assert(a->info.radius[k] == b->info.radius[k], "%s, level %d: radius %.17g and %.17g", name, k,
                  a->info.radius[k], b->info.radius[k]);
        cr_assert(k == 0 || same_bits(&a->A[k], &b->A[k]), "%s, level %d: A", name, k);
        cr_assert(same_bits(&a->T[k], &b->T[k]), "%s, level %d: T", name, k);
        cr_assert(same_bits(&a->P[k], &b->P[k]), "%s, level %d: P", name, k);
    }
    cr_assert(same_bits(&a->solution, &b->solution), "%s: solution", name);
    cr_assert(strcmp(a->info.reason, b->info.reason) == 0);
}

/* ---- the same bits everywhere ---- */

TEST_ON_BOTH(multigrid_setup, hierarchies_have_the_bits_of_one_thread_on_the_host) {
    static const lsp_csr_types kinds[] = {{.val_type = LSP_F64},
                                          {.val_type = LSP_F32},
                                          {.val_type = LSP_F64, .rowptr_type = LSP_I64, .col_type = LSP_I64},
                                          {.val_type = LSP_F32, .rowptr_type = LSP_I64, .col_type = LSP_I32}};
    lsp_ctx *one = test_ctx(1), *five = test_ctx(5);
    for (int c = 0; c < 4 * SETUP_CASES; c += pace(1, 9)) {
        const setup_case *test = &setup_cases[c / 4];
        lsp_csr A = setup_matrix(one, test->name, kinds[c % 4]);
        taken expected = take_new(one, &A, &test->options);
        cr_assert(expected.info.reason[0] != 0 && (A.rows <= 1000 || A.nnz == A.rows || expected.info.levels > 1));
        taken more = take_new(five, &A, &test->options);
        must_be_same_hierarchy(test->name, &expected, &more);
        lsp_csr there = A;
        if (place_of(ctx) == LSP_CUDA) {
            lsp_csr_types types = lsp_types_of(&A);
            types.place = LSP_PLACE_CUDA;
            must(ctx, lsp_csr_copy(ctx, &A, &types, &there));
        }
        taken here = take_new(ctx, &there, &test->options);
        must_be_same_hierarchy(test->name, &expected, &here);
        free_taken(one, &expected), free_taken(five, &more), free_taken(ctx, &here);
        if (place_of(ctx) == LSP_CUDA) {
            lsp_csr_free(ctx, &there);
        }
        lsp_csr_free(one, &A);
    }
    lsp_ctx_destroy(one), lsp_ctx_destroy(five);
}

/* ---- what a hierarchy must be ---- */

static double *dense_product(int64_t m, int64_t k, int64_t n, const double *A, const double *B, bool transpose_a) {
    double *C = calloc((size_t)(m * n + 1), sizeof *C);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t l = 0; l < k; l++) {
            const double a = transpose_a ? A[l * m + i] : A[i * k + l];
            for (int64_t j = 0; j < n && a != 0; j++) {
                C[i * n + j] += a * B[l * n + j];
            }
        }
    }
    return C;
}

static double farthest(int64_t n, const double *a, const double *b) {
    double most = 0;
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, fabs(a[i] - b[i]));
    }
    return most;
}

/* The dense matrix of plain numbers, and its diagonal's inverse. */
static double *real_dense(const lsp_csr *A) {
    double *D = calloc((size_t)(A->rows * A->cols + 1), sizeof *D);
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t k = lsp_csr_rowptr(A, i); k < lsp_csr_rowptr(A, i + 1); k++) {
            D[i * A->cols + lsp_csr_col(A, k)] += lsp_value_at(A, k).re;
        }
    }
    return D;
}

/* P = T - 4/3 / radius * D^-1 A T or T, T has orthonormal columns, the next A = P^T A P. */
static void check_level(const char *name, const taken *t, int k, double tolerance) {
    const int64_t n = t->A[k].rows, nc = t->P[k].cols;
    double *A = real_dense(&t->A[k]), *T = real_dense(&t->T[k]), *P = real_dense(&t->P[k]);
    double *AT = dense_product(n, n, nc, A, T, false), *TT = dense_product(nc, n, nc, T, T, true);
    double *AP = dense_product(n, n, nc, A, P, false), *next = dense_product(nc, n, nc, P, AP, true);
    double *last = real_dense(&t->A[k + 1]), off = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < nc; j++) {
            const double d = A[i * n + i], w = d > 1e-10 && !t->plain[k] ? 4.0 / 3 / t->info.radius[k] / d : 0;
            AT[i * nc + j] = T[i * nc + j] - w * AT[i * nc + j];
        }
    }
    for (int64_t i = 0; i < nc; i++) { /* a column of zeros is a near-null vector that was left out */
        const double one = TT[i * nc + i];
        off = fmax(off, fmin(fabs(one), fabs(one - 1)));
        for (int64_t j = 0; j < nc; j++) {
            off = fmax(off, i != j ? fabs(TT[i * nc + j]) : 0);
        }
    }
    cr_assert(off < tolerance, "%s, level %d: T^T T is off by %g", name, k, off);
    cr_assert(farthest(n * nc, AT, P) < tolerance, "%s, level %d: P is off by %g", name, k, farthest(n * nc, AT, P));
    cr_assert(farthest(nc * nc, next, last) < 100 * tolerance, "%s, level %d: R A P is off by %g", name, k,
              farthest(nc * nc, next, last));
    free(A), free(T), free(P), free(AT), free(TT), free(AP), free(next), free(last);
}

TEST_ON_BOTH(multigrid_setup, each_level_is_what_its_formula_says) {
    for (int c = 0; c < SETUP_CASES; c += pace(1, 4)) {
        const setup_case *test = &setup_cases[c];
        lsp_csr A = setup_matrix(ctx, test->name, (lsp_csr_types){0});
        if (A.rows > 1100 && A.nnz > A.rows) { /* dense matrices would take long */
            lsp_csr_free(ctx, &A);
            A = setup_matrix(ctx, "graph:rmat:8:8", (lsp_csr_types){0});
        }
        problem s = make_system(ctx, A, LSP_F64, 5);
        taken t = take_new(ctx, &s.there, &test->options);
        for (int k = 0; k + 1 < t.info.levels && s.n <= 1100; k++) {
            check_level(test->name, &t, k, test->options.level_values == LSP_F32 ? 1e-5 : 1e-11);
        }
        const lsp_csr *last = &t.A[t.info.levels - 1];
        if (t.solution.rowptr != NULL) { /* A * solution * A = A */
            const int64_t n = last->rows;
            double *M = real_dense(last), *S = real_dense(&t.solution);
            double *MS = dense_product(n, n, n, M, S, false), *MSM = dense_product(n, n, n, MS, M, false);
            cr_assert(farthest(n * n, MSM, M) < (t.info.levels > 1 && test->options.level_values ? 1e-3 : 1e-8), "%s",
                      test->name);
            free(M), free(S), free(MS), free(MSM);
        }
        free_taken(ctx, &t);
        free_system(&s);
    }
}

TEST_ON_BOTH(multigrid_setup, the_radius_is_near_the_largest_eigenvalue) {
    problem s = named_system(ctx, "poisson2d:60", LSP_F64); /* 1 + cos(pi / 61) = 1.9987 */
    taken t = take_new(ctx, &s.there, NULL);
    cr_assert(t.info.radius[0] > 1.85 && t.info.radius[0] < 1.9988, "%g", t.info.radius[0]);
    cr_assert(t.info.radius[t.info.levels - 1] == 0);
    cr_assert(t.info.grid_complexity > 1 && t.info.operator_complexity > 1 && t.info.bytes > 0 &&
              t.info.setup_seconds > 0);
    free_taken(ctx, &t);
    free_system(&s);
}

/* Near-null vectors that are given are spanned by P where a row of A times them is 0: of vectors 1 and x, inner rows of
 * poisson2d. Nodes of fewer than two unknowns cannot hold both, and one column is left out. */
TEST_ON_BOTH(multigrid_setup, near_null_vectors_of_the_caller_are_taken) {
    enum { K = 24, N = K * K };
    problem s = named_system(ctx, "poisson2d:24", LSP_F64);
    double vectors[2 * N];
    void *there;
    for (int i = 0; i < N; i++) {
        vectors[2 * i] = 1, vectors[2 * i + 1] = i % K;
    }
    must(ctx, lsp_alloc(ctx, s.where, 2 * N, sizeof *vectors, &there));
    must(ctx, lsp_array_copy(ctx, there, s.where, vectors, LSP_HOST, sizeof vectors));
    const lsp_multigrid_options o = {.near_null = there, .near_null_vectors = 2, .coarsest = 30};
    taken t = take_new(ctx, &s.there, &o);
    cr_assert(t.info.levels > 2);
    check_level("two vectors", &t, 0, 1e-11);
    check_level("two vectors", &t, 1, 1e-11);
    const int64_t nc = t.T[0].cols;
    double *T = real_dense(&t.T[0]), *C = dense_product(nc, N, 2, T, vectors, true);
    double *back = dense_product(N, nc, 2, T, C, false); /* T T^T B = B */
    cr_assert(farthest(2 * N, back, vectors) < 1e-11);
    free(T), free(C), free(back);
    free_taken(ctx, &t);
    lsp_free(ctx, there);
    free_system(&s);
}

/* ---- new values ---- */

TEST_ON_BOTH(multigrid_setup, new_values_give_the_bits_of_a_new_hierarchy) {
    for (int c = 0; c < SETUP_CASES; c += pace(1, 4)) {
        const setup_case *test = &setup_cases[c];
        problem s = make_system(ctx, setup_matrix(ctx, test->name, (lsp_csr_types){0}), LSP_F64, 5);
        lsp_multigrid *m;
        must(ctx, lsp_multigrid_create(ctx, &s.there, &test->options, &m));
        taken before = take(ctx, m);
        lsp_csr twice = {0};
        lsp_csr_types types = lsp_types_of(&s.there);
        must(ctx, lsp_csr_copy(ctx, &s.there, &types, &twice));
        must(ctx, s.n > 0 ? lsp_csr_apply(ctx, &twice, LSP_APPLY_MULTIPLY, 2) : LSP_OK); /* exact: the same T */
        taken expected = take_new(ctx, &twice, &test->options);
        for (int round = 0; round < 3; round++) {
            must(ctx, lsp_multigrid_update(m, round == 1 ? &s.there : &twice));
            taken now = take(ctx, m);
            must_be_same_hierarchy(test->name, round == 1 ? &before : &expected, &now);
            free_taken(ctx, &now);
        }
        lsp_multigrid_destroy(m);
        free_taken(ctx, &before), free_taken(ctx, &expected);
        lsp_csr_free(ctx, &twice);
        free_system(&s);
    }
}

TEST_ON_BOTH(multigrid_setup, a_refused_update_leaves_the_hierarchy) {
    problem s = named_system(ctx, "poisson2d:30", LSP_F64), t = named_system(ctx, "poisson2d:29", LSP_F64);
    lsp_multigrid *m;
    must(ctx, lsp_multigrid_create(ctx, &s.there, NULL, &m));
    taken before = take(ctx, m);
    must_fail(ctx, LSP_ERR_ARGUMENT, "900 x 900", lsp_multigrid_update(m, &t.there));
    must_fail(ctx, LSP_ERR_ARGUMENT, "A is NULL", lsp_multigrid_update(m, NULL));
    cr_assert(lsp_multigrid_update(NULL, &s.there) == LSP_ERR_ARGUMENT);
    lsp_csr negative = {0};
    lsp_csr_types types = lsp_types_of(&s.there);
    must(ctx, lsp_csr_copy(ctx, &s.there, &types, &negative));
    must(ctx, lsp_csr_apply(ctx, &negative, LSP_APPLY_NEGATE, 0));
    must_fail(ctx, LSP_ERR_ARGUMENT, "row 0: the diagonal entry is -4", lsp_multigrid_update(m, &negative));
    taken after = take(ctx, m);
    must_be_same_hierarchy("poisson2d:30", &before, &after);
    free_taken(ctx, &before), free_taken(ctx, &after);
    lsp_csr_free(ctx, &negative);
    lsp_multigrid_destroy(m);
    free_system(&s), free_system(&t);
}
