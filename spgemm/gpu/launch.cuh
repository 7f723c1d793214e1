/* What the launchers of C = A*B share: the job from the plan, rows listed by bin, kernels that both count and fill. */
#ifndef LSP_SPGEMM_GPU_LAUNCH_CUH
#define LSP_SPGEMM_GPU_LAUNCH_CUH

#include "core/launch.cuh"
#include "kernel_check.cuh"
#include "kernel_inspect.cuh"
#include "kernel_long_mark.cuh"
#include "kernel_window.cuh"
#include "spgemm/spgemm.h"
#include "stages.cuh"

/* Threads of kernels that walk through items, and blocks of them: enough to fill the largest chip. SMS: its
 * multiprocessors; blocks that fetch their work are so many times these. */
enum { NT = CHECK_NT, SMS = 132 };
static inline int64_t blocks_for(int64_t items) { return lsp_max(lsp_min(lsp_ceil_div(items, NT * 4), SMS * 16), 1); }

/* ---- the report ---- */

static inline spg_report *report_of(const lsp_spgemm_plan *plan) { return (spg_report *)plan->gpu.report; }

static inline lsp_status clear(lsp_ctx *ctx, void *memory, size_t bytes) {
    return LSP_CUDA_CALL(ctx, cudaMemsetAsync(memory, 0, bytes, (cudaStream_t)lsp_cuda_stream(ctx)));
}

/* A part of the report is all zero, and from now on it is not. */
static inline lsp_status open_part(lsp_ctx *ctx, void *part, size_t bytes, bool *used) {
    lsp_status status = LSP_OK;
    if (*used) {
        LSP_TRY(clear(ctx, part, bytes));
    }
    *used = true;
done:
    return status;
}

/* ---- the job ---- */

static inline spg_matrix matrix_of(const lsp_csr *A) {
    return (spg_matrix){(const uint32_t *)A->rowptr, (const uint32_t *)A->col, A->val, A->rows, A->cols, A->nnz};
}

static inline spg_job job_of(const lsp_spgemm_plan *plan, const lsp_spgemm_gpu_operands *operands) {
    spg_job job = {};
    job.A = matrix_of(&operands->A);
    job.B = matrix_of(&operands->B);
    job.duplicates = plan->gpu.duplicates;
    job.shared_from = plan->gpu.shared_from;
    job.cols = (uint32_t)operands->B.cols;
    job.products = plan->gpu.products;
    job.rowptr = plan->gpu.rowptr;
    job.groups = plan->gpu.groups;
    job.repeats = plan->gpu.repeats;
    job.names = operands->names;
    job.min_plus = plan->options.semiring == LSP_MIN_PLUS;
    return job;
}

/* Does the semiring choose from products, instead of summing them? */
static inline bool is_minmax(const lsp_spgemm_plan *plan) {
    return plan->options.semiring != LSP_PLUS_TIMES && plan->options.semiring != LSP_PLUS_PAIR;
}

/* ---- short rows ---- */

/* Rows a warp: no more than keep the whole chip busy; 32 if that leaves twice as many warps, for the longest rows are
 * often neighbours. */
static inline int rows_each(int64_t rows) {
    int each = 1;
    while (each < WARP && rows > (int64_t)each * SMS * (each < WARP / 2 ? 40 : 80)) {
        each *= 2;
    }
    return each;
}
/* Steps of a block that looks: the same holds. */
static inline int inspect_steps(int64_t rows) {
    return (int)lsp_max(lsp_min(rows / (INSPECT_NT * SMS * 16), INSPECT_STEPS), 1);
}
static inline int64_t inspect_blocks(int64_t rows) {
    return lsp_max(lsp_ceil_div(rows, (int64_t)INSPECT_WARPS * rows_each(rows) * inspect_steps(rows)), 1);
}
static inline int64_t short_blocks(int64_t rows) {
    return lsp_max(lsp_ceil_div(rows, SHORT_WARPS * rows_each(rows)), 1);
}

static inline short_layout layout_of(const lsp_spgemm_plan *plan) {
    const int64_t rows = plan->facts.rows, blocks = inspect_blocks(rows);
    ull *starts = (ull *)plan->gpu.tiles;
    return (short_layout){rows_each(rows),
                          inspect_steps(rows),
                          starts + blocks,
                          starts,
                          plan->gpu.summed ? plan->gpu.rowptr : NULL,
                          plan->gpu.short_repeats > 0};
}

/* ---- lists of rows ---- */

/* Rows by bin, but for short ones. */
typedef struct bin_lists {
    uint32_t *rows;
    bin_starts starts;
} bin_lists;

static inline spg_list list_of(const bin_lists *lists, const uint32_t *bins, int bin) {
    return (spg_list){lists->rows + lists->starts.at[bin], bins[bin]};
}

/* Rows that are counted in a window first. */
static inline uint32_t windowed(const uint32_t *bins) {
    uint32_t sum = 0;
    for (int bin = LSP_BIN_COUNT_64; bin < LSP_BIN_LONG; bin++) {
        sum += bins[bin];
    }
    return sum;
}

/* Places of the list; rows that fit no window are listed once more, and then perhaps among those counted by bits; or
 * those that are merged. */
static inline int64_t list_rows(const uint32_t *bins) {
    int64_t sum = 3 * (int64_t)windowed(bins);
    for (int bin = LSP_BIN_SORT_32 + 1; bin < LSP_BINS; bin++) {
        sum += bins[bin];
    }
    return sum;
}

template <bool FILL>
static lsp_status make_lists(lsp_spgemm_plan *plan, const spg_job *job, const uint32_t *bins, uint32_t *placed,
                             bin_lists *lists) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    *lists = (bin_lists){};
    for (int bin = LSP_BIN_SORT_32 + 1, at = 0; bin < LSP_BINS; bin++) {
        lists->starts.at[bin] = (uint32_t)at;
        at += (int)bins[bin];
    }
    if (list_rows(bins) > 0) {
        LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, list_rows(bins), sizeof *lists->rows, (void **)&lists->rows));
        LSP_TRY(LSP_LAUNCH(ctx, kernel_list<FILL>, lsp_ceil_div(job->A.rows, NT), NT, 0, *job, lists->rows,
                           lists->starts, placed));
    }
done:
    return status;
}

/* ---- kernels that count and fill ---- */

/* Columns that are counted at a time at most: one bit each in the shared memory of a block of this chip. */
static inline uint32_t count_range(lsp_ctx *ctx) {
    const int most = LONG_COUNT_RANGE / 8 + (16 << 10);
    return lsp_cuda_get_chip(ctx)->shared_block_bytes >= most ? LONG_COUNT_RANGE : LONG_COUNT_RANGE / 2;
}

/* Threads of a block that marks so many columns, and blocks that a chip holds. */
static inline int long_threads(int64_t columns) { return columns < LONG_MANY ? LONG_NT : LONG_MANY_NT; }
static inline int64_t long_blocks(int64_t tasks, int threads) { return lsp_min(tasks, SMS * (LONG_THREADS / threads)); }

#endif
