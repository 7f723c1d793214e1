/* Indexed accesses and the last cache: how many come from memory, and how long they take. Every access costs a hit,
 * t_hit; each line that must be fetched costs t_far - t_hit more. Both are read off the measured curve of random rates,
 * which also tells the share of misses at every footprint. First touches always miss. */
#include "cache_model.h"
#include <math.h>

enum { page_bytes = 4096, window = 16384, warp = 32, block = 1024 };
static const double gpu_page_bytes = 2 << 20, region_bytes = 128 << 10; /* a region of lsp_cache_pattern */

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

/* Neighbours whose common sectors are looked up once. A warp writes what it has; reads of a GPU go through the cache of
 * a multiprocessor, where the accesses of a block of threads meet. Other blocks run elsewhere. */
static double together(const lsp_cache_figures *f, const lsp_access *a) {
    return f->where == LSP_CUDA && !a->write ? block : warp;
}

/* Units (sectors or lines) an access if each of `heads` equally likely places is followed by its neighbours: `accesses`
 * of them touch D heads (equation 7), and each is a run of bytes that may begin anywhere in a unit (equation 8 takes it
 * as aligned). */
static double head_units(double heads, double accesses, double bytes, double unit) {
    const double touched = lsp_cache_distinct(heads, accesses), run = accesses / touched * bytes;
    return touched * fmax(1, (run + unit - fmin(bytes, unit)) / unit) / accesses;
}

/* The number of heads whose accesses touch this share of lines in a window of a sample. */
static double heads_of(const lsp_cache_figures *f, double lines, double bytes) {
    double low = 1, high = 1e9;
    for (int i = 0; i < 60; i++) {
        const double heads = sqrt(low * high);
        *(head_units(heads, window, bytes, f->line_bytes) < lines ? &low : &high) = heads;
    }
    return high;
}

/* Times a hit for a larger element: two neighbouring sectors take 1.25 times as long as one (measured: 128 G reads of
 * 64 bytes a second against 157 G of 32). */
static double larger(const lsp_cache_figures *f, double bytes) { return fmax(1, bytes / (1.6 * f->sector_bytes)); }

static void uniform(const lsp_cache_figures *f, double bytes, lsp_access *a) {
    const double lines = fmax(bytes / f->line_bytes, 1), sectors = fmax(bytes / f->sector_bytes, 1);
    a->sectors = lsp_cache_distinct(sectors, together(f, a)) / together(f, a) * larger(f, a->bytes);
    a->lines = fmax(1, a->bytes / f->line_bytes);
    a->touched = fmin(lsp_cache_distinct(lines, a->n * a->lines) * f->line_bytes, bytes);
    a->stationary = a->again = bytes;
}

/* The share of heads that the prefetchers of a processor follow. The lines of the others are fetched one by one, as
 * those of random accesses are. */
static double followed(const lsp_cache_figures *f, double heads) {
    static const double streams = 64;
    return f->where == LSP_HOST ? fmin(streams / heads, 1) : 1;
}

/* Case II: p heads that move on through their ranges. While the lines of all heads fit the cache each line is fetched
 * once; if they do not, each access is as a random one among them. */
static void partitions(const lsp_cache_figures *f, double heads, double bytes, lsp_access *a) {
    const double lost = lsp_access_miss(f, a->write, heads * f->line_bytes);
    const double dense_lines = fmin(a->bytes / f->line_bytes, 1);
    a->sectors =
        head_units(heads, together(f, a), fmin(a->bytes, f->sector_bytes), f->sector_bytes) * larger(f, a->bytes);
    a->dense = (1 - lost) * followed(f, heads);
    a->lines = fmax(1, a->bytes / f->line_bytes) * (dense_lines + (1 - dense_lines) * lost);
    a->touched = fmin(a->n * a->lines * f->line_bytes, bytes);
    a->again = HUGE_VAL;
    a->pages = f->where == LSP_HOST ? heads * page_bytes : fmin(heads * gpu_page_bytes, bytes);
}

/* Accesses return to `touched` bytes of lines in all if they are drawn from K of them: touched / visited = (1 - e^-x) /
 * x with x = visited / K. Returns K; 0 if nothing is ever met again. */
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

/* A sample whose accesses move on: it is taken as heads. A line is met again until its head has left it, and so the
 * accesses come back to one line for each head. What is touched in all tells how much of a line is used; a window is
 * too short for that if there are many heads. */
