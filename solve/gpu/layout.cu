/* Makes, updates and frees the layout of the persistent kernel; kernel_layout.cuh has the idea. */
#include "barrier.cuh"
#include "core/scan.h"
#include "kernel_layout.cuh"
#include "shape.h"

/* ---- does it fit? ---- */

/* A row may take as long as the whole product and a step's barriers: a lane takes LANE_RATE entries a microsecond, all
 * blocks together about CHIP_RATE, and barriers BARRIERS microseconds. Estimates from an H200. */
enum { FEW_BYTES = 8 << 10, FEW_COLUMNS = 8, LANE_RATE = 13, CHIP_RATE = 436000, BARRIERS = 5 };
enum { MOST_ROW_COST = 20 }; /* of a row in kernel_count, and its padding */
static const int64_t most_rows = INT64_C(1) << ROWS_BITS, most_work = INT64_C(1) << (62 - ROWS_BITS);

static bool sizes_fit(lsp_ctx *ctx, const lsp_csr *A, lsp_resident_shape *shape) {
    return A->rows == A->cols && (A->val_type == LSP_F64 || A->val_type == LSP_F32 || A->val_type == LSP_NONE) &&
           lsp_resident_choose(lsp_cuda_get_chip(ctx), A->rows, A->nnz, shape) &&
           A->rows * shape->columns < most_rows / 2 && A->nnz < most_work / 2 &&
           A->nnz + MOST_ROW_COST * A->rows * shape->columns < most_work;
}

extern "C" bool lsp_resident_fits(lsp_ctx *ctx, const lsp_csr *A, int64_t longest_row,
                                  const lsp_resident_shape *shape) {
    lsp_resident_shape s = shape ? *shape : lsp_resident_shape{};
    if (!sizes_fit(ctx, A, &s)) {
        return false;
    }
    /* Partial sums of rows with few entries in many column blocks cost more than the matrix. */
    const int64_t bytes = 12 * A->nnz + 32 * A->rows * s.columns;
    return longest_row <= LANE_RATE * s.columns * s.lanes * (BARRIERS + A->nnz / CHIP_RATE) &&
           (s.columns <= FEW_COLUMNS || 4 * A->rows * s.columns <= 3 * A->nnz) &&
           bytes < lsp_available_bytes(ctx, LSP_CUDA) / 10 * 9;
}

/* ---- the layout ---- */

/* Sorts the rows of each block by length, the longest first. */
static lsp_status sort_rows(lsp_ctx *ctx, const resident_matrix *M, int64_t n, unsigned *length, int *row) {
    lsp_segsort_args sort = {};
    sort.n = n;
    sort.segments = (int64_t)M->columns * M->chunks;
    sort.offsets = M->row_begin;
    sort.offset_type = LSP_I32;
    sort.key_type = LSP_U32;
    sort.value_bytes = 4;
    sort.keys = sort.keys_out = length;
    sort.values = sort.values_out = row;
    sort.flags = LSP_SORT_DESCENDING;
    sort.where = LSP_CUDA;
    return n > 0 ? lsp_segsort(ctx, &sort, NULL) : LSP_OK;
}

typedef struct layout_work { /* scratch */
    int *count, *most, *row;
    long long *sums, *steps;
    unsigned *length;
} layout_work;

/* Chunks, and the sorted rows of each block. Reads their number, and the largest numbers of rows and slices. */
static lsp_status cut_rows(lsp_ctx *ctx, lsp_resident *plan, const lsp_csr *A, layout_work *work) {
    resident_matrix *const M = &plan->job.A;
    const int64_t pairs = (int64_t)M->n * M->columns;
    const int blocks = M->columns * M->chunks, lanes = plan->shape.lanes;
    int numbers[4] = {0};
    LSP_TRY(LSP_LAUNCH(ctx, kernel_count, lsp_blocks_for(ctx, M->n, LAYOUT_WARPS, 8), LAYOUT_NT,
                       (size_t)M->columns * LAYOUT_WARPS * sizeof(int), *A, *M, lanes, work->count, work->sums));
    LSP_TRY(lsp_cuda_scan_async(ctx, (int64_t *)work->sums, pairs, NULL));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_cut, lsp_ceil_div(blocks + 1, LAYOUT_NT), LAYOUT_NT, 0, *M, work->sums));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_slices, 1, MOST_BLOCKS, 0, *M, WARP / lanes, work->most));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_list, lsp_blocks_for(ctx, pairs, LAYOUT_NT, 8), LAYOUT_NT, 0, *M, work->sums,
                       work->count, work->length, work->row));
    LSP_TRY(lsp_cuda_read(ctx, numbers, work->most, 2 * sizeof(int)));
    LSP_TRY(lsp_cuda_read(ctx, numbers + 2, M->row_begin + blocks, sizeof(int)));
    LSP_TRY(lsp_cuda_read(ctx, numbers + 3, M->slice_begin + blocks, sizeof(int)));
    plan->job.rows_most = numbers[0];
    plan->job.slices_most = numbers[1];
    plan->rows = numbers[2];
    plan->slices = numbers[3];
    return sort_rows(ctx, M, plan->rows, work->length, work->row);
}

