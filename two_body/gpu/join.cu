/* The radius join on the GPU: points sorted by cell, hits counted, rows begun by a prefix sum, hits written in the
 * order of cells, rows sorted by the segmented sort. All pairs: a grid of one cell, whose rows come out in order. */
#include "core/scan.h"
#include "kernel_join.cuh"

enum { FEW_HITS = 64 }; /* of a row: a warp writes several rows at once */

template <typename S, int G, bool FILL>
static lsp_status launch(lsp_ctx *ctx, const pair_walk *walk, const join_setup *setup, u64 *tested) {
    const int64_t blocks = lsp_ceil_div(walk->clouds.a.n, G * NEAR_WARPS);
    return blocks == 0 ? LSP_OK : LSP_LAUNCH(ctx, (kernel_join<S, G, FILL>), blocks, NEAR_NT, 0, *walk, *setup, tested);
}

template <typename S>
static lsp_status start(lsp_ctx *ctx, const pair_walk *walk, const join_setup *setup, bool fill, bool many,
                        u64 *tested) {
    constexpr int G = near_points<S>::count;
    return !fill  ? launch<S, G, false>(ctx, walk, setup, tested)
           : many ? launch<S, 1, true>(ctx, walk, setup, tested)
                  : launch<S, G, true>(ctx, walk, setup, tested);
}
#define START(space, ...) start<LSP_BARE space>(__VA_ARGS__)

static __global__ void __launch_bounds__(NEAR_NT) kernel_rowptr(const int64_t *from, void *to, bool wide, int64_t n) {
    for (int64_t i = (int64_t)blockIdx.x * NEAR_NT + threadIdx.x; i < n; i += (int64_t)gridDim.x * NEAR_NT) {
        if (wide) {
            ((int64_t *)to)[i] = from[i];
        } else {
            ((int32_t *)to)[i] = (int32_t)from[i];
        }
    }
}

static lsp_status sort_rows(lsp_ctx *ctx, const lsp_csr *C, int64_t longest) {
    lsp_segsort_args sort = {};
    sort.n = C->nnz, sort.segments = C->rows, sort.where = LSP_CUDA;
    sort.offsets = C->rowptr, sort.offset_type = C->rowptr_type, sort.max_length = longest;
    sort.key_type = LSP_I32, sort.keys = C->col, sort.keys_out = C->col;
    sort.end_bit = (int)lsp_max(lsp_bits((uint64_t)C->cols - 1), 1);
    sort.value_bytes = lsp_type_bytes(C->val_type), sort.values = C->val, sort.values_out = C->val;
    return C->nnz > 0 ? lsp_segsort(ctx, &sort, NULL) : LSP_OK;
}

/* Makes the matrix from the counted rows and fills it. */
static lsp_status fill(lsp_ctx *ctx, const lsp_pair_job *job, const pair_walk *walk, join_setup *setup, int64_t nnz,
                       int64_t longest, lsp_csr *C) {
    lsp_status status = LSP_OK;
    const bool pattern = setup->values == LSP_JOIN_PATTERN;
    const int64_t rows = job->sets[0].n;
    lsp_csr_types types = {};
    types.col_type = LSP_I32, types.val_type = pattern ? LSP_NONE : job->type, types.drop_values = pattern;
    types.place = LSP_PLACE_CUDA;
    LSP_TRY(lsp_csr_create(ctx, rows, job->sets[1].n, nnz, &types, C));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_rowptr, lsp_blocks_for(ctx, rows + 1, NEAR_NT * 4, 8), NEAR_NT, 0, setup->starts,
                       C->rowptr, C->rowptr_type == LSP_I64, rows + 1));
    setup->col = (int32_t *)C->col, setup->val = C->val;
    LSP_TRY(LSP_WITH_SPACE(job, START, ctx, walk, setup, true, nnz / lsp_max(rows, 1) >= FEW_HITS, NULL));
    LSP_TRY(walk->grid.total > 1 ? sort_rows(ctx, C, longest) : LSP_OK);
done:
    return status;
}

extern "C" lsp_status lsp_radius_join_cuda(lsp_ctx *ctx, lsp_pair_job *job, double limit, const lsp_join_options *join,
                                           lsp_csr *C) {
    lsp_status status = LSP_OK;
    const size_t mark = lsp_scratch_mark(ctx);
    const int64_t rows = job->sets[0].n;
    const lsp_pair_grid one = {{1, 1, 1}, {0, 0, 0}, 1};
    lsp_pair_job cells = *job; /* with a grid in any case */
    pair_walk walk = {job->metric, job->info.method == LSP_PAIR_GRID ? job->grid : one, {}, false};
    join_setup setup = {
        limit, job->metric.unit, join->values, job->self, join->half, join->self_pairs, NULL, NULL, NULL, NULL};
    lsp_csr made = {};
    int64_t nnz = 0;
    u64 *facts, here[2]; /* the longest row, distances computed */
    cells.grid = walk.grid;
    LSP_TRY(lsp_pair_clouds_cuda(ctx, &cells, true, &walk.clouds));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, 2, sizeof *facts, (void **)&facts));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, rows + 1, sizeof *setup.starts, (void **)&setup.starts));
    LSP_TRY(lsp_cuda_clear(ctx, facts, sizeof here));
    LSP_TRY(lsp_cuda_clear(ctx, setup.starts, (int64_t)sizeof *setup.starts));
    setup.longest = facts;
    LSP_TRY(LSP_WITH_SPACE(job, START, ctx, &walk, &setup, false, false, facts + 1));
    LSP_TRY(lsp_cuda_scan(ctx, setup.starts + 1, rows, &nnz));
    LSP_TRY(lsp_cuda_read(ctx, here, facts, sizeof here));
    LSP_TRY(fill(ctx, job, &walk, &setup, nnz, (int64_t)here[0], &made));
    job->info.tested = (int64_t)here[1];
    if (job->where == LSP_HOST) {
        lsp_csr_types types = lsp_types_of(&made);
        lsp_csr copy;
        types.place = LSP_PLACE_HOST;
        LSP_TRY(lsp_csr_copy(ctx, &made, &types, &copy));
        (void)lsp_csr_free(ctx, &made);
        made = copy;
    }
done:
    lsp_scratch_release(ctx, mark);
    return lsp_csr_give(ctx, status, C, &made, false);
}
