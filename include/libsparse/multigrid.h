/* libsparse/multigrid.h: multigrid by smoothed aggregation: a preconditioner, and a solver by itself. Part of
 * libsparse.h, which states the rules for all functions. */
#ifndef LIBSPARSE_MULTIGRID_H
#define LIBSPARSE_MULTIGRID_H

#include "matrix.h"

LSP_BEGIN_DECLS

enum { LSP_MULTIGRID_LEVELS = 24 }; /* most levels */

typedef enum lsp_smoother { LSP_SMOOTHER_JACOBI = 0, LSP_SMOOTHER_CHEBYSHEV = 1 } lsp_smoother;
typedef enum lsp_cycle { LSP_CYCLE_V = 0, LSP_CYCLE_W = 1 } lsp_cycle;

/* All zero: for a scalar equation, one V-cycle. */
typedef struct lsp_multigrid_options {
    lsp_type type;         /* of vectors: LSP_F32 or LSP_F64. LSP_NONE: as the values, LSP_F64 for a pattern */
    lsp_type level_values; /* LSP_F32: the matrices below the finest level hold LSP_F32, which saves memory and time;
                              LSP_NONE: `type` */
    double threshold;      /* an entry is strong if |a_ij| > threshold * sqrt(|a_ii * a_jj|). 0: all but zeros are.
                              Below the finest level it is at least 0.02 */
    int64_t block;         /* unknowns of a node, numbered one after the other; 0: one */
    const void *near_null; /* vectors that A turns to almost 0, of `type`, where A lies: element i of vector k is
                              near_null[i * near_null_vectors + k]. NULL: `block` vectors, each constant in one
                              unknown of the nodes. Rotations of an elastic body belong here */
    int64_t near_null_vectors;
    lsp_smoother smoother;
    int sweeps; /* before and after the coarse level: of Jacobi, or the degree of Chebyshev; on the finest level, one
                   more below. 0: one of Jacobi, degree 2 */
    lsp_cycle cycle;
    int64_t coarsest;  /* most unknowns of the last level, which is solved directly: 1 to 4096; 0: as many as pay */
    double complexity; /* most operator complexity, from 1 on, INFINITY: any; 0: 3. A prolongation whose next level
                          would pass it is not smoothed, as in graphs, which smoothed ones fill up */
    int64_t reserved[LSP_RESERVED - 1];
} lsp_multigrid_options;

typedef struct lsp_multigrid_info {
    int levels;
    int64_t rows[LSP_MULTIGRID_LEVELS], nnz[LSP_MULTIGRID_LEVELS]; /* of A on each level, the finest first */
    double radius[LSP_MULTIGRID_LEVELS]; /* spectral radius of diag(A)^-1 A, as estimated; 0 on the last level */
    double grid_complexity, operator_complexity; /* sum of rows over rows[0], sum of nnz over nnz[0] */
    int64_t bytes;                               /* held where A lies */
    double setup_seconds; /* measured: of lsp_multigrid_create, or the last lsp_multigrid_update */
    char reason[160];     /* why the last level is the last, and which prolongations are not smoothed */
    int64_t reserved[LSP_RESERVED];
} lsp_multigrid_info;

typedef struct lsp_multigrid lsp_multigrid;

/* Makes a hierarchy for a square A of real values with a positive diagonal, checked as lsp_csr_check does; A's
 * arrays stay as they are while it exists. The hierarchy has the same bits on every device, for every number of
 * threads. LSP_ERR_ARGUMENT names the first row whose diagonal entry is missing or not positive. `options` may be NULL.
 * It belongs to the context. Waits for a GPU.
 *     lsp_multigrid_create(ctx, &A, NULL, &m); */
LSP_API lsp_status lsp_multigrid_create(lsp_ctx *ctx, const lsp_csr *A, const lsp_multigrid_options *options,
                                        lsp_multigrid **m);
LSP_API void lsp_multigrid_destroy(lsp_multigrid *m);
LSP_API lsp_status lsp_multigrid_get_info(const lsp_multigrid *m, lsp_multigrid_info *info);

/* Views of a level's matrix and of the prolongation from the next level to it, which the last level has not (zeroed).
 * Either may be NULL. They are valid until the next lsp_multigrid_update or the end of *m. */
LSP_API lsp_status lsp_multigrid_get_level(const lsp_multigrid *m, int level, lsp_csr *A, lsp_csr *P);

/* New values in the same structure. Aggregates stay, also where an entry becomes strong or weak; all else is computed
 * anew. The first call makes plans and takes longer. After a failure other than a wrong argument *m can only be updated
 * again or destroyed. Waits for a GPU. */
LSP_API lsp_status lsp_multigrid_update(lsp_multigrid *m, const lsp_csr *A);

/* x = about A^-1 * b by one cycle from 0. b and x do not overlap. On a GPU it allocates nothing, waits for nothing and
 * can be captured in a CUDA graph. */
LSP_API lsp_status lsp_multigrid_apply(lsp_multigrid *m, const void *b, void *x);

LSP_END_DECLS
#endif
