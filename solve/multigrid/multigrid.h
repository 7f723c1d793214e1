/* Inside solve/multigrid: the set-up. create.c begins and ends it, setup.c makes the levels by verbs of the library and
 * by rules.h, whose rules cpu/ and gpu/ apply to all rows. */
#ifndef LSP_SOLVE_MULTIGRID_MULTIGRID_H
#define LSP_SOLVE_MULTIGRID_MULTIGRID_H

#include "job.h"

/* check.c: sets the options, sizes and types of *m. */
lsp_status lsp_multigrid_check(lsp_ctx *ctx, const lsp_csr *A, const lsp_multigrid_options *options, lsp_multigrid *m);
lsp_status lsp_multigrid_check_same(lsp_multigrid *m, const lsp_csr *A);

/* setup.c: the levels of a checked A; new values in them. */
lsp_status lsp_multigrid_set_up(lsp_multigrid *m, const lsp_csr *A);
lsp_status lsp_multigrid_refill(lsp_multigrid *m, const lsp_csr *A);

#endif
