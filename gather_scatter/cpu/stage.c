/* Staged plans: tmp[k] = tile[from_place[k]] tile by tile of the source, then bin[to_place[j]] op tmp[...] bin by bin
 * of the destination. Tiles and bins fit a core's second cache, so both loops miss only where they go straight.
 * The positions and the indexed array are cut alike: the positions of a gather are bins, of a scatter tiles. */
#include "cpu.h"
#include <string.h>

enum { MOST_ITEMS = 1 << 16, STREAM_BYTES = 4096, FEW_RUNS = 1 << 20, NEIGHBOURS = 8, RUNS_AHEAD = 8 };

/* ---- making ---- */

typedef struct making {
    const lsp_gather_job *job;
    lsp_stage *stage;
    int64_t items, blocks, ranges;       /* of a block of positions; blocks; ranges of the indexed array */
    int shift;                           /* a range has 2^shift elements, as many as a block */
    int64_t *start;                      /* [block][range]: counts, then where the run begins among its range's items */
    int64_t *range_at;                   /* where the items of a range begin */
    uint16_t *block_place, *range_place; /* the stage's from_place and to_place, or the other way around */
    int64_t *offset;                     /* of each thread: `ranges` numbers */
    uint16_t *sorted;                    /* of each thread: `items` places */
    uint64_t *seen;                      /* of each thread: a bit for each element of a bin */
} making;

/* wanted: items of a tile and of a bin, a power of two; 0: as many as a core's second cache holds. */
static void set_sizes(const lsp_gather_job *job, int64_t wanted, making *m) {
    const lsp_gather_args *args = &job->args;
    m->job = job;
    m->items = wanted > 0 ? wanted : lsp_gather_near_items(job->most_bytes, MOST_ITEMS);
    for (;; m->items *= 2) {
        m->shift = lsp_bits((uint64_t)m->items) - 1;
        m->blocks = ((args->n - 1) >> m->shift) + 1;
        m->ranges = ((args->extent - 1) >> m->shift) + 1;
        if (wanted > 0 || m->items == MOST_ITEMS || m->ranges <= lsp_max(args->n, FEW_RUNS) / 8 / m->blocks) {
            return;
        }
    }
}

bool lsp_gather_stage_fits(const lsp_gather_job *job) {
    making m;
    set_sizes(job, 0, &m);
    return job->args.n > 0 && m.ranges <= lsp_max(job->args.n, FEW_RUNS) / m.blocks;
}

static void count_block(void *data, int64_t block, int thread) {
    const making *m = data;
    const lsp_gather_args *args = &m->job->args;
    int64_t *count = m->start + block * m->ranges;
    const int64_t begin = block * m->items, end = lsp_min(begin + m->items, args->n);
    (void)thread;
    memset(count, 0, (size_t)m->ranges * sizeof *count);
    lsp_gather_count(args, begin, end, m->shift, count);
}

/* Turns counts into starts: range by range, inside a range block by block. Row `blocks` becomes the ends. */
static void sum_counts(const making *m) {
    int64_t *sum = m->range_at;
    memset(sum, 0, (size_t)(m->ranges + 1) * sizeof *sum);
    for (int64_t block = 0; block < m->blocks; block++) {
        for (int64_t range = 0; range < m->ranges; range++) {
            sum[range + 1] += m->start[block * m->ranges + range];
        }
    }
    for (int64_t range = 0; range < m->ranges; range++) {
        sum[range + 1] += sum[range];
    }
    int64_t *next = m->start + m->blocks * m->ranges;
    memcpy(next, sum, (size_t)m->ranges * sizeof *next);
    for (int64_t block = 0; block < m->blocks; block++) {
        int64_t *row = m->start + block * m->ranges;
        for (int64_t range = 0; range < m->ranges; range++) {
            const int64_t count = row[range];
            row[range] = next[range];
            next[range] += count;
        }
    }
}

/* Sorts the positions of a block by range, and hands each run to its range. */
static void sort_block(void *data, int64_t block, int thread) {
    const making *m = data;
    const lsp_gather_args *args = &m->job->args;
    const int64_t *row = m->start + block * m->ranges, *next = row + m->ranges;
    const int64_t begin = block * m->items, end = lsp_min(begin + m->items, args->n), inside = m->items - 1;
    int64_t *offset = m->offset + thread * m->ranges, sum = 0;
    uint16_t *sorted = m->sorted + thread * m->items, *place = m->block_place + begin;
    for (int64_t range = 0; range < m->ranges; range++) {
        offset[range] = sum;
        if (m->job->scatter) {
            m->stage->runs[range * m->blocks + block] = begin + sum;
        }
        sum += next[range] - row[range];
    }
    if (m->job->scatter) {
        m->stage->runs[m->ranges * m->blocks + block] = end;
    }
    for (int64_t i = begin; i < end; i++) {
        const int64_t x = lsp_index_at(args->index, args->index_type, i), k = offset[x >> m->shift]++;
        place[k] = (uint16_t)(i - begin);
        sorted[k] = (uint16_t)(x & inside);
    }
    for (int64_t range = 0; range < m->ranges; range++) {
        uint16_t *to = m->range_place + row[range];
        for (int64_t count = next[range] - row[range]; count > 0; count--) {
            *to++ = *sorted++;
        }
    }
}

