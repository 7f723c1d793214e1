/* Random matrices. Columns are drawn first, by rows or by edges; each thread jumps to its own draws. Then rows are
 * sorted, duplicates dropped, and values drawn in the order of the entries. */
#include "generate.h"

enum { least_share = 1 << 13 };

/* A matrix being drawn. */
typedef struct drawing {
    const lsp_csr *A;
    uint64_t seed;
    int64_t n;             /* er: columns; rmat: levels */
    void *row, *col;       /* rmat */
    const int64_t *starts; /* web: of the rows */
} drawing;

static void draw_values(void *data, int64_t begin, int64_t end) {
    const drawing *d = data;
    lsp_rng rng = lsp_rng_at(d->seed + 7, begin);
    for (int64_t k = begin; k < end; k++) {
        ((double *)d->A->val)[k] = 0.5 + lsp_rng_unit(&rng);
    }
}

/* Turns a pattern, which may have duplicates, into a random matrix. */
static lsp_status finish(lsp_ctx *ctx, uint64_t seed, lsp_csr *A) {
    LSP_TRY(lsp_csr_sort_rows(ctx, A));
    LSP_TRY(lsp_csr_sum_duplicates(ctx, A, NULL));
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, A->nnz, sizeof(double), &A->val));
    A->val_type = LSP_F64;
    lsp_for_shares(ctx, A->nnz, least_share, draw_values, &(drawing){.A = A, .seed = seed});
    return LSP_OK;
}

static void draw_columns(void *data, int64_t begin, int64_t end) {
    const drawing *d = data;
    lsp_rng rng = lsp_rng_at(d->seed, begin);
    for (int64_t k = begin; k < end; k++) {
        lsp_index_set(d->A->col, d->A->col_type, k, lsp_rng_below(&rng, d->n));
    }
}

lsp_status lsp_generate_er(lsp_ctx *ctx, const lsp_parameter *p, uint64_t seed, lsp_csr *A) {
    LSP_SCRATCH_SCOPE(ctx);
    int64_t n = p[0].whole, d = p[1].whole, draws, *starts;
    LSP_REQUIRE(lsp_mul(n, d, &draws), LSP_ERR_OVERFLOW, "N = %lld rows of D = %lld entries are too many", (long long)n,
                (long long)d);
    LSP_TRY(lsp_generate_check_memory(ctx, n, n, draws));
    LSP_TRY(LSP_SCRATCH(ctx, n + 1, &starts));
    for (int64_t i = 0; i <= n; i++) {
        starts[i] = i * d;
    }
    LSP_TRY(lsp_csr_create_rows(ctx, n, n, starts, NULL, A));
    lsp_for_shares(ctx, draws, least_share, draw_columns, &(drawing){.A = A, .seed = seed, .n = n});
    return finish(ctx, seed, A);
}

static void draw_edges(void *data, int64_t begin, int64_t end) {
    const drawing *d = data;
    const int64_t scale = d->n;
    lsp_rng rng = lsp_rng_at(d->seed, begin * scale);
    for (int64_t e = begin; e < end; e++) {
        int64_t i = 0, j = 0;
        for (int64_t level = 0; level < scale; level++) {
            double u = lsp_rng_unit(&rng);
            int64_t down = u >= .76, right = (u >= .57) - down + (u >= .95);
            i = 2 * i + down;
            j = 2 * j + right;
        }
        lsp_index_set(d->row, d->A->col_type, e, i);
        lsp_index_set(d->col, d->A->col_type, e, j);
    }
}

lsp_status lsp_generate_rmat(lsp_ctx *ctx, const lsp_parameter *p, uint64_t seed, lsp_csr *A) {
    LSP_SCRATCH_SCOPE(ctx);
    int64_t scale = p[0].whole, n = (int64_t)1 << scale, edges;
    void *row, *col;
    LSP_REQUIRE(lsp_mul(n, p[1].whole, &edges) && edges <= INT64_MAX / 64, LSP_ERR_OVERFLOW,
                "2^SCALE = %lld rows of EF = %lld edges are too many", (long long)n, (long long)p[1].whole);
    LSP_TRY(lsp_generate_check_memory(ctx, n, n, edges));
    LSP_TRY(lsp_csr_create(ctx, n, n, edges, NULL, A));
    LSP_TRY(lsp_scratch_bytes(ctx, edges, lsp_type_bytes(A->col_type), false, &row));
    LSP_TRY(lsp_scratch_bytes(ctx, edges, lsp_type_bytes(A->col_type), false, &col));
    lsp_for_shares(ctx, edges, least_share / 8, draw_edges,
                   &(drawing){.A = A, .seed = seed, .n = scale, .row = row, .col = col});
    LSP_TRY(lsp_csr_file(ctx, &(lsp_filing){.n = edges, .row = row, .col = col, .index_type = A->col_type}, A));
    return finish(ctx, seed, A);
}

