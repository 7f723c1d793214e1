/* Work shared out by entries, however long the rows are: a warp takes tiles of entries. A kernel finds the row of each
 * tile's first entry, all of them at the same time; each lane finds that of an entry among those of its tile. */
#pragma once

#include "view.cuh"

enum { ENTRY_TILE = 256 };

/* The row of entry k, which is one of low .. high. */
static inline __device__ int64_t row_of(const gpu_csr &A, int64_t k, int64_t low, int64_t high) {
    return LSP_FIRST(low, high, middle, rowptr_at(A, middle + 1) > k);
}

static __global__ void kernel_tile_rows(gpu_csr A, int64_t tiles, int64_t *low) {
    EACH_ITEM(t, tiles + 1, NT) { low[t] = row_of(A, t < tiles ? t * ENTRY_TILE : A.nnz - 1, 0, A.rows); }
}

/* A->tile_low: in scratch, for tile_at. */
static inline lsp_status find_tile_rows(lsp_ctx *ctx, gpu_csr *A) {
    const int64_t tiles = lsp_ceil_div(A->nnz, ENTRY_TILE);
    int64_t *low = NULL;
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, tiles + 1, &low));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_tile_rows, lsp_blocks_upto(tiles + 1, NT, 1 << 14), NT, 0, *A, tiles, low));
    A->tile_low = low;
    return LSP_OK;
}

/* A tile: entries first .. end-1, in rows low .. high; the last of them may begin with the next tile. */
typedef struct entry_tile {
    int64_t first, end, low, high;
} entry_tile;

static inline __device__ entry_tile tile_at(const gpu_csr &A, int64_t first) {
    const int64_t t = first / ENTRY_TILE;
    const int64_t end = first + ENTRY_TILE < A.nnz ? first + ENTRY_TILE : A.nnz;
    return entry_tile{first, end, A.tile_low[t], A.tile_low[t + 1]};
}

#define EACH_TILE(at, n)                                                                                               \
    for (int64_t at = ((int64_t)blockIdx.x * WARPS + threadIdx.x / 32) * ENTRY_TILE; at < (n);                         \
         at += (int64_t)gridDim.x * WARPS * ENTRY_TILE)
