/* Walks over tiles of pairs. All pairs: squares of points, for one set those on and above the diagonal. Grid: the
 * points of a cell against those of all cells in reach, copied into a buffer; for one set each pair of cells once. */
#include "cpu.h"

enum { SHARE_QUERIES = 64 }; /* of a cell with many points, dealt out to shares */

typedef struct walk {
    const lsp_ctx *ctx;
    const lsp_pair_job *job;
    const lsp_pair_kernels *kernels;
    lsp_tile_fn do_tile;
    void *data;
    size_t bytes;
    int64_t part_cells, block; /* cells of a part; most queries of a tile */
    char *buffers;             /* of the threads: candidates of a cell */
    size_t buffer_bytes;
    lsp_met met;
} walk;

static void do_tile(walk *w, int thread, const lsp_pair_tile *tile, lsp_met *met) {
    w->do_tile(w->data, thread, tile);
    lsp_meet(met, tile);
}

/* ---- all pairs ---- */

/* Tiles of one set are numbered along the columns of a triangle. */
static int64_t tile_number(const walk *w, int64_t i, int64_t j) {
    return w->job->self ? j * (j + 1) / 2 + i : i * lsp_ceil_div(w->job->clouds[1].n, LSP_PAIR_QUERIES) + j;
}

static void all_of_part(void *data, int64_t part, int thread) {
    walk *w = data;
    const bool self = w->job->self;
    const int64_t side = LSP_PAIR_QUERIES, i = part * side;
    lsp_met met = {0};
    lsp_pair_tile tile = {.queries = lsp_min(side, w->job->clouds[0].n - i)};
    for (int64_t j = self ? i : 0; j < w->job->clouds[1].n && !lsp_stopped(w->ctx); j += side) {
        if (!lsp_pair_has_unit(w->job, tile_number(w, part, j / side))) {
            continue;
        }
        tile.candidates = lsp_min(side, w->job->clouds[1].n - j);
        tile.twice = self && i == j;
        lsp_cloud_from(w->job, &w->job->clouds[0], i, tile.query);
        lsp_cloud_from(w->job, &w->job->clouds[1], j, tile.candidate);
        do_tile(w, thread, &tile, &met);
    }
    lsp_add_met(&w->met, &met);
}

/* ---- grid ---- */

/* The candidates of one cell, in the thread's buffer. */
typedef struct gathering {
    walk *w;
    int thread;
    lsp_pair_tile tile;
    char *buffer[LSP_MOST_DIMENSIONS];
    int64_t cell;
    lsp_met met;
} gathering;

static void flush(gathering *g) {
    if (g->tile.candidates > 0) {
        do_tile(g->w, g->thread, &g->tile, &g->met);
        g->tile.candidates = 0;
    }
}

/* Adds the points of the cells first .. last. With one set, pairs with lower cells were met there. */
static void add_run(void *data, int64_t first, int64_t last) {
    gathering *g = data;
    const walk *w = g->w;
    const lsp_cloud *cloud = &w->job->clouds[1];
    first = w->job->self ? lsp_max(first, g->cell + 1) : first;
    if (first > last) {
        return;
    }
    const int64_t end = cloud->start[last + 1];
    for (int64_t begin = cloud->start[first]; begin < end;) {
        const int64_t n = lsp_min(end - begin, LSP_PAIR_CANDIDATES - g->tile.candidates);
        for (int k = 0; k < w->job->metric.dimensions; k++) {
            w->kernels->copy(g->buffer[k] + (size_t)g->tile.candidates * w->bytes,
                             (const char *)cloud->place[k] + (size_t)begin * w->bytes, n, w->bytes);
        }
        begin += n;
        g->tile.candidates += n;
        if (g->tile.candidates == LSP_PAIR_CANDIDATES) {
            flush(g);
        }
    }
}

/* Sets the queries to the points begin .. end-1 of the cell. */
static void set_queries(gathering *g, int64_t begin, int64_t end) {
    lsp_cloud_from(g->w->job, &g->w->job->clouds[0], begin, g->tile.query);
    g->tile.queries = end - begin;
}

/* Is the i-th block of a cell's queries the share's? */
static bool has_block(const gathering *g, int64_t i) { return lsp_pair_has_uneven(g->w->job, g->cell + i); }

/* Pairs within one cell of one set. */
static void do_own_cell(gathering *g, int64_t begin, int64_t end) {
    const int64_t side = g->w->block;
    for (int64_t i = begin; i < end; i += side) {
        set_queries(g, i, lsp_min(i + side, end));
        for (int64_t j = i; j < end; j += side) {
            if (!has_block(g, (i - begin) / side + (j - begin) / side)) {
                continue;
            }
            lsp_pair_tile tile = g->tile;
            memcpy(tile.candidate, tile.query, sizeof tile.candidate);
            lsp_cloud_from(g->w->job, &g->w->job->clouds[1], j, tile.candidate);
            tile.candidates = lsp_min(side, end - j);
            tile.twice = i == j;
            do_tile(g->w, g->thread, &tile, &g->met);
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
        const int64_t begin = w->job->clouds[0].start[g.cell], end = w->job->clouds[0].start[g.cell + 1];
        if (w->job->self) {
            do_own_cell(&g, begin, end);
        }
        for (int64_t i = begin; i < end; i += w->block) {
            if (!has_block(&g, (i - begin) / w->block)) {
                continue;
            }
            set_queries(&g, i, lsp_min(i + w->block, end));
            lsp_cells_in_reach(w->job, g.cell, add_run, &g);
            flush(&g);
        }
    }
    lsp_add_met(&w->met, &g.met);
}

/* ---- both ---- */

lsp_status lsp_pair_walk(lsp_ctx *ctx, lsp_pair_job *job, lsp_tile_fn do_one, lsp_settle_fn settle, void *data,
                         int64_t *selves) {
    const int threads = lsp_pair_threads(ctx);
    walk w = {.ctx = ctx, .job = job, .kernels = lsp_pair_kernels_of(ctx, job->type), .do_tile = do_one, .data = data};
    w.bytes = lsp_type_bytes(job->type);
    if (job->info.method == LSP_PAIR_BOXES) {
        LSP_TRY(lsp_boxes_walk(ctx, job, do_one, settle, data, &w.met));
    } else if (job->info.method == LSP_PAIR_ALL) {
        LSP_TRY(lsp_try_parts(ctx, lsp_ceil_div(job->sets[0].n, LSP_PAIR_QUERIES), threads, all_of_part, &w));
    } else {
        w.buffer_bytes = (LSP_PAIR_CANDIDATES + LSP_PAIR_PAD) * w.bytes;
        w.block = job->parts > 1 ? SHARE_QUERIES : LSP_PAIR_QUERIES;
        w.part_cells = lsp_max(job->grid.total / (threads * 16), 16);
        LSP_TRY(lsp_scratch_bytes(ctx, threads * job->metric.dimensions, w.buffer_bytes, true, (void **)&w.buffers));
        LSP_TRY(lsp_try_parts(ctx, lsp_ceil_div(job->grid.total, w.part_cells), threads, grid_of_part, &w));
    }
    job->info.tested = w.met.tested;
    *selves = w.met.selves;
    return LSP_OK;
}
