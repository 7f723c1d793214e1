/* The inverted map of a scatter: pairs of destination and source, by a stable sort of the indices. Then to[dst[k]] op
 * from[src[k]] writes in order; if every destination has a source it is a gather. */
#include "cpu.h"
#include "gather_scatter/radix_sort.h"

/* The elements that an index can name: 32-bit ones name the first 2^31 at most. */
static int64_t reach_of(const lsp_gather_args *args) {
    return args->index_type == LSP_I32 ? lsp_min(args->extent, (int64_t)1 << 31) : args->extent;
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
    const lsp_gather_args *args = &job->args;
    const lsp_type type = args->index_type == LSP_I32 && args->n <= INT32_MAX ? LSP_I32 : LSP_I64;
    const size_t bytes = lsp_type_bytes(type);
    const void *keys = args->index;
    *pairs = (lsp_pairs){.type = type, .count = args->n};
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, args->n, bytes, &pairs->dst));
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, args->n, bytes, &pairs->src));
    if (type != args->index_type) { /* more than 2^31 positions of 32-bit indices */
        for (int64_t i = 0; i < args->n; i++) {
            ((int64_t *)pairs->dst)[i] = ((const int32_t *)args->index)[i];
        }
        keys = pairs->dst;
    }
    const lsp_segsort_args sort = {.n = args->n,
                                   .key_type = type,
                                   .value_bytes = bytes,
                                   .flags = LSP_SORT_POSITIONS,
                                   .end_bit = (int)lsp_max(lsp_bits((uint64_t)reach_of(args) - 1), 1),
                                   .keys = keys,
                                   .keys_out = pairs->dst,
                                   .values_out = pairs->src};
    LSP_TRY(lsp_sort_array(ctx, &sort));
    if (args->rule != LSP_SCATTER_ADD) {
        pairs->count = keep_last(pairs->dst, pairs->src, type, args->n);
    }
    if (args->rule != LSP_SCATTER_ADD && pairs->count == args->extent) { /* dst[k] = k */
        lsp_free(ctx, pairs->dst);
        pairs->dst = NULL;
    }
    return LSP_OK;
}

typedef struct pairs_run {
    const lsp_gather_job *job;
    const lsp_pairs *pairs;
} pairs_run;

/* The first pair at k or behind it with another destination than the pair before: sums have one thread each. */
static int64_t cut_at(const lsp_pairs *p, int64_t k) {
    while (k > 0 && k < p->count && lsp_index_at(p->dst, p->type, k) == lsp_index_at(p->dst, p->type, k - 1)) {
        k++;
    }
    return k;
}

static void run_share(void *data, int64_t begin, int64_t end) {
    const pairs_run *run = data;
    const lsp_pairs *p = run->pairs;
    const lsp_gather_args *args = &run->job->args;
    const int64_t first = cut_at(p, begin), count = cut_at(p, end) - first;
    const size_t at = (size_t)first * lsp_type_bytes(p->type);
    for (int64_t c = 0; c < args->column_count; c++) {
        const lsp_column *column = &args->columns[c];
        lsp_gather_mover(run->job, column)
            ->pairs[lsp_gather_place_of(p->type)](column->to, column->from, (const char *)p->dst + at,
                                                  (const char *)p->src + at, count, column->bytes);
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
        gather.args.index_type = pairs->type;
        lsp_gather_cpu_scan(ctx, &gather, 1, &bad);
        return;
    }
    lsp_for_shares(ctx, pairs->count, LSP_GATHER_WORTH_A_THREAD, run_share, &run);
}
