/* The GPU side of the context on the CUDA runtime: device, stream, memory, and copies through pinned staging. Every
 * call leaves the caller's current device as it was. */
#include "cuda.h"

#include <cuda_runtime_api.h>
#include <string.h>

enum {
    stage_bytes = LSP_CUDA_STAGE_BYTES,
    stages = LSP_CUDA_STAGES,
    part_bytes = 512 << 10, /* of a copy into or out of a stage: what one thread takes at a time */
    note_bytes = LSP_CUDA_NOTE_BYTES,
    kernels_kept = 128 /* entries of the hash table `allowed`; two kernels in one entry only cost a second request */
};

typedef struct lsp_cuda_state {
    cudaStream_t stream;
    bool own_stream;
    char *stage[stages]; /* pinned; made by the first copy that needs them */
    cudaEvent_t idle[stages];
    long long *fault, *fault_there;    /* one word of mapped host memory: its address on the host, on the device */
    char *note;                        /* pinned memory behind that word */
    cudaEvent_t noted;                 /* recorded by lsp_cuda_end_note */
    const void *allowed[kernels_kept]; /* kernels that lsp_cuda_allow_shared has prepared; a hash table by address */
    int outer;                         /* the caller's device, from lsp_cuda_enter to lsp_cuda_leave */
    lsp_cuda_chip chip;
} lsp_cuda_state;

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

/* Makes the context's device current and returns the caller's, for leave. */
static int enter(const lsp_ctx *ctx) {
    int before = 0;
    (void)cudaGetDevice(&before);
    if (before != ctx->options.ordinal) {
        (void)cudaSetDevice(ctx->options.ordinal);
    }
    return before;
}
static void leave(const lsp_ctx *ctx, int before) {
    if (before != ctx->options.ordinal) {
        (void)cudaSetDevice(before);
    }
}

static lsp_cuda_state *state_of(lsp_ctx *ctx) { return ctx->cuda; }

void lsp_cuda_enter(lsp_ctx *ctx) { state_of(ctx)->outer = enter(ctx); }

lsp_status lsp_cuda_leave(lsp_ctx *ctx, int error, const char *what) {
    leave(ctx, state_of(ctx)->outer);
    return lsp_cuda_check(ctx, error, what);
}

void *lsp_cuda_stream(lsp_ctx *ctx) { return state_of(ctx)->stream; }

long long *lsp_cuda_fault(lsp_ctx *ctx) { return state_of(ctx)->fault_there; }

void *lsp_cuda_note(lsp_ctx *ctx) { return state_of(ctx)->fault_there + 1; }

const lsp_cuda_chip *lsp_cuda_get_chip(lsp_ctx *ctx) { return &state_of(ctx)->chip; }

bool lsp_cuda_recording(lsp_ctx *ctx) {
    enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(state_of(ctx)->stream, &capture) != cudaSuccess) {
        (void)cudaGetLastError();
    }
    return capture != cudaStreamCaptureStatusNone;
}

lsp_status lsp_cuda_allow_shared(lsp_ctx *ctx, const void *kernel) {
    lsp_status status = LSP_OK;
    lsp_cuda_state *state = state_of(ctx);
    const void **kept = &state->allowed[(uintptr_t)kernel / 16 % kernels_kept];
    if (*kept == kernel) {
        return LSP_OK;
    }
    struct cudaFuncAttributes attributes;
    const int before = enter(ctx);
    LSP_TRY(lsp_cuda_check(ctx, (int)cudaFuncGetAttributes(&attributes, kernel), "a kernel cannot be used"));
    const int most = state->chip.shared_block_bytes - (int)attributes.sharedSizeBytes;
    LSP_TRY(lsp_cuda_check(ctx, (int)cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most),
                           "a kernel cannot have its shared memory"));
    *kept = kernel;
done:
    leave(ctx, before);
    return status;
}

