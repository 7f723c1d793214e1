/* The one way to start a kernel: on the context's stream; a launch that fails returns a status and a sentence. */
#pragma once

#include "block.cuh"
#include "cuda.h"

/* An expression of type lsp_status. `shared` is the dynamic shared memory in bytes. */
#ifdef __CUDACC__
#define LSP_LAUNCH(ctx, kernel, blocks, threads, shared, ...)                                                          \
    (lsp_cuda_enter(ctx),                                                                                              \
     kernel<<<(unsigned)(blocks), (unsigned)(threads), (shared), (cudaStream_t)lsp_cuda_stream(ctx)>>>(__VA_ARGS__),   \
     lsp_cuda_leave((ctx), (int)cudaGetLastError(), #kernel " could not be started"))
#else
#define LSP_LAUNCH(ctx, kernel, blocks, threads, shared, ...)                                                          \
    (lsp_cuda_enter(ctx),                                                                                              \
     lsp_cuda_leave((ctx), emu_start(kernel, (unsigned)(blocks), (unsigned)(threads), (shared), false, __VA_ARGS__),   \
                    #kernel " could not be started"))
#endif

/* For a kernel with a loop over EACH_ITEM of n: four items a thread, until a multiprocessor has 16 blocks. */
#define LSP_LAUNCH_EACH(ctx, kernel, n, threads, ...)                                                                  \
    LSP_LAUNCH(ctx, kernel, lsp_blocks_for((ctx), (n), 4 * (threads), 16), threads, 0, __VA_ARGS__)

/* The size of a launch; shared: dynamic shared memory in bytes. */
typedef struct lsp_grid {
    int64_t blocks;
    int threads;
    size_t shared;
} lsp_grid;

/* A launch with one attribute, or with none if attributes is 0. */
template <typename Kernel, typename... P>
static inline lsp_status lsp_launch_with(lsp_ctx *ctx, cudaLaunchAttribute attribute, unsigned attributes,
                                         const char *failed, Kernel kernel, lsp_grid grid, const P &...arguments) {
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)grid.blocks);
    config.blockDim = dim3((unsigned)grid.threads);
    config.dynamicSmemBytes = grid.shared;
    config.stream = (cudaStream_t)lsp_cuda_stream(ctx);
    config.attrs = &attribute;
    config.numAttrs = attributes;
    lsp_cuda_enter(ctx);
    return lsp_cuda_leave(ctx, (int)cudaLaunchKernelEx(&config, kernel, arguments...), failed);
}
#define LSP_LAUNCH_WITH(ctx, attribute, attributes, kernel, blocks, threads, shared, ...)                              \
    lsp_launch_with((ctx), (attribute), (attributes), #kernel " could not be started", kernel,                         \
                    lsp_grid{(int64_t)(blocks), (int)(threads), (size_t)(shared)}, __VA_ARGS__)

/* Launches one of several independent kernels (programmatic dependent launch, compute capability 9.0 and later). Each
 * kernel but the first may start once all blocks of the previous one have started; it ends after it. The first launch
 * sets *beside, which is false before. Each kernel calls lsp_let_next_begin and lsp_end_after_previous. A kernel that
 * depends on the one before it calls lsp_wait_for_previous instead, in every thread: then only its start overlaps. */
#define LSP_LAUNCH_BESIDE(ctx, beside, ...)                                                                            \
    LSP_LAUNCH_WITH(ctx, lsp_overlap(), lsp_may_overlap((ctx), (beside)), __VA_ARGS__)
static inline cudaLaunchAttribute lsp_overlap() {
    cudaLaunchAttribute overlap = {};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    return overlap;
}
static inline bool lsp_may_overlap(lsp_ctx *ctx, bool *beside) {
    const bool may = *beside && lsp_cuda_get_chip(ctx)->compute >= 90;
    *beside = true;
    return may;
}

/* If `together`, the driver runs all blocks of the kernel at the same time or refuses, so that they may wait for each
 * other. */
#define LSP_LAUNCH_TOGETHER(ctx, together, ...) LSP_LAUNCH_WITH(ctx, lsp_cooperation(), (together), __VA_ARGS__)
static inline cudaLaunchAttribute lsp_cooperation() {
    cudaLaunchAttribute cooperation = {};
    cooperation.id = cudaLaunchAttributeCooperative;
    cooperation.val.cooperative = 1;
    return cooperation;
}

/* Lets a kernel use `bytes` bytes of dynamic shared memory. */
template <typename Kernel> static inline lsp_status lsp_allow_shared(lsp_ctx *ctx, Kernel *kernel, size_t bytes) {
    return bytes <= 24 << 10 ? LSP_OK /* up to 48 KiB, static memory included, need no permission */
                             : lsp_cuda_allow_shared(ctx, (const void *)kernel);
}

/* A call of the CUDA runtime on the context's device: LSP_TRY(LSP_CUDA_CALL(ctx, ...)). */
#define LSP_CUDA_CALL(ctx, call) (lsp_cuda_enter(ctx), lsp_cuda_leave((ctx), (int)(call), #call))
