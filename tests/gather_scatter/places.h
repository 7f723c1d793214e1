/* Arrays on the host or on a GPU, and tests that run on both. */
#pragma once

#include "core/cuda.h"
#include "tests/support.h"

/* Three threads, or a GPU if there is one. */
static inline void on_the_cpu(void (*test)(lsp_ctx *ctx)) {
    lsp_ctx *ctx = test_ctx(3);
    test(ctx);
    lsp_ctx_destroy(ctx);
}
static inline void on_the_gpu(void (*test)(lsp_ctx *ctx)) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    test(ctx);
    lsp_ctx_destroy(ctx);
}

/* `bytes` bytes where the context works, copied from `from`; NULL: filled with 0xA5. */
static inline void *put_there(lsp_ctx *ctx, const void *from, int64_t bytes) {
    void *made = NULL, *filled = NULL;
    must(ctx, lsp_alloc(ctx, ctx->options.device, lsp_max(bytes, 1), 1, &made));
    if (from == NULL) {
        from = filled = malloc((size_t)lsp_max(bytes, 1));
        memset(filled, 0xA5, (size_t)bytes);
    }
    if (ctx->options.device == LSP_HOST) {
        memcpy(made, from, (size_t)bytes);
    } else if (bytes > 0) {
        must(ctx, lsp_cuda_copy(ctx, made, LSP_CUDA, from, LSP_HOST, bytes));
    }
    free(filled);
    return made;
}

/* A copy on the host of `bytes` bytes there; to be freed by free. */
static inline void *get_back(lsp_ctx *ctx, const void *there, int64_t bytes) {
    void *made = malloc((size_t)lsp_max(bytes, 1));
    must(ctx, lsp_ctx_sync(ctx));
    if (ctx->options.device == LSP_HOST) {
        memcpy(made, there, (size_t)bytes);
    } else if (bytes > 0) {
        must(ctx, lsp_cuda_copy(ctx, made, LSP_HOST, there, LSP_CUDA, bytes));
    }
    return made;
}

/* Frees arrays of put_there; the list ends with NULL. */
#define DROP(ctx, ...)                                                                                                 \
    do {                                                                                                               \
        void *drop_[] = {__VA_ARGS__, NULL};                                                                           \
        for (int drop_i_ = 0; drop_[drop_i_] != NULL; drop_i_++) {                                                     \
            lsp_free((ctx), drop_[drop_i_]);                                                                           \
        }                                                                                                              \
    } while (0)

/* Is it a test on the emulated GPU, which is slow? */
static inline bool is_slow(const lsp_ctx *ctx) { return LSP_EMULATED && ctx->options.device == LSP_CUDA; }
