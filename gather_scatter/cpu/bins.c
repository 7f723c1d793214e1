/* A scatter in one call by bins: to[index[i]] op from[i]. The pairs (place, element) are cut into bins of the
 * destination, each of which fits half of a core's second cache; then each bin is written in the cache. Both steps keep
 * the order of positions, so the last writer and sums come out right whatever the threads. */
#include "cpu.h"
#include <string.h>
#include <unistd.h>

enum {
    MOST_BINS = 4096,
    NARROW_BITS = 16 /* a place inside a bin that fits uint16 */
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
    int wide, shift, shares; /* wide: places inside a bin are of type U32, not U16 */
    int64_t bins;
    int64_t *count, *begin, *next; /* [share][bin]: items; the first packet; the next packet while it is cut */
    bool *careful;                 /* of each share */
    char *packets, *open;
} bins;

/* ---- counting ---- */

static void count_share(void *data, int64_t share, int thread) {
    const bins *b = data;
    const lsp_gather_args *args = &b->job->args;
    int64_t begin, end, *count = b->count + share * b->bins;
    (void)thread;
    lsp_share(args->n, (int)share, b->shares, &begin, &end);
    const int64_t outside = lsp_gather_first_outside(args, begin, end);
    b->careful[share] = outside != INT64_MAX;
    if (b->careful[share]) {
        lsp_lower(b->bad, outside);
        for (int64_t i = begin; i < end; i++) {
            const uint64_t x = (uint64_t)lsp_index_at(args->index, args->index_type, i);
            count[x < (uint64_t)args->extent ? x >> b->shift : 0] += x < (uint64_t)args->extent;
        }
    } else {
        lsp_gather_count(args, begin, end, b->shift, count);
    }
}

/* Where the packets of each bin and share begin: bin by bin, inside a bin share by share. */
static void lay_out_packets(const bins *b, int items) {
    int64_t sum = 0;
    for (int64_t bin = 0; bin < b->bins; bin++) {
        for (int share = 0; share < b->shares; share++) {
            const int64_t at = share * b->bins + bin;
            b->begin[at] = b->next[at] = sum;
            sum += b->count[at] / items + 1;
        }
    }
}

/* ---- one column ---- */

static void cut_share(void *data, int64_t share, int thread) {
    const bins *b = data;
    const lsp_gather_args *args = &b->job->args;
    int64_t begin, end;
    lsp_share(args->n, (int)share, b->shares, &begin, &end);
    const lsp_packet_job job = {.from = (const char *)b->column->from + (size_t)begin * b->column->bytes,
                                .index = lsp_gather_index_from(args, begin),
                                .n = end - begin,
                                .extent = args->extent,
                                .shift = b->shift,
                                .careful = b->careful[share],
                                .bins = b->bins,
                                .next = b->next + share * b->bins,
                                .packets = b->packets,
                                .open = b->open + thread * b->bins * LSP_GATHER_PACKET_BYTES};
    memset(job.open, 0, (size_t)b->bins * LSP_GATHER_PACKET_BYTES);
    lsp_gather_mover(b->job, b->column)->cut[args->index_type == LSP_I64][b->wide](&job);
}

static void write_bin(void *data, int64_t bin, int thread) {
    const bins *b = data;
    char *to = (char *)b->column->to + ((size_t)bin << b->shift) * b->column->bytes;
    (void)thread;
    for (int share = 0; share < b->shares; share++) {
        const int64_t at = share * b->bins + bin;
        lsp_gather_mover(b->job, b->column)
            ->unpack[b->wide](to, b->packets + b->begin[at] * LSP_GATHER_PACKET_BYTES, b->count[at]);
    }
}

/* ---- all columns ---- */

/* Sets the width of a bin. A place inside it has 16 bits, or 32 if the bins would be too many. */
static void set_bins(lsp_ctx *ctx, bins *b) {
    const lsp_gather_args *args = &b->job->args;
    b->shift = lsp_bits((uint64_t)lsp_gather_near_items(b->job->most_bytes, 1 << NARROW_BITS)) - 1;
    while ((args->extent - 1) >> b->shift >= MOST_BINS) {
        b->shift++;
    }
    b->wide = b->shift > NARROW_BITS;
    b->bins = ((args->extent - 1) >> b->shift) + 1;
    b->shares = (int)lsp_max(lsp_min(lsp_gather_threads(ctx, b->job), args->n / b->bins), 1);
}

lsp_status lsp_gather_cpu_bins(lsp_ctx *ctx, const lsp_gather_job *job, int64_t *bad) {
    lsp_status status = LSP_OK;
    const size_t mark = lsp_scratch_mark(ctx);
    const lsp_gather_args *args = &job->args;
    bins b = {.job = job, .bad = bad};
    int64_t regions, fewest = INT64_MAX;
    set_bins(ctx, &b);
    LSP_REQUIRE(b.shift <= 32, LSP_ERR_UNSUPPORTED, "%lld elements are too many for %d bins", (long long)args->extent,
                MOST_BINS);
    for (int64_t c = 0; c < args->column_count; c++) {
        fewest = lsp_min(fewest, lsp_gather_mover(job, &args->columns[c])->packet_items[b.wide]);
    }
    regions = b.shares * b.bins;
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, regions, &b.count));
    LSP_TRY(LSP_SCRATCH(ctx, regions, &b.begin));
    LSP_TRY(LSP_SCRATCH(ctx, regions, &b.next));
    LSP_TRY(LSP_SCRATCH(ctx, b.shares, &b.careful));
    LSP_TRY(LSP_SCRATCH(ctx, regions * LSP_GATHER_PACKET_BYTES, &b.open));
    LSP_TRY(LSP_SCRATCH(ctx, (args->n / fewest + regions) * LSP_GATHER_PACKET_BYTES, &b.packets));
    lsp_for_parts(ctx, b.shares, b.shares, count_share, &b);
    for (int64_t c = 0; c < args->column_count; c++) {
        b.column = &args->columns[c];
        lay_out_packets(&b, lsp_gather_mover(job, b.column)->packet_items[b.wide]);
        lsp_for_parts(ctx, b.shares, b.shares, cut_share, &b);
        lsp_for_parts(ctx, b.bins, b.shares, write_bin, &b);
    }
done:
    lsp_scratch_release(ctx, mark);
    return status;
}