/* Steps of each slice, places of rows, entries. */
static lsp_status fill(lsp_ctx *ctx, lsp_resident *plan, const lsp_csr *A, layout_work *work) {
    resident_matrix *const M = &plan->job.A;
    int64_t steps = 0;
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, lsp_max(plan->rows, 1), sizeof(int), (void **)&M->row));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, plan->slices + 1, sizeof(unsigned), (void **)&M->step_begin));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, plan->slices + 1, &work->steps));
    LSP_TRY(lsp_cuda_copy(ctx, M->row, LSP_CUDA, work->row, LSP_CUDA, plan->rows * (int64_t)sizeof(int)));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_place, M->columns * M->chunks, LAYOUT_NT, 0, *M, plan->shape.lanes, work->length,
                       work->steps));
    if (plan->slices > 0) {
        LSP_TRY(lsp_cuda_scan(ctx, (int64_t *)work->steps, plan->slices, &steps));
    }
    LSP_REQUIRE(steps <= INT32_MAX, LSP_ERR_UNSUPPORTED, "the padded matrix has %lld steps of %d entries",
                (long long)steps, (int)WARP);
    plan->steps = steps;
    LSP_TRY(LSP_LAUNCH(ctx, kernel_begin_steps, lsp_blocks_for(ctx, plan->slices + 1, LAYOUT_NT, 8), LAYOUT_NT, 0, *M,
                       work->steps, (int)plan->slices));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, lsp_max(steps, 1), WARP * sizeof(double), (void **)&M->val));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, lsp_max(steps, 1), WARP * sizeof(uint16_t), (void **)&M->col));
    LSP_TRY(lsp_cuda_clear(ctx, M->val, steps * WARP * (int64_t)sizeof(double)));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_pad, lsp_blocks_for(ctx, steps * WARP / 2, LAYOUT_NT, 8), LAYOUT_NT, 0, *M,
                       (long long)steps * WARP / 2));
    return LSP_LAUNCH(ctx, kernel_fill<true>, lsp_blocks_for(ctx, M->n, LAYOUT_WARPS, 8), LAYOUT_NT,
                      (size_t)M->columns * 2 * LAYOUT_WARPS * sizeof(int), *A, *M, plan->shape.lanes);
}

/* Decides what shared memory holds besides the slice: p of the block's rows, and a part of the matrix. */
static lsp_status use_shared(lsp_ctx *ctx, lsp_resident *plan) {
    const int64_t most = lsp_cuda_get_chip(ctx)->shared_block_bytes;
    resident_job *const job = &plan->job;
    resident_shared s;
    int64_t used, stash;
    job->few = (job->rows_most + job->slices_most) * (int64_t)sizeof(int) <= FEW_BYTES;
    job->dots = plan->shape.dots > 0 ? plan->shape.dots : LSP_RESIDENT_DOTS_BLOCKS;
    if (plan->shape.dots == 0 && (int64_t)resident_carve(*job, NULL, &s) > most) {
        job->dots = LSP_RESIDENT_DOTS_OWNERS;
    }
    job->few = job->few && (int64_t)resident_carve(*job, NULL, &s) <= most;
    used = (int64_t)resident_carve(*job, NULL, &s);
    LSP_REQUIRE(used <= most, LSP_ERR_UNSUPPORTED, "a block needs %lld bytes of shared memory of the %lld that it has",
                (long long)used, (long long)most);
    stash = plan->shape.stash == 0 ? most : lsp_max(plan->shape.stash, 0);
    job->stash_steps = (int)(lsp_min(stash, most - used) / STEP_BYTES);
    plan->shared = resident_carve(*job, NULL, &s);
    plan->shape.dots = job->dots;
    plan->shape.stash = (int64_t)job->stash_steps * STEP_BYTES;
    return LSP_OK;
}

