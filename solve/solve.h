/* Inside solve. A x = b by conjugate gradients or flexible BiCGStab. plan.c checks and prepares, iterate.c has the
 * steps of an iteration, loop_bodies.h what a loop does and rules.h what it decides; cpu/ and gpu/ carry them out. */
#pragma once

#include "job.h"

/* check.c */
lsp_status lsp_solve_check(lsp_ctx *ctx, const lsp_csr *A, const lsp_solve_options *options, lsp_solve_plan *plan);
/* A, unless NULL, is square and real. *type: of the vectors, as asked for; LSP_NONE becomes the usual one. */
lsp_status lsp_solve_check_matrix(lsp_ctx *ctx, const lsp_csr *A, lsp_type *type);
/* b and x of n numbers: not NULL, aligned, apart. */
lsp_status lsp_solve_check_pair(lsp_ctx *ctx, int64_t n, lsp_type type, const void *b, const void *x);
lsp_status lsp_solve_check_vectors(const lsp_solve_plan *plan, const void *b, const void *x);
/* A has the sizes, types and place of `given`, for which `what` was made. */
lsp_status lsp_solve_check_alike(lsp_ctx *ctx, const char *what, const lsp_csr *given, const lsp_csr *A);
lsp_status lsp_solve_check_same(const lsp_solve_plan *plan, const lsp_csr *A);

/* plan.c: as lsp_cg_plan_create. once: the plan is for one solve. */
lsp_status lsp_solve_plan_make(lsp_ctx *ctx, const lsp_csr *A, const lsp_solve_options *options, bool bicgstab,
                               bool once, lsp_solve_plan **plan);

/* run.c: solves with checked vectors. */
lsp_status lsp_solve_run(lsp_solve_plan *plan, const void *b, void *x, lsp_solve_outcome *outcome);

/* ref.c: the specification, one thread on the host, f64. Jacobi or none. x0: x is read. */
lsp_status lsp_solve_ref(lsp_ctx *ctx, const lsp_csr *A, const lsp_solve_options *options, bool bicgstab,
                         const double *b, double *x, lsp_solve_state *state);
