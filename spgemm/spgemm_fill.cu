/* C = A*B on a GPU, the second pass: rows that are not short are put in bins by what counting has learned, each bin is
 * filled by its own kernel. Nothing waits. */
#include "spgemm_bits.cuh"
#include "spgemm_hash.cuh"
#include "spgemm_launch.cuh"

template <int BITS, int N, typename V> static lsp_status start_hash(lsp_ctx *ctx, const spg_job *job, spg_list list) {
    lsp_status status = LSP_OK;
    const size_t bytes = HASH_WARPS * sizeof(hash_shared<BITS, N, V>);
    if (list.count > 0) {
        LSP_TRY(allow_shared(ctx, kernel_hash_fill<BITS, N, V>, bytes));
        LSP_TRY(LSP_LAUNCH(ctx, (kernel_hash_fill<BITS, N, V>), lsp_ceil_div(list.count, HASH_WARPS), HASH_NT, bytes,
                           *job, list));
    }
done:
    return status;
}

/* The bin of all rows, if it is one of those that a warp sorts and they are very many. */
static int only_bin(const lsp_spgemm_plan *plan) {
    for (int bin = LSP_BIN_SORT_4; bin <= LSP_BIN_SORT_32; bin++) {
        if (plan->gpu.all_short && rows_each(plan->facts.rows) == WARP &&
            plan->gpu.count_bins[bin] == (uint64_t)plan->facts.rows) {
            return bin;
        }
    }
    return LSP_BIN_NONE;
}

static lsp_status start_rowptr(lsp_spgemm_plan *plan, const spg_job *job, lsp_csr *C) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    const int64_t blocks = lsp_ceil_div(C->rows, SHORT_NT);
    const spg_deal deal = deal_of(plan);
    if (C->rowptr_type == LSP_I64) {
        LSP_TRY(LSP_LAUNCH(ctx, kernel_rowptr<int64_t>, blocks, SHORT_NT, 0, *job, deal, (int64_t *)C->rowptr));
    } else {
        LSP_TRY(LSP_LAUNCH(ctx, kernel_rowptr<int32_t>, blocks, SHORT_NT, 0, *job, deal, (int32_t *)C->rowptr));
    }
    plan->gpu.summed = true;
done:
    return status;
}

/* Short rows, and where all rows begin. Rows of one size are filled faster in many small steps, so that neighbours are
 * written at the same time. */
template <typename V> static lsp_status fill_short(lsp_spgemm_plan *plan, const spg_job *job, lsp_csr *C) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    const int only = only_bin(plan);
    const spg_list all = {NULL, (uint32_t)C->rows, NULL};
    if (only != LSP_BIN_NONE) {
        LSP_TRY(start_rowptr(plan, job, C));
        LSP_TRY(only == LSP_BIN_SORT_4    ? (start_sort<4, 8, V, false>(ctx, job, all))
                : only == LSP_BIN_SORT_8  ? (start_sort<8, 8, V, false>(ctx, job, all))
                : only == LSP_BIN_SORT_16 ? (start_sort<16, 8, V, false>(ctx, job, all))
                                          : (start_sort<32, 8, V, false>(ctx, job, all)));
    } else {
        const size_t bytes = SHORT_WARPS * sizeof(short_shared<V>);
        LSP_TRY(allow_shared(ctx, kernel_short<V>, bytes));
        LSP_TRY(LSP_LAUNCH(ctx, kernel_short<V>, short_blocks(C->rows), SHORT_NT, bytes, *job, deal_of(plan), C->rowptr,
                           C->rowptr_type == LSP_I64));
    }
done:
    return status;
}

/* Rows of at most MOST entries in windows of so many words. */
template <typename V, int MOST>
static lsp_status start_window(lsp_ctx *ctx, const spg_job *job, spg_list list, uint32_t words) {
    lsp_status status = LSP_OK;
    const window_shape shape = {words, MOST, MOST <= WINDOW_FEW ? WINDOW_TOGETHER * MOST : MOST * 9 / 4};
    const size_t bytes = shape.bytes(value_kind<V>::valued ? sizeof(V) : 0);
    if (list.count > 0) {
        LSP_TRY(allow_shared(ctx, kernel_window_fill<V, MOST>, bytes));
        LSP_TRY(LSP_LAUNCH(ctx, (kernel_window_fill<V, MOST>), list.count, WARP, bytes, *job, list, shape));
    }
done:
    return status;
}

