/* Which figures a device may have, and whose they are. */
#include "cache_model.h"
#include <string.h>

static bool between(double x, double low, double high) { return x >= low && x <= high; } /* false for NaN */

static lsp_status check_rates(lsp_ctx *ctx, const lsp_cache_figures *f) {
    lsp_status status = LSP_OK;
    const struct {
        const char *name;
        const double *values;
        double low, high;
    } curves[] = {{"footprint", f->footprint, 1, 1e15},
                  {"reads", f->reads, 1e3, 1e15},
                  {"writes", f->writes, 1e3, 1e15},
                  {"writes32", f->writes32, 1e3, 1e15}};
    for (int c = 0; c < 4; c++) {
        for (int i = 0; i < f->points; i++) {
            LSP_REQUIRE(between(curves[c].values[i], curves[c].low, curves[c].high), LSP_ERR_ARGUMENT,
                        "%s[%d] is %g: it must lie between %g and %g", curves[c].name, i, curves[c].values[i],
                        curves[c].low, curves[c].high);
        }
    }
    for (int i = 1; i < f->points; i++) {
        LSP_REQUIRE(f->footprint[i] > f->footprint[i - 1], LSP_ERR_ARGUMENT,
                    "footprint[%d] is %g, not more than the %g before it", i, f->footprint[i], f->footprint[i - 1]);
    }
done:
    return status;
}

lsp_status lsp_cache_check_figures(lsp_ctx *ctx, const lsp_cache_figures *f) {
    lsp_status status = LSP_OK;
    LSP_REQUIRE(f, LSP_ERR_ARGUMENT, "the figures are NULL");
    LSP_TRY(lsp_check_reserved(ctx, "lsp_cache_figures", f->reserved));
    LSP_REQUIRE(memchr(f->device, 0, sizeof f->device), LSP_ERR_ARGUMENT, "the device's name has no end");
    LSP_REQUIRE(f->where == LSP_HOST || f->where == LSP_CUDA, LSP_ERR_ARGUMENT,
                "the figures are of place %d: neither LSP_HOST nor LSP_CUDA", (int)f->where);
    LSP_REQUIRE(f->threads >= 0 && f->threads <= 1 << 16, LSP_ERR_ARGUMENT, "the figures are of %d threads",
                f->threads);
    LSP_REQUIRE(f->points >= 2 && f->points <= LSP_CACHE_POINTS, LSP_ERR_ARGUMENT,
                "the curves have %d points: 2 to %d are offered", f->points, LSP_CACHE_POINTS);
    const struct {
        const char *name;
        double value, low, high;
    } numbers[] = {{"start_seconds", f->start_seconds, 0, 1}, {"copy_rate", f->copy_rate, 1e6, 1e16},
                   {"line_bytes", f->line_bytes, 8, 4096},    {"sector_bytes", f->sector_bytes, 8, 4096},
                   {"cache_bytes", f->cache_bytes, 64, 1e13}, {"stage_bytes", f->stage_bytes, 1e3, 1e12}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        LSP_REQUIRE(between(numbers[i].value, numbers[i].low, numbers[i].high), LSP_ERR_ARGUMENT,
                    "%s is %g: it must lie between %g and %g", numbers[i].name, numbers[i].value, numbers[i].low,
                    numbers[i].high);
    }
    LSP_REQUIRE(f->line_bytes >= f->sector_bytes, LSP_ERR_ARGUMENT, "a line of %g bytes is smaller than a sector of %g",
                f->line_bytes, f->sector_bytes);
    LSP_TRY(check_rates(ctx, f));
done:
    return status;
}

lsp_status lsp_cache_name_figures(lsp_ctx *ctx, lsp_cache_figures *figures) {
    lsp_status status = LSP_OK;
    lsp_ctx_info info;
    LSP_TRY(lsp_ctx_get_info(ctx, &info));
    *figures = (lsp_cache_figures){.where = info.device, .threads = info.device == LSP_CUDA ? 0 : info.threads};
    memcpy(figures->device, info.device_name, sizeof figures->device);
done:
    return status;
}
