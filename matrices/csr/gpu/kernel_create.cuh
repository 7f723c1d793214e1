/* A matrix made on the GPU from row pointers that its maker counted: a sum, a filtered matrix. */
#ifndef LSP_MATRICES_CSR_GPU_KERNEL_CREATE_CUH
#define LSP_MATRICES_CSR_GPU_KERNEL_CREATE_CUH

#include "view.cuh"

static __global__ void kernel_rowptr(const int64_t *from, void *to, bool wide, int64_t n) {
    EACH_ITEM(i, n) { index_set(to, wide, i, from[i]); }
}

/* Creates a matrix with these row pointers; its other arrays are not set. */
static lsp_status make_rows(lsp_ctx *ctx, int64_t rows, int64_t cols, int64_t nnz, lsp_csr_types types,
                            const int64_t *rowptr, lsp_csr *C) {
    types.place = LSP_PLACE_CUDA;
    LSP_TRY(lsp_csr_create(ctx, rows, cols, nnz, &types, C));
    return LSP_LAUNCH(ctx, kernel_rowptr, blocks_for_items(rows + 1), NT, 0, rowptr, C->rowptr,
                      C->rowptr_type == LSP_I64, rows + 1);
}

#endif
