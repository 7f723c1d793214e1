/* Matrices on a GPU, in a build without CUDA. Never reached: no context of such a build has a GPU. */
#include "gpu.h"

static lsp_status refuse(lsp_ctx *ctx) {
    return lsp_fail(ctx, LSP_ERR_DEVICE, "there are no matrices on a GPU: this libsparse was built without CUDA");
}
lsp_status lsp_csr_check_cuda(lsp_ctx *ctx, const char *name, const lsp_csr *A) {
    (void)name, (void)A;
    return refuse(ctx);
}
lsp_status lsp_csr_sort_cuda(lsp_ctx *ctx, lsp_csr *A) {
    (void)A;
    return refuse(ctx);
}
lsp_status lsp_csr_add_cuda(lsp_ctx *ctx, double alpha, const lsp_csr *A, double beta, const lsp_csr *B, lsp_csr *C) {
    (void)alpha, (void)A, (void)beta, (void)B, (void)C;
    return refuse(ctx);
}
lsp_status lsp_filter_rows_cuda(lsp_ctx *ctx, const lsp_csr *A, const lsp_filter *filter, lsp_csr *B) {
    (void)A, (void)filter, (void)B;
    return refuse(ctx);
}
lsp_status lsp_filter_take_cuda(lsp_ctx *ctx, const lsp_csr *A, const uint8_t *stays, int64_t *counts,
                                const lsp_csr_types *types, lsp_csr *B) {
    (void)A, (void)stays, (void)counts, (void)types, (void)B;
    return refuse(ctx);
}
