/* A mesh whose vertices lie in no order that a grid has: 380 products and 64 entries a row of A*A, far apart. */
#include "spgemm_race.h"
#include <stdlib.h>

typedef struct place {
    uint64_t key; /* random by block, then by vertex */
    int32_t vertex;
} place;

static int by_key(const void *x, const void *y) {
    const place *a = x, *b = y;
    return a->key < b->key ? -1 : a->key > b->key;
}

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* order[i] = the vertex that comes at i. */
static bool make_order(int32_t k, int32_t block, int32_t *order) {
    const int32_t n = k * k;
    place *places = malloc((size_t)n * sizeof *places);
    for (int32_t v = 0; v < n && places; v++) {
        const int32_t at = v / k / block * (k / block + 1) + v % k / block;
        places[v] = (place){mix((uint64_t)at + 1) >> 32 << 32 | mix((uint64_t)v + (UINT64_C(1) << 40)) >> 32, v};
    }
    if (places) {
        qsort(places, (size_t)n, sizeof *places, by_key);
    }
    for (int32_t i = 0; i < n && places; i++) {
        order[i] = places[i].vertex;
    }
    free(places);
    return places != NULL;
}

/* The vertices that share an edge, and each vertex itself. */
static int64_t make_edges(int32_t k, int32_t *row, int32_t *col, double *val) {
    static const int32_t steps[][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, -1}, {-1, 0}, {-1, -1}};
    int64_t nnz = 0;
    for (int32_t v = 0; v < k * k; v++) {
        for (int s = 0; s < 7; s++) {
            const int32_t y = v / k + steps[s][0], x = v % k + steps[s][1];
            if (y >= 0 && y < k && x >= 0 && x < k) {
                row[nnz] = v;
                col[nnz] = y * k + x;
                val[nnz++] = s == 0 ? 6.5 : s == 3 || s == 6 ? .25 : -.75;
            }
        }
    }
    return nnz;
}

bool bench_spgemm_mesh(const spgemm_race *r, const char *spec, lsp_type precision, lsp_csr *A) {
    bench *b = r->b;
    lsp_ctx *ctx = b->base;
    const lsp_csr_types types = {.rowptr_type = LSP_I32, .col_type = LSP_I32, .val_type = precision};
    char *rest;
    const int32_t k = (int32_t)strtol(spec + 5, &rest, 10), block = (int32_t)strtol(rest + 1, NULL, 10), n = k * k;
    int32_t *order = malloc((size_t)n * sizeof *order), *row = malloc((size_t)n * 7 * sizeof *row);
    int32_t *col = malloc((size_t)n * 7 * sizeof *col);
    double *val = malloc((size_t)n * 7 * sizeof *val);
    lsp_csr edges = {.rows = 0}, far = {.rows = 0}, mixed = {.rows = 0};
    lsp_coo list = {n, n, 0, row, col, val, LSP_I32, LSP_F64, LSP_HOST};
    bool made = order && row && col && val && make_order(k, block, order);
    list.nnz = made ? make_edges(k, row, col, val) : 0;
    made = made && bench_ok(b, ctx, lsp_coo_to_csr(ctx, &list, &types, &edges, NULL)) &&
           bench_ok(b, ctx, lsp_spgemm(ctx, &edges, &edges, NULL, &far, NULL)) &&
           bench_ok(b, ctx, lsp_csr_permute(ctx, &far, order, order, LSP_I32, &mixed)) &&
           bench_ok(b, ctx, lsp_csr_copy(ctx, &mixed, &types, A));
    lsp_csr_free(ctx, &edges);
    lsp_csr_free(ctx, &far);
    lsp_csr_free(ctx, &mixed);
    free(row);
    free(col);
    free(val);
    free(order);
    return made;
}