static lsp_status make_fault_word(lsp_ctx *ctx) {
    lsp_status status = LSP_OK;
    lsp_cuda_state *state = state_of(ctx);
    void *here = NULL, *there = NULL;
    LSP_TRY(lsp_cuda_check(ctx, (int)cudaHostAlloc(&here, sizeof *state->fault + note_bytes, cudaHostAllocMapped),
                           "no pinned memory for reports of the GPU"));
    state->fault = here;
    state->note = (char *)here + sizeof *state->fault;
    *state->fault = 0;
    LSP_TRY(
        lsp_cuda_check(ctx, (int)cudaHostGetDevicePointer(&there, here, 0), "the GPU does not reach pinned memory"));
    state->fault_there = there;
    LSP_TRY(lsp_cuda_check(ctx, (int)cudaEventCreateWithFlags(&state->noted, cudaEventDisableTiming),
                           "no event for reports of the GPU"));
done:
    return status;
}

static lsp_status read_chip(lsp_ctx *ctx) {
    lsp_status status = LSP_OK;
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
        LSP_TRY(lsp_cuda_check(ctx,
                               (int)cudaDeviceGetAttribute(asked[i].value, asked[i].attribute, ctx->options.ordinal),
                               "the GPU's properties cannot be read"));
    }
    chip->compute = 10 * major + minor;
done:
    return status;
}

lsp_status lsp_cuda_open(lsp_ctx *ctx) {
    lsp_status status = LSP_OK;
    int count = 0;
    LSP_TRY(lsp_cuda_check(ctx, (int)cudaGetDeviceCount(&count), "no GPU can be used"));
    LSP_REQUIRE(ctx->options.ordinal < count, LSP_ERR_DEVICE, "there is no GPU %d: this machine has %d, counted from 0",
                ctx->options.ordinal, count);
    const lsp_allocator *allocator = &ctx->options.allocator; /* not a block of the context: blocks end first */
    lsp_cuda_state *state = allocator->alloc(allocator->user, sizeof *state, LSP_HOST);
    LSP_REQUIRE(state, LSP_ERR_MEMORY, "out of host memory: a GPU's context needs %zu bytes more", sizeof *state);
    ctx->cuda = state;
    *state = (lsp_cuda_state){.stream = ctx->options.stream, .own_stream = !ctx->options.stream};
    int before = enter(ctx);
    if (state->own_stream) {
        status = lsp_cuda_check(ctx, (int)cudaStreamCreateWithFlags(&state->stream, cudaStreamNonBlocking),
                                "no stream could be made");
        state->own_stream = status == LSP_OK;
    }
    if (status == LSP_OK) {
        status = make_fault_word(ctx);
    }
    if (status == LSP_OK) {
        status = read_chip(ctx);
    }
    leave(ctx, before);
done:
    return status;
}

void lsp_cuda_close(lsp_ctx *ctx) {
    lsp_cuda_state *state = state_of(ctx);
    if (!state) {
        return;
    }
    int before = enter(ctx);
    (void)cudaStreamSynchronize(state->stream);
    for (int s = 0; s < stages && state->stage[s]; s++) {
        (void)cudaFreeHost(state->stage[s]);
        (void)cudaEventDestroy(state->idle[s]);
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
    leave(ctx, before);
    ctx->options.allocator.free(ctx->options.allocator.user, state, sizeof *state, LSP_HOST);
    ctx->cuda = NULL;
}

lsp_status lsp_cuda_sync(lsp_ctx *ctx) {
    lsp_status status = LSP_OK;
    LSP_TRY(lsp_cuda_check(ctx, (int)cudaStreamSynchronize(state_of(ctx)->stream), "work on the GPU failed"));
    long long fault = __atomic_exchange_n(state_of(ctx)->fault, 0, __ATOMIC_ACQ_REL);
    LSP_TRY(lsp_cuda_tell_fault(ctx, fault));
done:
    return status;
}

lsp_status lsp_cuda_describe(lsp_ctx *ctx, char *name, size_t name_bytes, int64_t *total, int64_t *available) {
    lsp_status status = LSP_OK;
    size_t free_now = 0, all = 0;
    int before = enter(ctx);
    LSP_REQUIRE(state_of(ctx), LSP_ERR_DEVICE, "this context works on the host: it has no GPU to describe");
    LSP_TRY(lsp_cuda_check(ctx, (int)cudaMemGetInfo(&free_now, &all), "the GPU's memory cannot be read"));
    if (name) {
        struct cudaDeviceProp properties;
        LSP_TRY(lsp_cuda_check(ctx, (int)cudaGetDeviceProperties(&properties, ctx->options.ordinal),
                               "the GPU's properties cannot be read"));
        size_t length = (size_t)lsp_min((int64_t)strlen(properties.name), (int64_t)name_bytes - 1);
        memcpy(name, properties.name, length);
        name[length] = 0;
    }
    *total = (int64_t)all;
    *available = (int64_t)free_now;
done:
    leave(ctx, before);
    return status;
}

void *lsp_cuda_malloc(lsp_ctx *ctx, size_t bytes) {
    void *memory = NULL;
    lsp_cuda_state *state = state_of(ctx);
    if (state) {
        int before = enter(ctx);
        if (cudaMallocAsync(&memory, bytes, state->stream) != cudaSuccess) {
            (void)cudaGetLastError();
            memory = NULL;
        }
        leave(ctx, before);
    }
    return memory;
}

void lsp_cuda_free(lsp_ctx *ctx, void *memory) {
    int before = enter(ctx);
    (void)cudaFreeAsync(memory, state_of(ctx)->stream);
    leave(ctx, before);
}

/* ---- copies ---- */

static bool is_pinned(const void *memory) {
    struct cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
        (void)cudaGetLastError();
        return false;
    }
    return attributes.type != cudaMemoryTypeUnregistered;
}

