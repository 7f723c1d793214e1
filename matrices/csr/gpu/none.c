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
LSP_NO_CUDA(lsp_csr_file_cuda, (lsp_ctx *ctx, const lsp_filing *items, lsp_csr *B), ctx)
LSP_NO_CUDA(lsp_csr_bins_cuda, (lsp_ctx *ctx, const char *name, const lsp_csr *A, lsp_csr *B, bool *done), ctx)
LSP_NO_CUDA(lsp_csr_invert_cuda,
            (lsp_ctx *ctx, const char *what, const void *order, lsp_type type, int64_t n, void *inverse), ctx)
LSP_NO_CUDA(lsp_csr_reorder_cuda,
            (lsp_ctx *ctx, const lsp_csr *A, const void *row_order, const void *new_col, lsp_type order_type,
             lsp_csr *B),
            ctx)
LSP_NO_CUDA(lsp_csr_mirror_cuda,
            (lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *T, lsp_symmetry symmetry, lsp_csr *B), ctx)
LSP_NO_CUDA(lsp_csr_sum_cuda, (lsp_ctx *ctx, lsp_csr *A), ctx)
LSP_NO_CUDA(lsp_coo_outside_cuda, (lsp_ctx *ctx, const lsp_coo *A, int64_t *outside, int64_t at[2]), ctx)
/* clang-format on */
