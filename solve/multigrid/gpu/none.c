/* Multigrid on a GPU in a build without CUDA. */
#include "core/none.h"
#include "solve/multigrid/smooth.h"

/* clang-format off */
LSP_NO_CUDA(lsp_smooth_cuda, (lsp_ctx *ctx, int64_t n, lsp_type type, const lsp_smooth *step), ctx)
