/* Points in the order of a tree of boxes: a box is cut in the middle of its points, across its longest side, until few
 * points are left. */
#include "cpu.h"
#include "segsort/segsort.h"

enum { KEY_BITS = 22 }; /* of a coordinate within its box */

/* ---- growing ---- */

typedef struct growing {
    const lsp_pair_job *job;
    const lsp_cloud *loaded; /* in the caller's order */
    lsp_tree *tree;
    lsp_word_sort sort;
    int64_t level_nodes, stride; /* nodes of the level; items of a thread's words */
    uint64_t *words, *spare;
} growing;

static double place_at(const lsp_pair_job *job, const lsp_cloud *cloud, int k, int64_t i) {
    const bool fixed = job->type == LSP_F32 && job->metric.kind != LSP_SPACE_OPEN;
    return fixed ? (double)((const uint32_t *)cloud->place[k])[i] : lsp_real_at(cloud->place[k], job->type, i);
}

/* Sets the box of a node's points. Returns its longest side, and where that begins and ends. */
static int set_box(const growing *g, int64_t begin, int64_t end, lsp_box *box, double *first, double *last) {
    const lsp_metric *m = &g->job->metric;
    int longest = 0;
    double length = -1;
    *box = (lsp_box){0};
    for (int k = 0; k < m->dimensions; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = begin; i < end; i++) {
            const double x = place_at(g->job, g->loaded, k, g->tree->cloud.id[i]);
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        box->middle[k] = low / 2 + high / 2;
        box->half[k] = fmax(high - box->middle[k], box->middle[k] - low) * (1 + 1e-15);
        const double side = (high - low) * (m->kind == LSP_SPACE_OPEN ? 1 : m->ratio[k]);
        if (side > length) {
            longest = k, length = side, *first = low, *last = high;
        }
    }
    return longest;
}

static void grow_node(void *data, int64_t part, int thread) {
    const growing *g = data;
    const lsp_tree *tree = g->tree;
    const int64_t node = g->level_nodes + part, begin = lsp_node_begin(tree, node), end = lsp_node_end(tree, node);
    double low = 0, high = 0;
    const int k = set_box(g, begin, end, &tree->boxes[node], &low, &high);
    const double length = high - low;
    if (node >= tree->leaves || !(length > 1e-290 && length < 1e300)) { /* else its points lie in any order */
        return;
    }
    uint64_t *words = g->words + thread * g->stride;
    int32_t *id = tree->cloud.id + begin;
    const double scale = ((1 << KEY_BITS) - 1) / length;
    for (int64_t i = 0; i < end - begin; i++) {
        const double x = place_at(g->job, g->loaded, k, id[i]);
        words[i] = (uint64_t)((x - low) * scale) << 32 | (uint32_t)id[i];
    }
    words = g->sort(words, g->spare + thread * g->stride, end - begin, 32, 32 + KEY_BITS);
    for (int64_t i = 0; i < end - begin; i++) {
        id[i] = (int32_t)(uint32_t)words[i];
    }
}

static lsp_status grow(lsp_ctx *ctx, const lsp_pair_job *job, const lsp_cloud *loaded, int64_t leaf_points,
                       lsp_tree *tree) {
    const int64_t n = loaded->n;
    const int threads = lsp_pair_threads(ctx);
    *tree = (lsp_tree){.cloud = {.n = n}, .leaves = 1};
    while (lsp_ceil_div(n, tree->leaves) > leaf_points) {
        tree->leaves *= 2;
    }
    LSP_TRY(LSP_SCRATCH(ctx, 2 * tree->leaves, &tree->boxes));
    LSP_TRY(LSP_SCRATCH(ctx, n + LSP_PAIR_PAD, &tree->cloud.id));
    for (int64_t i = 0; i < n + LSP_PAIR_PAD; i++) {
        tree->cloud.id[i] = (int32_t)lsp_min(i, n);
    }
    const size_t mark = lsp_scratch_mark(ctx);
    growing g = {.job = job, .loaded = loaded, .tree = tree, .sort = lsp_segsort_get_kernels(ctx)->sort[LSP_WORD_64]};
    LSP_TRY(LSP_SCRATCH(ctx, n + threads * (LSP_WORD_PAD + 1), &g.words));
    LSP_TRY(LSP_SCRATCH(ctx, n + threads * (LSP_WORD_PAD + 1), &g.spare));
    for (g.level_nodes = 1; g.level_nodes <= tree->leaves; g.level_nodes *= 2) {
        g.stride = lsp_ceil_div(n, g.level_nodes) + LSP_WORD_PAD;
        lsp_for_parts(ctx, g.level_nodes, (int)lsp_min(threads, g.level_nodes), grow_node, &g);
    }
    lsp_scratch_release(ctx, mark);
    return lsp_cloud_reorder(ctx, job, loaded, &tree->cloud);
}

lsp_status lsp_trees_grow(lsp_ctx *ctx, const lsp_pair_job *job, const lsp_cloud clouds[2], int64_t leaf_points,
                          lsp_tree trees[2]) {
    LSP_TRY(grow(ctx, job, &clouds[0], LSP_LEAF, &trees[0]));
    trees[1] = trees[0];
    return job->self && leaf_points == LSP_LEAF ? LSP_OK : grow(ctx, job, &clouds[1], leaf_points, &trees[1]);
}

double lsp_tree_place(const lsp_pair_job *job, const lsp_tree *tree, int k, int64_t i) {
    return place_at(job, &tree->cloud, k, i);
}
