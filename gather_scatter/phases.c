/* Strategies that move every element more than once. Seconds = bytes of each phase / (copy rate * the share of it that
 * such a phase reaches). Runs that are shorter than a line fetch more bytes than they use; runs that are written touch
 * more sectors than they fill. */
#include "model.h"
#include <math.h>

/* What a device reaches, fitted to measured phases. GPU: one H200, n = 2^22 .. 2^28, elements of 8 bytes; CPU: two
 * cores of a Zen 4 EPYC. `sparse-bench gather` and `scatter` print predicted and measured times to fit them again. */
typedef struct terms {
    double tile_share;  /* of stage_bytes: the elements of a tile or bin */
    double most_tile;   /* elements: places in a tile have 16 bits */
    double contiguous;  /* share of the copy rate: a phase that reads and writes contiguously, */
    double runs;        /* one that reads runs, */
    double ranked;      /* and one that ranks items by bin, on top of what it reads and writes */
    double block_items; /* items among which a partition makes its runs */
    double most_bins;   /* of one level of a partition */
    double plan_bytes;  /* moved to make a stage plan, an element */
    double run_seconds; /* of a thread, to begin a run: loop and misprediction; 0 on a GPU */
} terms;
static const terms device_terms[] = {
    [LSP_HOST] = {0.5, 1 << 16, 0.75, 0.75, 0.4, 1 << 16, 1 << 11, 250, 4e-9},
    [LSP_CUDA] = {0.85, 1 << 16, 0.88, 0.82, 0.85, 14336, 1 << 12, 340, 0},
};

static const terms *terms_of(const lsp_cache_figures *f) { return &device_terms[f->where]; }

static double tile_of(const lsp_cache_figures *f, double bytes) {
    return fmax(fmin(terms_of(f)->tile_share * f->stage_bytes / bytes, terms_of(f)->most_tile), 1);
}

/* How many of `parts` parts of the indexed array `items` neighbours touch, and so into how many runs they fall. */
static double parts_touched(const lsp_cache_case *what, const lsp_access *a, double parts, double items) {
    const double all = lsp_cache_distinct(parts, items);
    if (what->pattern.kind == LSP_PATTERN_PARTITIONS) {
        return lsp_cache_distinct(fmin((double)what->pattern.partitions, parts), items);
    }
    return fmax(1, all * (1 - a->dense)); /* dense accesses are near each other */
}

/* Bytes that runs of `run` bytes fetch in units, a byte used: a run begins anywhere. */
static double waste(double run, double unit, double bytes) {
    return run >= 64 * unit ? 1 : (run + fmax(unit - bytes, 0)) / run;
}

/* Planned, two phases: tile[src] -> between, contiguous; between in runs -> bin[dst]. 4 elements and 8 bytes of plan
 * move for each element. */
static double staged(const lsp_cache_figures *f, const lsp_cache_case *what, const lsp_access *a) {
    const terms *t = terms_of(f);
    const double n = (double)what->n, bytes = (double)what->element_bytes, tile = tile_of(f, bytes);
    const double tiles = ceil((double)what->extent / tile);
    const double run = fmax(fmin(n, tile) / parts_touched(what, a, tiles, fmin(n, tile)), 1);
    const double contiguous = n * (2 * bytes + 2) / (f->copy_rate * t->contiguous);
    const double in_runs =
        n * (bytes * waste(run * bytes, f->line_bytes, bytes) + bytes + 6) / (f->copy_rate * t->runs);
    return contiguous + in_runs + n / run * t->run_seconds / fmax(f->threads, 1) + 2 * f->start_seconds;
}

/* One level of a partition of (index, element) pairs into bins. */
static double partition_level(const lsp_cache_figures *f, const lsp_cache_case *what, double bins, double touched) {
    const terms *t = terms_of(f);
    const double n = (double)what->n, bytes = (double)what->element_bytes, index = (double)what->index_bytes;
    const double items = fmin(t->block_items, n), run = fmax(items / fmin(touched, bins), 1);
    const double sectors = n / run *
                           ((run * bytes + f->sector_bytes - fmin(bytes, f->sector_bytes)) / f->sector_bytes +
                            (run * index + f->sector_bytes - index) / f->sector_bytes);
    const double moved = 2 * n * (bytes + index) / f->copy_rate;
    return (moved + sectors / f->writes[0]) / t->ranked + 2 * f->start_seconds;
}

