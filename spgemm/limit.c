/* How large a factor the kernels take. Tests lower it, so that small factors are cut too. */
#include "spgemm.h"

int64_t lsp_spgemm_most(const lsp_ctx *ctx) {
    const int64_t *own = ctx->tables[LSP_TABLE_SPGEMM];
    return own != NULL ? *own : INT32_MAX;
}

lsp_status lsp_spgemm_set_most(lsp_ctx *ctx, int64_t most) {
    lsp_status status = LSP_OK;
    void **own = &ctx->tables[LSP_TABLE_SPGEMM];
    LSP_REQUIRE(most >= 2 && most <= INT32_MAX, LSP_ERR_ARGUMENT, "factors of %lld entries: 2 to %d are offered",
                (long long)most, INT32_MAX);
    if (*own == NULL) {
        LSP_TRY(lsp_alloc(ctx, LSP_HOST, 1, sizeof most, own));
    }
    *(int64_t *)*own = most;
done:
    return status;
}
