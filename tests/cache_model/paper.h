/* The cache model of "Efficient Gather and Scatter Operations on Graphics Processors" (He, Govindaraju, Luo, Smith,
 * SC 2007) as it is printed (equations 2 to 11, misprints and all), to compare it with cache_model.c. Names are the
 * paper's: l, l' (here `unit`), N, k, E, D, m, h, B_seq. A closed form stands for sums over Stirling numbers. */
#pragma once

#include "cache_model/cache_model.h"
#include <math.h>

/* Equation 6. Its first case divides by N, the lines of the cache, where the number of accesses would be right. */
static double miss_case_1(double k, double lines_of_cache, double n) {
    const double e = lsp_cache_distinct(k, n); /* equations 4 and 5 */
    return e <= lines_of_cache ? e / lines_of_cache : (e + (1 - lines_of_cache / e) * (n - e)) / n;
}

/* Equations 7 and 8: the miss rate inside a warp of 32 threads, of z bytes each, into p partitions. */
static double miss_in_warp(double p, double z, double l) {
    const double w = 32, d = lsp_cache_distinct(p, w);
    return d * ceil(w * z / (d * l)) / w;
}

static double hit_rate_of(const lsp_cache_figures *f, const lsp_cache_case *what, double n) {
    const double z = (double)what->element_bytes, l = f->line_bytes;
    const double k = ceil((double)what->extent * z / l), lines_of_cache = floor(f->cache_bytes / l);
    const double hits = 1 - miss_case_1(k, lines_of_cache, n);
    if (what->pattern.kind == LSP_PATTERN_PARTITIONS) { /* the sum of the rates inside and between warps */
        return hits + 1 - miss_in_warp((double)what->pattern.partitions, z, l);
    }
    return hits;
}

/* Seconds of `passes` passes, and the hit rate, for a uniform pattern or partitions. */
static void paper_predicts(const lsp_cache_figures *f, const lsp_cache_case *what, int passes, double *seconds,
                           double *hit_rate) {
    const double n = (double)what->n, z = (double)what->element_bytes, l = f->line_bytes;
    const double unit = f->sector_bytes, delta = 1 / f->reads[0], sequential = f->copy_rate;
    const double h = hit_rate_of(f, what, fmax(n / passes, 1)); /* k stays as it is (section 3.4) */
    /* equation 2; equation 3 gives B_rand = n z / t, so that the random side of equations 9 to 11 takes t */
    const double random = n * ((1 - h) * ceil(z / l) * l / sequential + h * ceil(z / unit) * delta);
    *seconds = passes * (n * z + n * (double)what->index_bytes) / sequential + random;
    *hit_rate = h;
}
