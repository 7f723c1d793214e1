/* Measures a pattern from windows of 16384 neighbouring indices, spread evenly over the array; a thread takes a window.
 * Hash tables keep when each line, sector and region was touched last: an access is new to a smaller window inside if
 * its sector was touched last before that began. How often lines of one window come back in others tells how many lines
 * there are in all. */
#include "cache_model.h"
#include "core/cuda.h"
#include <math.h>
#include <string.h>

enum { window = LSP_SAMPLE_WINDOW, region_bytes = 128 << 10, measured = LSP_SAMPLE_SIZES, public_windows = 6 };
/* Of a window: its tables, for lines, sectors and regions; the most bits of each. */
enum { tables = 3, table_bits = LSP_SAMPLE_BITS + 1 };

/* A hash table of blocks, with the access that touched each last. A slot has 40 bits that tell the block, which are
 * exact below 2^40, and 24 bits with the access + 1; 0: free. At most three quarters of the slots are used. */
typedef struct seen_table {
    uint64_t *slots;
    int bits;
} seen_table;

static int bits_for(int64_t blocks) { return lsp_bits((uint64_t)blocks * 4 / 3 + 1); }

/* Returns the access before that touched the block with this hash, -1: none; notes this one. */
static int32_t touch(const seen_table *s, uint64_t hash, int32_t access) {
    const uint64_t tag = hash << 24, mask = (UINT64_C(1) << s->bits) - 1;
    uint64_t slot = hash >> (40 - s->bits) & mask;
    while (s->slots[slot] != 0 && (s->slots[slot] ^ tag) >> 24 != 0) {
        slot = (slot + 1) & mask;
    }
    const int32_t before = (int32_t)(s->slots[slot] & 0xFFFFFF) - 1;
    s->slots[slot] = tag | (uint64_t)(access + 1);
    return before;
}

/* ---- reading the windows ---- */

/* Where window v begins, and how many indices it has. Each lies in the middle of its share of the indices: at the ends
 * of the array, the last lines of one partition would be the first of the next, and look as if accesses came back. */
static int64_t begin_of(int64_t n, int spread, int v, int64_t *count) {
    const int64_t wanted = lsp_min(n, (int64_t)spread * window), each = window;
    const int64_t share = n / spread, middle = v * share + (share - each) / 2;
    const int64_t begin = n == wanted ? v * each : middle / 64 * 64; /* whole lines */
    *count = lsp_max(lsp_min(each, n - begin), 0);
    return begin;
}

/* ---- counting ---- */

/* fresh[k]: accesses that are new to the k smallest windows around them. lines, regions: how many a window has. */
typedef struct counts {
    int64_t accesses, fresh_sectors[measured + 1], fresh_lines[measured + 1], lines, regions;
} counts;

/* To how many windows is an access new, if its block was touched last by access `before`, -1: by none? Two accesses lie
 * in one window if they differ in its bits only. A table, because branches would often be guessed wrong. */
static int freshness(int32_t access, int32_t before) {
    static const unsigned char new_to_windows[65] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, [64] = measured};
    return new_to_windows[lsp_bits((uint64_t)(int64_t)(access ^ before))];
}

/* The number of the block of `size` bytes that element `found` begins in. Divisions would take most of the time. */
typedef struct block_cut {
    int64_t bytes, size;
    int shift; /* size = 2^shift; -1: no power of two */
} block_cut;
static block_cut cut_by(int64_t bytes, int64_t size) {
    return (block_cut){bytes, size, (size & (size - 1)) == 0 ? lsp_bits((uint64_t)size) - 1 : -1};
}
static int64_t block_of(const block_cut *cut, int64_t found) {
    return cut->shift >= 0 ? found * cut->bytes >> cut->shift : found * cut->bytes / cut->size;
}
/* Its hash: an odd factor, which spreads neighbours. */
static uint64_t hash_of(const block_cut *cut, int64_t found) { return (uint64_t)block_of(cut, found) * 0x9E3779B97Fu; }

typedef struct sample {
    const lsp_gather_args *args;
    int windows;
    int64_t most; /* the largest index that can be counted */
    block_cut cut[tables];
    uint64_t *slots; /* `tables` tables for each window */
    uint64_t *lines; /* the hashes of the lines of each window, which are those of window v from v * window on */
    counts *of;      /* each window */
} sample;

/* The elements that a window touches. */
typedef struct range {
    int64_t accesses, low, high;
} range;

static bool counts_as_access(const sample *s, int64_t found) {
    return found >= 0 && found <= s->most; /* else outside: the call itself will refuse it */
}

