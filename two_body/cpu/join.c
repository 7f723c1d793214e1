/* The radius join on the CPU: count the hits of each row, add up, fill. The candidates of a cell are sorted by number
 * once, for all its points; so rows come out in order. */
#include "cpu.h"
#include "segsort/segsort.h"

enum { ROWS_OF_PART = 64 }; /* of all pairs */

/* What a thread needs for one cell: its candidates and the hits of a row. */
typedef struct desk {
    uint64_t *words, *spare; /* number of a candidate, place in the cloud */
    char *place[LSP_MOST_DIMENSIONS];
    int32_t *id, *col;
    void *val;
    int64_t n; /* candidates */
} desk;

typedef struct joining {
    const lsp_ctx *ctx;
    const lsp_pair_job *job;
    const lsp_join_options *options;
    const lsp_pair_kernels *kernels;
    const lsp_segsort_kernels *sorts;
    double limit;
    size_t bytes;
    int64_t part_cells, most; /* most candidates of a cell */
    desk *desks;
    int64_t *rowptr; /* first the hits of row i in rowptr[i + 1], then where rows begin */
    lsp_csr *C;      /* NULL while hits are counted */
    int64_t tested;
} joining;

/* ---- a row ---- */

/* Does the order of the candidates matter? While whole rows are counted it does not. */
static bool needs_order(const joining *j) { return j->C != NULL || j->options->half; }

/* Counts row `row` whole: query i of the tile. */
static void count_row(const joining *j, const lsp_pair_tile *tile, int64_t i, int64_t row) {
    lsp_pair_tile one = *tile;
    uint64_t hits = 0;
    one.queries = 1;
    for (int k = 0; k < j->job->metric.dimensions; k++) {
        one.query[k] = (const char *)tile->query[k] + (size_t)i * j->bytes;
    }
    j->kernels->count(&j->job->metric, &one, &j->limit, 1, &hits);
    const int64_t point = row + j->job->shift;
    const bool met = j->job->own && !j->options->self_pairs && point >= 0 && point < j->job->clouds[1].n;
    j->rowptr[row + 1] = (int64_t)hits - met; /* the point itself */
}

/* Counts or writes row `row`: query i of the tile, whose candidates ascend by number. */
static void do_row(joining *j, desk *d, const lsp_pair_tile *tile, const int32_t *id, int64_t i, int64_t row) {
    if (!needs_order(j)) {
        count_row(j, tile, i, row);
        return;
    }
    const bool half = j->options->half, skips = j->job->own && !j->options->self_pairs;
    const int64_t n = tile->candidates, point = row + j->job->shift;
    const int64_t own = half || skips ? LSP_FIRST((int64_t)0, n, k, id[k] >= point) : 0;
    const bool skip = skips && own < n && id[own] == point;
    const bool value = j->C != NULL && j->options->values != LSP_JOIN_PATTERN;
    int64_t hits = 0;
    if (!half) { /* the candidates before the point itself, or all */
        hits = j->kernels->hits(&j->job->metric, tile, i, 0, skip ? own : n, j->limit, id, j->options->values, d->col,
                                value ? d->val : NULL);
    }
    if (half || skip) {
        hits += j->kernels->hits(&j->job->metric, tile, i, own + skip, n, j->limit, id, j->options->values,
                                 d->col + hits, value ? (char *)d->val + (size_t)hits * j->bytes : NULL);
    }
    if (j->C == NULL) {
        j->rowptr[row + 1] = hits;
    } else if (hits > 0) {
        const size_t start = (size_t)j->rowptr[row];
        memcpy((int32_t *)j->C->col + start, d->col, (size_t)hits * sizeof *d->col);
        if (value) {
            memcpy((char *)j->C->val + start * j->bytes, d->val, (size_t)hits * j->bytes);
        }
    }
}

/* ---- candidates ---- */

typedef struct adding {
    const joining *j;
    desk *desk; /* NULL: only count */
    int64_t n;
} adding;

