/* Conversions on the GPU in a build without CUDA: no context has one. */
#include "convert.h"
#include "core/cuda.h"

lsp_status lsp_convert_cuda(lsp_ctx *ctx, void *to, lsp_type to_type, const void *from, lsp_type from_type, int64_t n) {
    (void)to, (void)to_type, (void)from, (void)from_type, (void)n;
    return lsp_cuda_check(ctx, -1, "a conversion");
}