/* Stripes of columns, and how many pieces there can be at most: two neighbours exceed what one may have, or are
 * of different kinds, or too far apart. */
static bits_plan plan_bits(const lsp_spgemm_plan *plan, int64_t cols, int64_t rows, int64_t *most) {
    bits_plan bits = {};
    const int64_t even = lsp_ceil_div(lsp_max(cols, 1), BITS_STRIPES);
    bits.range = BITS_FILL_RANGE;
    bits.stripe = (uint32_t)lsp_min(lsp_max(lsp_ceil_div(even, BITS_GROUP) * BITS_GROUP, (int64_t)BITS_LEAST_STRIPE),
                                    (int64_t)BITS_FILL_RANGE);
    bits.stripes = (uint32_t)lsp_ceil_div(lsp_max(cols, 1), bits.stripe);
    *most = lsp_min(rows * bits.stripes,
                    6 * (plan->facts.products / PIECE_PRODUCTS + 1) + rows * (2 * lsp_ceil_div(cols, bits.range) + 4));
    return bits;
}

/* Their memory: how many there are of both kinds, then the pieces. */
enum { PIECES_HEAD = 64 };
static int64_t pieces_bytes(int64_t most) { return PIECES_HEAD + 2 * most * (int64_t)sizeof(spg_piece); }
static void use_pieces(bits_plan *bits, void *memory, int64_t most) {
    bits->made = (uint32_t *)memory, bits->sorted_made = bits->made + 1;
    bits->pieces = (spg_piece *)((char *)memory + PIECES_HEAD), bits->sorted = bits->pieces + most;
}

/* Cuts the listed rows, once for all: the plan keeps the pieces if they are small beside C. */
static lsp_status make_pieces(lsp_spgemm_plan *plan, const spg_job *job, spg_list list, ull *taken, bits_plan *bits,
                              int64_t most) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    const int64_t rows = list.count, bytes = pieces_bytes(most);
    const size_t shared = (size_t)lsp_ceil_div(lsp_min(job->cols, bits->count_range), BITS_GROUP) * BITS_GROUP / 8;
    void *kept = NULL, *memory;
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, rows * bits->stripes, sizeof *bits->counts, (void **)&bits->counts));
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, rows * bits->stripes, sizeof *bits->products, (void **)&bits->products));
    if (bytes <= plan->info.nnz / 2) {
        LSP_TRY(lsp_alloc(ctx, LSP_CUDA, bytes, 1, &kept));
        memory = kept;
    } else {
        LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, bytes, 1, &memory));
    }
    LSP_TRY(clear(ctx, memory, PIECES_HEAD));
    use_pieces(bits, memory, most);
    bits->list = list;
    bits->taken = taken;
    LSP_TRY(allow_shared(ctx, kernel_bits_stripes, shared));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_bits_stripes, lsp_min(rows * (1 + job->cols / bits->count_range), SMS * 4),
                       BITS_COUNT_NT, shared, *job, *bits));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_bits_cut, lsp_ceil_div(rows, NT / WARP), NT, 0, *job, *bits));
    plan->gpu.pieces = kept;
    kept = NULL;
done:
    lsp_free(ctx, kept);
    return status;
}

/* Pieces are sorted or done by bits at the same time. */
template <typename V>
static lsp_status start_bits(lsp_spgemm_plan *plan, const spg_job *job, spg_list list, spg_filling *filling) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    int64_t most = 0;
    bits_plan bits = plan_bits(plan, job->cols, list.count, &most);
    const int64_t range = lsp_min(lsp_ceil_div(job->cols, BITS_GROUP) * BITS_GROUP, (int64_t)bits.range);
    const size_t sort_bytes = sizeof(sort_shared<PIECE_G, PIECE_VT, V>);
    const size_t fill_bytes =
        (size_t)(range / 8 + range / BITS_GROUP * 4) + (value_kind<V>::valued ? BITS_FILL_MOST * sizeof(V) : 0);
    if (list.count == 0) {
        return LSP_OK;
    }
    bits.count_range = count_range(ctx);
    if (plan->gpu.pieces) {
        use_pieces(&bits, plan->gpu.pieces, most);
    } else {
        LSP_TRY(make_pieces(plan, job, list, &filling->stripes_taken, &bits, most));
    }
    bits.taken = &filling->pieces_taken;
    LSP_TRY(allow_shared(ctx, kernel_bits_fill<V>, fill_bytes));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_bits_fill<V>, lsp_min(most, SMS * 8), BITS_FILL_NT, fill_bytes, *job, bits));
    LSP_TRY(allow_shared(ctx, kernel_sort_pieces<V>, sort_bytes));
    LSP_TRY(LSP_LAUNCH(ctx, kernel_sort_pieces<V>, lsp_min(most, SMS * 32), PIECE_G, sort_bytes, *job, bits.sorted,
                       bits.sorted_made));
