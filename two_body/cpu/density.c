/* Kernel densities on the CPU: a leaf of queries against all candidates, or against those of boxes in reach. Sums are
 * made in an order that the number of threads does not change. */
#include "cpu.h"
#include <string.h>

typedef struct summing {
    const lsp_ctx *ctx;
    const lsp_pair_job *job;
    const lsp_density_work *work;
    const lsp_pair_kernels *kernels;
    lsp_box_bounds bounds;
    lsp_tree trees[2];   /* of queries, of candidates */
    const char *weights; /* in the order of the candidates */
    double factor;
    void *density;
    size_t bytes;
    int64_t tested;
} summing;

/* Adds the terms of the candidates of a node, if they are in reach. */
static void visit(const summing *s, lsp_pair_tile *tile, int64_t group, int64_t node, double *sums, int64_t *tested) {
    const lsp_tree *tree = &s->trees[1];
    double low, high;
    s->kernels->apart(&s->bounds, &s->trees[0].boxes[group], &tree->boxes[node], &low, &high);
    if (low > s->work->limit || lsp_stopped(s->ctx)) {
        return;
    }
    if (node < tree->leaves) {
        visit(s, tile, group, 2 * node, sums, tested);
        visit(s, tile, group, 2 * node + 1, sums, tested);
        return;
    }
    const int64_t end = lsp_node_end(tree, node);
    for (int64_t begin = lsp_node_begin(tree, node); begin < end; begin += LSP_PAIR_CANDIDATES) {
        lsp_cloud_from(s->job, &tree->cloud, begin, tile->candidate);
        tile->candidates = lsp_min(LSP_PAIR_CANDIDATES, end - begin);
        s->kernels->density(&s->job->metric, tile, s->work->scale, s->work->gaussian,
                            s->weights + (size_t)begin * s->bytes, sums);
        *tested += tile->queries * tile->candidates;
    }
}

static void do_group(void *data, int64_t part, int thread) {
    summing *s = data;
    const lsp_tree *queries = &s->trees[0];
    const int64_t group = queries->leaves + part, first = lsp_node_begin(queries, group);
    lsp_pair_tile tile = {.queries = lsp_node_end(queries, group) - first};
    double sums[LSP_LEAF] = {0};
    int64_t tested = 0;
    (void)thread;
    lsp_cloud_from(s->job, &queries->cloud, first, tile.query);
    if (s->trees[1].cloud.n > 0) {
        visit(s, &tile, group, 1, sums, &tested);
    }
    for (int64_t q = 0; q < tile.queries; q++) {
        const int64_t to = queries->cloud.id[first + q];
        lsp_real_set(s->density, s->job->type, to, sums[q] * s->factor);
    }
    __atomic_fetch_add(&s->tested, tested, __ATOMIC_RELAXED);
}

/* Brings the weights into the order of the candidates, and their sum into the factor. */
static lsp_status order_weights(lsp_ctx *ctx, summing *s) {
    const lsp_cloud *cloud = &s->trees[1].cloud;
    const void *from = s->work->weights;
    double total = 0;
    char *weights;
    LSP_TRY(lsp_scratch_bytes(ctx, cloud->n + LSP_PAIR_PAD, s->bytes, true, (void **)&weights));
    for (int64_t i = 0; i < cloud->n; i++) {
        const int64_t id = cloud->id[i];
        const double w = from == NULL ? 1 : lsp_real_at(from, s->job->type, id);
        LSP_REQUIRE(w >= 0 && w <= 1e30, LSP_ERR_ARGUMENT, LSP_PAIR_BAD_WEIGHT, (long long)id, w);
        lsp_real_set(weights, s->job->type, i, w);
        total += w;
    }
    LSP_REQUIRE(total > 0 || cloud->n == 0, LSP_ERR_ARGUMENT, LSP_PAIR_NO_WEIGHT, (long long)cloud->n);
    s->weights = weights;
    s->factor *= (double)cloud->n / total;
    return LSP_OK;
}

lsp_status lsp_kernel_density_cpu(lsp_ctx *ctx, lsp_pair_job *job, const lsp_density_work *work, void *density) {
    const bool all = job->info.method == LSP_PAIR_ALL;
    summing s = {.ctx = ctx, .job = job, .work = work, .factor = work->factor};
    s.kernels = lsp_pair_kernels_of(ctx, job->type);
    s.bounds = lsp_box_bounds_of(job);
    s.bytes = lsp_type_bytes(job->type);
    LSP_TRY(lsp_trees_grow(ctx, job, all ? INT64_MAX : LSP_LEAF, s.trees));
    LSP_TRY(order_weights(ctx, &s));
    LSP_TRY(lsp_scratch_bytes(ctx, job->sets[0].n, s.bytes, false, &s.density));
    if (job->sets[0].n > 0) {
        LSP_TRY(lsp_try_parts(ctx, s.trees[0].leaves, lsp_pair_threads(ctx), do_group, &s));
        memcpy(density, s.density, (size_t)job->sets[0].n * s.bytes);
    }
    job->info.tested = s.tested;
    job->info.cells = all ? 0 : s.trees[1].leaves;
    return LSP_OK;
}
