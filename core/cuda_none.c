/* The GPU side of a build without CUDA: every request is answered with a sentence. */
#include "cuda.h"

static lsp_status none(lsp_ctx *ctx) {
    return lsp_fail(ctx, LSP_ERR_DEVICE,
                    "no GPU can be used: this libsparse was built without CUDA (configure with -DLSP_CUDA=ON)");
}

int lsp_cuda_count(void) { return 0; }
lsp_status lsp_cuda_open(lsp_ctx *ctx) { return none(ctx); }
void lsp_cuda_close(lsp_ctx *ctx) { (void)ctx; }
lsp_status lsp_cuda_sync(lsp_ctx *ctx) { return none(ctx); }
lsp_status lsp_cuda_check(lsp_ctx *ctx, int error, const char *what) {
    (void)error, (void)what;
    return none(ctx);
}
lsp_status lsp_cuda_allow_shared(lsp_ctx *ctx, const void *kernel) {
    (void)kernel;
    return none(ctx);
}
void lsp_cuda_enter(lsp_ctx *ctx) { (void)ctx; }
lsp_status lsp_cuda_leave(lsp_ctx *ctx, int error, const char *what) { return lsp_cuda_check(ctx, error, what); }
void *lsp_cuda_stream(lsp_ctx *ctx) {
    (void)ctx;
    return NULL;
}
long long *lsp_cuda_fault(lsp_ctx *ctx) {
    (void)ctx;
    return NULL;
}
const lsp_cuda_chip *lsp_cuda_get_chip(lsp_ctx *ctx) {
    (void)ctx;
    return NULL;
}
bool lsp_cuda_recording(lsp_ctx *ctx) {
    (void)ctx;
    return false;
}
void *lsp_cuda_malloc(lsp_ctx *ctx, size_t bytes) {
    (void)ctx, (void)bytes;
    return NULL;
}
void lsp_cuda_free(lsp_ctx *ctx, void *memory) { (void)ctx, (void)memory; }

lsp_status lsp_cuda_describe(lsp_ctx *ctx, char *name, size_t name_bytes, int64_t *total, int64_t *available) {
    (void)name, (void)name_bytes, (void)total, (void)available;
    return none(ctx);
}

lsp_status lsp_cuda_copy(lsp_ctx *ctx, void *to, lsp_where to_where, const void *from, lsp_where from_where,
                         int64_t bytes) {
    (void)to, (void)to_where, (void)from, (void)from_where, (void)bytes;
    return none(ctx);
}
lsp_status lsp_cuda_fetch(lsp_ctx *ctx, int stage, int64_t at, const void *from, int64_t bytes) {
    (void)stage, (void)at, (void)from, (void)bytes;
    return none(ctx);
}
lsp_status lsp_cuda_fetched(lsp_ctx *ctx, int stage, const void **memory) {
    (void)stage, (void)memory;
    return none(ctx);
}
lsp_status lsp_cuda_read(lsp_ctx *ctx, void *to, const void *from, int64_t bytes) {
    (void)to, (void)from, (void)bytes;
    return none(ctx);
}
void *lsp_cuda_note(lsp_ctx *ctx) {
    (void)ctx;
    return NULL;
}
lsp_status lsp_cuda_end_note(lsp_ctx *ctx) { return none(ctx); }
lsp_status lsp_cuda_read_note(lsp_ctx *ctx, void *to, int64_t bytes) {
    (void)to, (void)bytes;
    return none(ctx);
}