done:
    return status;
}

template <typename V>
static lsp_status fill(lsp_spgemm_plan *plan, const spg_job *job, const bin_lists *lists, spg_filling *filling,
                       lsp_csr *C) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    const uint32_t *bins = plan->gpu.fill_bins;
    LSP_TRY(start_bits<V>(plan, job, list_of(lists, bins, LSP_BIN_BITS), filling));
#define FILL_SORTED(G) LSP_TRY((start_sort<G, 8, V, false>(ctx, job, list_of(lists, bins, LSP_BIN_SORT_##G))))
    LSP_TRY((start_sort<256, 16, V, false>(ctx, job, list_of(lists, bins, LSP_BIN_SORT_512))));
    FILL_SORTED(256);
    FILL_SORTED(128);
    FILL_SORTED(64);
    LSP_TRY((start_hash<10, 512, V>(ctx, job, list_of(lists, bins, LSP_BIN_HASH_512_512))));
    LSP_TRY((start_hash<7, 512, V>(ctx, job, list_of(lists, bins, LSP_BIN_HASH_64_512))));
#define FILL_WINDOW(WIDTH, MOST)                                                                                       \
    LSP_TRY((start_window<V, MOST>(ctx, job, list_of(lists, bins, LSP_BIN_##WIDTH##_##MOST), LSP_WINDOW_##WIDTH)))
    FILL_WINDOW(WIDE, 512);
    FILL_WINDOW(WIDE, 128);
    FILL_WINDOW(NARROW, 512);
    FILL_WINDOW(NARROW, 128);
#undef FILL_WINDOW
#undef FILL_SORTED
    LSP_TRY(fill_short<V>(plan, job, C));
done:
    return status;
}

extern "C" int64_t lsp_spgemm_gpu_fill_bytes(const lsp_spgemm_plan *plan) {
    const lsp_spgemm_gpu *gpu = &plan->gpu;
    int64_t most = 0, rows = gpu->fill_bins[LSP_BIN_BITS];
    const bits_plan bits = plan_bits(plan, lsp_min(plan->facts.cols, (int64_t)INT32_MAX + 1), rows, &most);
    const int64_t listed = list_rows(gpu->fill_bins) * (int64_t)sizeof(uint32_t);
    const int64_t pieces = rows * bits.stripes * 2 * (int64_t)sizeof(uint32_t) + pieces_bytes(most);
    return listed + (gpu->pieces ? 0 : pieces) + 6 * 64;
}

extern "C" lsp_status lsp_spgemm_gpu_fill(lsp_spgemm_plan *plan, const lsp_spgemm_factors *factors, lsp_csr *C) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    size_t mark = lsp_scratch_mark(ctx);
    spg_job job = job_of(plan, factors);
    spg_filling *filling = &report_of(plan)->filling;
    bin_lists lists;
    job.col = C->col;
    job.val = C->val;
    job.wide_col = C->col_type == LSP_I64;
    if (list_rows(plan->gpu.fill_bins) > 0) {
        LSP_TRY(open_part(ctx, filling, sizeof *filling, &plan->gpu.filling));
    }
    LSP_TRY(make_lists<true>(plan, &job, plan->gpu.fill_bins, filling->placed, &lists));
    LSP_TRY(plan->type == LSP_F64   ? fill<double>(plan, &job, &lists, filling, C)
            : plan->type == LSP_F32 ? fill<float>(plan, &job, &lists, filling, C)
                                    : fill<no_value>(plan, &job, &lists, filling, C));
done:
    lsp_scratch_release(ctx, mark);
    return status;
}
