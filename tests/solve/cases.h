/* Systems for the tests of solvers on either device, plain code that solves them, and vectors where the system lies. */
#pragma once

#include "../matrices.h"
#include "core/cuda.h"
#include "solve/solve.h"

/* ---- a system ---- */

typedef struct problem {
    lsp_ctx *ctx;
    lsp_csr A;     /* on the host */
    lsp_csr there; /* where the context works */
    int64_t n;
    lsp_where where;
    lsp_type type; /* of the vectors */
    double *b;     /* on the host */
} problem;

static inline lsp_where place_of(const lsp_ctx *ctx) { return ctx->options.device; }

/* b[i]: between -1 and 1, never 0. */
static inline double *random_vector(int64_t n, uint64_t seed) {
    double *v = malloc((size_t)(n + 1) * sizeof *v);
    for (int64_t i = 0; i < n; i++) {
        v[i] = ((double)test_below(&seed, 2001) - 1000.5) / 1001;
    }
    return v;
}

/* Takes over A. */
static inline problem make_system(lsp_ctx *ctx, lsp_csr A, lsp_type type, uint64_t seed) {
    problem s = {.ctx = ctx, .A = A, .n = A.rows, .where = place_of(ctx), .type = type};
    s.b = random_vector(s.n, seed);
    for (int64_t i = 0; i < s.n && type == LSP_F32; i++) {
        s.b[i] = (double)(float)s.b[i];
    }
    s.there = A;
    if (s.where == LSP_CUDA) {
        lsp_csr_types types = lsp_types_of(&A);
        types.place = LSP_PLACE_CUDA;
        must(ctx, lsp_csr_copy(ctx, &A, &types, &s.there));
    }
    return s;
}

static inline void free_system(problem *s) {
    if (s->where == LSP_CUDA) {
        lsp_csr_free(s->ctx, &s->there);
    }
    lsp_csr_free(s->ctx, &s->A);
    free(s->b);
}

/* Replaces A by (A + A^T) / 2 with a diagonal that exceeds the rest of its row: symmetric, positive definite. */
static inline void make_definite(lsp_ctx *ctx, lsp_csr *A) {
    lsp_csr T, S;
    must(ctx, lsp_csr_transpose(ctx, A, &T));
    must(ctx, lsp_csr_add(ctx, 0.5, A, 0.5, &T, &S));
    for (int64_t i = 0; i < S.rows; i++) {
        double rest = 0;
        int64_t diagonal = -1;
        for (int64_t k = lsp_csr_rowptr(&S, i); k < lsp_csr_rowptr(&S, i + 1); k++) {
            if (lsp_csr_col(&S, k) == i) {
                diagonal = k;
            } else {
                rest += fabs(lsp_value_at(&S, k).re);
            }
        }
        test_set_value(&S, diagonal, 1.25 * rest + 1 + (double)(i % 4), 0);
    }
    lsp_csr_free(ctx, A);
    lsp_csr_free(ctx, &T);
    *A = S;
}

/* A generated matrix ("spd:NAME": made symmetric and positive definite), or "random:N": N x N, about six entries a row,
 * diagonally dominant, not symmetric. */
static inline lsp_csr make_matrix(lsp_ctx *ctx, const char *name, lsp_csr_types types) {
    lsp_csr A;
    long n = 0;
    if (sscanf(name, "random:%ld", &n) == 1) {
        uint64_t seed = 11;
        const int64_t entries = 6;
        types.val_type = types.val_type == LSP_NONE ? LSP_F64 : types.val_type;
        must(ctx, lsp_csr_create(ctx, n, n, n * entries, &types, &A));
        for (int64_t i = 0; i < n; i++) {
            lsp_index_set(A.rowptr, A.rowptr_type, i + 1, (i + 1) * entries);
            for (int64_t k = 0; k < entries; k++) { /* the diagonal is the third entry: rows are not sorted */
                const bool diagonal = k == 2;
                lsp_index_set(A.col, A.col_type, i * entries + k, diagonal ? i : test_below(&seed, n));
                test_set_value(&A, i * entries + k,
                               diagonal ? 8 + (double)(i % 5) : ((double)test_below(&seed, 65) - 32) / 32, 0);
            }
        }
    } else {
        const bool definite = strncmp(name, "spd:", 4) == 0;
        must(ctx, lsp_generate(ctx, definite ? name + 4 : name, 3, &types, &A));
        if (definite) {
            make_definite(ctx, &A);
        }
    }
    return A;
}

static inline problem named_system(lsp_ctx *ctx, const char *name, lsp_type type) {
    return make_system(ctx, make_matrix(ctx, name, (lsp_csr_types){.val_type = type}), type, 5);
}

/* A dense matrix, row by row. */
static inline lsp_csr dense_matrix(lsp_ctx *ctx, int64_t n, const double *values) {
    lsp_csr A;
    must(ctx, lsp_csr_create(ctx, n, n, n * n, &(lsp_csr_types){.val_type = LSP_F64}, &A));
    for (int64_t i = 0; i < n; i++) {
        lsp_index_set(A.rowptr, A.rowptr_type, i + 1, (i + 1) * n);
        for (int64_t k = 0; k < n; k++) {
            lsp_index_set(A.col, A.col_type, i * n + k, k);
            ((double *)A.val)[i * n + k] = values[i * n + k];
        }
    }
    return A;
}

