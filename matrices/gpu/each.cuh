/* The kernels of the bodies of entries. A warp takes a tile of entries, 32 at a time, a word (forms/gpu/words.cuh). */
#pragma once

#include "core/each.cuh"
#include "core/scan.h"
#include "matrices/each.h"
#include "matrices/forms/forms.h"
#include "matrices/forms/gpu/words.cuh"

/* ---- each entry ---- */

template <class BODY>
static __global__ void __launch_bounds__(NT)
    kernel_entries(typename BODY::arguments a, lsp_kind t, gpu_csr A, bool rowless, lsp_found *found) {
    __shared__ uint16_t spread[WARPS][ENTRY_TILE];
    lsp_found mine = lsp_found_nothing();
    EACH_TILE(at, A.nnz) {
        const tile_rows rows = rowless ? tile_rows{} : rows_of_tile(A, at, spread[threadIdx.x / 32]);
        EACH_WORD(word, at, A.nnz) {
            const int64_t k = word + lane_of();
            if (k < A.nnz) {
                BODY::at(&a, t, rowless ? 0 : row_in(A, rows, k), k, &mine);
            }
        }
    }
    if (found != NULL) {
        block_found(mine, &found[blockIdx.x]);
    }
}

template <class BODY> static lsp_status launch_entries(lsp_ctx *ctx, const lsp_entry_job *job) {
    const int64_t blocks = lsp_blocks_upto(job->A->nnz, ENTRY_TILE * WARPS, 1 << 14);
    const lsp_kind t = {job->A->col_type, job->A->val_type, false};
    return launch_found(ctx, blocks, job->found, [&](lsp_found *there) {
        return LSP_LAUNCH(ctx, kernel_entries<BODY>, blocks, NT, 0, *(const typename BODY::arguments *)job->args, t,
                          view(job->A), job->rowless, there);
    });
}

/* ---- entries that are kept ---- */

/* The entries of the rows of B before any goes. G: their row pointers, it has no other arrays. */
typedef struct keep_source {
    gpu_csr A, G;
    const void *rows; /* NULL: those of A */
    bool wide;
    bool rowless; /* nobody asks for the row of an entry */
    int bytes;    /* of a value */
} keep_source;

static __device__ int64_t row_taken(const keep_source &s, int64_t i) {
    return s.rows ? index_at(s.rows, s.wide, i) : i;
}

static __global__ void kernel_lengths(keep_source s, int64_t *starts) {
    EACH_ITEM(i, s.G.rows + 1, NT) {
        const int64_t row = i > 0 ? row_taken(s, i - 1) : 0;
        starts[i] = i > 0 ? rowptr_at(s.A, row + 1) - rowptr_at(s.A, row) : 0;
    }
}

static __global__ void kernel_total(const int64_t *counts, int64_t n, lsp_wide_sum *sum) {
    ull low = 0, high = 0;
    EACH_ITEM(i, n, NT) {
        low += (ull)counts[i] & ((1ull << LSP_WIDE_BITS) - 1);
        high += (ull)counts[i] >> LSP_WIDE_BITS;
    }
    low = warp_sum(low);
    high = warp_sum(high);
    if (lane_of() == 0 && (low | high) != 0) {
        atomicAdd((ull *)&sum->low, low);
        atomicAdd((ull *)&sum->high, high);
    }
}

/* Replaces counts[0 .. n-1], each of them at most `most`, by their prefix sums, if these can be addressed in a matrix
 * of rows x cols. Waits. */
static lsp_status add_up(lsp_ctx *ctx, int64_t rows, int64_t cols, int64_t *counts, int64_t n, int64_t most,
                         int64_t *total) {
    LSP_SCRATCH_SCOPE(ctx);
    lsp_wide_sum *there = NULL, sum = {};
    if ((double)n * (double)most < 1e18) { /* below 2^62 */
        return lsp_cuda_scan(ctx, counts, n, total);
    }
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &there));
    LSP_TRY(LAUNCH_ITEMS(ctx, kernel_total, n, counts, n, there));
    LSP_TRY(lsp_cuda_read(ctx, &sum, there, sizeof sum));
    LSP_TRY(lsp_check_total(ctx, &sum, rows, cols));
    return lsp_cuda_scan(ctx, counts, n, total);
}

