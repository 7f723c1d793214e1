/* C<M> = A*B on a GPU, for every product with a mask: sums products beside the mask's entries, then leaves out entries
 * that got no product. The host waits for nnz(C). */
#include "core/scan.h"
#include "kernel_masked.cuh"
#include "matrices/matrices.h"
#include "spgemm/gpu/launch.cuh"

template <int G, typename K, typename V>
static lsp_status start(lsp_ctx *ctx, const spg_job *job, mask_job<K> *mask, int64_t entries) {
    typedef mask_group<G, K, V> Group;
    const size_t bytes = Group::together * sizeof(Group);
    const int64_t rows = job->A.rows, most = rows + entries / Group::most;
    int64_t *extra = NULL;
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, rows, &extra));
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_mask_extra<K>, rows, NT, *job, *mask, extra, (uint32_t)Group::most));
    LSP_TRY(lsp_cuda_scan(ctx, extra, rows, NULL));
    mask->extra = extra;
    LSP_TRY(lsp_allow_shared(ctx, kernel_masked<G, K, V>, bytes));
    return LSP_LAUNCH(ctx, (kernel_masked<G, K, V>), lsp_ceil_div(most, Group::together), MASK_NT, bytes, *job, *mask);
}

template <typename K, typename V>
static lsp_status multiply(const lsp_spgemm_plan *plan, const spg_job *job, const lsp_csr *sums, uint8_t *touched) {
    enum { LONG = 16 }; /* products an entry of A; with as many or more, a warp a row is faster than 8 lanes a row */
    mask_job<K> mask = {sums->rowptr, sums->rowptr_type == LSP_I64, (const K *)sums->col, NULL, sums->val, touched};
    return plan->facts.products / LONG >= job->A.nnz ? (start<WARP, K, V>(plan->ctx, job, &mask, sums->nnz))
                                                     : (start<WARP / 4, K, V>(plan->ctx, job, &mask, sums->nnz));
}

extern "C" lsp_status lsp_spgemm_gpu_masked(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, lsp_csr *C) {
    lsp_ctx *ctx = plan->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    const spg_job job = job_of(plan, operands);
    lsp_csr sums = *plan->options.filter.mask;
    const bool wide = sums.col_type == LSP_I64;
    uint8_t *touched = NULL;
    lsp_csr_types types = plan->options.types;
    sums.val_type = types.val_type = plan->type;
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, sums.nnz, lsp_type_bytes(sums.val_type), &sums.val));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, sums.nnz, &touched));
    if (sums.nnz > 0) {
        LSP_TRY(lsp_cuda_clear(ctx, touched, sums.nnz));
        LSP_TRY(spg_with_value(plan, [&](auto v) {
            return wide ? multiply<int64_t, decltype(v)>(plan, &job, &sums, touched)
                        : multiply<uint32_t, decltype(v)>(plan, &job, &sums, touched);
        }));
    }
    return lsp_filter_take(ctx, &sums, touched, &types, C);
}
