/* C = A*B of integers, on the CPU and on a GPU: against plain loops, against the reference, and what is refused. */
#include "tests/integers.h"

enum { SEMIRINGS = 5 };

/* ---- what a product is ---- */

TEST_ON_BOTH(spgemm_integers, products_are_those_of_plain_loops) {
    static const lsp_type types[] = {LSP_I32, LSP_I64, LSP_BOOL, LSP_NONE, LSP_I64};
    uint64_t state = 3;
    for (int round = 0; round < (reduced() ? 30 : 300); round++) {
        const int64_t rows = test_below(&state, 20), inner = 1 + test_below(&state, 20),
                      cols = 1 + test_below(&state, 30);
        const lsp_type type_a = types[test_below(&state, 5)], type_b = types[test_below(&state, 5)];
        const lsp_type asked = integer_types[test_below(&state, 3)];
        lsp_csr A = make_whole(type_a, rows, inner, round & 1, round & 2, &state);
        lsp_csr B = make_whole(type_b, inner, cols, round & 4, round & 8, &state), a = take(ctx, &A), b = take(ctx, &B);
        for (int s = 0; s < SEMIRINGS; s++) {
            lsp_csr C = {0};
            lsp_spgemm_options options = {.semiring = (lsp_semiring)s, .types.val_type = asked};
            plain right = plain_product(&A, &B, options.semiring);
            must_be_made(ctx, lsp_spgemm(ctx, &a, &b, &options, &C, NULL), &C, asked, &right,
                         lsp_semiring_name((lsp_semiring)s));
            if (!on_gpu(ctx)) {
                options.method = LSP_SPGEMM_REFERENCE;
                must_be_made(ctx, lsp_spgemm(ctx, &a, &b, &options, &C, NULL), &C, asked, &right, "the reference");
            }
            plain_free(&right);
        }
        give_back(ctx, &a), give_back(ctx, &b), drop(&A), drop(&B);
    }
}

/* One row times one column of `n` entries. */
static lsp_csr line(int64_t n, bool column, lsp_type type, void *val) {
    static int64_t zeros[8], ones[] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, one_row[2];
    one_row[1] = n;
    return column ? (lsp_csr){n, 1, n, ones, zeros, val, LSP_I64, LSP_I64, type, LSP_HOST}
                  : (lsp_csr){1, n, n, one_row, ones, val, LSP_I64, LSP_I64, type, LSP_HOST};
}

TEST_ON_BOTH(spgemm_integers, sums_are_modulo_2_to_the_64) {
    int64_t a_val[] = {INT64_MAX, 1, INT64_MIN}, b_val[] = {1, 1, 2};
    lsp_csr A = line(3, false, LSP_I64, a_val), B = line(3, true, LSP_I64, b_val), a = take(ctx, &A), b = take(ctx, &B);
    static const int64_t answers[] = {INT64_MIN, INT64_MIN, INT64_MAX, 1, 3};
    for (int s = 0; s < SEMIRINGS; s++) {
        lsp_csr C = {0}, c;
        must(ctx, lsp_spgemm(ctx, &a, &b, &(lsp_spgemm_options){.semiring = (lsp_semiring)s}, &C, NULL));
        c = on_gpu(ctx) ? download(ctx, &C) : C;
        cr_assert(C.val_type == LSP_I64 && c.nnz == 1);
        cr_assert(((int64_t *)c.val)[0] == answers[s], "%s: %lld", lsp_semiring_name((lsp_semiring)s),
                  (long long)*(int64_t *)c.val);
        lsp_csr_free(ctx, &C);
        if (on_gpu(ctx)) {
            lsp_csr_free(ctx, &c);
        }
    }
    give_back(ctx, &a), give_back(ctx, &b);
}

TEST_ON_BOTH(spgemm_integers, a_sum_beyond_32_bits_is_refused_and_64_bits_hold_it) {
    int32_t a_val[] = {INT32_MAX, 1, -7}, b_val[] = {1, 1, 0};
    lsp_csr A = line(3, false, LSP_I32, a_val), B = line(3, true, LSP_I32, b_val), C = {.rows = 4711};
    for (int last = 0; last < 2; last++) {
        b_val[1] = last; /* 0: the sum is INT32_MAX, which fits */
        lsp_csr a = take(ctx, &A), b = take(ctx, &B), c;
        if (last == 0) {
            must(ctx, lsp_spgemm(ctx, &a, &b, NULL, &C, NULL));
            c = on_gpu(ctx) ? download(ctx, &C) : C;
            cr_assert(c.val_type == LSP_I32 && *(int32_t *)c.val == INT32_MAX);
        } else {
            C = (lsp_csr){.rows = 4711};
            must_fail(
                ctx, LSP_ERR_OVERFLOW,
                "the product, row 0: the value at column 0 is 2147483648, which does not fit LSP_I32; LSP_I64 holds it",
                lsp_spgemm(ctx, &a, &b, NULL, &C, NULL));
            cr_assert(C.rows == 4711 && C.rowptr == NULL);
            must(ctx, lsp_spgemm(ctx, &a, &b, &(lsp_spgemm_options){.types.val_type = LSP_I64}, &C, NULL));
            c = on_gpu(ctx) ? download(ctx, &C) : C;
            cr_assert(c.val_type == LSP_I64 && *(int64_t *)c.val == (int64_t)INT32_MAX + 1);
        }
        lsp_csr_free(ctx, &C);
        if (on_gpu(ctx)) {
            lsp_csr_free(ctx, &c);
        }
        give_back(ctx, &a), give_back(ctx, &b);
    }
}

