/* Kernels of this folder share their work by entries: a warp takes a tile (csr/gpu/entries.cuh), 32 entries at a time,
 * a word. Entries that stay are one bit each in the mask of their word; a prefix sum of the words' counts then places
 * every entry. */
#pragma once

#include "matrices/csr/gpu/entries.cuh"

enum { WORD = 32 };

#define LAUNCH_TILES(ctx, kernel, n, ...)                                                                              \
    LSP_LAUNCH(ctx, kernel, lsp_blocks_upto((n), ENTRY_TILE *WARPS, 1 << 14), NT, 0, __VA_ARGS__)

/* The words of the tile that begins at entry `at`: all lanes take part in each. */
#define EACH_WORD(word, at, n) for (int64_t word = (at); word < (at) + ENTRY_TILE && word < (n); word += WORD)

/* ---- rows of a tile's entries ---- */

enum { SPREAD_MOST = 1 << 12 }; /* rows of a tile, above which each entry searches for its own */

/* spread[e] = the row of entry first + e, less the first row of the tile; NULL: not made. */
typedef struct tile_rows {
    entry_tile tile;
    const uint16_t *spread;
} tile_rows;

/* By a whole warp: each row marks its first entry in the warp's shared memory, and the marks spread to the right. That
 * takes a third of the time of a binary search for each entry. */
static inline __device__ tile_rows rows_of_tile(const gpu_csr &A, int64_t first, uint16_t (&spread)[ENTRY_TILE]) {
    enum { EACH = ENTRY_TILE / 32 };
    const int lane = lane_of();
    tile_rows t = {tile_at(A, first), NULL};
    if (t.tile.high - t.tile.low >= SPREAD_MOST) {
        return t;
    }
    __syncwarp(); /* the last tile was read */
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        spread[lane + 32 * e] = 0;
    }
    __syncwarp();
    for (int64_t i = t.tile.low + 1 + lane; i <= t.tile.high; i += 32) {
        const int64_t begin = rowptr_at(A, i);
        if (begin < rowptr_at(A, i + 1)) {
            spread[begin - first] = (uint16_t)(i - t.tile.low);
        }
    }
    __syncwarp();
    unsigned own[EACH], most = 0;
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        own[e] = most = max(most, (unsigned)spread[lane * EACH + e]);
    }
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        most = max(most, __shfl_up_sync(~0u, most, step)); /* a lane below `step` gets its own */
    }
    most = __shfl_up_sync(~0u, most, 1);
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        spread[lane * EACH + e] = (uint16_t)(lane > 0 ? max(most, own[e]) : own[e]);
    }
    __syncwarp();
    t.spread = spread;
    return t;
}

static inline __device__ int64_t row_in(const gpu_csr &A, const tile_rows &t, int64_t k) {
    return t.spread ? t.tile.low + t.spread[k - t.tile.first] : row_of(A, k, t.tile.low, t.tile.high);
}

/* ---- masks ---- */

typedef struct gpu_marks {
    unsigned *masks; /* of the words */
    int64_t *counts; /* counts[w + 1]: the bits of word w; after the prefix sum, the bits up to it */
    int64_t items, words;
} gpu_marks;

/* Called by all lanes: item `word` + lane stays or not. */
static inline __device__ void mark_word(const gpu_marks &m, int64_t word, bool stays) {
    const unsigned all = __ballot_sync(~0u, stays);
    if (lane_of() == 0) {
        m.masks[word / WORD] = all;
        m.counts[word / WORD + 1] = __popc(all);
    }
}
/* The number of items before item k that stay. */
static inline __device__ int64_t place_of(const gpu_marks &m, int64_t k) {
    const int64_t w = k / WORD;
    return m.counts[w] + (w < m.words ? __popc(m.masks[w] & ((1u << k % WORD) - 1)) : 0);
}
static inline __device__ bool is_marked(const gpu_marks &m, int64_t k) { return m.masks[k / WORD] >> k % WORD & 1; }

/* rowptr[i] = the items before row i of A that stay. */
static __global__ void kernel_marked_starts(gpu_csr A, gpu_marks m, void *rowptr, bool wide) {
    EACH_ITEM(i, A.rows + 1, NT) { index_set(rowptr, wide, i, place_of(m, rowptr_at(A, i))); }
}

/* Scratch for the marks of n items. counts[0] is 0. */
static inline lsp_status make_marks(lsp_ctx *ctx, int64_t n, gpu_marks *m) {
    m->items = n;
    m->words = lsp_ceil_div(n, WORD);
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, m->words, &m->masks));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, m->words + 1, &m->counts));
    return lsp_cuda_clear(ctx, m->counts, sizeof *m->counts);
}
