/* The cache model in a build without CUDA: no sample lies on a GPU. */
#include "core/none.h"
#include "cache_model/cache_model.h"

/* clang-format off */
LSP_NO_CUDA(lsp_windows_count, (lsp_ctx *ctx, const lsp_window_job *job, lsp_window_counts *counts), ctx)
