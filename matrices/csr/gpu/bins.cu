/* B = A^T. Where entries are mirrored, mirror.cu has one pass; other matrices take two passes over the entries: into
 * bins of neighbouring columns, then each bin sorted in shared memory. Every entry is read and written twice, in runs.
 * Whoever asks atomics for places gets them in any order, so the last pass sorts each column by row; that is the only
 * order if no row holds a column twice. */
#include "kernel_bins.cuh"
#include "matrices/gpu/gpu.h"
#include "mirror.cuh"

enum { short_run = 32 }; /* entries of a bin among those of a block of kernel_bin_count: fewer make short runs */

/* Bins of about nine tenths of what fits, for columns of equal length. false: A has too many entries, or too few. */
static bool plan_bins(lsp_ctx *ctx, const lsp_csr *A, bin_job *job, uint32_t *capacity) {
    const lsp_cuda_chip *chip = lsp_cuda_get_chip(ctx);
    const int64_t half = lsp_min(chip->shared_block_bytes, chip->shared_sm_bytes / 2 - 1024) - 1024;
    const int value = value_bytes(A);
    if (A->nnz == 0 || A->nnz > INT32_MAX || A->rows > (int64_t)UINT32_MAX || A->cols > (int64_t)UINT32_MAX) {
        return false;
    }
    const double columns = 0.9 * (double)A->cols / (double)A->nnz; /* of the bin, for each entry that fits */
    const double width = columns * (double)half / (value + 6 + 4 * columns);
    job->width = (uint32_t)(width < 2 ? 2 : width > 1 << 14 ? 1 << 14 : width);
    job->cut.low = (uint32_t)(UINT64_MAX / job->width + 1);
    job->cut.high = (uint32_t)((UINT64_MAX / job->width + 1) >> 32);
    job->bins = (uint32_t)lsp_ceil_div(A->cols, job->width);
    *capacity = (uint32_t)((half - 4 * (int64_t)(job->width + 1)) / (value + 6)) / 4 * 4;
    job->tile = (int)((half - 8 * (int64_t)job->bins) / (value + 8));
    job->tile = (int)lsp_min(job->tile, (int64_t)BIN_TILE_NT * bin_move_vt(value)) / ENTRY_TILE * ENTRY_TILE;
    job->tiles = job->tile > 0 ? (int)lsp_ceil_div(A->nnz, job->tile) : 0;
    return lsp_ceil_div(A->cols, job->width) <= BIN_MOST && job->tile >= BIN_TILE_NT;
}

template <int VB, int MOVE_NT> static lsp_status start_blocks(lsp_ctx *ctx, const bin_job *job) {
    const int each = MOVE_NT / BIN_TILE_NT;
    const size_t bytes = bin_move_bytes(each * job->tile, job->bins, VB);
    LSP_TRY(lsp_allow_shared(ctx, (kernel_bin_move<VB, MOVE_NT>), bytes));
    return LSP_LAUNCH(ctx, (kernel_bin_move<VB, MOVE_NT>), lsp_ceil_div(job->tiles, each), MOVE_NT, bytes, *job);
}

/* Two small blocks of a multiprocessor wait for each other's memory, but one large block writes longer runs. */
template <int VB> static lsp_status start_move(lsp_ctx *ctx, const bin_job *job, const bin_facts *facts) {
    return job->A.nnz < (int64_t)facts->runs * short_run ? start_blocks<VB, 2 * BIN_TILE_NT>(ctx, job)
                                                         : start_blocks<VB, BIN_TILE_NT>(ctx, job);
}

template <int VB>
static lsp_status start_write(lsp_ctx *ctx, const bin_job *job, const lsp_csr *B, uint32_t capacity, size_t bytes) {
    LSP_TRY(lsp_allow_shared(ctx, kernel_bin_write<VB>, bytes));
    return LSP_LAUNCH(ctx, kernel_bin_write<VB>, job->bins, BIN_SORT_NT, bytes, *job, view(B), capacity);
}

/* Counts the entries of the bins, and reads what decides whether they will do. */
static lsp_status count_bins(lsp_ctx *ctx, bin_job *job, bin_facts *facts) {
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &job->facts));
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 2 * ((int64_t)job->bins + 1), &job->starts));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, lsp_ceil_div(job->A.nnz, ENTRY_TILE), &job->tile_row));
    job->next = job->starts + job->bins + 1;
    LSP_TRY(
        LSP_LAUNCH(ctx, kernel_bin_count, lsp_blocks_for(ctx, job->A.nnz, BIN_COUNT_TILE, 8), NT, job->bins * 4, *job));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_bin_starts, 1, NT, 0, *job));
    return lsp_cuda_read(ctx, facts, job->facts, sizeof *facts);
}

lsp_status lsp_csr_into_bins(lsp_ctx *ctx, const char *name, const lsp_csr *A, bin_job *job, uint32_t *capacity,
                             size_t *bytes, bool *done) {
    bin_facts facts = {};
    const int value = value_bytes(A);
    *done = false;
    *job = bin_job{};
    job->A = view(A);
    if (value == 1 || !plan_bins(ctx, A, job, capacity)) {
        return name ? lsp_csr_check_cuda(ctx, name, A) : LSP_OK;
    }
    LSP_TRY(count_bins(ctx, job, &facts));
    if (facts.faults > 0) { /* it says which */
        LSP_TRY(lsp_csr_check_cuda(ctx, name ? name : "A", A));
    }
    if (facts.faults > 0 || facts.falls > facts.row_falls || facts.fullest > *capacity) {
        return LSP_OK;
    }
    *bytes = bin_sort_bytes(*capacity, job->width, value);
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->nnz, &job->col));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->nnz, &job->row));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, A->nnz, (size_t)value, &job->val));
    LSP_TRY(value == 0   ? start_move<0>(ctx, job, &facts)
            : value == 4 ? start_move<4>(ctx, job, &facts)
            : value == 8 ? start_move<8>(ctx, job, &facts)
                         : start_move<16>(ctx, job, &facts));
    *done = true;
    return LSP_OK;
}

extern "C" lsp_status lsp_csr_transpose_cuda(lsp_ctx *ctx, const char *name, const lsp_csr *A, lsp_csr *B, bool *done) {
    LSP_SCRATCH_SCOPE(ctx);
    size_t bytes = 0;
    bin_job job;
    uint32_t capacity = 0;
    const int value = value_bytes(A);
    LSP_TRY(lsp_csr_mirror_entries(ctx, name, A, view(B), done));
    if (*done) {
        return LSP_OK;
    }
    LSP_TRY(lsp_csr_into_bins(ctx, name, A, &job, &capacity, &bytes, done));
    if (*done) {
        LSP_TRY(value == 0   ? start_write<0>(ctx, &job, B, capacity, bytes)
                : value == 4 ? start_write<4>(ctx, &job, B, capacity, bytes)
                : value == 8 ? start_write<8>(ctx, &job, B, capacity, bytes)
                             : start_write<16>(ctx, &job, B, capacity, bytes));
    }
    return LSP_OK;
}