static void add_run(void *data, int64_t first, int64_t last) {
    adding *a = data;
    const lsp_cloud *cloud = &a->j->job->clouds[1];
    const int64_t begin = cloud->start[first], end = cloud->start[last + 1];
    if (a->desk != NULL && needs_order(a->j)) {
        for (int64_t p = begin; p < end; p++) {
            a->desk->words[a->n + p - begin] = (uint64_t)(uint32_t)cloud->id[p] << 32 | (uint32_t)p;
        }
    } else if (a->desk != NULL) {
        for (int k = 0; k < a->j->job->metric.dimensions; k++) {
            a->j->kernels->copy(a->desk->place[k] + (size_t)a->n * a->j->bytes,
                                (const char *)cloud->place[k] + (size_t)begin * a->j->bytes, end - begin, a->j->bytes);
        }
    }
    a->n += end - begin;
}

/* Brings the candidates of a cell to the desk, in the order of their numbers if that matters. */
static void gather_cell(joining *j, desk *d, int64_t cell) {
    const lsp_cloud *cloud = &j->job->clouds[1];
    adding a = {j, d, 0};
    lsp_cells_in_reach(j->job, cell, add_run, &a);
    d->n = a.n;
    if (!needs_order(j)) {
        return;
    }
    const int high = 32 + lsp_bits((uint64_t)cloud->n);
    const uint64_t *words = j->sorts->sort[LSP_WORD_64](d->words, d->spare, d->n, 32, high);
    for (int64_t c = 0; c < d->n; c++) {
        d->id[c] = (int32_t)(words[c] >> 32);
    }
    for (int k = 0; k < j->job->metric.dimensions; k++) {
        for (int64_t c = 0; c < d->n && j->bytes == 4; c++) {
            ((uint32_t *)(void *)d->place[k])[c] = ((const uint32_t *)cloud->place[k])[(uint32_t)words[c]];
        }
        for (int64_t c = 0; c < d->n && j->bytes == 8; c++) {
            ((double *)(void *)d->place[k])[c] = ((const double *)cloud->place[k])[(uint32_t)words[c]];
        }
    }
}

/* ---- parts ---- */

static void grid_part(void *data, int64_t part, int thread) {
    joining *j = data;
    desk *d = &j->desks[thread];
    const int64_t end_cell = lsp_min((part + 1) * j->part_cells, j->job->grid.total);
    int64_t tested = 0;
    lsp_pair_tile tile = {0};
    for (int k = 0; k < j->job->metric.dimensions; k++) {
        tile.query[k] = j->job->clouds[0].place[k];
        tile.candidate[k] = d->place[k];
    }
    for (int64_t cell = part * j->part_cells; cell < end_cell && !lsp_stopped(j->ctx); cell++) {
        const int64_t begin = j->job->clouds[0].start[cell], end = j->job->clouds[0].start[cell + 1];
        if (begin < end) {
            gather_cell(j, d, cell);
            tile.candidates = d->n;
        }
        for (int64_t i = begin; i < end; i++) {
            do_row(j, d, &tile, d->id, i, j->job->clouds[0].id[i]);
        }
        tested += begin < end ? (end - begin) * d->n : 0;
    }
    __atomic_fetch_add(&j->tested, tested, __ATOMIC_RELAXED);
}

/* All pairs: the candidates are the whole cloud, and their numbers stand in the first desk. */
static void all_part(void *data, int64_t part, int thread) {
    joining *j = data;
    const int64_t begin = part * ROWS_OF_PART, end = lsp_min(begin + ROWS_OF_PART, j->job->clouds[0].n);
    lsp_pair_tile tile = {.candidates = j->job->clouds[1].n};
    memcpy(tile.query, j->job->clouds[0].place, sizeof tile.query);
    memcpy(tile.candidate, j->job->clouds[1].place, sizeof tile.candidate);
    for (int64_t i = begin; i < end && !lsp_stopped(j->ctx); i++) {
        do_row(j, &j->desks[thread], &tile, j->desks[0].id, i, i);
    }
    __atomic_fetch_add(&j->tested, (end - begin) * j->job->clouds[1].n, __ATOMIC_RELAXED);
}

