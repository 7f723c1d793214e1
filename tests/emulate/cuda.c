/* core/cuda.h for the emulated GPU: its memory is host memory, and every launch and copy ends before it returns. */
#include "core/cuda.h"
#include "emulate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t memory_bytes = (int64_t)16 << 30; /* the largest allocation */
/* Not const: a test may take a part of the chip away, to see how kernels do with less. */
static lsp_cuda_chip chip = {.compute = 90,
                             .sms = EMU_SMS,
                             .shared_sm_bytes = EMU_SHARED_BYTES + 1024,
                             .shared_block_bytes = EMU_SHARED_BYTES,
                             .l2_bytes = EMU_L2_BYTES};

/* ctx->cuda points to the fault word; the note, the answers and the stages follow it. */
enum { answer_bytes = LSP_CUDA_ANSWERS * sizeof(unsigned long long) };
static const size_t state_bytes =
    sizeof(long long) + LSP_CUDA_NOTE_BYTES + answer_bytes + (size_t)LSP_CUDA_STAGES * LSP_CUDA_STAGE_BYTES;
long long *lsp_cuda_fault(lsp_ctx *ctx) { return ctx->cuda; }
void *lsp_cuda_note(lsp_ctx *ctx) { return lsp_cuda_fault(ctx) + 1; }
volatile unsigned long long *lsp_cuda_answers(lsp_ctx *ctx, unsigned long long **there) {
    return *there = (unsigned long long *)((char *)lsp_cuda_note(ctx) + LSP_CUDA_NOTE_BYTES);
}

int lsp_cuda_count(void) { return 1; }
void *lsp_cuda_stream(lsp_ctx *ctx) {
    (void)ctx;
    return NULL;
}
bool lsp_cuda_recording(lsp_ctx *ctx) {
    (void)ctx;
    return false;
}
const lsp_cuda_chip *lsp_cuda_get_chip(lsp_ctx *ctx) {
    (void)ctx;
    return &chip;
}

lsp_status lsp_cuda_check(lsp_ctx *ctx, int error, const char *what) {
    return error == 0 ? LSP_OK : lsp_fail(ctx, LSP_ERR_DEVICE, "%s (CUDA error %d of an emulated GPU)", what, error);
}

void lsp_cuda_enter(lsp_ctx *ctx) {
    (void)ctx;
    emu_set_current(true);
}
lsp_status lsp_cuda_leave(lsp_ctx *ctx, int error, const char *what) {
    emu_set_current(false);
    return lsp_cuda_check(ctx, error, what);
}

lsp_status lsp_cuda_allow_shared(lsp_ctx *ctx, const void *kernel) {
    return lsp_cuda_check(ctx, emu_allow_shared(kernel, EMU_SHARED_BYTES), "a kernel cannot have its shared memory");
}

lsp_status lsp_cuda_open(lsp_ctx *ctx) {
    const lsp_allocator *allocator = &ctx->options.allocator;
    LSP_REQUIRE(ctx->options.ordinal == 0, LSP_ERR_DEVICE, "there is no GPU %d: one is emulated", ctx->options.ordinal);
    ctx->cuda = allocator->alloc(allocator->user, state_bytes, LSP_HOST);
    LSP_REQUIRE(ctx->cuda, LSP_ERR_MEMORY, "out of host memory: a GPU's context needs %zu bytes more", state_bytes);
    memset(ctx->cuda, 0, sizeof(long long) + LSP_CUDA_NOTE_BYTES + answer_bytes);
    return LSP_OK;
}

void lsp_cuda_close(lsp_ctx *ctx) {
    if (ctx->cuda) {
        ctx->options.allocator.free(ctx->options.allocator.user, ctx->cuda, state_bytes, LSP_HOST);
        ctx->cuda = NULL;
    }
}

lsp_status lsp_cuda_wait(lsp_ctx *ctx) {
    (void)ctx;
    return LSP_OK;
}
lsp_status lsp_cuda_sync(lsp_ctx *ctx) {
    long long fault = __atomic_exchange_n(lsp_cuda_fault(ctx), 0, __ATOMIC_ACQ_REL);
    return lsp_cuda_tell_fault(ctx, fault);
}

lsp_status lsp_cuda_describe(lsp_ctx *ctx, char *name, size_t name_bytes, int64_t *total, int64_t *available) {
    LSP_REQUIRE(ctx->cuda, LSP_ERR_DEVICE, "this context works on the host: it has no GPU to describe");
    if (name) {
        snprintf(name, name_bytes, "emulated GPU");
    }
    *total = *available = memory_bytes;
    return LSP_OK;
}

/* Allocates exactly `bytes` bytes, so that the address sanitizer sees accesses beyond them, and fills them, so that no
 * kernel relies on zeros. NULL for 0 bytes, as in CUDA. */
