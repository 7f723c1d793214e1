/* Cases of sparse matrix times vectors: matrices of every kind, vectors in every layout, and a comparison of one call
 * or plan with plain code, on either device. Numbers are small integers, so that sums are exact in any order. */
#pragma once

#include "../matrices.h"
#include "core/cuda.h"
#include "spmv/spmv.h"

/* ---- a case ---- */

typedef struct request {
    const char *matrix;                           /* a name of make_matrix */
    bool transpose, planned, by_columns, special; /* special: NaN and infinities in A, x and y */
    bool factors_at;                              /* alpha_at and beta_at */
    bool wide_rowptr, wide_col;
    lsp_type val_type, type;
    lsp_semiring semiring;
    lsp_spmv_method method;
    int passes;
    int64_t vectors;      /* 0: one */
    int64_t x_gap, y_gap; /* strides beyond dense ones */
    double alpha, beta;
    uint64_t seed;
} request;

/* What a failure prints. */
typedef struct request_text {
    char text[320];
} request_text;
static inline request_text describe(const request *r) {
    request_text t;
    snprintf(
        t.text, sizeof t.text,
        "%s%s%s%s, %s, %s, values %s, vectors %lld of %s%s, gaps %lld %lld, rowptr %d, col %d, passes %d, %g %g%s, "
        "seed %llu",
        r->planned ? "planned " : "", r->matrix, r->transpose ? " transposed" : "", r->special ? ", special" : "",
        lsp_spmv_method_name(r->method), lsp_semiring_name(r->semiring), lsp_type_name(r->val_type),
        (long long)r->vectors, lsp_type_name(r->type), r->by_columns ? " by columns" : "", (long long)r->x_gap,
        (long long)r->y_gap, r->wide_rowptr ? 64 : 32, r->wide_col ? 64 : 32, r->passes, r->alpha, r->beta,
        r->factors_at ? " there" : "", (unsigned long long)r->seed);
    return t;
}

/* ---- matrices ---- */

/* The families of the benchmarks, small, and matrices that a method may forget. */
static const char *const matrices[] = {
    "poisson2d:13",       "poisson2d:40",      "stencil27:7",  "fem3:5",       "er:700:8",         "er:3000:2",
    "rmat:9:8",           "web:900:1.8:300",   "perm:500",     "nascg:S",      "random:60:50:400", "random:7:900:3000",
    "random:900:7:2000",  "random:0:0:0",      "random:0:9:0", "random:9:0:0", "random:70:70:0",   "random:1:1:1",
    "random:1:4000:9000", "random:4000:1:900", "row:400:5000", "last:333:2100"};
enum { MATRICES = sizeof matrices / sizeof *matrices };

/* One row of `entries` distinct columns among rows of one entry, in row `at`. */
static inline lsp_csr one_long_row(lsp_ctx *ctx, int64_t rows, int64_t entries, int64_t at, lsp_csr_types types) {
    lsp_csr A;
    must(ctx, lsp_csr_create(ctx, rows, entries, rows - 1 + entries, &types, &A));
    int64_t k = 0;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < (i == at ? entries : 1); j++) {
            lsp_index_set(A.col, A.col_type, k, i == at ? j : (i * 37) % entries);
            k++;
        }
        lsp_index_set(A.rowptr, A.rowptr_type, i + 1, k);
    }
    return A;
}

/* "random:ROWS:COLS:NNZ" (unsorted, with duplicates and empty rows, a fifth in row 0), "row:" and "last:ROWS:NNZ" (a
 * long row in the middle, at the end), or a name of lsp_generate. On the host. */
static inline lsp_csr make_matrix(lsp_ctx *ctx, const request *r) {
    lsp_csr A;
    long long rows, cols, nnz;
    uint64_t state = r->seed + 5;
    const lsp_csr_types types = {.rowptr_type = r->wide_rowptr ? LSP_I64 : LSP_I32,
                                 .col_type = r->wide_col ? LSP_I64 : LSP_I32,
                                 .val_type = r->val_type,
                                 .drop_values = r->val_type == LSP_NONE};
    if (sscanf(r->matrix, "random:%lld:%lld:%lld", &rows, &cols, &nnz) == 3) {
        A = test_random_csr(ctx, rows, cols, nnz, types, r->seed);
    } else if (sscanf(r->matrix, "row:%lld:%lld", &rows, &nnz) == 2) {
        A = one_long_row(ctx, rows, nnz, rows / 2, types);
    } else if (sscanf(r->matrix, "last:%lld:%lld", &rows, &nnz) == 2) {
        A = one_long_row(ctx, rows, nnz, rows - 1, types);
    } else {
        must(ctx, lsp_generate(ctx, r->matrix, 1, &types, &A));
    }
    for (int64_t k = 0; k < A.nnz; k++) {
        const int64_t n = test_below(&state, 17) - 8, rare = test_below(&state, 400);
        test_set_value(&A, k, r->special && rare < 3 ? (double[]){NAN, INFINITY, -INFINITY}[rare] : (double)n, 0);
    }
    return A;
}

