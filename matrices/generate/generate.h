/* Shared by the generators: the parameters of a name, and random numbers that can jump ahead. */
#pragma once

#include "matrices/matrices.h"

enum { lsp_most_parameters = 3 };

typedef struct lsp_parameter { /* by the table: a letter, a number with decimals, or a whole one */
    int64_t whole;
    double decimal;
    char letter;
    int grid; /* of the first parameter: 0 square, 1 cube, 2 cube with three unknowns a node */
} lsp_parameter;

/* Makes A on the host, with the narrowest indices and f64 values. The parameters are within the limits of the table in
 * generate.c. */
typedef lsp_status lsp_generator(lsp_ctx *ctx, const lsp_parameter *p, uint64_t seed, lsp_csr *A);

lsp_generator lsp_generate_grid, lsp_generate_er, lsp_generate_rmat, lsp_generate_web, lsp_generate_perm;
lsp_generator lsp_generate_amg, lsp_generate_nas;

/* Refuses a matrix that does not fit the memory, before anything is allocated. `entries` includes those dropped later.
 */
static inline lsp_status lsp_generate_check_memory(lsp_ctx *ctx, int64_t rows, int64_t cols, int64_t entries) {
    lsp_csr_types fit;
    LSP_TRY(lsp_csr_resolve(ctx, cols, entries, LSP_F64, NULL, &fit));
    return lsp_csr_check_memory(ctx, rows, entries, &fit);
}

/* Rows of doubles: row i has length(data, i) entries, which fill(data, i, A, k) writes from entry k of A on. */
typedef struct lsp_row_maker {
    int64_t (*length)(const void *data, int64_t i);
    void (*fill)(const void *data, int64_t i, const lsp_csr *A, int64_t k);
    const void *data;
} lsp_row_maker;
lsp_status lsp_generate_rows(lsp_ctx *ctx, int64_t rows, int64_t cols, const lsp_row_maker *maker, lsp_csr *A);

/* A regular grid, and the unknowns of one of its kind with n nodes along an edge. */
typedef struct lsp_grid {
    int64_t k;        /* nodes along an edge */
    int dimensions;   /* 2: a square, 3: a cube */
    int64_t unknowns; /* per node */
} lsp_grid;
static inline lsp_grid lsp_grid_of(const lsp_parameter *p) {
    return (lsp_grid){p[0].whole, p[0].grid == 0 ? 2 : 3, p[0].grid == 2 ? 3 : 1};
}
static inline int64_t lsp_grid_unknowns(const lsp_grid *g, int64_t n) {
    return g->unknowns * n * n * (g->dimensions == 3 ? n : 1);
}

/* ---- splitmix64: the state is a counter, so draw k needs none of the draws before it ---- */

#define LSP_GAMMA UINT64_C(0x9E3779B97F4A7C15)

typedef struct lsp_rng {
    uint64_t state;
} lsp_rng;

static inline uint64_t lsp_rng_mix(uint64_t z) {
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}
/* The generator of `seed` after `draws` draws. */
static inline lsp_rng lsp_rng_at(uint64_t seed, int64_t draws) {
    return (lsp_rng){lsp_rng_mix(seed + LSP_GAMMA) + (uint64_t)draws * LSP_GAMMA};
}
static inline uint64_t lsp_rng_next(lsp_rng *rng) { return lsp_rng_mix(rng->state += LSP_GAMMA); }
static inline double lsp_rng_unit(lsp_rng *rng) { return (double)(lsp_rng_next(rng) >> 11) * 0x1p-53; }
static inline int64_t lsp_rng_below(lsp_rng *rng, int64_t n) {
    return (int64_t)((unsigned __int128)lsp_rng_next(rng) * (uint64_t)n >> 64);
}
