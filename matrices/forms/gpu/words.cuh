/* Kernels of this folder share their work by entries: a warp takes a tile (csr/gpu/entries.cuh), 32 entries at a time,
 * a word. Entries that stay are one bit each in the mask of their word; a prefix sum of the words' counts then places
 * every entry. */
#ifndef LSP_MATRICES_FORMS_GPU_WORDS_CUH
#define LSP_MATRICES_FORMS_GPU_WORDS_CUH

#include "matrices/csr/gpu/entries.cuh"

enum { WORD = 32 };

static inline int64_t blocks_for_tiles(int64_t n) {
    return lsp_max(lsp_min(lsp_ceil_div(n, (int64_t)ENTRY_TILE * WARPS), 1 << 14), 1);
}

/* The words of the tile that begins at entry `at`: all lanes take part in each. */
#define EACH_WORD(word, at, n) for (int64_t word = (at); word < (at) + ENTRY_TILE && word < (n); word += WORD)

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

/* Scratch for the marks of n items. counts[0] is 0. */
static inline lsp_status make_marks(lsp_ctx *ctx, int64_t n, gpu_marks *m) {
    lsp_status status = LSP_OK;
    m->items = n;
    m->words = lsp_ceil_div(n, WORD);
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, m->words, sizeof *m->masks, (void **)&m->masks));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, m->words + 1, sizeof *m->counts, (void **)&m->counts));
    LSP_TRY(lsp_cuda_clear(ctx, m->counts, sizeof *m->counts));
done:
    return status;
}

#endif