/* ---- types ---- */

TEST_ON_BOTH(spgemm_integers, two_types_give_the_wider_one) {
    static const struct {
        lsp_type a, b, c;
    } types[] = {{LSP_BOOL, LSP_BOOL, LSP_BOOL}, {LSP_BOOL, LSP_I32, LSP_I32},   {LSP_I32, LSP_I64, LSP_I64},
                 {LSP_BOOL, LSP_I64, LSP_I64},   {LSP_NONE, LSP_BOOL, LSP_BOOL}, {LSP_NONE, LSP_I32, LSP_I32},
                 {LSP_I64, LSP_NONE, LSP_I64},   {LSP_I32, LSP_F32, LSP_F64},    {LSP_F64, LSP_I64, LSP_F64},
                 {LSP_BOOL, LSP_F32, LSP_F64},   {LSP_C64, LSP_I32, LSP_C64},    {LSP_BOOL, LSP_C64, LSP_C64},
                 {LSP_NONE, LSP_NONE, LSP_NONE}, {LSP_F32, LSP_F64, LSP_F64}};
    uint64_t state = 5;
    for (size_t k = 0; k < 2 * (sizeof types / sizeof *types); k++) {
        const lsp_type type_a = k % 2 ? types[k / 2].b : types[k / 2].a,
                       type_b = k % 2 ? types[k / 2].a : types[k / 2].b;
        lsp_csr A = make_whole(type_a, 9, 9, true, false, &state), B = make_whole(type_b, 9, 9, true, false, &state);
        lsp_csr a = take(ctx, &A), b = take(ctx, &B), C = {0};
        must(ctx, lsp_spgemm(ctx, &a, &b, NULL, &C, NULL));
        cr_assert(C.val_type == types[k / 2].c, "%s and %s: %s", lsp_type_name(type_a), lsp_type_name(type_b),
                  lsp_type_name(C.val_type));
        lsp_csr_free(ctx, &C);
        must(ctx, lsp_csr_add(ctx, 1, &a, 1, &b, &C));
        cr_assert(C.val_type == types[k / 2].c, "the sum: %s", lsp_type_name(C.val_type));
        lsp_csr_free(ctx, &C);
        must(ctx, lsp_csr_hadamard(ctx, &a, &b, &C));
        cr_assert(C.val_type == types[k / 2].c, "entry by entry: %s", lsp_type_name(C.val_type));
        lsp_csr_free(ctx, &C), give_back(ctx, &a), give_back(ctx, &b), drop(&A), drop(&B);
    }
}

/* The same matrix with values of another type, made by a plain loop. */
static lsp_csr as_real(const lsp_csr *A, lsp_type type) {
    lsp_csr R = *A;
    R.val_type = type;
    R.val = calloc((size_t)A->nnz + 1, 16);
    for (int64_t k = 0; k < A->nnz; k++) {
        if (type == LSP_F32) {
            ((float *)R.val)[k] = (float)(double)whole_at(A, k);
        } else {
            ((double *)R.val)[type == LSP_C64 ? 2 * k : k] = (double)whole_at(A, k);
        }
    }
    return R;
}

