/* Inside solve/multigrid: the hierarchy. */
#pragma once

#include "solve/job.h"

LSP_BEGIN_DECLS

typedef struct lsp_level {
    /* The hierarchy. A of the finest level is a view of the caller's arrays. P leads from the next level to this one,
     * R is its transpose; the last level has neither. `solution`, of the last level alone: an inverse of its A as a
     * full matrix of the vectors' type, whose rows and columns are 0 for unknowns that A leaves free. Without arrays
     * (rowptr is NULL): the last level is too large for it, and is smoothed only. */
    lsp_csr A, P, R, solution;
    void *inverse; /* 1 / diagonal of A, of the vectors' type; 0 for unknowns without an equation, below the finest */
    double radius; /* spectral radius of diag(A)^-1 A, as estimated from below */
    /* For lsp_multigrid_update: T, the prolongation before smoothing; the plans of A*T, P^T, R*A*P, NULL
     * until the first one. */
    lsp_csr T;
    lsp_spgemm_plan *product;
    lsp_csr_transpose_plan *transpose;
    lsp_spgemm_triple_plan *triple;
    bool planned; /* P, R and the next A were made by these plans */
    bool plain;   /* P is T: smoothed, it would have made the next level too full. There is no product, no transpose */
    /* The cycle. Vectors of the level: right-hand side, solution (not of the finest level), and two for work. */
    lsp_spmv_plan *a, *p, *r, *direct;
    void *b, *x, *w, *d;
} lsp_level;

struct lsp_multigrid {
    lsp_ctx *ctx; /* NULL once the context is destroyed */
    lsp_plan_life life;
    lsp_multigrid_options options; /* checked, defaults filled in; near_null is NULL after the set-up */
    lsp_csr given;                 /* sizes and types of A */
    int64_t n;
    lsp_type type;   /* of vectors */
    lsp_type values; /* of P and R, and of A below the finest level */
    lsp_where where;
    double *scale; /* during the set-up: of the level's diagonal, which is rounding if it is 8 eps of this; NULL on the
                      finest level */
    bool broken;   /* an update failed half-way */
    int levels;
    lsp_level level[LSP_MULTIGRID_LEVELS];
    void *memory;         /* of the levels' vectors */
    double cycle_seconds; /* of a cycle, as predicted */
    int64_t version;      /* counts updates: what was recorded before one is out of date */
    lsp_multigrid_info info;
};

/* cycle.c. _prepare: plans and vectors of all levels, once the hierarchy stands. _update: new values in its matrices;
 * level[0].A is a view of other arrays. */
lsp_status lsp_multigrid_prepare_cycle(lsp_multigrid *m);
lsp_status lsp_multigrid_update_cycle(lsp_multigrid *m);

/* The internal part of lsp_multigrid_apply, for checked vectors. */
lsp_status lsp_multigrid_run_cycle(lsp_multigrid *m, const void *b, void *x);

LSP_END_DECLS
