/* Several vectors, LSP_PLUS_TIMES: chooses the parts of a row of X, and starts the kernel. */
#include "core/launch.cuh"
#include "kernel_many.cuh"
#include "spmv/bodies.h"

static const double short_mean = 12;  /* up to this many entries a row: tiles have more rows */
static const double heavy_rows = 256; /* a tile with the entries of this many mean rows goes to the list */

static bool is_long(const spmv_job *job) { return (double)job->nnz > short_mean * (double)job->rows; }

/* For kernel_many_tiles, if tiles fit in shared memory. */
static bool suits_tiles(const many_launch *m) {
    const spmv_job *job = &m->rows.job;
    return m->rows.room > 0 && m->rows.lanes == m->parts && job->nnz < INT32_MAX - 1024 && job->rows < INT32_MAX - 1024;
}

template <typename V, typename T, int E>
static lsp_status start_parts(lsp_ctx *ctx, const many_launch *m, bool *beside) {
    const rows_launch *l = &m->rows;
    const auto kernel = !m->short_kernel   ? kernel_many<V, T, E>
                        : is_long(&l->job) ? kernel_many_tiles<V, T, E, true>
                                           : kernel_many_tiles<V, T, E, false>;
    const size_t shared = l->room > 0 ? 16 + (size_t)l->room * tile_entry_bytes<V>() : 0;
    LSP_TRY(lsp_allow_shared(ctx, kernel, shared));
    return LSP_LAUNCH_BESIDE(ctx, beside, kernel, l->tiles, l->tile_rows * l->lanes, shared, *m);
}

template <typename V, typename T>
static lsp_status start(lsp_ctx *ctx, const many_launch *m, bool whole, bool *beside) {
    return whole ? start_parts<V, T, 16 / sizeof(T)>(ctx, m, beside) : start_parts<V, T, 1>(ctx, m, beside);
}

/* Do rows of X, or Y, consist of whole parts of 16 bytes? */
static bool has_parts(const spmv_job *job, int64_t item, const void *at, int64_t row, int64_t vector) {
    return vector == 1 && (uintptr_t)at % 16 == 0 && row * item % 16 == 0 && job->vectors * item % 16 == 0;
}

/* Elements of a part of a row of X. */
static int64_t part_of(const lsp_spmv_job *given, const spmv_job *job) {
    const int64_t item = (int64_t)lsp_type_bytes(given->options.type);
    return has_parts(job, item, job->x, job->x_row, job->x_vector) ? 16 / item : 1;
}

static spmv_shape shape_of(lsp_ctx *ctx, const lsp_spmv_job *given, bool careful, int64_t part) {
    const double mean = lsp_spmv_mean(given);
    spmv_shape shape = {};
    shape.lanes = (int)lsp_min(lsp_ceil_div(given->options.vectors, part), MANY_NT);
    shape.tile_rows = lsp_min(mean <= short_mean ? 64 : 32, MANY_NT / shape.lanes);
    shape.heavy = lsp_max((int64_t)(heavy_rows * mean), 4 * SPMV_PIECE);
    if (lsp_spmv_takes_bulk(ctx, given) && !careful) {
        shape.room = (int)lsp_min((int64_t)(1.15 * mean * shape.tile_rows) + 48, 2 * SPMV_PIECE) / 4 * 4;
    }
    return shape;
}

extern "C" spmv_shape lsp_spmv_many_shape(lsp_ctx *ctx, const lsp_spmv_job *given, const spmv_job *job) {
    return shape_of(ctx, given, job->careful, part_of(given, job));
}

extern "C" lsp_status lsp_spmv_many_fit(lsp_ctx *ctx, const lsp_spmv_job *given, bool fits[2]) {
    const int64_t item = (int64_t)lsp_type_bytes(given->options.type), rows = given->A.rows;
    const spmv_shape shapes[2] = {shape_of(ctx, given, false, 1), shape_of(ctx, given, false, 16 / item)};
    const lsp_spmv_tiling tiling = {given->A, {shapes[0].tile_rows, shapes[1].tile_rows}};
    lsp_found fullest;
    lsp_each_job tiles = lsp_each_of(&tiling, lsp_ceil_div(rows, lsp_min(tiling.rows[0], tiling.rows[1])));
    tiles.kind.index = given->A.rowptr_type;
    tiles.found = &fullest;
    LSP_TRY(LSP_EACH(ctx, LSP_CUDA, spmv_tile_room, tiles));
    for (int wide = 0; wide < 2; wide++) {
        fits[wide] = LSP_NOWHERE - fullest.first[wide] <= (uint64_t)shapes[wide].room;
    }
    return LSP_OK;
}

extern "C" lsp_status lsp_spmv_many_start(lsp_ctx *ctx, const lsp_spmv_job *given, const spmv_job *job,
                                          const spmv_shape *shape, const spmv_area *area, const spmv_memory *memory,
                                          const bool fits[2]) {
    const int64_t part = part_of(given, job);
    bool beside = false;
    many_launch m = {};
    m.parts = lsp_ceil_div(job->vectors, part);
    m.y_in_parts = has_parts(job, (int64_t)lsp_type_bytes(given->options.type), job->y, job->y_row, job->y_vector);
    m.rows = spmv_launch_of(job, shape, area);
    m.short_kernel = memory->known && memory->found == 0 && (fits == NULL || fits[part > 1]) && suits_tiles(&m);
    LSP_TRY(area ? lsp_cuda_clear(ctx, area->state, sizeof *area->state) : LSP_OK);
    return SPMV_BY_TYPES(given, start, (ctx, &m, part > 1, &beside));
}
