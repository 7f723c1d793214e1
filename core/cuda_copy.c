/* Copies between host and GPU on the CUDA runtime. Pageable host memory goes through two stages of pinned memory:
 * threads fill or empty one while the other is on the bus. */
#include "cuda_state.h"

#include <string.h>

enum {
    part_bytes = 512 << 10, /* of a copy into or out of a stage: what one thread takes at a time */
    copiers = 8             /* threads at most: with 16 a copy takes 1.4 times as long on a host of 32 cores */
};

static bool is_pinned(const void *memory) {
    struct cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
        (void)cudaGetLastError();
        return false;
    }
    return attributes.type != cudaMemoryTypeUnregistered;
}

static lsp_status make_stages(lsp_ctx *ctx) {
    lsp_cuda_state *state = state_of(ctx);
    for (int s = 0; s < stages && !state->stage[s]; s++) {
        void *memory = NULL;
        LSP_TRY(CALL(cudaEventCreateWithFlags(&state->idle[s], cudaEventDisableTiming), "no event could be made"));
        const lsp_status status =
            CALL(cudaHostAlloc(&memory, stage_bytes, cudaHostAllocDefault), "no pinned memory for copies");
        if (status != LSP_OK) {
            (void)cudaEventDestroy(state->idle[s]);
            return status;
        }
        state->stage[s] = memory;
    }
    return LSP_OK;
}

static lsp_status copy_in(lsp_ctx *ctx, cudaStream_t stream, void *to, const void *from, size_t bytes) {
    return CALL(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "a copy failed");
}
static lsp_status copy_async(lsp_ctx *ctx, void *to, const void *from, size_t bytes) {
    return copy_in(ctx, state_of(ctx)->stream, to, from, bytes);
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

/* Copies into or out of a stage by several threads: one thread is slower than the bus, above all on pages that were
 * never touched. */
static void copy_here(const lsp_ctx *ctx, char *to, const char *from, size_t bytes) {
    span all = {to, from, bytes};
    const int64_t parts = (int64_t)((bytes + part_bytes - 1) / part_bytes);
    lsp_for_parts(ctx, parts, (int)lsp_min(lsp_min(ctx->options.threads, copiers), parts), copy_part, &all);
}

/* Copies pageable host memory to the device: fills one stage while the other one is on its way. */
static lsp_status copy_up(lsp_ctx *ctx, cudaStream_t stream, char *to, const char *from, size_t bytes) {
    lsp_cuda_state *state = state_of(ctx);
    for (size_t done = 0, s = 0; done < bytes; done += stage_bytes, s = (s + 1) % stages) {
        size_t piece = bytes - done < stage_bytes ? bytes - done : stage_bytes;
        LSP_TRY(CALL(cudaEventSynchronize(state->idle[s]), "a copy to the GPU failed"));
        copy_here(ctx, state->stage[s], from + done, piece);
        LSP_TRY(copy_in(ctx, stream, to + done, state->stage[s], piece));
        LSP_TRY(CALL(cudaEventRecord(state->idle[s], stream), "a copy to the GPU failed"));
    }
    return LSP_OK;
}

lsp_status lsp_cuda_fetch(lsp_ctx *ctx, int stage, int64_t at, const void *from, int64_t bytes) {
    lsp_cuda_state *state = state_of(ctx);
    ON_DEVICE(ctx);
    LSP_TRY(make_stages(ctx));
    LSP_TRY(copy_async(ctx, state->stage[stage] + at, from, (size_t)bytes));
    return CALL(cudaEventRecord(state->idle[stage], state->stream), "a copy from the GPU failed");
}

lsp_status lsp_cuda_fetched(lsp_ctx *ctx, int stage, const void **memory) {
    *memory = state_of(ctx)->stage[stage];
    return CALL(cudaEventSynchronize(state_of(ctx)->idle[stage]), "a copy from the GPU failed");
}

/* Copies from the device to pageable host memory: empties one stage while the other one is on its way. */
static lsp_status copy_down(lsp_ctx *ctx, char *to, const char *from, size_t bytes) {
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
    return LSP_OK;
}

lsp_status lsp_cuda_fill(lsp_ctx *ctx, void *memory, int byte, int64_t bytes) {
    return CALL_THERE(cudaMemsetAsync(memory, byte, (size_t)bytes, state_of(ctx)->stream),
                      "setting memory of the GPU failed");
}

lsp_status lsp_cuda_read(lsp_ctx *ctx, void *to, const void *from, int64_t bytes) {
    lsp_cuda_state *state = state_of(ctx);
    if (bytes > note_bytes) {
        return lsp_cuda_copy(ctx, to, LSP_HOST, from, LSP_CUDA, bytes);
    }
    ON_DEVICE(ctx);
    LSP_TRY(copy_async(ctx, state->note, from, (size_t)bytes));
    LSP_TRY(CALL(cudaStreamSynchronize(state->stream), "work on the GPU failed"));
    memcpy(to, state->note, (size_t)bytes);
    return LSP_OK;
}

lsp_status lsp_cuda_end_note(lsp_ctx *ctx) {
    return CALL(cudaEventRecord(state_of(ctx)->noted, state_of(ctx)->stream),
                "a report of the GPU cannot be waited for");
}

lsp_status lsp_cuda_read_note(lsp_ctx *ctx, void *to, int64_t bytes) {
    LSP_TRY(CALL(cudaEventSynchronize(state_of(ctx)->noted), "work on the GPU failed"));
    memcpy(to, state_of(ctx)->note, (size_t)bytes);
    return LSP_OK;
}

/* Lets this context's GPU read the memory of another one. */
static bool reach(const lsp_ctx *ctx, int other) {
    const struct cudaMemAccessDesc access = {.location = {cudaMemLocationTypeDevice, ctx->options.ordinal},
                                             .flags = cudaMemAccessFlagsProtReadWrite};
    cudaMemPool_t pool;
    int can = 0;
    return cudaDeviceCanAccessPeer(&can, ctx->options.ordinal, other) == cudaSuccess && can &&
           cudaDeviceGetMemPool(&pool, other) == cudaSuccess && cudaMemPoolSetAccess(pool, &access, 1) == cudaSuccess;
}

/* From a GPU that this one cannot read: by the host. */
static lsp_status copy_by_host(lsp_ctx *ctx, char *to, const char *from, int other, size_t bytes) {
    lsp_cuda_state *state = state_of(ctx);
    LSP_TRY(make_stages(ctx));
    for (size_t done = 0, piece; done < bytes; done += piece) {
        piece = bytes - done < stage_bytes ? bytes - done : stage_bytes;
        (void)cudaSetDevice(other);
        const lsp_status status =
            CALL(cudaMemcpy(state->stage[0], from + done, piece, cudaMemcpyDeviceToHost), "a copy failed");
        (void)cudaSetDevice(ctx->options.ordinal);
        LSP_TRY(status);
        LSP_TRY(copy_async(ctx, to + done, state->stage[0], piece));
        LSP_TRY(CALL(cudaStreamSynchronize(state->stream), "a copy failed"));
    }
    return LSP_OK;
}

/* Within a GPU, or from another one, whose memory can be read once that was asked for. */
static lsp_status copy_to_device(lsp_ctx *ctx, void *to, const void *from, size_t bytes) {
    struct cudaPointerAttributes there;
    if (cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, state_of(ctx)->stream) == cudaSuccess) {
        return LSP_OK;
    }
    (void)cudaGetLastError();
    if (cudaPointerGetAttributes(&there, from) == cudaSuccess && there.type == cudaMemoryTypeDevice &&
        there.device != ctx->options.ordinal && !reach(ctx, there.device)) {
        (void)cudaGetLastError();
        return copy_by_host(ctx, to, from, there.device, bytes);
    }
    return copy_async(ctx, to, from, bytes);
}

