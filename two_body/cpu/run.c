/* Counts and histograms on the CPU: each thread counts tiles for itself, in sums for tiles that meet a pair once and in
 * sums for those that meet it twice. */
#include "cpu.h"

/* counts[i] = what all threads have in sums[thread][twice or once][i], for i < n. In the first `met` counters points
 * met themselves. */
static void add_up(const lsp_ctx *ctx, const uint64_t *sums, int64_t n, int64_t selves, int64_t met, uint64_t *counts) {
    for (int64_t i = 0; i < n; i++) {
        uint64_t once = 0, twice = 0;
        for (int64_t t = 0; t < lsp_pair_threads(ctx); t++) {
            once += sums[t * 2 * n + i];
            twice += sums[(t * 2 + 1) * n + i];
        }
        counts[i] = once + (twice - (i < met ? (uint64_t)selves : 0)) / 2;
    }
}

/* ---- within radii ---- */

typedef struct counting {
    const lsp_pair_job *job;
    const lsp_pair_kernels *kernels;
    const double *limits;
    int64_t radii;
    uint64_t *sums; /* thread, twice or once, radius */
} counting;

static void count_tile(void *data, int thread, const lsp_pair_tile *tile) {
    const counting *c = data;
    uint64_t *sums = c->sums + (thread * 2 + tile->twice) * c->radii;
    for (int64_t k = 0; k < c->radii; k += LSP_RADII) {
        c->kernels->count(&c->job->metric, tile, c->limits + k, (int)lsp_min(c->radii - k, LSP_RADII), sums + k);
    }
}

static bool settle_count(void *data, int thread, int64_t pairs, bool twice, double low, double high) {
    const counting *c = data;
    uint64_t *sums = c->sums + (thread * 2 + twice) * c->radii;
    for (int64_t k = 0; k < c->radii; k++) {
        if (low <= c->limits[k] && high > c->limits[k]) {
            return false;
        }
    }
    for (int64_t k = 0; k < c->radii; k++) {
        sums[k] += high <= c->limits[k] ? (uint64_t)pairs : 0;
    }
    return true;
}

static lsp_status count(lsp_ctx *ctx, lsp_pair_job *job, const double *limits, int64_t radii, uint64_t *counts) {
    counting c = {job, lsp_pair_kernels_of(ctx, job->type), limits, radii, NULL};
    int64_t selves;
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, lsp_pair_threads(ctx) * 2 * radii, &c.sums));
    LSP_TRY(lsp_pair_walk(ctx, job, count_tile, settle_count, &c, &selves));
    add_up(ctx, c.sums, radii, selves, radii, counts);
    return LSP_OK;
}

/* ---- histogram ---- */

typedef struct binning {
    const lsp_pair_job *job;
    const lsp_pair_kernels *kernels;
    double scale;
    int64_t bins, items; /* items of a table */
    int copies;
    uint32_t *tables; /* thread, once or twice, bin, copy */
    uint64_t *sums;   /* thread, once or twice, bin */
    int64_t *waiting; /* pairs in the tables of a thread: their counters have 32 bits */
} binning;

static void empty_table(const binning *b, int64_t number) {
    uint32_t *table = b->tables + number * b->items;
    uint64_t *sums = b->sums + number * b->bins;
    for (int64_t i = 0; i < b->bins; i++) {
        for (int c = 0; c < b->copies; c++) {
            sums[i] += table[i * b->copies + c];
        }
    }
    memset(table, 0, (size_t)b->items * sizeof *table);
    b->waiting[number] = 0;
}

static void bin_tile(void *data, int thread, const lsp_pair_tile *tile) {
    const binning *b = data;
    const int64_t number = thread * 2 + tile->twice, pairs = tile->queries * tile->candidates;
    if (b->waiting[number] + pairs > UINT32_MAX) {
        empty_table(b, number);
    }
    b->waiting[number] += pairs;
    b->kernels->histogram(&b->job->metric, tile, b->scale, (uint32_t)b->bins, b->copies, b->tables + number * b->items);
}

static bool settle_bin(void *data, int thread, int64_t pairs, bool twice, double low, double high) {
    const binning *b = data;
    const bool narrow = b->job->type == LSP_F32;
    const double first = narrow ? lsp_bin_f32((float)low, (float)b->scale) : lsp_bin_f64(low, b->scale);
    const double last = narrow ? lsp_bin_f32((float)high, (float)b->scale) : lsp_bin_f64(high, b->scale);
    if (first == last && last < (double)b->bins) {
        b->sums[(thread * 2 + twice) * b->bins + (int64_t)last] += (uint64_t)pairs;
    }
    return first == last || first >= (double)b->bins;
}

static lsp_status histogram(lsp_ctx *ctx, lsp_pair_job *job, double scale, int64_t bins, uint64_t *counts) {
    const int64_t tables = lsp_pair_threads(ctx) * 2;
    int64_t selves;
    binning b = {.job = job, .kernels = lsp_pair_kernels_of(ctx, job->type), .scale = scale, .bins = bins};
    b.copies = bins <= 512 ? LSP_BIN_COPIES
                           : 1; /* copies keep neighbours out of one counter, while all fit half of the L1 cache */
    b.items = lsp_ceil_div((bins + 1) * b.copies, 16) * 16;
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, tables * b.items, &b.tables));
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, tables * bins, &b.sums));
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, tables, &b.waiting));
    LSP_TRY(lsp_pair_walk(ctx, job, bin_tile, settle_bin, &b, &selves));
    for (int64_t t = 0; t < tables; t++) {
        empty_table(&b, t);
    }
    add_up(ctx, b.sums, bins, selves, 1, counts); /* at distance 0 */
    return LSP_OK;
}

/* Costs tuned 2026-11-26, AMD EPYC with AVX-512 (docs/measurements/two_body.md). Vectors are seldom full. */
const lsp_pair_device lsp_pair_cpu = {.look = lsp_pair_look_cpu,
                                      .sort = lsp_pair_sort_cpu,
                                      .count = count,
                                      .histogram = histogram,
                                      .join = lsp_radius_join_cpu,
                                      .nearest = lsp_nearest_cpu,
                                      .density = lsp_kernel_density_cpu,
                                      .costs = {.point = 100,
                                                .run = 40,
                                                .candidate = 1.6,
                                                .binned = 1.6,
                                                .cell_points = 6,
                                                .box_point = 2000,
                                                .box_pair = 1.6,
                                                .leaf_points = 45}};
