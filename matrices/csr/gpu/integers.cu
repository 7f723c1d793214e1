/* Integers on the GPU: the search for a value that does not fit a narrower type. */
#include "entries.cuh"
#include "gpu.h"

static __global__ void kernel_find_wide(const int64_t *val, int64_t n, ull *first) {
    EACH_ITEM(k, n, NT) {
        if (val[k] != (int32_t)val[k]) {
            lower_to(first, (ull)k);
        }
    }
}

extern "C" lsp_status lsp_csr_find_wide_cuda(lsp_ctx *ctx, const lsp_csr *A, int64_t *entry) {
    return find_first(
        ctx, A->nnz,
        [&](ull *first) { return LAUNCH_ITEMS(ctx, kernel_find_wide, A->nnz, (const int64_t *)A->val, A->nnz, first); },
        entry);
}