TEST_ON_BOTH(spgemm_integers, integers_beside_reals_are_rounded_first) {
    static const lsp_type wider[] = {LSP_F64, LSP_F32, LSP_C64};
    uint64_t state = 8;
    for (int round = 0; round < (reduced() ? 18 : 90); round++) {
        const lsp_type type = integer_types[round % 3], to = wider[round / 3 % 3];
        lsp_csr A = make_whole(type, 30, 25, round & 1, true, &state),
                B = make_whole(round & 2 ? type : to, 25, 40, true, false, &state);
        lsp_csr R = as_real(&A, to), S = lsp_is_integer(B.val_type) ? as_real(&B, to) : B, a = take(ctx, &A);
        lsp_csr b = take(ctx, &B), C = {0};
        const lsp_spgemm_options options = {.types.val_type = to};
        lsp_csr right = reference(ctx, &R, &S, options);
        must(ctx, lsp_spgemm(ctx, &a, &b, &options, &C, NULL));
        must_equal(ctx, &C, &right, "integer times real");
        lsp_spgemm_plan *plan = NULL;
        must(ctx, lsp_spgemm_plan_create(ctx, &a, &b, &options, &plan));
        must(ctx, lsp_spgemm_execute(plan, &a, &b, &C));
        must(ctx, lsp_spgemm_refill(plan, &a, &b, &C));
        must_equal(ctx, &C, &right, "by a plan");
        lsp_spgemm_plan_destroy(plan);
        free(R.val);
        if (S.val != B.val) {
            free(S.val);
        }
        lsp_csr_free(ctx, &right), give_back(ctx, &a), give_back(ctx, &b), drop(&A), drop(&B);
    }
}

TEST_ON_BOTH(spgemm_integers, patterns_are_counted_in_integers_if_asked) {
    uint64_t state = 21;
    lsp_csr A = make_whole(LSP_NONE, 30, 30, false, false, &state), a = take(ctx, &A), C = {0};
    static const lsp_semiring semirings[] = {LSP_PLUS_PAIR, LSP_PLUS_TIMES};
    for (int s = 0; s < 2; s++) {
        plain right = plain_product(&A, &A, semirings[s]);
        for (int t = 0; t < 3; t++) {
            const lsp_spgemm_options options = {.semiring = semirings[s], .types.val_type = integer_types[t]};
            must_be_made(ctx, lsp_spgemm(ctx, &a, &a, &options, &C, NULL), &C, integer_types[t], &right, "counts");
        }
        plain_free(&right);
    }
    must(ctx, lsp_spgemm(ctx, &a, &a, &(lsp_spgemm_options){.semiring = LSP_PLUS_PAIR}, &C, NULL));
    cr_assert(C.val_type == LSP_F64);
    lsp_csr_free(ctx, &C), give_back(ctx, &a), drop(&A);
}

static lsp_status nothing(void *user, int64_t first_row, const lsp_csr *rows) {
    (void)user, (void)first_row, (void)rows;
    return LSP_OK;
}

TEST_ON_BOTH(spgemm_integers, real_products_do_not_become_integers) {
    uint64_t state = 4;
    static const lsp_type reals[] = {LSP_F32, LSP_F64, LSP_C64};
    for (int k = 0; k < 9; k++) {
        lsp_csr A = make_whole(reals[k % 3], 9, 9, true, false, &state),
                B = make_whole(LSP_I32, 9, 9, true, false, &state);
        lsp_csr a = take(ctx, &A), b = take(ctx, &B), C = {.rows = 4711};
        lsp_spgemm_plan *plan = NULL;
        const lsp_spgemm_options options = {.types.val_type = integer_types[k / 3]};
        must_fail(ctx, LSP_ERR_UNSUPPORTED, "cannot have the", lsp_spgemm(ctx, &a, &b, &options, &C, NULL));
        must_fail(ctx, LSP_ERR_UNSUPPORTED, "cannot have the", lsp_spgemm(ctx, &b, &a, &options, &C, NULL));
        must_fail(ctx, LSP_ERR_UNSUPPORTED, "cannot have the", lsp_spgemm_plan_create(ctx, &b, &a, &options, &plan));
        must_fail(ctx, LSP_ERR_UNSUPPORTED, "cannot have the",
                  lsp_spgemm_stream(ctx, &b, &a, &options, 0, nothing, NULL, NULL));
        cr_assert(C.rows == 4711 && plan == NULL);
        give_back(ctx, &a), give_back(ctx, &b), drop(&A), drop(&B);
    }
}

/* ---- all kinds of rows ---- */

static void to_integers(lsp_ctx *ctx, lsp_csr *A, lsp_type type, uint64_t seed) {
    void *val = NULL;
    must(ctx, lsp_alloc(ctx, LSP_HOST, A->nnz, lsp_type_bytes(type), &val));
    lsp_free(ctx, A->val);
    A->val = val;
    A->val_type = type;
    for (int64_t k = 0; k < A->nnz; k++) {
        set_whole(type, val, k, type != LSP_I32, &seed);
    }
}

