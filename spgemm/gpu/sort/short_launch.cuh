/* Launch sizes of the kernels for short rows: how many rows a warp takes, and how many blocks there are. */
#pragma once

#include "kernel_short.cuh"
#include "spgemm/gpu/launch.cuh"

/* Rows a warp. More rows a warp save work, but only as long as there are warps enough to keep the chip busy. The step
 * to 32 needs twice as many warps, because the longest rows are often neighbours and would be in one warp. */
static inline int rows_each(lsp_ctx *ctx, int64_t rows) {
    int each = 1;
    while (each < WARP && rows > (int64_t)each * chip_sms(ctx) * (each < WARP / 2 ? 40 : 80)) {
        each *= 2;
    }
    return each;
}
/* Steps of a block of kernel_inspect, chosen by the same rule. */
static inline int inspect_steps(lsp_ctx *ctx, int64_t rows) {
    return (int)lsp_max(lsp_min(rows / (INSPECT_NT * chip_sms(ctx) * 16), INSPECT_STEPS), 1);
}
static inline int64_t inspect_blocks(lsp_ctx *ctx, int64_t rows) {
    return lsp_max(lsp_ceil_div(rows, (int64_t)INSPECT_WARPS * rows_each(ctx, rows) * inspect_steps(ctx, rows)), 1);
}
static inline int64_t short_blocks(lsp_ctx *ctx, int64_t rows) {
    return lsp_max(lsp_ceil_div(rows, SHORT_WARPS * rows_each(ctx, rows)), 1);
}

static inline short_layout layout_of(const lsp_spgemm_plan *plan) {
    lsp_ctx *ctx = plan->ctx;
    const int64_t rows = plan->facts.rows, blocks = inspect_blocks(ctx, rows);
    ull *starts = plan->gpu->tiles;
    return (short_layout){rows_each(ctx, rows),
                          inspect_steps(ctx, rows),
                          starts + blocks,
                          starts,
                          plan->gpu->summed ? plan->gpu->rowptr : NULL,
                          plan->gpu->short_repeats > 0};
}
