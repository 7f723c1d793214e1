/* C = A*B on a GPU, the second pass for one type of values: starts the kernel of each bin of rows. A type has about
 * fifteen kernels. They are compiled in four files to save time: fill.cu for sums of real values, fill_complex.cu for
 * those of complex ones, fill_minmax.cu for the other semirings, fill_integer.cu for integers in all semirings. */
#pragma once

#include "set/kernel_known.cuh"
#include "set/kernel_long_cut.cuh"
#include "set/kernel_window.cuh"
#include "set/long_launch.cuh"
#include "sort/kernel_merge.cuh"
#include "sort/short_launch.cuh"

/* What the second pass has prepared before it knows the type of values. */
typedef struct spg_fill {
    spg_job job;
    bin_lists lists;
    long_job longs;      /* pieces of the rows in LSP_BIN_LONG */
    int64_t most_pieces; /* 0: there are no such rows */
    int only;    /* LSP_BIN_NONE, or the bin of all rows; its kernel writes no row pointers: they are written before */
    bool beside; /* a kernel of this pass has been started; later ones may run beside it */
} spg_fill;

template <int G, int VT, typename V> static lsp_status start_sort(lsp_ctx *ctx, spg_fill *work, spg_list list) {
    typedef sort_shape<G, VT> S;
    return SPG_START(ctx, &work->beside, (kernel_sort_rows<G, VT, V>), lsp_ceil_div(list.count, S::nt / G), S::nt,
                     (sort_bytes<G, VT, V>(work->job.cols)), work->job, list);
}

/* Fills short rows, and writes C's row pointers. If all rows have one size, small blocks in row order are faster: rows
 * that are neighbours in memory are then written at the same time. */
template <typename V> static lsp_status fill_short(const lsp_spgemm_plan *plan, spg_fill *work, lsp_csr *C) {
    lsp_ctx *ctx = plan->ctx;
    const spg_list all = {NULL, (uint32_t)C->rows};
    if (work->only != LSP_BIN_NONE) {
        LSP_TRY(work->only <= LSP_BIN_SORT_4    ? (start_sort<4, 8, V>(ctx, work, all))
                : work->only == LSP_BIN_SORT_8  ? (start_sort<8, 8, V>(ctx, work, all))
                : work->only == LSP_BIN_SORT_16 ? (start_sort<16, 8, V>(ctx, work, all))
                                                : (start_sort<32, 8, V>(ctx, work, all)));
    } else if (plan->gpu->all_short && plan->facts.max_row_products == 1 && rows_each(ctx, C->rows) == WARP) {
        LSP_TRY(LSP_LAUNCH(ctx, kernel_single<V>, lsp_ceil_div(C->rows, SHORT_NT * SINGLE_TILES), SHORT_NT, 0,
                           work->job, layout_of(plan), C->rowptr, C->rowptr_type == LSP_I64));
    } else {
        const bool lanes =
            plan->facts.products <= LANE_PRODUCTS * plan->facts.rows && lane_pays(plan->facts.products, plan->info.nnz);
        const auto kernel = lanes ? kernel_short<V, true> : kernel_short<V, false>;
        LSP_TRY(SPG_START(ctx, &work->beside, kernel, short_blocks(ctx, C->rows), SHORT_NT,
                          SHORT_WARPS * sizeof(short_shared<V>), work->job, layout_of(plan), C->rowptr,
                          C->rowptr_type == LSP_I64));
    }
    return LSP_OK;
}

/* Starts the window kernel for rows of at most MOST entries, WARPS warps a row, in windows of kind W. */
template <typename V, int MOST, int WARPS, typename W>
static lsp_status start_window_of(lsp_ctx *ctx, spg_fill *work, spg_list list) {
    const uint32_t sums = MOST <= WINDOW_SMALL ? WINDOW_TOGETHER * MOST : MOST * 9 / 4;
    const window_shape shape = {MOST, sums, WARPS, W::WORDS, W::POOL, W::INDEX};
    return SPG_START(ctx, &work->beside, (kernel_window_fill<V, MOST, WARPS, W>), list.count, WARP * WARPS,
                     shape.bytes(value_kind<V>::valued ? sizeof(V) : 0), work->job, list, shape);
}

/* The same for near columns, but chooses the number of warps: two share a row if rows are few and B's rows are long
 * enough. */
template <typename V, int MOST>
static lsp_status start_window(lsp_ctx *ctx, const lsp_spgemm_plan *plan, spg_fill *work, spg_list list) {
    const bool shared =
        list.count < chip_sms(ctx) * WINDOW_SHARED && plan->facts.products > WINDOW_LONG * work->job.A.nnz;
    return shared ? start_window_of<V, MOST, WINDOW_SHARE, near_window>(ctx, work, list)
                  : start_window_of<V, MOST, 1, near_window>(ctx, work, list);
}

