/* The nearest points on the CPU. A leaf of queries goes through the tree of candidates, near boxes first; each query
 * keeps a heap of the nearest so far, and boxes beyond its worst are passed over. */
#include "core/top.h"
#include "cpu.h"
#include "segsort/segsort.h"

typedef struct desk {
    lsp_ranked *heap; /* of each query k points found, the worst first: rank_of(d2), number */
    int64_t count[LSP_LEAF];
    double point[LSP_MOST_DIMENSIONS][LSP_LEAF]; /* coordinates of the queries */
    double low[LSP_LEAF];                        /* of each query, below all d2 with the leaf at hand */
    double worst[LSP_LEAF];                      /* d2 beyond which no point is wanted */
    double most;                                 /* the largest of them */
    int32_t *col;
    void *val;
    uint64_t *words, *spare;
    int64_t tested;
} desk;

typedef struct seeking {
    const lsp_pair_job *job;
    lsp_box_bounds bounds;
    lsp_metric plain; /* the metric with a unit of 1: squared distances as they are */
    const lsp_join_options *options;
    const lsp_pair_kernels *kernels;
    lsp_word_sort sort;
    lsp_tree trees[2]; /* of queries, of candidates */
    int64_t k;
    desk *desks;
    lsp_csr *C;
} seeking;

/* ---- candidates ---- */

/* The farthest leaves a heap first, of equally far ones that with the highest number. */
static inline uint64_t rank_of(double d2) { return ~lsp_rank_of(d2); }
static inline double square_of(lsp_ranked found) { return lsp_size_of(~found.rank); }

/* Takes what candidates begin .. end-1 have for query q of the tile, which is point `own` of one set. */
static void take(const seeking *s, desk *d, const lsp_pair_tile *tile, int64_t q, int64_t begin, int64_t end,
                 int32_t own) {
    lsp_ranked *heap = d->heap + q * s->k;
    const int64_t hits = s->kernels->hits(&s->plain, tile, q, begin, end, d->worst[q], s->trees[1].cloud.id,
                                          LSP_JOIN_SQUARED, d->col, d->val);
    for (int64_t h = 0; h < hits; h++) {
        const lsp_ranked item = {rank_of(lsp_real_at(d->val, s->job->type, h)), d->col[h]};
        if (item.k == own) {
            continue;
        }
        if (d->count[q] < s->k) {
            lsp_top_append(heap, d->count[q]++, item);
        } else if (lsp_leaves_first(heap[0], item)) {
            lsp_top_replace(heap, s->k, item);
        }
    }
    d->tested += end - begin;
    d->worst[q] = d->count[q] < s->k ? INFINITY : square_of(heap[0]);
}

static void do_leaf(const seeking *s, desk *d, const lsp_pair_tile *tile, int64_t first, int64_t node) {
    const lsp_tree *tree = &s->trees[1];
    const bool skip = s->job->own && !s->options->self_pairs;
    const int64_t end = lsp_node_end(tree, node);
    d->most = 0;
    s->kernels->below(&s->bounds, s->job->metric.dimensions, d->point, &tree->boxes[node], d->low);
    for (int64_t q = 0; q < tile->queries; q++) {
        for (int64_t begin = lsp_node_begin(tree, node); begin < end && d->low[q] <= d->worst[q];
             begin += LSP_PAIR_CANDIDATES) {
            take(s, d, tile, q, begin, lsp_min(begin + LSP_PAIR_CANDIDATES, end),
                 skip ? (int32_t)(s->trees[0].cloud.id[first + q] + s->job->shift) : -1);
        }
        d->most = d->most > d->worst[q] ? d->most : d->worst[q];
    }
}

/* Looks at all candidates of a node that is at least `low` away. */
static void visit(const seeking *s, desk *d, const lsp_pair_tile *tile, int64_t first, int64_t group, int64_t node,
                  double low) {
    if (low > d->most) {
        return;
    }
    if (node >= s->trees[1].leaves) {
        do_leaf(s, d, tile, first, node);
        return;
    }
    double lows[2], high;
    for (int half = 0; half < 2; half++) {
        s->kernels->apart(&s->bounds, &s->trees[0].boxes[group], &s->trees[1].boxes[2 * node + half], &lows[half],
                          &high);
    }
    const int near = lows[1] < lows[0];
    visit(s, d, tile, first, group, 2 * node + near, lows[near]);
    visit(s, d, tile, first, group, 2 * node + 1 - near, lows[1 - near]);
}

/* ---- rows ---- */

