/* Matrices of regular grids: the 5-point Laplacian of a square, the 27-point stencil of a cube, and that stencil with
 * three unknowns per node. The length and the columns of a row follow from its number, so rows are made in parallel. */
#include "generate.h"

/* Counts a node and its neighbours along one axis. They begin at *first. */
static int64_t axis(const lsp_grid *g, int64_t place, int64_t *first) {
    *first = lsp_max(place - 1, 0);
    return lsp_min(place + 1, g->k - 1) - *first + 1;
}

static int64_t row_length(const void *data, int64_t row) {
    const lsp_grid *g = data;
    int64_t node = row / g->unknowns, first;
    int64_t nx = axis(g, node % g->k, &first), ny = axis(g, node / g->k % g->k, &first);
    return g->dimensions == 2 ? nx + ny - 1 : g->unknowns * nx * ny * axis(g, node / g->k / g->k, &first);
}

static void fill_square(const lsp_grid *g, int64_t row, const lsp_csr *A, int64_t k) {
    const int64_t x = row % g->k, y = row / g->k;
    const int64_t columns[] = {row - g->k, row - 1, row, row + 1, row + g->k};
    const bool there[] = {y > 0, x > 0, true, x < g->k - 1, y < g->k - 1};
    for (int i = 0; i < 5; i++) {
        if (there[i]) {
            lsp_index_set(A->col, A->col_type, k, columns[i]);
            ((double *)A->val)[k++] = i == 2 ? 4 : -1;
        }
    }
}

static void fill_cube(const lsp_grid *g, int64_t row, const lsp_csr *A, int64_t k) {
    int64_t node = row / g->unknowns, x, y, z;
    int64_t nx = axis(g, node % g->k, &x), ny = axis(g, node / g->k % g->k, &y), nz = axis(g, node / g->k / g->k, &z);
    lsp_rng rng = lsp_rng_at(5, k);
    for (int64_t dz = 0; dz < nz; dz++) {
        for (int64_t dy = 0; dy < ny; dy++) {
            int64_t first = ((z + dz) * g->k + y + dy) * g->k + x;
            for (int64_t column = first * g->unknowns; column < (first + nx) * g->unknowns; column++, k++) {
                lsp_index_set(A->col, A->col_type, k, column);
                ((double *)A->val)[k] = g->unknowns > 1 ? 0.5 + lsp_rng_unit(&rng) : column == row ? 26 : -1;
            }
        }
    }
}

static void fill_row(const void *data, int64_t row, const lsp_csr *A, int64_t k) {
    const lsp_grid *g = data;
    if (g->dimensions == 2) {
        fill_square(g, row, A, k);
    } else {
        fill_cube(g, row, A, k);
    }
}

lsp_status lsp_generate_grid(lsp_ctx *ctx, const lsp_parameter *p, uint64_t seed, lsp_csr *A) {
    const lsp_grid g = lsp_grid_of(p);
    const int64_t k = g.k, edges = 3 * k - 2; /* ordered pairs of neighbours along an axis, a node with itself too */
    const int64_t rows = lsp_grid_unknowns(&g, k);
    (void)seed; /* nothing here depends on it */
    int64_t nnz = g.dimensions == 2 ? 5 * k * k - 4 * k : g.unknowns * g.unknowns * edges * edges * edges;
    LSP_TRY(lsp_generate_check_memory(ctx, rows, rows, nnz));
    return lsp_generate_rows(ctx, rows, rows, &(lsp_row_maker){row_length, fill_row, &g}, A);
}
