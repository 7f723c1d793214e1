/* Solves A x = b for b = (1, ..., 1) on a K x K grid by conjugate gradients, preconditioned by multigrid with smoothed
 * aggregation. Every step of the set-up and of the cycle is a call of the library, on either device:
 *
 *     multigrid 1000
 *     multigrid 2048 --device cuda */
#define _POSIX_C_SOURCE 199309L
#include <libsparse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRY(call)                                                                                                      \
    if ((status = (call)) != LSP_OK)                                                                                   \
    goto done

enum { MOST_LEVELS = 12, COARSEST = 64, COARSEST_SWEEPS = 30 };

typedef struct level {
    int64_t k;       /* nodes along an edge */
    lsp_csr A, P, R; /* P: from the next level to this one; R = P^T */
    lsp_csr S, I;    /* the smoother, 2/3 of the inverse diagonal of A; the identity, which copies vectors */
    lsp_csr b, x, r; /* vectors: the values of diagonal matrices */
} level;

typedef struct multigrid {
    int levels;
    level level[MOST_LEVELS];
} multigrid;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- set-up ---- */

/* S = 2/3 * diag(A)^-1. */
static lsp_status make_smoother(lsp_ctx *ctx, level *l) {
    const lsp_where where = l->A.where;
    lsp_status status;
    TRY(lsp_csr_from_diagonal(ctx, l->A.rows, NULL, LSP_F64, where, &l->I));
    TRY(lsp_csr_from_diagonal(ctx, l->A.rows, NULL, LSP_F64, where, &l->S));
    TRY(lsp_csr_from_diagonal(ctx, l->A.rows, NULL, LSP_F64, where, &l->b));
    TRY(lsp_csr_from_diagonal(ctx, l->A.rows, NULL, LSP_F64, where, &l->x));
    TRY(lsp_csr_from_diagonal(ctx, l->A.rows, NULL, LSP_F64, where, &l->r));
    TRY(lsp_csr_diagonal(ctx, &l->A, l->S.val));
    TRY(lsp_csr_apply(ctx, &l->S, LSP_APPLY_RECIPROCAL, 0));
    TRY(lsp_csr_apply(ctx, &l->S, LSP_APPLY_MULTIPLY, 2.0 / 3));
done:
    return status;
}

/* P = T - S*A*T, where T puts 3 x 3 nodes together; R = P^T; the next level's A = R*A*P. */
static lsp_status make_next(lsp_ctx *ctx, level *l, level *next) {
    lsp_csr on_host = {0}, T = {0}, smooth = {0};
    char name[32];
    lsp_status status;
    snprintf(name, sizeof name, "amg:%lld:T", (long long)l->k);
    next->k = (l->k + 2) / 3;
    TRY(lsp_generate(ctx, name, 1, NULL, &on_host));
    TRY(lsp_csr_copy(ctx, &on_host, &(lsp_csr_types){.place = lsp_place_of(l->A.where)}, &T));
    TRY(lsp_spgemm(ctx, &l->A, &T, NULL, &smooth, NULL));
    TRY(lsp_csr_scale(ctx, &smooth, l->S.val, NULL));
    TRY(lsp_csr_add(ctx, 1, &T, -1, &smooth, &l->P));
    TRY(lsp_csr_transpose(ctx, &l->P, &l->R));
    TRY(lsp_spgemm_triple(ctx, &l->R, &l->A, &l->P, NULL, &next->A, NULL));
done:
    lsp_csr_free(ctx, &on_host), lsp_csr_free(ctx, &T), lsp_csr_free(ctx, &smooth);
    return status;
}

static lsp_status set_up(lsp_ctx *ctx, multigrid *m) {
    lsp_status status;
    TRY(make_smoother(ctx, &m->level[0]));
    for (m->levels = 1; m->level[m->levels - 1].A.rows > COARSEST && m->levels < MOST_LEVELS; m->levels++) {
        TRY(make_next(ctx, &m->level[m->levels - 1], &m->level[m->levels]));
        TRY(make_smoother(ctx, &m->level[m->levels]));
    }
    TRY(lsp_ctx_sync(ctx));
done:
    return status;
}

