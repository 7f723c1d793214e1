/* C = A*B on a GPU, the second pass: lists the rows that are not short by the bin that fills them, and starts one
 * kernel a bin. The host does not wait. */
#include "fill_bins.cuh"

/* The bin of all rows of C, if every row has the same one of SORT_2 to SORT_32, there are enough rows for 32 a warp,
 * and less than half of them are short repeats; else LSP_BIN_NONE. */
static int only_bin(const lsp_spgemm_plan *plan) {
    for (int bin = LSP_BIN_SORT_2; bin <= LSP_BIN_SORT_32; bin++) {
        if (plan->gpu->all_short && rows_each(plan->ctx, plan->facts.rows) == WARP &&
            plan->gpu->short_repeats < plan->facts.rows / 2 &&
            plan->gpu->count_bins[bin] == (uint64_t)plan->facts.rows) {
            return bin;
        }
    }
    return LSP_BIN_NONE;
}

static lsp_status start_rowptr(lsp_spgemm_plan *plan, const spg_job *job, lsp_csr *C) {
    lsp_ctx *ctx = plan->ctx;
    const int64_t blocks = lsp_ceil_div(C->rows, SHORT_NT);
    const short_layout layout = layout_of(plan);
    LSP_TRY(LSP_LAUNCH(ctx, kernel_rowptr, blocks, SHORT_NT, 0, *job, layout, C->rowptr, C->rowptr_type == LSP_I64));
    plan->gpu->summed = true;
    return LSP_OK;
}

/* Chooses the sizes of stripes and pieces. `*most` is a bound for the number of pieces. If C has few entries, pieces
 * are smaller, so that every multiprocessor gets some. */
static long_job plan_long(const lsp_spgemm_plan *plan, int64_t cols, int64_t rows, int64_t *most) {
    long_job longs = {};
    const int64_t chunk = lsp_max(plan->info.nnz / (chip_sms(plan->ctx) * LONG_ADD_BLOCKS), WARP);
    longs.valued = plan->type != LSP_NONE;
    longs.range = (uint32_t)lsp_min(lsp_ceil_div(lsp_max(cols, 1), 256) * 256, (int64_t)LONG_ADD_RANGE);
    longs.chunk = (uint32_t)lsp_min(chunk, (int64_t)LONG_ADD_MOST);
    for (longs.stripe = LONG_STRIPE;
         longs.stripe < LONG_COUNT_RANGE / 4 && longs.stripe * (int64_t)LONG_STRIPES < cols;) {
        longs.stripe *= 2;
    }
    longs.stripes = (uint32_t)lsp_ceil_div(lsp_max(cols, 1), longs.stripe);
    *most = rows == 0 ? 0
                      : plan->info.nnz / longs.chunk + plan->facts.products / (PIECE_PRODUCTS / 4) +
                            rows * (2 * lsp_ceil_div(cols, LSP_SORT_COLUMNS) + 4);
    return longs;
}

/* The memory of the pieces: a head with the two numbers of pieces, then the pieces. */
enum { PIECES_HEAD = 64 };
static int64_t pieces_bytes(int64_t most) { return PIECES_HEAD + most * (int64_t)sizeof(spg_piece); }
static void use_pieces(long_job *longs, void *memory, int64_t most) {
    longs->made = (uint32_t *)memory, longs->sorted_made = longs->made + 1;
    longs->pieces = (spg_piece *)((char *)memory + PIECES_HEAD), longs->pieces_end = longs->pieces + most;
}

/* Ranges of columns, each marked in one go. */
static int64_t long_ranges(const long_job *longs, int64_t cols) {
    return lsp_ceil_div(cols, longs->count_range / longs->stripe * longs->stripe);
}

enum { PIECES_SMALL = 4 << 20 }; /* bytes of pieces that a plan may keep, even if C is smaller */

/* Writes the columns of the listed rows to C and cuts the rows into pieces. The plan keeps the pieces if they take less
 * than 4 MiB, or less than half a byte an entry of C. */
