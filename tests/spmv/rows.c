/* CSR as it is on a CPU: each instruction set and each way of fetching ahead gives the same bits, the numbers of the
 * reference, and finds wrong columns. Rows of 0 to 70 entries, and rows longer than a piece. */
#include "cases.h"
#include "spmv/cpu/cpu.h"

enum { COLS = 97, FETCHES = LSP_SPMV_FETCH_X + 1 };
static const lsp_type types[][2] = {
    {LSP_F32, LSP_F32}, {LSP_F64, LSP_F64}, {LSP_F32, LSP_F64}, {LSP_NONE, LSP_F32}, {LSP_NONE, LSP_F64}};

typedef struct product {
    lsp_csr A;
    lsp_spmv_job job;
    double x[COLS], y[COLS], *sums; /* x and sums have the type of the vectors */
    size_t bytes;                   /* of sums */
} product;

/* Row lengths that wander through 0 .. 70; `huge`: a few rows around LSP_SPMV_PIECE. */
static int64_t length_of(int64_t i, bool huge) {
    static const int64_t long_ones[] = {5, LSP_SPMV_PIECE + 9, 0, 2 * LSP_SPMV_PIECE, LSP_SPMV_PIECE - 1, 70};
    return huge ? long_ones[i] : i * 29 % 71;
}

static double number(uint64_t *state, bool whole) {
    const double n = (double)(test_below(state, 17) - 8);
    return whole ? n : n + 1e-3 * (double)test_below(state, 1000);
}

static product make_product(lsp_ctx *ctx, int t, int widths, bool huge, bool whole) {
    product p = {.bytes = 0};
    const int64_t rows = huge ? 6 : 3 * 71;
    const lsp_csr_types as = {.rowptr_type = widths & 1 ? LSP_I64 : LSP_I32,
                              .col_type = widths & 2 ? LSP_I64 : LSP_I32,
                              .val_type = types[t][0],
                              .drop_values = types[t][0] == LSP_NONE};
    int64_t nnz = 0;
    uint64_t state = 5;
    for (int64_t i = 0; i < rows; i++) {
        nnz += length_of(i, huge);
    }
    must(ctx, lsp_csr_create(ctx, rows, COLS, nnz, &as, &p.A));
    lsp_index_set(p.A.rowptr, as.rowptr_type, 0, 0);
    for (int64_t i = 0, k = 0; i < rows; i++) {
        k += length_of(i, huge);
        lsp_index_set(p.A.rowptr, as.rowptr_type, i + 1, k);
    }
    for (int64_t k = 0; k < nnz; k++) {
        lsp_index_set(p.A.col, as.col_type, k, test_below(&state, COLS));
        test_set_value(&p.A, k, number(&state, whole), 0);
    }
    for (int j = 0; j < COLS; j++) {
        const double n = number(&state, whole);
        if (types[t][1] == LSP_F32) {
            ((float *)p.x)[j] = (float)n;
        } else {
            p.x[j] = n;
        }
    }
    p.bytes = (size_t)rows * lsp_type_bytes(types[t][1]);
    p.sums = malloc(p.bytes);
    must(ctx, lsp_spmv_check(ctx, &p.A, &(lsp_spmv_options){.type = types[t][1]}, &p.job));
    return p;
}

static void free_product(lsp_ctx *ctx, product *p) {
    free(p->sums);
    must(ctx, lsp_csr_free(ctx, &p->A));
}

/* Y = alpha*A*X + beta*Y in two shares, from a Y of the same numbers each time. Returns the entry that was outside. */
static int64_t multiply(lsp_ctx *ctx, product *p, lsp_isa isa, lsp_spmv_fetch ahead, bool factors) {
    int64_t outside = INT64_MAX;
    const lsp_spmv_rows r = {.job = &p->job, .ahead = ahead, .outside = &outside};
    memset(p->sums, 0, p->bytes);
    must(ctx,
         lsp_spmv_check_vectors(
             ctx, &(lsp_spmv_vectors){.alpha = factors ? -2 : 1, .beta = factors, .x = p->x, .y = p->sums}, &p->job));
    LSP_ISA_PICK(isa, lsp_spmv_rows)(&r, 0, p->A.rows / 3);
    LSP_ISA_PICK(isa, lsp_spmv_rows)(&r, p->A.rows / 3, p->A.rows);
    return outside;
}

