/* Replaces the GPU in a build without CUDA: every call refuses with a sentence. */
#include "core/none.h"
#include "gpu.h"
#include "matrices/csr/facts.h"
#include "matrices/csr/plans.h"

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
LSP_NO_CUDA(lsp_csr_find_wide_cuda, (lsp_ctx *ctx, const lsp_csr *A, int64_t *entry), ctx)
LSP_NO_CUDA(lsp_csr_sum_cuda, (lsp_ctx *ctx, lsp_csr *A), ctx)
LSP_NO_CUDA(lsp_coo_outside_cuda, (lsp_ctx *ctx, const lsp_coo *A, int64_t *outside, int64_t at[2]), ctx)
LSP_NO_CUDA(lsp_csr_find_unsorted_cuda, (lsp_ctx *ctx, const lsp_csr *A, bool strictly, int64_t *row), ctx)
LSP_NO_CUDA(lsp_csr_find_not_finite_cuda, (lsp_ctx *ctx, const lsp_csr *A, int64_t *entry), ctx)
LSP_NO_CUDA(lsp_csr_spot_cuda, (lsp_ctx *ctx, const lsp_csr *A, int64_t entry, lsp_csr_spot *spot), ctx)
LSP_NO_CUDA(lsp_csr_first_difference_cuda,
            (lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_csr_spot *spot), ctx)
LSP_NO_CUDA(lsp_csr_distance_cuda,
            (lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, bool aligned, lsp_csr_distance *distance), ctx)
LSP_NO_CUDA(lsp_csr_row_facts_cuda, (lsp_ctx *ctx, const lsp_csr *A, lsp_csr_row_facts *facts), ctx)
LSP_NO_CUDA(lsp_csr_column_facts_cuda, (lsp_ctx *ctx, const lsp_csr *T, lsp_csr_stats *stats), ctx)
LSP_NO_CUDA(lsp_csr_symmetry_cuda, (lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *T, lsp_csr_stats *stats), ctx)
LSP_NO_CUDA(lsp_csr_number_cuda, (lsp_ctx *ctx, void *places, bool wide, int64_t n), ctx)
LSP_NO_CUDA(lsp_csr_take_values_cuda,
            (lsp_ctx *ctx, const lsp_csr *A, const void *places, bool wide, const lsp_csr *B), ctx)
LSP_NO_CUDA(lsp_csr_stack_cuda, (lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_csr *P), ctx)
LSP_NO_CUDA(lsp_csr_take_heads_cuda,
            (lsp_ctx *ctx, const lsp_csr *P, const void *heads, const void *counts, bool wide, void **starts,
             lsp_csr *C),
            ctx)
LSP_NO_CUDA(lsp_csr_sum_values_cuda, (lsp_ctx *ctx, const lsp_csr_sum *sum), ctx)
/* clang-format on */
