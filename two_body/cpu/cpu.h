/* Two-body statistics on the CPU: points as places in arrays of their own, tiles of pairs, kernels for a tile. */
#pragma once

#include "two_body/box_bounds.h"

enum {
    LSP_PAIR_QUERIES = 512,     /* most queries of a tile, */
    LSP_PAIR_CANDIDATES = 2048, /* and most candidates: counts of a tile fit 32 bits */
    LSP_LEAF = 64               /* most points of a box that is not cut any more */
};

/* All pairs of a few queries and candidates. */
typedef struct lsp_pair_tile {
    const void *query[LSP_MOST_DIMENSIONS], *candidate[LSP_MOST_DIMENSIONS];
    int64_t queries, candidates;
    bool twice; /* both are the same points: each pair is met twice, and each point meets itself */
} lsp_pair_tile;

/* Points in the order of a tree of boxes. Node 1 is the root, 2v and 2v + 1 are the halves of node v, and the nodes
 * from `leaves` up have no halves. */
typedef struct lsp_tree {
    lsp_cloud cloud;
    int64_t leaves; /* a power of two */
    lsp_box *boxes; /* of the nodes */
} lsp_tree;

/* The points of a node. */
static inline int64_t lsp_node_begin(const lsp_tree *tree, int64_t node) {
    const int level = lsp_bits((uint64_t)node) - 1;
    return (tree->cloud.n * (node - ((int64_t)1 << level))) >> level;
}
static inline int64_t lsp_node_end(const lsp_tree *tree, int64_t node) {
    const int level = lsp_bits((uint64_t)node) - 1;
    return (tree->cloud.n * (node + 1 - ((int64_t)1 << level))) >> level;
}

/* points.c: see lsp_pair_device. */
lsp_status lsp_pair_sort_cpu(lsp_ctx *ctx, const lsp_pair_job *job, lsp_cloud *cloud);
lsp_status lsp_pair_look_cpu(lsp_ctx *ctx, lsp_pair_job *job, lsp_found found[2][LSP_MOST_DIMENSIONS]);
/* tree.c: trees of both sets, with at most LSP_LEAF and `leaf_points` in a leaf. Scratch of the call. */
lsp_status lsp_trees_grow(lsp_ctx *ctx, const lsp_pair_job *job, int64_t leaf_points, lsp_tree trees[2]);
/* Calls run(data, first, last) for runs of cells, whose points can be within the radius of points of the cell. */
void lsp_cells_in_reach(const lsp_pair_job *job, int64_t cell, void (*run)(void *data, int64_t first, int64_t last),
                        void *data);

/* at[k] = coordinate k of the cloud, from point i on. */
static inline void lsp_cloud_from(const lsp_pair_job *job, const lsp_cloud *cloud, int64_t i, const void **at) {
    for (int k = 0; k < job->metric.dimensions; k++) {
        at[k] = (const char *)cloud->place[k] + (size_t)i * lsp_type_bytes(job->type);
    }
}

/* What a walk has met: distances computed; points that met themselves, in tiles or boxes that meet pairs twice. */
typedef struct lsp_met {
    int64_t tested, selves;
} lsp_met;
static inline void lsp_meet(lsp_met *met, const lsp_pair_tile *tile) {
    met->tested += tile->twice ? tile->queries * (tile->queries - 1) / 2 : tile->queries * tile->candidates;
    met->selves += tile->twice ? tile->queries : 0;
}
static inline void lsp_add_met(lsp_met *all, const lsp_met *met) {
    __atomic_fetch_add(&all->tested, met->tested, __ATOMIC_RELAXED);
    __atomic_fetch_add(&all->selves, met->selves, __ATOMIC_RELAXED);
}

/* Calls do_tile(data, thread, tile) until each pair of the job's share that can be within its radius was in one tile.
 * Returns how many points met themselves in *selves. */
typedef void (*lsp_tile_fn)(void *data, int thread, const lsp_pair_tile *tile);
/* Counts `pairs`, whose d2 lie between low and high, at once if these two tell all about them; else returns false.
 * `twice`: as in a tile. */
