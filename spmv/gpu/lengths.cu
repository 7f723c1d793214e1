/* Plans of LSP_SPMV_LENGTHS on a GPU: rows sorted by length in windows, slices, popular sectors of x; and the launches
 * of a product. */
#include "core/launch.cuh"
#include "core/scan.h"
#include "kernel_lengths.cuh"
#include "kernel_lengths_plan.cuh"
#include "spmv/lengths.h"

/* Tuned on an H200. */
enum {
    MOST_POPULAR = 4608,   /* sectors: more leave too little L1 cache. They pay if they hold */
    MOST_HELD = 2,         /* this part of the entries: 1/2; otherwise */
    FEW_POPULAR = 1024,    /* sectors, which pay if they hold */
    LEAST_HELD = 16,       /* 1/16 */
    FEW_COLUMNS = 1 << 16, /* an x that L1 caches hold well anyhow */
    SM_BLOCKS = 1
};

static bool fits(lsp_ctx *ctx, const lsp_spmv_job *job) {
    const lsp_type type = job->options.type, val = job->A.val_type;
    (void)ctx;
    return job->options.semiring == LSP_PLUS_TIMES && job->options.vectors == 1 &&
           (type == LSP_F64 || type == LSP_F32) && (val == LSP_NONE || val == LSP_F32 || val == type) &&
           lsp_max(lsp_max(job->A.rows, job->A.cols), job->A.nnz) < INT32_MAX - LENGTHS_WINDOW;
}

/* ---- making ---- */

static lsp_status take(lsp_spmv_plan *plan, int64_t count, size_t bytes, void **memory) {
    plan->info.plan_bytes += count * (int64_t)bytes;
    return lsp_alloc(plan->ctx, LSP_CUDA, count, bytes, memory);
}

static int64_t grid_for(lsp_ctx *ctx, int64_t items) { return lsp_blocks_for(ctx, items, LENGTHS_PLAN_NT * 4, 16); }

/* length[s], row[s]: rows in windows, longest first. */
static lsp_status sort_rows(lsp_ctx *ctx, const lsp_csr *A, unsigned *length, unsigned *row) {
    lsp_status status = LSP_OK;
    lsp_segsort_args sort = {};
    LSP_TRY(A->rowptr_type == LSP_I32 ? LSP_LAUNCH(ctx, kernel_row_lengths<int32_t>, grid_for(ctx, A->rows),
                                                   LENGTHS_PLAN_NT, 0, (const int32_t *)A->rowptr, A->rows, length)
                                      : LSP_LAUNCH(ctx, kernel_row_lengths<int64_t>, grid_for(ctx, A->rows),
                                                   LENGTHS_PLAN_NT, 0, (const int64_t *)A->rowptr, A->rows, length));
    sort.n = A->rows;
    sort.length = LENGTHS_WINDOW;
    sort.segments = lsp_ceil_div(A->rows, LENGTHS_WINDOW);
    sort.key_type = LSP_U32;
    sort.keys = sort.keys_out = length;
    sort.values_out = row;
    sort.value_bytes = row ? sizeof *row : 0;
    sort.flags = LSP_SORT_DESCENDING | (row ? LSP_SORT_GLOBAL_POSITIONS : 0);
    sort.where = LSP_CUDA;
    LSP_TRY(lsp_segsort(ctx, &sort));
done:
    return status;
}

/* Prefix sums of slices and steps over the windows; both arrays have a 0 before. Waits. */
static lsp_status count_slices(lsp_ctx *ctx, const unsigned *length, int64_t rows, int64_t *slices, int64_t *steps,
                               int64_t *all_slices, int64_t *all_steps) {
    lsp_status status = LSP_OK;
    const int64_t windows = lsp_ceil_div(rows, LENGTHS_WINDOW);
    LSP_TRY(lsp_cuda_clear(ctx, slices, sizeof *slices));
    LSP_TRY(lsp_cuda_clear(ctx, steps, sizeof *steps));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_count_slices, windows, LENGTHS_WINDOW, 0, length, rows, slices + 1, steps + 1));
    LSP_TRY(lsp_cuda_scan(ctx, slices + 1, windows, all_slices));
    LSP_TRY(lsp_cuda_scan(ctx, steps + 1, windows, all_steps));