/* With a list of rows the starts of their entries are scratch. */
static lsp_status make_source(lsp_ctx *ctx, const lsp_keep *keep, keep_source *s) {
    int64_t *starts = NULL;
    *s = keep_source{};
    s->A = s->G = view(keep->A);
    s->rows = keep->rows;
    s->wide = keep->rows_type == LSP_I64;
    s->rowless = keep->rowless && keep->rows == NULL;
    s->bytes = value_bytes(keep->A);
    if (s->rows) {
        s->G.rows = keep->row_count;
        LSP_TRY(LSP_SCRATCH_CUDA(ctx, s->G.rows + 1, &starts));
        LSP_TRY(LAUNCH_ITEMS(ctx, kernel_lengths, s->G.rows + 1, *s, starts));
        LSP_TRY(add_up(ctx, s->G.rows, keep->cols, starts, s->G.rows + 1, keep->A->nnz, &s->G.nnz));
        s->G.rowptr = starts;
        s->G.wide_rowptr = true;
    }
    return LSP_OK;
}

/* The rows of a tile, and what entry e is in A. */
static __device__ tile_rows source_rows(const keep_source &s, int64_t at, uint16_t (&spread)[ENTRY_TILE]) {
    return s.rowless ? tile_rows{} : rows_of_tile(s.G, at, spread);
}
static __device__ int64_t source_of(const keep_source &s, const tile_rows &rows, int64_t e, int64_t *row) {
    const int64_t i = s.rowless ? 0 : row_in(s.G, rows, e);
    *row = row_taken(s, i);
    return s.rows ? rowptr_at(s.A, *row) + e - rowptr_at(s.G, i) : e;
}

enum { TILE_WORDS = ENTRY_TILE / WORD };

template <class BODY>
static __global__ void __launch_bounds__(NT)
    kernel_keep_mark(typename BODY::arguments a, lsp_kind t, keep_source s, gpu_marks m) {
    __shared__ uint16_t spread[WARPS][ENTRY_TILE];
    EACH_TILE(at, s.G.nnz) {
        const tile_rows rows = source_rows(s, at, spread[threadIdx.x / 32]);
        unsigned stays = 0; /* a bit a word; nothing is written before all loads of the tile are on their way */
#pragma unroll
        for (int w = 0; w < TILE_WORDS; w++) {
            const int64_t e = at + w * WORD + lane_of();
            int64_t row = 0;
            const int64_t k = e < s.G.nnz ? source_of(s, rows, e, &row) : 0;
            stays |= e < s.G.nnz && BODY::at(&a, t, row, k) >= 0 ? 1u << w : 0u;
        }
#pragma unroll
        for (int w = 0; w < TILE_WORDS; w++) {
            if (at + w * WORD < s.G.nnz) {
                mark_word(m, at + w * WORD, (stays >> w & 1) != 0);
            }
        }
    }
}

/* m.masks NULL: all are kept, each in its place. */
template <class BODY>
static __global__ void __launch_bounds__(NT)
    kernel_keep_fill(typename BODY::arguments a, lsp_kind t, keep_source s, gpu_marks m, gpu_csr B, int64_t *sources) {
    __shared__ uint16_t spread[WARPS][ENTRY_TILE];
    EACH_TILE(at, s.G.nnz) {
        const tile_rows rows = source_rows(s, at, spread[threadIdx.x / 32]);
        int64_t column[TILE_WORDS];
#pragma unroll
        for (int w = 0; w < TILE_WORDS; w++) {
            const int64_t e = at + w * WORD + lane_of();
            const bool stays = e < s.G.nnz && (m.masks == NULL || is_marked(m, e));
            int64_t row = 0;
            const int64_t k = stays ? source_of(s, rows, e, &row) : 0;
            column[w] = stays ? BODY::at(&a, t, row, k) : LSP_GONE;
        }
#pragma unroll
        for (int w = 0; w < TILE_WORDS; w++) {
            const int64_t e = at + w * WORD + lane_of();
            if (column[w] >= 0) {
                int64_t row;
                const int64_t to = m.masks == NULL ? e : place_of(m, e);
                index_set((void *)B.col, B.wide_col, to, column[w]);
                const int64_t k = source_of(s, rows, e, &row);
                if (sources) {
                    sources[to] = k;
                } else {
                    lsp_move_value((void *)B.val, to, s.A.val, k, s.bytes);
                }
            }
        }
    }
}

