/* Indexed accesses and the last cache: how many come from memory, and how long they take. Every access costs a hit,
 * t_hit; each line that must be fetched costs t_far - t_hit more. Both are read off the measured curve of random rates,
 * which also tells the share of misses at every footprint. First touches always miss. */
#include "model.h"
#include <math.h>

enum { page_bytes = 4096 };

static double clamp(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

double lsp_cache_distinct(double blocks, double draws) {
    /* expm1 and log1p keep the digits when there are far more blocks than draws */
    return blocks <= 1 ? (draws > 0 ? blocks : 0) : -blocks * expm1(draws * log1p(-1 / blocks));
}

double lsp_cache_rate(const lsp_cache_figures *f, const double *rates, double footprint) {
    int i = 0;
    while (i < f->points - 1 && f->footprint[i + 1] < footprint) {
        i++;
    }
    if (footprint <= f->footprint[0] || i == f->points - 1) {
        return rates[i];
    }
    const double share = log(footprint / f->footprint[i]) / log(f->footprint[i + 1] / f->footprint[i]);
    return rates[i] * pow(rates[i + 1] / rates[i], share);
}

/* ---- what a pattern asks ---- */

/* Sectors an access if each of `heads` equally likely places is followed by its neighbours: a warp touches D of them
 * (equation 7), and each is a run of bytes that may begin anywhere in a sector (equation 8 takes it as aligned). */
static double head_sectors(const lsp_cache_figures *f, double heads, double bytes) {
    const double warp = 32, touched = lsp_cache_distinct(heads, warp), run = warp / touched * bytes;
    return touched * fmax(1, (run + f->sector_bytes - fmin(bytes, f->sector_bytes)) / f->sector_bytes) / warp;
}

/* Times a hit for a larger element: two neighbouring sectors take 1.25 times as long as one (measured: 128 G reads of
 * 64 bytes a second against 157 G of 32). */
static double larger(const lsp_cache_figures *f, double bytes) { return fmax(1, bytes / (1.6 * f->sector_bytes)); }

static void uniform(const lsp_cache_figures *f, double bytes, lsp_access *a) {
    const double lines = fmax(bytes / f->line_bytes, 1), sectors = fmax(bytes / f->sector_bytes, 1);
    a->sectors = lsp_cache_distinct(sectors, 32) / 32 * larger(f, a->bytes);
    a->lines = fmax(1, a->bytes / f->line_bytes);
    a->touched = fmin(lsp_cache_distinct(lines, a->n * a->lines) * f->line_bytes, bytes);
    a->stationary = bytes;
}

/* Case II: p heads that move on through their ranges. While the lines of all heads fit the cache each line is fetched
 * once; if they do not, each access is as a random one among them. */
static void partitions(const lsp_cache_figures *f, double heads, double bytes, lsp_access *a) {
    const double lost = lsp_access_miss(f, a->write, heads * f->line_bytes);
    const double dense_lines = fmin(a->bytes / f->line_bytes, 1);
    a->sectors = head_sectors(f, heads, fmin(a->bytes, f->sector_bytes)) * larger(f, a->bytes);
    a->dense = 1 - lost;
    a->lines = fmax(1, a->bytes / f->line_bytes) * (dense_lines + (1 - dense_lines) * lost);
    a->touched = fmin(a->n * a->lines * f->line_bytes, bytes);
    a->pages = heads * page_bytes;
}

/* Accesses return to `touched` bytes of lines in all if they are drawn from K of them: touched / visited = (1 - e^-x) / x
 * with x = visited / K. Returns K; 0 if nothing is ever met again. */
static double stationary_bytes(double touched, double visited) {
    const double ratio = touched / visited;
    double low = 1e-6, high = 1e9;
    if (ratio >= 0.98) {
        return 0;
    }
    for (int i = 0; i < 100; i++) { /* the function falls */
        const double x = sqrt(low * high);
        *(-expm1(-x) / x > ratio ? &low : &high) = x;
    }
    return visited / low;
}

static void sampled(const lsp_cache_figures *f, const lsp_cache_pattern *p, double bytes, lsp_access *a) {
    const int last = LSP_PATTERN_WINDOWS - 1;
    a->sectors = p->sectors[0] * larger(f, a->bytes);
    a->lines = p->lines[last];
    a->touched = fmin(fmin((double)p->touched_bytes, a->n * a->lines * f->line_bytes), bytes);
    a->stationary = stationary_bytes(a->touched, a->n * a->lines * f->line_bytes);
    a->pages = a->stationary > 0 ? 0 : p->regions * page_bytes;
    /* a line brings line_bytes; only `bytes` of them are used if nothing else of it is touched soon */
    const double alone = fmin(a->bytes / f->line_bytes, 1), used = fmin(alone / a->lines, 1);
    a->dense = alone < 1 ? clamp((used - alone) / (1 - alone), 0, 1) : a->lines <= 1 ? 1 : 0;
}

lsp_access lsp_access_of(const lsp_cache_figures *f, const lsp_cache_case *what, double parts) {
    const double bytes = fmax((double)what->extent, 1) * (double)what->element_bytes / parts;
    lsp_access a = {.write = what->scatter, .n = (double)what->n / parts, .bytes = (double)what->element_bytes};
    a.all_bytes = bytes * parts + (double)what->n * (double)(what->element_bytes + what->index_bytes);
    if (what->pattern.kind == LSP_PATTERN_PARTITIONS) {
        partitions(f, fmax((double)what->pattern.partitions / parts, 1), bytes, &a);
    } else if (what->pattern.kind == LSP_PATTERN_SAMPLE) {
        sampled(f, &what->pattern, bytes * parts, &a);
        a.touched /= parts;
        a.stationary /= parts;
    } else {
        uniform(f, bytes, &a);
    }
    if (f->where == LSP_HOST) {
        a.sectors = larger(f, a.bytes); /* a processor looks up every access by itself */
    }
    return a;
}

/* ---- the cache ---- */

static const double *curve(const lsp_cache_figures *f, const lsp_access *a) {
    const bool whole = a->bytes >= f->sector_bytes; /* no part of a sector is written alone */
    return !a->write ? f->reads : whole && f->where == LSP_CUDA ? f->writes32 : f->writes;
}

static double miss_on(const lsp_cache_figures *f, const double *rates, double bytes) {
    const double near = 1 / rates[0], far = 1 / rates[f->points - 1], here = 1 / lsp_cache_rate(f, rates, bytes);
    if (far <= 1.05 * near) { /* a curve without a step tells nothing: capacity over footprint does */
        return bytes <= f->cache_bytes ? 0 : 1 - f->cache_bytes / bytes;
    }
    return clamp((here - near) / (far - near), 0, 1);
}

double lsp_access_miss(const lsp_cache_figures *f, bool write, double bytes) {
    return miss_on(f, write ? f->writes : f->reads, bytes);
}

/* What is fetched from memory at a time: a line for a read; a write fills a sector. */
static double unit_bytes(const lsp_cache_figures *f, const lsp_access *a) {
    return a->write && f->where == LSP_CUDA ? f->sector_bytes : f->line_bytes;
}

double lsp_access_misses(const lsp_cache_figures *f, const lsp_access *a) {
    const double unit = unit_bytes(f, a);
    const double visits = a->n * a->lines * (a->dense * f->line_bytes / unit + 1 - a->dense);
    const double first =
        fmin(a->stationary > 0 ? lsp_cache_distinct(fmax(a->stationary / unit, 1), visits) : a->touched / unit, visits);
    /* arrays that fit a processor's cache together are likely there already; between two calls a GPU's L2 sees others
     */
    const double cold = f->where == LSP_HOST ? miss_on(f, curve(f, a), a->all_bytes) : 1;
    return cold * first + (visits - first) * (a->stationary > 0 ? miss_on(f, curve(f, a), a->stationary) : 1);
}

double lsp_access_seconds(const lsp_cache_figures *f, const lsp_access *a) {
    const double *rates = curve(f, a);
    const double near = 1 / (f->where == LSP_HOST ? lsp_cache_rate(f, rates, a->pages) : rates[0]);
    const double far = fmax(1 / rates[f->points - 1], near);
    const double unit = unit_bytes(f, a), moved = unit / f->copy_rate;
    const double alone = fmax(far - near, moved);
    const double miss = moved + (alone - moved) * (1 - a->dense);
    return a->n * a->sectors * near + lsp_access_misses(f, a) * miss;
}

double lsp_stream_seconds(const lsp_cache_figures *f, const lsp_cache_case *what, double bytes) {
    static const double cached = 0.25; /* of the time from memory, if a processor's cache holds all arrays */
    const double element = (double)what->element_bytes;
    const double all = (double)what->n * (element + (double)what->index_bytes) + (double)what->extent * element;
    return bytes / f->copy_rate * (f->where == LSP_HOST ? fmax(lsp_access_miss(f, false, all), cached) : 1);
}
