/* Walks over tiles of pairs. All pairs: squares of points, for one set those on and above the diagonal. Grid: the
 * points of a cell against those of all cells in reach, copied into a buffer; for one set each pair of cells once. */
#include "cpu.h"

typedef struct walk {
    const lsp_ctx *ctx;
    const lsp_pair_job *job;
    lsp_cloud clouds[2]; /* the same for one set */
    const lsp_pair_kernels *kernels;
    lsp_tile_fn do_tile;
    void *data;
    size_t bytes;
    int64_t part_cells;
    char *buffers; /* of the threads: candidates of a cell */
    size_t buffer_bytes;
    int64_t tested;
} walk;

static void do_tile(walk *w, int thread, const lsp_pair_tile *tile, int64_t *tested) {
    w->do_tile(w->data, thread, tile);
    *tested += tile->twice ? tile->queries * (tile->queries - 1) / 2 : tile->queries * tile->candidates;
}

static const void *place_at(const walk *w, const lsp_cloud *cloud, int k, int64_t i) {
    return (const char *)cloud->place[k] + (size_t)i * w->bytes;
}

/* ---- all pairs ---- */

static void all_of_part(void *data, int64_t part, int thread) {
    walk *w = data;
    const bool self = w->job->self;
    const int64_t side = LSP_PAIR_QUERIES, i = part * side;
    int64_t tested = 0;
    lsp_pair_tile tile = {.queries = lsp_min(side, w->clouds[0].n - i)};
    for (int64_t j = self ? i : 0; j < w->clouds[1].n && !lsp_stopped(w->ctx); j += side) {
        tile.candidates = lsp_min(side, w->clouds[1].n - j);
        tile.twice = self && i == j;
        for (int k = 0; k < w->job->metric.dimensions; k++) {
            tile.query[k] = place_at(w, &w->clouds[0], k, i);
            tile.candidate[k] = place_at(w, &w->clouds[1], k, j);
        }
        do_tile(w, thread, &tile, &tested);
    }
    __atomic_fetch_add(&w->tested, tested, __ATOMIC_RELAXED);
}

/* ---- grid ---- */

/* The candidates of one cell, in the thread's buffer. */
typedef struct gathering {
    walk *w;
    int thread;
    lsp_pair_tile tile;
    char *buffer[LSP_MOST_DIMENSIONS];
    int64_t cell, tested;
} gathering;

static void flush(gathering *g) {
    if (g->tile.candidates > 0) {
        do_tile(g->w, g->thread, &g->tile, &g->tested);
        g->tile.candidates = 0;
    }
}

/* Adds the points of the cells first .. last. With one set, pairs with lower cells were met there. */
static void add_run(void *data, int64_t first, int64_t last) {
    gathering *g = data;
    const walk *w = g->w;
    const lsp_cloud *cloud = &w->clouds[1];
    first = w->job->self ? lsp_max(first, g->cell + 1) : first;
    if (first > last) {
        return;
    }
    const int64_t end = cloud->start[last + 1];
    for (int64_t begin = cloud->start[first]; begin < end;) {
        const int64_t n = lsp_min(end - begin, LSP_PAIR_CANDIDATES - g->tile.candidates);
        for (int k = 0; k < w->job->metric.dimensions; k++) {
            w->kernels->copy(g->buffer[k] + (size_t)g->tile.candidates * w->bytes, place_at(w, cloud, k, begin), n,
                             w->bytes);
        }
        begin += n;
        g->tile.candidates += n;
        if (g->tile.candidates == LSP_PAIR_CANDIDATES) {
            flush(g);
        }
    }
}

/* Sets the queries to up to LSP_PAIR_QUERIES points of the cell from `begin`. */
static void set_queries(gathering *g, int64_t begin, int64_t end) {
    for (int k = 0; k < g->w->job->metric.dimensions; k++) {
        g->tile.query[k] = place_at(g->w, &g->w->clouds[0], k, begin);
    }
    g->tile.queries = end - begin;
}

