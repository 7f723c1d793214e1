/* For files that stand in for the GPU side in a build without CUDA (gpu/none.c of every room): functions that refuse.
 * None of them is reached, for no context of such a build has a GPU; they exist so that every build links. */
#ifndef LSP_CORE_NONE_H
#define LSP_CORE_NONE_H

#include "core.h"

#pragma GCC diagnostic ignored "-Wunused-parameter" /* of functions that refuse */

/* LSP_ERR_DEVICE with a sentence. */
static inline lsp_status lsp_no_cuda(lsp_ctx *ctx) {
    return lsp_fail(ctx, LSP_ERR_DEVICE,
                    "no GPU can be used: this libsparse was built without CUDA (configure with -DLSP_CUDA=ON)");
}

/* Defines `lsp_status function parameters`, which refuses; `ctx` is the context as the parameters have it. clang-format
 * takes the pointers among them for products: it is switched off around the calls. */
#define LSP_NO_CUDA(function, parameters, ctx)                                                                         \
    lsp_status function parameters { return lsp_no_cuda(ctx); }

#endif
