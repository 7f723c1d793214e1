/* Plans of LSP_SPMV_LENGTHS on a GPU: rows sorted by length in windows, slices, popular sectors of x; and the launches
 * of a product. */
#include "core/launch.cuh"
#include "core/scan.h"
#include "kernel_lengths.cuh"
#include "kernel_lengths_plan.cuh"

/* Tuned on an H200. */
enum {
    MOST_POPULAR = 4608,   /* sectors: more leave too little L1 cache. They pay if they hold */
    MOST_HELD = 2,         /* this part of the entries: 1/2; otherwise */
    FEW_POPULAR = 1024,    /* sectors, which pay if they hold */
    LEAST_HELD = 16,       /* 1/16 */
    FEW_COLUMNS = 1 << 16, /* an x that L1 caches hold well anyhow */
    SM_BLOCKS = 1
};

/* ---- making ---- */

/* Sorts n lengths or counts, the largest of each `length` first. values: NULL, or the numbers that they had. */
static lsp_status sort_down(lsp_ctx *ctx, unsigned *keys, unsigned *values, int64_t n, int64_t length) {
    lsp_segsort_args sort = {};
    sort.n = n;
    sort.length = length;
    sort.segments = lsp_ceil_div(n, length);
    sort.key_type = LSP_U32;
    sort.keys = sort.keys_out = keys;
    sort.values_out = values;
    sort.value_bytes = values ? sizeof *values : 0;
    sort.flags = LSP_SORT_DESCENDING | (values ? LSP_SORT_GLOBAL_POSITIONS : 0);
    sort.where = LSP_CUDA;
    return lsp_segsort(ctx, &sort, NULL);
}

/* length[s], row[s]: rows in windows, longest first. */
static lsp_status sort_rows(lsp_ctx *ctx, const lsp_csr *A, unsigned *length, unsigned *row) {
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_row_lengths, A->rows, LENGTHS_PLAN_NT, *A, length));
    return sort_down(ctx, length, row, A->rows, LENGTHS_WINDOW);
}

/* Prefix sums of slices and steps over the windows; both arrays have a 0 before. Waits. */
static lsp_status count_slices(lsp_ctx *ctx, const unsigned *length, int64_t rows, int64_t *slices, int64_t *steps,
                               int64_t *all_slices, int64_t *all_steps) {
    const int64_t windows = lsp_ceil_div(rows, LENGTHS_WINDOW);
    LSP_TRY(lsp_cuda_clear(ctx, slices, sizeof *slices));
    LSP_TRY(lsp_cuda_clear(ctx, steps, sizeof *steps));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_count_slices, windows, LENGTHS_WINDOW, 0, length, rows, slices + 1, steps + 1));
    LSP_TRY(lsp_cuda_scan(ctx, slices + 1, windows, all_slices));
    return lsp_cuda_scan(ctx, steps + 1, windows, all_steps);
}

extern "C" lsp_status lsp_spmv_length_slots_cuda(lsp_ctx *ctx, const lsp_csr *A, int64_t *slots) {
    LSP_SCRATCH_SCOPE(ctx);
    const int64_t windows = lsp_ceil_div(A->rows, LENGTHS_WINDOW);
    unsigned *length = NULL;
    int64_t *counts = NULL, slices = 0, steps = 0;
    *slots = 0;
    if (A->rows == 0 || A->nnz > INT32_MAX) {
        return LSP_OK;
    }
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, A->rows, &length));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, 2 * (windows + 1), &counts));
    LSP_TRY(sort_rows(ctx, A, length, NULL));
    LSP_TRY(count_slices(ctx, length, A->rows, counts, counts + windows + 1, &slices, &steps));
    *slots = steps * WARP;
    return LSP_OK;
}

