/* Shared by the tests of the cache model: figures of a device that does not exist, a case, a prediction. */
#pragma once

#include "cache_model/cache_model.h"
#include "core/cuda.h"
#include "tests/support.h"
#include <math.h>

/* A GPU-like device: hits 100 G/s to 16 MiB, misses 25 G/s from 256 MiB on. */
static inline lsp_cache_figures figures_for(lsp_where where) {
    return (lsp_cache_figures){.device = "a device",
                               .where = where,
                               .threads = where == LSP_HOST,
                               .start_seconds = 2e-6,
                               .copy_rate = 4e12,
                               .line_bytes = 64,
                               .sector_bytes = 32,
                               .cache_bytes = 32 << 20,
                               .stage_bytes = 224 << 10,
                               .points = 4,
                               .footprint = {1 << 20, 16 << 20, 64 << 20, 256 << 20},
                               .reads = {100e9, 100e9, 40e9, 25e9},
                               .writes = {80e9, 80e9, 20e9, 15e9},
                               .writes32 = {80e9, 80e9, 40e9, 30e9}};
}

static inline lsp_cache_case case_of(int64_t n, bool scatter, bool planned) {
    return (lsp_cache_case){
        .n = n, .extent = n, .element_bytes = 8, .index_bytes = 4, .scatter = scatter, .planned = planned};
}

static inline lsp_cache_prediction predict(lsp_ctx *ctx, const lsp_cache_figures *f, const lsp_cache_case *what) {
    lsp_cache_prediction p;
    must(ctx, lsp_cache_model_predict(ctx, f, what, &p));
    return p;
}
