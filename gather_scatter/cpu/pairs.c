/* The inverted map of a scatter: pairs of destination and source, by a stable sort of the indices. Then to[dst[k]] op
 * from[src[k]] writes in order; if every destination has a source it is a gather. */
#include "cpu.h"
#include "segsort/segsort.h"

enum { BLOCK_BYTES = 4 << 20, MOST_BLOCKS = 4096 };

void lsp_gather_pairs_free(lsp_ctx *ctx, lsp_pairs *pairs) {
    lsp_free(ctx, pairs->dst);
    lsp_free(ctx, pairs->src);
    lsp_free(ctx, pairs->at);
    *pairs = (lsp_pairs){0};
}

/* The elements that an index can name: 32-bit ones name the first 2^31 at most. */
static int64_t reach_of(const lsp_gather_args *args) {
    return args->index_type == LSP_I32 ? lsp_min(args->extent, (int64_t)1 << 31) : args->extent;
}

/* Elements of a block, as a power of two. */
static int block_bits(const lsp_gather_job *job) {
    int bits = lsp_bits((uint64_t)(BLOCK_BYTES / (int64_t)job->most_bytes)) - 1;
    while ((reach_of(&job->args) - 1) >> bits >= MOST_BLOCKS) {
        bits++;
    }
    return bits;
}

/* The first pair whose index is `index` or more. */
static int64_t first_from(const void *sorted, lsp_type type, int64_t count, int bits, int64_t block) {
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (lsp_index_at(sorted, type, middle) >> bits < block) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Keeps the last pair of each index. Returns how many remain. */
static int64_t keep_last(void *index, void *position, lsp_type type, int64_t count) {
    int64_t kept = 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t x = lsp_index_at(index, type, k);
        if (k + 1 == count || lsp_index_at(index, type, k + 1) != x) {
            lsp_index_set(index, type, kept, x);
            lsp_index_set(position, type, kept, lsp_index_at(position, type, k));
            kept++;
        }
    }
    return kept;
}

/* The indices are inside. */
lsp_status lsp_gather_pairs_make(lsp_ctx *ctx, const lsp_gather_job *job, lsp_pairs *pairs) {
    lsp_status status = LSP_OK;
    const lsp_gather_args *args = &job->args;
    const lsp_type type = args->index_type == LSP_I32 && args->n <= INT32_MAX ? LSP_I32 : LSP_I64;
    const size_t bytes = lsp_type_bytes(type);
    const int bits = block_bits(job);
    const int64_t whole[] = {0, args->n};
    const void *keys = args->index;
    *pairs = (lsp_pairs){.place = type == LSP_I32 ? LSP_PLACE_I32 : LSP_PLACE_I64, .count = args->n};
    pairs->blocks = ((reach_of(args) - 1) >> bits) + 1;
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, args->n, bytes, &pairs->dst));
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, args->n, bytes, &pairs->src));
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, pairs->blocks + 1, sizeof *pairs->at, (void **)&pairs->at));
    if (type != args->index_type) { /* more than 2^31 positions of 32-bit indices */
        for (int64_t i = 0; i < args->n; i++) {
            ((int64_t *)pairs->dst)[i] = ((const int32_t *)args->index)[i];
        }
        keys = pairs->dst;
    }
    LSP_TRY(lsp_segsort_cpu.run(ctx,
                                &(lsp_segsort_args){.n = args->n,
                                                    .segments = 1,
                                                    .offsets = whole,
                                                    .offset_type = LSP_I64,
                                                    .key_type = type,
                                                    .value_bytes = bytes,
                                                    .flags = LSP_SORT_POSITIONS,
                                                    .end_bit = (int)lsp_max(lsp_bits((uint64_t)reach_of(args) - 1), 1),
                                                    .keys = keys,
                                                    .keys_out = pairs->dst,
                                                    .values_out = pairs->src},
                                args->n, NULL, 0));
    if (args->rule != LSP_SCATTER_ADD) {
        pairs->count = keep_last(pairs->dst, pairs->src, type, args->n);
    }
    for (int64_t block = 0; block <= pairs->blocks; block++) {
        pairs->at[block] = first_from(pairs->dst, type, pairs->count, bits, block);
    }
    if (args->rule != LSP_SCATTER_ADD && pairs->count == args->extent) { /* dst[k] = k */
        lsp_free(ctx, pairs->dst);
        pairs->dst = NULL;
    }
done:
    if (status != LSP_OK) {
        lsp_gather_pairs_free(ctx, pairs);
    }
    return status;
}

int64_t lsp_gather_pairs_bytes(const lsp_pairs *pairs) {
    const int64_t item = pairs->place == LSP_PLACE_I32 ? 4 : 8;
    return ((pairs->dst != NULL) + 1) * pairs->count * item + (pairs->blocks + 1) * (int64_t)sizeof *pairs->at;
}

typedef struct pairs_run {
    const lsp_gather_job *job;
    const lsp_pairs *pairs;
} pairs_run;

static void run_block(void *data, int64_t block, int thread) {
    const pairs_run *run = data;
    const lsp_pairs *p = run->pairs;
    const lsp_gather_args *args = &run->job->args;
    const size_t begin = (size_t)p->at[block] * (p->place == LSP_PLACE_I32 ? 4 : 8);
    (void)thread;
    for (int64_t c = 0; c < args->column_count; c++) {
        const lsp_column *column = &args->columns[c];
        lsp_gather_mover(run->job, column)
            ->pairs[p->place](column->to, column->from, (const char *)p->dst + begin, (const char *)p->src + begin,
                              p->at[block + 1] - p->at[block], column->bytes);
    }
}

void lsp_gather_pairs_run(lsp_ctx *ctx, const lsp_gather_job *job, const lsp_pairs *pairs) {
    pairs_run run = {.job = job, .pairs = pairs};
    if (pairs->dst == NULL && pairs->count > 0) { /* a gather by the inverted map */
        lsp_gather_job gather = {.args = job->args, .most_bytes = job->most_bytes};
        int64_t bad = INT64_MAX;
        gather.args.n = job->args.extent;
        gather.args.extent = job->args.n;
        gather.args.index = pairs->src;
        gather.args.index_type = pairs->place == LSP_PLACE_I32 ? LSP_I32 : LSP_I64;
        lsp_gather_cpu_scan(ctx, &gather, 1, &bad);
        return;
    }
    lsp_for_parts(ctx, pairs->blocks, lsp_gather_threads(ctx, job), run_block, &run);
}