/* The row pointers of B = those of G. */
static __global__ void kernel_keep_rows(keep_source s, void *rowptr, bool wide) {
    EACH_ITEM(i, s.G.rows + 1, NT) { index_set(rowptr, wide, i, rowptr_at(s.G, i)); }
}

/* B, whose entries are nnz, with its row pointers. */
static lsp_status keep_create(lsp_ctx *ctx, const lsp_keep *keep, const keep_source &s, const gpu_marks &m, int64_t nnz,
                              lsp_csr *B) {
    lsp_csr_types types = keep->types ? *keep->types : lsp_types_like(keep->A, keep->cols, nnz);
    types.val_type = keep->A->val_type;
    types.place = LSP_PLACE_CUDA;
    LSP_TRY(lsp_csr_create(ctx, s.G.rows, keep->cols, nnz, &types, B));
    const bool wide = B->rowptr_type == LSP_I64;
    return m.masks == NULL ? LAUNCH_ITEMS(ctx, kernel_keep_rows, s.G.rows + 1, s, B->rowptr, wide)
                           : LAUNCH_ITEMS(ctx, kernel_marked_starts, s.G.rows + 1, s.G, m, B->rowptr, wide);
}

template <class BODY> static lsp_status launch_keep(lsp_ctx *ctx, const lsp_keep *keep, lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    const typename BODY::arguments a = *(const typename BODY::arguments *)keep->args;
    lsp_kind t = {keep->A->col_type, keep->A->val_type, true};
    keep_source s;
    gpu_marks m = {};
    LSP_OWNED_CSR(ctx, made);
    LSP_TRY(make_source(ctx, keep, &s));
    int64_t nnz = s.G.nnz;
    if (!keep->all) {
        LSP_TRY(make_marks(ctx, s.G.nnz, &m));
        LSP_TRY(LAUNCH_TILES(ctx, kernel_keep_mark<BODY>, s.G.nnz, a, t, s, m));
        LSP_TRY(lsp_cuda_scan(ctx, m.counts, m.words + 1, &nnz));
    }
    LSP_TRY(keep_create(ctx, keep, s, m, nnz, &made));
    t.asks = false;
    LSP_TRY(LAUNCH_TILES(ctx, kernel_keep_fill<BODY>, s.G.nnz, a, t, s, m, view(&made), keep->sources));
    return lsp_csr_put(ctx, B, &made, false);
}

/* What a line of the list of bodies becomes. */
#define LSP_ENTRY_CUDA(name, arguments)                                                                                \
    LSP_BODY_STRUCT(name, arguments)                                                                                   \
    extern "C" lsp_status lsp_body_##name##_cuda(lsp_ctx *ctx, const lsp_entry_job *job) {                             \
        return launch_entries<name##_struct>(ctx, job);                                                                \
    }
#define LSP_KEEP_CUDA(name, arguments)                                                                                 \
    LSP_BODY_STRUCT(name, arguments)                                                                                   \
    extern "C" lsp_status lsp_body_##name##_cuda(lsp_ctx *ctx, const lsp_keep *keep, lsp_csr *B) {                     \
        return launch_keep<name##_struct>(ctx, keep, B);                                                               \
    }
