/* An allocator for the host and the GPU. One of its calls fails. */
#pragma once

#include "support.h"

#if LSP_EMULATED
static inline int cudaMalloc(void **memory, size_t bytes) { return (*memory = malloc(bytes)) == NULL; }
static inline void cudaFree(void *memory) { free(memory); }
enum { cudaSuccess = 0 };
#elif LSP_HAVE_CUDA
#include <cuda_runtime_api.h>
#else
static inline int cudaMalloc(void **memory, size_t bytes) { return (void)memory, (void)bytes, 1; }
static inline void cudaFree(void *memory) { (void)memory; }
enum { cudaSuccess = 0 };
#endif

/* `user` is a test_memory. */
static inline void *failing_alloc(void *user, size_t bytes, lsp_where where) {
    test_memory *memory = user;
    void *piece = NULL;
    if (memory->calls++ == memory->fail_at) {
        return NULL;
    }
    if (where == LSP_CUDA) {
        piece = cudaMalloc(&piece, bytes) == cudaSuccess ? piece : NULL;
    } else {
        piece = aligned_alloc(64, (bytes + 63) / 64 * 64);
    }
    memory->outstanding += piece != NULL;
    return piece;
}
static inline void failing_free(void *user, void *piece, size_t bytes, lsp_where where) {
    (void)bytes;
    ((test_memory *)user)->outstanding--;
    if (where == LSP_CUDA) {
        (void)cudaFree(piece);
    } else {
        free(piece);
    }
}

/* test_failing on the GPU, or skips the test. */
static inline void test_failing_gpu(long first, long step, lsp_status (*call)(lsp_ctx *ctx, void *data), void *data) {
    lsp_ctx_destroy(test_gpu_ctx_or_skip());
    test_failing((lsp_ctx_options){.device = LSP_CUDA, .allocator = {failing_alloc, failing_free, NULL}}, first, step,
                 call, data);
}
