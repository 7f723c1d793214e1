/* Products on a GPU, in a build without CUDA: there are none. */
#include "core/none.h"
#include "spmv/spmv.h"

const lsp_spmv_engine *lsp_spmv_engine_cuda(lsp_spmv_method method) { return NULL; }

/* clang-format off */
LSP_NO_CUDA(lsp_spmv_inspect_cuda, (lsp_ctx *ctx, const lsp_spmv_job *job, lsp_spmv_facts *facts), ctx)
/* clang-format on */
