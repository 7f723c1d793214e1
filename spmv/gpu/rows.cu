/* CSR as it is, by rows: chooses the shape of tiles by the mean length of a row, and starts the kernels. */
#include "core/launch.cuh"
#include "kernel_rows.cuh"

/* If the sample may leave a kernel nothing to do, each of its blocks is a loss: a block takes up to gated_tiles tiles,
 * but there are blocks enough to fill the GPU. */
static const int gated_tiles = 16, gated_sm_blocks = 24;
static const int small_nnz = 1 << 13; /* below, a list costs more than it saves */

/* ---- start ---- */

/* For kernel_dense and kernel_tiles. */
static bool is_dense(const spmv_job *job) {
    return job->semiring == LSP_PLUS_TIMES && job->vectors == 1 && job->x_row == 1 && job->y_row == 1 &&
           !job->wide_col && !job->gathered && job->nnz < INT32_MAX - 1024 && job->rows < INT32_MAX - 1024;
}

template <typename V, typename T>
static lsp_status start_lanes(lsp_ctx *ctx, const rows_launch *l, int64_t blocks, bool *beside) {
    return l->job.semiring != LSP_PLUS_TIMES
               ? LSP_LAUNCH_BESIDE(ctx, beside, (kernel_lanes<V, T, false>), blocks, LANES_NT, 0, *l)
               : LSP_LAUNCH_BESIDE(ctx, beside, (kernel_lanes<V, T, true>), blocks, LANES_NT, 0, *l);
}

template <typename V, typename T>
static lsp_status start_dense(lsp_ctx *ctx, const rows_launch *l, int64_t blocks, bool *beside) {
    return by_constant<2, 4, 8, 16, 32>(l->lanes, [&](auto lanes) {
        return LSP_LAUNCH_BESIDE(ctx, beside, (kernel_dense<V, T, decltype(lanes)::value>), blocks, LANES_NT, 0, *l);
    });
}

template <typename V, typename T>
static lsp_status start_tiles(lsp_ctx *ctx, const rows_launch *l, int64_t blocks, bool *beside) {
    return by_constant<1, 2, 4>(l->lanes, [&](auto lanes) {
        lsp_status status = LSP_OK;
        const size_t shared = 16 + (size_t)l->room * tile_entry_bytes<V>();
        void (*kernel)(rows_launch) = kernel_tiles<V, T, decltype(lanes)::value>;
        LSP_TRY(lsp_allow_shared(ctx, kernel, shared));
        LSP_TRY(LSP_LAUNCH_BESIDE(ctx, beside, kernel, blocks, l->tile_rows * l->lanes, shared, *l));
    done:
        return status;
    });
}

extern "C" lsp_status lsp_spmv_rows_start(lsp_ctx *ctx, const lsp_spmv_job *given, const spmv_job *job,
                                          const spmv_shape *shape, const spmv_area *area, bool gated) {
    lsp_status status = LSP_OK;
    bool beside = false;
    rows_launch l = {};
    l.job = *job;
    l.area = area ? *area : l.area;
    l.tiles = lsp_ceil_div(job->rows, shape->tile_rows);
    l.pieces = lsp_spmv_equal_pieces(given);
    l.lanes = shape->lanes;
    l.lane_bits = lsp_bits((uint64_t)shape->lanes) - 1;
    l.tile_rows = shape->tile_rows;
    l.room = shape->room;
    l.heavy = shape->heavy;
    l.gated = gated;
    const int64_t filled = l.tiles / ((int64_t)gated_sm_blocks * lsp_cuda_get_chip(ctx)->sms);
    const int64_t each = gated ? lsp_max(lsp_min(filled, gated_tiles), 1) : 1;
    const int64_t blocks = lsp_min(lsp_ceil_div(l.tiles, each), INT32_MAX);
    if (gated) {
        const int64_t heavy = (int64_t)(SAMPLE_TIMES * lsp_spmv_mean(given) * shape->tile_rows) + SAMPLE_MORE;
        LSP_TRY(LSP_LAUNCH_BESIDE(ctx, &beside, kernel_sample, 1, SAMPLE_NT, 0, l, heavy));
    } else if (area) {
        LSP_TRY(lsp_cuda_clear(ctx, area->state, sizeof *area->state));
    }
    LSP_TRY(shape->bulk                    ? SPMV_BY_TYPES(given, start_tiles, (ctx, &l, blocks, &beside))
            : is_dense(job) && l.lanes > 1 ? SPMV_BY_TYPES(given, start_dense, (ctx, &l, l.tiles, &beside))
                                           : SPMV_BY_TYPES(given, start_lanes, (ctx, &l, blocks, &beside)));
    if (area) {
        LSP_TRY(lsp_spmv_listed_start(ctx, given, job, area));
    }
done:
    return status;
}

/* ---- engine ---- */

static bool is_many(const lsp_spmv_job *given) {
    return given->options.vectors > 1 && given->options.semiring == LSP_PLUS_TIMES;
}

/* Lists are needed where a row may be longer than a block should sum alone. A plan knows the longest row. */
static bool needs_list(const lsp_spmv_job *given, const lsp_spmv_facts *facts) {
    return given->A.nnz > small_nnz && (facts == NULL || facts->longest_row > SPMV_PIECE);
}

static lsp_status prepare(lsp_spmv_plan *plan) {
    return needs_list(&plan->job, &plan->facts) ? lsp_spmv_area_prepare(plan, lsp_spmv_listed_pieces(&plan->job))
                                                : LSP_OK;
}

/* A call whose row pointers were not seen decides between rows and pieces on the GPU. */
static lsp_status run(lsp_ctx *ctx, const lsp_spmv_job *given, void *parts) {
    lsp_status status = LSP_OK;
    spmv_shape shape;
    spmv_job job;
    spmv_area area = {};
    const bool lists = parts != NULL || (!given->planned && needs_list(given, NULL));
    const bool gated = lists && parts == NULL && !is_many(given) && given->options.method == LSP_SPMV_AUTO;
    lsp_spmv_rows_shape(ctx, given, &shape);
    lsp_spmv_gpu_job(ctx, given, &job);
    if (!is_dense(&job)) {
        lsp_spmv_plain_shape(given, &shape);
    }
    if (lists) {
        const int64_t pieces = lsp_max(lsp_spmv_listed_pieces(given), gated ? lsp_spmv_equal_pieces(given) : 0);
        LSP_TRY(lsp_spmv_area_for(ctx, parts, pieces, &area));
    }
    LSP_TRY(is_many(given) ? lsp_spmv_many_start(ctx, given, &job, lists ? &area : NULL)
                           : lsp_spmv_rows_start(ctx, given, &job, &shape, lists ? &area : NULL, gated));
done:
    return status;
}

const lsp_spmv_engine lsp_spmv_rows_cuda = {{}, NULL, prepare, run, NULL, NULL};
