/* The radius join on the GPU: points sorted by cell, hits counted, rows begun by a prefix sum, hits written in the
 * order of cells, rows sorted by the segmented sort. All pairs are a grid of one cell, whose rows come out in order. */
#include "core/items.h"
#include "core/scan.h"
#include "kernel_join.cuh"

enum { FEW_HITS = 64 }; /* of a row: a warp writes several rows at once */

template <typename S, int G, bool FILL>
static lsp_status launch(lsp_ctx *ctx, const pair_walk *walk, const join_setup *setup, ull *tested) {
    const int64_t blocks = near_blocks(walk, G);
    return blocks == 0 ? LSP_OK : LSP_LAUNCH(ctx, (kernel_join<S, G, FILL>), blocks, NEAR_NT, 0, *walk, *setup, tested);
}

template <typename S>
static lsp_status start(lsp_ctx *ctx, const pair_walk *walk, const join_setup *setup, bool fill, bool many,
                        ull *tested) {
    constexpr int G = near_points<S>::count;
    return !fill  ? launch<S, G, false>(ctx, walk, setup, tested)
           : many ? launch<S, 1, true>(ctx, walk, setup, tested)
                  : launch<S, G, true>(ctx, walk, setup, tested);
}
#define START(space, ...) start<LSP_BARE space>(__VA_ARGS__)

/* Begins the rows by their counted lengths and makes the matrix; *longest: the longest row. */
static lsp_status begin_rows(lsp_ctx *ctx, const lsp_pair_job *job, join_setup *setup, int64_t *longest, lsp_csr *C) {
    const lsp_csr_types types = lsp_join_types(job, setup->values, LSP_CUDA);
    const int64_t rows = job->sets[0].n;
    int64_t nnz;
    LSP_TRY(lsp_cuda_scan(ctx, setup->starts + 1, rows, &nnz));
    LSP_TRY(lsp_cuda_read(ctx, longest, setup->longest, sizeof *longest));
    LSP_TRY(lsp_csr_create(ctx, rows, job->sets[1].n, nnz, &types, C));
    LSP_TRY(lsp_cuda_convert_values(ctx, C->rowptr, C->rowptr_type, setup->starts, LSP_I64, rows + 1));
    setup->col = (int32_t *)C->col, setup->val = C->val;
    return LSP_OK;
}

static lsp_status by_cells(lsp_ctx *ctx, lsp_pair_job *job, join_setup *setup, ull *tested, lsp_csr *C) {
    const pair_walk walk = {job->metric, job->grid, pair_clouds_of(job), false};
    int64_t longest, here;
    LSP_TRY(LSP_WITH_SPACE(job, START, ctx, &walk, setup, false, false, tested));
    LSP_TRY(begin_rows(ctx, job, setup, &longest, C));
    LSP_TRY(LSP_WITH_SPACE(job, START, ctx, &walk, setup, true, C->nnz / lsp_max(C->rows, 1) >= FEW_HITS, NULL));
    LSP_TRY(walk.grid.total > 1 ? pair_sort_rows(ctx, C, 0, longest) : LSP_OK);
    LSP_TRY(lsp_cuda_read(ctx, &here, tested, sizeof here));
    job->info.tested = here;
    return LSP_OK;
}

extern "C" lsp_status lsp_radius_join_cuda(lsp_ctx *ctx, lsp_pair_job *job, double limit, const lsp_join_options *join,
                                           lsp_csr *C) {
    join_setup setup = {limit,
                        job->metric.unit,
                        join->values,
                        job->self,
                        job->own,
                        join->half,
                        join->self_pairs,
                        (int)job->shift,
                        NULL,
                        NULL,
                        NULL,
                        NULL};
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 2, &setup.longest)); /* distances computed */
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, job->sets[0].n + 1, &setup.starts));
    LSP_TRY(lsp_cuda_clear(ctx, setup.starts, (int64_t)sizeof *setup.starts));
    return by_cells(ctx, job, &setup, setup.longest + 1, C);
}