/* ---- vectors, on the host in double ---- */

static inline double element(uint64_t *state, bool special) {
    const int64_t n = test_below(state, 33) - 16, rare = test_below(state, 300);
    return special && rare < 3 ? (double[]){NAN, INFINITY, -INFINITY}[rare] : (double)n;
}

typedef struct block {           /* X or Y */
    int64_t rows, stride, items; /* `items` with all gaps */
    double *at;
} block;

static inline int64_t vectors_of(const request *r) { return lsp_max(r->vectors, 1); }

static inline int64_t at_index(const request *r, const block *b, int64_t i, int64_t v) {
    return r->by_columns ? v * b->stride + i : i * b->stride + v;
}

enum { GUARD = 3 }; /* elements after each block that must stay */

static inline block make_block(const request *r, int64_t rows, int64_t gap, uint64_t seed) {
    block b = {.rows = rows};
    uint64_t state = seed;
    b.stride = (r->by_columns ? rows : vectors_of(r)) + gap;
    b.items = (r->by_columns ? vectors_of(r) : rows) * b.stride + GUARD;
    b.at = malloc((size_t)b.items * sizeof *b.at);
    for (int64_t i = 0; i < b.items; i++) {
        b.at[i] = element(&state, r->special);
    }
    return b;
}

/* A copy in the type of the vectors, in either place. */
static inline void *place_block(lsp_ctx *ctx, const request *r, const block *b, lsp_where where) {
    const lsp_type type = r->type;
    const int64_t bytes = b->items * (int64_t)lsp_type_bytes(type);
    void *host = malloc((size_t)bytes), *there = NULL;
    for (int64_t i = 0; i < b->items; i++) {
        if (type == LSP_F32) {
            ((float *)host)[i] = (float)b->at[i];
        } else {
            ((double *)host)[i] = b->at[i];
        }
    }
    if (where == LSP_HOST) {
        return host;
    }
    must(ctx, lsp_alloc(ctx, LSP_CUDA, bytes, 1, &there));
    must(ctx, lsp_cuda_copy(ctx, there, LSP_CUDA, host, LSP_HOST, bytes));
    free(host);
    return there;
}

static inline void drop(lsp_ctx *ctx, lsp_where where, void *memory) {
    if (where == LSP_HOST) {
        free(memory);
    } else {
        lsp_free(ctx, memory);
    }
}

/* ---- plain code ---- */

static inline double plain_product(lsp_semiring semiring, double a, double x) {
    return semiring == LSP_MIN_PLUS    ? a + x
           : semiring == LSP_OR_AND    ? a != 0 && x != 0
           : semiring == LSP_PLUS_PAIR ? 1
                                       : a * x;
}
static inline double plain_join(lsp_semiring semiring, double a, double b) {
    if (semiring == LSP_PLUS_TIMES || semiring == LSP_PLUS_PAIR) {
        return a + b;
    }
    return a != a || b != b ? (double)NAN : (semiring == LSP_MIN_PLUS) == (a < b) ? a : b;
}
static inline double plain_empty(lsp_semiring semiring) {
    return semiring == LSP_MIN_PLUS ? (double)INFINITY : semiring == LSP_MAX_TIMES ? -(double)INFINITY : 0;
}

