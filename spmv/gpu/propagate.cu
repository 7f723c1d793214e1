/* Plans of LSP_SPMV_PROPAGATE on a GPU: sizes, the counting sort, new values, and the launches of a product. */
#include "core/launch.cuh"
#include "core/scan.h"
#include "kernel_propagate.cuh"
#include "kernel_propagate_plan.cuh"

/* Tuned on an H200. Phase 2 wants three blocks of small bins a multiprocessor, or two of large bins where
 * there are many slices; and it wants L1 cache beside them, which the driver cuts in steps: so the blocks together may
 * use these parts of the shared memory, in percent. */
enum {
    THREE_BYTES = 48 << 10, /* products of a bin, threads, percent */
    THREE_THREADS = 640,
    THREE_PERCENT = 72,
    TWO_BYTES = 64 << 10,
    TWO_THREADS = 1024,
    TWO_PERCENT = 86,
    LEAST_ENTRIES = 1024,
    FEW_LANES = 1,        /* to sum a row, */
    MANY_LANES = 8,       /* or if rows have */
    MANY_ENTRIES = 24,    /* more entries than this in the mean */
    STATIC_BYTES = 1024,  /* room for a kernel's own shared memory, and what the system takes of each block */
    MOST_INSIDE = 1 << 16 /* places have 16 bits */
};

/* ---- sizes ---- */

static size_t rows_shared(const propagation *p, size_t bytes) {
    return p->entries * bytes + p->entries / 32 * (sizeof *p->runs + 4) + p->run_room * sizeof *p->shift;
}
static size_t making_shared(const propagation *p) {
    return (size_t)p->slices * 8 + p->entries / 32 * 8 + (size_t)p->entries * 2;
}

static int64_t step_up(int64_t n) { return lsp_ceil_div(lsp_max(n, 1), PROPAGATE_STEP) * PROPAGATE_STEP; }

static int threads_for(int64_t items) { return (int)lsp_min(lsp_ceil_div(items, WARP) * WARP, PROPAGATE_NT); }

/* Does a multiprocessor hold this number of blocks of phase 2, beside enough L1 cache? */
static bool fit_beside(const lsp_cuda_chip *chip, const propagation *p, size_t bytes, int blocks, int percent) {
    return blocks * (int64_t)(rows_shared(p, bytes) + STATIC_BYTES) <= (int64_t)chip->shared_sm_bytes * percent / 100;
}

/* Bins of at most `most` entries. */
static void choose_bins(const lsp_cuda_chip *chip, propagation *p, size_t bytes, int64_t most) {
    int blocks = 3;
    p->entries = (unsigned)lsp_min(most, THREE_BYTES / (int64_t)bytes);
    p->threads = THREE_THREADS;
    if (!fit_beside(chip, p, bytes, blocks, THREE_PERCENT)) {
        blocks = 2;
        p->entries = (unsigned)lsp_min(most, TWO_BYTES / (int64_t)bytes);
        p->threads = TWO_THREADS;
        while (p->entries > LEAST_ENTRIES && !fit_beside(chip, p, bytes, blocks, TWO_PERCENT)) {
            p->entries -= PROPAGATE_STEP;
        }
    }
    p->threads = (int)lsp_min(p->threads, threads_for(p->entries / 8));
    p->ahead = (unsigned)(chip->sms * blocks);
}

