/* The GPU side of the context, in plain C: device, stream, memory, copies. cuda.c and cuda_copy.c implement it with the
 * CUDA runtime; cuda_none.c refuses every call in a build without CUDA. So every build links and callers need no
 * #ifdef. */
#pragma once

#include "core.h"

LSP_BEGIN_DECLS

int lsp_cuda_count(void); /* GPUs of this machine; 0 without a driver */
/* Sets ctx->cuda: selects the device, takes the caller's stream or creates one. */
lsp_status lsp_cuda_open(lsp_ctx *ctx);
void lsp_cuda_close(lsp_ctx *ctx);
/* Waits for the stream. Fails if a kernel wrote to lsp_cuda_fault since the last call. */
lsp_status lsp_cuda_sync(lsp_ctx *ctx);
/* Waits for the stream, and leaves what kernels wrote to lsp_cuda_fault to lsp_cuda_sync. */
lsp_status lsp_cuda_wait(lsp_ctx *ctx);
/* The GPU's address of a word of host memory, which is 0 at first. A kernel that meets a malformed segment, or a
 * malformed row of a matrix, writes its number + 1 there; one that meets an index outside its array, or a column
 * outside the matrix, writes -1 - its position. */
long long *lsp_cuda_fault(lsp_ctx *ctx);
/* What lsp_cuda_sync makes of the word: LSP_OK for 0, else LSP_ERR_ARGUMENT and a sentence. */
static inline lsp_status lsp_cuda_tell_fault(lsp_ctx *ctx, long long fault) {
    return fault == 0 ? LSP_OK
           : fault < 0
               ? lsp_fail(ctx, LSP_ERR_ARGUMENT,
                          "the index at position %lld of a gather or scatter is outside the array, or that entry's "
                          "column is outside the matrix; it was left out",
                          -1 - fault)
               : lsp_fail(ctx, LSP_ERR_ARGUMENT,
                          "segment %lld, or row %lld of a matrix, begins or ends outside the array, ends before it "
                          "begins, or is longer than was said",
                          fault - 1, fault - 1);
}
/* Properties of the device, read when the context is created. */
typedef struct lsp_cuda_chip {
    int compute; /* compute capability times 10: 90 for 9.0 */
    int sms, shared_sm_bytes, shared_block_bytes, l2_bytes;
    int memory_khz, memory_bus_bits; /* two transfers a clock; 0 where the driver does not tell */
} lsp_cuda_chip;
const lsp_cuda_chip *lsp_cuda_get_chip(lsp_ctx *ctx);
/* Blocks of a kernel with a grid-stride loop over `items`: one per `block_items` items, at least 1, and at most `most`.
 * lsp_blocks_for: at most `sm_blocks` per multiprocessor of the context's GPU. */
static inline int64_t lsp_blocks_upto(int64_t items, int64_t block_items, int64_t most) {
    return lsp_max(lsp_min(lsp_ceil_div(items, block_items), most), 1);
}
static inline int64_t lsp_blocks_for(lsp_ctx *ctx, int64_t items, int64_t block_items, int64_t sm_blocks) {
    return lsp_blocks_upto(items, block_items, sm_blocks * lsp_cuda_get_chip(ctx)->sms);
}
/* Is the stream being captured into a CUDA graph? Then the call may neither allocate nor wait. */
bool lsp_cuda_recording(lsp_ctx *ctx);
/* The GPU's total and free bytes, and its name unless `name` is NULL. */
lsp_status lsp_cuda_describe(lsp_ctx *ctx, char *name, size_t name_bytes, int64_t *total, int64_t *available);
/* Memory from the device's pool, allocated and freed in the order of the context's stream. NULL: out of memory. */
void *lsp_cuda_malloc(lsp_ctx *ctx, size_t bytes);
void lsp_cuda_free(lsp_ctx *ctx, void *memory);
/* Frees memory of lsp_cuda_malloc without its context, from any thread; waits for all work of that GPU. */
void lsp_cuda_free_detached(int ordinal, void *memory);
/* Copies between host and GPU in any direction. Pageable host memory goes through pinned staging. If one side is the
 * host the call waits: the host memory may be used when it returns. */
lsp_status lsp_cuda_copy(lsp_ctx *ctx, void *to, lsp_where to_where, const void *from, lsp_where from_where,
                         int64_t bytes);
/* Copies from the host to the GPU while the work of the context's stream, which must not use `to`, goes on. Waits for
 * the copy alone. */
lsp_status lsp_cuda_copy_beside(lsp_ctx *ctx, void *to, const void *from, int64_t bytes);
/* Sets each byte of memory of the GPU, without waiting. */
lsp_status lsp_cuda_fill(lsp_ctx *ctx, void *memory, int byte, int64_t bytes);
static inline lsp_status lsp_cuda_clear(lsp_ctx *ctx, void *memory, int64_t bytes) {
    return lsp_cuda_fill(ctx, memory, 0, bytes);
}
/* Scratch on the GPU; sets all its bytes to `byte`. LSP_SCRATCH_FILLED: for `count` items of the pointer's type. */
static inline lsp_status lsp_scratch_filled(lsp_ctx *ctx, int byte, int64_t count, size_t item_bytes, void **memory) {
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, count, item_bytes, memory));
    return count > 0 ? lsp_cuda_fill(ctx, *memory, byte, count * (int64_t)item_bytes) : LSP_OK;
}
#define LSP_SCRATCH_FILLED(ctx, byte, count, pointer)                                                                  \
    lsp_scratch_filled((ctx), (byte), (count), sizeof **(pointer), (void **)(pointer))
