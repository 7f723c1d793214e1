/* The largest entries of each row, on the GPU: a segmented sort by |value|. */
#include "gpu.h"
#include "matrices/values/number.h"
#include "view.cuh"

/* Orders entries by |value|, above 0. */
static __device__ ull size_of(const gpu_csr &A, int64_t k) {
    if (lsp_is_integer(A.val_type)) {
        return lsp_whole_size(value_at(A, k).whole) + 1;
    }
    const double size = lsp_magnitude(A.val_type, value_at(A, k));
    return isnan(size) ? ~0ull : (ull)__double_as_longlong(size) | 1ull << 63;
}

/* Prepares rows with more than `largest` entries for the sort: sizes[k] orders entries by |value|, and is 0 for those
 * already dropped. Other rows become empty segments. */
static __global__ void kernel_sizes(gpu_csr A, int64_t largest, const uint8_t *stays, ull *sizes, int64_t *begins,
                                    int64_t *ends) {
    EACH_ROW(i, A.rows) {
        const int64_t begin = rowptr_at(A, i), end = rowptr_at(A, i + 1);
        const bool many = end - begin > largest;
        if (lane_of() == 0) {
            begins[i] = begin;
            ends[i] = many ? end : begin;
        }
        for (int64_t k = begin + lane_of(); many && k < end; k += 32) {
            sizes[k] = stays[k] ? size_of(A, k) : 0;
        }
    }
}

/* Drops all but the first `largest` entries of each sorted row. */
static __global__ void kernel_cut(gpu_csr A, int64_t largest, const int64_t *places, uint8_t *stays) {
    EACH_ROW(i, A.rows) {
        for (int64_t k = rowptr_at(A, i) + largest + lane_of(); k < rowptr_at(A, i + 1); k += 32) {
            stays[places[k]] = 0;
        }
    }
}

extern "C" lsp_status lsp_keep_largest_cuda(lsp_ctx *ctx, const lsp_csr *A, int64_t largest, uint8_t *stays) {
    LSP_SCRATCH_SCOPE(ctx);
    ull *sizes = NULL;
    int64_t *places = NULL, *begins = NULL, *ends = NULL;
    lsp_segsort_args args = {};
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->nnz, &sizes));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->nnz, &places));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->rows, &begins));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->rows, &ends));
    LSP_TRY(LAUNCH_ROWS(ctx, kernel_sizes, A->rows, view(A), largest, stays, sizes, begins, ends));
    args.n = A->nnz;
    args.segments = A->rows;
    args.offsets = begins;
    args.ends = ends;
    args.offset_type = LSP_I64;
    args.key_type = LSP_U64;
    args.value_bytes = sizeof *places;
    args.keys = args.keys_out = sizes;
    args.values_out = places;
    args.flags = LSP_SORT_DESCENDING | LSP_SORT_GLOBAL_POSITIONS;
    args.where = LSP_CUDA;
    LSP_TRY(lsp_segsort(ctx, &args, NULL));
    return LAUNCH_ROWS(ctx, kernel_cut, A->rows, view(A), largest, places, stays);
}
