/* Strategies that move every element more than once. Seconds = bytes of each phase / (copy rate * the share of it that
 * such a phase reaches). Runs that are shorter than a line fetch more bytes than they use; runs that are written touch
 * more sectors than they fill. */
#include "cache_model.h"
#include <math.h>

/* What a device reaches. GPU: one H200; CPU: two cores of a Zen 4 EPYC, 2026-11-24. `sparse-bench gather` and `scatter`
 * print predicted and measured times, to fit the terms again. */
typedef struct terms {
    double tile_share;  /* of stage_bytes: a tile or bin at most */
    double most_tile;   /* elements: places in a tile have 16 bits */
    double contiguous;  /* share of the copy rate: a phase that reads and writes contiguously, */
    double runs;        /* one that reads runs, */
    double ranked;      /* one that ranks items by bin, and waits for each rank */
    double block_items; /* items among which a partition makes its runs */
    double one_level;   /* bins that a partition tells apart at once */
    double stage_bytes; /* moved to make a stage plan, an element */
    double plan_starts; /* kernels of a plan */
} terms;
static const terms device_terms[] = {
    [LSP_HOST] = {0.5, 1 << 16, 0.8, 0.8, 0.6, 1 << 20, 1 << 12, 150, 4},
    [LSP_CUDA] = {0.99, 1 << 16, 0.88, 0.80, 0.75, 4096, 256, 60, 12},
};

static const terms *terms_of(const lsp_cache_figures *f) { return &device_terms[f->where]; }

/* Bytes that runs of `run` bytes fetch in units, a byte used: a run begins anywhere. */
static double waste(double run, double unit, double bytes) {
    return run >= 64 * unit ? 1 : (run + fmax(unit - bytes, 0)) / run;
}

/* ---- stage ---- */

static double tile_of(const lsp_cache_figures *f, double bytes, double share) {
    return fmax(fmin(share * terms_of(f)->tile_share * f->stage_bytes / bytes, terms_of(f)->most_tile), 1);
}

/* Planned: tile[src] -> between, contiguous; between in runs -> bin[dst]. 4 elements and 8 bytes of plan move for each
 * element. On a GPU two blocks share a multiprocessor, with half the tile each, while their runs are long enough. */
static double staged(const lsp_cache_figures *f, const lsp_cache_case *what) {
    const terms *t = terms_of(f);
    const double n = (double)what->n, bytes = (double)what->element_bytes, total = fmax(n, (double)what->extent);
    const double half = tile_of(f, bytes, 0.5);
    const double tile = f->where == LSP_HOST || half * half / 8 < total ? tile_of(f, bytes, 1) : half;
    const double items = fmin(n, tile);
    const double run = fmax(items / lsp_parts_touched(what, ceil((double)what->extent / tile), items), 1);
    const double plan = f->where == LSP_CUDA ? 4 : 0; /* positions one by one; a CPU keeps the starts of runs */
    const double contiguous = lsp_stream_seconds(f, what, n * (2 * bytes + 2) / t->contiguous);
    const double in_runs = lsp_stream_seconds(
        f, what, n * (bytes * waste(run * bytes, f->sector_bytes, bytes) + bytes + 2 + plan) / t->runs);
    /* places in a tile: the more lines neighbours touch, the more come from the second cache */
    const double lines = what->pattern.kind == LSP_PATTERN_SAMPLE ? what->pattern.lines[2] : 1;
    return contiguous + in_runs + lsp_pass_work(f, n * (0.4 + 1.6 * lines) + 8 * n / run) + 2 * f->start_seconds;
}