/* Cuts x and the entries. False: the matrix or the chip does not suit. longest: entries of the longest row. */
static bool cut(lsp_ctx *ctx, const lsp_spmv_job *job, const lsp_spmv_sizes *sizes, int64_t longest, propagation *p,
                lsp_spmv_why *why) {
    const lsp_cuda_chip *chip = lsp_cuda_get_chip(ctx);
    const lsp_csr *A = &job->A;
    const int64_t bytes = (int64_t)lsp_type_bytes(job->options.type);
    const int64_t shared = chip->shared_block_bytes - STATIC_BYTES;
    const int64_t columns = lsp_min(shared / bytes / PROPAGATE_STEP * PROPAGATE_STEP, MOST_INSIDE);
    const int64_t even = step_up(A->nnz / chip->sms / 2); /* work for all multiprocessors */
    *p = propagation{};
    if (!lsp_spmv_is_most(PROPAGATE_STEP * bytes, shared, "bytes of shared memory in a block", why)) {
        return false;
    }
    p->rows = A->rows;
    p->cols = A->cols;
    p->nnz = A->nnz;
    p->columns = (unsigned)lsp_min(sizes->columns > 0 ? lsp_min(sizes->columns, columns) : columns, step_up(A->cols));
    p->slices = (unsigned)lsp_max(lsp_ceil_div(A->cols, p->columns), 1);
    p->run_room = (p->slices + 3) / 4 * 4;
    choose_bins(chip, p, (size_t)bytes, sizes->entries > 0 ? sizes->entries : lsp_max(even, LEAST_ENTRIES));
    p->cuts_rows = longest > p->entries / 8;
    p->target = p->cuts_rows ? p->entries : p->entries - (unsigned)longest;
    p->bins = (unsigned)lsp_max(lsp_ceil_div(A->nnz, p->target), 1);
    return lsp_spmv_is_most((int64_t)p->slices * p->bins, lsp_max(A->nnz, MOST_INSIDE),
                            "pairs of a slice of x and a bin of entries", why) &&
           lsp_spmv_is_most(lsp_max((int64_t)making_shared(p), (int64_t)rows_shared(p, (size_t)bytes)), shared,
                            "bytes of shared memory in a block", why);
}

static bool fits(lsp_ctx *ctx, const lsp_spmv_job *job, lsp_spmv_why *why) {
    const lsp_spmv_sizes any = {};
    propagation p;
    return cut(ctx, job, &any, 0, &p, why);
}

/* ---- making ---- */

static lsp_status allocate(lsp_spmv_plan *plan, propagation *p) {
    const lsp_spmv_job *job = &plan->job;
    const size_t bytes = lsp_type_bytes(job->options.type), val_bytes = lsp_type_bytes(job->A.val_type);
    const int64_t padded = p->nnz + (int64_t)p->slices * (PROPAGATE_ALIGN - 1), bins = p->bins;
    LSP_TRY(lsp_spmv_hold(plan, bins + 1, sizeof *p->bin, (void **)&p->bin));
    LSP_TRY(lsp_spmv_hold(plan, p->rows, sizeof *p->row_begin, (void **)&p->row_begin));
    LSP_TRY(lsp_spmv_hold(plan, (int64_t)p->slices + 1, sizeof *p->slice_at, (void **)&p->slice_at));
    LSP_TRY(lsp_spmv_hold(plan, padded, sizeof *p->col, (void **)&p->col));
    LSP_TRY(lsp_spmv_hold(plan, padded, bytes, &p->product));
    LSP_TRY(lsp_spmv_hold(plan, bins * p->entries, sizeof *p->place, (void **)&p->place));
    LSP_TRY(lsp_spmv_hold(plan, bins * (p->entries / 32), sizeof *p->runs, (void **)&p->runs));
    LSP_TRY(lsp_spmv_hold(plan, bins * p->run_room, sizeof *p->shift, (void **)&p->shift));
    LSP_TRY(lsp_spmv_hold(plan, padded, val_bytes, &p->val));
    if (p->cuts_rows) {
        LSP_TRY(lsp_spmv_hold(plan, bins, bytes, &p->head));
        LSP_TRY(lsp_spmv_hold(plan, bins, bytes, &p->tail));
    }
    return LSP_OK;
}

/* lengths: a 0, then slices * bins numbers. */
template <typename I>
static lsp_status make_runs(lsp_ctx *ctx, const propagation *p, const void *col, int64_t *lengths) {
    LSP_TRY(lsp_allow_shared(ctx, kernel_lengths<I>, (size_t)p->slices * 4));
    LSP_TRY(lsp_allow_shared(ctx, kernel_places<I>, making_shared(p)));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_lengths<I>, p->bins, threads_for(p->entries), (size_t)p->slices * 4, *p,
                       (const I *)col, lengths + 1));
    LSP_TRY(lsp_cuda_scan_async(ctx, lengths + 1, (int64_t)p->slices * p->bins, NULL));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_slices, 1, PROPAGATE_NT, 0, *p, (const int64_t *)lengths));
    return LSP_LAUNCH(ctx, kernel_places<I>, p->bins, PROPAGATE_NT, making_shared(p), *p, (const I *)col,
                      (const int64_t *)lengths);
}

template <typename V> static lsp_status bring_values(lsp_ctx *ctx, const propagation *p, const void *val) {
    return LSP_LAUNCH(ctx, kernel_values<V>, p->bins, threads_for(p->entries), p->entries * sizeof *p->place, *p,
                      (const V *)val);
}

