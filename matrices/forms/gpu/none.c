/* Replaces the GPU in a build without CUDA: every call refuses with a sentence. */
#include "core/none.h"
#include "gpu.h"

/* clang-format off */
LSP_NO_CUDA(lsp_csr_window_cuda, (lsp_ctx *ctx, const lsp_csr *A, const lsp_window *window, lsp_csr *B), ctx)
LSP_NO_CUDA(lsp_csr_count_columns_cuda,
            (lsp_ctx *ctx, const lsp_csr *A, const lsp_buckets *buckets, int64_t *counts), ctx)
LSP_NO_CUDA(lsp_csr_shift_rowptr_cuda,
            (lsp_ctx *ctx, const lsp_csr *A, int64_t first, int64_t rows, int64_t begin, void *rowptr), ctx)
LSP_NO_CUDA(lsp_list_outside_cuda,
            (lsp_ctx *ctx, const lsp_index_list *list, int64_t n, int64_t *first, int64_t *index), ctx)
LSP_NO_CUDA(lsp_count_up_cuda, (lsp_ctx *ctx, void *to, lsp_type type, int64_t n), ctx)
LSP_NO_CUDA(lsp_csr_extract_cuda, (lsp_ctx *ctx, const lsp_csr *A, const lsp_selection *wanted, lsp_csr *B), ctx)
LSP_NO_CUDA(lsp_stack_count_cuda, (lsp_ctx *ctx, const lsp_csr *block, int64_t *next), ctx)
LSP_NO_CUDA(lsp_stack_create_cuda,
            (lsp_ctx *ctx, int64_t rows, int64_t cols, int64_t nnz, const lsp_csr_types *types, int64_t *next,
             lsp_csr *B),
            ctx)
LSP_NO_CUDA(lsp_stack_copy_cuda,
            (lsp_ctx *ctx, const lsp_csr *block, int64_t offset, int64_t *next, const lsp_csr *B), ctx)
LSP_NO_CUDA(lsp_csr_rows_cuda, (lsp_ctx *ctx, const lsp_csr *A, void *row, lsp_type type), ctx)
LSP_NO_CUDA(lsp_dense_fill_cuda, (lsp_ctx *ctx, const lsp_csr *A, const lsp_dense *D), ctx)
LSP_NO_CUDA(lsp_dense_gather_cuda, (lsp_ctx *ctx, const lsp_dense *D, lsp_csr *B), ctx)
/* clang-format on */
