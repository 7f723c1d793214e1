/* Products on a GPU, in a build without CUDA: there are none. */
#include "core/none.h"
#include "spmv/diagonals.h"
#include "spmv/lengths.h"
#include "spmv/propagate.h"
#include "spmv/transpose.h"

const lsp_spmv_engine *lsp_spmv_engine_cuda(lsp_spmv_method method) { return NULL; }

/* clang-format off */
LSP_NO_CUDA(lsp_spmv_inspect_cuda, (lsp_ctx *ctx, const lsp_spmv_job *job, lsp_spmv_facts *facts), ctx)
LSP_NO_CUDA(lsp_spmv_number_cuda, (lsp_ctx *ctx, double *val, int64_t n), ctx)
LSP_NO_CUDA(lsp_spmv_places_cuda, (lsp_ctx *ctx, void *places, lsp_type type, const double *val, int64_t n), ctx)
LSP_NO_CUDA(lsp_spmv_count_slots_cuda, (lsp_ctx *ctx, const lsp_spmv_job *job, lsp_spmv_facts *facts), ctx)
LSP_NO_CUDA(lsp_spmv_propagate_resize_cuda, (lsp_spmv_plan *plan, const lsp_propagate_sizes *sizes), plan->ctx)
LSP_NO_CUDA(lsp_spmv_length_slots_cuda, (lsp_ctx *ctx, const lsp_csr *A, int64_t *slots), ctx)
LSP_NO_CUDA(lsp_spmv_lengths_hold_cuda, (lsp_spmv_plan *plan, int64_t popular), plan->ctx)
/* clang-format on */
