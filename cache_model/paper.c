/* The cache model of "Efficient Gather and Scatter Operations on Graphics Processors" (He, Govindaraju, Luo, Smith,
 * SC 2007) as it is printed, so that it can be compared with cache_model.c. Names are the paper's: l, l' (here `unit`),
 * N, k, E, D, m, h, B_seq. Sums over Stirling numbers are replaced where their closed form is the same number. */
#include "cache_model.h"
#include "libsparse/unstable.h"
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

lsp_status lsp_cache_model_paper(lsp_ctx *ctx, const lsp_cache_figures *figures, const lsp_cache_case *what, int passes,
                                 double *seconds, double *hit_rate) {
    LSP_ENTER(ctx);
    LSP_REQUIRE(seconds && hit_rate, LSP_ERR_ARGUMENT, "the place for the seconds or for the hit rate is NULL");
    LSP_REQUIRE(passes >= 1, LSP_ERR_ARGUMENT, "%d passes: there must be 1 or more", passes);
    LSP_TRY(lsp_cache_check_case(ctx, &figures, what));
    LSP_REQUIRE(what->pattern.kind != LSP_PATTERN_SAMPLE, LSP_ERR_UNSUPPORTED,
                "the paper has no sampled patterns, only uniform ones and partitions");
    *seconds = *hit_rate = 0;
    if (what->n == 0) {
        return LSP_OK;
    }
    const double n = (double)what->n, z = (double)what->element_bytes, l = figures->line_bytes;
    const double unit = figures->sector_bytes, delta = 1 / figures->reads[0], sequential = figures->copy_rate;
    const double h = hit_rate_of(figures, what, fmax(n / passes, 1)); /* k stays as it is (section 3.4) */
    /* equation 2; equation 3 gives B_rand = n z / t, so that the random side of equations 9 to 11 takes t */
    const double random = n * ((1 - h) * ceil(z / l) * l / sequential + h * ceil(z / unit) * delta);
    *seconds = passes * (n * z + n * (double)what->index_bytes) / sequential + random;
    *hit_rate = h;
    return LSP_OK;
}