/* ---- the cycle ---- */

/* y = alpha*A*x + beta*y */
static lsp_status product(lsp_ctx *ctx, double alpha, const lsp_csr *A, const void *x, double beta, void *y) {
    return lsp_spmv(ctx, A, NULL, &(lsp_spmv_vectors){.alpha = alpha, .beta = beta, .x = x, .y = y}, NULL);
}

/* r = b - A*x */
static lsp_status residual(lsp_ctx *ctx, const level *l, const void *b, const void *x) {
    lsp_status status;
    TRY(product(ctx, 1, &l->I, b, 0, l->r.val));
    TRY(product(ctx, -1, &l->A, x, 1, l->r.val));
done:
    return status;
}

/* x = about A^-1 * b: one V-cycle, smoothed before and after by a step of Jacobi. */
static lsp_status cycle(lsp_ctx *ctx, const multigrid *m, int at, const void *b, void *x) {
    const level *l = &m->level[at], *next = l + 1;
    const int sweeps = at + 1 < m->levels ? 1 : COARSEST_SWEEPS;
    lsp_status status;
    TRY(product(ctx, 1, &l->S, b, 0, x));
    if (at + 1 < m->levels) {
        TRY(residual(ctx, l, b, x));
        TRY(product(ctx, 1, &l->R, l->r.val, 0, next->b.val));
        TRY(cycle(ctx, m, at + 1, next->b.val, next->x.val));
        TRY(product(ctx, 1, &l->P, next->x.val, 1, x));
    }
    for (int sweep = 0; sweep < sweeps; sweep++) {
        TRY(residual(ctx, l, b, x));
        TRY(product(ctx, 1, &l->S, l->r.val, 1, x));
    }
done:
    return status;
}

static lsp_status precondition(void *user, lsp_ctx *ctx, const void *r, void *z) { return cycle(ctx, user, 0, r, z); }

int main(int argc, char **argv) {
    const lsp_where device = argc > 3 && strcmp(argv[3], "cuda") == 0 ? LSP_CUDA : LSP_HOST;
    const lsp_ctx_options options = {.device = device};
    multigrid m = {.levels = 0};
    const lsp_solve_options how = {
        .precondition = LSP_PRECONDITION_USER, .precondition_apply = precondition, .precondition_user = &m};
    lsp_csr on_host, b, x;
    lsp_solve_info info;
    lsp_status status;
    lsp_ctx *ctx = NULL;
    char name[32], error[256] = "";
    m.level[0].k = argc > 1 ? atoll(argv[1]) : 100;
    if (lsp_ctx_create(&ctx, &options, error, sizeof error) != LSP_OK) {
        fprintf(stderr, "multigrid: %s\n", error);
        return 1;
    }
    snprintf(name, sizeof name, "poisson2d:%lld", (long long)m.level[0].k);
    TRY(lsp_generate(ctx, name, 1, NULL, &on_host));
    TRY(lsp_csr_copy(ctx, &on_host, &(lsp_csr_types){.place = lsp_place_of(device)}, &m.level[0].A));
    const double start = seconds();
    TRY(set_up(ctx, &m));
    printf("%d levels, set up in %.3g s\n", m.levels, seconds() - start);
    TRY(lsp_csr_from_diagonal(ctx, on_host.rows, NULL, LSP_F64, device, &b));
    TRY(lsp_csr_from_diagonal(ctx, on_host.rows, NULL, LSP_F64, device, &x));
    TRY(lsp_cg(ctx, &m.level[0].A, b.val, &how, x.val, &info));
    printf("%lld unknowns: %s (%s, %.3g s)\n", (long long)on_host.rows, info.reason, info.solver, info.solve_seconds);
done:
    if (status != LSP_OK) {
        fprintf(stderr, "multigrid: %s\n", lsp_last_error(ctx));
    }
    lsp_ctx_destroy(ctx); /* frees the matrices too */
    return status == LSP_OK ? 0 : 1;
}
