/* C = A*B on a GPU, before anything is multiplied: checks that A and B are matrices, and counts the products of every
 * row. The host waits once. */
#include "dense/kernel_strips.cuh"
#include "kernel_check.cuh"
#include "kernel_inspect.cuh"
#include "matrices/gpu/gpu.h"
#include "sort/short_launch.cuh"
#include <stdio.h>

/* ---- the check ---- */

/* Starts the check of a matrix. *check is all zero. Does not wait. */
static lsp_status start_check(lsp_ctx *ctx, const lsp_csr *A, spg_check *check) {
    const int64_t blocks = lsp_blocks_for(ctx, A->rows + A->nnz, NT * 4, 16);
    const bool wide_rowptr = A->rowptr_type == LSP_I64, wide_col = A->col_type == LSP_I64;
#define CHECK(R, C)                                                                                                    \
    LSP_LAUNCH(ctx, (kernel_check<R, C>), blocks, NT, 0, (const R *)A->rowptr, (const C *)A->col, A->rows, A->cols,    \
               A->nnz, check)
    return wide_rowptr ? (wide_col ? CHECK(int64_t, int64_t) : CHECK(int64_t, int32_t))
                       : (wide_col ? CHECK(int32_t, int64_t) : CHECK(int32_t, int32_t));
#undef CHECK
}

/* Refuses a matrix in which the kernel saw a fault, in the words of lsp_csr_check. */
static lsp_status refuse(lsp_ctx *ctx, const char *name, const lsp_csr *A) {
    const lsp_status status = lsp_csr_check_valid(ctx, name, A);
    return status != LSP_OK
               ? status
               : lsp_fail(ctx, LSP_ERR_FORMAT, "%s, of %lld x %lld with %lld entries, was changed while it was read",
                          name, (long long)A->rows, (long long)A->cols, (long long)A->nnz);
}

static structure_words words_of(const lsp_csr *A) {
    return {(const uint32_t *)A->rowptr, (const uint32_t *)A->col, (A->rows + 1) * (A->rowptr_type == LSP_I64 ? 2 : 1),
            A->nnz * (A->col_type == LSP_I64 ? 2 : 1)};
}

static bool same_structure(const lsp_csr *A, const lsp_csr *B) {
    return A->rowptr == B->rowptr && A->col == B->col && A->rows == B->rows && A->nnz == B->nnz;
}

/* A thread for each four words of the larger array, as far as the blocks go. */
static int64_t structure_blocks(const lsp_csr *A, const lsp_csr *B) {
    const structure_words a = words_of(A), b = words_of(B);
    const int64_t most = lsp_max(lsp_max(a.pointers, a.columns), lsp_max(b.pointers, b.columns));
    return lsp_min(lsp_ceil_div(most, 4 * STRUCTURE_NT), STRUCTURE_BLOCKS);
}

extern "C" lsp_status lsp_spgemm_gpu_start_structure(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B) {
    const int64_t blocks = structure_blocks(A, B);
    LSP_TRY(LSP_LAUNCH(ctx, kernel_structure, blocks, STRUCTURE_NT, 0, words_of(A), words_of(B), same_structure(A, B),
                       (ull *)lsp_cuda_note(ctx)));
    return lsp_cuda_end_note(ctx);
}

extern "C" lsp_status lsp_spgemm_gpu_read_structure(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B,
                                                    uint64_t structure[2]) {
    const int64_t blocks = structure_blocks(A, B), b = same_structure(A, B) ? 0 : blocks;
    ull sums[2 * STRUCTURE_BLOCKS];
    static_assert(sizeof sums <= LSP_CUDA_NOTE_BYTES, "blocks leave their sums there");
    LSP_TRY(lsp_cuda_read_note(ctx, sums, sizeof sums));
    structure[0] = structure[1] = 0;
    for (int64_t i = 0; i < blocks; i++) {
        structure[0] += sums[i];
        structure[1] += sums[b + i];
    }
    return LSP_OK;
}

/* ---- facts ---- */

