/* Entries in a window of columns on the GPU: one pass marks them, a prefix sum places them, a second pass copies them.
 * Also entries counted by columns, and what row pointers and rows of entries are made of. */
#include "core/scan.h"
#include "gpu.h"
#include "words.cuh"

static __device__ bool inside(const lsp_window &w, int64_t from, int64_t column) {
    return w.low <= column - from && column - from <= w.high;
}

static __global__ void kernel_mark(gpu_csr A, lsp_window w, gpu_marks m) {
    __shared__ uint16_t spread[WARPS][ENTRY_TILE];
    EACH_TILE(at, A.nnz) {
        tile_rows rows = {};
        if (w.diagonal) {
            rows = rows_of_tile(A, at, spread[threadIdx.x / 32]);
        }
        EACH_WORD(word, at, A.nnz) {
            const int64_t k = word + lane_of();
            mark_word(m, word, k < A.nnz && inside(w, w.diagonal ? row_in(A, rows, k) : 0, col_at(A, k)));
        }
    }
}

static __global__ void kernel_take(gpu_csr A, gpu_marks m, gpu_csr B, int64_t shift, int bytes) {
    EACH_ITEM(k, A.nnz, NT) {
        if (is_marked(m, k)) {
            const int64_t to = place_of(m, k);
            index_set((void *)B.col, B.wide_col, to, col_at(A, k) - shift);
            move_value((void *)B.val, to, A.val, k, bytes);
        }
    }
}

extern "C" lsp_status lsp_csr_window_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_window *window, lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_csr_types types = lsp_types_like(A, window->cols, A->nnz);
    gpu_marks m = {};
    LSP_OWNED_CSR(ctx, made);
    int64_t nnz = 0;
    LSP_TRY(make_marks(ctx, A->nnz, &m));
    LSP_TRY(LAUNCH_TILES(ctx, kernel_mark, A->nnz, view(A), *window, m));
    LSP_TRY(lsp_cuda_scan(ctx, m.counts, m.words + 1, &nnz));
    LSP_TRY(lsp_csr_create(ctx, A->rows, window->cols, nnz, &types, &made));
    LSP_TRY(LAUNCH_ITEMS(ctx, kernel_marked_starts, A->rows + 1, view(A), m, made.rowptr, made.rowptr_type == LSP_I64));
    LSP_TRY(LAUNCH_ITEMS(ctx, kernel_take, A->nnz, view(A), m, view(&made), window->shift, value_bytes(A)));
    return lsp_csr_put(ctx, B, &made, false);
}

/* ---- columns counted ---- */

enum { MOST_BUCKETS = 1024, COUNT_BLOCKS = 2048 };

static __global__ void kernel_count_columns(gpu_csr A, lsp_buckets buckets, ull *counts) {
    __shared__ unsigned here[MOST_BUCKETS]; /* a block counts fewer than 2^32 entries */
    for (int b = (int)threadIdx.x; b < MOST_BUCKETS; b += NT) {
        here[b] = 0;
    }
    __syncthreads();
    EACH_ITEM(k, A.nnz, NT) {
        const int64_t column = col_at(A, k);
        if (buckets.low <= column && column < buckets.high) {
            atomicAdd(&here[(column - buckets.low) >> buckets.shift], 1u);
        }
    }
    __syncthreads();
    for (int b = (int)threadIdx.x; b < buckets.most; b += NT) {
        if (here[b] > 0) {
            atomicAdd(&counts[b], (ull)here[b]);
        }
    }
}

extern "C" lsp_status lsp_csr_count_columns_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_buckets *buckets,
                                                 int64_t *counts) {
    LSP_SCRATCH_SCOPE(ctx);
    ull *there = NULL;
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, buckets->most, &there));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_count_columns, lsp_min(blocks_for_items(A->nnz), COUNT_BLOCKS), NT, 0, view(A),
                       *buckets, there));
    return lsp_cuda_read(ctx, counts, there, buckets->most * (int64_t)sizeof *there);
}

/* ---- row pointers ---- */

static __global__ void kernel_shift(gpu_csr A, int64_t first, int64_t rows, int64_t begin, void *rowptr) {
    EACH_ITEM(i, rows + 1, NT) { index_set(rowptr, A.wide_rowptr, i, rowptr_at(A, first + i) - begin); }
}

extern "C" lsp_status lsp_csr_shift_rowptr_cuda(lsp_ctx *ctx, const lsp_csr *A, int64_t first, int64_t rows,
                                                int64_t begin, void *rowptr) {
    return LAUNCH_ITEMS(ctx, kernel_shift, rows + 1, view(A), first, rows, begin, rowptr);
}

static __global__ void kernel_rows(gpu_csr A, void *row, bool wide) {
    __shared__ uint16_t spread[WARPS][ENTRY_TILE];
    EACH_TILE(at, A.nnz) {
        const tile_rows rows = rows_of_tile(A, at, spread[threadIdx.x / 32]);
        EACH_WORD(word, at, A.nnz) {
            const int64_t k = word + lane_of();
            if (k < A.nnz) {
                index_set(row, wide, k, row_in(A, rows, k));
            }
        }
    }
}

extern "C" lsp_status lsp_csr_rows_cuda(lsp_ctx *ctx, const lsp_csr *A, void *row, lsp_type type) {
    return LAUNCH_TILES(ctx, kernel_rows, A->nnz, view(A), row, type == LSP_I64);
}
