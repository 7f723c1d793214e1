/* The context: checks its options; creates, describes, changes and destroys it; reports progress. */
#include "cuda.h"
#include "isa.h"
#include "machine.h"
#include "memory.h"
#include "threads.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { most_threads = 4096 };

static lsp_status check_options(lsp_ctx *ctx, const lsp_ctx_options *options) {
    LSP_REQUIRE(options->device == LSP_HOST || options->device == LSP_CUDA, LSP_ERR_ARGUMENT,
                "device %d is neither LSP_HOST nor LSP_CUDA", (int)options->device);
    LSP_REQUIRE(options->ordinal >= 0, LSP_ERR_ARGUMENT, "the GPU's number %d is negative", options->ordinal);
    LSP_REQUIRE(options->threads >= 0 && options->threads <= most_threads, LSP_ERR_ARGUMENT,
                "the number of threads %d is not between 0 and %d", options->threads, most_threads);
    LSP_REQUIRE(options->max_bytes >= 0, LSP_ERR_ARGUMENT, "the budget of %lld bytes is negative",
                (long long)options->max_bytes);
    LSP_REQUIRE(!options->allocator.alloc == !options->allocator.free, LSP_ERR_ARGUMENT,
                "the allocator has only one of its two functions");
    return lsp_check_reserved(ctx, "lsp_ctx_options", options->reserved);
}

/* One allocation holds the context and, behind it, its thread pool. */
enum { pool_at = (sizeof(lsp_ctx) + 63) / 64 * 64 };
static size_t context_bytes(int threads) { return pool_at + lsp_pool_bytes(threads); }

/* Creates what the draft `ctx` describes; the sentence of an error goes to the draft. */
static lsp_status create(lsp_ctx *ctx, lsp_ctx **ctx_out) {
    LSP_REQUIRE(ctx_out, LSP_ERR_ARGUMENT, "the place for the context is NULL");
    LSP_TRY(check_options(ctx, &ctx->options));
    if (ctx->options.threads == 0) {
        ctx->options.threads = (int)lsp_min(omp_get_max_threads(), most_threads);
    }
    ctx->isa = lsp_isa_detect();
    lsp_allocator *allocator = &ctx->options.allocator;
    const bool own_memory = !allocator->alloc;
    if (own_memory) {
        *allocator = (lsp_allocator){.alloc = lsp_default_alloc, .free = lsp_default_free};
    }
    const size_t bytes = context_bytes(ctx->options.threads);
    lsp_ctx *made = allocator->alloc(allocator->user, bytes, LSP_HOST);
    LSP_REQUIRE(made, LSP_ERR_MEMORY, "out of host memory: a context needs %zu bytes", bytes);
    *made = *ctx;
    made->pool = (lsp_pool *)(void *)((char *)made + pool_at);
    lsp_pool_open(made->pool, made->options.threads);
    if (own_memory) {
        made->options.allocator.user = made; /* GPU memory is allocated on the context's stream */
    }
    const lsp_status status = made->options.device == LSP_CUDA ? lsp_cuda_open(made) : LSP_OK;
    if (status != LSP_OK) {
        memcpy(ctx->error, made->error, sizeof ctx->error);
        lsp_ctx_destroy(made);
        return status;
    }
    *ctx_out = made;
    return LSP_OK;
}

lsp_status lsp_ctx_create(lsp_ctx **ctx_out, const lsp_ctx_options *options, char *error, size_t error_bytes) {
    lsp_ctx draft = {0};
    if (options) {
        draft.options = *options;
    }
    const lsp_status status = create(&draft, ctx_out);
    if (error && error_bytes > 0) {
        snprintf(error, error_bytes, "%s", draft.error);
    }
    return status;
}

void lsp_ctx_destroy(lsp_ctx *ctx) {
    if (ctx) {
        lsp_plans_outlive(ctx);
        lsp_memory_close(ctx);
        lsp_cuda_close(ctx);
        lsp_pool_close(ctx->pool);
        ctx->options.allocator.free(ctx->options.allocator.user, ctx, context_bytes(ctx->options.threads), LSP_HOST);
    }
}

lsp_status lsp_ctx_get_info(lsp_ctx *ctx, lsp_ctx_info *info) {
    LSP_REQUIRE(ctx && info, LSP_ERR_ARGUMENT, "the context or the place for its description is NULL");
    const lsp_space *host = &ctx->space[LSP_HOST], *cuda = &ctx->space[LSP_CUDA];
    lsp_ctx_info found = {.device = ctx->options.device,
                          .ordinal = ctx->options.ordinal,
                          .threads = ctx->options.threads,
                          .isa = lsp_isa_name(ctx->isa),
                          .max_bytes = ctx->options.max_bytes,
                          .host_bytes = host->used + host->kept,
                          .host_peak_bytes = host->peak,
                          .cuda_bytes = cuda->used + cuda->kept,
                          .cuda_peak_bytes = cuda->peak};
    if (found.device == LSP_CUDA) {
        found.stream = lsp_cuda_stream(ctx);
        LSP_TRY(lsp_cuda_describe(ctx, found.device_name, sizeof found.device_name, &found.device_total_bytes,
                                  &found.device_free_bytes));
    } else {
        lsp_machine_name(found.device_name, sizeof found.device_name);
        found.device_total_bytes = lsp_machine_memory();
        found.device_free_bytes = lsp_machine_available_memory();
    }
    *info = found;
    return LSP_OK;
}

lsp_status lsp_ctx_reset_peak(lsp_ctx *ctx) {
    LSP_ENTER(ctx);
    ctx->space[LSP_HOST].peak = ctx->space[LSP_HOST].used;
    ctx->space[LSP_CUDA].peak = ctx->space[LSP_CUDA].used;
    return LSP_OK;
}

lsp_status lsp_ctx_set_max_bytes(lsp_ctx *ctx, int64_t max_bytes) {
    LSP_REQUIRE(ctx && max_bytes >= 0, LSP_ERR_ARGUMENT, "the context is NULL or the budget of %lld bytes is negative",
                (long long)max_bytes);
    ctx->options.max_bytes = max_bytes;
    return LSP_OK;
}

lsp_status lsp_ctx_trim(lsp_ctx *ctx) {
    LSP_ENTER(ctx);
    lsp_memory_trim(ctx);
    return LSP_OK;
}

void lsp_ctx_cancel(lsp_ctx *ctx, bool cancelled) {
    if (ctx) {
        __atomic_store_n(&ctx->cancelled, cancelled, __ATOMIC_RELAXED);
    }
}

lsp_status lsp_ctx_sync(lsp_ctx *ctx) {
    LSP_ENTER(ctx);
    return ctx->options.device == LSP_CUDA ? lsp_cuda_sync(ctx) : LSP_OK;
}

void lsp_progress(lsp_ctx *ctx, const char *phase, double fraction) {
    if (ctx->options.progress && (ctx->only_phase == NULL || strcmp(phase, ctx->only_phase) == 0) &&
        lsp_in_callers_thread(ctx)) {
        ctx->options.progress(ctx->options.hook_user, phase, fraction);
    }
}

int lsp_cuda_device_count(void) { return lsp_cuda_count(); }