/* Is every element of the bin a destination? */
static void inspect_bin(void *data, int64_t bin, int thread) {
    const making *m = data;
    const lsp_stage *stage = m->stage;
    const int64_t words = lsp_ceil_div(stage->bin_items, 64);
    const int64_t items = lsp_min(stage->bin_items, m->job->args.extent - bin * stage->bin_items);
    uint64_t *seen = m->seen + thread * words;
    int64_t found = 0;
    memset(seen, 0, (size_t)words * sizeof *seen);
    for (int64_t j = stage->bin_at[bin]; j < stage->bin_at[bin + 1]; j++) {
        seen[stage->to_place[j] / 64] |= (uint64_t)1 << stage->to_place[j] % 64;
    }
    for (int64_t word = 0; word < words; word++) {
        found += __builtin_popcountll(seen[word]);
    }
    stage->whole[bin] = found == items;
}

/* Memory of the stage. */
static lsp_status allocate(lsp_ctx *ctx, making *m) {
    lsp_stage *stage = m->stage;
    const lsp_gather_job *job = m->job;
    const int64_t n = job->args.n, threads = lsp_gather_threads(ctx, job);
    stage->tile_items = stage->bin_items = m->items;
    stage->tiles = job->scatter ? m->blocks : m->ranges;
    stage->bins = job->scatter ? m->ranges : m->blocks;
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, n, sizeof *stage->from_place, (void **)&stage->from_place));
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, n, sizeof *stage->to_place, (void **)&stage->to_place));
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, stage->tiles + 1, sizeof *stage->tile_at, (void **)&stage->tile_at));
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, stage->bins + 1, sizeof *stage->bin_at, (void **)&stage->bin_at));
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, (stage->bins + 1) * stage->tiles, sizeof *stage->runs, (void **)&stage->runs));
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, stage->bins, sizeof *stage->whole, (void **)&stage->whole));
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, n, job->most_bytes, &stage->tmp));
    return lsp_alloc(ctx, LSP_HOST, threads * m->items, job->most_bytes, &stage->buffers);
}

/* The indices are inside. */
lsp_status lsp_gather_stage_make(lsp_ctx *ctx, const lsp_gather_job *job, lsp_stage *stage) {
    LSP_SCRATCH_SCOPE(ctx);
    const int threads = lsp_gather_threads(ctx, job);
    const bool scatter = job->scatter;
    making m = {.stage = stage};
    set_sizes(job, stage->bin_items, &m);
    LSP_TRY(allocate(ctx, &m));
    m.start = stage->runs;
    if (scatter) {
        LSP_TRY(LSP_SCRATCH(ctx, (m.blocks + 1) * m.ranges, &m.start));
    }
    LSP_TRY(LSP_SCRATCH(ctx, threads * m.ranges, &m.offset));
    LSP_TRY(LSP_SCRATCH(ctx, threads * m.items, &m.sorted));
    LSP_TRY(LSP_SCRATCH(ctx, threads * lsp_ceil_div(m.items, 64), &m.seen));
    m.range_at = scatter ? stage->bin_at : stage->tile_at;
    m.block_place = scatter ? stage->from_place : stage->to_place;
    m.range_place = scatter ? stage->to_place : stage->from_place;
    for (int64_t block = 0; block <= m.blocks; block++) {
        (scatter ? stage->tile_at : stage->bin_at)[block] = lsp_min(block * m.items, job->args.n);
    }
    lsp_for_parts(ctx, m.blocks, threads, count_block, &m);
    sum_counts(&m);
    lsp_for_parts(ctx, m.blocks, threads, sort_block, &m);
    if (scatter && job->args.rule != LSP_SCATTER_ADD) {
        lsp_for_parts(ctx, stage->bins, threads, inspect_bin, &m);
    } else {
        memset(stage->whole, !scatter, (size_t)stage->bins * sizeof *stage->whole);
    }
    return LSP_OK;
}

/* ---- running ---- */

typedef struct running {
    const lsp_gather_job *job;
    const lsp_stage *stage;
    const lsp_column *column;
    const lsp_mover *mover;
    bool far; /* the arrays are too large for the caches */
} running;

