/* The figures that a context uses: read once, from the file of a calibration or from the built-in ones, and kept in the
 * context's table. */
#include "cache_model.h"

typedef struct kept {
    lsp_cache_figures used, first; /* in use now; those the context started with */
} kept;

static lsp_status begin(lsp_ctx *ctx, void **table) {
    lsp_status status = LSP_OK;
    lsp_cache_figures first;
    LSP_TRY(lsp_cache_name_figures(ctx, &first));
    if (!lsp_cache_read_figures(ctx, &first)) {
        LSP_TRY(lsp_cache_builtin_figures(ctx, &first));
    }
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, 1, sizeof(kept), table));
    *(kept *)*table = (kept){first, first};
done:
    return status;
}

lsp_status lsp_cache_figures_of(lsp_ctx *ctx, const lsp_cache_figures **figures) {
    lsp_status status = LSP_OK;
    void **table = &ctx->tables[LSP_TABLE_CACHE_MODEL];
    if (*table == NULL) {
        LSP_TRY(begin(ctx, table));
    }
    *figures = &((const kept *)*table)->used;
done:
    return status;
}

lsp_status lsp_cache_model_figures(lsp_ctx *ctx, lsp_cache_figures *figures) {
    lsp_status status = LSP_OK;
    const lsp_cache_figures *used;
    if (ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    LSP_REQUIRE(figures, LSP_ERR_ARGUMENT, "the place for the figures is NULL");
    LSP_TRY(lsp_cache_figures_of(ctx, &used));
    *figures = *used;
done:
    return status;
}

lsp_status lsp_cache_model_set_figures(lsp_ctx *ctx, const lsp_cache_figures *figures) {
    lsp_status status = LSP_OK;
    const lsp_cache_figures *used;
    if (ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    LSP_TRY(lsp_cache_figures_of(ctx, &used));
    if (figures != NULL) {
        LSP_TRY(lsp_cache_check_figures(ctx, figures));
        LSP_REQUIRE(figures->where == used->where, LSP_ERR_ARGUMENT,
                    "the figures are of a %s, the context works on a %s", figures->where == LSP_CUDA ? "GPU" : "CPU",
                    used->where == LSP_CUDA ? "GPU" : "CPU");
    }
    kept *own = ctx->tables[LSP_TABLE_CACHE_MODEL];
    own->used = figures != NULL ? *figures : own->first;
done:
    return status;
}
