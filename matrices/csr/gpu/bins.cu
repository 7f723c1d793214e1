/* B = A^T in two passes over the entries: into bins of neighbouring columns, then each bin sorted in shared memory.
 * Every entry is read and written twice, in runs. Whoever asks atomics for places gets them in any order, so the last
 * pass sorts each column by row; that is the only order if no row holds a column twice. */
#include "gpu.h"
#include "kernel_bins.cuh"

/* Bins of about nine tenths of what fits, for columns of equal length. false: A has too many entries, or too few. */
static bool plan_bins(lsp_ctx *ctx, const lsp_csr *A, bin_job *job, uint32_t *capacity) {
    const lsp_cuda_chip *chip = lsp_cuda_get_chip(ctx);
    const int64_t half = lsp_min(chip->shared_block_bytes, chip->shared_sm_bytes / 2 - 1024) - 1024;
    const int64_t whole = lsp_min(chip->shared_block_bytes, chip->shared_sm_bytes - 1024) - 1024;
    const int value = value_bytes(A);
    if (A->nnz == 0 || A->nnz > INT32_MAX || A->rows > (int64_t)UINT32_MAX || A->cols > (int64_t)UINT32_MAX) {
        return false;
    }
    const double columns = 0.9 * (double)A->cols / (double)A->nnz; /* of the bin, for each entry that fits */
    const double width = columns * (double)half / (value + 4 + 4 * columns);
    job->width = (uint32_t)(width < 2 ? 2 : width > 1 << 14 ? 1 << 14 : width);
    job->cut.low = (uint32_t)(UINT64_MAX / job->width + 1);
    job->cut.high = (uint32_t)((UINT64_MAX / job->width + 1) >> 32);
    job->bins = (uint32_t)lsp_ceil_div(A->cols, job->width);
    *capacity = (uint32_t)((half - 4 * (int64_t)job->width) / (value + 4)) / 4 * 4;
    job->tile = (int)((whole - 8 * (int64_t)job->bins) / (value + 8)) / 4 * 4;
    job->tile = (int)lsp_min(job->tile, (int64_t)BIN_MOVE_NT * bin_move_vt(value));
    return lsp_ceil_div(A->cols, job->width) <= BIN_MOST && job->tile >= BIN_MOVE_NT;
}

template <int VB> static lsp_status start_bins(lsp_ctx *ctx, const bin_job *job, uint32_t capacity) {
    lsp_status status = LSP_OK;
    const size_t move_bytes = bin_move_bytes(job->tile, job->bins, VB);
    const size_t sort_bytes = bin_sort_bytes(capacity, job->width, VB);
    LSP_TRY(lsp_allow_shared(ctx, kernel_bin_move<VB>, move_bytes));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_bin_move<VB>, lsp_ceil_div(job->A.nnz, job->tile), BIN_MOVE_NT, move_bytes, *job));
    LSP_TRY(lsp_allow_shared(ctx, kernel_bin_sort<VB>, sort_bytes));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_bin_sort<VB>, job->bins, BIN_SORT_NT, sort_bytes, *job, capacity));
done:
    return status;
}

/* Counts the entries of the bins, and reads what decides whether they will do. */
static lsp_status count_bins(lsp_ctx *ctx, bin_job *job, bin_facts *facts) {
    lsp_status status = LSP_OK;
    const int64_t words = 2 * ((int64_t)job->bins + 1);
    const cudaStream_t stream = (cudaStream_t)lsp_cuda_stream(ctx);
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, 1, sizeof *facts, (void **)&job->facts));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, words, sizeof *job->starts, (void **)&job->starts));
    job->next = job->starts + job->bins + 1;
    LSP_TRY(LSP_CUDA_CALL(ctx, cudaMemsetAsync(job->facts, 0, sizeof *facts, stream)));
    LSP_TRY(LSP_CUDA_CALL(ctx, cudaMemsetAsync(job->starts, 0, (size_t)words * sizeof *job->starts, stream)));
    LSP_TRY(
        LSP_LAUNCH(ctx, kernel_bin_count, lsp_blocks_for(ctx, job->A.nnz, BIN_COUNT_TILE, 8), NT, job->bins * 4, *job));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_bin_starts, 1, NT, 0, *job));
    LSP_TRY(lsp_cuda_read(ctx, facts, job->facts, sizeof *facts));
done:
    return status;
}

extern "C" lsp_status lsp_csr_bins_cuda(lsp_ctx *ctx, const char *name, const lsp_csr *A, lsp_csr *B, bool *done) {
    lsp_status status = LSP_OK;
    size_t mark = lsp_scratch_mark(ctx);
    bin_job job = {};
    bin_facts facts = {};
    uint32_t capacity = 0;
    const int value = value_bytes(A);
    *done = false;
    job.A = view(A), job.B = view(B);
    if (value == 1 || !plan_bins(ctx, A, &job, &capacity)) {
        return name ? lsp_csr_check_cuda(ctx, name, A) : LSP_OK;
    }
    LSP_TRY(count_bins(ctx, &job, &facts));
    if (facts.faults > 0) { /* it says which */
        LSP_TRY(lsp_csr_check_cuda(ctx, name ? name : "A", A));
    }
    if (facts.faults > 0 || facts.falls > facts.row_falls || facts.fullest > capacity) {
        goto done;
    }
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, A->nnz, sizeof *job.col, (void **)&job.col));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, A->nnz, sizeof *job.row, (void **)&job.row));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, A->nnz, (size_t)value, &job.val));
    LSP_TRY(value == 0   ? start_bins<0>(ctx, &job, capacity)
            : value == 4 ? start_bins<4>(ctx, &job, capacity)
            : value == 8 ? start_bins<8>(ctx, &job, capacity)
                         : start_bins<16>(ctx, &job, capacity));
    *done = true;
done:
    lsp_scratch_release(ctx, mark);
    return status;
}
