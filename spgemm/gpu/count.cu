/* C = A*B on a GPU, the first pass: lists the rows that are not short by the bin that counts them, starts one kernel a
 * bin, and sums the counts to row pointers. kernel_inspect has counted short rows. The host waits once, for nnz(C). */
#include "core/scan.h"
#include "set/kernel_window_count.cuh"
#include "set/long_launch.cuh"
#include "sort/kernel_sort.cuh"

/* Counts the rows in LSP_BIN_LONG, and the rows that other kernels gave up, at most `more`. If these are few, no
 * columns are kept: many blocks fill a row faster, piece by piece. */
static lsp_status count_long(lsp_ctx *ctx, bool *beside, const spg_job *job, spg_list list, spg_rest rest,
                             uint32_t more, spg_counting *counting) {
    const uint32_t range = count_range(ctx);
    const int64_t columns = lsp_min(job->cols, range), tasks = ((int64_t)list.count + more) * (1 + job->cols / range);
    const size_t bytes = (size_t)lsp_ceil_div(columns, LONG_GROUP) * LONG_GROUP / 8;
    const int nt = long_threads(columns);
    const auto count_kernel = nt == LONG_NT ? kernel_long_count<LONG_NT> : kernel_long_count<LONG_MANY_NT>;
    spg_job its = *job;
    its.known = (int64_t)list.count + more < chip_sms(ctx) * LSP_KNOWN_ROWS ? NULL : job->known;
    return SPG_START(ctx, beside, count_kernel, long_blocks(ctx, tasks, nt), nt, bytes, its, list, rest, range,
                     &counting->taken);
}

/* Counts rows that fit no window by a hash table of their columns. Only the GPU knows how many rows these are. */
template <int G, int VT> static __global__ void __launch_bounds__(G) kernel_count_again(spg_job job, spg_rest list) {
    LSP_DYNAMIC_SHARED(memory);
    sort_shared<G, VT, no_value> &shared = *(sort_shared<G, VT, no_value> *)memory;
    lsp_let_next_begin();
    for (uint32_t i = blockIdx.x; i < *list.count; i += gridDim.x) {
        const uint32_t row = list.rows[i], total = count_row<G, VT>(job, read_row(job, row, 0), shared, NULL);
        if (threadIdx.x == 0) {
            job.rowptr[row + 1] = total;
        }
        sort_sync<G>();
    }
    lsp_end_after_previous();
}

template <int G, int VT>
static lsp_status count_again(lsp_ctx *ctx, bool *beside, const spg_job *job, uint32_t most, spg_rest list) {
    return SPG_START(ctx, beside, (kernel_count_again<G, VT>), lsp_min(most, chip_sms(ctx) * 32), G,
                     (sort_bytes<G, VT, no_value>(0)), *job, list);
}

/* Counts all rows of more than 256 products, first in windows. Rows that fit no window go to a hash table of columns,
 * to a larger window if they have more than 4096 products, or to LONG. */
static lsp_status count_listed(lsp_ctx *ctx, const spg_job *job, const bin_lists *lists, const uint32_t *bins,
                               spg_counting *counting) {
    /* the rows of that bin, then those that were given up */
    uint32_t *long_rows = lists->rows + lists->starts.at[LSP_BIN_LONG];
    enum { LAST = LSP_COUNT_BINS - 1 };
    spg_rest rest = {}; /* rows that LONG has to count */
    window_counting work = {};
    bool beside = false; /* the first kernel after the windows reads their lists, so it waits; later ones depend on
                            nothing else */
    work.rows = lists->rows + lists->starts.at[LSP_BIN_COUNT_64];
    work.count = windowed(bins);
    work.again = long_rows + bins[LSP_BIN_LONG] + bins[LSP_BIN_COUNT_LARGE];
    work.again_count = counting->retry;
    work.merged = work.again + work.count;
    work.merged_count = &counting->merged;
    for (int k = 0; k < LSP_COUNT_BINS; k++) {
        work.first[k + 1] = work.first[k] + bins[LSP_BIN_COUNT_64 + k];
    }
    work.listed = counting->placed + LSP_BIN_COUNT_64;
    rest = (spg_rest){work.again + work.first[LAST], counting->retry + LAST};
    if (work.count > 0) {
        const uint32_t bytes = WINDOW_WARPS * WINDOW_COUNT_BYTES;
        LSP_TRY(lsp_allow_shared(ctx, kernel_window_count, bytes));
        LSP_TRY(LSP_LAUNCH(ctx, kernel_window_count,
                           lsp_min(lsp_ceil_div(work.count, WINDOW_WARPS), chip_sms(ctx) * 16), WINDOW_NT, bytes, *job,
                           work));
        LSP_TRY(LSP_LAUNCH_BESIDE(ctx, &beside, kernel_merge_count,
                                  lsp_min(lsp_ceil_div(work.count, MERGE_WARPS), chip_sms(ctx) * 8), MERGE_NT, 0, *job,
                                  (spg_rest){work.merged, work.merged_count}));
    }
#define COUNT_AGAIN(G, VT, k)                                                                                          \
    LSP_TRY((count_again<G, VT>(ctx, &beside, job, bins[LSP_BIN_COUNT_64 + (k)],                                       \
                                {work.again + work.first[k], counting->retry + (k)})))
    COUNT_AGAIN(64, 8, 0);
    COUNT_AGAIN(128, 8, 1);
    COUNT_AGAIN(256, 8, 2);
    COUNT_AGAIN(256, 16, 3);
#undef COUNT_AGAIN
    if (bins[LSP_BIN_COUNT_LARGE] > 0 && job->cols > LSP_LARGE_COUNT_FROM) {
        const size_t bytes = WINDOW_WARPS * large_window::POOL;
        uint32_t *const again = long_rows + bins[LSP_BIN_LONG];
        LSP_TRY(lsp_allow_shared(ctx, kernel_window_count_large, bytes));
        beside = false;
        LSP_TRY(LSP_LAUNCH(ctx, kernel_window_count_large, lsp_ceil_div(bins[LSP_BIN_COUNT_LARGE], WINDOW_WARPS),
                           WINDOW_NT, bytes, *job, rest, again, &counting->again));
        rest = (spg_rest){again, &counting->again};
    }
    if (bins[LSP_BIN_COUNT_LARGE] + bins[LSP_BIN_LONG] > 0) {
        LSP_TRY(count_long(ctx, &beside, job, list_of(lists, bins, LSP_BIN_LONG), rest, bins[LSP_BIN_COUNT_LARGE],
                           counting));
    }
    return LSP_OK;
}