static void find_most(void *data, int64_t begin, int64_t end) {
    joining *j = data;
    int64_t most = 0;
    for (int64_t cell = begin; cell < end; cell++) {
        adding a = {j, NULL, 0};
        if (j->job->clouds[0].start[cell] < j->job->clouds[0].start[cell + 1]) {
            lsp_cells_in_reach(j->job, cell, add_run, &a);
            most = lsp_max(most, a.n);
        }
    }
    for (int64_t seen = __atomic_load_n(&j->most, __ATOMIC_RELAXED);
         seen < most &&
         !__atomic_compare_exchange_n(&j->most, &seen, most, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);) {
    }
}

/* A desk for each thread. */
static lsp_status make_desks(lsp_ctx *ctx, joining *j, bool grid) {
    const int64_t room = j->most + LSP_PAIR_PAD;
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, lsp_pair_threads(ctx), &j->desks));
    for (int t = 0; t < lsp_pair_threads(ctx); t++) {
        desk *d = &j->desks[t];
        LSP_TRY(LSP_SCRATCH(ctx, room, &d->col));
        LSP_TRY(lsp_scratch_bytes(ctx, room, j->bytes, false, &d->val));
        if (grid || t == 0) {
            LSP_TRY(LSP_SCRATCH_ZERO(ctx, room, &d->id));
        }
        for (int k = 0; grid && k < j->job->metric.dimensions; k++) {
            LSP_TRY(lsp_scratch_bytes(ctx, room, j->bytes, true, (void **)&d->place[k]));
        }
        if (grid) {
            LSP_TRY(LSP_SCRATCH(ctx, j->most + LSP_WORD_PAD, &d->words));
            LSP_TRY(LSP_SCRATCH(ctx, j->most + LSP_WORD_PAD, &d->spare));
        }
    }
    for (int64_t i = 0; i < j->most && !grid; i++) {
        j->desks[0].id[i] = (int32_t)i;
    }
    return LSP_OK;
}

lsp_status lsp_radius_join_cpu(lsp_ctx *ctx, lsp_pair_job *job, double limit, const lsp_join_options *options,
                               lsp_csr *C) {
    const bool grid = job->info.method == LSP_PAIR_GRID;
    const int threads = lsp_pair_threads(ctx);
    const int64_t rows = job->sets[0].n, cols = job->sets[1].n;
    joining j = {
        .ctx = ctx, .job = job, .options = options, .limit = limit, .bytes = lsp_type_bytes(job->type), .most = cols};
    j.kernels = lsp_pair_kernels_of(ctx, job->type);
    j.sorts = lsp_segsort_get_kernels(ctx);
    if (grid) {
        j.most = 0;
        lsp_for_shares(ctx, job->grid.total, 1 << 14, find_most, &j);
    }
    LSP_TRY(make_desks(ctx, &j, grid));
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, rows + 1, &j.rowptr));
    j.part_cells = lsp_max(job->grid.total / (threads * 16), 16);
    const int64_t parts = grid ? lsp_ceil_div(job->grid.total, j.part_cells) : lsp_ceil_div(rows, ROWS_OF_PART);
    LSP_TRY(lsp_try_parts(ctx, parts, threads, grid ? grid_part : all_part, &j));
    lsp_prefix_sum(ctx, j.rowptr, rows);
    const lsp_csr_types types = lsp_join_types(job, options->values, LSP_HOST);
    LSP_TRY(lsp_csr_create_rows(ctx, rows, cols, j.rowptr, &types, C));
    j.C = C;
    job->info.tested = j.tested;
    return lsp_try_parts(ctx, parts, threads, grid ? grid_part : all_part, &j);
}
