/* to[i] = from[i] in another type, on the GPU: csr/gpu/convert.cu, or convert_none.c in a build without CUDA. */
#ifndef LSP_MATRICES_CSR_GPU_CONVERT_H
#define LSP_MATRICES_CSR_GPU_CONVERT_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Both arrays lie on the context's GPU. Types: I32 and I64 to either, F32 and F64 to either, LSP_NONE to F32 or F64
 * (ones; `from` is not read). LSP_ERR_OVERFLOW if an index does not fit. Synchronises when an overflow is possible. */
lsp_status lsp_convert_cuda(lsp_ctx *ctx, void *to, lsp_type to_type, const void *from, lsp_type from_type, int64_t n);

#ifdef __cplusplus
}
#endif
#endif