static lsp_status make_stages(lsp_ctx *ctx) {
    lsp_status status = LSP_OK;
    lsp_cuda_state *state = state_of(ctx);
    for (int s = 0; s < stages && !state->stage[s]; s++) {
        void *memory = NULL;
        LSP_TRY(lsp_cuda_check(ctx, (int)cudaEventCreateWithFlags(&state->idle[s], cudaEventDisableTiming),
                               "no event could be made"));
        status = lsp_cuda_check(ctx, (int)cudaHostAlloc(&memory, stage_bytes, cudaHostAllocDefault),
                                "no pinned memory for copies");
        if (status != LSP_OK) {
            (void)cudaEventDestroy(state->idle[s]);
            goto done;
        }
        state->stage[s] = memory;
    }
done:
    return status;
}

static lsp_status copy_async(lsp_ctx *ctx, void *to, const void *from, size_t bytes) {
    return lsp_cuda_check(ctx, (int)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, state_of(ctx)->stream),
                          "a copy failed");
}

typedef struct span {
    char *to;
    const char *from;
    size_t bytes;
} span;

static void copy_part(void *data, int64_t part, int thread) {
    const span *all = data;
    const size_t begin = (size_t)part * part_bytes;
    (void)thread;
    memcpy(all->to + begin, all->from + begin, all->bytes - begin < part_bytes ? all->bytes - begin : part_bytes);
}

/* Copies into or out of a stage by all threads: one thread is slower than the bus, above all on pages that were never
 * touched. */
static void copy_here(const lsp_ctx *ctx, char *to, const char *from, size_t bytes) {
    span all = {to, from, bytes};
    const int64_t parts = (int64_t)((bytes + part_bytes - 1) / part_bytes);
    lsp_for_parts(ctx, parts, (int)lsp_min(ctx->options.threads, parts), copy_part, &all);
}

/* Copies pageable host memory to the device: fills one stage while the other one is on its way. */
static lsp_status copy_up(lsp_ctx *ctx, char *to, const char *from, size_t bytes) {
    lsp_status status = LSP_OK;
    lsp_cuda_state *state = state_of(ctx);
    for (size_t done = 0, s = 0; done < bytes; done += stage_bytes, s = (s + 1) % stages) {
        size_t piece = bytes - done < stage_bytes ? bytes - done : stage_bytes;
        LSP_TRY(lsp_cuda_check(ctx, (int)cudaEventSynchronize(state->idle[s]), "a copy to the GPU failed"));
        copy_here(ctx, state->stage[s], from + done, piece);
        LSP_TRY(copy_async(ctx, to + done, state->stage[s], piece));
        LSP_TRY(lsp_cuda_check(ctx, (int)cudaEventRecord(state->idle[s], state->stream), "a copy to the GPU failed"));
    }
done:
    return status;
}

