/* Walks over pairs of boxes. A pair whose bounds tell everything about its points is settled at once; otherwise its
 * halves are looked at, and in the end the points of two leaves. */
#include "cpu.h"

typedef struct walk {
    const lsp_ctx *ctx;
    const lsp_pair_job *job;
    const lsp_pair_kernels *kernels;
    lsp_box_bounds bounds;
    lsp_tree trees[2]; /* the same for one set */
    lsp_tile_fn do_tile;
    lsp_settle_fn settle;
    void *data;
    int64_t part_nodes;  /* nodes of the level of the first tree whose nodes are the parts */
    int64_t share_nodes; /* the same of the level at which pairs of nodes are dealt out to shares */
    lsp_met met;
} walk;

enum { PART_NODES = 64, SHARE_NODES = 1024 };

static void do_leaves(const walk *w, int thread, int64_t a, int64_t b, lsp_met *met) {
    lsp_pair_tile tile = {.twice = w->job->self && a == b};
    const int64_t i = lsp_node_begin(&w->trees[0], a), j = lsp_node_begin(&w->trees[1], b);
    tile.queries = lsp_node_end(&w->trees[0], a) - i, tile.candidates = lsp_node_end(&w->trees[1], b) - j;
    lsp_cloud_from(w->job, &w->trees[0].cloud, i, tile.query);
    lsp_cloud_from(w->job, &w->trees[1].cloud, j, tile.candidate);
    w->do_tile(w->data, thread, &tile);
    lsp_meet(met, &tile);
}

/* Pairs of nodes a and b, for one set of the same level and a <= b. dealt: they are the share's. Above the level at
 * which they are dealt out every share looks at them, and one counts those that are settled. */
static void do_nodes(const walk *w, int thread, int64_t a, int64_t b, bool dealt, lsp_met *met) {
    const lsp_tree *ta = &w->trees[0], *tb = &w->trees[1];
    const bool own = w->job->self && a == b;
    const int64_t na = lsp_node_end(ta, a) - lsp_node_begin(ta, a), nb = lsp_node_end(tb, b) - lsp_node_begin(tb, b);
    const bool mine = dealt || lsp_pair_has_uneven(w->job, a * 2 * w->share_nodes + b);
    double low, high;
    if (!mine && a >= w->share_nodes) {
        return;
    }
    w->kernels->apart(&w->bounds, &ta->boxes[a], &tb->boxes[b], &low, &high);
    if (lsp_stopped(w->ctx)) {
        return;
    }
    if (w->settle(w->data, thread, mine ? na * nb : 0, own, low, high)) {
        met->selves += own && mine ? na : 0;
        return;
    }
    const bool leaf_a = a >= ta->leaves, leaf_b = b >= tb->leaves;
    if (leaf_a && leaf_b) {
        do_leaves(w, thread, a, b, met);
        return;
    }
    for (int64_t x = leaf_a ? a : 2 * a; x <= (leaf_a ? a : 2 * a + 1); x++) {
        for (int64_t y = leaf_b ? b : own ? x : 2 * b; y <= (leaf_b ? b : 2 * b + 1); y++) {
            do_nodes(w, thread, x, y, a >= w->share_nodes, met);
        }
    }
}

static void part(void *data, int64_t number, int thread) {
    walk *w = data;
    const int64_t a = w->part_nodes + number;
    lsp_met met = {0};
    if (w->job->self) {
        for (int64_t b = a; b < 2 * w->part_nodes; b++) {
            do_nodes(w, thread, a, b, false, &met);
        }
    } else {
        do_nodes(w, thread, a, 1, false, &met);
    }
    lsp_add_met(&w->met, &met);
}

lsp_status lsp_boxes_walk(lsp_ctx *ctx, lsp_pair_job *job, lsp_tile_fn do_tile, lsp_settle_fn settle, void *data,
                          lsp_met *met) {
    walk w = {.ctx = ctx, .job = job, .do_tile = do_tile, .settle = settle, .data = data};
    w.kernels = lsp_pair_kernels_of(ctx, job->type);
    w.bounds = lsp_box_bounds_of(job);
    LSP_TRY(lsp_trees_grow(ctx, job, LSP_LEAF, w.trees));
    w.part_nodes = lsp_min(w.trees[0].leaves, PART_NODES);
    w.share_nodes = lsp_min(w.trees[0].leaves, SHARE_NODES);
    if (job->sets[0].n > 0 && job->sets[1].n > 0) {
        LSP_TRY(lsp_try_parts(ctx, w.part_nodes, lsp_pair_threads(ctx), part, &w));
    }
    *met = w.met;
    job->info.cells = w.trees[0].leaves;
    return LSP_OK;
}