/* The sectors of x that are read most often, if they hold enough entries. place: of each sector, scratch. Waits. */
static lsp_status find_popular(lsp_spmv_plan *plan, lengths_plan *p, int64_t most, bool always, unsigned **place) {
    lsp_ctx *ctx = plan->ctx;
    const lsp_csr *A = &plan->job.A;
    const int each = LENGTHS_SECTOR / (int)lsp_type_bytes(plan->job.options.type);
    const int64_t sectors = lsp_ceil_div(A->cols, each);
    unsigned *count = NULL, *sector = NULL;
    ull *held = NULL, sum[2] = {0, 0};
    p->popular = (unsigned)lsp_min(most, sectors);
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, sectors, &count));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, sectors, &sector));
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0xFF, sectors, place));
    LSP_TRY(LSP_SCRATCH_FILLED(ctx, 0, 2, &held));
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_count_sectors, A->nnz, LENGTHS_PLAN_NT, *A, each, count));
    LSP_TRY(sort_down(ctx, count, sector, sectors, sectors));
    LSP_TRY(lsp_spmv_hold(plan, p->popular, sizeof *p->sector, (void **)&p->sector));
    LSP_TRY(lsp_cuda_copy(ctx, p->sector, LSP_CUDA, sector, LSP_CUDA, (int64_t)p->popular * (int64_t)sizeof *sector));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_place_sectors, lsp_ceil_div(p->popular, LENGTHS_PLAN_NT), LENGTHS_PLAN_NT, 0, *p,
                       count, (unsigned)FEW_POPULAR, *place, held));
    LSP_TRY(lsp_cuda_read(ctx, sum, held, sizeof sum));
    if (!always && (int64_t)sum[1] < A->nnz / MOST_HELD) {
        p->popular = (int64_t)sum[0] < A->nnz / LEAST_HELD ? 0 : (unsigned)lsp_min(p->popular, FEW_POPULAR);
        *place = p->popular > 0 ? *place : NULL;
    }
    return LSP_OK;
}

template <typename V> static lsp_status fill_values(lsp_ctx *ctx, const lengths_plan *p, const void *val) {
    return LSP_LAUNCH_EACH(ctx, kernel_fill_values<V>, p->slices * WARP, LENGTHS_PLAN_NT, *p, (const V *)val);
}

static lsp_status update(lsp_spmv_plan *plan) {
    const lengths_plan *p = (const lengths_plan *)plan->parts;
    const lsp_csr *A = &plan->job.A;
    if (A->val_type == LSP_NONE || p->steps == 0) {
        return LSP_OK;
    }
    return A->val_type == LSP_F64 ? fill_values<double>(plan->ctx, p, A->val)
                                  : fill_values<float>(plan->ctx, p, A->val);
}

/* The arrays of slices, whose number is known now. */
static lsp_status fill(lsp_spmv_plan *plan, lengths_plan *p, const int64_t *slices, const int64_t *steps,
                       const unsigned *place) {
    lsp_ctx *ctx = plan->ctx;
    const lsp_csr *A = &plan->job.A;
    const size_t bytes = lsp_type_bytes(plan->job.options.type);
    const int each = LENGTHS_SECTOR / (int)bytes;
    p->blocks = lsp_blocks_for(ctx, p->steps + p->slices, LENGTHS_NT / WARP, SM_BLOCKS);
    LSP_TRY(lsp_spmv_hold(plan, p->slices + 1, sizeof *p->slice, (void **)&p->slice));
    LSP_TRY(lsp_spmv_hold(plan, p->blocks + 1, sizeof *p->block_slice, (void **)&p->block_slice));
    LSP_TRY(lsp_spmv_hold(plan, p->steps * WARP, sizeof *p->col, (void **)&p->col));
    if (p->has_pieces) {
        LSP_TRY(lsp_spmv_hold(plan, p->slices, bytes, &p->sum));
    }
    LSP_TRY(lsp_spmv_hold(plan, p->steps * WARP, lsp_type_bytes(A->val_type), &p->val));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_write_slices, p->windows, LENGTHS_WINDOW, 0, *p, *A, slices, steps));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_share_slices, p->blocks / LENGTHS_PLAN_NT + 1, LENGTHS_PLAN_NT, 0, *p));
    if (p->steps > 0) {
        LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_fill_columns, p->slices * WARP, LENGTHS_PLAN_NT, *p, *A, place,
                                (unsigned)each));
    }
    return update(plan);
}