lsp_status lsp_cuda_copy(lsp_ctx *ctx, void *to, lsp_where to_where, const void *from, lsp_where from_where,
                         int64_t bytes) {
    ON_DEVICE(ctx);
    LSP_REQUIRE(state_of(ctx), LSP_ERR_DEVICE, "this context works on the host: it cannot reach GPU memory");
    if (bytes == 0) {
        return LSP_OK;
    }
    const void *host = to_where == LSP_HOST ? to : from_where == LSP_HOST ? from : NULL;
    if (!host) {
        LSP_TRY(copy_to_device(ctx, to, from, (size_t)bytes));
    } else if (to_where == from_where || is_pinned(host)) {
        LSP_TRY(copy_async(ctx, to, from, (size_t)bytes));
    } else {
        LSP_TRY(make_stages(ctx));
        LSP_TRY(to_where == LSP_CUDA ? copy_up(ctx, state_of(ctx)->stream, to, from, (size_t)bytes)
                                     : copy_down(ctx, to, from, (size_t)bytes));
    }
    return host ? CALL(cudaStreamSynchronize(state_of(ctx)->stream), "a copy failed") : LSP_OK;
}

lsp_status lsp_cuda_copy_beside(lsp_ctx *ctx, void *to, const void *from, int64_t bytes) {
    lsp_cuda_state *state = state_of(ctx);
    ON_DEVICE(ctx);
    if (!state->beside) {
        LSP_TRY(CALL(cudaStreamCreateWithFlags(&state->beside, cudaStreamNonBlocking), "no stream could be made"));
    }
    if (is_pinned(from)) {
        LSP_TRY(copy_in(ctx, state->beside, to, from, (size_t)bytes));
    } else {
        LSP_TRY(make_stages(ctx));
        LSP_TRY(copy_up(ctx, state->beside, to, from, (size_t)bytes));
    }
    return CALL(cudaStreamSynchronize(state->beside), "a copy failed");
}
