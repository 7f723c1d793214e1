/* The solvers on a GPU in a build without CUDA: every call fails with a sentence. */
#include "core/none.h"
#include "solve/solve.h"

/* clang-format off */
LSP_NO_CUDA(lsp_solve_prepare_cuda, (lsp_solve_plan *plan), plan->ctx)
LSP_NO_CUDA(lsp_solve_run_cuda, (lsp_solve_plan *plan, const void *b, lsp_solve_outcome *outcome), plan->ctx)
LSP_NO_CUDA(lsp_solve_diagonal_cuda, (lsp_ctx *ctx, const lsp_csr *A, lsp_type type, void *inverse, int64_t *bad), ctx)
LSP_NO_CUDA(lsp_solve_pair_cuda, (lsp_ctx *ctx, int64_t n, const double *x, const double *z, double sums[2]), ctx)
LSP_NO_CUDA(lsp_solve_scale_cuda, (lsp_ctx *ctx, int64_t n, double factor, const double *from, double *to), ctx)
/* clang-format on */

void lsp_solve_release_cuda(lsp_solve_plan *plan) {}
