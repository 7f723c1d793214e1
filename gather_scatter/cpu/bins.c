/* A scatter in one call by bins: to[index[i]] op from[i]. The pairs (place, element) go to bins of the destination; a
 * bin fits a core's second cache. Then each bin is written in the cache. Both steps keep the order of positions, so the
 * last writer and sums come out right for any number of threads. */
#include "cpu.h"
#include <string.h>
#include <unistd.h>

enum {
    MOST_BINS = 4096,
    NEIGHBOURS = 8,
    NARROW_BITS = 16 /* a place inside a bin that fits uint16 */
};

int64_t lsp_gather_near_items(size_t bytes, int64_t most) {
    int64_t cache = 0, items = 1;
#ifdef _SC_LEVEL2_CACHE_SIZE
    cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    cache = cache <= 0 ? 512 << 10 : lsp_max(lsp_min(cache, 2 << 20), 128 << 10);
    while (2 * items * (int64_t)bytes <= cache && 2 * items <= most) {
        items *= 2;
    }
    return items;
}

typedef struct bins {
    const lsp_gather_job *job;
    const lsp_column *column;
    int wide, shift, shares;  /* wide: places inside a bin are of type U32, not U16 */
    int64_t bins, most_items; /* of a share */
    lsp_packet_job *share;
} bins;

static void cut_share(void *data, int64_t share, int thread) {
    const bins *b = data;
    const lsp_gather_args *args = &b->job->args;
    lsp_packet_job *job = &b->share[share];
    int64_t begin, end;
    (void)thread;
    lsp_share(args->n, (int)share, b->shares, &begin, &end);
    job->from = (const char *)b->column->from + (size_t)begin * b->column->bytes;
    job->index = lsp_gather_index_from(args, begin);
    job->n = end - begin;
    job->bad = INT64_MAX;
    memset(job->open, 0, (size_t)b->bins * LSP_GATHER_PACKET_BYTES);
    for (int64_t bin = 0; bin < b->bins; bin++) {
        job->next[bin] = bin * LSP_GATHER_CHUNK;
    }
    lsp_gather_mover(b->job, b->column)->cut[args->index_type == LSP_I64][b->wide](job);
    job->bad = job->bad == INT64_MAX ? INT64_MAX : begin + job->bad;
}

/* A thread writes a few neighbours, so that it knows which bin follows. */
static void write_bins(void *data, int64_t part, int thread) {
    const bins *b = data;
    const lsp_mover *mover = lsp_gather_mover(b->job, b->column);
    const size_t bin_bytes = b->column->bytes << b->shift;
    (void)thread;
    for (int64_t bin = part * NEIGHBOURS; bin < lsp_min((part + 1) * NEIGHBOURS, b->bins); bin++) {
        char *to = (char *)b->column->to + (size_t)bin * bin_bytes;
        for (int share = 0; share < b->shares; share++) {
            const size_t part_of_next = bin_bytes / (size_t)b->shares * (size_t)share;
            mover->unpack[b->wide](to, &b->share[share], bin, to + bin_bytes + part_of_next);
        }
    }
}

/* Sets the width of a bin. A place inside it has 16 bits, or 32 if the bins would be too many. */
static void set_bins(lsp_ctx *ctx, bins *b) {
    const lsp_gather_args *args = &b->job->args;
    const int64_t chunk_bytes = LSP_GATHER_CHUNK * LSP_GATHER_PACKET_BYTES;
    b->shift = lsp_bits((uint64_t)lsp_gather_near_items(b->job->most_bytes, 1 << NARROW_BITS)) - 1;
    while ((args->extent - 1) >> b->shift >= MOST_BINS) {
        b->shift++;
    }
    b->wide = b->shift > NARROW_BITS;
    b->bins = ((args->extent - 1) >> b->shift) + 1;
    b->shares = (int)lsp_max(lsp_min(lsp_gather_threads(ctx, b->job), args->n * 16 / (b->bins * chunk_bytes)), 1);
    b->most_items = lsp_ceil_div(args->n, b->shares);
}

/* Takes memory for the shares: for each share the chunks that most_items fill, and one more per bin that stays partly
 * empty. */
static lsp_status allocate(lsp_ctx *ctx, bins *b) {
    int64_t fewest = INT64_MAX, chunks;
    for (int64_t c = 0; c < b->job->args.column_count; c++) {
        fewest = lsp_min(fewest, lsp_gather_mover(b->job, &b->job->args.columns[c])->packet_items[b->wide]);
    }
    chunks = b->most_items / (fewest * LSP_GATHER_CHUNK) + b->bins;
    LSP_TRY(LSP_SCRATCH(ctx, b->shares, &b->share));
    for (int s = 0; s < b->shares; s++) {
        lsp_packet_job *job = &b->share[s];
        *job = (lsp_packet_job){.extent = b->job->args.extent, .shift = b->shift, .bins = b->bins};
        LSP_TRY(LSP_SCRATCH(ctx, b->bins, &job->next));
        LSP_TRY(LSP_SCRATCH(ctx, chunks, &job->link));
        LSP_TRY(LSP_SCRATCH(ctx, b->bins * LSP_GATHER_PACKET_BYTES, &job->open));
        LSP_TRY(LSP_SCRATCH(ctx, chunks * LSP_GATHER_CHUNK * LSP_GATHER_PACKET_BYTES, &job->packets));
    }
    return LSP_OK;
}

lsp_status lsp_gather_cpu_bins(lsp_ctx *ctx, const lsp_gather_job *job, int64_t *bad) {
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_gather_args *args = &job->args;
    bins b = {.job = job};
    set_bins(ctx, &b);
    LSP_REQUIRE(b.shift <= 32, LSP_ERR_UNSUPPORTED, "%lld elements are too many for %d bins", (long long)args->extent,
                MOST_BINS);
    LSP_TRY(allocate(ctx, &b));
    for (int64_t c = 0; c < args->column_count; c++) {
        b.column = &args->columns[c];
        lsp_for_parts(ctx, b.shares, b.shares, cut_share, &b);
        lsp_for_parts(ctx, lsp_ceil_div(b.bins, NEIGHBOURS), b.shares, write_bins, &b);
    }
    for (int share = 0; share < b.shares; share++) {
        *bad = lsp_min(*bad, b.share[share].bad);
    }
    return LSP_OK;
}