static range range_of(const sample *s, int64_t begin, int64_t count) {
    range r = {0, s->most, 0};
    for (int64_t i = 0; i < count; i++) {
        const int64_t found = lsp_index_at(s->args->index, s->args->index_type, begin + i);
        if (counts_as_access(s, found)) {
            r.accesses++;
            r.low = lsp_min(r.low, found);
            r.high = lsp_max(r.high, found);
        }
    }
    return r;
}

/* An empty table for the blocks that a window may touch. It is small where the window touches neighbours, and then lies
 * in the first cache. */
static seen_table table_of(const sample *s, int64_t v, int table, const range *r) {
    const int64_t between = r->accesses > 0 ? block_of(&s->cut[table], r->high) - block_of(&s->cut[table], r->low) : 0;
    const seen_table made = {s->slots + ((v * tables + table) << table_bits),
                             bits_for(lsp_min(r->accesses, between + 1))};
    memset(made.slots, 0, sizeof *made.slots << made.bits);
    return made;
}

static void count_window(void *data, int64_t v, int thread) {
    const sample *s = data;
    const bool alike = s->cut[0].size == s->cut[1].size;
    counts c = {0};
    int64_t count;
    (void)thread;
    const int64_t begin = begin_of(s->args->n, s->windows, (int)v, &count);
    const range r = range_of(s, begin, count);
    const seen_table lines = table_of(s, v, 0, &r), sectors = table_of(s, v, 1, &r), regions = table_of(s, v, 2, &r);
    for (int32_t i = 0; i < count; i++) {
        const int64_t found = lsp_index_at(s->args->index, s->args->index_type, begin + i);
        if (!counts_as_access(s, found)) {
            continue;
        }
        const uint64_t line = hash_of(&s->cut[0], found);
        const int32_t before = touch(&lines, line, i);
        const int fresh = freshness(i, before);
        c.fresh_lines[fresh]++;
        c.fresh_sectors[alike ? fresh : freshness(i, touch(&sectors, hash_of(&s->cut[1], found), i))]++;
        if (before < 0) { /* else its region was touched with the line */
            s->lines[v * window + c.lines++] = line;
            c.regions += touch(&regions, hash_of(&s->cut[2], found), i) < 0;
        }
    }
    c.accesses = r.accesses;
    s->of[v] = c;
}

/* Adds up the first `used` windows. */
static lsp_status count_all(lsp_ctx *ctx, sample *s, int used, lsp_window_counts *all) {
    seen_table together;
    LSP_TRY(LSP_SCRATCH(ctx, (int64_t)s->windows * tables << table_bits, &s->slots));
    LSP_TRY(LSP_SCRATCH(ctx, (int64_t)s->windows * window, &s->lines));
    LSP_TRY(LSP_SCRATCH(ctx, s->windows, &s->of));
    lsp_for_parts(ctx, used, (int)lsp_min(ctx->options.threads, used), count_window, s);
    for (int v = 0; v < used; v++) {
        const counts *c = &s->of[v];
        for (int k = 1; k <= measured; k++) {
            for (int w = 0; w < k; w++) {
                all->sectors[w] += c->fresh_sectors[k];
                all->lines[w] += c->fresh_lines[k];
            }
        }
        all->accesses += c->accesses, all->regions += c->regions;
    }
    together.bits = bits_for(all->lines[measured - 1]);
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, (int64_t)1 << together.bits, &together.slots));
    for (int v = 0; v < used; v++) {
        for (int64_t i = 0; i < s->of[v].lines; i++) {
            all->distinct += touch(&together, s->lines[v * (int64_t)window + i], 0) < 0;
        }
    }
    return LSP_OK;
}

static lsp_status count_there(lsp_ctx *ctx, const sample *s, int used, const lsp_cache_figures *f,
                              lsp_window_counts *all) {
    lsp_window_job job = {.index = s->args->index, .type = s->args->index_type, .windows = used, .most = s->most};
    job.bytes = s->cut[0].bytes, job.region = region_bytes;
    job.line = (int64_t)f->line_bytes, job.sector = (int64_t)f->sector_bytes;
    for (int v = 0; v < used; v++) {
        job.begin[v] = begin_of(s->args->n, s->windows, v, &job.count[v]);
    }
    return lsp_windows_count(ctx, &job, all);
}

/* Of `windows` windows with `each` lines, `distinct` lines differ. If a window's lines are drawn from K lines, another
 * window has each of them with chance p = each / K, and distinct = each * (1 - (1-p)^windows) / p. Returns p. */