/* One call of a scatter: count the bins, partition by bin (two levels if there are very many), place and write each. */
static double partitioned(const lsp_cache_figures *f, const lsp_cache_case *what, const lsp_access *a, double bin) {
    const terms *t = terms_of(f);
    const double n = (double)what->n, index = (double)what->index_bytes;
    const double bins = ceil(fmax((double)what->extent, 1) / bin);
    const double levels = fmax(1, ceil(log2(bins) / log2(t->most_bins) - 1e-9));
    const double fan_out = ceil(pow(bins, 1 / levels));
    const double touched = parts_touched(what, a, fan_out, fmin(t->block_items, n));
    const double count = n * index / (f->copy_rate * 0.8) + f->start_seconds;
    return count + levels * partition_level(f, what, fan_out, touched);
}

static double placed(const lsp_cache_figures *f, const lsp_cache_case *what) {
    const double n = (double)what->n, bytes = (double)what->element_bytes;
    return n * (2 * bytes + (double)what->index_bytes) / (0.95 * f->copy_rate) + f->start_seconds;
}

lsp_phases lsp_phases_stage(const lsp_cache_figures *f, const lsp_cache_case *what) {
    const lsp_access a = lsp_access_of(f, what, 1);
    const double bin = tile_of(f, (double)what->element_bytes);
    if (what->planned) {
        return (lsp_phases){staged(f, what, &a),
                            (double)what->n * terms_of(f)->plan_bytes / f->copy_rate + 20 * f->start_seconds};
    }
    return what->scatter ? (lsp_phases){partitioned(f, what, &a, bin) + placed(f, what), 0} : (lsp_phases){0, 0};
}

/* By blocks that fit the cache: the accesses of a block all hit. A plan keeps the order, one index more an element. */
lsp_phases lsp_phases_partition(const lsp_cache_figures *f, const lsp_cache_case *what) {
    const double n = (double)what->n, bytes = (double)what->element_bytes, index = (double)what->index_bytes;
    const lsp_access a = lsp_access_of(f, what, 1);
    const double block = fmax(f->cache_bytes / 4 / bytes, 1);
    const double blocks = ceil(fmax((double)what->extent, 1) / block);
    lsp_cache_case inside = *what;
    inside.pattern.kind = LSP_PATTERN_UNIFORM;
    inside.planned = false;
    const lsp_access hits = lsp_access_of(f, &inside, blocks);
    const double ordered = partitioned(f, what, &a, block);
    const double random = blocks * lsp_access_seconds(f, &hits);
    if (!what->planned) {
        return what->scatter ? (lsp_phases){ordered + random + n * (bytes + index) / f->copy_rate + f->start_seconds, 0}
                             : (lsp_phases){0, 0};
    }
    /* both sides are visited in the order of blocks: one of them in runs of block_items / blocks elements */
    const double run = fmax(terms_of(f)->block_items / blocks, 1);
    const double stream = n * (bytes * waste(run * bytes, f->line_bytes, bytes) + 2 * index) / f->copy_rate;
    return (lsp_phases){random + stream + f->start_seconds, ordered + f->start_seconds};
}

/* A scatter with distinct indices as the gather by the inverted map. */
lsp_phases lsp_phases_invert(const lsp_cache_figures *f, const lsp_cache_case *what) {
    if (!what->planned || !what->scatter) {
        return (lsp_phases){0, 0};
    }
    lsp_cache_case gather = *what, positions = *what;
    gather.scatter = false;
    positions.element_bytes = what->index_bytes;
    const double n = (double)what->n, index = (double)what->index_bytes;
    const lsp_access reads = lsp_access_of(f, &gather, 1), writes = lsp_access_of(f, &positions, 1);
    const double streams = n * ((double)what->element_bytes + index) / f->copy_rate;
    const double making = lsp_access_seconds(f, &writes) + n * index / f->copy_rate;
    return (lsp_phases){lsp_access_seconds(f, &reads) + streams + f->start_seconds, making + 2 * f->start_seconds};
}
