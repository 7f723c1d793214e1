/* Strategies that move every element more than once. Seconds = bytes of each phase / (copy rate * the share of it that
 * such a phase reaches). Runs that are shorter than a line fetch more bytes than they use; runs that are written touch
 * more sectors than they fill. */
#include "cache_model.h"
#include <math.h>

enum { window = 16384, region_bytes = 128 << 10 }; /* of lsp_cache_pattern.regions */

/* What a device reaches. GPU: one H200; CPU: two cores of a Zen 4 EPYC, 2026-11-24. `sparse-bench gather` and `scatter`
 * print predicted and measured times, to fit the terms again. */
typedef struct terms {
    double tile_share;   /* of stage_bytes: a tile or bin at most */
    double most_tile;    /* elements: places in a tile have 16 bits */
    double contiguous;   /* share of the copy rate: a phase that reads and writes contiguously, */
    double runs;         /* one that reads runs, */
    double ranked;       /* one that ranks items by bin, and waits for each rank */
    double block_items;  /* items among which a partition makes its runs */
    double one_level;    /* bins that a partition tells apart at once */
    double block_bytes;  /* strategy partition: a block, as a share of the last cache */
    double item_seconds; /* of one thread, an element and phase: instructions that no memory hides; 0 on a GPU */
    double sort_bytes;   /* moved to sort the positions by block, an element */
    double stage_bytes;  /* moved to make a stage plan, an element */
    double plan_starts;  /* kernels of a plan */
} terms;
static const terms device_terms[] = {
    [LSP_HOST] = {0.5, 1 << 16, 0.8, 0.8, 0.6, 1 << 20, 1 << 12, 0.125, 1.0e-9, 150, 150, 4},
    [LSP_CUDA] = {0.99, 1 << 16, 0.88, 0.80, 0.75, 4096, 256, 0.25, 0, 134, 60, 12},
};

static const terms *terms_of(const lsp_cache_figures *f) { return &device_terms[f->where]; }

/* Seconds of instructions for `count` items, shared by the threads of a CPU. */
static double work(const lsp_cache_figures *f, double count) {
    return count * terms_of(f)->item_seconds / fmax(f->threads, 1);
}

/* ---- runs ---- */

/* How many of `parts` parts of the indexed array `items` neighbours touch. */
static double parts_touched(const lsp_cache_case *what, double parts, double items) {
    const double bytes = fmax((double)what->extent, 1) * (double)what->element_bytes;
    const double all = lsp_cache_distinct(parts, items);
    double regions = HUGE_VAL;
    if (what->pattern.kind == LSP_PATTERN_PARTITIONS) {
        regions = (double)what->pattern.partitions;
    } else if (what->pattern.kind == LSP_PATTERN_SAMPLE) {
        /* a run begins anywhere, and touches one region more than it fills */
        regions =
            fmax(what->pattern.regions - 1, 1) * fmax(items / window, 1) * fmax(region_bytes / (bytes / parts), 1);
        regions = what->pattern.regions > 0.5 * lsp_cache_distinct(fmax(bytes / region_bytes, 1), window)
                      ? HUGE_VAL /* everywhere, as random ones */
                      : regions;
    }
    return fmax(1, fmin(all, lsp_cache_distinct(fmax(regions, 1), items)));
}

/* Bytes that runs of `run` bytes fetch in units, a byte used: a run begins anywhere. */
static double waste(double run, double unit, double bytes) {
    return run >= 64 * unit ? 1 : (run + fmax(unit - bytes, 0)) / run;
}

/* A sector of which a part is written is filled first, and written for each part. If a part touches nearly all lines, a
 * sector costs what a copy of it does; the fewer it touches, the more one at random. The array is swept over and over:
 * it stays in the cache if it fits half of it, beside the streams. */
static double written_in_parts(const lsp_cache_figures *f, double n, double bytes, double parts) {
    const double in_sector = fmax(f->sector_bytes / bytes, 1), in_line = fmax(f->line_bytes / bytes, 1);
    const double skipped = pow(1 - 1 / parts, in_line); /* lines that a part does not touch */
    const double sectors = n / in_sector * parts * (1 - pow(1 - 1 / parts, in_sector));
    const double copied = (in_sector > 1 ? 2 : 1) * fmax(f->sector_bytes, bytes) / f->copy_rate;
    const double alone = fmax(1 / f->writes[f->points - 1] - 1 / f->writes[0], copied);
    const double once = n * bytes / f->copy_rate, out = fmin(fmax(2 * n * bytes / f->cache_bytes - 1, 0), 1);
    return once + out * (sectors * (copied + (alone - copied) * skipped * skipped) - once);
}

double lsp_phases_in_parts(const lsp_cache_figures *f, const lsp_cache_case *what, double most) {
    const double n = (double)what->n, bytes = (double)what->element_bytes;
    const double parts = f->where == LSP_HOST ? most : parts_touched(what, most, window);
    if (f->where == LSP_CUDA && !what->scatter && parts > 1) {
        return written_in_parts(f, n, bytes, parts);
    }
    const double elements = fmax(f->line_bytes / bytes, 1), touched = 1 - pow(1 - 1 / parts, elements);
    const double fill = !what->scatter && parts > 1 && elements > 1 ? 2 : 1;
    return lsp_stream_seconds(f, what, n * bytes * parts * touched * fill);
}

