/* Replaces the GPU in a build without CUDA: every call refuses with a sentence. */
#include "core/none.h"
#include "gpu.h"

/* clang-format off */
LSP_NO_CUDA(lsp_csr_check_cuda, (lsp_ctx *ctx, const char *name, const lsp_csr *A), ctx)
LSP_NO_CUDA(lsp_csr_sort_cuda, (lsp_ctx *ctx, lsp_csr *A), ctx)
LSP_NO_CUDA(lsp_csr_add_cuda,
            (lsp_ctx *ctx, double alpha, const lsp_csr *A, double beta, const lsp_csr *B, lsp_csr *C), ctx)
LSP_NO_CUDA(lsp_filter_rows_cuda, (lsp_ctx *ctx, const lsp_csr *A, const lsp_filter *filter, lsp_csr *B), ctx)
LSP_NO_CUDA(lsp_filter_take_cuda,
            (lsp_ctx *ctx, const lsp_csr *A, const uint8_t *stays, int64_t *counts, const lsp_csr_types *types,
             lsp_csr *B),
            ctx)
/* clang-format on */