static double overlap(double each, double distinct, int windows) {
    double low = 0, high = 1;
    for (int i = 0; i < 60; i++) {
        const double p = (low + high) / 2;
        *(-expm1(windows * log1p(-p)) / p * each > distinct ? &low : &high) = p;
    }
    return (low + high) / 2;
}

static void conclude(const lsp_window_counts *c, int used, int64_t n, const lsp_cache_figures *f,
                     lsp_cache_pattern *p) {
    const double all = fmax((double)c->accesses, 1), windows = fmax(used, 1);
    *p = (lsp_cache_pattern){.kind = LSP_PATTERN_SAMPLE};
    for (int w = 0; w < LSP_PATTERN_WINDOWS; w++) {
        const int k = w < measured ? w : measured - 1;
        p->sectors[w] = c->accesses > 0 ? (double)c->sectors[k] / all : 1;
        p->lines[w] = c->accesses > 0 ? (double)c->lines[k] / all : 1;
    }
    const double lines = (double)c->lines[measured - 1], each = fmax(lines / windows, 1);
    double touched = (double)c->distinct;
    if (n > c->accesses && used > 1) {
        const double chance = touched < lines ? overlap(each, touched, used) : 0, whole = (double)n / window;
        touched = chance > 1e-9 ? each * -expm1(whole * log1p(-fmin(chance, 1 - 1e-9))) / chance : each * whole;
    }
    p->regions = fmax((double)c->regions / windows, 1);
    p->touched_bytes = (int64_t)fmax(fmin(touched * f->line_bytes, 9e18), 1);
}

static lsp_status check(lsp_ctx *ctx, const lsp_gather_args *args, size_t element_bytes) {
    const lsp_where where = args->where;
    LSP_REQUIRE(args->n >= 0 && (args->index || args->n == 0), LSP_ERR_ARGUMENT,
                "%lld indices: negative, or the array is NULL", (long long)args->n);
    LSP_REQUIRE(args->index_type == LSP_I32 || args->index_type == LSP_I64, LSP_ERR_ARGUMENT,
                "indices of %s: they are LSP_I32 or LSP_I64", lsp_type_name(args->index_type));
    LSP_REQUIRE(element_bytes >= 1 && element_bytes <= 4096, LSP_ERR_ARGUMENT,
                "elements of %zu bytes: 1 to 4096 can be sampled", element_bytes);
    LSP_REQUIRE(where == LSP_HOST || where == LSP_CUDA, LSP_ERR_ARGUMENT,
                "the indices are at place %d: neither LSP_HOST nor LSP_CUDA", (int)where);
    LSP_REQUIRE(where == LSP_HOST || ctx->options.device == LSP_CUDA, LSP_ERR_ARGUMENT,
                "the indices are on a GPU, the context works on the host");
    LSP_REQUIRE(where == LSP_HOST || !lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                "work on the stream is being recorded into a graph: indices cannot be read there");
    return LSP_OK;
}

lsp_status lsp_cache_sample(lsp_ctx *ctx, const lsp_gather_args *args, size_t element_bytes, int windows,
                            lsp_cache_pattern *pattern) {
    LSP_SCRATCH_SCOPE(ctx);
    const int64_t bytes = (int64_t)element_bytes;
    const int used = (int)lsp_min(lsp_ceil_div(args->n, window), windows); /* windows with indices */
    const lsp_cache_figures *f;
    sample s = {.args = args, .windows = windows, .most = INT64_MAX / 2 / bytes};
    lsp_window_counts all = {0};
    LSP_TRY(lsp_cache_figures_of(ctx, &f));
    s.cut[0] = cut_by(bytes, (int64_t)f->line_bytes);
    s.cut[1] = cut_by(bytes, (int64_t)f->sector_bytes);
    s.cut[2] = cut_by(bytes, region_bytes);
    LSP_TRY(args->where == LSP_CUDA ? count_there(ctx, &s, used, f, &all) : count_all(ctx, &s, used, &all));
    conclude(&all, used, args->n, f, pattern);
    return LSP_OK;
}

lsp_status lsp_cache_model_sample(lsp_ctx *ctx, const void *index, lsp_type index_type, int64_t n, size_t element_bytes,
                                  lsp_where where, lsp_cache_pattern *pattern) {
    LSP_ENTER(ctx);
    const lsp_gather_args args = {.n = n, .index = index, .index_type = index_type, .where = where};
    LSP_REQUIRE(pattern, LSP_ERR_ARGUMENT, "the place for the pattern is NULL");
    LSP_TRY(check(ctx, &args, element_bytes));
    return lsp_cache_sample(ctx, &args, element_bytes, public_windows, pattern);
}
