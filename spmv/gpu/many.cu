/* Several vectors, LSP_PLUS_TIMES: chooses the parts of a row of X, and starts the kernel. */
#include "core/launch.cuh"
#include "kernel_many.cuh"

enum { MANY_ROWS = 32 };              /* of a tile, or fewer */
static const double heavy_rows = 256; /* a tile with the entries of this many mean rows goes to the list */

template <typename V, typename T, int E>
static lsp_status start_parts(lsp_ctx *ctx, const many_launch *m, int threads, bool *beside) {
    lsp_status status = LSP_OK;
    const size_t shared = m->rows.room > 0 ? 16 + (size_t)m->rows.room * tile_entry_bytes<V>() : 0;
    LSP_TRY(lsp_allow_shared(ctx, kernel_many<V, T, E>, shared));
    LSP_TRY(
        LSP_LAUNCH_BESIDE(ctx, beside, (kernel_many<V, T, E>), lsp_min(m->rows.tiles, INT32_MAX), threads, shared, *m));
done:
    return status;
}

template <typename V, typename T>
static lsp_status start(lsp_ctx *ctx, const many_launch *m, bool whole, int threads, bool *beside) {
    return whole ? start_parts<V, T, 16 / sizeof(T)>(ctx, m, threads, beside)
                 : start_parts<V, T, 1>(ctx, m, threads, beside);
}

/* Are rows of X made of whole parts of 16 bytes? */
static bool has_whole_parts(const lsp_spmv_job *given, const spmv_job *job) {
    const int64_t item = (int64_t)lsp_type_bytes(given->options.type);
    return job->x_vector == 1 && (uintptr_t)job->x % 16 == 0 && job->x_row * item % 16 == 0 &&
           job->vectors * item % 16 == 0;
}

extern "C" lsp_status lsp_spmv_many_start(lsp_ctx *ctx, const lsp_spmv_job *given, const spmv_job *job,
                                          const spmv_area *area) {
    lsp_status status = LSP_OK;
    const double mean = lsp_spmv_mean(given);
    const bool whole = has_whole_parts(given, job);
    const int64_t each = whole ? 16 / (int64_t)lsp_type_bytes(given->options.type) : 1;
    bool beside = false;
    many_launch m = {};
    m.parts = lsp_ceil_div(job->vectors, each);
    m.rows.job = *job;
    m.rows.area = area ? *area : m.rows.area;
    m.rows.lanes = (int)lsp_min(m.parts, MANY_NT);
    m.rows.tile_rows = (int)lsp_min(MANY_ROWS, MANY_NT / m.rows.lanes);
    m.rows.tiles = lsp_ceil_div(job->rows, m.rows.tile_rows);
    m.rows.heavy = lsp_max((int64_t)(heavy_rows * mean), 4 * SPMV_PIECE);
    if (lsp_spmv_takes_bulk(ctx, given)) {
        m.rows.room = (int)lsp_min((int64_t)(1.15 * mean * m.rows.tile_rows) + 48, SPMV_PIECE) / 4 * 4;
    }
    if (area) {
        LSP_TRY(lsp_cuda_clear(ctx, area->state, sizeof *area->state));
    }
    LSP_TRY(SPMV_BY_TYPES(given, start, (ctx, &m, whole, m.rows.tile_rows * m.rows.lanes, &beside)));
    if (area) {
        LSP_TRY(lsp_spmv_listed_start(ctx, given, job, area));
    }
done:
    return status;
}