/* y = alpha*op(A)*x + beta*y for blocks on the host. Entries outside are left out. */
static inline void plain_spmv(const request *r, const lsp_csr *A, const block *x, block *y) {
    const int64_t vectors = vectors_of(r), rows = r->transpose ? A->cols : A->rows;
    double *sums = calloc((size_t)(rows * vectors + 1), sizeof *sums);
    for (int64_t i = 0; i < rows * vectors; i++) {
        sums[i] = plain_empty(r->semiring);
    }
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t k = lsp_csr_rowptr(A, i); k < lsp_csr_rowptr(A, i + 1); k++) {
            const int64_t j = lsp_csr_col(A, k), to = r->transpose ? j : i, from = r->transpose ? i : j;
            for (int64_t v = 0; j >= 0 && j < A->cols && v < vectors; v++) {
                const double a = lsp_value_at(A, k).re, b = x->at[at_index(r, x, from, v)];
                double *sum = &sums[to * vectors + v];
                *sum = plain_join(r->semiring, *sum, plain_product(r->semiring, a, b));
            }
        }
    }
    for (int64_t i = 0; i < rows * vectors; i++) {
        double *to = &y->at[at_index(r, y, i / vectors, i % vectors)];
        *to = r->semiring == LSP_PLUS_TIMES ? (r->beta == 0 ? r->alpha * sums[i] : r->alpha * sums[i] + r->beta * *to)
              : r->beta == 0                ? sums[i]
              : r->semiring == LSP_OR_AND   ? *to != 0 || sums[i] != 0
                                            : plain_join(r->semiring, *to, sums[i]);
    }
    free(sums);
}

/* ---- ours ---- */

static inline lsp_spmv_options options_of(const request *r) {
    return (lsp_spmv_options){.transpose = r->transpose,
                              .semiring = r->semiring,
                              .type = r->type,
                              .vectors = r->vectors,
                              .by_columns = r->by_columns,
                              .method = r->method,
                              .passes = r->method == LSP_SPMV_GATHER ? r->passes : 0};
}

/* One case: the matrix in both places, the vectors in both. */
typedef struct spmv_case {
    lsp_csr host, A; /* equal arrays, or a copy on the GPU */
    block x, y;
    void *x_there, *y_there, *factors_there;
    lsp_spmv_vectors vectors;
} spmv_case;

static inline spmv_case make_case(lsp_ctx *ctx, const request *r) {
    spmv_case c = {.host = make_matrix(ctx, r)};
    const lsp_where where = ctx->options.device;
    c.x = make_block(r, r->transpose ? c.host.rows : c.host.cols, r->x_gap, r->seed + 11);
    c.y = make_block(r, r->transpose ? c.host.cols : c.host.rows, r->y_gap, r->seed + 12);
    lsp_csr_types types = lsp_types_of(&c.host);
    types.place = lsp_place_of(where);
    must(ctx, lsp_csr_copy(ctx, &c.host, &types, &c.A));
    c.x_there = place_block(ctx, r, &c.x, where);
    c.y_there = place_block(ctx, r, &c.y, where);
    c.vectors = (lsp_spmv_vectors){.alpha = r->alpha,
                                   .beta = r->beta,
                                   .x = c.x_there,
                                   .y = c.y_there,
                                   .x_stride = r->x_gap > 0 ? c.x.stride : 0,
                                   .y_stride = r->y_gap > 0 ? c.y.stride : 0};
    if (r->factors_at) {
        double numbers[2] = {r->alpha, r->beta};
        const block factors = {.items = 2, .at = numbers};
        c.factors_there = place_block(ctx, r, &factors, where);
        c.vectors.alpha_at = c.factors_there;
        c.vectors.beta_at = (char *)c.factors_there + lsp_type_bytes(r->type);
        c.vectors.alpha = c.vectors.beta = 77;
    }
    return c;
}

static inline void free_case(lsp_ctx *ctx, spmv_case *c) {
    const lsp_where where = ctx->options.device;
    must(ctx, lsp_csr_free(ctx, &c->host));
    must(ctx, lsp_csr_free(ctx, &c->A));
    drop(ctx, where, c->x_there);
    drop(ctx, where, c->y_there);
    drop(ctx, where, c->factors_there);
    free(c->x.at);
    free(c->y.at);
}

/* One call, or a plan that is made, used once and destroyed. */
static inline lsp_status multiply_so(lsp_ctx *ctx, const request *r, const spmv_case *c) {
    const lsp_spmv_options options = options_of(r);
    if (!r->planned) {
        return lsp_spmv(ctx, &c->A, &options, &c->vectors, NULL);
    }
    lsp_spmv_plan *plan = NULL;
    lsp_status status = lsp_spmv_plan_create(ctx, &c->A, &options, &plan);
    if (status == LSP_OK) {
        status = lsp_spmv_execute(plan, &c->vectors);
        lsp_spmv_plan_destroy(plan);
    }
    return status;
}