/* Fills rows of at most MOST entries whose columns are kept, G lanes a row. */
template <typename V, int G, int MOST> static lsp_status start_known(lsp_ctx *ctx, spg_fill *work, spg_list list) {
    enum { ROWS = KNOWN_NT / G };
    return SPG_START(ctx, &work->beside, (kernel_known_fill<V, G, MOST>), lsp_ceil_div(list.count, ROWS), KNOWN_NT,
                     ROWS * sizeof(known_row<V, MOST>), work->job, list);
}

/* Fills the pieces of long rows. Sorted pieces come first: a block of kernel_long_add that meets a row of very many
 * entries takes long, and later kernels can run beside it. It gets only as many blocks as are resident at once, so that
 * these kernels find space. */
template <typename V> static lsp_status start_pieces(lsp_ctx *ctx, spg_fill *work) {
    const long_job *longs = &work->longs;
    const lsp_cuda_chip *chip = lsp_cuda_get_chip(ctx);
    const int64_t add_bytes = (int64_t)long_memory<V>::bytes(longs->range);
    if (work->most_pieces == 0) {
        return LSP_OK;
    }
    if constexpr (value_kind<V>::valued) {
        LSP_TRY(SPG_START(ctx, &work->beside, kernel_long_sort<V>, lsp_min(work->most_pieces, chip->sms * 12), PIECE_G,
                          (sort_bytes<PIECE_G, PIECE_VT, V>(work->job.cols)), work->job, longs->pieces_end,
                          longs->sorted_made));
    }
    if (longs->valued || work->job.names != NULL) {
        const int64_t resident = lsp_max(lsp_min(chip->shared_sm_bytes / (add_bytes + 4096), 16), 1) * chip->sms;
        LSP_TRY(SPG_START(ctx, &work->beside, kernel_long_add<V>, lsp_min(work->most_pieces, resident), LONG_ADD_NT,
                          (size_t)add_bytes, work->job, longs->pieces, longs->made, longs->range, longs->taken));
    }
    return LSP_OK;
}

template <typename V> lsp_status spg_fill_entries(const lsp_spgemm_plan *plan, spg_fill *work, lsp_csr *C) {
    lsp_ctx *ctx = plan->ctx;
    const bin_lists *lists = &work->lists;
    const uint32_t *bins = plan->gpu->fill_bins;
#define FILL_WINDOW(MOST)                                                                                              \
    LSP_TRY((start_window<V, MOST>(ctx, plan, work, list_of(lists, bins, LSP_BIN_NEAR_##MOST))));                      \
    LSP_TRY((start_window_of<V, MOST, 1, spread_window<>>(ctx, work, list_of(lists, bins, LSP_BIN_SPREAD_##MOST))))
    FILL_WINDOW(512);
    FILL_WINDOW(128);
#undef FILL_WINDOW
    LSP_TRY((start_window_of<V, 512, 1, spread_window<10>>(ctx, work, list_of(lists, bins, LSP_BIN_WIDE_512))));
    const auto known =
        plan->facts.products <= work->job.A.nnz * LSP_KNOWN_NARROW ? start_known<V, 8, 128> : start_known<V, 16, 128>;
    LSP_TRY((start_known<V, 16, 512>(ctx, work, list_of(lists, bins, LSP_BIN_KNOWN_512))));
    LSP_TRY(known(ctx, work, list_of(lists, bins, LSP_BIN_KNOWN_128)));
    LSP_TRY(start_pieces<V>(ctx, work));
    LSP_TRY(SPG_START(ctx, &work->beside, kernel_merge_rows<V>, lsp_ceil_div(bins[LSP_BIN_MERGE], MERGE_WARPS),
                      MERGE_NT, MERGE_WARPS * sizeof(merge_shared<V>), work->job, list_of(lists, bins, LSP_BIN_MERGE)));
#define FILL_SORTED(G) LSP_TRY((start_sort<G, 8, V>(ctx, work, list_of(lists, bins, LSP_BIN_SORT_##G))))
    LSP_TRY((start_sort<256, 16, V>(ctx, work, list_of(lists, bins, LSP_BIN_SORT_512))));
    FILL_SORTED(256);
    FILL_SORTED(128);
    FILL_SORTED(64);
#undef FILL_SORTED
    return fill_short<V>(plan, work, C);
}

#define FILL_ENTRIES(V) lsp_status spg_fill_entries<V>(const lsp_spgemm_plan *, spg_fill *, lsp_csr *)
#define FILLED_ELSEWHERE(V) extern template FILL_ENTRIES(V);
SPG_EACH_OTHER_TYPE(FILLED_ELSEWHERE)
