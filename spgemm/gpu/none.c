/* C = A*B on a GPU, in a build without CUDA: every call refuses. */
#include "core/none.h"
#include "spgemm/batch.h"
#include "spgemm/spgemm.h"

/* clang-format off */
LSP_NO_CUDA(lsp_spgemm_gpu_count_products, (lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, int64_t *products), ctx)
LSP_NO_CUDA(lsp_spgemm_gpu_inspect,
            (lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_gpu_operands *operands), plan->ctx)
LSP_NO_CUDA(lsp_spgemm_gpu_take_operands,
            (lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_gpu_operands *operands), plan->ctx)
LSP_NO_CUDA(lsp_spgemm_gpu_count, (lsp_spgemm_plan *plan, const lsp_spgemm_gpu_operands *operands), plan->ctx)
LSP_NO_CUDA(lsp_spgemm_gpu_fill,
            (lsp_spgemm_plan *plan, const lsp_spgemm_gpu_operands *operands, bool update, lsp_csr *C), plan->ctx)
LSP_NO_CUDA(lsp_spgemm_gpu_masked, (lsp_spgemm_plan *plan, const lsp_spgemm_gpu_operands *operands, lsp_csr *C), plan->ctx)
LSP_NO_CUDA(lsp_spgemm_gpu_replay_build,
            (lsp_spgemm_plan *plan, const lsp_spgemm_gpu_operands *operands, const lsp_csr *C), plan->ctx)
LSP_NO_CUDA(lsp_spgemm_gpu_replay_run,
            (lsp_spgemm_plan *plan, const lsp_spgemm_gpu_operands *operands, lsp_csr *C, bool structure), plan->ctx)
LSP_NO_CUDA(lsp_spgemm_gpu_truth, (lsp_ctx *ctx, lsp_type type, void *to, const void *from, int64_t n), ctx)
LSP_NO_CUDA(lsp_spgemm_gpu_start_structure, (lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B), ctx)
LSP_NO_CUDA(lsp_spgemm_gpu_read_structure, (lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, uint64_t structure[2]),
            ctx)
LSP_NO_CUDA(lsp_batch_gather_cuda, (lsp_ctx *ctx, const lsp_batch_factor *f, bool structure, int64_t *fault), ctx)
LSP_NO_CUDA(lsp_batch_shift_cuda, (lsp_ctx *ctx, const lsp_batch_factor *f), ctx)
LSP_NO_CUDA(lsp_batch_ends_cuda, (lsp_ctx *ctx, lsp_batch_result *r, int64_t *ends), ctx)
LSP_NO_CUDA(lsp_batch_rebase_cuda, (lsp_ctx *ctx, const lsp_batch_result *r, lsp_type type, void *rowptr), ctx)
/* clang-format on */

int64_t lsp_spgemm_gpu_fill_bytes(const lsp_spgemm_plan *plan) { return 0; }
bool lsp_spgemm_gpu_replay_drop(lsp_spgemm_plan *plan) { return false; }