void *lsp_cuda_malloc(lsp_ctx *ctx, size_t bytes) {
    void *memory = NULL;
    if (!ctx->cuda || bytes == 0 || bytes > (uint64_t)memory_bytes || posix_memalign(&memory, 256, bytes) != 0) {
        return NULL;
    }
    memset(memory, EMU_PATTERN, bytes);
    return memory;
}

void lsp_cuda_free(lsp_ctx *ctx, void *memory) {
    (void)ctx;
    free(memory);
}
void lsp_cuda_free_detached(int ordinal, void *memory) {
    (void)ordinal;
    free(memory);
}

lsp_status lsp_cuda_copy(lsp_ctx *ctx, void *to, lsp_where to_where, const void *from, lsp_where from_where,
                         int64_t bytes) {
    (void)to_where, (void)from_where;
    LSP_REQUIRE(ctx->cuda, LSP_ERR_DEVICE, "this context works on the host: it cannot reach GPU memory");
    if (bytes > 0) {
        memmove(to, from, (size_t)bytes);
    }
    return LSP_OK;
}

/* A fetch copies at once, and overwrites what the last fetch left in the stage. */
static char *stage_of(lsp_ctx *ctx, int stage) {
    return (char *)lsp_cuda_note(ctx) + LSP_CUDA_NOTE_BYTES + answer_bytes + (ptrdiff_t)stage * LSP_CUDA_STAGE_BYTES;
}
lsp_status lsp_cuda_copy_beside(lsp_ctx *ctx, void *to, const void *from, int64_t bytes) {
    return lsp_cuda_copy(ctx, to, LSP_CUDA, from, LSP_HOST, bytes);
}
lsp_status lsp_cuda_fetch(lsp_ctx *ctx, int stage, int64_t at, const void *from, int64_t bytes) {
    return lsp_cuda_copy(ctx, stage_of(ctx, stage) + at, LSP_HOST, from, LSP_CUDA, bytes);
}
lsp_status lsp_cuda_fetched(lsp_ctx *ctx, int stage, const void **memory) {
    *memory = stage_of(ctx, stage);
    return LSP_OK;
}
lsp_status lsp_cuda_fill(lsp_ctx *ctx, void *memory, int byte, int64_t bytes) {
    (void)ctx;
    memset(memory, byte, (size_t)bytes);
    return LSP_OK;
}

lsp_status lsp_cuda_read(lsp_ctx *ctx, void *to, const void *from, int64_t bytes) {
    void *by = bytes <= LSP_CUDA_NOTE_BYTES ? lsp_cuda_note(ctx) : to; /* overwrites the note, as cuda_copy.c does */
    LSP_TRY(lsp_cuda_copy(ctx, by, LSP_HOST, from, LSP_CUDA, bytes));
    memmove(to, by, (size_t)bytes);
    return LSP_OK;
}
lsp_status lsp_cuda_end_note(lsp_ctx *ctx) {
    (void)ctx;
    return LSP_OK;
}
lsp_status lsp_cuda_read_note(lsp_ctx *ctx, void *to, int64_t bytes) {
    memcpy(to, lsp_cuda_note(ctx), (size_t)bytes);
    return LSP_OK;
}

/* A batch cannot be recorded: callers enqueue it piece by piece instead. */
lsp_status lsp_cuda_queue_open(lsp_ctx *ctx, lsp_cuda_queue *queue, int64_t bytes) {
    *queue = (lsp_cuda_queue){.bytes = bytes, .news = malloc((size_t)bytes * LSP_CUDA_SLOTS)};
    return queue->news != NULL ? LSP_OK : lsp_fail(ctx, LSP_ERR_MEMORY, "no memory for the news of the emulated GPU");
}
void lsp_cuda_queue_close(lsp_cuda_queue *queue) {
    free(queue->news);
    *queue = (lsp_cuda_queue){0};
}
void lsp_cuda_queue_forget(lsp_cuda_queue *queue) { queue->graph = NULL; }
lsp_status lsp_cuda_queue_record(lsp_ctx *ctx, lsp_cuda_queue *queue) {
    (void)ctx, (void)queue;
    return LSP_ERR_UNSUPPORTED;
}
lsp_status lsp_cuda_queue_recorded(lsp_ctx *ctx, lsp_cuda_queue *queue, lsp_status status) {
    (void)ctx, (void)queue;
    return status;
}
lsp_status lsp_cuda_queue_replay(lsp_ctx *ctx, const lsp_cuda_queue *queue) {
    (void)queue;
    return lsp_fail(ctx, LSP_ERR_UNSUPPORTED, "an emulated GPU has no graphs");
}
lsp_status lsp_cuda_queue_send(lsp_ctx *ctx, const lsp_cuda_queue *queue, int slot, const void *from) {
    (void)ctx;
    memcpy(queue->news + slot * queue->bytes, from, (size_t)queue->bytes);
    return LSP_OK;
}
lsp_status lsp_cuda_queue_news(lsp_ctx *ctx, const lsp_cuda_queue *queue, int slot, const void **news) {
    (void)ctx;
    *news = queue->news + slot * queue->bytes;
    return LSP_OK;
}
