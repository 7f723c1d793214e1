/* The GPU side of the context, behind plain C. core/cuda.c has it on the CUDA runtime; core/cuda_none.c answers in a
 * build without CUDA. Both exist so that every build links and every caller is the same. */
#ifndef LSP_CORE_CUDA_H
#define LSP_CORE_CUDA_H

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

int lsp_cuda_count(void);
/* Sets ctx->cuda: picks the device, takes or makes the stream. LSP_ERR_DEVICE with a sentence. */
lsp_status lsp_cuda_open(lsp_ctx *ctx);
void lsp_cuda_close(lsp_ctx *ctx);
/* Waits for the stream, then reports what kernels have left at lsp_cuda_fault. */
lsp_status lsp_cuda_sync(lsp_ctx *ctx);
/* Host memory at the address that the GPU has for it, 0 while all is well: a kernel that meets a malformed segment
 * writes the segment's number + 1. */
long long *lsp_cuda_fault(lsp_ctx *ctx);
/* What the device offers; read once. */
typedef struct lsp_cuda_chip {
    int compute; /* 90 of compute capability 9.0 */
    int sms, shared_sm_bytes, shared_block_bytes;
} lsp_cuda_chip;
const lsp_cuda_chip *lsp_cuda_get_chip(lsp_ctx *ctx);
/* Blocks of a kernel that walks through `items` in a grid-stride loop: one for every `block_items` of them, at least 1,
 * and at most `sm_blocks` for each multiprocessor of the context's GPU. */
static inline int64_t lsp_blocks_for(lsp_ctx *ctx, int64_t items, int64_t block_items, int64_t sm_blocks) {
    return lsp_max(lsp_min(lsp_ceil_div(items, block_items), sm_blocks * lsp_cuda_get_chip(ctx)->sms), 1);
}
/* Is work on the stream being recorded into a graph? Then nothing may be allocated or waited for. */
bool lsp_cuda_recording(lsp_ctx *ctx);
/* Total and free bytes, and the name. */
lsp_status lsp_cuda_describe(lsp_ctx *ctx, char *name, size_t name_bytes, int64_t *total, int64_t *available);
/* Memory of the device's pool, ordered on the context's stream. */
void *lsp_cuda_malloc(lsp_ctx *ctx, size_t bytes);
void lsp_cuda_free(lsp_ctx *ctx, void *memory);
/* Copies between any two places, through pinned staging where the host side is pageable. When one side is the host,
 * returns with the host memory free to use. */
lsp_status lsp_cuda_copy(lsp_ctx *ctx, void *to, lsp_where to_where, const void *from, lsp_where from_where,
                         int64_t bytes);
/* What comes from the GPU in pieces, one read while the next is on its way: each in a stage, pinned memory of so many
 * bytes. _fetch begins to fill it, from byte `at` on; _fetched waits for all of it, and says where it lies. */
enum { LSP_CUDA_STAGES = 2, LSP_CUDA_STAGE_BYTES = 8 << 20 };
lsp_status lsp_cuda_fetch(lsp_ctx *ctx, int stage, int64_t at, const void *from, int64_t bytes);
lsp_status lsp_cuda_fetched(lsp_ctx *ctx, int stage, const void **memory);
/* The same for a few bytes of the GPU that the host waits for. */
lsp_status lsp_cuda_read(lsp_ctx *ctx, void *to, const void *from, int64_t bytes);
/* So many bytes of host memory at the address that the GPU has for them: what a kernel writes there is read without a
 * copy. lsp_cuda_read uses them too. */
enum { LSP_CUDA_NOTE_BYTES = 4096 };
void *lsp_cuda_note(lsp_ctx *ctx);
/* Kernels that are on the stream by now leave something there. */
lsp_status lsp_cuda_end_note(lsp_ctx *ctx);
/* Waits for these, not for what has come behind them, and reads it. */
lsp_status lsp_cuda_read_note(lsp_ctx *ctx, void *to, int64_t bytes);
/* The context's cudaStream_t. */
void *lsp_cuda_stream(lsp_ctx *ctx);
/* Around calls that depend on the current device, as launches do: makes it the context's, and puts the caller's back.
 */
void lsp_cuda_enter(lsp_ctx *ctx);
lsp_status lsp_cuda_leave(lsp_ctx *ctx, int error, const char *what); /* lsp_cuda_check(ctx, error, what) */
/* A kernel may be given as much dynamic shared memory as the GPU has for a block; the GPU is asked once. */
lsp_status lsp_cuda_allow_shared(lsp_ctx *ctx, const void *kernel);
/* Turns a cudaError_t into a sentence: "what: the driver's words". 0 is LSP_OK. */
lsp_status lsp_cuda_check(lsp_ctx *ctx, int error, const char *what);

#ifdef __cplusplus
}
#endif
#endif
