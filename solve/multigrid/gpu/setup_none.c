/* Multigrid on a GPU in a build without CUDA. No hierarchy of such a build lies on a GPU: the table is empty. */
#include "core/none.h"
#include "solve/multigrid/multigrid.h"
#include "solve/multigrid/smooth.h"

const lsp_setup_backend lsp_setup_cuda = {0};

/* clang-format off */
LSP_NO_CUDA(lsp_smooth_cuda, (lsp_ctx *ctx, int64_t n, lsp_type type, const lsp_smooth *step), ctx)