static lsp_status make_pieces(lsp_spgemm_plan *plan, const spg_job *job, ull *taken, long_job *longs, int64_t most) {
    lsp_ctx *ctx = plan->ctx;
    const int64_t rows = longs->list.count, bytes = pieces_bytes(most), ranges = long_ranges(longs, job->cols);
    const int64_t columns = lsp_min(job->cols, longs->count_range);
    const size_t shared = (size_t)lsp_ceil_div(columns, LONG_GROUP) * LONG_GROUP / 8;
    const int nt = long_threads(columns);
    const auto list_long = nt == LONG_NT ? kernel_long_list<LONG_NT> : kernel_long_list<LONG_MANY_NT>;
    LSP_PLAN_HOLDS(ctx, plan);
    void *memory = plan->gpu->pieces;
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, rows * longs->stripes, &longs->counts));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, rows * longs->stripes, &longs->products));
    LSP_TRY(ranges > 1 ? LSP_SCRATCH_FILLED(ctx, 0, rows * ranges, &longs->known) : LSP_OK);
    if (memory == NULL && bytes <= lsp_max(plan->info.nnz / 2, PIECES_SMALL) && job->names == NULL) {
        LSP_TRY(lsp_alloc(ctx, LSP_CUDA, bytes, 1, &plan->gpu->pieces));
        memory = plan->gpu->pieces;
    } else if (memory == NULL) {
        LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, bytes, 1, &memory));
    }
    LSP_TRY(lsp_cuda_clear(ctx, memory, PIECES_HEAD));
    use_pieces(longs, memory, most);
    longs->taken = taken;
    LSP_TRY(lsp_allow_shared(ctx, list_long, shared));
    LSP_TRY(LSP_LAUNCH(ctx, list_long, long_blocks(ctx, rows * ranges, nt), nt, shared, *job, *longs));
    return LSP_LAUNCH(ctx, kernel_long_cut, lsp_ceil_div(rows, NT / WARP), NT, 0, *job, *longs);
}

/* The pieces of the listed rows: those that the plan has kept, if C has its columns already (update); else new ones. */
static lsp_status take_pieces(lsp_spgemm_plan *plan, spg_list list, bool update, spg_filling *filling, spg_fill *work) {
    long_job *longs = &work->longs;
    *longs = plan_long(plan, work->job.cols, list.count, &work->most_pieces);
    if (list.count == 0) {
        return LSP_OK;
    }
    longs->list = list;
    longs->count_range = count_range(plan->ctx);
    if (update && plan->gpu->pieces) {
        use_pieces(longs, plan->gpu->pieces, work->most_pieces);
    } else {
        LSP_TRY(make_pieces(plan, &work->job, &filling->rows_taken, longs, work->most_pieces));
    }
    longs->taken = &filling->pieces_taken;
    return LSP_OK;
}

extern "C" int64_t lsp_spgemm_gpu_fill_bytes(const lsp_spgemm_plan *plan) {
    const lsp_spgemm_gpu *gpu = plan->gpu;
    const int64_t rows = gpu->fill_bins[LSP_BIN_LONG], cols = lsp_min(plan->facts.cols, (int64_t)INT32_MAX + 1);
    int64_t most = 0;
    const long_job longs = plan_long(plan, cols, rows, &most);
    const int64_t listed = list_rows(gpu->fill_bins) * (int64_t)sizeof(uint32_t);
    const int64_t ranges = lsp_ceil_div(cols, LONG_COUNT_RANGE / 4);
    const int64_t counts = rows * (longs.stripes * 2 + ranges) * (int64_t)sizeof(uint32_t);
    return listed + counts + (gpu->pieces ? 0 : pieces_bytes(most)) + 8 * 64;
}

extern "C" lsp_status lsp_spgemm_gpu_fill(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, bool update,
                                          lsp_csr *C) {
    lsp_ctx *ctx = plan->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    spg_fill work = {job_to(plan, operands, C), {}, {}, 0, only_bin(plan), false};
    spg_job *job = &work.job;
    const uint32_t *bins = plan->gpu->fill_bins;
    spg_filling *filling = &plan->gpu->report->filling;
    if (plan->gpu->dense_b.strips > 0) {
        return spg_fill_dense_b(plan, operands, update, C);
    }
    if (list_rows(bins) > 0) {
        LSP_TRY(plan->gpu->filling ? lsp_cuda_clear(ctx, filling, sizeof *filling) : LSP_OK);
        plan->gpu->filling = true;
    }
    LSP_TRY(make_lists<true>(plan, job, bins, filling->placed, &work.lists));
    LSP_TRY(take_pieces(plan, list_of(&work.lists, bins, LSP_BIN_LONG), update, filling, &work));
    LSP_TRY(work.only != LSP_BIN_NONE && !(update && plan->gpu->summed) ? start_rowptr(plan, job, C) : LSP_OK);
    return spg_with_value(plan, [&](auto v) { return spg_fill_entries<decltype(v)>(plan, &work, C); });
}
