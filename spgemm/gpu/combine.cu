/* Counts the multiplications of A*B on a GPU: the choice between (R*A)*P and R*(A*P). */
#include "core/block.cuh"
#include "core/launch.cuh"
#include "gpu.h"

typedef unsigned long long ull;
enum { NT = 256, VT = 8, SM_BLOCKS = 8 };

static __device__ int64_t index_at(const void *array, bool wide, int64_t i) {
    return wide ? ((const int64_t *)array)[i] : ((const int32_t *)array)[i];
}

/* *products += the lengths of B's rows named by A's n columns. Columns outside B are left out. */
static __global__ void kernel_count_products(const void *col, bool wide_col, int64_t n, const void *rowptr,
                                             bool wide_rowptr, int64_t rows, ull *products) {
    ull sum = 0;
    for (int64_t e = (int64_t)blockIdx.x * NT + threadIdx.x; e < n; e += (int64_t)gridDim.x * NT) {
        const int64_t k = index_at(col, wide_col, e);
        if (k >= 0 && k < rows) {
            sum += (ull)index_at(rowptr, wide_rowptr, k + 1) - (ull)index_at(rowptr, wide_rowptr, k);
        }
    }
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0) {
        atomicAdd(products, sum);
    }
}

extern "C" lsp_status lsp_spgemm_gpu_count_products(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B,
                                                    int64_t *products) {
    lsp_status status = LSP_OK;
    size_t mark = lsp_scratch_mark(ctx);
    ull *there = NULL, count = 0;
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, 1, sizeof *there, (void **)&there));
    LSP_TRY(lsp_cuda_clear(ctx, there, sizeof *there));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_count_products, lsp_blocks_for(ctx, A->nnz, NT * VT, SM_BLOCKS), NT, 0, A->col,
                       A->col_type == LSP_I64, A->nnz, B->rowptr, B->rowptr_type == LSP_I64, B->rows, there));
    LSP_TRY(lsp_cuda_copy(ctx, &count, LSP_HOST, there, LSP_CUDA, sizeof count));
    *products = (int64_t)count;
done:
    lsp_scratch_release(ctx, mark);
    return status;
}
