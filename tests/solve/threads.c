/* Bits do not depend on the number of threads: every verb that sums runs with 1, 2, 3, 4 and 16 of them, on matrices
 * with empty rows, few columns or giant rows. Where a plan chooses by time, a sum's order must not follow. */
#include "cases.h"
#include "solve/multigrid/job.h"

/* ---- what a run found ---- */

enum { MOST = 256 };
typedef struct findings {
    const char *matrix;
    int count;
    struct {
        char name[64];
        uint64_t hash;
    } of[MOST];
} findings;

static void note(findings *f, const char *name, int variant, const void *memory, int64_t bytes) {
    const unsigned char *byte = memory;
    uint64_t hash = 14695981039346656037u;
    for (int64_t i = 0; i < bytes; i++) {
        hash = (hash ^ byte[i]) * 1099511628211u;
    }
    cr_assert(f->count < MOST);
    snprintf(f->of[f->count].name, sizeof f->of[0].name, "%s %d", name, variant);
    f->of[f->count++].hash = hash;
}

static void note_matrix(findings *f, const char *name, int variant, const lsp_csr *A) {
    const int64_t size = (int64_t)lsp_type_bytes(A->col_type);
    note(f, name, variant, A->rowptr, (A->rows + 1) * (int64_t)lsp_type_bytes(A->rowptr_type));
    note(f, name, variant, A->col, A->nnz * size);
    note(f, name, variant, A->val, A->nnz * (int64_t)lsp_type_bytes(A->val_type));
}

static void note_made(lsp_ctx *ctx, findings *f, const char *name, int variant, lsp_csr *A) {
    note_matrix(f, name, variant, A);
    lsp_csr_free(ctx, A);
}

/* ---- matrices ---- */

/* "ROWS:COLS:FULL:LENGTH:GIANT": FULL rows of LENGTH entries, spread over ROWS rows; the first one has GIANT entries.
 */
static const char *const shapes[] = {"21936:3:104:3:3",       "40000:40:40000:5:9",    "3000:3000:2000:4:200000",
                                     "5:50000:5:20000:50000", "300000:2000:900:7:7",   "20000:60000:20000:8:8",
                                     "1:4000:1:9:100000",     "60000:20000:60000:3:3", "4096:4096:4096:16:16"};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static lsp_csr make_shape(lsp_ctx *ctx, const char *shape) {
    long long rows, cols, full, length, giant;
    uint64_t state = 7;
    lsp_csr A;
    cr_assert(sscanf(shape, "%lld:%lld:%lld:%lld:%lld", &rows, &cols, &full, &length, &giant) == 5);
    must(ctx, lsp_csr_create(ctx, rows, cols, giant + (full - 1) * length, &(lsp_csr_types){.val_type = LSP_F64}, &A));
    for (int64_t i = 0, r = 0, k = 0; i < rows; i++) {
        const bool has = r < full && i == r * rows / full;
        for (const int64_t end = k + (has ? (r == 0 ? giant : length) : 0); k < end; k++) {
            lsp_index_set(A.col, A.col_type, k, test_below(&state, cols));
            test_set_value(&A, k, (double)(test_below(&state, 1 << 30) - (1 << 29)) / 3, 0);
        }
        r += has;
        lsp_index_set(A.rowptr, A.rowptr_type, i + 1, k);
    }
    return A;
}

/* ---- verbs ---- */

/* Each method once; what the library chooses also for three vectors, and transposed. */
static void multiply(lsp_ctx *ctx, const lsp_csr *A, findings *f) {
    for (int way = 0; way < LSP_SPMV_METHODS + 3; way++) {
        const int kind = way < LSP_SPMV_METHODS ? 0 : way - LSP_SPMV_METHODS + 1;
        const lsp_spmv_options o = {.method = (lsp_spmv_method)(kind == 0 ? way : 0),
                                    .vectors = kind & 1 ? 3 : 1,
                                    .transpose = (kind & 2) != 0};
        const int64_t n = (o.transpose ? A->cols : A->rows) * o.vectors;
        double *x = random_vector(lsp_max(A->rows, A->cols) * o.vectors, 3), *y = random_vector(n, 4);
        const lsp_spmv_vectors v = {.alpha = 0.7, .beta = 0.3, .x = x, .y = y};
        lsp_spmv_plan *plan = NULL;
        lsp_status status = lsp_spmv_plan_create(ctx, A, &o, &plan);
        cr_assert(status == LSP_ERR_UNSUPPORTED || status == LSP_OK, "%s", lsp_last_error(ctx));
        if (status == LSP_OK) {
            must(ctx, lsp_spmv_execute(plan, &v));
            note(f, lsp_spmv_method_name(o.method), kind, y, n * 8);
        }
        if (o.method < LSP_SPMV_DIAGONALS) {
            must(ctx, lsp_spmv(ctx, A, &o, &v, NULL));
            note(f, "one call", way, y, n * 8);
        }
        lsp_spmv_plan_destroy(plan);
        free(x), free(y);
    }
}

