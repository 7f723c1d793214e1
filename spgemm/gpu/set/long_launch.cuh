/* Launch sizes of the kernels for long rows (kernel_long_mark.cuh, kernel_long_cut.cuh). */
#pragma once

#include "kernel_long_mark.cuh"
#include "spgemm/gpu/launch.cuh"

/* The most columns that a block marks at a time: one bit a column in this chip's shared memory. */
static inline uint32_t count_range(lsp_ctx *ctx) {
    const int most = LONG_COUNT_RANGE / 8 + (16 << 10);
    return lsp_cuda_get_chip(ctx)->shared_block_bytes >= most ? LONG_COUNT_RANGE : LONG_COUNT_RANGE / 2;
}

/* Threads of a block that marks this many columns, and how many of these blocks the chip holds. */
static inline int long_threads(int64_t columns) { return columns < LONG_MANY ? LONG_NT : LONG_MANY_NT; }
static inline int64_t long_blocks(lsp_ctx *ctx, int64_t tasks, int threads) {
    return lsp_min(tasks, chip_sms(ctx) * (LONG_THREADS / threads));
}
