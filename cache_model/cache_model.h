/* Inside the cache model: figures of a device, curves of random rates, and what a pattern of indices asks of a cache.
 * cache_model.c adds them up; docs/cache-model.md derives the formulas. */
#pragma once

#include "core/core.h"

LSP_BEGIN_DECLS

/* ---- figures ---- */

/* figures.c: the figures that the context uses. Fails only if there is no memory. */
lsp_status lsp_cache_figures_of(lsp_ctx *ctx, const lsp_cache_figures **figures);
/* figures.c: the figures for a choice that may change the last bits of a result. On a CPU these are of one thread of a
 * common processor, unless the caller has set some: neither the number of threads nor the machine may change bits. */
lsp_status lsp_cache_figures_for_bits(lsp_ctx *ctx, lsp_where where, const lsp_cache_figures **figures);
/* figures.c: refuses figures that no device has, with a sentence. */
lsp_status lsp_cache_check_figures(lsp_ctx *ctx, const lsp_cache_figures *figures);
/* builtin.c: fills in figures that have a place, a device's name and threads; of a CPU with these bytes in a core's
 * cache, in the last one, and in a line. */
void lsp_cache_builtin_figures(lsp_ctx *ctx, lsp_cache_figures *figures);
void lsp_cache_cpu_figures(double own, double last, double line, lsp_cache_figures *figures);

/* ---- formulas ---- */

/* The expected number of distinct ones among `blocks` blocks after `draws` random draws: E = k (1 - (1 - 1/k)^n), the
 * closed form of equations 4 and 5. */
double lsp_cache_distinct(double blocks, double draws);

/* A rate at a footprint: interpolated linearly in the logarithms of both. */
double lsp_cache_rate(const lsp_cache_figures *figures, const double *rates, double footprint);

/* How a stream of indexed accesses meets the last cache. */
typedef struct lsp_access {
    bool write;
    double n;          /* accesses */
    double bytes;      /* of one of them */
    double sectors;    /* sectors that the cache looks up, an access: 1 unless neighbours share one */
    double lines;      /* lines that were not touched shortly before, an access */
    double touched;    /* bytes of all lines that are touched at all */
    double stationary; /* bytes among which the accesses come back at any time; 0: they move on */
    double again;      /* bytes among which a line is met again after the first time; infinite: it misses */
    double pages;      /* bytes of the pages among which moving accesses jump */
    double all_bytes;  /* of the three arrays of the call */
    double dense;      /* 0: of each line one element is used; 1: neighbours use all of it */
} lsp_access;

/* access.c: the accesses of one pass. The case is carried out in `parts` passes; each covers one part of the indexed
 * array. */
lsp_access lsp_access_of(const lsp_cache_figures *figures, const lsp_cache_case *what, double parts);
/* access.c: the share of `bytes` bytes, read or written at random over and over, that is not in the cache. */
double lsp_access_miss(const lsp_cache_figures *figures, bool write, double bytes);
/* access.c: lines (of writes: sectors) that come from memory. */
double lsp_access_misses(const lsp_cache_figures *figures, const lsp_access *access);
/* access.c: the seconds of the accesses alone, without indices and the other array. */
double lsp_access_seconds(const lsp_cache_figures *figures, const lsp_access *access);

/* access.c: the seconds of one pass over n indices: the accesses and the streams. On a GPU
 * - misses at random add to everything; if lines are used whole, the memory works beside the lookups: the root of the
 * sum of squares;
 * - a block of threads waits for its indices before it can move. That overlaps with the moves of other blocks in part:
 *   again the root of the sum of squares. */
double lsp_pass_seconds(const lsp_cache_figures *figures, double n, const lsp_access *access, double streams);

/* access.c: the seconds for bytes that are read or written in order. */
double lsp_stream_seconds(const lsp_cache_figures *figures, const lsp_cache_case *what, double bytes);

/* access.c: seconds of instructions for `count` items that no memory hides, shared by a CPU's threads; 0 on a GPU. */
double lsp_pass_work(const lsp_cache_figures *figures, double count);
/* access.c: how many of `parts` parts of the indexed array `items` neighbours touch. */
double lsp_parts_touched(const lsp_cache_case *what, double parts, double items);
/* access.c: seconds to move the array in order in P parts; each part takes about every P-th element. Memory sends the
 * whole line for one element that is read, and fills a sector before a part of it is written. */
double lsp_parts_seconds(const lsp_cache_figures *figures, const lsp_cache_case *what, double parts);
/* Seconds in which a processor looks at n indices in each of P passes: the branch is hard to predict. 0 on a GPU. */
double lsp_parts_scan(const lsp_cache_figures *figures, double n, int passes);

/* sample.c: as lsp_cache_model_sample with fewer or more windows of 16384 indices; the arguments are checked. */
lsp_status lsp_cache_sample(lsp_ctx *ctx, const lsp_gather_args *args, size_t element_bytes, int windows,
                            lsp_cache_pattern *pattern);

/* Windows of a sample on a GPU, at most LSP_SAMPLE_MOST. */
enum { LSP_SAMPLE_BITS = 14, LSP_SAMPLE_WINDOW = 1 << LSP_SAMPLE_BITS, LSP_SAMPLE_SIZES = 4, LSP_SAMPLE_MOST = 8 };
typedef struct lsp_window_job {
    const void *index;
    lsp_type type;
    int windows;
    int64_t begin[LSP_SAMPLE_MOST], count[LSP_SAMPLE_MOST]; /* of each window: its first index, and how many it has */
    int64_t bytes, most;                                    /* of an element; the largest index that counts */
    int64_t line, sector, region;                           /* bytes */
} lsp_window_job;

/* What accesses touch: sectors[w], lines[w]: how many are new to the windows of 32 * 8^w around them, which begin at
 * multiples of their size; regions: to the largest windows. distinct: lines in all. */
typedef struct lsp_window_counts {
    int64_t accesses, sectors[LSP_SAMPLE_SIZES], lines[LSP_SAMPLE_SIZES], regions, distinct;
} lsp_window_counts;
/* gpu/windows.cu. Waits. */
lsp_status lsp_windows_count(lsp_ctx *ctx, const lsp_window_job *job, lsp_window_counts *counts);

/* phases.c: sets the seconds of strategies that move the elements more than once, through shared memory or a cache, and
 * those of their plans; 0: not offered. */
void lsp_phases_predict(const lsp_cache_figures *figures, const lsp_cache_case *what, lsp_cache_prediction *prediction);

/* cache_model.c: sets `best` and `reason` from the seconds; a strategy with 0 seconds is not offered. */
void lsp_cache_choose(const lsp_cache_case *what, lsp_cache_prediction *prediction);

LSP_END_DECLS
