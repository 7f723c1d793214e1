/* Kernels of this folder share their work by entries, so that one long row is like many short ones: a warp takes a run
 * of 256 entries, 32 at a time, a word. Entries that stay are one bit each in the mask of their word; a prefix sum of
 * the words' counts then places every entry. */
#ifndef LSP_MATRICES_FORMS_GPU_WORDS_CUH
#define LSP_MATRICES_FORMS_GPU_WORDS_CUH

#include "matrices/csr/gpu/view.cuh"

enum { WORD = 32, RUN = 8 * WORD };

static inline int64_t blocks_for_runs(int64_t n) {
    return lsp_max(lsp_min(lsp_ceil_div(n, (int64_t)RUN * WARPS), 1 << 14), 1);
}

/* A warp takes every run whose number is its own modulo the warps of the grid. */
#define EACH_RUN(first, n)                                                                                             \
    for (int64_t first = ((int64_t)blockIdx.x * WARPS + threadIdx.x / 32) * RUN; (first) < (n);                        \
         (first) += (int64_t)gridDim.x * WARPS * RUN)
/* The words of a run: all lanes take part in each. */
#define EACH_WORD(word, first, n) for (int64_t word = (first); word < (first) + RUN && word < (n); word += WORD)

/* The row of entry k, which is one of low .. high: the last row that begins at k or before. */
static inline __device__ int64_t row_between(const void *rowptr, bool wide, int64_t low, int64_t high, int64_t k) {
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (index_at(rowptr, wide, middle) <= k) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* The rows of a run: all its entries lie in the rows low .. high. The search of one entry then takes a few steps. */
typedef struct run_rows {
    const void *rowptr;
    bool wide;
    int64_t low, high;
} run_rows;
static inline __device__ run_rows rows_of_run(const void *rowptr, bool wide, int64_t rows, int64_t first, int64_t n) {
    const int64_t low = row_between(rowptr, wide, 0, rows - 1, first), last = first + RUN < n ? first + RUN - 1 : n - 1;
    const run_rows r = {rowptr, wide, low, row_between(rowptr, wide, low, rows - 1, last)};
    return r;
}
static inline __device__ int64_t row_of(const run_rows &r, int64_t k) {
    return row_between(r.rowptr, r.wide, r.low, r.high, k);
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
