/* The persistent kernel in a build without CUDA: no matrix fits it. */
#include "core/none.h"
#include "resident.h"

bool lsp_resident_fits(lsp_ctx *ctx, const lsp_csr *A, int64_t longest_row, const lsp_resident_shape *shape) {
    return false;
}
void lsp_resident_free(lsp_ctx *ctx, lsp_resident *plan) {}
int64_t lsp_resident_entries(const lsp_resident *plan) { return 0; }
void lsp_resident_get_shape(const lsp_resident *plan, lsp_resident_shape *shape) { *shape = (lsp_resident_shape){0}; }

/* clang-format off */
LSP_NO_CUDA(lsp_resident_create, (lsp_ctx *ctx, const lsp_csr *A, const lsp_resident_shape *shape, lsp_resident **plan, int64_t *bytes), ctx)
LSP_NO_CUDA(lsp_resident_update, (lsp_ctx *ctx, lsp_resident *plan, const lsp_csr *A), ctx)
LSP_NO_CUDA(lsp_resident_cg, (lsp_ctx *ctx, lsp_resident *plan, const lsp_resident_args *args, lsp_resident_result *result), ctx)
LSP_NO_CUDA(lsp_resident_nas, (lsp_ctx *ctx, lsp_resident *plan, const lsp_resident_nas_args *args, double *seconds), ctx)
/* clang-format on */
