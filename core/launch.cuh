/* The one way to start a kernel: on the context's stream, and a launch that fails comes back as a status. */
#ifndef LSP_CORE_LAUNCH_CUH
#define LSP_CORE_LAUNCH_CUH

#include "cuda.h"
#include "device.cuh"

/* An expression of type lsp_status. `shared` is the dynamic shared memory in bytes. */
#ifdef __CUDACC__
#define LSP_LAUNCH(ctx, kernel, blocks, threads, shared, ...)                                                          \
    (kernel<<<(unsigned)(blocks), (unsigned)(threads), (shared), (cudaStream_t)lsp_cuda_stream(ctx)>>>(__VA_ARGS__),   \
     lsp_cuda_check((ctx), (int)cudaGetLastError(), #kernel " could not be started"))
#else
#define LSP_LAUNCH(ctx, kernel, blocks, threads, shared, ...)                                                          \
    lsp_cuda_check((ctx), emu_start(kernel, (unsigned)(blocks), (unsigned)(threads), (shared), false, __VA_ARGS__),    \
                   #kernel " could not be started")
#endif

/* Calls of the runtime in a launcher: LSP_TRY(LSP_CUDA_CALL(ctx, ...)). */
#define LSP_CUDA_CALL(ctx, call) lsp_cuda_check((ctx), (int)(call), #call)

#endif