/* One entry a row: 50 neighbours share a column. */
static lsp_csr make_lumps(lsp_ctx *ctx, int64_t rows) {
    lsp_csr P;
    must(ctx, lsp_csr_create(ctx, rows, rows / 50 + 1, rows, &(lsp_csr_types){.val_type = LSP_F64}, &P));
    for (int64_t i = 0; i < rows; i++) {
        lsp_index_set(P.rowptr, P.rowptr_type, i + 1, i + 1);
        lsp_index_set(P.col, P.col_type, i, i / 50);
        test_set_value(&P, i, 1 / (double)(i + 3), 0);
    }
    return P;
}

static void add_up(lsp_ctx *ctx, const lsp_csr *A, findings *f) {
    double *results = random_vector(lsp_max(A->rows, A->cols), 5);
    lsp_csr L = make_lumps(ctx, A->rows), P = make_lumps(ctx, A->cols), R, C;
    for (int way = 0; way < 3 * LSP_REDUCTIONS; way++) {
        const int64_t n = (int64_t[]){A->rows, A->cols, 1}[way % 3];
        must(ctx, lsp_csr_reduce(ctx, A, (lsp_reduction)(way / 3), (lsp_axis)(way % 3), results));
        note(f, "reduce", way, results, n * 8);
    }
    must(ctx, lsp_scatter(ctx,
                          &(lsp_gather_args){.n = A->nnz,
                                             .extent = A->cols,
                                             .index = A->col,
                                             .index_type = A->col_type,
                                             .columns = &(lsp_column){A->val, results, 8, LSP_F64},
                                             .column_count = 1,
                                             .rule = LSP_SCATTER_ADD},
                          NULL));
    note(f, "scatter", 0, results, A->cols * 8);
    free(results);
    must(ctx, lsp_csr_transpose(ctx, &L, &R));
    must(ctx, lsp_spgemm(ctx, A, &P, NULL, &C, NULL));
    note_made(ctx, f, "spgemm", 0, &C);
    must(ctx, lsp_spgemm_triple(ctx, &R, A, &P, NULL, &C, NULL));
    note_made(ctx, f, "spgemm_triple", 0, &C);
    must(ctx, lsp_csr_transpose(ctx, A, &C));
    note_made(ctx, f, "transpose", 0, &C);
    must(ctx, lsp_csr_add(ctx, 0.7, A, -1.3, A, &C));
    note_made(ctx, f, "add", 0, &C);
    must(ctx, lsp_csr_hadamard(ctx, A, A, &C));
    note_made(ctx, f, "hadamard", 0, &C);
    lsp_csr_free(ctx, &L), lsp_csr_free(ctx, &P), lsp_csr_free(ctx, &R);
}

/* ---- solvers ---- */

static void solve_it(lsp_ctx *ctx, const lsp_csr *A, findings *f) {
    lsp_multigrid *m = NULL;
    double *b = random_vector(A->rows, 6), *x = random_vector(A->rows, 7);
    lsp_solve_info info;
    must(ctx, lsp_multigrid_create(ctx, A, &(lsp_multigrid_options){.coarsest = 20}, &m));
    for (int level = 0; level < m->levels; level++) {
        lsp_csr L, P;
        must(ctx, lsp_multigrid_get_level(m, level, &L, &P));
        note_matrix(f, "level", level, &L);
        note(f, "prolongation", level, P.val, P.nnz * 8);
    }
    must(ctx, lsp_multigrid_apply(m, b, x));
    note(f, "multigrid_apply", 0, x, A->rows * 8);
    for (int way = 0; way < 6; way++) {
        const lsp_solve_options o = {.precondition =
                                         (lsp_precondition[]){LSP_PRECONDITION_MULTIGRID, LSP_PRECONDITION_JACOBI,
                                                              LSP_PRECONDITION_NONE}[way / 2],
                                     .multigrid = way < 2 ? m : NULL,
                                     .fixed = true,
                                     .max_iterations = 7};
        must(ctx, (way & 1 ? lsp_bicgstab : lsp_cg)(ctx, A, b, &o, x, &info));
        note(f, "solve", way, x, A->rows * 8);
    }
    lsp_multigrid_destroy(m);
    free(b), free(x);
}

