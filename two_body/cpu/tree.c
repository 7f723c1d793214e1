/* Points in the order of a tree of boxes: a box is cut in the middle of its points, across its longest side, until few
 * points are left. */
#include "cpu.h"
#include "segsort/segsort.h"
#include "two_body/bodies.h"

enum { KEY_BITS = 22 }; /* of a coordinate within its box */

/* ---- growing ---- */

typedef struct growing {
    const lsp_pair_job *job;
    lsp_tree *tree;
    lsp_word_sort sort;
    int64_t level_nodes, stride; /* nodes of the level; items of a thread's words */
    uint64_t *words, *spare;
} growing;

static double place_at(const growing *g, int k, int64_t i) {
    return lsp_place_at(&g->job->metric, g->job->type, g->tree->cloud.place[k], g->tree->cloud.id[i]);
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
            const double x = place_at(g, k, i);
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        lsp_box_set(box, k, low, high);
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
        const double x = place_at(g, k, begin + i);
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
    *tree = (lsp_tree){.cloud = *loaded, .leaves = 1};
    while (lsp_ceil_div(n, tree->leaves) > leaf_points) {
        tree->leaves *= 2;
    }
    LSP_TRY(LSP_SCRATCH(ctx, 2 * tree->leaves, &tree->boxes));
    LSP_TRY(lsp_cloud_number(ctx, &tree->cloud));
    const size_t mark = lsp_scratch_mark(ctx);
    growing g = {.job = job, .tree = tree, .sort = lsp_segsort_get_kernels(ctx)->sort[LSP_WORD_64]};
    LSP_TRY(LSP_SCRATCH(ctx, n + threads * (LSP_WORD_PAD + 1), &g.words));
    LSP_TRY(LSP_SCRATCH(ctx, n + threads * (LSP_WORD_PAD + 1), &g.spare));
    for (g.level_nodes = 1; g.level_nodes <= tree->leaves; g.level_nodes *= 2) {
        g.stride = lsp_ceil_div(n, g.level_nodes) + LSP_WORD_PAD;
        lsp_for_parts(ctx, g.level_nodes, (int)lsp_min(threads, g.level_nodes), grow_node, &g);
    }
    lsp_scratch_release(ctx, mark);
    return lsp_cloud_reorder(ctx, job, &tree->cloud);
}

lsp_status lsp_trees_grow(lsp_ctx *ctx, const lsp_pair_job *job, int64_t leaf_points, lsp_tree trees[2]) {
    LSP_TRY(grow(ctx, job, &job->clouds[0], LSP_LEAF, &trees[0]));
    trees[1] = trees[0];
    return job->self && leaf_points == LSP_LEAF ? LSP_OK : grow(ctx, job, &job->clouds[1], leaf_points, &trees[1]);
}
