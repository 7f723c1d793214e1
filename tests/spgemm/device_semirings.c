/* Products on the GPU in semirings other than plus-times: the bits of the reference on the host, in every bin of rows,
 * also for values with ties and NaN. Skipped without a GPU. */
#include "core/cuda.h"
#include "spgemm/gpu/choose.h"
#include "tests/pairs.h"
#include "tests/stream_sink.h"

static const lsp_semiring semirings[] = {LSP_MIN_PLUS, LSP_MAX_TIMES, LSP_OR_AND, LSP_PLUS_PAIR};
enum { SEMIRINGS = sizeof semirings / sizeof *semirings };

static bool reduced(void) { return getenv("LSP_TEST_REDUCED") != NULL; }

/* ---- values ---- */

/* Kinds of values. USUAL: numbers, some of them small integers, so that some products are equal. TIES: many products
 * are zeros of both signs, and the first of them must stay. WILD: a few values are NaN, infinite, or infinite as
 * floats. */
enum { USUAL, TIES, WILD, VALUES };

static double value_of(int kind, bool left, uint64_t *state) {
    static const double wild[] = {(double)NAN, INFINITY, -INFINITY, 1e300, -1e300, 1e30};
    static const double tied[] = {0.0, -0.0, 1e-30, 1e-200, 1.0, 1.0};
    if (kind == TIES) {
        const double value = tied[test_below(state, left ? 6 : 2)];
        return !left && test_below(state, 24) == 0 ? (test_below(state, 2) ? -1e-30 : 1e-30) : value;
    }
    if (kind == WILD && test_below(state, 150) == 0) {
        return wild[test_below(state, 6)];
    }
    return test_below(state, 8) == 0 ? (double)test_below(state, 5) - 2
                                     : (double)test_below(state, 1 << 30) / (1 << 29) - 1;
}

static void set_values(lsp_csr *A, int kind, bool left, uint64_t *state) {
    for (int64_t p = 0; p < A->nnz; p++) {
        ((double *)A->val)[p] = value_of(kind, left, state);
    }
}

/* ---- every bin ---- */

/* Each row of A has `a_entries` entries, each row of B `b_entries`. B has entries in `distinct` columns: groups of
 * `beside` neighbours, `step` columns apart. Nearly all of these columns occur in C. */
typedef struct shape {
    int bin;
    int64_t a_entries, b_entries, distinct, step, beside;
} shape;

static lsp_csr make_rows(int64_t rows, int64_t entries, int64_t choice, int64_t step, int64_t beside, uint64_t *state) {
    const int64_t nnz = rows * entries;
    int32_t *rowptr = calloc((size_t)rows + 1, 4), *col = malloc((size_t)nnz * 4);
    for (int64_t p = 0; p < nnz; p++) {
        const int64_t k = p % entries, first = k * choice / entries, last = (k + 1) * choice / entries;
        rowptr[p / entries + 1] = (int32_t)(p + 1);
        const int64_t number = first + (int64_t)test_below(state, last - first);
        col[p] = (int32_t)(number / beside * step + number % beside);
    }
    return (lsp_csr){rows,    choice * step, nnz,     rowptr,  col, malloc((size_t)nnz * 8),
                     LSP_I32, LSP_I32,       LSP_F64, LSP_HOST};
}

/* Multiplies by a plan in every semiring, with new values for each product. Unless `bin` is LSP_BIN_NONE, some rows
 * must be in that bin. */