static lsp_status take_vectors(lsp_ctx *ctx, lsp_resident *plan) {
    resident_job *const job = &plan->job;
    const int64_t n = job->A.n, blocks = (int64_t)job->A.columns * job->A.chunks;
    job->share = (int)lsp_ceil_div(n, blocks);
    job->ahead = plan->steps * STEP_BYTES < 4 * (int64_t)lsp_cuda_get_chip(ctx)->l2_bytes ? 4 : 2; /* best on an H200 */
    job->stream = plan->steps * STEP_BYTES > lsp_cuda_get_chip(ctx)->l2_bytes / 2;
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, n * job->A.columns, sizeof(double), (void **)&job->partial));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, n + 2, sizeof(double), (void **)&job->news));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, 4 * blocks * blocks, sizeof(ulonglong2), (void **)&job->words));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, 1, sizeof(lsp_resident_result), &plan->result));
    const bool registers = job->share <= plan->shape.threads;
    return registers ? LSP_OK : lsp_alloc(ctx, LSP_CUDA, 5 * n, sizeof(double), (void **)&job->own);
}

static lsp_status lay_out(lsp_ctx *ctx, const lsp_csr *A, lsp_resident *plan) {
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_resident_shape s = plan->shape;
    resident_matrix *const M = &plan->job.A;
    layout_work work = {};
    M->n = (int)A->rows;
    M->columns = s.columns;
    M->chunks = s.chunks;
    M->width = (int)s.slice;
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, s.columns * s.chunks + 1, sizeof(int), (void **)&M->slice_begin));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, s.columns * s.chunks + 1, sizeof(int), (void **)&M->row_begin));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, A->rows, sizeof(unsigned), (void **)&M->range));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, A->rows * s.columns, sizeof(unsigned), (void **)&M->place));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->rows * s.columns, &work.count));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->rows * s.columns, &work.row));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->rows * s.columns, &work.length));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->rows * s.columns, &work.sums));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, 2, &work.most));
    LSP_TRY(cut_rows(ctx, plan, A, &work));
    LSP_TRY(use_shared(ctx, plan));
    LSP_TRY(fill(ctx, plan, A, &work));
    LSP_TRY(take_vectors(ctx, plan));
    return resident_try(ctx, plan);
}

extern "C" lsp_status lsp_resident_create(lsp_ctx *ctx, const lsp_csr *A, const lsp_resident_shape *shape,
                                          lsp_resident **out) {
    lsp_resident_shape s = shape ? *shape : lsp_resident_shape{};
    lsp_resident *plan LSP_AT_END(lsp_plan_leave) = NULL;
    LSP_REQUIRE(sizes_fit(ctx, A, &s), LSP_ERR_UNSUPPORTED,
                "a matrix of %lld rows and %lld entries does not fit the kernel that keeps vectors in shared memory",
                (long long)A->rows, (long long)A->nnz);
    LSP_TRY(LSP_PLAN_NEW(ctx, &plan));
    LSP_PLAN_HOLDS(ctx, plan);
    plan->shape = s;
    LSP_TRY(lay_out(ctx, A, plan));
    return LSP_PLAN_GIVE(plan, out);
}

extern "C" lsp_status lsp_resident_update(lsp_ctx *ctx, lsp_resident *plan, const lsp_csr *A) {
    const resident_matrix *const M = &plan->job.A;
    return LSP_LAUNCH(ctx, kernel_fill<false>, lsp_blocks_for(ctx, M->n, LAYOUT_WARPS, 8), LAYOUT_NT,
                      (size_t)M->columns * 2 * LAYOUT_WARPS * sizeof(int), *A, *M, plan->shape.lanes);
}

extern "C" int64_t lsp_resident_entries(const lsp_resident *plan) { return plan->steps * WARP; }
extern "C" void lsp_resident_get_shape(const lsp_resident *plan, lsp_resident_shape *shape) { *shape = plan->shape; }
