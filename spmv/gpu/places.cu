/* The numbers of entries, 0 .. n-1, as values that a transposition moves; and back to indices. */
#include "core/launch.cuh"
#include "spmv/transpose.h"

enum { NT = 256, VT = 4, SM_BLOCKS = 16 };

__global__ void kernel_number(double *val, int64_t n) {
    for (int64_t i = (int64_t)blockIdx.x * NT + threadIdx.x; i < n; i += (int64_t)gridDim.x * NT) {
        val[i] = (double)i;
    }
}

template <typename Index> __global__ void kernel_places(Index *places, const double *val, int64_t n) {
    for (int64_t i = (int64_t)blockIdx.x * NT + threadIdx.x; i < n; i += (int64_t)gridDim.x * NT) {
        places[i] = (Index)val[i];
    }
}

extern "C" lsp_status lsp_spmv_number_cuda(lsp_ctx *ctx, double *val, int64_t n) {
    return LSP_LAUNCH(ctx, kernel_number, lsp_blocks_for(ctx, n, NT * VT, SM_BLOCKS), NT, 0, val, n);
}

extern "C" lsp_status lsp_spmv_places_cuda(lsp_ctx *ctx, void *places, lsp_type type, const double *val, int64_t n) {
    const int64_t blocks = lsp_blocks_for(ctx, n, NT * VT, SM_BLOCKS);
    return type == LSP_I32 ? LSP_LAUNCH(ctx, kernel_places<int32_t>, blocks, NT, 0, (int32_t *)places, val, n)
                           : LSP_LAUNCH(ctx, kernel_places<int64_t>, blocks, NT, 0, (int64_t *)places, val, n);
}
