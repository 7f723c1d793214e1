/* Kernels of this folder share their work by entries: a warp takes a tile (csr/gpu/entries.cuh), 32 entries at a time,
 * a word. Entries that stay are one bit each in the mask of their word; a prefix sum of the words' counts then places
 * every entry. */
#pragma once

#include "matrices/csr/gpu/entries.cuh"

enum { WORD = 32, TILE_WORDS = ENTRY_TILE / WORD };

#define LAUNCH_TILES(ctx, kernel, n, ...)                                                                              \
    LSP_LAUNCH(ctx, kernel, lsp_blocks_upto((n), ENTRY_TILE *WARPS, 1 << 14), NT, 0, __VA_ARGS__)

/* The words of the tile that begins at entry `at`: all lanes take part in each. */
#define EACH_WORD(word, at, n) for (int64_t word = (at); word < (at) + ENTRY_TILE && word < (n); word += WORD)

/* ---- rows of a tile's entries ---- */

enum { SPREAD_MOST = 1 << 12 }; /* rows of a tile, above which each entry searches for its own */

/* The row of each entry of a tile, less the first row. */
typedef struct alignas(16) tile_spread {
    uint16_t row[ENTRY_TILE];
} tile_spread;
typedef struct tile_rows {
    entry_tile tile;
    const uint16_t *spread; /* NULL: not made */
} tile_rows;

/* Replaces two numbers by the maxima up to them. */
static inline __device__ unsigned pair_up_to(unsigned pair, unsigned *most) {
    const unsigned low = max(*most, pair & 0xFFFF);
    *most = max(low, pair >> 16);
    return *most << 16 | low;
}

/* By a whole warp: each row marks its first entry in the warp's shared memory, and the marks spread to the right. That
 * takes a third of the time of a binary search for each entry. */
static inline __device__ tile_rows rows_of_tile(const gpu_csr &A, int64_t first, tile_spread *shared) {
    static_assert(ENTRY_TILE == 32 * 8, "a lane spreads eight marks");
    const int lane = lane_of();
    uint4 *eight = (uint4 *)shared->row + lane;
    tile_rows t = {tile_at(A, first), NULL};
    if (t.tile.high - t.tile.low >= SPREAD_MOST) {
        return t;
    }
    __syncwarp(); /* the last tile was read */
    *eight = uint4{0, 0, 0, 0};
    __syncwarp();
    for (int64_t i = t.tile.low + 1 + lane; i <= t.tile.high; i += 32) {
        const int64_t begin = rowptr_at(A, i);
        if (begin < t.tile.end && begin < rowptr_at(A, i + 1)) {
            shared->row[begin - first] = (uint16_t)(i - t.tile.low);
        }
    }
    __syncwarp();
    uint4 own = *eight;
    unsigned most = 0;
    pair_up_to(own.x, &most), pair_up_to(own.y, &most), pair_up_to(own.z, &most), pair_up_to(own.w, &most);
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        most = max(most, __shfl_up_sync(~0u, most, step)); /* a lane below `step` gets its own */
    }
    most = __shfl_up_sync(~0u, most, 1);
    most = lane > 0 ? most : 0;
    own.x = pair_up_to(own.x, &most), own.y = pair_up_to(own.y, &most);
    own.z = pair_up_to(own.z, &most), own.w = pair_up_to(own.w, &most);
    *eight = own;
    __syncwarp();
    t.spread = shared->row;
    return t;
}

/* The row of entry k of a tile. Each way is a type, so that a loop over the words of a tile has no branch between its
 * loads: none of them waits for another. */
struct no_row {
    __device__ int64_t operator()(int64_t) const { return 0; }
};
struct spread_row {
    tile_rows t;
    __device__ int64_t operator()(int64_t k) const { return t.tile.low + t.spread[k - t.tile.first]; }
};
struct searched_row {
    const gpu_csr &A;
    entry_tile tile;
    __device__ int64_t operator()(int64_t k) const { return row_of(A, k, tile.low, tile.high); }
};

/* act(row) with the way that suits the tile of A at entry `at`; rowless: nobody asks for rows. */
template <typename ACT>
static inline __device__ void with_rows(const gpu_csr &A, bool rowless, int64_t at, tile_spread *spread, ACT act) {
    if (rowless) {
        act(no_row{});
        return;
    }
    const tile_rows t = rows_of_tile(A, at, &spread[threadIdx.x / 32]);
    if (t.spread) {
        act(spread_row{t});
    } else {
        act(searched_row{A, t.tile});
    }
}

/* ---- masks ---- */

typedef struct gpu_marks {
    unsigned *masks; /* of the words */
    int64_t *counts; /* counts[w + 1]: the bits of word w; after the prefix sum, the bits up to it */
    int64_t items, words;
} gpu_marks;

/* Called by all lanes: item at + 32 w + lane of a tile stays if bit w of `stays` is set. */
static inline __device__ void mark_tile(const gpu_marks &m, int64_t at, unsigned stays) {
    const int64_t word = at / WORD + lane_of();
    unsigned mine = 0;
#pragma unroll
    for (int w = 0; w < TILE_WORDS; w++) {
        const unsigned all = __ballot_sync(~0u, stays >> w & 1);
        mine = lane_of() == w ? all : mine;
    }
    if (lane_of() < TILE_WORDS && word < m.words) {
        m.masks[word] = mine;
        m.counts[word + 1] = __popc(mine);
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
