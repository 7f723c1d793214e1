/* Jacobi: 1 / diagonal of a matrix on the GPU. A warp reads a row. */
#include "core/launch.cuh"
#include "gpu.h"

enum { NT = 256, ROWS = NT / WARP };

/* *bad: the first row whose diagonal entry is 0 or missing, if that is lower than *bad. Row pointers of new values were
 * not checked: they are held inside the arrays. */
static __global__ void __launch_bounds__(NT) kernel_diagonal(lsp_csr A, lsp_type type, void *inverse, long long *bad) {
    const bool wide_rows = A.rowptr_type == LSP_I64, wide_cols = A.col_type == LSP_I64;
    const int lane = (int)threadIdx.x % WARP;
    for (int64_t i = (int64_t)blockIdx.x * ROWS + threadIdx.x / WARP; i < A.rows; i += (int64_t)gridDim.x * ROWS) {
        const int64_t begin = max(index_at(A.rowptr, wide_rows, i), (int64_t)0);
        const int64_t end = min(index_at(A.rowptr, wide_rows, i + 1), A.nnz);
        double sum = 0;
        for (int64_t k = begin + lane; k < end; k += WARP) {
            if (index_at(A.col, wide_cols, k) == i) {
                sum += lsp_solve_value(A.val_type, A.val, k);
            }
        }
        sum = warp_sum(sum);
        if (lane == 0) {
            if (sum == 0) {
                atomicMin(bad, (long long)i);
            }
            lsp_solve_set_value(type, inverse, i, 1 / sum);
        }
    }
}

extern "C" lsp_status lsp_solve_launch_diagonal(lsp_ctx *ctx, const lsp_csr *A, lsp_type type, void *inverse,
                                                int64_t *bad) {
    LSP_SCRATCH_SCOPE(ctx);
    const long long none = INT64_MAX;
    long long found, *word;
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, 1, &word));
    LSP_TRY(lsp_cuda_copy(ctx, word, LSP_CUDA, &none, LSP_HOST, sizeof none));
    LSP_TRY(
        LSP_LAUNCH(ctx, kernel_diagonal, lsp_blocks_for(ctx, A->rows, 4 * ROWS, 16), NT, 0, *A, type, inverse, word));
    LSP_TRY(lsp_cuda_read(ctx, &found, word, sizeof found));
    *bad = found == none ? -1 : (int64_t)found;
    return LSP_OK;
}
