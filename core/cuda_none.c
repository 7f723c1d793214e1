/* The GPU side of the context in a build without CUDA: every call that can fail fails with a sentence. */
#include "cuda.h"
#include "items.h"
#include "none.h"
#include "scan.h"

/* clang-format off */
LSP_NO_CUDA(lsp_cuda_open, (lsp_ctx *ctx), ctx)
LSP_NO_CUDA(lsp_cuda_sync, (lsp_ctx *ctx), ctx)
LSP_NO_CUDA(lsp_cuda_wait, (lsp_ctx *ctx), ctx)
LSP_NO_CUDA(lsp_cuda_check, (lsp_ctx *ctx, int error, const char *what), ctx)
LSP_NO_CUDA(lsp_cuda_leave, (lsp_ctx *ctx, int error, const char *what), ctx)
LSP_NO_CUDA(lsp_cuda_allow_shared, (lsp_ctx *ctx, const void *kernel), ctx)
LSP_NO_CUDA(lsp_cuda_describe, (lsp_ctx *ctx, char *name, size_t name_bytes, int64_t *total, int64_t *available), ctx)
LSP_NO_CUDA(lsp_cuda_copy,
            (lsp_ctx *ctx, void *to, lsp_where to_where, const void *from, lsp_where from_where, int64_t bytes), ctx)
LSP_NO_CUDA(lsp_cuda_copy_beside, (lsp_ctx *ctx, void *to, const void *from, int64_t bytes), ctx)
LSP_NO_CUDA(lsp_cuda_fetch, (lsp_ctx *ctx, int stage, int64_t at, const void *from, int64_t bytes), ctx)
LSP_NO_CUDA(lsp_cuda_fetched, (lsp_ctx *ctx, int stage, const void **memory), ctx)
LSP_NO_CUDA(lsp_cuda_fill, (lsp_ctx *ctx, void *memory, int byte, int64_t bytes), ctx)
LSP_NO_CUDA(lsp_cuda_read, (lsp_ctx *ctx, void *to, const void *from, int64_t bytes), ctx)
LSP_NO_CUDA(lsp_cuda_end_note, (lsp_ctx *ctx), ctx)
LSP_NO_CUDA(lsp_cuda_read_note, (lsp_ctx *ctx, void *to, int64_t bytes), ctx)
LSP_NO_CUDA(lsp_cuda_queue_open, (lsp_ctx *ctx, lsp_cuda_queue *queue, int64_t bytes), ctx)
LSP_NO_CUDA(lsp_cuda_queue_record, (lsp_ctx *ctx, lsp_cuda_queue *queue), ctx)
LSP_NO_CUDA(lsp_cuda_queue_recorded, (lsp_ctx *ctx, lsp_cuda_queue *queue, lsp_status status), ctx)
LSP_NO_CUDA(lsp_cuda_queue_replay, (lsp_ctx *ctx, const lsp_cuda_queue *queue), ctx)
LSP_NO_CUDA(lsp_cuda_queue_send, (lsp_ctx *ctx, const lsp_cuda_queue *queue, int slot, const void *from), ctx)
LSP_NO_CUDA(lsp_cuda_queue_news, (lsp_ctx *ctx, const lsp_cuda_queue *queue, int slot, const void **news), ctx)
LSP_NO_CUDA(lsp_cuda_scan, (lsp_ctx *ctx, int64_t *counts, int64_t n, int64_t *total), ctx)
LSP_NO_CUDA(lsp_cuda_convert_values,
            (lsp_ctx *ctx, void *to, lsp_type to_type, const void *from, lsp_type from_type, int64_t n), ctx)
LSP_NO_CUDA(lsp_cuda_convert,
            (lsp_ctx *ctx, void *to, lsp_type to_type, const void *from, lsp_type from_type, int64_t n), ctx)
/* clang-format on */

int lsp_cuda_count(void) { return 0; }
void lsp_cuda_close(lsp_ctx *ctx) {}
void lsp_cuda_queue_close(lsp_cuda_queue *queue) {}
void lsp_cuda_queue_forget(lsp_cuda_queue *queue) {}
void lsp_cuda_enter(lsp_ctx *ctx) {}
void *lsp_cuda_stream(lsp_ctx *ctx) { return NULL; }
long long *lsp_cuda_fault(lsp_ctx *ctx) { return NULL; }
void *lsp_cuda_note(lsp_ctx *ctx) { return NULL; }
volatile unsigned long long *lsp_cuda_answers(lsp_ctx *ctx, unsigned long long **there) { return *there = NULL; }
const lsp_cuda_chip *lsp_cuda_get_chip(lsp_ctx *ctx) { return NULL; }
bool lsp_cuda_recording(lsp_ctx *ctx) { return false; }
void *lsp_cuda_malloc(lsp_ctx *ctx, size_t bytes) { return NULL; }
void lsp_cuda_free(lsp_ctx *ctx, void *memory) {}
void lsp_cuda_free_detached(int ordinal, void *memory) {}
