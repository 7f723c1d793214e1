/* Converts and gathers arrays on the context's GPU: items.cu, or cuda_none.c in a build without CUDA. */
#ifndef LSP_CORE_ITEMS_H
#define LSP_CORE_ITEMS_H

#include "core.h"

LSP_BEGIN_DECLS

/* to[i] = from[i] in another type: from I32, I64, BOOL or LSP_NONE (ones; `from` is not read) to every other type, from
 * F32 or F64 to F32, F64 or C64, whose arrays are aligned to 8 bytes. An integer that does not fit keeps its low bits.
 * Never waits. */
lsp_status lsp_cuda_convert_values(lsp_ctx *ctx, void *to, lsp_type to_type, const void *from, lsp_type from_type,
                                   int64_t n);

/* The same, but from I64 to I32 it waits for the GPU: LSP_ERR_OVERFLOW if an index does not fit. */
lsp_status lsp_cuda_convert(lsp_ctx *ctx, void *to, lsp_type to_type, const void *from, lsp_type from_type, int64_t n);

/* to[i] = from[places[i]], for items of 4, 8 or 16 bytes. Those of 16 are two doubles: both arrays are aligned to 8
 * bytes. */
lsp_status lsp_cuda_gather(lsp_ctx *ctx, void *to, const void *from, size_t item_bytes, const uint32_t *places,
                           int64_t n);

LSP_END_DECLS
#endif