done:
    return status;
}

extern "C" lsp_status lsp_spmv_length_slots_cuda(lsp_ctx *ctx, const lsp_csr *A, int64_t *slots) {
    lsp_status status = LSP_OK;
    const size_t mark = lsp_scratch_mark(ctx);
    const int64_t windows = lsp_ceil_div(A->rows, LENGTHS_WINDOW);
    unsigned *length = NULL;
    int64_t *counts = NULL, slices = 0, steps = 0;
    *slots = 0;
    if (A->rows == 0 || A->nnz > INT32_MAX) {
        return LSP_OK;
    }
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, A->rows, sizeof *length, (void **)&length));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, 2 * (windows + 1), sizeof *counts, (void **)&counts));
    LSP_TRY(sort_rows(ctx, A, length, NULL));
    LSP_TRY(count_slices(ctx, length, A->rows, counts, counts + windows + 1, &slices, &steps));
    *slots = steps * WARP;
done:
    lsp_scratch_release(ctx, mark);
    return status;
}

/* The sectors of x that are read most often, if they hold enough entries. place: of each sector, scratch. Waits. */
static lsp_status find_popular(lsp_spmv_plan *plan, lengths_plan *p, int64_t most, bool always, unsigned **place) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    const lsp_csr *A = &plan->job.A;
    const int each = LENGTHS_SECTOR / (int)lsp_type_bytes(plan->job.options.type);
    const int64_t sectors = lsp_ceil_div(A->cols, each);
    unsigned *count = NULL, *sector = NULL;
    unsigned long long *held = NULL, sum[2] = {0, 0};
    lsp_segsort_args sort = {};
    p->popular = (unsigned)lsp_min(most, sectors);
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, sectors, sizeof *count, (void **)&count));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, sectors, sizeof *sector, (void **)&sector));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, sectors, sizeof **place, (void **)place));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, 2, sizeof *held, (void **)&held));
    LSP_TRY(lsp_cuda_clear(ctx, count, sectors * (int64_t)sizeof *count));
    LSP_TRY(lsp_cuda_clear(ctx, held, sizeof sum));
    LSP_TRY(A->col_type == LSP_I32 ? LSP_LAUNCH(ctx, kernel_count_sectors<int32_t>, grid_for(ctx, A->nnz),
                                                LENGTHS_PLAN_NT, 0, (const int32_t *)A->col, A->nnz, each, count)
                                   : LSP_LAUNCH(ctx, kernel_count_sectors<int64_t>, grid_for(ctx, A->nnz),
                                                LENGTHS_PLAN_NT, 0, (const int64_t *)A->col, A->nnz, each, count));
    sort.n = sort.length = sectors;
    sort.segments = 1;
    sort.key_type = LSP_U32;
    sort.keys = sort.keys_out = count;
    sort.values_out = sector;
    sort.value_bytes = sizeof *sector;
    sort.flags = LSP_SORT_DESCENDING | LSP_SORT_GLOBAL_POSITIONS;
    sort.where = LSP_CUDA;
    LSP_TRY(lsp_segsort(ctx, &sort));
    LSP_TRY(take(plan, p->popular, sizeof *p->sector, (void **)&p->sector));
    LSP_TRY(lsp_cuda_copy(ctx, p->sector, LSP_CUDA, sector, LSP_CUDA, (int64_t)p->popular * (int64_t)sizeof *sector));
    LSP_TRY(LSP_CUDA_CALL(
        ctx, cudaMemsetAsync(*place, 0xFF, (size_t)sectors * sizeof **place, (cudaStream_t)lsp_cuda_stream(ctx))));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_place_sectors, lsp_ceil_div(p->popular, LENGTHS_PLAN_NT), LENGTHS_PLAN_NT, 0, *p,
                       count, (unsigned)FEW_POPULAR, *place, held));
    LSP_TRY(lsp_cuda_read(ctx, sum, held, sizeof sum));
    if (!always && (int64_t)sum[1] < A->nnz / MOST_HELD) {
        p->popular = (int64_t)sum[0] < A->nnz / LEAST_HELD ? 0 : (unsigned)lsp_min(p->popular, FEW_POPULAR);
        *place = p->popular > 0 ? *place : NULL;
    }
