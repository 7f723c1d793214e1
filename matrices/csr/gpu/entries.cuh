/* Work shared out by entries, however long the rows are: a warp takes tiles of entries and finds their rows by binary
 * search, together among all rows, then each lane among those of the tile. */
#pragma once

#include "view.cuh"

enum { ENTRY_TILE = 256 };

/* The row of entry k, which is one of low .. high. */
static inline __device__ int64_t row_of(const gpu_csr &A, int64_t k, int64_t low, int64_t high) {
    return LSP_FIRST(low, high, middle, rowptr_at(A, middle + 1) > k);
}

/* The row of entry k, which is not below `low`; the whole warp searches, 33 times fewer rows a step. */
static inline __device__ int64_t warp_row_of(const gpu_csr &A, int64_t k, int64_t low) {
    int64_t high = A.rows;
    while (high - low > 1) {
        const int64_t length = high - low, probe = low + length * (lane_of() + 1) / 33;
        const int before = __popc(__ballot_sync(~0u, rowptr_at(A, probe) <= k));
        high = before < 32 ? low + length * (before + 1) / 33 : high;
        low = before > 0 ? low + length * before / 33 : low;
    }
    return low;
}

/* A tile: entries first .. end-1, in rows low .. high. */
typedef struct entry_tile {
    int64_t first, end, low, high;
} entry_tile;

/* The whole warp calls together. */
static inline __device__ entry_tile tile_at(const gpu_csr &A, int64_t first) {
    entry_tile tile;
    tile.first = first;
    tile.end = first + ENTRY_TILE < A.nnz ? first + ENTRY_TILE : A.nnz;
    tile.low = warp_row_of(A, first, 0);
    tile.high = warp_row_of(A, tile.end - 1, tile.low);
    return tile;
}

#define EACH_TILE(at, n)                                                                                               \
    for (int64_t at = ((int64_t)blockIdx.x * WARPS + threadIdx.x / 32) * ENTRY_TILE; at < (n);                         \
         at += (int64_t)gridDim.x * WARPS * ENTRY_TILE)

/* *first = the number to which launch(word) lowers a word on the GPU; `none` if it does not. Waits. */
template <typename LAUNCH> static lsp_status find_first(lsp_ctx *ctx, int64_t none, LAUNCH launch, int64_t *first) {
    LSP_SCRATCH_SCOPE(ctx);
    ull *there = NULL, found = ~0ull;
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0xFF, 1, &there));
    LSP_TRY(launch(there));
    LSP_TRY(lsp_cuda_read(ctx, &found, there, sizeof found));
    *first = found == ~0ull ? none : (int64_t)found;
    return LSP_OK;
}

/* *first = min(*first, x): many threads find something, few of them improve it. */
static inline __device__ void lower_to(ull *first, ull x) {
    if (x < *(volatile ull *)first) {
        atomicMin(first, x);
    }
}
