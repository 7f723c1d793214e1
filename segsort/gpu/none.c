/* The segmented sort on a GPU, of a build without CUDA. Never reached: no context of such a build has a GPU. */
#include "segsort/segsort.h"

bool lsp_segsort_cuda_bytes(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, int64_t *bytes) {
    (void)ctx, (void)args, (void)longest, (void)bytes;
    return false;
}
lsp_status lsp_segsort_cuda(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t longest, void *scratch) {
    (void)args, (void)longest, (void)scratch;
    return lsp_fail(ctx, LSP_ERR_DEVICE, "no GPU can sort: this libsparse was built without CUDA");
}
lsp_status lsp_segsort_cuda_longest(lsp_ctx *ctx, const lsp_segsort_args *args, int64_t *longest) {
    (void)longest;
    return lsp_segsort_cuda(ctx, args, 0, NULL);
}