static void moving(const lsp_cache_figures *f, const lsp_cache_pattern *p, double bytes, lsp_access *a) {
    const double heads = heads_of(f, a->lines, fmin(a->bytes, f->line_bytes));
    const double spread = fmin(p->regions, bytes / region_bytes) * gpu_page_bytes;
    a->again = f->where == LSP_HOST ? HUGE_VAL : heads * f->line_bytes;
    a->pages = f->where == LSP_HOST ? p->regions * page_bytes : fmin(spread, bytes);
    a->dense = followed(f, heads);
}

static void sampled(const lsp_cache_figures *f, const lsp_cache_pattern *p, double bytes, lsp_access *a) {
    const int last = LSP_PATTERN_WINDOWS - 1;
    /* a block has as many accesses as a window of 32 * 8^(5/3) */
    const double shared =
        together(f, a) == block ? p->sectors[1] + (p->sectors[2] - p->sectors[1]) * 2 / 3 : p->sectors[0];
    a->sectors = shared * larger(f, a->bytes);
    a->lines = p->lines[last];
    const double visited = a->n * a->lines * f->line_bytes, touched = fmin((double)p->touched_bytes, visited);
    a->touched = fmin(touched, bytes);
    a->stationary = stationary_bytes(f->where == LSP_HOST ? a->touched : touched, visited);
    double lines = a->lines;
    a->dense = 1;
    if (a->stationary > 2 * bytes) {
        a->stationary = 0; /* more than there is: heads that differ in their progress, no accesses at random */
    }
    a->stationary = a->again = fmin(a->stationary, bytes);
    if (a->stationary <= 0) {
        moving(f, p, bytes, a);
        lines = f->where == LSP_HOST ? lines : fmax(a->touched / f->line_bytes / a->n, 1e-9);
    }
    /* a line brings line_bytes; only `bytes` of them are used if nothing else of it is touched soon */
    const double alone = fmin(a->bytes / f->line_bytes, 1), used = fmin(alone / lines, 1);
    a->dense *= alone < 1 ? clamp((used - alone) / (1 - alone), 0, 1) : lines <= 1 ? 1 : 0;
}