double lsp_phases_scan(const lsp_cache_figures *f, double n, int passes) {
    return passes > 1 ? work(f, n * (0.7 * passes + 6)) : 0;
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
    const double run = fmax(items / parts_touched(what, ceil((double)what->extent / tile), items), 1);
    const double plan = f->where == LSP_CUDA ? 4 : 0; /* positions one by one; a CPU keeps the starts of runs */
    const double contiguous = lsp_stream_seconds(f, what, n * (2 * bytes + 2) / t->contiguous);
    const double in_runs = lsp_stream_seconds(
        f, what, n * (bytes * waste(run * bytes, f->sector_bytes, bytes) + bytes + 2 + plan) / t->runs);
    return contiguous + in_runs + work(f, 2 * n + 8 * n / run) + 2 * f->start_seconds;
}

/* One level of a partition of (place, element) pairs into `bins` bins, each block of items in runs. */
static double partition_level(const lsp_cache_figures *f, const lsp_cache_case *what, double bins) {
    const terms *t = terms_of(f);
    const double n = (double)what->n, bytes = (double)what->element_bytes, place = 4;
    const double items = fmin(t->block_items, n), run = fmax(items / parts_touched(what, bins, items), 1);
    /* a run begins anywhere: the sectors that a copy would not touch */
    const double sectors =
        n / run * (f->sector_bytes - fmin(bytes, f->sector_bytes) + f->sector_bytes - place) / f->sector_bytes;
    const double moved = lsp_stream_seconds(f, what, 2 * n * (bytes + place));
    const double written = f->where == LSP_CUDA ? sectors / f->writes[0] : 0; /* a CPU collects lines first */
    /* 2 n: one scatter of 2^24 elements took two threads 64 ms */
    return (moved + written) / t->ranked + work(f, 2 * n) + f->start_seconds;
}

/* One call of a scatter: count the bins, partition by bin, place and write each bin. */
static double binned(const lsp_cache_figures *f, const lsp_cache_case *what) {
    const terms *t = terms_of(f);
    const double n = (double)what->n, bytes = (double)what->element_bytes, index = (double)what->index_bytes;
    const double bin = tile_of(f, f->where == LSP_CUDA ? bytes + 1 : bytes, f->where == LSP_CUDA ? 0.5 : 1);
    const double bins = ceil((double)what->extent / bin);
    const double levels = bins <= t->one_level || f->where == LSP_HOST ? 1 : 2, fan = ceil(pow(bins, 1 / levels));
    const double count = lsp_stream_seconds(f, what, n * index / t->contiguous) + work(f, n);
    const double placed = lsp_stream_seconds(f, what, n * (2 * bytes + 2) / t->contiguous) + work(f, n);
    return count + levels * partition_level(f, what, fan) + placed + (2 + levels) * f->start_seconds;
}

lsp_phases lsp_phases_stage(const lsp_cache_figures *f, const lsp_cache_case *what) {
    const terms *t = terms_of(f);
    if (what->planned) {
        const double plan = (double)what->n * t->stage_bytes / f->copy_rate + t->plan_starts * f->start_seconds;
        return (lsp_phases){staged(f, what), plan};
    }
    return (lsp_phases){what->scatter ? binned(f, what) : 0, 0};
}

/* ---- partition ---- */

/* In the order of blocks that fit the cache: accesses of a block hit; the array in order is visited once for each
 * block, and so in parts. An order costs one index and one position an element. */
lsp_phases lsp_phases_partition(const lsp_cache_figures *f, const lsp_cache_case *what) {
    const terms *t = terms_of(f);
    if (!what->planned && what->scatter && f->where == LSP_HOST) {
        return (lsp_phases){binned(f, what), 0};
    }
    const double n = (double)what->n, bytes = (double)what->element_bytes, index = (double)what->index_bytes;
    const double indexed = fmax((double)what->extent, 1) * bytes;
    const double block = fmin(f->where == LSP_HOST ? 4 << 20 : t->block_bytes * f->cache_bytes, indexed);
    const double blocks = ceil(indexed / block), parts = parts_touched(what, blocks, window);
    const double streams = lsp_phases_in_parts(f, what, parts) + lsp_stream_seconds(f, what, 2 * n * index);
    const double random = n / lsp_cache_rate(f, what->scatter ? f->writes : f->reads, indexed / blocks);
    const lsp_access a = lsp_access_of(f, what, blocks); /* on a GPU as those of so many passes */
    const double call = (f->where == LSP_HOST ? random + lsp_stream_seconds(f, what, indexed) + streams
                                              : lsp_pass_seconds(f, n, &a, blocks, streams)) +
                        work(f, parts > 1 ? 6 * n : n) + f->start_seconds;
    const double sort = n * t->sort_bytes / f->copy_rate + work(f, 8 * n) + t->plan_starts * f->start_seconds;
    return what->planned ? (lsp_phases){call, sort} : (lsp_phases){call + sort, 0};
}

/* ---- invert ---- */

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
    const double streams = lsp_stream_seconds(f, what, n * index + (double)what->extent * (double)what->element_bytes);
    const double making = lsp_access_seconds(f, &writes) + n * index / f->copy_rate;
    const double call = lsp_pass_seconds(f, n, &reads, 1, streams) + f->start_seconds;
    return (lsp_phases){call, making + 2 * f->start_seconds};
}