static lsp_status prepare(lsp_spmv_plan *plan) {
    lsp_ctx *ctx = plan->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_csr *A = &plan->job.A;
    const int64_t shared = lsp_cuda_get_chip(ctx)->shared_block_bytes - 1024;
    const bool always = plan->sizes.popular > 0; /* hold sectors even if it does not pay */
    const int64_t popular = always ? plan->sizes.popular : (int64_t)MOST_POPULAR;
    int64_t *slices = NULL, *steps = NULL;
    unsigned *place = NULL;
    lengths_plan *p = NULL;
    LSP_TRY(lsp_spmv_make_parts(plan, sizeof *p, (void **)&p));
    p->rows = A->rows;
    p->cols = A->cols;
    p->nnz = A->nnz;
    p->windows = lsp_ceil_div(A->rows, LENGTHS_WINDOW);
    p->has_pieces = plan->facts.longest_row > LENGTHS_PIECE;
    if (p->rows == 0) {
        return LSP_OK;
    }
    LSP_TRY(lsp_spmv_hold(plan, p->rows, sizeof *p->row, (void **)&p->row));
    LSP_TRY(lsp_spmv_hold(plan, p->rows, sizeof *p->begin, (void **)&p->begin));
    LSP_TRY(lsp_spmv_hold(plan, p->rows, sizeof *p->length, (void **)&p->length));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, p->windows + 1, &slices));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, p->windows + 1, &steps));
    LSP_TRY(sort_rows(ctx, A, p->length, p->row));
    LSP_TRY(count_slices(ctx, p->length, p->rows, slices, steps, &p->slices, &p->steps));
    if (A->nnz > 0 && (always || A->cols > FEW_COLUMNS)) {
        LSP_TRY(find_popular(plan, p, lsp_min(popular, shared / LENGTHS_SECTOR), always, &place));
    }
    LSP_TRY(fill(plan, p, slices, steps, place));
    plan->info.stored_entries = p->steps * WARP;
    return LSP_OK;
}

/* ---- a product ---- */

template <typename V, typename T, bool POPULAR>
static lsp_status start(lsp_ctx *ctx, const lengths_plan *p, const spmv_job *job) {
    const size_t shared = (size_t)p->popular * LENGTHS_SECTOR;
    bool beside = false;
    void (*kernel)(lengths_plan, spmv_job) = kernel_lengths_product<V, T, POPULAR>;
    LSP_TRY(lsp_allow_shared(ctx, kernel, shared));
    LSP_TRY(LSP_LAUNCH_BESIDE(ctx, &beside, kernel, p->blocks, LENGTHS_NT, shared, *p, *job));
    if (p->has_pieces) {
        LSP_TRY(LSP_LAUNCH_BESIDE(ctx, &beside, kernel_lengths_join<T>, lsp_ceil_div(p->slices, LENGTHS_PLAN_NT),
                                  LENGTHS_PLAN_NT, 0, *p, *job));
    }
    return LSP_OK;
}

template <typename V, typename T>
static lsp_status start_types(lsp_ctx *ctx, const lengths_plan *p, const spmv_job *job) {
    return p->popular > 0 ? start<V, T, true>(ctx, p, job) : start<V, T, false>(ctx, p, job);
}

static lsp_status run(lsp_ctx *ctx, const lsp_spmv_job *given, void *parts) {
    const lengths_plan *p = (const lengths_plan *)parts;
    spmv_job job;
    lsp_spmv_gpu_job(ctx, given, &job);
    return p->rows == 0 ? LSP_OK : SPMV_BY_TYPES(given, start_types, (ctx, p, &job));
}

enum { MOST = INT32_MAX - LENGTHS_WINDOW - 1 }; /* rows, columns, entries */
extern "C" const lsp_spmv_engine lsp_spmv_lengths_cuda = {{true, 1, MOST, MOST, MOST}, NULL, prepare, run, update};