static void check_products(lsp_ctx *ctx, lsp_csr *A, lsp_csr *B, int bin, const char *what) {
    uint64_t state = 17;
    lsp_csr a = upload(ctx, A), b = upload(ctx, B);
    for (int k = 0; k < 2 * SEMIRINGS; k++) {
        if (reduced() && (k >= 4 || k % 2 != (k / 2 + bin) % 2)) { /* only semirings with own kernels, one type each */
            continue;
        }
        lsp_spgemm_options options = {.semiring = semirings[k / 2], .types.val_type = k % 2 ? LSP_F32 : LSP_NONE};
        lsp_spgemm_options reference = options;
        lsp_spgemm_plan *plan = NULL;
        reference.method = LSP_SPGEMM_REFERENCE;
        must(ctx, lsp_spgemm_plan_create(ctx, &a, &b, &options, &plan));
        plan->gpu->dense_b.strips =
            bin == LSP_BIN_NONE ? plan->gpu->dense_b.strips : 0; /* a nearly dense B has no bins */
        for (int i = 0; i < (reduced() ? 1 : VALUES); i++) {
            const int kind = (i + k + k / 2 + bin) % VALUES;
            char where[80];
            lsp_csr C = {0}, right = {0};
            snprintf(where, sizeof where, "%s, semiring %d, type %d, values %d", what, (int)options.semiring,
                     (int)options.types.val_type, kind);
            set_values(A, kind, true, &state), set_values(B, kind, false, &state);
            must(ctx, lsp_cuda_copy(ctx, a.val, LSP_CUDA, A->val, LSP_HOST, 8 * A->nnz));
            must(ctx, lsp_cuda_copy(ctx, b.val, LSP_CUDA, B->val, LSP_HOST, 8 * B->nnz));
            must(ctx, lsp_spgemm_execute(plan, &a, &b, &C));
            must(ctx, lsp_spgemm(ctx, A, B, &reference, &right, NULL));
            lsp_csr here = download(ctx, &C);
            same(ctx, &here, &right, where);
            lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &here), lsp_csr_free(ctx, &right);
        }
        cr_assert(bin == LSP_BIN_NONE || plan->gpu->count_bins[bin] > 0 || plan->gpu->fill_bins[bin] > 0,
                  "%s: no row is in bin %d", what, bin);
        lsp_spgemm_plan_destroy(plan);
    }
    lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &b);
}

Test(device_semirings, rows_of_every_bin_have_the_bits_of_the_reference) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    static const shape shapes[] = {
        {LSP_BIN_SORT_1, 1, 1, 9, 1, 1}, /* one product a row */
        {LSP_BIN_SORT_1, 2, 3, 4, 1, 1},
        {LSP_BIN_SORT_2, 4, 4, 12, 1, 1},
        {LSP_BIN_SORT_2, 8, 2, 4, 1, 1}, /* most products share their column */
        {LSP_BIN_SORT_4, 4, 5, 9, 1, 1},
        {LSP_BIN_SORT_8, 5, 10, 20, 7, 1},
        {LSP_BIN_SORT_16, 10, 10, 30, 1, 1},
        {LSP_BIN_SORT_32, 10, 20, 50, 2, 1},
        {LSP_BIN_SORT_64, 20, 20, 3000, 1, 1},
        {LSP_BIN_SORT_128, 20, 40, 3000, 1, 1},
        {LSP_BIN_SORT_256, 20, 52, 5000, 3, 1},
        {LSP_BIN_SORT_512, 40, 52, 1000, 1, 1},
        {LSP_BIN_SORT_256, 30, 40, 2000, 2000, 1}, /* columns of 22 bits, too many beside a slot: blocks are ranked */
        {LSP_BIN_SORT_64, 12, 40, 400, 41000, 1},
        {LSP_BIN_SORT_128, 20, 50, 800, 20000, 2},
        {LSP_BIN_SORT_512, 64, 64, 4096, 4096, 1},  /* 4096 products in up to 2^24 columns */
        {LSP_BIN_SORT_512, 40, 100, 1300, 3000, 5}, /* 3 products a column */
        {LSP_BIN_SORT_512, 30, 40, 2000, 20000, 1}, /* more than 2^24 columns, in parts */
        {LSP_BIN_LONG, 200, 22, 3000, 6000, 1},     /* its pieces are sorted, blocks are ranked */
        {LSP_BIN_SPREAD_128, 100, 10, 10, 6000, 1}, /* sums of 100 products */
        {LSP_BIN_SPREAD_128, 120, 25, 25, 3000, 1},
        {LSP_BIN_NEAR_128, 20, 30, 100, 1, 1},
        {LSP_BIN_NEAR_512, 20, 50, 300, 10, 1},
        {LSP_BIN_NEAR_128, 20, 30, 100, 300, 1},
        {LSP_BIN_NEAR_512, 20, 50, 200, 150, 1},
        {LSP_BIN_SPREAD_128, 20, 30, 60, 1000, 1},
        {LSP_BIN_SPREAD_128, 20, 30, 60, 512 * 32, 1}, /* words that meet in one place */
        {LSP_BIN_SPREAD_512, 40, 50, 200, 3000, 8},
        {LSP_BIN_WIDE_512, 12, 25, 40, 1000000, 1}, /* columns too far apart to be sorted */
        {LSP_BIN_WIDE_512, 60, 70, 500, 3000, 1},   /* too many words for other windows */
        {LSP_BIN_LONG, 200, 22, 3000, 60, 1},       /* its pieces are sorted */
        {LSP_BIN_LONG, 60, 70, 3000, 1, 1},
        {LSP_BIN_LONG, 92, 92, 520, 100, 1}}; /* its pieces are added */
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const shape s = shapes[k];
        uint64_t state = k + 1;
        char what[40];
        lsp_csr A = make_rows(!reduced()                 ? 5
                              : s.bin > LSP_BIN_SORT_512 ? 1
                                                         : 2,
                              s.a_entries, 2 * s.a_entries, 1, 1, &state);
        lsp_csr B = make_rows(2 * s.a_entries, s.b_entries, s.distinct, s.step, s.beside, &state);
        snprintf(what, sizeof what, "shape %zu", k);
        check_products(ctx, &A, &B, s.bin, what);
        if (s.bin == LSP_BIN_SORT_2 || s.bin >= LSP_BIN_SORT_512) { /* with a column twice in a row of B */
            ((int32_t *)B.col)[1] = ((int32_t *)B.col)[0];
            check_products(ctx, &A, &B, LSP_BIN_NONE, what);
        }
        drop(&A), drop(&B);
    }
    lsp_ctx_destroy(ctx);
}