done:
    return status;
}

template <typename V> static lsp_status fill_values(lsp_ctx *ctx, const lengths_plan *p, const void *val) {
    return LSP_LAUNCH(ctx, kernel_fill_values<V>, grid_for(ctx, p->slices * WARP), LENGTHS_PLAN_NT, 0, *p,
                      (const V *)val);
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
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    const lsp_csr *A = &plan->job.A;
    const size_t bytes = lsp_type_bytes(plan->job.options.type);
    const unsigned each = (unsigned)(LENGTHS_SECTOR / bytes);
    p->blocks = lsp_blocks_for(ctx, p->steps + p->slices, LENGTHS_NT / WARP, SM_BLOCKS);
    LSP_TRY(take(plan, p->slices + 1, sizeof *p->slice, (void **)&p->slice));
    LSP_TRY(take(plan, p->blocks + 1, sizeof *p->block_slice, (void **)&p->block_slice));
    LSP_TRY(take(plan, p->steps * WARP, sizeof *p->col, (void **)&p->col));
    if (p->has_pieces) {
        LSP_TRY(take(plan, p->slices, bytes, &p->sum));
    }
    if (A->val_type != LSP_NONE) {
        LSP_TRY(take(plan, p->steps * WARP, lsp_type_bytes(A->val_type), &p->val));
    }
    LSP_TRY(A->rowptr_type == LSP_I32 ? LSP_LAUNCH(ctx, kernel_write_slices<int32_t>, p->windows, LENGTHS_WINDOW, 0, *p,
                                                   (const int32_t *)A->rowptr, slices, steps)
                                      : LSP_LAUNCH(ctx, kernel_write_slices<int64_t>, p->windows, LENGTHS_WINDOW, 0, *p,
                                                   (const int64_t *)A->rowptr, slices, steps));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_share_slices, p->blocks / LENGTHS_PLAN_NT + 1, LENGTHS_PLAN_NT, 0, *p));
    if (p->steps > 0) {
        LSP_TRY(A->col_type == LSP_I32 ? LSP_LAUNCH(ctx, kernel_fill_columns<int32_t>, grid_for(ctx, p->slices * WARP),
                                                    LENGTHS_PLAN_NT, 0, *p, (const int32_t *)A->col, place, each)
                                       : LSP_LAUNCH(ctx, kernel_fill_columns<int64_t>, grid_for(ctx, p->slices * WARP),
                                                    LENGTHS_PLAN_NT, 0, *p, (const int64_t *)A->col, place, each));
    }
    LSP_TRY(update(plan));
done:
    return status;
}

/* popular: the most sectors to hold, if that pays or `always`. */
static lsp_status make(lsp_spmv_plan *plan, int64_t popular, bool always) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    const size_t mark = lsp_scratch_mark(ctx);
    const lsp_csr *A = &plan->job.A;
    const int64_t shared = lsp_cuda_get_chip(ctx)->shared_block_bytes - 1024;
    int64_t *slices = NULL, *steps = NULL;
    unsigned *place = NULL;
    lengths_plan *p = NULL;
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, 1, sizeof *p, &plan->parts));
    p = (lengths_plan *)plan->parts;
    *p = lengths_plan{};
    p->rows = A->rows;
    p->cols = A->cols;
    p->nnz = A->nnz;
    p->windows = lsp_ceil_div(A->rows, LENGTHS_WINDOW);
    p->has_pieces = plan->facts.longest_row > LENGTHS_PIECE;
    if (p->rows == 0) {
        goto done;
    }
    LSP_TRY(take(plan, p->rows, sizeof *p->row, (void **)&p->row));
    LSP_TRY(take(plan, p->rows, sizeof *p->begin, (void **)&p->begin));
    LSP_TRY(take(plan, p->rows, sizeof *p->length, (void **)&p->length));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, p->windows + 1, sizeof *slices, (void **)&slices));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, p->windows + 1, sizeof *steps, (void **)&steps));
    LSP_TRY(sort_rows(ctx, A, p->length, p->row));
    LSP_TRY(count_slices(ctx, p->length, p->rows, slices, steps, &p->slices, &p->steps));
    if (A->nnz > 0 && (always || A->cols > FEW_COLUMNS)) {
        LSP_TRY(find_popular(plan, p, lsp_min(popular, shared / LENGTHS_SECTOR), always, &place));
    }
    LSP_TRY(fill(plan, p, slices, steps, place));
    plan->info.stored_entries = p->steps * WARP;
