/* Rows and columns by lists on the GPU, where a column is named twice: each entry of the wanted rows, taken one after
 * the other, becomes as many entries as its column has places in the list. */
#include "gpu.h"
#include "matrices/gpu/each.cuh"

typedef struct often {
    keep_source s;
    gpu_csr P; /* the places of each column */
} often;

static __device__ int64_t place_in(const keep_source &s, int64_t i, int64_t e) {
    return s.rows ? source_of<true>(s, i, e) : e;
}

/* offsets[e + 1] = the places of entry e. */
static __global__ void kernel_places(often w, int64_t *offsets) {
    __shared__ tile_spread spread[WARPS];
    EACH_TILE(at, w.s.G.nnz) {
        with_rows(w.s.G, w.s.rows == NULL, at, spread, [&](auto row) {
            EACH_WORD(word, at, w.s.G.nnz) {
                const int64_t e = word + lane_of();
                if (e < w.s.G.nnz) {
                    const int64_t column = col_at(w.s.A, place_in(w.s, row(e), e));
                    offsets[e + 1] = rowptr_at(w.P, column + 1) - rowptr_at(w.P, column);
                }
            }
        });
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        offsets[0] = 0;
    }
}

/* Writes the places of the 32 entries of a word, whose first places in B are `to` in the lanes. All lanes write,
 * however the places are spread over the entries. */
static __device__ void expand_word(const often &w, gpu_csr B, int64_t k, int64_t place, int64_t to, int64_t end) {
    const size_t bytes = lsp_value_bytes(B.val_type);
    for (int64_t at = __shfl_sync(~0u, to, 0) + lane_of(); at - lane_of() < end; at += WORD) {
        int from = 0; /* the last lane that begins at `at` or before */
        for (int step = WORD / 2; step > 0; step /= 2) {
            from += __shfl_sync(~0u, to, from + step) <= at ? step : 0;
        }
        const int64_t p = __shfl_sync(~0u, place, from) + at - __shfl_sync(~0u, to, from);
        const int64_t source = __shfl_sync(~0u, k, from);
        if (at < end) {
            index_set((void *)B.col, B.wide_col, at, col_at(w.P, p));
            lsp_move_value((void *)B.val, at, w.s.A.val, source, bytes);
        }
    }
}

static __global__ void kernel_expand(often w, const int64_t *offsets, gpu_csr B) {
    __shared__ tile_spread spread[WARPS];
    EACH_TILE(at, w.s.G.nnz) {
        with_rows(w.s.G, w.s.rows == NULL, at, spread, [&](auto row) {
            EACH_WORD(word, at, w.s.G.nnz) {
                const int64_t e = word + lane_of(), end = offsets[word + WORD < w.s.G.nnz ? word + WORD : w.s.G.nnz];
                const bool inside = e < w.s.G.nnz;
                const int64_t k = inside ? place_in(w.s, row(e), e) : 0;
                expand_word(w, B, k, inside ? rowptr_at(w.P, col_at(w.s.A, k)) : 0, inside ? offsets[e] : end, end);
            }
        });
    }
}

static __global__ void kernel_rowptr(often w, const int64_t *offsets, void *rowptr, bool wide) {
    EACH_ITEM(i, w.s.G.rows + 1, NT) { index_set(rowptr, wide, i, offsets[rowptr_at(w.s.G, i)]); }
}

extern "C" lsp_status lsp_csr_extract_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_selection *wanted, lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    lsp_keep keep = {};
    often w = {};
    int64_t *offsets = NULL, nnz = 0;
    keep.A = A, keep.rows = wanted->rows, keep.rows_type = wanted->type, keep.row_count = wanted->row_count;
    keep.cols = wanted->col_count, keep.rowless = true;
    LSP_TRY(make_source(ctx, &keep, &w.s));
    w.P = view(&wanted->P);
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, w.s.G.nnz + 1, &offsets));
    LSP_TRY(LAUNCH_TILES(ctx, kernel_places, w.s.G.nnz, w, offsets));
    LSP_TRY(add_up(ctx, w.s.G.rows, wanted->col_count, offsets, w.s.G.nnz + 1, wanted->col_count, &nnz));
    const lsp_csr_types types = lsp_types_like(A, wanted->col_count, nnz);
    LSP_TRY(lsp_csr_create(ctx, w.s.G.rows, wanted->col_count, nnz, &types, B));
    LSP_TRY(LAUNCH_ITEMS(ctx, kernel_rowptr, w.s.G.rows + 1, w, offsets, B->rowptr, B->rowptr_type == LSP_I64));
    return LAUNCH_TILES(ctx, kernel_expand, w.s.G.nnz, w, offsets, view(B));
}
