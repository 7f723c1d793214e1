/* Dense arrays on the GPU, read for elements that are not 0: these are marked, placed by a prefix sum, and copied. */
#include "core/scan.h"
#include "matrices/gpu/gpu.h"
#include "words.cuh"

/* Where element e, counted by rows, lies in D. */
static __device__ int64_t element_at(const lsp_dense &D, int64_t e) {
    return D.stride == D.cols ? e : e / D.cols * D.stride + e % D.cols;
}
static __device__ bool is_entry(const lsp_dense &D, int64_t at) {
    const lsp_value v = lsp_value_of(D.val_type, D.val, at);
    return !(v.re == 0 && v.im == 0); /* a NaN is not 0 */
}

static __global__ void kernel_mark(lsp_dense D, gpu_marks m) {
    EACH_TILE(at, m.items) {
        unsigned stays = 0;
#pragma unroll
        for (int w = 0; w < TILE_WORDS; w++) {
            const int64_t e = at + w * WORD + lane_of();
            stays |= e < m.items && is_entry(D, element_at(D, e)) ? 1u << w : 0u;
        }
        mark_tile(m, at, stays);
    }
}

static __global__ void kernel_starts(lsp_dense D, gpu_marks m, void *rowptr, bool wide) {
    EACH_ITEM(i, D.rows + 1, NT) { index_set(rowptr, wide, i, place_of(m, i * D.cols)); }
}

static __global__ void kernel_take(lsp_dense D, gpu_marks m, gpu_csr B, int bytes) {
    EACH_ITEM(e, m.items, NT) {
        if (is_marked(m, e)) {
            const int64_t to = place_of(m, e);
            index_set((void *)B.col, B.wide_col, to, e % D.cols);
            lsp_move_value((void *)B.val, to, D.val, element_at(D, e), bytes);
        }
    }
}

extern "C" lsp_status lsp_dense_gather_cuda(lsp_ctx *ctx, const lsp_dense *D, lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    gpu_marks m = {};
    LSP_OWNED_CSR(ctx, made);
    lsp_csr_types types = {};
    int64_t nnz = 0;
    types.val_type = D->val_type, types.place = LSP_PLACE_CUDA;
    LSP_TRY(make_marks(ctx, D->rows * D->cols, &m));
    LSP_TRY(LAUNCH_TILES(ctx, kernel_mark, m.items, *D, m));
    LSP_TRY(lsp_cuda_scan(ctx, m.counts, m.words + 1, &nnz));
    LSP_TRY(lsp_csr_create(ctx, D->rows, D->cols, nnz, &types, &made));
    LSP_TRY(LAUNCH_ITEMS(ctx, kernel_starts, D->rows + 1, *D, m, made.rowptr, made.rowptr_type == LSP_I64));
    LSP_TRY(LAUNCH_ITEMS(ctx, kernel_take, m.items, *D, m, view(&made), value_bytes(&made)));
    return lsp_csr_put(ctx, B, &made, false);
}
