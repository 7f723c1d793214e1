/* Prefix sums of an array of any length by three kernels: sum each tile, scan the sums of the tiles, scan each tile. */
#include "launch.cuh"
#include "scan.h"

enum { NT = 256, WARPS = NT / WARP, VT = 8, TILE = NT * VT };

static __global__ void __launch_bounds__(NT) kernel_tile_sums(const int64_t *counts, int64_t n, int64_t *tiles) {
    __shared__ int64_t sums[WARPS];
    int64_t sum = 0, total;
    for (int r = 0; r < VT; r++) {
        const int64_t i = (int64_t)blockIdx.x * TILE + r * NT + threadIdx.x;
        sum += i < n ? counts[i] : 0;
    }
    block_scan(sum, sums, &total);
    if (threadIdx.x == 0) {
        tiles[blockIdx.x] = total;
    }
}

/* Replaces tiles[] by its exclusive prefix sums; one block. */
static __global__ void __launch_bounds__(NT) kernel_tile_scan(int64_t *tiles, int64_t n) {
    __shared__ int64_t sums[WARPS];
    int64_t before = 0, total;
    for (int64_t first = 0; first < n; first += NT) {
        const int64_t i = first + threadIdx.x, x = i < n ? tiles[i] : 0, sum = block_scan(x, sums, &total);
        if (i < n) {
            tiles[i] = before + sum;
        }
        before += total;
    }
}

/* Replaces counts[] by its inclusive prefix sums. tiles[t]: the sum of all tiles before t; NULL if there is one tile.
 */
static __global__ void __launch_bounds__(NT)
    kernel_scan(int64_t *counts, int64_t n, const int64_t *tiles, int64_t *last) {
    __shared__ int64_t sums[WARPS];
    int64_t before = tiles ? tiles[blockIdx.x] : 0, total;
    for (int r = 0; r < VT; r++) {
        const int64_t i = (int64_t)blockIdx.x * TILE + r * NT + threadIdx.x;
        const int64_t x = i < n ? counts[i] : 0, sum = block_scan(x, sums, &total);
        if (i < n) {
            counts[i] = before + sum + x;
            if (last && i == n - 1) {
                *last = before + sum + x;
            }
        }
        before += total;
    }
}

extern "C" int64_t lsp_cuda_scan_sums(int64_t n) { return lsp_ceil_div(n, TILE); }

extern "C" lsp_status lsp_cuda_scan_in(lsp_ctx *ctx, int64_t *counts, int64_t n, int64_t *sums, int64_t *last) {
    const int64_t tiles = lsp_cuda_scan_sums(n);
    if (tiles > 1) {
        LSP_TRY(LSP_LAUNCH(ctx, kernel_tile_sums, tiles, NT, 0, counts, n, sums));
        LSP_TRY(LSP_LAUNCH(ctx, kernel_tile_scan, 1, NT, 0, sums, tiles));
    }
    if (tiles > 0) {
        LSP_TRY(LSP_LAUNCH(ctx, kernel_scan, tiles, NT, 0, counts, n, tiles > 1 ? sums : NULL, last));
    }
    return LSP_OK;
}

extern "C" lsp_status lsp_cuda_scan_async(lsp_ctx *ctx, int64_t *counts, int64_t n, int64_t *last) {
    LSP_SCRATCH_SCOPE(ctx);
    int64_t *sums = NULL;
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, lsp_cuda_scan_sums(n), &sums));
    return lsp_cuda_scan_in(ctx, counts, n, sums, last);
}

extern "C" lsp_status lsp_cuda_scan(lsp_ctx *ctx, int64_t *counts, int64_t n, int64_t *total) {
    LSP_TRY(lsp_cuda_scan_async(ctx, counts, n, NULL));
    if (total != NULL) {
        *total = 0;
        LSP_TRY(n > 0 ? lsp_cuda_read(ctx, total, counts + n - 1, sizeof *total) : LSP_OK);
    }
    return LSP_OK;
}
