/* Calibration of a GPU, in a build without CUDA: it refuses. */
#include "core/none.h"
#include "cache_model/cache_model.h"

/* clang-format off */
LSP_NO_CUDA(lsp_cache_calibrate_cuda, (lsp_ctx *ctx, lsp_cache_figures *figures), ctx)
/* clang-format on */
