/* Refusals for a build without CUDA: gpu/none.c of every room defines its GPU functions by LSP_NO_CUDA. No call reaches
 * them, because no context of such a build has a GPU; they exist so that every build links. */
#pragma once

#include "core.h"

#pragma GCC diagnostic ignored "-Wunused-parameter" /* a refusal uses `ctx` only */

/* Fails with LSP_ERR_DEVICE and a sentence. */
static inline lsp_status lsp_no_cuda(lsp_ctx *ctx) {
    return lsp_fail(ctx, LSP_ERR_DEVICE,
                    "no GPU can be used: this libsparse was built without CUDA (configure with -DLSP_CUDA=ON)");
}

/* Defines `lsp_status function parameters`, which fails; `ctx` is the context among the parameters. clang-format takes
 * their pointers for products, so files switch it off around LSP_NO_CUDA. */
#define LSP_NO_CUDA(function, parameters, ctx)                                                                         \
    lsp_status function parameters { return lsp_no_cuda(ctx); }
/* The same for a line of a room's list of bodies of items (each.h). */
#define LSP_ITEM_NONE(name, arguments)                                                                                 \
    LSP_NO_CUDA(lsp_body_##name##_cuda, (lsp_ctx * ctx, const lsp_each_job *job), ctx)
