/* Measures the figures of the context's device: cpu/ and gpu/ do it, this file makes curves of what they found. */
#include "cache_model.h"
#include "core/memory.h"
#include <math.h>

/* A disturbance only slows, and a larger footprint is never faster. */
static void smooth(double *rates, int points) {
    for (int i = points - 2; i >= 0; i--) {
        rates[i] = fmax(rates[i], rates[i + 1]);
    }
}

lsp_status lsp_cache_model_calibrate(lsp_ctx *ctx, lsp_cache_figures *figures) {
    lsp_cache_figures found;
    LSP_ENTER(ctx);
    LSP_REQUIRE(figures, LSP_ERR_ARGUMENT, "the place for the figures is NULL");
    LSP_TRY(lsp_cache_builtin_figures(ctx, &found)); /* sizes of caches, which the system tells */
    const lsp_status status =
        found.where == LSP_CUDA ? lsp_cache_calibrate_cuda(ctx, &found) : lsp_cache_calibrate_cpu(ctx, &found);
    lsp_memory_trim(ctx); /* no later call needs as much */
    LSP_TRY(status);
    smooth(found.reads, found.points);
    smooth(found.writes, found.points);
    smooth(found.writes32, found.points);
    LSP_TRY(lsp_cache_check_figures(ctx, &found));
    *figures = found;
    return LSP_OK;
}
