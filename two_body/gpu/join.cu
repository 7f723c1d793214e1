/* The radius join on the GPU. By the grid: points sorted by cell, hits counted, rows begun by a prefix sum, hits
 * written in the order of cells, rows sorted by the segmented sort. By all pairs: hits go to a list (pages.cuh), from
 * which rows are counted, filled and sorted; without room for the list, and for few pairs, it is a grid of one cell,
 * whose rows come out in order. */
#include "core/scan.h"
#include "pages.cuh"

enum { FEW_HITS = 64 };        /* of a row: a warp writes several rows at once */
enum { LIST_PAIRS = 1 << 26 }; /* fewer are not worth a list, unless all pairs are asked for */

template <typename S, int G, bool FILL>
static lsp_status launch(lsp_ctx *ctx, const pair_walk *walk, const join_setup *setup, u64 *tested) {
    const int64_t blocks = near_blocks(walk, G);
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

/* Begins the rows by their counted lengths and makes the matrix; *longest: the longest row. */
static lsp_status begin_rows(lsp_ctx *ctx, const lsp_pair_job *job, join_setup *setup, int64_t *longest, lsp_csr *C) {
    const bool pattern = setup->values == LSP_JOIN_PATTERN;
    const int64_t rows = job->sets[0].n;
    int64_t nnz;
    lsp_csr_types types = {};
    types.col_type = LSP_I32, types.val_type = pattern ? LSP_NONE : job->type, types.drop_values = pattern;
    types.place = LSP_PLACE_CUDA;
    LSP_TRY(lsp_cuda_scan(ctx, setup->starts + 1, rows, &nnz));
    LSP_TRY(lsp_cuda_read(ctx, longest, setup->longest, sizeof *longest));
    LSP_TRY(lsp_csr_create(ctx, rows, job->sets[1].n, nnz, &types, C));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_rowptr, lsp_blocks_for(ctx, rows + 1, NEAR_NT * 4, 8), NEAR_NT, 0, setup->starts,
                       C->rowptr, C->rowptr_type == LSP_I64, rows + 1));
    setup->col = (int32_t *)C->col, setup->val = C->val;
    return LSP_OK;
}

static lsp_status by_cells(lsp_ctx *ctx, lsp_pair_job *job, join_setup *setup, u64 *tested, lsp_csr *C) {
    const lsp_pair_grid one = {{1, 1, 1}, {0, 0, 0}, 1};
    lsp_pair_job cells = *job; /* with a grid in any case */
    pair_walk walk = {job->metric, job->info.method == LSP_PAIR_GRID ? job->grid : one, {}, false};
    int64_t longest, here;
    cells.grid = walk.grid;
    LSP_TRY(lsp_pair_clouds_cuda(ctx, &cells, true, &walk.clouds));
    LSP_TRY(LSP_WITH_SPACE(job, START, ctx, &walk, setup, false, false, tested));
    LSP_TRY(begin_rows(ctx, job, setup, &longest, C));
    LSP_TRY(LSP_WITH_SPACE(job, START, ctx, &walk, setup, true, C->nnz / lsp_max(C->rows, 1) >= FEW_HITS, NULL));
    LSP_TRY(walk.grid.total > 1 ? sort_rows(ctx, C, longest) : LSP_OK);
    LSP_TRY(lsp_cuda_read(ctx, &here, tested, sizeof here));
    job->info.tested = here;
    return LSP_OK;
}

/* ---- by all pairs ---- */

template <typename S>
static lsp_status list_hits(lsp_ctx *ctx, const lsp_pair_job *job, const pair_clouds *clouds, double limit,
                            page_list *list) {
    constexpr int R = hit_pages<S>::ROWS;
    const int nt = pair_threads(ctx, clouds, R, PAGES_NT);
    const pair_tiles tiles = tiles_of(clouds, nt * R);
    const int64_t most = lsp_cuda_get_chip(ctx)->sms * PAGES_SM_BLOCKS * (PAGES_NT / nt);
    const int64_t blocks = tiles.total < (u64)most ? (int64_t)tiles.total : most;
    double expected = -1; /* hits: first of some tiles, then of all, if the list was too short */
    u64 here[2] = {0, 0};
    *list = {};
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, 2, sizeof *list->cursor, (void **)&list->cursor));
    while (blocks > 0) {
        const u64 stride = expected < 0 ? lsp_max(tiles.total / (2 * (u64)blocks), (u64)1) : 1;
        const size_t pages_mark = lsp_scratch_mark(ctx);
        list->pages = expected < 0 ? 0 : (int64_t)(expected / PAGE) + blocks * (nt / WARP) + 1;
        LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, list->pages * PAGE, sizeof *list->row, (void **)&list->row));
        LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, list->pages * PAGE, sizeof *list->col, (void **)&list->col));
        LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, list->pages * PAGE, sizeof(typename S::number), &list->d2));
        LSP_TRY(lsp_cuda_clear(ctx, list->cursor, sizeof here));
        LSP_TRY(LSP_LAUNCH(ctx, kernel_pages<S>, blocks, nt, 0, job->metric, *clouds, tiles, stride, limit, *list));
        LSP_TRY(lsp_cuda_read(ctx, here, list->cursor, sizeof here));
        if (expected >= 0 && (int64_t)here[0] <= list->pages) {
            list->pages = (int64_t)here[0];
            break;
        }
        expected = expected < 0 ? 1.2 * (double)stride * (double)here[1] : (double)here[1];
        lsp_scratch_release(ctx, pages_mark);
    }
    return LSP_OK;
}
#define LIST_HITS(space, ...) list_hits<LSP_BARE space>(__VA_ARGS__)