/* Pairs within one cell of one set. */
static void do_own_cell(gathering *g, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += LSP_PAIR_QUERIES) {
        set_queries(g, i, lsp_min(i + LSP_PAIR_QUERIES, end));
        for (int64_t j = i; j < end; j += LSP_PAIR_QUERIES) {
            lsp_pair_tile tile = g->tile;
            memcpy(tile.candidate, tile.query, sizeof tile.candidate);
            for (int k = 0; k < g->w->job->metric.dimensions; k++) {
                tile.candidate[k] = place_at(g->w, &g->w->clouds[1], k, j);
            }
            tile.candidates = lsp_min(LSP_PAIR_QUERIES, end - j);
            tile.twice = i == j;
            do_tile(g->w, g->thread, &tile, &g->tested);
        }
    }
}

static void grid_of_part(void *data, int64_t part, int thread) {
    walk *w = data;
    const lsp_pair_grid *grid = &w->job->grid;
    gathering g = {.w = w, .thread = thread};
    for (int k = 0; k < w->job->metric.dimensions; k++) {
        g.buffer[k] = w->buffers + (size_t)thread * w->buffer_bytes * (size_t)w->job->metric.dimensions +
                      (size_t)k * w->buffer_bytes;
        g.tile.candidate[k] = g.buffer[k];
    }
    const int64_t end_cell = lsp_min((part + 1) * w->part_cells, grid->total);
    for (g.cell = part * w->part_cells; g.cell < end_cell && !lsp_stopped(w->ctx); g.cell++) {
        const int64_t begin = w->clouds[0].start[g.cell], end = w->clouds[0].start[g.cell + 1];
        if (w->job->self) {
            do_own_cell(&g, begin, end);
        }
        for (int64_t i = begin; i < end; i += LSP_PAIR_QUERIES) {
            set_queries(&g, i, lsp_min(i + LSP_PAIR_QUERIES, end));
            lsp_cells_in_reach(w->job, g.cell, add_run, &g);
            flush(&g);
        }
    }
    __atomic_fetch_add(&w->tested, g.tested, __ATOMIC_RELAXED);
}

/* ---- both ---- */

lsp_status lsp_pair_walk(lsp_ctx *ctx, lsp_pair_job *job, lsp_tile_fn do_one, lsp_settle_fn settle, void *data) {
    lsp_status status = LSP_OK;
    const int threads = lsp_pair_threads(ctx);
    const size_t mark = lsp_scratch_mark(ctx);
    walk w = {.ctx = ctx, .job = job, .kernels = lsp_pair_kernels_of(ctx, job->type), .do_tile = do_one, .data = data};
    w.bytes = lsp_type_bytes(job->type);
    LSP_TRY(lsp_clouds_load(ctx, job, w.clouds));
    if (job->info.method == LSP_PAIR_BOXES) {
        LSP_TRY(lsp_boxes_walk(ctx, job, w.clouds, do_one, settle, data));
        goto done;
    }
    if (job->info.method == LSP_PAIR_ALL) {
        LSP_TRY(lsp_try_parts(ctx, lsp_ceil_div(w.clouds[0].n, LSP_PAIR_QUERIES), threads, all_of_part, &w));
    } else {
        w.buffer_bytes = (LSP_PAIR_CANDIDATES + LSP_PAIR_PAD) * w.bytes;
        w.part_cells = lsp_max(job->grid.total / (threads * 16), 16);
        LSP_TRY(lsp_scratch_bytes(ctx, threads * job->metric.dimensions, w.buffer_bytes, true, (void **)&w.buffers));
        LSP_TRY(lsp_try_parts(ctx, lsp_ceil_div(job->grid.total, w.part_cells), threads, grid_of_part, &w));
    }
    job->info.tested = w.tested;
done:
    lsp_scratch_release(ctx, mark);
    return status;
}
