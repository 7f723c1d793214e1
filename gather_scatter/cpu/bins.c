/* A scatter in one call by bins: to[index[i]] op from[i]. The pairs (place, element) are cut into bins of the
 * destination, each of which fits half of a core's second cache; then each bin is written in the cache. Both steps keep
 * the order of positions, so the last writer and sums come out right whatever the threads. */
#include "cpu.h"
#include <string.h>
#include <unistd.h>

enum {
    MOST_BINS = 4096,
    NARROW_BITS = 16, /* a place inside a bin that fits uint16 */
    PAD = 64          /* a region begins at a multiple of so many items: then its cache lines are its own */
};

int64_t lsp_gather_near_items(size_t bytes, int64_t most) {
    int64_t cache = 0, items = 1;
#ifdef _SC_LEVEL2_CACHE_SIZE
    cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    cache = cache <= 0 ? 512 << 10 : lsp_max(lsp_min(cache, 2 << 20), 128 << 10);
    while (2 * items * (int64_t)bytes <= cache / 2 && 2 * items <= most) {
        items *= 2;
    }
    return items;
}

typedef struct bins {
    const lsp_gather_job *job;
    const lsp_column *column;
    int64_t *bad;
    int place, shift, shares; /* place: the type of the index */
    bool narrow, first;       /* places inside a bin are of type U16; this is the first column */
    int64_t bins;
    int64_t *begin,
        *cursor;   /* of the region of (share, bin) in `values` and `local`: where it begins, and ends so far */
    bool *careful; /* of each share */
    void *values, *local, *lines, *local_lines;
} bins;

/* ---- counting ---- */

static void count_share(void *data, int64_t share, int thread) {
    const bins *b = data;
    const lsp_gather_args *args = &b->job->args;
    int64_t begin, end, *count = b->begin + share * b->bins;
    (void)thread;
    lsp_share(args->n, (int)share, b->shares, &begin, &end);
    const int64_t outside = lsp_gather_first_outside(args, begin, end);
    b->careful[share] = outside != INT64_MAX;
    if (b->careful[share]) {
        lsp_lower(b->bad, outside);
    }
    for (int64_t i = begin; i < end; i++) {
        const uint64_t x = (uint64_t)lsp_index_at(args->index, args->index_type, i);
        if (!b->careful[share] || x < (uint64_t)args->extent) {
            count[x >> b->shift]++;
        }
    }
}

/* Turns the counts into begins, bin by bin, inside a bin share by share. */
static void lay_out_regions(const bins *b) {
    int64_t sum = 0;
    for (int64_t bin = 0; bin < b->bins; bin++) {
        for (int share = 0; share < b->shares; share++) {
            int64_t *begin = &b->begin[share * b->bins + bin], count = *begin;
            *begin = sum;
            sum += lsp_ceil_div(count, PAD) * PAD;
        }
    }
}

/* ---- one column ---- */

static void place_share(void *data, int64_t share, int thread) {
    const bins *b = data;
    const lsp_gather_args *args = &b->job->args;
    int64_t begin, end;
    lsp_share(args->n, (int)share, b->shares, &begin, &end);
    const size_t bytes = b->column->bytes, line = (size_t)thread * (size_t)b->bins * 64;
    const lsp_place_job job = {.from = (const char *)b->column->from + (size_t)begin * bytes,
                               .index = lsp_gather_index_from(args, begin),
                               .n = end - begin,
                               .extent = args->extent,
                               .shift = b->shift,
                               .careful = b->careful[share],
                               .cursor = b->cursor + share * b->bins,
                               .values = b->values,
                               .local = b->first ? b->local : NULL,
                               .lines = (char *)b->lines + line,
                               .local_lines = (char *)b->local_lines + line,
                               .bins = b->bins};
    memcpy(job.cursor, b->begin + share * b->bins, (size_t)b->bins * sizeof *job.cursor);
    lsp_gather_mover(b->job, b->column)->place[b->place == LSP_PLACE_I64][!b->narrow](&job);
}

static void write_bin(void *data, int64_t bin, int thread) {
    const bins *b = data;
    const lsp_mover *mover = lsp_gather_mover(b->job, b->column);
    const int place = b->narrow ? LSP_PLACE_U16 : LSP_PLACE_U32;
    const size_t bytes = b->column->bytes;
    char *to = (char *)b->column->to + ((size_t)bin << b->shift) * bytes;
    (void)thread;
    for (int share = 0; share < b->shares; share++) {
        const int64_t at = share * b->bins + bin, begin = b->begin[at], count = b->cursor[at] - begin;
        mover->scatter[place](to, (const char *)b->values + (size_t)begin * bytes,
                              (const char *)b->local + (size_t)begin * (b->narrow ? 2 : 4), count, bytes);
    }
}

/* ---- all columns ---- */

lsp_status lsp_gather_cpu_bins(lsp_ctx *ctx, const lsp_gather_job *job, int64_t *bad) {
    lsp_status status = LSP_OK;
    const size_t mark = lsp_scratch_mark(ctx);
    const lsp_gather_args *args = &job->args;
    bins b = {.job = job, .bad = bad, .place = lsp_gather_place_of(args->index_type), .first = true};
    int64_t regions;
    b.shift = lsp_bits((uint64_t)lsp_gather_near_items(job->most_bytes, 1 << NARROW_BITS)) - 1;
    while ((args->extent - 1) >> b.shift >= MOST_BINS) {
        b.shift++;
    }
    b.narrow = b.shift <= NARROW_BITS;
    b.bins = ((args->extent - 1) >> b.shift) + 1;
    b.shares = (int)lsp_max(lsp_min(lsp_gather_threads(ctx, job), args->n / b.bins), 1);
    LSP_REQUIRE(b.shift <= 32, LSP_ERR_UNSUPPORTED, "%lld elements are too many for %d bins", (long long)args->extent,
                MOST_BINS);
    regions = b.shares * b.bins;
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, regions, &b.begin));
    LSP_TRY(LSP_SCRATCH(ctx, regions, &b.cursor));
    LSP_TRY(LSP_SCRATCH(ctx, b.shares, &b.careful));
    LSP_TRY(LSP_SCRATCH(ctx, regions * 64, (char **)&b.lines));
    LSP_TRY(LSP_SCRATCH(ctx, regions * 64, (char **)&b.local_lines));
    LSP_TRY(lsp_scratch_bytes(ctx, args->n + regions * (PAD - 1), job->most_bytes, false, &b.values));
    LSP_TRY(lsp_scratch_bytes(ctx, args->n + regions * (PAD - 1), b.narrow ? 2 : 4, false, &b.local));
    lsp_for_parts(ctx, b.shares, b.shares, count_share, &b);
    lay_out_regions(&b);
    for (int64_t c = 0; c < args->column_count; c++) {
        b.column = &args->columns[c];
        lsp_for_parts(ctx, b.shares, b.shares, place_share, &b);
        lsp_for_parts(ctx, b.bins, b.shares, write_bin, &b);
        b.first = false;
    }
done:
    lsp_scratch_release(ctx, mark);
    return status;
}