lsp_status spg_inspect(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands) {
    lsp_ctx *ctx = plan->ctx;
    const lsp_csr *A = &operands->A;
    const spg_job job = job_of(plan, operands);
    const short_layout layout = layout_of(plan);
    const size_t bytes = INSPECT_WARPS * sizeof(short_shared<no_value>);
    int log_lanes = 0; /* log2 of the lanes that share a row of A */
    static_assert(sizeof(spg_facts) <= LSP_CUDA_NOTE_BYTES && sizeof(spg_facts) % sizeof(ull) == 0, "told in words");
    while (1 << log_lanes < WARP / layout.rows_each ||
           (1 << log_lanes < WARP && (A->rows * 2 * INSPECT_DEPTH) << log_lanes < A->nnz)) {
        log_lanes++;
    }
    LSP_TRY(LSP_LAUNCH(ctx, kernel_inspect, inspect_blocks(ctx, A->rows), INSPECT_NT, bytes, job, layout, log_lanes,
                       plan->gpu->products, &plan->gpu->report->facts, (spg_facts *)lsp_cuda_note(ctx)));
    return lsp_cuda_end_note(ctx);
}

/* Refuses matrices too large for the kernels' 32-bit numbers. */
static lsp_status check_sizes(lsp_ctx *ctx, const char *name, const lsp_csr *A, bool columns) {
    const int64_t most = lsp_spgemm_most(ctx);
    LSP_REQUIRE(A->nnz <= most && A->rows <= INT32_MAX && (A->cols <= (int64_t)INT32_MAX + 1 || !columns),
                LSP_ERR_UNSUPPORTED,
                "%s is %lld x %lld with %lld entries: on a GPU a factor may have up to 2^31 columns unless it is the "
                "second one, and in a plan up to 2^31 - 1 rows and %lld entries",
                name, (long long)A->rows, (long long)A->cols, (long long)A->nnz, (long long)most);
    return LSP_OK;
}

static lsp_status take_memory(lsp_spgemm_plan *plan, int64_t rows) {
    lsp_ctx *ctx = plan->ctx;
    lsp_spgemm_gpu *gpu = plan->gpu;
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, rows + 1, sizeof *gpu->rowptr, (void **)&gpu->rowptr));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, rows, sizeof *gpu->products, (void **)&gpu->products));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, rows, sizeof *gpu->groups, (void **)&gpu->groups));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, inspect_blocks(ctx, rows) * (INSPECT_TILES * inspect_steps(ctx, rows) + 1),
                      sizeof *gpu->tiles, (void **)&gpu->tiles));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, 1, sizeof *gpu->report, (void **)&gpu->report));
    return lsp_cuda_clear(ctx, gpu->report, sizeof(spg_report));
}

/* Refuses malformed operands; else notes in the plan what the check found of B. */
static lsp_status read_checks(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, bool same,
                              const spg_facts *here) {
    const spg_check *b = &here->check[same ? 0 : 1];
    if (here->check[0].fault != 0) {
        return refuse(plan->ctx, plan->names[0], A);
    }
    if (b->fault != 0) {
        return refuse(plan->ctx, plan->names[1], B);
    }
    plan->gpu->unsorted = b->descents != 0;
    plan->gpu->duplicates = b->descents != 0 || b->duplicates != 0;
    return LSP_OK;
}