/* Row i has i % kinds entries, in ascending columns below 3 * kinds. */
static lsp_csr make_short_rows(int64_t rows, int64_t kinds, uint64_t *state) {
    int32_t *rowptr = calloc((size_t)rows + 1, 4), *col = malloc((size_t)(rows * kinds) * 4), at = 0;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t k = 0; k < i % kinds; k++) {
            col[at++] = (int32_t)(3 * k + test_below(state, 3));
        }
        rowptr[i + 1] = at;
    }
    return (lsp_csr){rows, 3 * kinds, at, rowptr, col, malloc((size_t)at * 8), LSP_I32, LSP_I32, LSP_F64, LSP_HOST};
}

/* Enough rows for this chip that a warp takes 32 of them. Lanes merge rows of up to 8 entries; others are sorted. */
Test(device_semirings, very_short_rows_of_few_columns_have_the_bits_of_the_reference) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int64_t kinds = 9; kinds <= 11; kinds += 2) {
        uint64_t state = (uint64_t)kinds;
        lsp_csr A = make_short_rows(1288 * lsp_cuda_get_chip(ctx)->sms, kinds, &state);
        lsp_csr B = make_rows(A.cols, 2, 5, 1, 1, &state);
        check_products(ctx, &A, &B, LSP_BIN_SORT_2, "rows of few columns");
        ((int32_t *)B.col)[1] = ((int32_t *)B.col)[0];
        check_products(ctx, &A, &B, LSP_BIN_SORT_2, "rows of few columns, one of them twice");
        drop(&A), drop(&B);
    }
    lsp_ctx_destroy(ctx);
}

/* B has one long row of `length` columns, `step` apart. Its other rows have `each` columns, and about half of these are
 * columns of the long row too. A row of A leads to the long row and to `others` of the other rows. */
static lsp_csr make_long_row(int64_t rows, int64_t length, int64_t step, int64_t each, uint64_t *state) {
    const int64_t nnz = length + (rows - 1) * each, cols = length * step;
    int32_t *rowptr = calloc((size_t)rows + 1, 4), *col = malloc((size_t)nnz * 4), at = 0;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t n = i == rows / 2 ? length : each;
        for (int64_t k = 0; k < n; k++) {
            const int64_t column = k * (cols / n) + test_below(state, cols / n);
            col[at++] = (int32_t)(n == length || column % 2 ? column / step * step : column);
        }
        rowptr[i + 1] = at;
    }
    return (lsp_csr){rows, cols, nnz, rowptr, col, malloc((size_t)nnz * 8), LSP_I32, LSP_I32, LSP_F64, LSP_HOST};
}