/* Reads a part of a tile, in far arrays by way of `collected`. */
static void read_part(const running *r, const char *from, int64_t begin, int64_t end) {
    const size_t bytes = r->column->bytes;
    char *tmp = (char *)r->stage->tmp + (size_t)begin * bytes;
    const uint16_t *place = r->stage->from_place + begin;
    if (!r->far) {
        r->mover->gather[LSP_PLACE_U16](tmp, from, place, end - begin, bytes);
        return;
    }
    _Alignas(64) char collected[STREAM_BYTES];
    r->mover->gather[LSP_PLACE_U16](collected, from, place, end - begin, bytes);
    lsp_gather_stream(tmp, collected, (size_t)(end - begin) * bytes);
}

/* A thread reads a few neighbours, and calls each next tile into the cache while it reads one. */
static void read_tiles(void *data, int64_t part, int thread) {
    const running *r = data;
    const lsp_stage *stage = r->stage;
    const size_t bytes = r->column->bytes;
    const int64_t items = STREAM_BYTES / (int64_t)bytes;
    (void)thread;
    for (int64_t tile = part * NEIGHBOURS; tile < lsp_min((part + 1) * NEIGHBOURS, stage->tiles); tile++) {
        const char *from = (const char *)r->column->from + (size_t)(tile * stage->tile_items) * bytes;
        const char *next = from + (size_t)stage->tile_items * bytes,
                   *next_end = next + (size_t)stage->tile_items * bytes;
        for (int64_t k = stage->tile_at[tile], end = stage->tile_at[tile + 1]; k < end; k += items) {
            for (int line = 0; r->far && line < STREAM_BYTES / 64 && next < next_end; line++, next += 64) {
                __builtin_prefetch(next);
            }
            read_part(r, from, k, lsp_min(k + items, end));
        }
    }
    lsp_gather_stream_end();
}

/* to[d] op the elements of the bin. */
static void fill_bin(const running *r, int64_t bin, void *to) {
    const lsp_stage *stage = r->stage;
    const int64_t *run = stage->runs + bin * stage->tiles;
    r->mover->runs(to, stage->tmp, stage->to_place + stage->bin_at[bin], run, run + stage->tiles, stage->tiles,
                   r->column->bytes);
}

static void write_bin(void *data, int64_t bin, int thread) {
    const running *r = data;
    const lsp_stage *stage = r->stage;
    const size_t bytes = r->column->bytes;
    const int64_t destinations = r->job->scatter ? r->job->args.extent : r->job->args.n;
    const int64_t begin = bin * stage->bin_items, items = lsp_min(stage->bin_items, destinations - begin);
    char *to = (char *)r->column->to + (size_t)begin * bytes;
    if (!r->far || !stage->whole[bin]) {
        fill_bin(r, bin, to);
        return;
    }
    char *buffer = (char *)stage->buffers + (size_t)(thread * stage->bin_items) * r->job->most_bytes;
    fill_bin(r, bin, buffer);
    lsp_gather_stream(to, buffer, (size_t)items * bytes);
    lsp_gather_stream_end();
}

static running running_of(const lsp_gather_job *job, const lsp_stage *stage, const lsp_column *column) {
    return (running){.job = job,
                     .stage = stage,
                     .column = column,
                     .mover = lsp_gather_mover(job, column),
                     .far = job->args.n >= LSP_GATHER_FAR_BYTES / (int64_t)column->bytes};
}

void lsp_gather_stage_read(lsp_ctx *ctx, const lsp_gather_job *job, const lsp_stage *stage, const lsp_column *column) {
    running r = running_of(job, stage, column);
    lsp_for_parts(ctx, lsp_ceil_div(stage->tiles, NEIGHBOURS), lsp_gather_threads(ctx, job), read_tiles, &r);
}

const void *lsp_gather_stage_bin(const lsp_gather_job *job, const lsp_stage *stage, const lsp_column *column,
                                 int64_t bin, int thread) {
    char *buffer = (char *)stage->buffers + (size_t)(thread * stage->bin_items) * job->most_bytes, *to = buffer;
    const char *tmp = stage->tmp;
    const int64_t *begin = stage->runs + bin * stage->tiles, *end = begin + stage->tiles;
    for (int64_t tile = 0; tile < stage->tiles; tile++) {
        const size_t bytes = (size_t)(end[tile] - begin[tile]) * column->bytes;
        if (tile + RUNS_AHEAD < stage->tiles) { /* no prefetcher knows where runs are */
            const char *later = tmp + (size_t)begin[tile + RUNS_AHEAD] * column->bytes;
            __builtin_prefetch(later);
            __builtin_prefetch(later + 64);
        }
        memcpy(to, tmp + (size_t)begin[tile] * column->bytes, bytes);
        to += bytes;
    }
    return buffer;
}

void lsp_gather_stage_run(lsp_ctx *ctx, const lsp_gather_job *job, const lsp_stage *stage) {
    for (int64_t c = 0; c < job->args.column_count; c++) {
        running r = running_of(job, stage, &job->args.columns[c]);
        lsp_gather_stage_read(ctx, job, stage, r.column);
        lsp_for_parts(ctx, stage->bins, lsp_gather_threads(ctx, job), write_bin, &r);
    }
}
