/* Integers on the GPU: the search for a value that does not fit a narrower type. */
#include "entries.cuh"
#include "gpu.h"

static __global__ void kernel_find_wide(const int64_t *val, int64_t n, ull *first) {
    EACH_ITEM(k, n) {
        if (val[k] != (int32_t)val[k]) {
            lower_to(first, (ull)k);
        }
    }
}

extern "C" lsp_status lsp_csr_find_wide_cuda(lsp_ctx *ctx, const lsp_csr *A, int64_t *entry) {
    lsp_status status = LSP_OK;
    const size_t mark = lsp_scratch_mark(ctx);
    ull *there = NULL, first = ~0ull;
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, 1, sizeof *there, (void **)&there));
    LSP_TRY(LSP_CUDA_CALL(ctx, cudaMemsetAsync(there, 0xFF, sizeof *there, (cudaStream_t)lsp_cuda_stream(ctx))));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_find_wide, blocks_for_items(A->nnz), NT, 0, (const int64_t *)A->val, A->nnz, there));
    LSP_TRY(lsp_cuda_read(ctx, &first, there, sizeof first));
    *entry = first == ~0ull ? A->nnz : (int64_t)first;
done:
    lsp_scratch_release(ctx, mark);
    return status;
}