lsp_status lsp_cuda_fetch(lsp_ctx *ctx, int stage, int64_t at, const void *from, int64_t bytes) {
    lsp_status status = LSP_OK;
    lsp_cuda_state *state = state_of(ctx);
    const int before = enter(ctx);
    LSP_TRY(make_stages(ctx));
    LSP_TRY(copy_async(ctx, state->stage[stage] + at, from, (size_t)bytes));
    LSP_TRY(lsp_cuda_check(ctx, (int)cudaEventRecord(state->idle[stage], state->stream), "a copy from the GPU failed"));
done:
    leave(ctx, before);
    return status;
}

lsp_status lsp_cuda_fetched(lsp_ctx *ctx, int stage, const void **memory) {
    *memory = state_of(ctx)->stage[stage];
    return lsp_cuda_check(ctx, (int)cudaEventSynchronize(state_of(ctx)->idle[stage]), "a copy from the GPU failed");
}

/* Copies from the device to pageable host memory: empties one stage while the other one is on its way. */
static lsp_status copy_down(lsp_ctx *ctx, char *to, const char *from, size_t bytes) {
    lsp_status status = LSP_OK;
    size_t pieces = (bytes + stage_bytes - 1) / stage_bytes;
    for (size_t p = 0; p <= pieces; p++) { /* piece p leaves the device, piece p-1 leaves its stage */
        if (p < pieces) {
            size_t piece = p + 1 < pieces ? stage_bytes : bytes - p * stage_bytes;
            LSP_TRY(lsp_cuda_fetch(ctx, (int)(p % stages), 0, from + p * stage_bytes, (int64_t)piece));
        }
        if (p > 0) {
            size_t last = p - 1, piece = last + 1 < pieces ? stage_bytes : bytes - last * stage_bytes;
            const void *stage;
            LSP_TRY(lsp_cuda_fetched(ctx, (int)(last % stages), &stage));
            copy_here(ctx, to + last * stage_bytes, stage, piece);
        }
    }
done:
    return status;
}

lsp_status lsp_cuda_read(lsp_ctx *ctx, void *to, const void *from, int64_t bytes) {
    lsp_status status = LSP_OK;
    lsp_cuda_state *state = state_of(ctx);
    if (bytes > note_bytes) {
        return lsp_cuda_copy(ctx, to, LSP_HOST, from, LSP_CUDA, bytes);
    }
    int before = enter(ctx);
    LSP_TRY(copy_async(ctx, state->note, from, (size_t)bytes));
    LSP_TRY(lsp_cuda_check(ctx, (int)cudaStreamSynchronize(state->stream), "work on the GPU failed"));
    memcpy(to, state->note, (size_t)bytes);
done:
    leave(ctx, before);
    return status;
}

lsp_status lsp_cuda_end_note(lsp_ctx *ctx) {
    return lsp_cuda_check(ctx, (int)cudaEventRecord(state_of(ctx)->noted, state_of(ctx)->stream),
                          "a report of the GPU cannot be waited for");
}

lsp_status lsp_cuda_read_note(lsp_ctx *ctx, void *to, int64_t bytes) {
    lsp_status status = LSP_OK;
    LSP_TRY(lsp_cuda_check(ctx, (int)cudaEventSynchronize(state_of(ctx)->noted), "work on the GPU failed"));
    memcpy(to, state_of(ctx)->note, (size_t)bytes);
done:
    return status;
}

lsp_status lsp_cuda_copy(lsp_ctx *ctx, void *to, lsp_where to_where, const void *from, lsp_where from_where,
                         int64_t bytes) {
    lsp_status status = LSP_OK;
    int before = enter(ctx);
    LSP_REQUIRE(state_of(ctx), LSP_ERR_DEVICE, "this context works on the host: it cannot reach GPU memory");
    if (bytes == 0) {
        goto done;
    }
    const void *host = to_where == LSP_HOST ? to : from_where == LSP_HOST ? from : NULL;
    if (to_where == from_where || is_pinned(host)) {
        LSP_TRY(copy_async(ctx, to, from, (size_t)bytes));
    } else {
        LSP_TRY(make_stages(ctx));
        LSP_TRY(to_where == LSP_CUDA ? copy_up(ctx, to, from, (size_t)bytes) : copy_down(ctx, to, from, (size_t)bytes));
    }
    if (host) {
        LSP_TRY(lsp_cuda_check(ctx, (int)cudaStreamSynchronize(state_of(ctx)->stream), "a copy failed"));
    }
done:
    leave(ctx, before);
    return status;
}
