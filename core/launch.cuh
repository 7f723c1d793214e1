/* The one way to start a kernel: on the context's stream, and a launch that fails comes back as a status. */
#ifndef LSP_CORE_LAUNCH_CUH
#define LSP_CORE_LAUNCH_CUH

#include "cuda.h"
#include "device.cuh"

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

/* The same, of kernels that need nothing of each other: but for the first one, which sets *beside, each may begin as
 * soon as all blocks of the one before have, and ends after it. Each calls lsp_let_next_begin and
 * lsp_end_after_previous. */
template <typename Kernel, typename... P>
static inline lsp_status lsp_launch_beside(lsp_ctx *ctx, bool *beside, const char *failed, Kernel kernel,
                                           int64_t blocks, int threads, size_t shared, const P &...arguments) {
    cudaLaunchAttribute overlap = {};
    cudaLaunchConfig_t config = {};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3((unsigned)threads);
    config.dynamicSmemBytes = shared;
    config.stream = (cudaStream_t)lsp_cuda_stream(ctx);
    config.attrs = &overlap;
    config.numAttrs = *beside && lsp_cuda_get_chip(ctx)->compute >= 90;
    *beside = true;
    lsp_cuda_enter(ctx);
    return lsp_cuda_leave(ctx, (int)cudaLaunchKernelEx(&config, kernel, arguments...), failed);
}
#define LSP_LAUNCH_BESIDE(ctx, beside, kernel, blocks, threads, shared, ...)                                           \
    lsp_launch_beside((ctx), (beside), #kernel " could not be started", kernel, (blocks), (threads), (shared),         \
                      __VA_ARGS__)

/* A kernel may take so much dynamic shared memory. */
template <typename Kernel> static inline lsp_status lsp_allow_shared(lsp_ctx *ctx, Kernel *kernel, size_t bytes) {
    return bytes <= 24 << 10 ? LSP_OK /* static memory counts too */ : lsp_cuda_allow_shared(ctx, (const void *)kernel);
}

/* Calls of the runtime in a launcher: LSP_TRY(LSP_CUDA_CALL(ctx, ...)). */
#define LSP_CUDA_CALL(ctx, call) (lsp_cuda_enter(ctx), lsp_cuda_leave((ctx), (int)(call), #call))

#endif