/* Double buffering of data from the GPU: the host reads one stage (pinned memory) while the next one is filled. _fetch
 * starts a copy to byte `at` of a stage; _fetched waits for all copies to the stage and returns its address. */
enum { LSP_CUDA_STAGES = 2, LSP_CUDA_STAGE_BYTES = 8 << 20 };
lsp_status lsp_cuda_fetch(lsp_ctx *ctx, int stage, int64_t at, const void *from, int64_t bytes);
lsp_status lsp_cuda_fetched(lsp_ctx *ctx, int stage, const void **memory);
/* Copies a few bytes from the GPU to the host and waits for them. */
lsp_status lsp_cuda_read(lsp_ctx *ctx, void *to, const void *from, int64_t bytes);
/* *index = array[i], likewise. */
static inline lsp_status lsp_cuda_read_index(lsp_ctx *ctx, const void *array, lsp_type type, int64_t i,
                                             int64_t *index) {
    const int64_t bytes = (int64_t)lsp_type_bytes(type);
    int64_t word = 0;
    LSP_TRY(lsp_cuda_read(ctx, &word, (const char *)array + i * bytes, bytes));
    *index = lsp_index_at(&word, type, 0);
    return LSP_OK;
}
/* *index = array[i], wherever the array lies. */
static inline lsp_status lsp_read_index(lsp_ctx *ctx, lsp_where where, const void *array, lsp_type type, int64_t i,
                                        int64_t *index) {
    if (where == LSP_CUDA) {
        return lsp_cuda_read_index(ctx, array, type, i, index);
    }
    *index = lsp_index_at(array, type, i);
    return LSP_OK;
}
/* The note: host memory that kernels write directly, so that the host reads it without a copy. lsp_cuda_note returns
 * the GPU's address of it. lsp_cuda_read overwrites it. */
enum { LSP_CUDA_NOTE_BYTES = 4096 };
void *lsp_cuda_note(lsp_ctx *ctx);
/* Call it after the launches of the kernels that write the note. */
lsp_status lsp_cuda_end_note(lsp_ctx *ctx);
/* Waits for those kernels, but not for later work on the stream, and copies the note to `to`. */
lsp_status lsp_cuda_read_note(lsp_ctx *ctx, void *to, int64_t bytes);
/* Words of pinned host memory, 0 at first, that kernels write and the host reads whenever it likes: what one call may
 * learn from those before, without waiting. Returns their address on the host, and the GPU's in *there. */
enum { LSP_CUDA_ANSWERS = 32 };
volatile unsigned long long *lsp_cuda_answers(lsp_ctx *ctx, unsigned long long **there);
/* Work that the host enqueues ahead, a batch at a time, and the news that each batch leaves in pinned memory of
 * LSP_CUDA_SLOTS slots. All zero: closed. A queue may be closed after its context. */
enum { LSP_CUDA_SLOTS = 2 };
typedef struct lsp_cuda_queue {
    void *graph; /* the recorded batch; NULL: none */
    void *event[LSP_CUDA_SLOTS];
    char *news; /* pinned */
    int64_t bytes;
} lsp_cuda_queue;
lsp_status lsp_cuda_queue_open(lsp_ctx *ctx, lsp_cuda_queue *queue, int64_t bytes); /* of one slot */
void lsp_cuda_queue_close(lsp_cuda_queue *queue);
/* Between _record and _recorded, launches on the context's stream are not run but become the batch. `status` is that of
 * these launches; if it is not LSP_OK the batch is thrown away, and _recorded returns it. LSP_ERR_UNSUPPORTED from
 * _record: this stream cannot be recorded. */
lsp_status lsp_cuda_queue_record(lsp_ctx *ctx, lsp_cuda_queue *queue);
lsp_status lsp_cuda_queue_recorded(lsp_ctx *ctx, lsp_cuda_queue *queue, lsp_status status);
lsp_status lsp_cuda_queue_replay(lsp_ctx *ctx, const lsp_cuda_queue *queue); /* enqueues the batch */
void lsp_cuda_queue_forget(lsp_cuda_queue *queue);                           /* the batch */
/* Enqueues a copy of the slot's bytes from the GPU; _news waits for it and returns its address on the host. */
lsp_status lsp_cuda_queue_send(lsp_ctx *ctx, const lsp_cuda_queue *queue, int slot, const void *from);
lsp_status lsp_cuda_queue_news(lsp_ctx *ctx, const lsp_cuda_queue *queue, int slot, const void **news);
/* The context's cudaStream_t. */
void *lsp_cuda_stream(lsp_ctx *ctx);
/* Around calls that use the current device, as launches do: _enter makes the context's device current, _leave restores
 * the caller's device and returns lsp_cuda_check(ctx, error, what). */
void lsp_cuda_enter(lsp_ctx *ctx);
lsp_status lsp_cuda_leave(lsp_ctx *ctx, int error, const char *what);
/* Lets a kernel use all the dynamic shared memory that the GPU has for a block. Only the first call asks the driver. */
lsp_status lsp_cuda_allow_shared(lsp_ctx *ctx, const void *kernel);
/* Turns a cudaError_t into a status with the sentence "what: the driver's words"; cudaSuccess into LSP_OK. */
lsp_status lsp_cuda_check(lsp_ctx *ctx, int error, const char *what);

LSP_END_DECLS