typedef bool (*lsp_settle_fn)(void *data, int thread, int64_t pairs, bool twice, double low, double high);
lsp_status lsp_pair_walk(lsp_ctx *ctx, lsp_pair_job *job, lsp_tile_fn do_tile, lsp_settle_fn settle, void *data,
                         int64_t *selves);
/* boxes.c: the walk of LSP_PAIR_BOXES. */
lsp_status lsp_boxes_walk(lsp_ctx *ctx, lsp_pair_job *job, lsp_tile_fn do_tile, lsp_settle_fn settle, void *data,
                          lsp_met *met);
static inline int lsp_pair_threads(const lsp_ctx *ctx) { return ctx->options.threads; }

/* ---- kernels: compiled once for each instruction set ---- */

enum {
    LSP_RADII = 8,      /* counted in one pass */
    LSP_BIN_ROOM = 512, /* bins that are found before they are counted */
    LSP_BIN_SHIFT = 3,
    LSP_BIN_COPIES = 1 << LSP_BIN_SHIFT /* of each counter of a histogram of few bins */
};

typedef struct lsp_pair_kernels {
    /* counts[k] += pairs with d2 <= limits[k], for 1 to LSP_RADII of them */
    void (*count)(const lsp_metric *m, const lsp_pair_tile *tile, const double *limits, int radii, uint64_t *counts);
    /* table[bin * copies + any] += 1, with the bin `bins` for all from there up */
    void (*histogram)(const lsp_metric *m, const lsp_pair_tile *tile, double scale, uint32_t bins, int copies,
                      uint32_t *table);
    /* Finds the candidates begin .. end-1 of query i with d2 <= limit: writes their `id` and, unless `val` is NULL,
     * their values, up to LSP_PAIR_PAD more of each, and returns how many they are. */
    int64_t (*hits)(const lsp_metric *m, const lsp_pair_tile *tile, int64_t i, int64_t begin, int64_t end, double limit,
                    const int32_t *id, lsp_join_values values, int32_t *col, void *val);
    /* sums[i] += the terms of all candidates for query i, times their weights: 2^(d2 * scale) if
     * `gaussian`, else 1 + d2 * scale above 0. The scale is negative. */
    void (*density)(const lsp_metric *m, const lsp_pair_tile *tile, double scale, bool gaussian, const void *weights,
                    double *sums);
    /* d2 of any two points of boxes a and b lies between *low and *high. */
    void (*apart)(const lsp_box_bounds *bounds, const lsp_box *a, const lsp_box *b, double *low, double *high);
    /* low[q] <= d2 of any point of the box and point q of LSP_LEAF points, whose coordinate k is point[k][q]. */
    void (*below)(const lsp_box_bounds *bounds, int dimensions, const double (*point)[LSP_LEAF], const lsp_box *box,
                  double *low);
    /* Copies n items of 4 or 8 bytes; reads and writes up to LSP_PAIR_PAD items more. */
    void (*copy)(void *to, const void *from, int64_t n, size_t bytes);
} lsp_pair_kernels;

const lsp_pair_kernels *lsp_pair_kernels_portable(int wide);
const lsp_pair_kernels *lsp_pair_kernels_avx2(int wide);
const lsp_pair_kernels *lsp_pair_kernels_avx512(int wide);
const lsp_pair_kernels *lsp_pair_kernels_of(const lsp_ctx *ctx, lsp_type type);

/* join.c, nearest.c, density.c */
lsp_status lsp_radius_join_cpu(lsp_ctx *ctx, lsp_pair_job *job, double limit, const lsp_join_options *join, lsp_csr *C);
lsp_status lsp_nearest_cpu(lsp_ctx *ctx, lsp_pair_job *job, int64_t k, const lsp_join_options *options, lsp_csr *C);
lsp_status lsp_kernel_density_cpu(lsp_ctx *ctx, lsp_pair_job *job, const lsp_density_work *work, void *density);