TEST_ON_BOTH(spgemm_integers, rows_of_all_kinds_have_the_values_of_the_reference) {
    static const recipe squares[] = {
        /* rows, cols, entries, types, sorted, wild, dense row, dense column, band */
        {3000, 3000, 8, LSP_I32, LSP_I32, LSP_I64, true, true, -1, -1, 0},
        {3000, 3000, 8, LSP_I64, LSP_I64, LSP_I32, false, false, -1, -1, 0},   /* unsorted, duplicates */
        {3000, 3000, 40, LSP_I32, LSP_I32, LSP_I64, true, true, -1, -1, 30},   /* a band: many products a column */
        {3000, 3000, 40, LSP_I32, LSP_I32, LSP_BOOL, false, true, -1, -1, 30}, /* the same with duplicates */
        {1500, 1500, 60, LSP_I32, LSP_I32, LSP_I64, true, true, -1, -1, 0},    /* long rows */
        {900, 900, 3, LSP_I64, LSP_I32, LSP_I64, false, true, 3, 5, 0},        /* a dense row and column, unsorted */
        {9000, 9000, 3, LSP_I32, LSP_I32, LSP_I64, true, true, 8000, 11, 0},   /* rows of C beyond a piece */
        {700, 700, 0, LSP_I32, LSP_I32, LSP_I32, true, false, -1, -1, 0},      /* nothing at all */
        {99, 99, 50, LSP_I32, LSP_I32, LSP_I64, true, true, -1, -1, 0},        /* nearly dense */
    };
    for (size_t k = 0; k < sizeof squares / sizeof *squares; k++) {
        char what[40];
        recipe square = squares[k];
        if (reduced() && square.rows >= 700) { /* fewer rows, with as many products each */
            square.rows = square.cols = square.rows / 6;
            square.dense_row = square.dense_row < 0 ? -1 : square.dense_row / 6;
            square.dense_col = square.dense_col < 0 ? -1 : square.dense_col / 6;
        }
        lsp_csr A = make(&square, 100 + k);
        for (int s = 0; s < SEMIRINGS; s++) {
            snprintf(what, sizeof what, "square %zu, %s", k, lsp_semiring_name((lsp_semiring)s));
            check(ctx, &A, &A, (lsp_spgemm_options){.semiring = (lsp_semiring)s}, what);
        }
        drop(&A);
    }
    static const char *const specs[][2] = {
        {"fem3:6", "fem3:3"},      {"stencil27:9", "stencil27:4"}, {"poisson2d:90", "poisson2d:12"},
        {"perm:9000", "perm:700"}, {"rmat:10:8", "rmat:7:8"},      {"web:9000:1.8:200", "web:400:1.8:40"},
        {"er:9000:3", "er:900:3"}, {"er:9000:8", "er:300:8"}};
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        lsp_csr A = {0};
        must(ctx, lsp_generate(ctx, specs[k][reduced()], 1, NULL, &A));
        to_integers(ctx, &A, integer_types[k % 3], k);
        lsp_csr host = A;
        check(ctx, &host, &host, (lsp_spgemm_options){0}, specs[k][0]);
        check(ctx, &host, &host, (lsp_spgemm_options){.semiring = LSP_MAX_TIMES}, specs[k][0]);
        lsp_csr_free(ctx, &A);
    }
}

/* Columns far apart; a row longer than any step; rows that come nearly from one row of B. */
TEST_ON_BOTH(spgemm_integers, long_and_wide_rows_have_the_values_of_the_reference) {
    for (int kind = 0; kind < 6; kind++) {
        recipe a = {40, 60, kind % 2 ? 24 : 12, LSP_I32, LSP_I32, LSP_I64, true, true, 7, -1, 0};
        recipe b = {60, 1000, 250, LSP_I32, LSP_I64, LSP_I64, kind < 4, true, 9, -1, 0};
        if (kind >= 4) { /* all entries of A lead to the dense row of B, and some to short ones */
            a.dense_row = -1, a.dense_col = 9, a.entries = 5, b.entries = 4;
        }
        lsp_csr A = make(&a, 1), B = make(&b, 2);
        const int64_t step = kind % 2 ? 1 : kind < 2 ? 4097 : 300;
        B.cols *= step;
        for (int64_t p = 0; p < B.nnz; p++) {
            ((int64_t *)B.col)[p] *= step;
        }
        check(ctx, &A, &B, (lsp_spgemm_options){0}, "wide");
        check(ctx, &A, &B, (lsp_spgemm_options){.semiring = LSP_MIN_PLUS}, "wide, min-plus");
        drop(&A), drop(&B);
    }
    const recipe a = {5, 20000, 4, LSP_I32, LSP_I32, LSP_I64, true, true, 2, -1, 0};
    const recipe b = {20000, 3000, 3, LSP_I32, LSP_I32, LSP_I64, true, true, -1, -1, 0};
    lsp_csr A = make(&a, 3), B = make(&b, 5);
    check(ctx, &A, &B, (lsp_spgemm_options){0}, "a long row");
    drop(&A), drop(&B);
}