/* ---- vectors where the system lies ---- */

/* `v` in the system's type, in its place. lsp_free it. */
static inline void *send(const problem *s, const double *v) {
    void *to = NULL;
    const size_t bytes = lsp_type_bytes(s->type);
    char *here = malloc((size_t)(s->n + 1) * bytes);
    for (int64_t i = 0; i < s->n; i++) {
        if (s->type == LSP_F64) {
            ((double *)(void *)here)[i] = v[i];
        } else {
            ((float *)(void *)here)[i] = (float)v[i];
        }
    }
    must(s->ctx, lsp_alloc(s->ctx, s->where, s->n, bytes, &to));
    if (s->where == LSP_CUDA) {
        must(s->ctx, lsp_cuda_copy(s->ctx, to, LSP_CUDA, here, LSP_HOST, s->n * (int64_t)bytes));
    } else if (s->n > 0) {
        memcpy(to, here, (size_t)s->n * bytes);
    }
    free(here);
    return to;
}

/* As doubles on the host. Frees `from`. */
static inline double *receive(const problem *s, void *from) {
    const size_t bytes = lsp_type_bytes(s->type);
    char *here = malloc((size_t)(s->n + 1) * bytes);
    double *v = malloc((size_t)(s->n + 1) * sizeof *v);
    if (s->where == LSP_CUDA) {
        must(s->ctx, lsp_cuda_copy(s->ctx, here, LSP_HOST, from, LSP_CUDA, s->n * (int64_t)bytes));
    } else if (s->n > 0) {
        memcpy(here, from, (size_t)s->n * bytes);
    }
    for (int64_t i = 0; i < s->n; i++) {
        v[i] = s->type == LSP_F64 ? ((double *)(void *)here)[i] : (double)((float *)(void *)here)[i];
    }
    free(here);
    lsp_free(s->ctx, from);
    return v;
}

/* ---- plain code ---- */

/* |b - A x| / |b|, in doubles on the host. */
static inline double true_residual(const problem *s, const double *x) {
    double rr = 0, bb = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double r = s->b[i];
        for (int64_t k = lsp_csr_rowptr(&s->A, i); k < lsp_csr_rowptr(&s->A, i + 1); k++) {
            r -= lsp_value_at(&s->A, k).re * x[lsp_csr_col(&s->A, k)];
        }
        rr += r * r;
        bb += s->b[i] * s->b[i];
    }
    return bb > 0 ? sqrt(rr / bb) : sqrt(rr);
}

/* Solves A x = b by elimination with row exchanges; A is dense, row by row, and is destroyed. */
static inline void eliminate(int64_t n, double *A, double *x) {
    for (int64_t c = 0; c < n; c++) {
        int64_t best = c;
        for (int64_t i = c + 1; i < n; i++) {
            best = fabs(A[i * n + c]) > fabs(A[best * n + c]) ? i : best;
        }
        for (int64_t k = 0; k < n; k++) {
            const double keep = A[c * n + k];
            A[c * n + k] = A[best * n + k];
            A[best * n + k] = keep;
        }
        const double keep = x[c];
        x[c] = x[best];
        x[best] = keep;
        for (int64_t i = c + 1; i < n; i++) {
            const double factor = A[i * n + c] / A[c * n + c];
            for (int64_t k = c; k < n; k++) {
                A[i * n + k] -= factor * A[c * n + k];
            }
            x[i] -= factor * x[c];
        }
    }
    for (int64_t c = n; c-- > 0;) {
        for (int64_t k = c + 1; k < n; k++) {
            x[c] -= A[c * n + k] * x[k];
        }
        x[c] /= A[c * n + c];
    }
}

/* ---- a solve ---- */

typedef struct solved {
    lsp_status status;
    lsp_solve_info info;
    double *x; /* on the host; free it */
} solved;

/* Solves with the first guess x0, or NULL. With a plan, and without, by turns. */
static inline solved solve(const problem *s, bool bicgstab, lsp_solve_options options, const double *x0) {
    solved out = {0};
    void *b = send(s, s->b), *x = send(s, x0 != NULL ? x0 : s->b);
    const bool is_operator = options.operator_apply != NULL;
    options.type = s->type;
    options.use_x0 = x0 != NULL;
    options.n = is_operator ? s->n : 0;
    options.where = is_operator ? s->where : LSP_HOST;
    out.status = (bicgstab ? lsp_bicgstab : lsp_cg)(s->ctx, is_operator ? NULL : &s->there, b, &options, x, &out.info);
    lsp_free(s->ctx, b);
    out.x = receive(s, x);
    return out;
}

/* Both solvers, each by two methods of spmv. */
#define EACH_SOLVER(k) for (int k = 0; k < 4; k++)
#define SOLVER(k) (k) & 1
#define METHOD(k) .method = (k) >> 1 ? LSP_SPMV_ROWS : LSP_SPMV_AUTO

/* ---- the same test on both devices ---- */

static inline void on_the_cpu(void (*test)(lsp_ctx *ctx)) {
    for (int threads = 3; threads >= 1; threads -= 2) {
        lsp_ctx *ctx = test_ctx(threads);
        test(ctx);
        lsp_ctx_destroy(ctx);
    }
}
static inline void on_the_gpu(void (*test)(lsp_ctx *ctx)) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    test(ctx);
    lsp_ctx_destroy(ctx);
}