static int64_t multiply_plainly(lsp_ctx *ctx, product *p) {
    int64_t outside = INT64_MAX;
    memset(p->sums, 0, p->bytes);
    must(ctx, lsp_spmv_check_vectors(ctx, &(lsp_spmv_vectors){.alpha = 1, .x = p->x, .y = p->sums}, &p->job));
    lsp_spmv_ref_rows(&p->job, 0, p->A.rows, &outside);
    return outside;
}

static double sum_at(const product *p, int64_t i) {
    return p->job.options.type == LSP_F32 ? (double)((const float *)p->sums)[i] : p->sums[i];
}

/* All ways against `want`, of p->bytes; whole numbers are compared as numbers, others by their bits. */
static void all_ways(lsp_ctx *ctx, product *p, const product *want, int64_t outside, bool factors, bool bits) {
    for (int i = 0; i < ((int)ctx->isa + 1) * FETCHES * 2; i++) {
        const lsp_isa isa = (lsp_isa)(i / FETCHES / 2);
        const int ahead = i / 2 % FETCHES;
        p->job.planned = i % 2;
        if (p->job.planned && outside != INT64_MAX) {
            continue;
        }
        const int64_t found = multiply(ctx, p, isa, (lsp_spmv_fetch)ahead, factors);
        cr_assert(found == outside, "%s, fetch %d: entry %lld, not %lld", lsp_isa_name(isa), ahead, (long long)found,
                  (long long)outside);
        cr_assert(!bits || memcmp(p->sums, want->sums, p->bytes) == 0, "%s, fetch %d, planned %d: other bits",
                  lsp_isa_name(isa), ahead, p->job.planned);
        for (int64_t row = 0; row < p->A.rows; row++) {
            cr_assert(sum_at(p, row) == sum_at(want, row), "%s, fetch %d, planned %d, row %lld: %g, not %g",
                      lsp_isa_name(isa), ahead, p->job.planned, (long long)row, sum_at(p, row), sum_at(want, row));
        }
    }
}

Test(spmv_rows, every_way_gives_the_same_bits) {
    lsp_ctx *ctx = test_ctx(1);
    for (int i = 0; i < 5 * 4 * 2 * 2; i++) {
        const bool huge = i / 20 % 2, factors = i / 40;
        product p = make_product(ctx, i % 5, i / 5 % 4, huge, false), want = make_product(ctx, i % 5, 0, huge, false);
        want.job.planned = true;
        multiply(ctx, &want, LSP_ISA_PORTABLE, LSP_SPMV_FETCH_NOTHING, factors);
        all_ways(ctx, &p, &want, INT64_MAX, factors, true);
        free_product(ctx, &p);
        free_product(ctx, &want);
    }
    lsp_ctx_destroy(ctx);
}

Test(spmv_rows, every_way_gives_the_numbers_of_the_reference) {
    lsp_ctx *ctx = test_ctx(1);
    for (int i = 0; i < 5 * 4 * 2; i++) {
        product p = make_product(ctx, i % 5, i / 5 % 4, i / 20, true), want = make_product(ctx, i % 5, 0, i / 20, true);
        multiply_plainly(ctx, &want);
        all_ways(ctx, &p, &want, INT64_MAX, false, false);
        free_product(ctx, &p);
        free_product(ctx, &want);
    }
    lsp_ctx_destroy(ctx);
}

/* Each place of a chunk, of a row, and of the ends of the matrix. */
Test(spmv_rows, every_way_leaves_out_columns_outside) {
    static const int64_t wrong[] = {-1, COLS, INT32_MIN, INT32_MAX};
    lsp_ctx *ctx = test_ctx(1);
    for (int i = 0; i < 200; i++) {
        const bool huge = i % 50 == 49;
        product p = make_product(ctx, i % 5, i / 5 % 4, huge, true), want = make_product(ctx, i % 5, 0, huge, true);
        const int64_t at = i < 150 ? i : p.A.nnz - 1 - (i - 150) * 37;
        lsp_index_set(p.A.col, p.A.col_type, at, wrong[i % 4]);
        lsp_index_set(want.A.col, want.A.col_type, at, wrong[i % 4]);
        cr_assert(multiply_plainly(ctx, &want) == at);
        all_ways(ctx, &p, &want, at, false, false);
        free_product(ctx, &p);
        free_product(ctx, &want);
    }
    lsp_ctx_destroy(ctx);
}
