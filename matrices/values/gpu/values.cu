/* Values on the GPU: multiplied entry by entry; the diagonal. The arithmetic is that of the host (values/number.h), so
 * the bits are too. */
#include "matrices/csr/gpu/entries.cuh"
#include "matrices/csr/gpu/kernel_merge.cuh"
#include "matrices/gpu/gpu.h"
#include "matrices/values/number.h"

/* ---- the entrywise product ---- */

typedef struct gpu_product {
    lsp_type type; /* of C's values */

    __device__ void operator()(void *val, int64_t to, const gpu_csr &A, int64_t a, const gpu_csr &B, int64_t b) const {
        lsp_set_product(type, val, to, A.val, a, B.val_type, B.val, b);
    }
} gpu_product;

extern "C" lsp_status lsp_csr_hadamard_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B,
                                            const lsp_csr_types *types, lsp_csr *C, bool *done) {
    return merge_rows(ctx, gpu_merge{view(A), view(B), true}, types, gpu_product{types->val_type}, C, done);
}

/* ---- diagonals ---- */

enum { DIAGONAL_EACH = 4, DIAGONAL_LONG = 8 }; /* entries that a lane loads at a time; so often, before a warp helps */

typedef struct gpu_diagonal {
    gpu_csr A;
    lsp_type type; /* of the results */
    const unsigned *gate;
    void *values;
} gpu_diagonal;

/* Adds the entries of row i in column i, in their order: LANES lanes look at LANES * EACH entries at a time. All groups
 * of a warp call together; those without a row have begin = end. */
template <int LANES, int EACH>
static __device__ void take_row(const gpu_diagonal &d, int64_t i, int64_t begin, int64_t end, bool here) {
    const int lane = (int)threadIdx.x % LANES, shift = lane_of() / LANES * LANES;
    double sum[2] = {0, 0};
    ull sum_whole = 0;
    bool first = true;
    for (int64_t base = begin; __any_sync(~0u, base < end); base += LANES * EACH) {
        bool hit[EACH];
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            const int64_t k = base + e * LANES + lane;
            hit[e] = k < end && col_at(d.A, k) == i;
        }
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            unsigned found = __ballot_sync(~0u, hit[e]) >> shift & (~0u >> (32 - LANES));
            for (; found != 0; found &= found - 1) {
                const int64_t k = base + e * LANES + __ffs((int)found) - 1;
                const lsp_value v = value_at(d.A, k);
                const double x[2] = {v.re, v.im};
                sum_whole += (ull)v.whole;
                lsp_add_number(d.type, first, sum, x);
                first = false;
            }
        }
    }
    if (lane == 0 && here) {
        const lsp_value value = {sum[0], sum[1], (int64_t)sum_whole};
        lsp_value_set(d.type, d.values, i, value);
    }
}

/* LANES lanes take a row; all lanes of their warp one after another of those that are too long for that. */
template <int LANES> static __global__ void __launch_bounds__(NT) kernel_diagonal(gpu_diagonal d, int64_t n) {
    if (d.gate != NULL && *(const volatile unsigned *)d.gate) {
        return;
    }
    const int64_t most = LANES < 32 ? LANES * DIAGONAL_EACH * DIAGONAL_LONG : INT64_MAX;
    const int64_t groups = 32 / LANES, slice = (n + groups - 1) / groups, group = lane_of() / LANES;
    const int64_t shift = group * (slice / 8 * 5 + 1) % max(slice, (int64_t)1);
    EACH_ROW(w, slice) { /* the rows of a warp lie far apart, at unlike places: so they are seldom all long */
        const int64_t i = LANES == 1 ? w * 32 + lane_of() : group * slice + w + shift - (w + shift < slice ? 0 : slice);
        const int64_t begin = i < n ? rowptr_at(d.A, i) : 0, end = i < n ? rowptr_at(d.A, i + 1) : 0;
        const bool long_row = end - begin > most;
        take_row<LANES, DIAGONAL_EACH>(d, i, begin, long_row ? begin : end, i < n && !long_row);
        for (unsigned left = __ballot_sync(~0u, long_row && threadIdx.x % LANES == 0); left != 0; left &= left - 1) {
            const int from = __ffs((int)left) - 1;
            take_row<32, 2 * DIAGONAL_EACH>(d, __shfl_sync(~0u, i, from), __shfl_sync(~0u, begin, from),
                                            __shfl_sync(~0u, end, from), true);
        }
    }
}

extern "C" lsp_status lsp_csr_diagonal_cuda(lsp_ctx *ctx, const lsp_csr *A, const unsigned *gate, void *diagonal) {
    const int64_t n = lsp_min(A->rows, A->cols), mean = A->nnz / lsp_max(A->rows, 1);
    gpu_diagonal d = {};
    d.A = view(A), d.type = A->val_type == LSP_NONE ? LSP_F64 : A->val_type, d.gate = gate, d.values = diagonal;
#define DIAGONAL(lanes) LSP_LAUNCH(ctx, kernel_diagonal<lanes>, lsp_blocks_for(ctx, n, NT / lanes, 32), NT, 0, d, n)
    return mean <= 8 ? DIAGONAL(1) : mean <= 32 ? DIAGONAL(4) : DIAGONAL(32);
#undef DIAGONAL
}
