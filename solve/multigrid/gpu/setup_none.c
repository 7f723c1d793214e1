/* Multigrid on a GPU in a build without CUDA. No hierarchy of such a build lies on a GPU. */
#include "core/none.h"
#include "solve/multigrid/multigrid.h"
#include "solve/multigrid/smooth.h"

/* clang-format off */
LSP_NO_CUDA(lsp_setup_cuda, (lsp_ctx *ctx, lsp_setup_rule rule, const lsp_setup *s, int64_t n, lsp_two *sums), ctx)
LSP_NO_CUDA(lsp_smooth_cuda, (lsp_ctx *ctx, int64_t n, lsp_type type, const lsp_smooth *step), ctx)
