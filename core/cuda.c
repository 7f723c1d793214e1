/* The GPU side of the context on the CUDA runtime: device, stream and memory; cuda_copy.c has the copies. Every call
 * leaves the caller's current device as it was. */
#include "cuda_state.h"

#include <string.h>

lsp_status lsp_cuda_check(lsp_ctx *ctx, int error, const char *what) {
    switch ((cudaError_t)error) {
    case cudaSuccess:
        return LSP_OK;
    case cudaErrorInsufficientDriver:
    case cudaErrorStubLibrary:
    case cudaErrorInitializationError: {
        int runtime = 0, driver = 0;
        (void)cudaRuntimeGetVersion(&runtime);
        (void)cudaDriverGetVersion(&driver);
        return driver == 0
                   ? lsp_fail(ctx, LSP_ERR_DEVICE, "%s: no NVIDIA driver is installed on this machine (CUDA error %d)",
                              what, error)
                   : lsp_fail(ctx, LSP_ERR_DEVICE,
                              "%s: the NVIDIA driver offers CUDA %d.%d, and CUDA %d.%d is needed (CUDA error %d: %s)",
                              what, driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10, error,
                              cudaGetErrorString((cudaError_t)error));
    }
    case cudaErrorNoDevice:
        return lsp_fail(ctx, LSP_ERR_DEVICE, "%s: this machine has no NVIDIA GPU (CUDA error %d)", what, error);
    case cudaErrorMemoryAllocation:
        return lsp_fail(ctx, LSP_ERR_MEMORY, "%s: out of GPU memory (CUDA error %d)", what, error);
    default:
        return lsp_fail(ctx, LSP_ERR_DEVICE, "%s: %s (CUDA error %d)", what, cudaGetErrorString((cudaError_t)error),
                        error);
    }
}

int lsp_cuda_count(void) {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        (void)cudaGetLastError();
        return 0;
    }
    return count;
}

void lsp_cuda_enter(lsp_ctx *ctx) { state_of(ctx)->outer = enter(ctx); }

lsp_status lsp_cuda_leave(lsp_ctx *ctx, int error, const char *what) {
    leave(&(device_scope){ctx, state_of(ctx)->outer});
    return lsp_cuda_check(ctx, error, what);
}

void *lsp_cuda_stream(lsp_ctx *ctx) { return state_of(ctx)->stream; }

long long *lsp_cuda_fault(lsp_ctx *ctx) { return state_of(ctx)->device_fault; }

void *lsp_cuda_note(lsp_ctx *ctx) { return state_of(ctx)->device_fault + 1; }

volatile unsigned long long *lsp_cuda_answers(lsp_ctx *ctx, unsigned long long **there) {
    *there = (unsigned long long *)((char *)lsp_cuda_note(ctx) + note_bytes);
    return (volatile unsigned long long *)(state_of(ctx)->note + note_bytes);
}

const lsp_cuda_chip *lsp_cuda_get_chip(lsp_ctx *ctx) { return &state_of(ctx)->chip; }

bool lsp_cuda_recording(lsp_ctx *ctx) {
    enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(state_of(ctx)->stream, &capture) != cudaSuccess) {
        (void)cudaGetLastError();
    }
    return capture != cudaStreamCaptureStatusNone;
}

lsp_status lsp_cuda_allow_shared(lsp_ctx *ctx, const void *kernel) {
    lsp_cuda_state *state = state_of(ctx);
    const void **kept = &state->allowed[(uintptr_t)kernel / 16 % kernels_kept];
    if (*kept == kernel) {
        return LSP_OK;
    }
    struct cudaFuncAttributes attributes;
    ON_DEVICE(ctx);
    LSP_TRY(CALL(cudaFuncGetAttributes(&attributes, kernel), "a kernel cannot be used"));
    const int most = state->chip.shared_block_bytes - (int)attributes.sharedSizeBytes;
    LSP_TRY(CALL(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most),
                 "a kernel cannot have its shared memory"));
    *kept = kernel;
    return LSP_OK;
}

static lsp_status make_fault_word(lsp_ctx *ctx) {
    lsp_cuda_state *state = state_of(ctx);
    void *here = NULL, *there = NULL;
    const size_t bytes = sizeof *state->fault + note_bytes + LSP_CUDA_ANSWERS * sizeof(unsigned long long);
    LSP_TRY(CALL(cudaHostAlloc(&here, bytes, cudaHostAllocMapped), "no pinned memory for reports of the GPU"));
    memset(here, 0, bytes);
    state->fault = here;
    state->note = (char *)here + sizeof *state->fault;
    LSP_TRY(CALL(cudaHostGetDevicePointer(&there, here, 0), "the GPU does not reach pinned memory"));
    state->device_fault = there;
    return CALL(cudaEventCreateWithFlags(&state->noted, cudaEventDisableTiming), "no event for reports of the GPU");
}

