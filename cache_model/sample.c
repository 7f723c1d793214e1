/* Measures a pattern from windows of 16384 neighbouring indices, spread evenly over the array. Hash tables keep when
 * each line, sector and region was touched last: an access is new to a window if its sector was touched last
 * before the window began. How often lines of one window come back in others tells how many lines there are in all. */
#include "cache_model.h"
#include "core/cuda.h"
#include <math.h>

enum { window_bits = 14, window = 1 << window_bits, region_bytes = 128 << 10, measured = 4, public_windows = 6 };

/* A hash table of blocks, with the access that touched each last. A slot has 40 bits that tell the block, which are
 * exact below 2^40, and 24 bits with the access + 1; 0: free. At most three quarters of the slots are used. */
typedef struct seen_table {
    uint64_t *slots;
    int bits;
} seen_table;

/* Returns the access before that touched the block, -1: none; notes this one. */
static int32_t touch(const seen_table *s, int64_t block, int32_t access) {
    const uint64_t hash = (uint64_t)block * 0x9E3779B97F4A7C15u, tag = hash << 24, mask = (UINT64_C(1) << s->bits) - 1;
    uint64_t slot = hash >> (64 - s->bits);
    while (s->slots[slot] != 0 && (s->slots[slot] ^ tag) >> 24 != 0) {
        slot = (slot + 1) & mask;
    }
    const int32_t before = (int32_t)(s->slots[slot] & 0xFFFFFF) - 1;
    s->slots[slot] = tag | (uint64_t)(access + 1);
    return before;
}

static lsp_status make_seen(lsp_ctx *ctx, int windows, seen_table *s) {
    s->bits = lsp_bits((uint64_t)windows * window * 4 / 3);
    return LSP_SCRATCH_ZERO(ctx, (int64_t)1 << s->bits, &s->slots);
}

/* ---- reading the windows ---- */

/* Where window v begins, and how many indices it has. Each lies in the middle of its share of the indices: at the ends
 * of the array, the last lines of one partition would be the first ones of the next, and look as if accesses came back.
 */
static int64_t begin_of(int64_t n, int spread, int v, int64_t *count) {
    const int64_t wanted = lsp_min(n, (int64_t)spread * window), each = window;
    const int64_t share = n / spread, middle = v * share + (share - each) / 2;
    const int64_t begin = n == wanted ? v * each : middle / 64 * 64; /* whole lines */
    *count = lsp_max(lsp_min(each, n - begin), 0);
    return begin;
}

/* Copies all windows to `index`, one behind the other; window v begins at v * window. */
static lsp_status read_windows(lsp_ctx *ctx, const void *index, lsp_type type, int64_t n, lsp_where where, int spread,
                               void *to) {
    lsp_status status = LSP_OK;
    const int64_t item = (int64_t)lsp_type_bytes(type);
    const char *from = index;
    char *copy = to;
    int64_t count;
    const void *stage;
    for (int v = 0; v < spread; v++) {
        const int64_t begin = begin_of(n, spread, v, &count) * item;
        if (where == LSP_HOST && count > 0) {
            __builtin_memcpy(copy + v * (int64_t)window * item, from + begin, (size_t)(count * item));
        } else if (count > 0) {
            LSP_TRY(lsp_cuda_fetch(ctx, 0, v * (int64_t)window * item, from + begin, count * item));
        }
    }
    if (where == LSP_CUDA && n > 0) {
        LSP_TRY(lsp_cuda_fetched(ctx, 0, &stage));
        __builtin_memcpy(copy, stage, (size_t)(spread * (int64_t)window * item));
    }
done:
    return status;
}

/* ---- counting ---- */

/* fresh[k]: accesses that are new to the k smallest windows around them, whose sizes are 32 * 8^w and which begin at
 * multiples of their size; the largest is `window`. */
typedef struct counts {
    int64_t accesses, fresh_sectors[measured + 1], fresh_lines[measured + 1], distinct_lines, regions;
    int windows;
} counts;

/* To how many windows is an access new, if its block was touched last by access `before`? */
static int freshness(int32_t access, int32_t before) {
    const int bits = lsp_bits((uint64_t)(access ^ before)); /* both lie in one window if they differ in its bits only */
    return before < 0 || bits > window_bits ? measured : bits <= 5 ? 0 : (bits - 3) / 3;
}