static lsp_csr make_with_long_row(int64_t rows, int64_t inner, int64_t others, uint64_t *state) {
    int32_t *rowptr = calloc((size_t)rows + 1, 4), *col = malloc((size_t)(rows * (others + 1)) * 4), at = 0;
    for (int64_t i = 0; i < rows; i++) {
        int64_t before =
            test_below(state, lsp_min(others, inner / 2) + 1); /* entries before the one that leads to the long row */
        before = lsp_max(before, others - (inner - inner / 2 - 1));
        for (int64_t k = 0; k <= others; k++) {
            col[at++] = (int32_t)(k < before ? k : inner / 2 + k - before);
        }
        rowptr[i + 1] = at;
    }
    return (lsp_csr){rows, inner, at, rowptr, col, malloc((size_t)at * 8), LSP_I32, LSP_I32, LSP_F64, LSP_HOST};
}

Test(device_semirings, rows_nearly_of_one_row_of_B_have_the_bits_of_the_reference) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    static const struct {
        int64_t length, step, others, each;
        int bin;
    } kinds[] = {
        {257, 1, 0, 1, LSP_BIN_MERGE},     {260, 3, 20, 4, LSP_BIN_MERGE},  {300, 7, 100, 1, LSP_BIN_MERGE},
        {800, 1, 64, 4, LSP_BIN_MERGE},    {800, 40, 32, 8, LSP_BIN_MERGE}, {760, 40, 257, 1, LSP_BIN_SORT_128},
        {240, 99, 27, 3, LSP_BIN_SORT_64}, {7000, 2, 50, 5, LSP_BIN_MERGE}, {600, 27962, 40, 5, LSP_BIN_MERGE},
        {600, 27963, 40, 5, LSP_BIN_NONE}, {900, 3, 100, 2, LSP_BIN_MERGE}, {2000, 1, 1, 256, LSP_BIN_MERGE}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        uint64_t state = k + 1;
        char what[40];
        lsp_csr B = make_long_row(2 * kinds[k].others + 2, kinds[k].length, kinds[k].step, kinds[k].each, &state);
        lsp_csr A = make_with_long_row(reduced() ? 2 : 9, B.rows, kinds[k].others, &state);
        snprintf(what, sizeof what, "kind %zu", k);
        check_products(ctx, &A, &B, kinds[k].bin, what);
        ((int32_t *)B.col)[1] = ((int32_t *)B.col)[0]; /* a column twice, if the row has two entries */
        check_products(ctx, &A, &B, LSP_BIN_NONE, what);
        drop(&A), drop(&B);
    }
    lsp_ctx_destroy(ctx);
}

Test(device_semirings, rows_that_repeat_or_are_very_many_have_the_bits_of_the_reference) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    static const char *const specs[][2] = {{"fem3:5", "fem3:3"},
                                           {"stencil27:9", "stencil27:4"},
                                           {"poisson2d:300", "poisson2d:9"},
                                           {"er:90000:8", "er:50:8"}};
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        lsp_csr A = {0};
        must(ctx, lsp_generate(ctx, specs[k][reduced()], 1, NULL, &A));
        check_products(ctx, &A, &A, LSP_BIN_NONE, specs[k][reduced()]);
        lsp_csr_free(ctx, &A);
    }
    lsp_ctx_destroy(ctx);
}

/* ---- every form ---- */

static recipe any_recipe(int64_t rows, int64_t cols, int64_t entries, uint64_t *state) {
    return (recipe){.rows = rows,
                    .cols = cols,
                    .entries = test_below(state, entries),
                    .rowptr_type = index_type(state),
                    .col_type = index_type(state),
                    .val_type = value_type(state),
                    .sorted = test_below(state, 2),
                    .wild = test_below(state, 2),
                    .dense_row = -1,
                    .dense_col = -1};
}