lsp_access lsp_access_of(const lsp_cache_figures *f, const lsp_cache_case *what, double parts) {
    const double bytes = fmax((double)what->extent, 1) * (double)what->element_bytes / parts;
    lsp_access a = {.write = what->scatter, .n = (double)what->n / parts, .bytes = (double)what->element_bytes};
    a.all_bytes = bytes * parts + (double)what->n * (double)(what->element_bytes + what->index_bytes);
    if (what->pattern.kind == LSP_PATTERN_PARTITIONS) {
        partitions(f, fmax((double)what->pattern.partitions / parts, 1), bytes, &a);
    } else if (what->pattern.kind == LSP_PATTERN_SAMPLE) {
        a.n *= parts; /* the sample tells of all accesses */
        sampled(f, &what->pattern, bytes * parts, &a);
        a.n /= parts;
        a.touched /= parts;
        a.stationary /= parts;
        a.again /= parts;
        a.pages /= f->where == LSP_HOST ? 1 : parts;
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
    /* arrays that fit a processor's cache together are likely there; a GPU's L2 sees others between two calls */
    const double cold = f->where == LSP_HOST ? miss_on(f, curve(f, a), a->all_bytes) : 1;
    return cold * first + (visits - first) * (a->again < HUGE_VAL ? miss_on(f, curve(f, a), a->again) : 1);
}

/* Seconds to look up one sector. On a host that depends on the pages among which accesses jump. On a GPU
 * - a warp that writes whole sectors, in order, moves them as a copy does, c: the share of such writes;
 * - moving accesses that jump among more than 256 MiB pay for addresses: 2 MiB of a page are translated at once, and an
 *   H200 took no notice of 128 MiB of ranges, but 5 ps an access more with 512 MiB. Random accesses that miss the cache
 *   have this in their curve. */
static double lookup_seconds(const lsp_cache_figures *f, const lsp_access *a, const double *rates) {
    static const double translated = 256 << 20, translation = 2.7; /* of a hit's time */
    if (f->where == LSP_HOST) {
        return 1 / lsp_cache_rate(f, rates, a->pages);
    }
    const double near = 1 / rates[0], copied = fmin(near, f->sector_bytes / f->copy_rate);
    const double share = fmin(a->bytes / f->sector_bytes, 1);
    const double c = a->write && share < 1 ? clamp((1 - a->sectors) / (1 - share), 0, 1) : 0;
    const double lost = a->pages > translated ? 1 - translated / a->pages : 0;
    return near + c * (copied - near) + lost * translation * near;
}

static double lookups(const lsp_cache_figures *f, const lsp_access *a) {
    return a->n * a->sectors * lookup_seconds(f, a, curve(f, a));
}

static double fetches(const lsp_cache_figures *f, const lsp_access *a) {
    const double *rates = curve(f, a);
    const double near = lookup_seconds(f, a, rates), far = fmax(1 / rates[f->points - 1], near);
    const double moved = unit_bytes(f, a) / f->copy_rate, alone = fmax(far - near, moved);
    return lsp_access_misses(f, a) * (moved + (alone - moved) * (1 - a->dense));
}

double lsp_access_seconds(const lsp_cache_figures *f, const lsp_access *a) { return lookups(f, a) + fetches(f, a); }

double lsp_pass_seconds(const lsp_cache_figures *f, double n, const lsp_access *a, double streams) {
    static const double waits = 0.47; /* of a hit's time: fitted to one and two passes over indices in order */
    const double hits = lookups(f, a), memory = fetches(f, a) + streams;
    if (f->where == LSP_HOST) {
        return fmax(hits, streams) + fetches(f, a); /* streams flow while accesses hit */
    }
    const double p = 1 + a->dense;
    return hypot(pow(pow(hits, p) + pow(memory, p), 1 / p), n * waits / f->reads[0]);
}

double lsp_stream_seconds(const lsp_cache_figures *f, const lsp_cache_case *what, double bytes) {
    /* a processor reads more than half of it, and reads take less time than the writes of a copy; the share of that
     * time if its cache holds all arrays */
    static const double of_copy = 1.6, cached = 0.25;
    const double element = (double)what->element_bytes;
    const double all = (double)what->n * (element + (double)what->index_bytes) + (double)what->extent * element;
    return f->where == LSP_CUDA ? bytes / f->copy_rate
                                : bytes / (of_copy * f->copy_rate) * fmax(lsp_access_miss(f, false, all), cached);
}

/* ---- passes in parts ---- */

double lsp_pass_work(const lsp_cache_figures *f, double count) {
    /* of one thread of a CPU: two cores of a Zen 4 EPYC, 2026-11-24 */
    return f->where == LSP_HOST ? count * 1.0e-9 / fmax(f->threads, 1) : 0;
}

double lsp_parts_touched(const lsp_cache_case *what, double parts, double items) {
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

/* A sector that is written in part is filled first, and is written once for each part. If a part touches nearly all
 * lines, a sector costs what a copy of it does; if it touches few, what a write at random does. The array is swept once
 * a part: it stays in the cache if it fits half of it, beside the streams. */
static double written_in_parts(const lsp_cache_figures *f, double n, double bytes, double parts) {
    const double in_sector = fmax(f->sector_bytes / bytes, 1), in_line = fmax(f->line_bytes / bytes, 1);
    const double skipped = pow(1 - 1 / parts, in_line); /* lines that a part does not touch */
    const double sectors = n / in_sector * parts * (1 - pow(1 - 1 / parts, in_sector));
    const double copied = (in_sector > 1 ? 2 : 1) * fmax(f->sector_bytes, bytes) / f->copy_rate;
    const double alone = fmax(1 / f->writes[f->points - 1] - 1 / f->writes[0], copied);
    const double once = n * bytes / f->copy_rate, out = fmin(fmax(2 * n * bytes / f->cache_bytes - 1, 0), 1);
    return once + out * (sectors * (copied + (alone - copied) * skipped * skipped) - once);
}

double lsp_parts_seconds(const lsp_cache_figures *f, const lsp_cache_case *what, double most) {
    const double n = (double)what->n, bytes = (double)what->element_bytes;
    const double parts = f->where == LSP_HOST ? most : lsp_parts_touched(what, most, window);
    if (f->where == LSP_CUDA && !what->scatter && parts > 1) {
        return written_in_parts(f, n, bytes, parts);
    }
    const double elements = fmax(f->line_bytes / bytes, 1), touched = 1 - pow(1 - 1 / parts, elements);
    const double fill = !what->scatter && parts > 1 && elements > 1 ? 2 : 1;
    return lsp_stream_seconds(f, what, n * bytes * parts * touched * fill);
}

double lsp_parts_scan(const lsp_cache_figures *f, double n, int passes) {
    return passes > 1 ? lsp_pass_work(f, 2 * n * passes) : 0;
}
