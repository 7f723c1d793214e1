/* What all launchers of C = A*B share: launch sizes, the report, the job made from the plan, lists of rows by bin. */
#pragma once

#include "core/launch.cuh"
#include "core/semiring.h"
#include "gpu.h"
#include "integer.cuh"
#include "kernel_lists.cuh"
#include "report.cuh"

/* Threads a block of the kernels that loop over items with a grid stride. */
enum { NT = LIST_NT };
/* Multiprocessors of the chip at hand. Kernels whose blocks fetch their own work launch a multiple of these. */
static inline int64_t chip_sms(lsp_ctx *ctx) { return lsp_cuda_get_chip(ctx)->sms; }
/* Starts one of several independent kernels (LSP_LAUNCH_BESIDE) with `bytes` of dynamic shared memory; none if it has
 * no blocks. An expression. */
#define SPG_START(ctx, beside, kernel, blocks, threads, bytes, ...)                                                    \
    ({                                                                                                                 \
        const int64_t its_blocks = (blocks);                                                                           \
        const size_t its_bytes = (bytes);                                                                              \
        lsp_status started = its_blocks > 0 ? lsp_allow_shared((ctx), kernel, its_bytes) : LSP_OK;                     \
        if (started == LSP_OK && its_blocks > 0) {                                                                     \
            started = LSP_LAUNCH_BESIDE(ctx, beside, kernel, its_blocks, threads, its_bytes, __VA_ARGS__);             \
        }                                                                                                              \
        started;                                                                                                       \
    })

/* ---- functions that one launcher calls in another ---- */

/* Starts the kernel that fills spg_facts and counts the short rows. Does not wait. */
lsp_status spg_inspect(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands);

/* Both passes where B is nearly dense. Counting writes nnz(C) to the plan and waits for it; if memory is short it
 * clears plan->gpu->dense_b, and C is made in another way. Filling writes C, or (update) its values. */
lsp_status spg_count_dense_b(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands);
lsp_status spg_fill_dense_b(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, bool update, lsp_csr *C);

/* Replay by ranks. spg_ranks_fit: can ranks serve this C, if A has `entries` entries? spg_ranks_build sets *built if
 * they were made; otherwise C is replayed in another way. `windows`: the windows that make most of C, or 0.
 * spg_ranks_fill writes C's values. */
bool spg_ranks_fit(const lsp_spgemm_plan *plan, int64_t entries);
lsp_status spg_ranks_build(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, const lsp_csr *C,
                           int64_t windows, bool *built);
lsp_status spg_ranks_fill(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, const lsp_csr *C);

/* ---- the job ---- */

static inline spg_matrix matrix_of(const lsp_csr *A) {
    return (spg_matrix){(const uint32_t *)A->rowptr, (const uint32_t *)A->col, A->val, A->rows, A->cols, A->nnz};
}

static inline spg_job job_of(const lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands) {
    spg_job job = {};
    job.A = matrix_of(&operands->A);
    job.B = matrix_of(&operands->B);
    job.duplicates = plan->gpu->duplicates;
    job.shared_from = plan->gpu->shared_from;
    job.cols = (uint32_t)operands->B.cols;
    job.products = plan->gpu->products;
    job.rowptr = plan->gpu->rowptr;
    job.groups = plan->gpu->groups;
    job.repeats = plan->gpu->repeats;
    job.known = plan->gpu->known;
    job.kept = &plan->gpu->report->counting.kept;
    job.names = operands->names;
    job.min_plus = lsp_semiring_product(plan->options.semiring) == LSP_PRODUCT_PLUS;
    return job;
}
/* The same, to write C's columns and values. */
static inline spg_job job_to(const lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, const lsp_csr *C) {
    spg_job job = job_of(plan, operands);
    job.col = C->col;
    job.val = C->val;
    job.wide_col = C->col_type == LSP_I64;
    return job;
}

/* The kernels add by fused multiply-add, or choose the least a + b or the largest a * b (`minmax` in job.cuh). Another
 * pair of product and join needs a flag in the job beside min_plus. */
#define GPU_HAS(id, name, product, join, empty)                                                                        \
    static_assert(LSP_JOIN_##join == LSP_JOIN_LEAST     ? LSP_PRODUCT_##product == LSP_PRODUCT_PLUS                    \
                  : LSP_JOIN_##join == LSP_JOIN_LARGEST ? LSP_PRODUCT_##product != LSP_PRODUCT_PLUS                    \
                  : LSP_JOIN_##join == LSP_JOIN_FUSED   ? LSP_PRODUCT_##product == LSP_PRODUCT_TIMES                   \
                                                        : LSP_PRODUCT_##product >= LSP_PRODUCT_BOTH,                     \
                  name ": no kernel of the GPU joins these products");
LSP_EACH_SEMIRING(GPU_HAS)

/* start(V{}) with the type V of the plan's values: THE list of types. spg_with_number: if it has values. */
template <typename F> static inline lsp_status spg_with_number(const lsp_spgemm_plan *plan, F start) {
    const bool chooses = lsp_semiring_is_minmax(plan->options.semiring);
    return plan->type == LSP_C64   ? start(complex_value{})
           : plan->type == LSP_I64 ? (chooses ? start(minmax_integer{}) : start(integer_value{}))
           : plan->type == LSP_F64 ? (chooses ? start(minmax<double>{}) : start(double{}))
           : chooses               ? start(minmax<float>{})
                                   : start(float{});
}
template <typename F> static inline lsp_status spg_with_value(const lsp_spgemm_plan *plan, F start) {
    return plan->type == LSP_NONE ? start(no_value{}) : spg_with_number(plan, start);
}
/* Declares or defines F(V) for the types whose kernels are compiled in files of their own, to save time. */
#define SPG_EACH_OTHER_TYPE(F) F(complex_value) F(integer_value) F(minmax_integer) F(minmax<double>) F(minmax<float>)

/* ---- lists of rows ---- */

/* Rows by bin, without the short ones. */
typedef struct bin_lists {
    uint32_t *rows;
    bin_starts starts;
} bin_lists;

static inline spg_list list_of(const bin_lists *lists, const uint32_t *bins, int bin) {
    return (spg_list){lists->rows + lists->starts.at[bin], bins[bin]};
}

/* Rows that are first counted in a window. */
static inline uint32_t windowed(const uint32_t *bins) {
    uint32_t sum = 0;
    for (int bin = LSP_BIN_COUNT_64; bin < LSP_BIN_LONG; bin++) {
        sum += bins[bin];
    }
    return sum;
}

/* The list's size. A row that is counted in a window takes up to three places: its own, one if it fits no window, and
 * one if it is merged or counted as LONG. */
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
    lsp_ctx *ctx = plan->ctx;
    *lists = (bin_lists){};
    for (int bin = LSP_BIN_SORT_32 + 1, at = 0; bin < LSP_BINS; bin++) {
        lists->starts.at[bin] = (uint32_t)at;
        at += (int)bins[bin];
    }
    if (list_rows(bins) > 0) {
        LSP_TRY(LSP_SCRATCH_CUDA(ctx, list_rows(bins), &lists->rows));
        LSP_TRY(LSP_LAUNCH(ctx, kernel_list<FILL>, lsp_ceil_div(job->A.rows, NT), NT, 0, *job, lists->rows,
                           lists->starts, placed));
    }
    return LSP_OK;
}
