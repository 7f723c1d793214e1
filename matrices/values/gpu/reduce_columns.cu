/* Columns reduced on the GPU: joined where a transpose by bins has sorted them, in shared memory, or as rows where
 * entries are mirrored. Waits for the count of the bins. */
#include "matrices/csr/gpu/bins.cuh"
#include "matrices/csr/gpu/mirror.cuh"
#include "reduce.cuh"

/* A list of up to 32 pieces, by all lanes of a warp. Lane 0 has the result. */
template <typename J>
static __device__ typename J::number join_pieces_here(const gpu_reducing &r, int part, int64_t begin, int64_t n) {
    typename J::number own = J::none(r.reduction);
    for (int p = 0; p < (int)pieces_of(n); p++) {
        const int64_t first = (int64_t)p * LSP_LIST_PIECE;
        const typename J::number x =
            join_by_lanes<J, 32>(r, part, begin + first, min(n - first, (int64_t)LSP_LIST_PIECE));
        const typename J::number piece = __shfl_sync(~0u, x, 0);
        own = lane_of() == p ? piece : own;
    }
#pragma unroll
    for (int half = 16; half > 0; half /= 2) {
        own = J::join(r.reduction, own, __shfl_down_sync(~0u, own, half));
    }
    return own;
}

/* A block joins the columns of a bin. 4 lanes take a column, and all of their warp one that is too long for that. */
template <typename J, int VB>
static __global__ void __launch_bounds__(BIN_SORT_NT)
    kernel_join_columns(bin_job job, uint32_t capacity, gpu_reducing r, int result_bytes) {
    typedef typename J::number number;
    LSP_DYNAMIC_SHARED(memory);
    bin_entries<VB> e;
    const sorted_bin s = bin_sort<VB>(job, capacity, true, memory, &e);
    const int parts = r.type == LSP_C64 ? 2 : 1, lane = (int)threadIdx.x % 4;
    r.A.val = e.val;
    r.results = (char *)r.results + s.column * result_bytes;
    for (uint32_t base = 0; base < s.w; base += BIN_SORT_NT / 4) { /* warps stay together */
        const uint32_t c = base + threadIdx.x / 4;
        const uint32_t begin = c < s.w ? s.starts[c] : 0, n = c < s.w ? s.starts[c + 1] - begin : 0;
        number joined[2] = {};
        for (int part = 0; part < parts; part++) {
            joined[part] = join_by_lanes<J, 4>(r, part, begin, n <= FEW_BY_FOUR ? n : 0);
        }
        if (lane == 0 && c < s.w && n <= FEW_BY_FOUR) {
            J::put(r, c, n, joined[0], joined[1]);
        }
        for (unsigned left = __ballot_sync(~0u, lane == 0 && n > FEW_BY_FOUR); left != 0; left &= left - 1) {
            const int from = __ffs((int)left) - 1;
            const uint32_t column = __shfl_sync(~0u, c, from), start = __shfl_sync(~0u, begin, from);
            const uint32_t length = __shfl_sync(~0u, n, from);
            for (int part = 0; part < parts; part++) {
                joined[part] = join_pieces_here<J>(r, part, start, length);
            }
            if (lane_of() == 0) {
                J::put(r, column, length, joined[0], joined[1]);
            }
        }
    }
}

/* ---- the host's side ---- */

template <typename J, int VB>
static lsp_status start_columns(lsp_ctx *ctx, const bin_job *job, uint32_t capacity, size_t bytes,
                                const gpu_reducing *r) {
    LSP_TRY(lsp_allow_shared(ctx, (kernel_join_columns<J, VB>), bytes));
    return LSP_LAUNCH(ctx, (kernel_join_columns<J, VB>), job->bins, BIN_SORT_NT, bytes, *job, capacity, *r,
                      (int)lsp_type_bytes(r->type));
}

/* Where entries are mirrored: the rows of A with the values of its transpose. */
static lsp_status reduce_mirrored(lsp_ctx *ctx, const lsp_csr *A, gpu_reducing r, bool *done) {
    LSP_SCRATCH_SCOPE(ctx);
    gpu_csr B = {};
    void *val = NULL;
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, A->nnz, (size_t)value_bytes(A), &val));
    r.A.val = B.val = val;
    LSP_TRY(lsp_csr_mirror_entries(ctx, "A", A, B, done));
    return *done ? lsp_reduce_lists(ctx, r) : LSP_OK;
}

extern "C" lsp_status lsp_csr_reduce_columns_cuda(lsp_ctx *ctx, const lsp_csr *A, lsp_reduction reduction,
                                                  void *results, bool *done) {
    LSP_SCRATCH_SCOPE(ctx);
    size_t bytes = 0;
    uint32_t capacity = 0;
    bin_job job;
    const gpu_reducing r = reducing_of(A, reduction, results);
    const bool whole = lsp_reduces_whole(A->val_type, reduction), narrow = value_bytes(A) == 4;
    *done = false;
    LSP_TRY(A->rows == A->cols ? reduce_mirrored(ctx, A, r, done) : LSP_OK);
    if (*done) {
        return LSP_OK;
    }
    LSP_TRY(lsp_csr_into_bins(ctx, "A", A, &job, &capacity, &bytes, done));
#define START(J, VB) start_columns<J, VB>(ctx, &job, capacity, bytes, &r)
    if (*done) {
        LSP_TRY(whole                          ? (narrow ? START(whole_numbers, 4) : START(whole_numbers, 8))
                : A->val_type != LSP_F64       ? (narrow                   ? START(any_numbers, 4)
                                                  : A->val_type == LSP_C64 ? START(any_numbers, 16)
                                                                           : START(any_numbers, 8))
                : lsp_takes_largest(reduction) ? START(doubles<true>, 8)
                                               : START(doubles<false>, 8));
    }
#undef START
    return LSP_OK;
}