template <bool FILL>
static lsp_status do_rows(lsp_ctx *ctx, const lsp_pair_job *job, const page_list *list, const join_setup *setup) {
    const int64_t rows = job->sets[0].n, items = list->pages * PAGE;
    const int64_t blocks = lsp_blocks_for(ctx, lsp_max(items, rows), NEAR_NT * 4, 8);
    return job->type == LSP_F32
               ? LSP_LAUNCH(ctx, (kernel_page_rows<float, FILL>), blocks, NEAR_NT, 0, *list, items, *setup, rows)
               : LSP_LAUNCH(ctx, (kernel_page_rows<double, FILL>), blocks, NEAR_NT, 0, *list, items, *setup, rows);
}

static lsp_status by_pages(lsp_ctx *ctx, lsp_pair_job *job, join_setup *setup, lsp_csr *C) {
    LSP_SCRATCH_SCOPE(ctx);
    const int64_t rows = job->sets[0].n;
    LSP_OWNED_CSR(ctx, made);
    pair_clouds clouds;
    page_list list;
    int64_t longest;
    LSP_TRY(lsp_pair_clouds_cuda(ctx, job, false, &clouds));
    LSP_TRY(LSP_WITH_SPACE(job, LIST_HITS, ctx, job, &clouds, setup->limit, &list));
    LSP_TRY(lsp_cuda_clear(ctx, setup->starts, (rows + 1) * (int64_t)sizeof *setup->starts));
    LSP_TRY(do_rows<false>(ctx, job, &list, setup));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_longest, lsp_blocks_for(ctx, rows, NEAR_NT * 4, 8), NEAR_NT, 0, setup->starts + 1,
                       rows, setup->longest));
    LSP_TRY(begin_rows(ctx, job, setup, &longest, &made));
    LSP_TRY(do_rows<true>(ctx, job, &list, setup));
    LSP_TRY(sort_rows(ctx, &made, longest));
    job->info.tested = lsp_pair_total(job);
    return lsp_csr_put(ctx, C, &made, false);
}

extern "C" lsp_status lsp_radius_join_cuda(lsp_ctx *ctx, lsp_pair_job *job, double limit, const lsp_join_options *join,
                                           lsp_csr *C) {
    LSP_SCRATCH_SCOPE(ctx);
    const bool pages =
        job->info.method == LSP_PAIR_ALL && (job->asked == LSP_PAIR_ALL || lsp_pair_total(job) >= LIST_PAIRS);
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
    LSP_OWNED_CSR(ctx, made);
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, 2, sizeof *setup.longest, (void **)&setup.longest)); /* distances computed */
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, job->sets[0].n + 1, sizeof *setup.starts, (void **)&setup.starts));
    LSP_TRY(lsp_cuda_clear(ctx, setup.longest, 2 * sizeof *setup.longest));
    const lsp_status status = pages ? by_pages(ctx, job, &setup, &made) : LSP_OK;
    if (!pages || status == LSP_ERR_MEMORY) {
        LSP_TRY(lsp_cuda_clear(ctx, setup.longest, 2 * sizeof *setup.longest));
        LSP_TRY(lsp_cuda_clear(ctx, setup.starts, (int64_t)sizeof *setup.starts));
        LSP_TRY(by_cells(ctx, job, &setup, setup.longest + 1, &made));
    } else {
        LSP_TRY(status);
    }
    if (job->where == LSP_HOST) {
        lsp_csr_types types = lsp_types_of(&made);
        types.place = LSP_PLACE_HOST;
        return lsp_csr_copy(ctx, &made, &types, C);
    }
    return lsp_csr_put(ctx, C, &made, false);
}
