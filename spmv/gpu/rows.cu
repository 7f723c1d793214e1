/* CSR as it is, by rows: chooses the shape of tiles by the mean length of a row, and starts the kernels. */
#include "core/launch.cuh"
#include "kernel_rows.cuh"

/* ---- start ---- */

/* For kernel_dense and kernel_tiles. */
static bool is_dense(const spmv_job *job) {
    return job->semiring == LSP_PLUS_TIMES && job->vectors == 1 && job->x_row == 1 && job->y_row == 1 &&
           !job->careful && job->nnz < INT32_MAX - 1024 && job->rows < INT32_MAX - 1024;
}

template <typename V, typename T> static lsp_status start_lanes(lsp_ctx *ctx, const rows_launch *l, bool *beside) {
    void (*const kernel)(rows_launch) =
        l->job.semiring == LSP_PLUS_TIMES ? kernel_lanes<V, T, true> : kernel_lanes<V, T, false>;
    return LSP_LAUNCH_BESIDE(ctx, beside, kernel, l->tiles, LANES_NT, 0, *l);
}

template <typename V, typename T> static lsp_status start_dense(lsp_ctx *ctx, const rows_launch *l, bool *beside) {
    return by_constant<2, 4, 8, 16, 32>(l->lanes, [&](auto lanes) {
        return LSP_LAUNCH_BESIDE(ctx, beside, (kernel_dense<V, T, decltype(lanes)::value>), l->tiles, LANES_NT, 0, *l);
    });
}

template <typename V, typename T> static lsp_status start_tiles(lsp_ctx *ctx, const rows_launch *l, bool *beside) {
    return by_constant<1, 2, 4, 8>(l->lanes, [&](auto lanes) {
        const size_t shared = 16 + (size_t)l->room * tile_entry_bytes<V>();
        constexpr int n = decltype(lanes)::value;
        void (*kernel)(rows_launch) = l->area.state ? kernel_tiles<V, T, n, true> : kernel_tiles<V, T, n, false>;
        LSP_TRY(lsp_allow_shared(ctx, kernel, shared));
        return LSP_LAUNCH_BESIDE(ctx, beside, kernel, l->tiles, tiles_block<n>::NT, shared, *l);
    });
}

extern "C" lsp_status lsp_spmv_lanes_start(lsp_ctx *ctx, const lsp_spmv_job *given, const spmv_job *job) {
    bool beside = false;
    const spmv_shape shape = lsp_spmv_plain_shape(given);
    const rows_launch l = spmv_launch_of(job, &shape, NULL);
    return SPMV_BY_TYPES(given, start_lanes, (ctx, &l, &beside));
}

/* A caller who asks for rows gets rows. */
static bool may_be_skewed(const lsp_spmv_job *given) { return given->options.method == LSP_SPMV_AUTO; }

/* One vector, or another semiring. area NULL: no list, one kernel does all. */
static lsp_status start_rows(lsp_ctx *ctx, const lsp_spmv_job *given, const spmv_job *job, const spmv_shape *shape,
                             const spmv_area *area, const spmv_memory *memory) {
    bool beside = false;
    rows_launch l = spmv_launch_of(job, shape, area);
    l.pieces = lsp_spmv_equal_pieces(given);
    l.asks = !memory->known && may_be_skewed(given);
    if (l.asks) {
        const int64_t heavy = (int64_t)(SAMPLE_TIMES * lsp_spmv_mean(given) * l.tile_rows) + SAMPLE_MORE;
        LSP_TRY(LSP_LAUNCH_BESIDE(ctx, &beside, kernel_sample, 1, SAMPLE_NT, 0, l, heavy));
    } else if (area) {
        LSP_TRY(lsp_cuda_clear(ctx, area->state, sizeof *area->state));
    }
    return shape->bulk     ? SPMV_BY_TYPES(given, start_tiles, (ctx, &l, &beside))
           : is_dense(job) ? SPMV_BY_TYPES(given, start_dense, (ctx, &l, &beside))
                           : SPMV_BY_TYPES(given, start_lanes, (ctx, &l, &beside));
}

/* ---- engine ---- */

static bool is_many(const lsp_spmv_job *given) {
    return given->options.vectors > 1 && given->options.semiring == LSP_PLUS_TIMES;
}

typedef struct rows_parts {
    spmv_area area; /* state NULL: there are no lists */
    bool fits[2];   /* see lsp_spmv_many_fit */
} rows_parts;

/* Lists are needed where a row, or several in a tile, may be longer than a block should sum alone. */
static bool needs_lists(const lsp_csr *A, int64_t longest, bool many) {
    return A->nnz > SPMV_SMALL &&
           (longest > SPMV_PIECE || (!many && lsp_spmv_is_uneven(longest, (double)A->nnz, (double)A->rows)));
}

static lsp_status prepare(lsp_spmv_plan *plan) {
    rows_parts *parts = NULL;
    LSP_TRY(lsp_spmv_make_parts(plan, sizeof *parts, (void **)&parts));
    if (needs_lists(&plan->job.A, plan->facts.longest_row, is_many(&plan->job))) {
        LSP_TRY(lsp_spmv_area_prepare(plan, lsp_spmv_listed_pieces(&plan->job)));
    } else if (is_many(&plan->job) && plan->job.A.rows > 0) {
        LSP_TRY(lsp_spmv_many_fit(plan->ctx, &plan->job, parts->fits));
    }
    return LSP_OK;
}

/* A call whose row pointers were not seen decides between rows and pieces on the GPU, or remembers. */
static lsp_status run(lsp_ctx *ctx, const lsp_spmv_job *given, void *parts) {
    spmv_job job;
    spmv_area area = {};
    spmv_memory memory = {};
    static const bool unknown[2] = {false, false};
    const rows_parts *prepared = (const rows_parts *)parts;
    const bool has_lists = prepared != NULL && prepared->area.state != NULL;
    const bool *const fits = prepared != NULL ? prepared->fits : given->planned ? unknown : NULL;
    lsp_spmv_gpu_job(ctx, given, &job);
    const spmv_shape shape = is_many(given)   ? lsp_spmv_many_shape(ctx, given, &job)
                             : is_dense(&job) ? lsp_spmv_rows_shape(ctx, given)
                                              : lsp_spmv_plain_shape(given);
    memory.known = given->planned || given->A.nnz <= SPMV_SMALL;
    memory.found = has_lists ? SPMV_LISTED : 0;
    if (has_lists || !memory.known) {
        const int64_t pieces = lsp_max(lsp_spmv_listed_pieces(given), lsp_spmv_equal_pieces(given));
        LSP_TRY(lsp_spmv_area_for(ctx, has_lists ? parts : NULL, pieces, &area));
    }
    if (!memory.known) {
        lsp_spmv_recall(ctx, given, 2 * shape.heavy + may_be_skewed(given), &memory);
    }
    if (!is_many(given) && (memory.found & SPMV_SKEWED) != 0) {
        return lsp_spmv_equal_start(ctx, given, &job, &area);
    }
    const spmv_area *const list = !memory.known || (memory.found & SPMV_LISTED) != 0 ? &area : NULL;
    LSP_TRY(is_many(given) ? lsp_spmv_many_start(ctx, given, &job, &shape, list, &memory, fits)
                           : start_rows(ctx, given, &job, &shape, list, &memory));
    return list ? lsp_spmv_listed_start(ctx, given, &job, list, &memory) : LSP_OK;
}

const lsp_spmv_engine lsp_spmv_rows_cuda = {{}, NULL, prepare, run, NULL};
