/* Conjugate gradients in one persistent kernel on a GPU, for systems whose vectors fit the shared memory of all
 * multiprocessors together: A, b and x lie on the GPU, vectors and sums are f64. Each multiprocessor keeps a slice of p
 * in shared memory for the whole solve and multiplies the columns of A that belong to it. */
#pragma once

#include "solve/job.h"

LSP_BEGIN_DECLS

/* How the matrix is cut. Every 0 is chosen from the matrix and the chip; tests and the tuning program set them. */
typedef struct lsp_resident_shape {
    int64_t slice; /* most unknowns of a column block, at most 65,534 and what shared memory holds */
    int columns;   /* column blocks */
    int chunks;    /* row chunks of each column block; columns * chunks blocks of the kernel run together */
    int lanes;     /* of a row: 1, 2 or 4 */
    int threads;   /* of a block: a multiple of 32, at most 768, at least columns * chunks */
    int dots;      /* who sums p*A*p: LSP_RESIDENT_DOTS_... */
    int64_t stash; /* bytes of the matrix that each block keeps in shared memory; -1: none; 0: what is left */
} lsp_resident_shape;
enum {
    LSP_RESIDENT_DOTS_BLOCKS = 1, /* the blocks, from their partial sums: they keep p of their rows in shared memory */
    LSP_RESIDENT_DOTS_OWNERS      /* the owners of the rows, after another barrier */
};

typedef struct lsp_resident lsp_resident;

/* Can A be solved this way, and is that likely to be faster than one kernel an operation? A is square, on the GPU, with
 * values of f64, f32 or none. longest_row: its most entries in a row, 0 if unknown. `shape` may be NULL. */
bool lsp_resident_fits(lsp_ctx *ctx, const lsp_csr *A, int64_t longest_row, const lsp_resident_shape *shape);

/* Copies A, which was checked (rows and columns inside the matrix; any order of columns, repeats allowed), into the
 * kernel's layout. Waits for the GPU. LSP_ERR_UNSUPPORTED if it does not fit, or if the driver refuses to run all
 * blocks together: the caller then solves in another way. It is a plan, which lsp_plan_end ends. */
lsp_status lsp_resident_create(lsp_ctx *ctx, const lsp_csr *A, const lsp_resident_shape *shape, lsp_resident **plan);
/* New values in the structure of create's A. Waits for nothing. */
lsp_status lsp_resident_update(lsp_ctx *ctx, lsp_resident *plan, const lsp_csr *A);
int64_t lsp_resident_entries(const lsp_resident *plan);                           /* stored, with padding */
void lsp_resident_get_shape(const lsp_resident *plan, lsp_resident_shape *shape); /* as it was chosen */

typedef struct lsp_resident_result { /* of the kernel, which has no registers for a lsp_solve_state */
    int end, cause;
    int64_t iteration;
    double bb, rr, rz, denominator;
} lsp_resident_result;

/* A round of A x = b, whose state before it is *s; x of the state is on the GPU, the history on the host. b and
 * inverse, the diagonal's inverse for Jacobi or NULL, are on the GPU. use_x0: x is read, else it begins as 0. Waits. x
 * holds the last iterate whose residual is finite. */
lsp_status lsp_resident_cg(lsp_ctx *ctx, const lsp_resident *plan, const double *b, const double *inverse, bool use_x0,
                           lsp_solve_state *s);

/* The NAS benchmark: `iterations` outer iterations from x = (1, ..., 1), of 25 steps and one residual each, in one
 * launch, timed, after an untimed launch of one. zeta and residual: `iterations` numbers on the host. */
lsp_status lsp_resident_nas(lsp_ctx *ctx, const lsp_resident *plan, double shift, int64_t iterations, double *zeta,
                            double *residual, double *seconds);

LSP_END_DECLS
