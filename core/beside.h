/* Copies beside the work of a context's stream. */
#ifndef LSP_CORE_BESIDE_H
#define LSP_CORE_BESIDE_H

#include "cuda.h"

LSP_BEGIN_DECLS

/* Copies from the host to the GPU while the work of the context's stream goes on, which must not use `to`. Waits for
 * the copy alone. */
lsp_status lsp_cuda_copy_beside(lsp_ctx *ctx, void *to, const void *from, int64_t bytes);

LSP_END_DECLS
#endif