/* How often an access is new to a window of 32 * 8^w. */
static double new_to(const int64_t *fresh, int w) {
    int64_t sum = 0;
    for (int k = w + 1; k <= measured; k++) {
        sum += fresh[k];
    }
    return (double)sum;
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

static void count_all(const void *index, const lsp_gather_args *args, int spread, double element,
                      const lsp_cache_figures *f, const seen_table *seen, counts *c) {
    const int64_t bytes = (int64_t)element, most = INT64_MAX / 2 / bytes;
    const block_cut line = cut_by(bytes, (int64_t)f->line_bytes), sector = cut_by(bytes, (int64_t)f->sector_bytes);
    const block_cut region = cut_by(bytes, region_bytes);
    for (int v = 0; v < spread; v++) {
        int64_t count;
        (void)begin_of(args->n, spread, v, &count);
        c->windows += count > 0;
        for (int64_t i = 0; i < count; i++) {
            const int32_t access = (int32_t)(v * (int64_t)window + i);
            const int64_t found = lsp_index_at(index, args->index_type, access);
            if (found < 0 || found > most) {
                continue; /* outside: the call itself will refuse it */
            }
            const int32_t before = touch(&seen[0], block_of(&line, found), access);
            const int fresh = freshness(access, before);
            c->fresh_lines[fresh]++;
            c->distinct_lines += before < 0;
            c->fresh_sectors[line.size == sector.size
                                 ? fresh
                                 : freshness(access, touch(&seen[1], block_of(&sector, found), access))]++;
            c->regions += touch(&seen[2], block_of(&region, found), access) < v * window;
            c->accesses++;
        }
    }
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

static void conclude(const counts *c, int64_t n, const lsp_cache_figures *f, lsp_cache_pattern *p) {
    const double all = fmax((double)c->accesses, 1), windows = fmax(c->windows, 1);
    *p = (lsp_cache_pattern){.kind = LSP_PATTERN_SAMPLE};
    for (int w = 0; w < LSP_PATTERN_WINDOWS; w++) {
        const int k = w < measured ? w : measured - 1;
        p->sectors[w] = c->accesses > 0 ? new_to(c->fresh_sectors, k) / all : 1;
        p->lines[w] = c->accesses > 0 ? new_to(c->fresh_lines, k) / all : 1;
    }
    const double lines = new_to(c->fresh_lines, measured - 1), each = fmax(lines / windows, 1);
    double touched = (double)c->distinct_lines;
    if (n > c->accesses && c->windows > 1) {
        const double chance = touched < lines ? overlap(each, touched, c->windows) : 0, whole = (double)n / window;
        touched = chance > 1e-9 ? each * -expm1(whole * log1p(-fmin(chance, 1 - 1e-9))) / chance : each * whole;
    }
    p->regions = fmax((double)c->regions / windows, 1);
    p->touched_bytes = (int64_t)fmax(fmin(touched * f->line_bytes, 9e18), 1);
}

static lsp_status check(lsp_ctx *ctx, const lsp_gather_args *args, size_t element_bytes) {
    lsp_status status = LSP_OK;
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
done:
    return status;
}

lsp_status lsp_cache_sample(lsp_ctx *ctx, const lsp_gather_args *args, size_t element_bytes, int windows,
                            lsp_cache_pattern *pattern) {
    lsp_status status = LSP_OK;
    const size_t mark = lsp_scratch_mark(ctx);
    const lsp_cache_figures *f;
    seen_table seen[3]; /* of lines, sectors, regions */
    counts c = {0};
    void *copy;
    LSP_TRY(lsp_cache_figures_of(ctx, &f));
    for (int i = 0; i < 3; i++) {
        LSP_TRY(make_seen(ctx, windows, &seen[i]));
    }
    LSP_TRY(lsp_scratch_bytes(ctx, (int64_t)windows * window, lsp_type_bytes(args->index_type), false, &copy));
    LSP_TRY(read_windows(ctx, args->index, args->index_type, args->n, args->where, windows, copy));
    count_all(copy, args, windows, (double)element_bytes, f, seen, &c);
    conclude(&c, args->n, f, pattern);
done:
    lsp_scratch_release(ctx, mark);
    return status;
}

lsp_status lsp_cache_model_sample(lsp_ctx *ctx, const void *index, lsp_type index_type, int64_t n, size_t element_bytes,
                                  lsp_where where, lsp_cache_pattern *pattern) {
    lsp_status status = LSP_OK;
    if (ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    const lsp_gather_args args = {.n = n, .index = index, .index_type = index_type, .where = where};
    LSP_REQUIRE(pattern, LSP_ERR_ARGUMENT, "the place for the pattern is NULL");
    LSP_TRY(check(ctx, &args, element_bytes));
    LSP_TRY(lsp_cache_sample(ctx, &args, element_bytes, public_windows, pattern));
done:
    return status;
}
