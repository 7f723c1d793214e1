/* The CUDA runtime's side of a context: what cuda.c keeps and cuda_copy.c uses. Nobody else includes this. */
#pragma once

#include "cuda.h"

#include <cuda_runtime_api.h>

enum {
    stage_bytes = LSP_CUDA_STAGE_BYTES,
    stages = LSP_CUDA_STAGES,
    note_bytes = LSP_CUDA_NOTE_BYTES,
    kernels_kept = 128 /* entries of the hash table `allowed`; two kernels in one entry only cost a second request */
};

typedef struct lsp_cuda_state {
    cudaStream_t stream;
    bool own_stream;
    char *stage[stages]; /* pinned; made by the first copy that needs them */
    cudaEvent_t idle[stages];
    cudaStream_t beside;               /* of lsp_cuda_copy_beside; made by the first one */
    long long *fault, *device_fault;   /* one word of mapped host memory: its address on the host, on the device */
    char *note;                        /* pinned memory behind that word; the answers follow */
    cudaEvent_t noted;                 /* recorded by lsp_cuda_end_note */
    const void *allowed[kernels_kept]; /* kernels that lsp_cuda_allow_shared has prepared; a hash table by address */
    int outer;                         /* the caller's device, from lsp_cuda_enter to lsp_cuda_leave */
    lsp_cuda_chip chip;
} lsp_cuda_state;

/* An lsp_status: a call of the CUDA runtime, and what it means if it fails. */
#define CALL(call, what) lsp_cuda_check(ctx, (int)(call), (what))
/* The same where the context's device need not be current before. */
#define CALL_THERE(call, what) (lsp_cuda_enter(ctx), lsp_cuda_leave(ctx, (int)(call), (what)))

/* Makes the context's device current and returns the caller's, for leave. ON_DEVICE does both: it leaves where the
 * block ends. */
static inline int enter(const lsp_ctx *ctx) {
    int before = 0;
    (void)cudaGetDevice(&before);
    if (before != ctx->options.ordinal) {
        (void)cudaSetDevice(ctx->options.ordinal);
    }
    return before;
}
typedef struct device_scope {
    const lsp_ctx *ctx;
    int before;
} device_scope;
static inline void leave(const device_scope *s) {
    if (s->before != s->ctx->options.ordinal) {
        (void)cudaSetDevice(s->before);
    }
}
#define ON_DEVICE(ctx) const device_scope device LSP_AT_END(leave) = {(ctx), enter(ctx)}

static inline lsp_cuda_state *state_of(lsp_ctx *ctx) { return ctx->cuda; }