static void write_row(const seeking *s, desk *d, int64_t q, int64_t row) {
    const lsp_ranked *heap = d->heap + q * s->k;
    const int64_t start = row * s->k;
    for (int64_t i = 0; i < s->k; i++) {
        d->words[i] = (uint64_t)heap[i].k << 32 | (uint64_t)i;
    }
    const uint64_t *words = s->sort(d->words, d->spare, s->k, 32, 32 + lsp_bits((uint64_t)s->trees[1].cloud.n));
    for (int64_t i = 0; i < s->k; i++) {
        const lsp_ranked item = heap[(uint32_t)words[i]];
        const double d2 = square_of(item);
        ((int32_t *)s->C->col)[start + i] = (int32_t)item.k;
        if (s->options->values == LSP_JOIN_PATTERN) {
            continue;
        }
        if (s->job->type == LSP_F32) {
            ((float *)s->C->val)[start + i] =
                lsp_join_value_f32((float)d2, s->options->values, (float)s->job->metric.unit);
        } else {
            ((double *)s->C->val)[start + i] = lsp_join_value_f64(d2, s->options->values, s->job->metric.unit);
        }
    }
}

static void do_group(void *data, int64_t part, int thread) {
    const seeking *s = data;
    desk *d = &s->desks[thread];
    const int64_t group = s->trees[0].leaves + part, first = lsp_node_begin(&s->trees[0], group);
    lsp_pair_tile tile = {.queries = lsp_node_end(&s->trees[0], group) - first};
    lsp_cloud_from(s->job, &s->trees[0].cloud, first, tile.query);
    lsp_cloud_from(s->job, &s->trees[1].cloud, 0, tile.candidate);
    for (int64_t q = 0; q < tile.queries; q++) {
        d->count[q] = 0;
        d->worst[q] = INFINITY;
        for (int k = 0; k < s->job->metric.dimensions; k++) {
            d->point[k][q] = lsp_place_at(&s->job->metric, s->job->type, s->trees[0].cloud.place[k], first + q);
        }
    }
    d->most = INFINITY;
    visit(s, d, &tile, first, group, 1, 0);
    for (int64_t q = 0; q < tile.queries; q++) {
        write_row(s, d, q, s->trees[0].cloud.id[first + q]);
    }
}

static lsp_status make_desks(lsp_ctx *ctx, seeking *s) {
    LSP_TRY(LSP_SCRATCH_ZERO(ctx, lsp_pair_threads(ctx), &s->desks));
    for (int t = 0; t < lsp_pair_threads(ctx); t++) {
        desk *d = &s->desks[t];
        LSP_TRY(LSP_SCRATCH(ctx, LSP_LEAF * s->k, &d->heap));
        LSP_TRY(LSP_SCRATCH(ctx, LSP_PAIR_CANDIDATES + LSP_PAIR_PAD, &d->col));
        LSP_TRY(
            lsp_scratch_bytes(ctx, LSP_PAIR_CANDIDATES + LSP_PAIR_PAD, lsp_type_bytes(s->job->type), false, &d->val));
        LSP_TRY(LSP_SCRATCH(ctx, s->k + LSP_WORD_PAD, &d->words));
        LSP_TRY(LSP_SCRATCH(ctx, s->k + LSP_WORD_PAD, &d->spare));
    }
    return LSP_OK;
}

lsp_status lsp_nearest_cpu(lsp_ctx *ctx, lsp_pair_job *job, int64_t k, const lsp_join_options *options, lsp_csr *C) {
    const int64_t rows = job->sets[0].n, cols = job->sets[1].n;
    const bool all = job->info.method == LSP_PAIR_ALL;
    seeking s = {.job = job, .plain = job->metric, .options = options, .k = k, .C = C};
    int64_t *rowptr;
    s.plain.unit = 1;
    s.bounds = lsp_box_bounds_of(job);
    s.kernels = lsp_pair_kernels_of(ctx, job->type);
    s.sort = lsp_segsort_get_kernels(ctx)->sort[LSP_WORD_64];
    LSP_TRY(lsp_trees_grow(ctx, job, all ? INT64_MAX : LSP_LEAF, s.trees));
    LSP_TRY(make_desks(ctx, &s));
    LSP_TRY(LSP_SCRATCH(ctx, rows + 1, &rowptr));
    for (int64_t i = 0; i <= rows; i++) {
        rowptr[i] = i * k;
    }
    const lsp_csr_types types = lsp_join_types(job, options->values, LSP_HOST);
    LSP_TRY(lsp_csr_create_rows(ctx, rows, cols, rowptr, &types, C));
    if (rows > 0 && k > 0) {
        LSP_TRY(lsp_try_parts(ctx, s.trees[0].leaves, lsp_pair_threads(ctx), do_group, &s));
    }
    for (int t = 0; t < lsp_pair_threads(ctx); t++) {
        job->info.tested += s.desks[t].tested;
    }
    job->info.cells = all ? 0 : s.trees[1].leaves;
    return LSP_OK;
}
