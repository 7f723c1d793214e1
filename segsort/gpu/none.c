/* The segmented sort on a GPU, in a build without CUDA: it refuses. */
#include "core/none.h"
#include "segsort/segsort.h"

/* clang-format off */
LSP_NO_CUDA(lsp_segsort_cuda, (lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, void *scratch), ctx)
LSP_NO_CUDA(lsp_segsort_cuda_split, (lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, void *scratch, int bits), ctx)
LSP_NO_CUDA(lsp_segsort_cuda_longest, (lsp_ctx *ctx, const lsp_segsort_args *args, int64_t *longest), ctx)
/* clang-format on */

bool lsp_segsort_cuda_bytes(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, int64_t *bytes) {
    return false;
}