done:
    lsp_scratch_release(ctx, mark);
    return status;
}

static lsp_status prepare(lsp_spmv_plan *plan) { return make(plan, MOST_POPULAR, false); }

static void release(lsp_spmv_plan *plan) {
    lengths_plan *p = (lengths_plan *)plan->parts;
    if (p == NULL) {
        return;
    }
    void *all[] = {p->row, p->begin, p->length, p->slice, p->block_slice, p->col, p->val, p->sum, p->sector};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        lsp_free(plan->ctx, all[i]);
    }
    lsp_free(plan->ctx, p);
    plan->parts = NULL;
}

extern "C" lsp_status lsp_spmv_lengths_hold_cuda(lsp_spmv_plan *plan, int64_t popular) {
    lsp_status status = LSP_OK;
    release(plan);
    plan->info.plan_bytes = 0;
    LSP_TRY(make(plan, popular, true));
    return LSP_OK;
done:
    release(plan);
    return status;
}

/* ---- a product ---- */

template <typename V, typename T, bool POPULAR>
static lsp_status start(lsp_ctx *ctx, const lengths_plan *p, const T *x, int64_t step, const propagate_out<T> *out) {
    lsp_status status = LSP_OK;
    const size_t shared = (size_t)p->popular * LENGTHS_SECTOR;
    bool beside = false;
    void (*kernel)(lengths_plan, const T *, int64_t, propagate_out<T>) = kernel_lengths_product<V, T, POPULAR>;
    LSP_TRY(lsp_allow_shared(ctx, kernel, shared));
    LSP_TRY(LSP_LAUNCH_BESIDE(ctx, &beside, kernel, p->blocks, LENGTHS_NT, shared, *p, x, step, *out));
    if (p->has_pieces) {
        LSP_TRY(LSP_LAUNCH_BESIDE(ctx, &beside, kernel_lengths_join<T>, lsp_ceil_div(p->slices, LENGTHS_PLAN_NT),
                                  LENGTHS_PLAN_NT, 0, *p, *out));
    }
done:
    return status;
}

template <typename V, typename T>
static lsp_status start_for(lsp_ctx *ctx, const lengths_plan *p, const T *x, int64_t step,
                            const propagate_out<T> *out) {
    return p->popular > 0 ? start<V, T, true>(ctx, p, x, step, out) : start<V, T, false>(ctx, p, x, step, out);
}

template <typename T> static lsp_status multiply(lsp_ctx *ctx, const lsp_spmv_job *job, const lengths_plan *p) {
    const propagate_out<T> out = propagate_out_of<T>(job);
    const int64_t step = propagate_x_step(job);
    const T *x = (const T *)job->vectors.x;
    if (p->rows == 0) {
        return LSP_OK;
    }
    if (job->A.val_type == LSP_NONE) {
        return start_for<propagate_ones, T>(ctx, p, x, step, &out);
    }
    if constexpr (sizeof(T) == 8) {
        if (job->A.val_type == LSP_F64) {
            return start_for<double, T>(ctx, p, x, step, &out);
        }
    }
    return start_for<float, T>(ctx, p, x, step, &out);
}

static lsp_status run(lsp_ctx *ctx, const lsp_spmv_job *job, void *parts) {
    return job->options.type == LSP_F64 ? multiply<double>(ctx, job, (const lengths_plan *)parts)
                                        : multiply<float>(ctx, job, (const lengths_plan *)parts);
}

extern "C" const lsp_spmv_engine lsp_spmv_lengths_cuda = {fits, prepare, run, update, release};
