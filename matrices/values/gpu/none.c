/* Replaces the GPU in a build without CUDA: every call refuses with a sentence. */
#include "core/none.h"
#include "matrices/values/values.h"

/* clang-format off */
LSP_NO_CUDA(lsp_csr_scale_cuda, (lsp_ctx *ctx, lsp_csr *A, const void *rows, const void *cols), ctx)
LSP_NO_CUDA(lsp_csr_apply_cuda, (lsp_ctx *ctx, lsp_csr *A, lsp_function function, double parameter), ctx)
LSP_NO_CUDA(lsp_csr_scale_wide_cuda,
            (lsp_ctx *ctx, const lsp_csr *A, const void *rows, const void *cols, int64_t *entry), ctx)
LSP_NO_CUDA(lsp_csr_apply_wide_cuda,
            (lsp_ctx *ctx, const lsp_csr *A, lsp_function function, double parameter, int64_t *entry), ctx)
LSP_NO_CUDA(lsp_csr_diagonal_cuda, (lsp_ctx *ctx, const lsp_csr *A, void *diagonal), ctx)
LSP_NO_CUDA(lsp_csr_fill_diagonal_cuda, (lsp_ctx *ctx, const void *diagonal, lsp_csr *B), ctx)
LSP_NO_CUDA(lsp_csr_hadamard_cuda,
            (lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_csr_types *types, lsp_csr *C, bool *done), ctx)
LSP_NO_CUDA(lsp_csr_reduce_cuda,
            (lsp_ctx *ctx, const lsp_csr *A, lsp_reduction reduction, bool all, void *results), ctx)
/* clang-format on */
