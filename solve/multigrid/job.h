/* Inside solve/multigrid: the hierarchy. */
#ifndef LSP_SOLVE_MULTIGRID_JOB_H
#define LSP_SOLVE_MULTIGRID_JOB_H

#include "core/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a device computes by itself; all else is done by verbs of the library, which know where a matrix lies. */
typedef struct lsp_multigrid_backend lsp_multigrid_backend;

typedef struct lsp_level {
    /* The hierarchy. A of the finest level is a view of the caller's arrays. P leads from the next level to this one,
     * R is its transpose; the last level has neither, but `solution`: the inverse of its A as a full matrix. */
    lsp_csr A, P, R, solution;
    void *inverse; /* 1 / diagonal of A, of the vectors' type */
    double radius; /* spectral radius of diag(A)^-1 A, as estimated */
    /* For lsp_multigrid_update: T, the prolongation before smoothing; the plans of P = T - ..., R = P^T, R*A*P. */
    lsp_csr scaled, T; /* scaled: diag(A)^-1 A, with A's structure */
    lsp_spgemm_add_plan *smooth;
    lsp_csr_transpose_plan *transpose;
    lsp_spgemm_triple_plan *triple;
    /* The cycle. Vectors of the level: right-hand side, solution (not of the finest level), and two for work. */
    lsp_spmv_plan *a, *p, *r, *direct;
    void *b, *x, *w, *d;
} lsp_level;

struct lsp_multigrid {
    lsp_ctx *ctx; /* NULL once the context is destroyed */
    lsp_plan_life life;
    lsp_multigrid_options options; /* checked, defaults filled in */
    const lsp_multigrid_backend *backend;
    lsp_csr given; /* sizes and types of A */
    int64_t n;
    lsp_type type; /* of vectors */
    lsp_where where;
    int levels;
    lsp_level level[LSP_MULTIGRID_LEVELS];
    void *memory;         /* of the levels' vectors */
    double cycle_seconds; /* of a cycle, as predicted */
    int64_t version;      /* counts updates: what was recorded before one is out of date */
    lsp_multigrid_info info;
};

/* cycle.c. _prepare: plans and vectors of all levels, once the hierarchy stands. _update: new values in its matrices;
 * level[0].A is a view of other arrays. _release: frees them, also half made; after the end of the context (m->ctx is
 * NULL) it destroys plans only. */
lsp_status lsp_multigrid_prepare_cycle(lsp_multigrid *m);
lsp_status lsp_multigrid_update_cycle(lsp_multigrid *m);
void lsp_multigrid_release_cycle(lsp_multigrid *m);

/* The internal part of lsp_multigrid_apply, for checked vectors. */
lsp_status lsp_multigrid_run_cycle(lsp_multigrid *m, const void *b, void *x);

#ifdef __cplusplus
}
#endif
#endif