Test(device_semirings, products_of_any_types_whole_and_in_blocks_have_the_bits_of_the_reference) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    uint64_t state = 5;
    for (int round = 0; round < (reduced() ? 32 : 240); round++) {
        const int64_t rows = 1 + test_below(&state, 40), inner = test_below(&state, 40), cols = test_below(&state, 300);
        const recipe of_a = any_recipe(rows, inner, 12, &state), of_b = any_recipe(inner, cols, 60, &state);
        lsp_csr A = make(&of_a, test_random(&state)), B = make(&of_b, test_random(&state)), A_t, B_t, C, right;
        lsp_spgemm_options options = {.semiring = semirings[round % SEMIRINGS],
                                      .transpose_a = round & 4,
                                      .transpose_b = round & 8,
                                      .types = {.val_type = value_type(&state), .drop_values = round % 11 == 10},
                                      .filter.largest = round % 5 == 4 ? 3 : 0};
        must(ctx, lsp_csr_transpose(ctx, &A, &A_t));
        must(ctx, lsp_csr_transpose(ctx, &B, &B_t));
        const lsp_csr *left = options.transpose_a ? &A_t : &A, *other = options.transpose_b ? &B_t : &B;
        lsp_csr a = upload(ctx, left), b = upload(ctx, other);
        must(ctx, lsp_spgemm(ctx, &a, &b, &options, &C, NULL));
        lsp_csr here = download(ctx, &C);
        lsp_spgemm_options reference = options;
        reference.method = LSP_SPGEMM_REFERENCE;
        must(ctx, lsp_spgemm(ctx, left, other, &reference, &right, NULL));
        same(ctx, &here, &right, "whole");
        for (int there = 0; there < 2; there++) {
            received all = receiver(rows, right.nnz);
            all.gpu = there ? ctx : NULL;
            options.types.place = LSP_PLACE_CUDA;
            must(ctx,
                 lsp_spgemm_stream(ctx, there ? &a : left, there ? &b : other, &options, 700, receive, &all, NULL));
            same(ctx, &all.C, &right, "in blocks");
            drop(&all.C);
        }
        lsp_csr_free(ctx, &A_t), lsp_csr_free(ctx, &B_t), lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &b);
        lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &here), lsp_csr_free(ctx, &right);
        drop(&A), drop(&B);
    }
    lsp_ctx_destroy(ctx);
}

Test(device_semirings, products_of_three_and_files_are_those_of_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const char *path = "semirings_host.mtx", *path_there = "semirings_gpu.mtx";
    const recipe of_a = {80, 80, 4, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    const recipe of_p = {80, 12, 2, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    lsp_csr A = make(&of_a, 1), P = make(&of_p, 3), a = upload(ctx, &A), p = upload(ctx, &P);
    for (int k = 0; k < SEMIRINGS; k++) {
        const lsp_spgemm_options options = {.semiring = semirings[k]};
        lsp_csr right, C, here;
        must(ctx, lsp_spgemm_triple(ctx, NULL, &A, &P, &options, &right, NULL));
        must(ctx, lsp_spgemm_triple(ctx, NULL, &a, &p, &options, &C, NULL));
        here = download(ctx, &C);
        same(ctx, &here, &right, "three");
        lsp_csr_free(ctx, &right), lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &here);
        must(ctx, lsp_spgemm_write(ctx, path, &A, &A, &options, 1000, &(lsp_mtx_write_options){.comment = "a product"},
                                   NULL));
        must(ctx, lsp_spgemm_write(ctx, path_there, &a, &a, &options, 1000,
                                   &(lsp_mtx_write_options){.comment = "a product"}, NULL));
        same_files(path, path_there);
        lsp_spgemm_options how = options; /* the factors lie on the host, the GPU multiplies */
        how.types.place = LSP_PLACE_CUDA;
        must(ctx, lsp_spgemm_write(ctx, path_there, &A, &A, &how, 1000,
                                   &(lsp_mtx_write_options){.comment = "a product"}, NULL));
        same_files(path, path_there);
    }
    remove(path), remove(path_there);
    lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &p);
    drop(&A), drop(&P);
    lsp_ctx_destroy(ctx);
}

Test(device_semirings, pairs_beyond_the_integers_of_a_float_are_counted_as_on_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    check_counts(ctx, LSP_CUDA, reduced());
    lsp_ctx_destroy(ctx);
}