static lsp_status update(lsp_spmv_plan *plan) {
    const propagation *p = (const propagation *)plan->parts;
    const lsp_csr *A = &plan->job.A;
    lsp_ctx *ctx = plan->ctx;
    if (A->val_type == LSP_NONE || A->nnz == 0) {
        return LSP_OK;
    }
    return A->val_type == LSP_F64 ? bring_values<double>(ctx, p, A->val) : bring_values<float>(ctx, p, A->val);
}

static lsp_status prepare(lsp_spmv_plan *plan) {
    lsp_ctx *ctx = plan->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_csr *A = &plan->job.A;
    propagation *p = NULL, sized;
    int64_t *lengths = NULL, count = 0;
    lsp_spmv_cutting cutting;
    lsp_spmv_why why;
    LSP_REQUIRE(cut(ctx, &plan->job, &plan->sizes, plan->facts.longest_row, &sized, &why), LSP_ERR_UNSUPPORTED,
                "the method propagate %s", why.text);
    LSP_TRY(lsp_spmv_make_parts(plan, sizeof *p, (void **)&p));
    *p = sized;
    LSP_TRY(allocate(plan, p));
    count = (int64_t)p->slices * p->bins;
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, count + 1, &lengths));
    LSP_TRY(lsp_cuda_clear(ctx, lengths, sizeof *lengths));
    cutting = {*A, p->bins, p->target, p->cuts_rows, p->bin, p->row_begin};
    LSP_TRY(lsp_spmv_cut_rows(ctx, &cutting));
    LSP_TRY(A->col_type == LSP_I32 ? make_runs<int32_t>(ctx, p, A->col, lengths)
                                   : make_runs<int64_t>(ctx, p, A->col, lengths));
    LSP_TRY(update(plan));
    plan->info.stored_entries = A->nnz;
    return LSP_OK;
}

/* ---- a product ---- */

template <typename V, typename T>
static lsp_status start_products(lsp_ctx *ctx, const propagation *p, const spmv_job *job) {
    enum { U = 3 };
    const size_t shared = (size_t)p->columns * sizeof(T);
    const int threads = threads_for(lsp_max(p->columns / 8, WARP));
    void (*kernel)(propagation, const T *, int64_t) = kernel_propagate<V, T, U>;
    LSP_TRY(lsp_allow_shared(ctx, kernel, shared));
    return LSP_LAUNCH(ctx, kernel, lsp_blocks_for(ctx, p->nnz, 4096, 1), threads, shared, *p, (const T *)job->x,
                      job->x_row);
}

template <typename T, int LANES> static lsp_status start_rows(lsp_ctx *ctx, const propagation *p, const spmv_job *job) {
    const size_t shared = rows_shared(p, sizeof(T));
    void (*kernel)(propagation, spmv_job) = kernel_propagate_rows<T, LANES>;
    LSP_TRY(lsp_allow_shared(ctx, kernel, shared));
    LSP_TRY(LSP_LAUNCH(ctx, kernel, p->bins, p->threads, shared, *p, *job));
    if (p->cuts_rows) {
        LSP_TRY(LSP_LAUNCH(ctx, kernel_propagate_join<T>, lsp_ceil_div(p->bins, 256 / WARP), 256, 0, *p, *job));
    }
    return LSP_OK;
}

template <typename V, typename T> static lsp_status multiply(lsp_ctx *ctx, const propagation *p, const spmv_job *job) {
    LSP_TRY((start_products<V, T>(ctx, p, job)));
    return p->nnz <= MANY_ENTRIES * p->rows ? (start_rows<T, FEW_LANES>(ctx, p, job))
                                            : (start_rows<T, MANY_LANES>(ctx, p, job));
}

static lsp_status run(lsp_ctx *ctx, const lsp_spmv_job *given, void *parts) {
    const propagation *p = (const propagation *)parts;
    spmv_job job;
    lsp_spmv_gpu_job(ctx, given, &job);
    return p->rows == 0 ? LSP_OK : SPMV_BY_TYPES(given, multiply, (ctx, p, &job));
}

enum { MOST = INT32_MAX - MOST_INSIDE }; /* rows and entries */
extern "C" const lsp_spmv_engine lsp_spmv_propagate_cuda = {
    {true, 1, MOST, INT32_MAX, MOST}, fits, prepare, run, update};