static lsp_status read_chip(lsp_ctx *ctx) {
    lsp_cuda_chip *chip = &state_of(ctx)->chip;
    int major = 0, minor = 0;
    const struct {
        enum cudaDeviceAttr attribute;
        int *value;
    } asked[] = {{cudaDevAttrComputeCapabilityMajor, &major},
                 {cudaDevAttrComputeCapabilityMinor, &minor},
                 {cudaDevAttrMultiProcessorCount, &chip->sms},
                 {cudaDevAttrMaxSharedMemoryPerMultiprocessor, &chip->shared_sm_bytes},
                 {cudaDevAttrMaxSharedMemoryPerBlockOptin, &chip->shared_block_bytes},
                 {cudaDevAttrL2CacheSize, &chip->l2_bytes},
                 {cudaDevAttrMemoryClockRate, &chip->memory_khz},
                 {cudaDevAttrGlobalMemoryBusWidth, &chip->memory_bus_bits}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        LSP_TRY(CALL(cudaDeviceGetAttribute(asked[i].value, asked[i].attribute, ctx->options.ordinal),
                     "the GPU's properties cannot be read"));
    }
    chip->compute = 10 * major + minor;
    return LSP_OK;
}

lsp_status lsp_cuda_open(lsp_ctx *ctx) {
    int count = 0;
    LSP_TRY(CALL(cudaGetDeviceCount(&count), "no GPU can be used"));
    LSP_REQUIRE(ctx->options.ordinal < count, LSP_ERR_DEVICE, "there is no GPU %d: this machine has %d, counted from 0",
                ctx->options.ordinal, count);
    const lsp_allocator *allocator = &ctx->options.allocator; /* not a block of the context: blocks end first */
    lsp_cuda_state *state = allocator->alloc(allocator->user, sizeof *state, LSP_HOST);
    LSP_REQUIRE(state, LSP_ERR_MEMORY, "out of host memory: a GPU's context needs %zu bytes more", sizeof *state);
    ctx->cuda = state;
    *state = (lsp_cuda_state){.stream = ctx->options.stream};
    ON_DEVICE(ctx);
    if (!state->stream) {
        LSP_TRY(CALL(cudaStreamCreateWithFlags(&state->stream, cudaStreamNonBlocking), "no stream could be made"));
        state->own_stream = true;
    }
    LSP_TRY(make_fault_word(ctx));
    return read_chip(ctx);
}

void lsp_cuda_close(lsp_ctx *ctx) {
    lsp_cuda_state *state = state_of(ctx);
    if (!state) {
        return;
    }
    ON_DEVICE(ctx);
    (void)cudaStreamSynchronize(state->stream);
    for (int s = 0; s < stages && state->stage[s]; s++) {
        (void)cudaFreeHost(state->stage[s]);
        (void)cudaEventDestroy(state->idle[s]);
    }
    if (state->beside) {
        (void)cudaStreamDestroy(state->beside);
    }
    if (state->fault) {
        (void)cudaFreeHost(state->fault);
    }
    if (state->noted) {
        (void)cudaEventDestroy(state->noted);
    }
    if (state->own_stream) {
        (void)cudaStreamDestroy(state->stream);
    }
    ctx->options.allocator.free(ctx->options.allocator.user, state, sizeof *state, LSP_HOST);
    ctx->cuda = NULL;
}

lsp_status lsp_cuda_wait(lsp_ctx *ctx) {
    return CALL(cudaStreamSynchronize(state_of(ctx)->stream), "work on the GPU failed");
}

lsp_status lsp_cuda_sync(lsp_ctx *ctx) {
    LSP_TRY(lsp_cuda_wait(ctx));
    long long fault = __atomic_exchange_n(state_of(ctx)->fault, 0, __ATOMIC_ACQ_REL);
    return lsp_cuda_tell_fault(ctx, fault);
}

lsp_status lsp_cuda_describe(lsp_ctx *ctx, char *name, size_t name_bytes, int64_t *total, int64_t *available) {
    size_t free_now = 0, all = 0;
    ON_DEVICE(ctx);
    LSP_REQUIRE(state_of(ctx), LSP_ERR_DEVICE, "this context works on the host: it has no GPU to describe");
    LSP_TRY(CALL(cudaMemGetInfo(&free_now, &all), "the GPU's memory cannot be read"));
    if (name) {
        struct cudaDeviceProp properties;
        LSP_TRY(
            CALL(cudaGetDeviceProperties(&properties, ctx->options.ordinal), "the GPU's properties cannot be read"));
        size_t length = (size_t)lsp_min((int64_t)strlen(properties.name), (int64_t)name_bytes - 1);
        memcpy(name, properties.name, length);
        name[length] = 0;
    }
    *total = (int64_t)all;
    *available = (int64_t)free_now;
    return LSP_OK;
}

void *lsp_cuda_malloc(lsp_ctx *ctx, size_t bytes) {
    void *memory = NULL;
    lsp_cuda_state *state = state_of(ctx);
    if (state) {
        ON_DEVICE(ctx);
        if (cudaMallocAsync(&memory, bytes, state->stream) != cudaSuccess) {
            (void)cudaGetLastError();
            memory = NULL;
        }
    }
    return memory;
}

void lsp_cuda_free(lsp_ctx *ctx, void *memory) {
    ON_DEVICE(ctx);
    (void)cudaFreeAsync(memory, state_of(ctx)->stream);
}

/* cudaFree takes memory of the pool too, but for such memory it waits for nothing. */
void lsp_cuda_free_detached(int ordinal, void *memory) {
    int before = 0;
    (void)cudaGetDevice(&before);
    (void)cudaSetDevice(ordinal);
    (void)cudaDeviceSynchronize();
    (void)cudaFree(memory);
    (void)cudaSetDevice(before);
}