/* One level of a partition of (place, element) pairs into `bins` bins, each block of items in runs. */
static double partition_level(const lsp_cache_figures *f, const lsp_cache_case *what, double bins) {
    const terms *t = terms_of(f);
    const double n = (double)what->n, bytes = (double)what->element_bytes, place = 4;
    const double items = fmin(t->block_items, n), run = fmax(items / lsp_parts_touched(what, bins, items), 1);
    /* a run begins anywhere: the sectors that a copy would not touch */
    const double sectors =
        n / run * (f->sector_bytes - fmin(bytes, f->sector_bytes) + f->sector_bytes - place) / f->sector_bytes;
    const double moved = lsp_stream_seconds(f, what, 2 * n * (bytes + place));
    const double written = f->where == LSP_CUDA ? sectors / f->writes[0] : 0; /* a CPU collects lines first */
    return (moved + written) / t->ranked + lsp_pass_work(f, 0.5 * n) + f->start_seconds;
}

/* One call of a scatter: count the bins, partition by bin, place and write each bin. */
static double binned(const lsp_cache_figures *f, const lsp_cache_case *what) {
    const terms *t = terms_of(f);
    const double n = (double)what->n, bytes = (double)what->element_bytes, index = (double)what->index_bytes;
    const double bin = tile_of(f, f->where == LSP_CUDA ? bytes + 1 : bytes, f->where == LSP_CUDA ? 0.5 : 1);
    const double bins = ceil((double)what->extent / bin);
    const double levels = bins <= t->one_level || f->where == LSP_HOST ? 1 : 2, fan = ceil(pow(bins, 1 / levels));
    const double count = lsp_stream_seconds(f, what, n * index / t->contiguous) + lsp_pass_work(f, 0.5 * n);
    const double placed = lsp_stream_seconds(f, what, n * (2 * bytes + 2) / t->contiguous) + lsp_pass_work(f, 0.5 * n);
    return count + levels * partition_level(f, what, fan) + placed + (2 + levels) * f->start_seconds;
}

static void stage(const lsp_cache_figures *f, const lsp_cache_case *what, double *seconds, double *plan_seconds) {
    const terms *t = terms_of(f);
    *seconds = what->planned ? staged(f, what) : what->scatter ? binned(f, what) : 0;
    *plan_seconds =
        what->planned ? (double)what->n * t->stage_bytes / f->copy_rate + t->plan_starts * f->start_seconds : 0;
}

/* ---- invert ---- */

/* Does the inverted map jump? A map whose neighbours stay within a few regions has an inverse that does so
 * too; the inverse of one that writes to many regions in turn jumps among all of them. */
static bool inverse_jumps(const lsp_cache_case *what) {
    const lsp_cache_pattern *p = &what->pattern;
    return (p->kind == LSP_PATTERN_SAMPLE && p->regions > 4) ||
           (p->kind == LSP_PATTERN_PARTITIONS && p->partitions > 4);
}

/* A scatter with distinct indices as the gather by the inverted map. */
static void invert(const lsp_cache_figures *f, const lsp_cache_case *what, double *seconds, double *plan_seconds) {
    lsp_cache_case gather = *what, positions = *what;
    gather.scatter = false;
    if (f->where == LSP_HOST && inverse_jumps(what)) {
        gather.pattern = (lsp_cache_pattern){.kind = LSP_PATTERN_UNIFORM};
    }
    positions.element_bytes = what->index_bytes;
    const double n = (double)what->n, index = (double)what->index_bytes;
    const lsp_access reads = lsp_access_of(f, &gather, 1), writes = lsp_access_of(f, &positions, 1);
    const double streams = lsp_stream_seconds(f, what, n * index + (double)what->extent * (double)what->element_bytes);
    const double making = lsp_access_seconds(f, &writes) + n * index / f->copy_rate;
    *seconds = lsp_pass_seconds(f, n, &reads, streams) + f->start_seconds;
    *plan_seconds = making + 2 * f->start_seconds;
}

void lsp_phases_predict(const lsp_cache_figures *f, const lsp_cache_case *what, lsp_cache_prediction *p) {
    stage(f, what, &p->seconds[LSP_STRATEGY_STAGE], &p->plan_seconds[LSP_STRATEGY_STAGE]);
    if (what->planned && what->scatter) {
        invert(f, what, &p->seconds[LSP_STRATEGY_INVERT], &p->plan_seconds[LSP_STRATEGY_INVERT]);
    }
}