/* ---- the comparison ---- */

static void compare(const char *matrix, void (*make)(lsp_ctx *ctx, const char *matrix, findings *f)) {
    static const int threads[] = {1, 2, 3, 4, 16};
    findings *first = calloc(1, sizeof *first), *here = calloc(1, sizeof *here);
    for (int t = 0; t < 5; t++) {
        lsp_ctx *ctx = test_ctx(threads[t]);
        here->count = 0;
        make(ctx, matrix, t == 0 ? first : here);
        for (int i = 0; i < first->count && t > 0; i++) {
            cr_expect(first->of[i].hash == here->of[i].hash, "%s, %s: other bits with %d threads than with one", matrix,
                      first->of[i].name, threads[t]);
        }
        lsp_ctx_destroy(ctx);
    }
    free(first), free(here);
}

static void all_verbs(lsp_ctx *ctx, const char *shape, findings *f) {
    lsp_csr A = make_shape(ctx, shape);
    multiply(ctx, &A, f);
    add_up(ctx, &A, f);
    lsp_csr_free(ctx, &A);
}

/* The method that a plan takes with these figures, NULL: its own. */
static lsp_spmv_method method_of(lsp_ctx *ctx, const lsp_csr *A, const lsp_cache_figures *figures) {
    lsp_spmv_plan *plan;
    lsp_spmv_info info;
    must(ctx, lsp_cache_model_set_figures(ctx, figures));
    must(ctx, lsp_spmv_plan_create(ctx, A, NULL, &plan));
    must(ctx, lsp_spmv_plan_get_info(plan, &info));
    lsp_spmv_plan_destroy(plan);
    return info.method;
}

/* "gram:SHAPE": A A^T + I. Or a name of make_matrix. */
static void all_solvers(lsp_ctx *ctx, const char *matrix, findings *f) {
    lsp_csr A;
    if (strncmp(matrix, "gram:", 5) == 0) {
        lsp_csr S = make_shape(ctx, matrix + 5), G, I;
        must(ctx, lsp_csr_apply(ctx, &S, LSP_APPLY_MULTIPLY, 0x1p-29));
        must(ctx, lsp_spgemm(ctx, &S, &S, &(lsp_spgemm_options){.transpose_b = true}, &G, NULL));
        must(ctx, lsp_csr_from_diagonal(ctx, G.rows, NULL, LSP_F64, LSP_HOST, &I));
        must(ctx, lsp_csr_add(ctx, 1, &G, 1, &I, &A));
        lsp_csr_free(ctx, &S), lsp_csr_free(ctx, &G), lsp_csr_free(ctx, &I);
    } else {
        A = make_matrix(ctx, matrix, (lsp_csr_types){.val_type = LSP_F64});
    }
    solve_it(ctx, &A, f);
    lsp_csr_free(ctx, &A);
}

Test(solve_threads, products_sums_and_transposes_have_the_bits_of_one_thread) {
    for (int i = 0; i < SHAPES; i++) {
        compare(shapes[i], all_verbs);
    }
}

Test(solve_threads, hierarchies_and_solvers_have_the_bits_of_one_thread) {
    static const char *const systems[] = {"gram:21936:60:104:3:3", "gram:30000:6000:5000:4:30", "poisson2d:90",
                                          "stencil27:14", "gram:4000:4000:4000:3:150"};
    for (int i = 0; i < 5; i++) {
        compare(systems[i], all_solvers);
    }
}

Test(solve_threads, figures_that_the_caller_sets_decide_and_no_others) {
    lsp_ctx *ctx = test_ctx(4);
    lsp_csr A = make_shape(ctx, shapes[0]);
    lsp_cache_figures slow;
    must(ctx, lsp_cache_model_figures(ctx, &slow));
    slow.start_seconds = 1; /* methods of two loops lose */
    cr_assert(method_of(ctx, &A, NULL) == LSP_SPMV_PACKED);
    cr_assert(method_of(ctx, &A, &slow) != LSP_SPMV_PACKED);
    cr_assert(method_of(ctx, &A, NULL) == LSP_SPMV_PACKED);
    lsp_csr_free(ctx, &A);
    lsp_ctx_destroy(ctx);
}