extern "C" lsp_status lsp_spgemm_gpu_inspect(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B,
                                             lsp_spgemm_operands *operands) {
    lsp_ctx *ctx = plan->ctx;
    const lsp_spgemm_options *options = &plan->options;
    const bool same = A == B || (same_structure(A, B) && A->cols == B->cols);
    const bool ready = A->rowptr_type == LSP_I32 && A->col_type == LSP_I32 && B->rowptr_type == LSP_I32 &&
                       B->col_type == LSP_I32 && B->cols <= (int64_t)INT32_MAX + 1 && !options->transpose_a &&
                       !options->transpose_b;
    const int64_t rows = options->transpose_a ? A->cols : A->rows;
    spg_facts here, *report;
    LSP_TRY(check_sizes(ctx, plan->names[0], A, true));
    LSP_TRY(check_sizes(ctx, plan->names[1], B, options->transpose_b));
    LSP_REQUIRE(rows < lsp_spgemm_most(ctx), LSP_ERR_UNSUPPORTED,
                "a product of %lld rows is too large for a plan on a GPU: at most %lld", (long long)rows,
                (long long)lsp_spgemm_most(ctx) - 1);
    plan->facts.rows = rows;
    LSP_TRY(take_memory(plan, rows));
    report = &plan->gpu->report->facts;
    LSP_TRY(!same ? start_check(ctx, B, &report->check[1]) : LSP_OK);
    if (ready) { /* the common case: starts the inspection before the host knows whether A and B are matrices, so that
                    it waits once */
        const lsp_spgemm_operands views = {*A, *B, NULL, NULL, NULL};
        LSP_TRY(spg_inspect(plan, &views));
    } else {
        LSP_TRY(start_check(ctx, A, &report->check[0]));
    }
    LSP_TRY(ready ? lsp_cuda_read_note(ctx, &here, sizeof here) : lsp_cuda_read(ctx, &here, report, sizeof here));
    LSP_TRY(read_checks(plan, A, B, same, &here));
    LSP_TRY(lsp_spgemm_gpu_take_operands(plan, A, B, operands));
    if (!ready) {
        LSP_TRY(spg_inspect(plan, operands));
        LSP_TRY(lsp_cuda_read_note(ctx, &here, sizeof here));
    }
    LSP_REQUIRE(here.products <= INT64_MAX, LSP_ERR_OVERFLOW, "the product has more than 2^63 products");
    plan->facts.cols = options->transpose_b ? B->rows : B->cols;
    plan->facts.products = (int64_t)here.products;
    plan->facts.nnz_bound = (int64_t)here.nnz_bound;
    plan->facts.max_row_products = (int64_t)here.max_products;
    plan->gpu->shared_from = lsp_shared_from(here.bins, here.many);
    for (int bin = LSP_BIN_COUNT_64; bin < LSP_BIN_LONG; bin++) {
        if (lsp_shared_bin((lsp_spgemm_bin)bin, 512u << (bin - LSP_BIN_COUNT_64), 0, plan->gpu->shared_from) != bin) {
            here.bins[LSP_BIN_LONG] += here.bins[bin];
            here.bins[bin] = 0;
        }
    }
    memcpy(plan->gpu->count_bins, here.bins, sizeof here.bins);
    plan->gpu->all_short = list_rows(here.bins) == 0 && here.unfit == 0;
    plan->gpu->nnz = (int64_t)here.nnz;
    plan->gpu->short_repeats = here.repeats;
    if (!plan->gpu->all_short && !plan->gpu->duplicates && operands->names == NULL &&
        lsp_is_dense_b((lsp_dense_b_facts){plan->facts.products, plan->facts.nnz_bound, operands->A.nnz,
                                           operands->B.nnz, rows, operands->B.rows, operands->B.cols})) {
        lsp_spgemm_dense_b *dense_b = &plan->gpu->dense_b;
        dense_b->strips = (uint32_t)lsp_ceil_div(operands->B.cols, WARP);
        dense_b->bytes = (rows + operands->B.rows) * dense_b->strips * (int64_t)sizeof(spg_strip);
    }
    return LSP_OK;
}

/* ---- products alone, for the order of R*A*P ---- */

/* *products += the lengths of B's rows named by A's n columns. Columns outside B are left out. */
static __global__ void kernel_count_products(const void *col, bool wide_col, int64_t n, const void *rowptr,
                                             bool wide_rowptr, int64_t rows, ull *products) {
    ull sum = 0;
    EACH_ITEM(e, n, NT) {
        const int64_t k = index_at(col, wide_col, e);
        if (k >= 0 && k < rows) {
            sum += (ull)index_at(rowptr, wide_rowptr, k + 1) - (ull)index_at(rowptr, wide_rowptr, k);
        }
    }
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0) {
        atomicAdd(products, sum);
    }
}

extern "C" lsp_status lsp_spgemm_gpu_count_products(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B,
                                                    int64_t *products) {
    LSP_SCRATCH_SCOPE(ctx);
    ull *there = NULL, count = 0;
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 1, &there));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_count_products, lsp_blocks_for(ctx, A->nnz, NT * 8, 8), NT, 0, A->col,
                       A->col_type == LSP_I64, A->nnz, B->rowptr, B->rowptr_type == LSP_I64, B->rows, there));
    LSP_TRY(lsp_cuda_copy(ctx, &count, LSP_HOST, there, LSP_CUDA, sizeof count));
    *products = (int64_t)count;
    return LSP_OK;
}