/* The elements of Y as they are now, gaps and guard too. Free them. */
static inline double *fetch_y(lsp_ctx *ctx, const request *r, const spmv_case *c) {
    const int64_t bytes = c->y.items * (int64_t)lsp_type_bytes(r->type);
    double *y = malloc((size_t)c->y.items * sizeof *y);
    void *back = malloc((size_t)bytes);
    if (ctx->options.device == LSP_HOST) {
        memcpy(back, c->y_there, (size_t)bytes);
    } else {
        must(ctx, lsp_cuda_copy(ctx, back, LSP_HOST, c->y_there, LSP_CUDA, bytes));
    }
    for (int64_t i = 0; i < c->y.items; i++) {
        y[i] = r->type == LSP_F32 ? (double)((float *)back)[i] : ((double *)back)[i];
    }
    free(back);
    return y;
}

/* Y must be what c->y says: equal numbers, and NaN where NaN is. */
static inline void must_equal(lsp_ctx *ctx, const request *r, const spmv_case *c) {
    double *y = fetch_y(ctx, r, c);
    for (int64_t i = 0; i < c->y.items; i++) {
        cr_assert(lsp_same_number(y[i], c->y.at[i]), "%s: element %lld of %lld is %g, not %g", describe(r).text,
                  (long long)i, (long long)c->y.items, y[i], c->y.at[i]);
    }
    free(y);
}

static inline void must_run(lsp_ctx *ctx, const request *r, lsp_status status) {
    cr_assert(status == LSP_OK, "%s: %s: %s", describe(r).text, lsp_status_name(status), lsp_last_error(ctx));
    status = lsp_ctx_sync(ctx);
    cr_assert(status == LSP_OK, "%s: %s: %s", describe(r).text, lsp_status_name(status), lsp_last_error(ctx));
}

/* Must every job of this kind be taken? */
static inline bool always_offered(lsp_ctx *ctx, lsp_spmv_method method) {
    return method == LSP_SPMV_AUTO || method == LSP_SPMV_ROWS || method == LSP_SPMV_EQUAL ||
           (method == LSP_SPMV_REFERENCE && ctx->options.device == LSP_HOST);
}

/* Runs a case twice: equal numbers, untouched gaps. Returns whether the method takes it; a refusal leaves Y alone. */
static inline bool run_case(lsp_ctx *ctx, const request *r) {
    spmv_case c = make_case(ctx, r);
    lsp_status status = multiply_so(ctx, r, &c);
    const bool taken = status != LSP_ERR_UNSUPPORTED;
    if (!taken) {
        cr_assert(!always_offered(ctx, r->method), "%s: %s", describe(r).text, lsp_last_error(ctx));
        cr_assert(strstr(lsp_last_error(ctx), lsp_spmv_method_name(r->method)), "%s", lsp_last_error(ctx));
    } else {
        must_run(ctx, r, status);
        plain_spmv(r, &c.host, &c.x, &c.y);
    }
    must_equal(ctx, r, &c);
    free_case(ctx, &c);
    return taken;
}

static inline const lsp_spmv_device *device_here(const lsp_ctx *ctx) {
    return ctx->options.device == LSP_HOST ? &lsp_spmv_cpu : &lsp_spmv_cuda;
}
static inline const lsp_spmv_engine *engine_here(lsp_ctx *ctx, int method) { return device_here(ctx)->engines[method]; }

/* Prepares a plan again, with other sizes. */
static inline lsp_status resize(lsp_spmv_plan *plan, const lsp_spmv_sizes *sizes) {
    plan->sizes = *sizes;
    return lsp_spmv_prepare(plan);
}

/* ---- the same test on both devices ---- */

/* Tests with many similar cases run one of every `one_in`. */
static int one_in = 1;

static inline void on_the_cpu(void (*test)(lsp_ctx *ctx)) {
    one_in = test_one_in();
    for (int threads = 3; threads >= 1; threads -= 2) {
        lsp_ctx *ctx = test_ctx(threads);
        test(ctx);
        lsp_ctx_destroy(ctx);
    }
}
static inline void on_the_gpu(void (*test)(lsp_ctx *ctx)) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    one_in = (LSP_EMULATED ? 5 : 1) * test_one_in();
    test(ctx);
    lsp_ctx_destroy(ctx);
}
