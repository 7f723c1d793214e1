/* Two-body statistics on the CPU: points as places in arrays of their own, tiles of pairs, kernels for a tile. */
#ifndef LSP_TWO_BODY_CPU_CPU_H
#define LSP_TWO_BODY_CPU_CPU_H

#include "two_body/job.h"

enum {
    LSP_PAIR_PAD = 64,         /* items that may be read behind the end of an array of places */
    LSP_PAIR_QUERIES = 512,    /* most queries of a tile, */
    LSP_PAIR_CANDIDATES = 2048 /* and most candidates: counts of a tile fit 32 bits */
};

/* A set of points. place[k] is coordinate k; in a grid they lie in the order of cells. */
typedef struct lsp_cloud {
    int64_t n;
    void *place[LSP_MOST_DIMENSIONS];
    int32_t *start; /* of a grid: cell c has the points start[c] .. start[c + 1] - 1 */
    int32_t *id; /* of a grid: their numbers in the caller's arrays, ascending in each cell; NULL: the order is his */
} lsp_cloud;

/* All pairs of a few queries and candidates. */
typedef struct lsp_pair_tile {
    const void *query[LSP_MOST_DIMENSIONS], *candidate[LSP_MOST_DIMENSIONS];
    int64_t queries, candidates;
    bool twice; /* both are the same points: each pair is met twice, and each point meets itself */
} lsp_pair_tile;

/* points.c: both sets as places, in their order, or, if the job has a grid, by cells. Scratch of the call. */
lsp_status lsp_clouds_load(lsp_ctx *ctx, const lsp_pair_job *job, lsp_cloud clouds[2]);
/* Calls run(data, first, last) for runs of cells, whose points can be within the radius of points of the cell. */
void lsp_cells_in_reach(const lsp_pair_job *job, int64_t cell, void (*run)(void *data, int64_t first, int64_t last),
                        void *data);

/* Calls do_tile(data, thread, tile) until each pair that can be within the job's radius was in one tile. */
typedef void (*lsp_tile_fn)(void *data, int thread, const lsp_pair_tile *tile);
lsp_status lsp_pair_walk(lsp_ctx *ctx, lsp_pair_job *job, lsp_tile_fn do_tile, void *data);
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
    /* Copies n items of 4 or 8 bytes; reads and writes up to LSP_PAIR_PAD items more. */
    void (*copy)(void *to, const void *from, int64_t n, size_t bytes);
} lsp_pair_kernels;

const lsp_pair_kernels *lsp_pair_kernels_portable(int wide);
const lsp_pair_kernels *lsp_pair_kernels_avx2(int wide);
const lsp_pair_kernels *lsp_pair_kernels_avx512(int wide);
const lsp_pair_kernels *lsp_pair_kernels_of(const lsp_ctx *ctx, lsp_type type);

/* join.c */
lsp_status lsp_radius_join_cpu(lsp_ctx *ctx, lsp_pair_job *job, double limit, const lsp_join_options *join, lsp_csr *C);

#endif