/* Finds the rows of B and of C that repeat the row before: window kernels do their work once for all of them. */
static lsp_status find_repeats(lsp_spgemm_plan *plan, spg_job *job) {
    lsp_ctx *ctx = plan->ctx;
    LSP_PLAN_HOLDS(ctx, plan);
    /* most rows of a group: few enough to give every warp work, and a multiple of 4: 4 rows are made together */
    const uint32_t most = (uint32_t)lsp_min(lsp_max(job->A.rows / (chip_sms(ctx) * 128), 1) * 4, REPEAT_MOST);
    if (!plan->gpu->repeats) {
        LSP_TRY(lsp_alloc(ctx, LSP_CUDA, job->B.rows, sizeof *plan->gpu->repeats, (void **)&plan->gpu->repeats));
    }
    job->repeats = plan->gpu->repeats;
    LSP_TRY(LSP_LAUNCH(ctx, kernel_repeats_b, lsp_ceil_div(job->B.rows, REPEAT_WARPS * REPEAT_EACH), REPEAT_NT, 0,
                       job->B, plan->gpu->repeats));
    const int64_t blocks = lsp_ceil_div(job->A.rows, REPEAT_ROWS);
    return job->duplicates ? LSP_OK : LSP_LAUNCH(ctx, kernel_repeats_c, blocks, REPEAT_NT, 0, *job, most);
}

/* Takes room for columns that counting keeps, if C is made at once, memory is plentiful, and A's rows are long enough:
 * a column has no more products than A's row has entries. */
static lsp_status take_known(lsp_spgemm_plan *plan, spg_job *job) {
    lsp_ctx *ctx = plan->ctx;
    const int64_t items = job->A.rows + plan->facts.products / LSP_KNOWN_FROM;
    const int64_t needed = lsp_spgemm_bytes(items, sizeof *job->known, plan->info.bound_bytes);
    LSP_PLAN_HOLDS(ctx, plan);
    const bool some = !plan->kept && !job->duplicates && job->A.nnz / LSP_KNOWN_FROM >= job->A.rows;
    if (some && items <= UINT32_MAX && needed <= lsp_spgemm_room(ctx, LSP_CUDA, needed) / 4) {
        LSP_TRY(lsp_alloc(ctx, LSP_CUDA, items, sizeof *job->known, (void **)&plan->gpu->known));
        job->known = plan->gpu->known;
    }
    return LSP_OK;
}

extern "C" lsp_status lsp_spgemm_gpu_count(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands) {
    lsp_ctx *ctx = plan->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    spg_job job = job_of(plan, operands);
    const uint32_t *bins = plan->gpu->count_bins;
    spg_counting *counting = &plan->gpu->report->counting, here;
    bin_lists lists;
    if (plan->gpu->all_short) {
        plan->info.nnz = plan->gpu->nnz;
        return LSP_OK;
    }
    LSP_TRY(plan->gpu->dense_b.strips > 0 ? spg_count_dense_b(plan, operands) : LSP_OK);
    if (plan->gpu->dense_b.strips > 0) {
        return LSP_OK;
    }
    if (plan->gpu->counting) { /* an earlier call failed halfway: begin anew */
        LSP_TRY(lsp_cuda_clear(ctx, plan->gpu->report, sizeof(spg_report)));
        LSP_TRY(spg_inspect(plan, operands));
    }
    plan->gpu->counting = true;
    LSP_TRY(windowed(bins) > 0 ? find_repeats(plan, &job) : LSP_OK);
    LSP_TRY(windowed(bins) + bins[LSP_BIN_LONG] > 0 ? take_known(plan, &job) : LSP_OK);
    LSP_TRY(make_lists<false>(plan, &job, bins, counting->placed, &lists));
    LSP_TRY(list_rows(bins) > 0 ? count_listed(ctx, &job, &lists, bins, counting) : LSP_OK);
    LSP_TRY(lsp_cuda_scan_async(ctx, job.rowptr + 1, job.A.rows, (int64_t *)&counting->nnz));
    LSP_TRY(LSP_LAUNCH_EACH(ctx, kernel_bins<true>, job.A.rows, NT, job, counting->bins));
    LSP_TRY(lsp_cuda_read(ctx, &here, counting, sizeof here));
    plan->info.nnz = (int64_t)here.nnz;
    plan->gpu->summed = true;
    memcpy(plan->gpu->fill_bins, here.bins, sizeof here.bins);
    return LSP_OK;
}
