/* An allocator for the host and the GPU. One of its calls fails. */
#ifndef LSP_TESTS_FAILING_H
#define LSP_TESTS_FAILING_H

#include "support.h"

#if LSP_EMULATED
static inline int cudaMalloc(void **memory, size_t bytes) { return (*memory = malloc(bytes)) == NULL; }
static inline void cudaFree(void *memory) { free(memory); }
enum { cudaSuccess = 0 };
#else
#include <cuda_runtime_api.h>
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

#endif
