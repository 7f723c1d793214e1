/* Gather and scatter on a GPU, in a build without CUDA: they refuse. */
#include "core/none.h"
#include "gather_scatter/gather_scatter.h"

/* clang-format off */
LSP_NO_CUDA(lsp_gather_run_cuda, (lsp_ctx *ctx, const lsp_gather_job *job), ctx)
LSP_NO_CUDA(lsp_gather_find_bad_cuda,
            (lsp_ctx *ctx, const lsp_gather_job *job, int64_t *bad, int64_t *index), ctx)
LSP_NO_CUDA(lsp_gather_prepare_cuda, (lsp_gather_plan *plan), plan->ctx)
LSP_NO_CUDA(lsp_gather_execute_cuda, (lsp_gather_plan *plan, const lsp_column *columns, int64_t count), plan->ctx)
/* clang-format on */

void lsp_gather_release_cuda(lsp_gather_plan *plan) {}
