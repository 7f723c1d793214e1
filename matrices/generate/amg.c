/* The factors of a smoothed aggregation multigrid on a regular grid with matrix A. Nodes in boxes of 3 x 3 or 3 x 3 x 3
 * form an aggregate. T has one entry a row, in the column of the row's aggregate. P = T - w*A*T, where w is 0.1 for
 * the square and 0.4/26 for the cubes, and R = P^T. All values have the bits that lsp_spgemm and lsp_csr_add give. */
#include "generate.h"

enum { box = 3, most_columns = 24 }; /* a row of P: the unknowns of 2 x 2 x 2 aggregates */

static int64_t aggregates_along(const lsp_grid *g) { return lsp_ceil_div(g->k, box); }
static double tentative_value(const lsp_grid *g) { return g->dimensions == 2 ? 1.0 / 3 : 1 / sqrt(27); }
static double weight_of(const lsp_grid *g) { return g->dimensions == 2 ? 0.1 : 0.4 / 26; }

/* The column of T's entry in this row. */
static int64_t aggregate_of(const lsp_grid *g, int64_t row) {
    const int64_t node = row / g->unknowns, n = aggregates_along(g), k = g->k;
    const int64_t z = g->dimensions == 3 ? node / k / k : 0, y = node / k % k, x = node % k;
    return ((z / box * n + y / box) * n + x / box) * g->unknowns + row % g->unknowns;
}

typedef struct building {
    const lsp_grid *g;
    const lsp_csr *A;
} building;

typedef struct product_row { /* a row of A*T, columns ascending */
    int count;
    int64_t col[most_columns];
    double sum[most_columns];
} product_row;

static void add_product(product_row *row, int64_t col, double a, double t) {
    int at = row->count;
    while (at > 0 && row->col[at - 1] > col) {
        at--;
    }
    if (at > 0 && row->col[at - 1] == col) {
        row->sum[at - 1] = fma(a, t, row->sum[at - 1]);
        return;
    }
    for (int e = row->count++; e > at; e--) {
        row->col[e] = row->col[e - 1];
        row->sum[e] = row->sum[e - 1];
    }
    row->col[at] = col;
    row->sum[at] = a * t;
}

static void multiply_row(const building *b, int64_t i, product_row *row) {
    const double t = tentative_value(b->g);
    row->count = 0;
    for (int64_t k = lsp_csr_rowptr(b->A, i); k < lsp_csr_rowptr(b->A, i + 1); k++) {
        add_product(row, aggregate_of(b->g, lsp_csr_col(b->A, k)), ((const double *)b->A->val)[k], t);
    }
}

static int64_t row_length(const void *data, int64_t i) {
    product_row row;
    multiply_row(data, i, &row);
    return row.count;
}

static void fill_row(const void *data, int64_t i, const lsp_csr *P, int64_t k) {
    const building *b = data;
    const double t = tentative_value(b->g), weight = -weight_of(b->g);
    const int64_t own = aggregate_of(b->g, i);
    product_row row;
    multiply_row(b, i, &row);
    for (int e = 0; e < row.count; e++, k++) {
        lsp_index_set(P->col, P->col_type, k, row.col[e]);
        ((double *)P->val)[k] = row.col[e] == own ? t + weight * row.sum[e] : weight * row.sum[e];
    }
}

static int64_t one(const void *data, int64_t i) {
    (void)data, (void)i;
    return 1;
}
static void fill_tentative(const void *data, int64_t i, const lsp_csr *T, int64_t k) {
    lsp_index_set(T->col, T->col_type, k, aggregate_of(data, i));
    ((double *)T->val)[k] = tentative_value(data);
}

lsp_status lsp_generate_amg(lsp_ctx *ctx, const lsp_parameter *p, uint64_t seed, lsp_csr *B) {
    const lsp_grid g = lsp_grid_of(p);
    const int64_t rows = lsp_grid_unknowns(&g, g.k), cols = lsp_grid_unknowns(&g, aggregates_along(&g));
    LSP_OWNED_CSR(ctx, A);
    LSP_OWNED_CSR(ctx, P);
    if (p[1].letter == 'T') {
        LSP_TRY(lsp_generate_check_memory(ctx, rows, cols, rows));
        return lsp_generate_rows(ctx, rows, cols, &(lsp_row_maker){one, fill_tentative, &g}, B);
    }
    LSP_TRY(lsp_generate_grid(ctx, p, seed, &A));
    LSP_TRY(lsp_generate_rows(ctx, rows, cols, &(lsp_row_maker){row_length, fill_row, &(building){&g, &A}}, &P));
    return p[1].letter == 'R' ? lsp_csr_transpose(ctx, &P, B) : lsp_csr_put(ctx, B, &P, false);
}
