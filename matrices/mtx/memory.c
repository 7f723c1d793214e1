/* Checks that the context's budget allows a file to be read, before anything is allocated: so the refusal can name the
 * bytes needed. */
#include "mtx.h"

lsp_status lsp_mtx_check_memory(lsp_ctx *ctx, const lsp_mtx_source *source, int64_t bytes) {
    lsp_status status = LSP_OK;
    if (ctx->options.max_bytes > 0) { /* without a budget, the allocation itself fails */
        const int64_t used = ctx->options.max_bytes - lsp_available_bytes(ctx, LSP_HOST);
        const int64_t needed = used + bytes + (int64_t)sizeof(lsp_mtx_batch);
        LSP_REQUIRE(needed <= ctx->options.max_bytes, LSP_ERR_MEMORY,
                    "%s: reading it needs at least %s, with the memory in use, and the budget is %s", source->name,
                    lsp_size(needed).text, lsp_size(ctx->options.max_bytes).text);
    }
done:
    return status;
}