/* ---- web ---- */

/* The target of a link of page i: half of the links go at most 200 pages away, the others favour the first pages. Takes
 * two draws. */
static int64_t target(lsp_rng *rng, int64_t i, int64_t n) {
    if (lsp_rng_next(rng) & 1) {
        int64_t place = (i + lsp_rng_below(rng, 401) - 200) % n;
        return place < 0 ? place + n : place;
    }
    double u = lsp_rng_unit(rng);
    return lsp_min((int64_t)((double)n * (u * u * u * u)), n - 1);
}

static void draw_targets(void *data, int64_t begin, int64_t end) {
    const drawing *d = data;
    for (int64_t i = begin; i < end; i++) {
        lsp_rng rng = lsp_rng_at(d->seed, i + 2 * d->starts[i] + 1);
        for (int64_t k = d->starts[i]; k < d->starts[i + 1]; k++) {
            lsp_index_set(d->A->col, d->A->col_type, k, target(&rng, i, d->A->cols));
        }
    }
}

lsp_status lsp_generate_web(lsp_ctx *ctx, const lsp_parameter *p, uint64_t seed, lsp_csr *A) {
    LSP_SCRATCH_SCOPE(ctx);
    int64_t n = p[0].whole, most = p[2].whole, *starts;
    double *cumulative, total = 0; /* cumulative[l-1] = the sum of i^-alpha over 1 .. l */
    LSP_TRY(lsp_generate_check_memory(ctx, n, n, n));
    LSP_TRY(LSP_SCRATCH(ctx, n + 1, &starts));
    LSP_TRY(LSP_SCRATCH(ctx, most, &cumulative));
    for (int64_t l = 1; l <= most; l++) {
        total += pow((double)l, -p[1].decimal);
        cumulative[l - 1] = total;
    }
    starts[0] = 0;
    for (int64_t i = 0; i < n; i++) { /* row i draws once for its length, then twice for each target */
        lsp_rng rng = lsp_rng_at(seed, i + 2 * starts[i]);
        const double reach = lsp_rng_unit(&rng) * total;
        const int64_t length = LSP_FIRST(0, most - 1, middle, cumulative[middle] >= reach) + 1;
        LSP_REQUIRE(lsp_add(starts[i], length, &starts[i + 1]) && starts[i + 1] < INT64_MAX / 4, LSP_ERR_OVERFLOW,
                    "N = %lld rows of up to DMAX = %lld entries are too many", (long long)n, (long long)most);
    }
    LSP_TRY(lsp_generate_check_memory(ctx, n, n, starts[n]));
    LSP_TRY(lsp_csr_create_rows(ctx, n, n, starts, NULL, A));
    lsp_csr_for_rows(ctx, A, draw_targets, &(drawing){.A = A, .seed = seed, .starts = starts});
    return finish(ctx, seed, A);
}

lsp_status lsp_generate_perm(lsp_ctx *ctx, const lsp_parameter *p, uint64_t seed, lsp_csr *A) {
    int64_t n = p[0].whole;
    lsp_rng rng = lsp_rng_at(seed, 0);
    LSP_TRY(lsp_generate_check_memory(ctx, n, n, n));
    LSP_TRY(lsp_csr_from_diagonal(ctx, n, NULL, LSP_NONE, LSP_HOST, A));
    for (int64_t i = n - 1; i > 0; i--) { /* Fisher-Yates shuffle, from the last entry down */
        int64_t j = lsp_rng_below(&rng, i + 1), other = lsp_csr_col(A, j);
        lsp_index_set(A->col, A->col_type, j, lsp_csr_col(A, i));
        lsp_index_set(A->col, A->col_type, i, other);
    }
    return finish(ctx, seed, A);
}
