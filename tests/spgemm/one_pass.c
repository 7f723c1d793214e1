/* Products whose rows have few entries, made in one pass: the bits of the reference for every type, semiring and width
 * of indices, whatever the sample of rows says, for every number of threads and instruction set. */
#include "tests/products.h"

static const char in_one_pass[] = "one pass: ";

enum { MOST = 1 << 15 }; /* of the largest entries of a row that are made alone */

/* Multiplies on all instruction sets and with several threads, and compares with the reference. */
static void must_be_right(const lsp_csr *A, const lsp_csr *B, lsp_semiring semiring, bool once, const char *what) {
    for (int threads = 1; threads <= 4; threads += threads == 1 ? 1 : 2) {
        lsp_ctx *ctx = test_ctx(threads);
        lsp_spgemm_info expected, info;
        lsp_csr right = {0};
        must(ctx, lsp_spgemm(ctx, A, B, &(lsp_spgemm_options){.semiring = semiring, .method = LSP_SPGEMM_REFERENCE},
                             &right, &expected));
        for (int isa = (int)ctx->isa; isa >= 0; isa--) {
            lsp_csr C = {0};
            ctx->isa = (lsp_isa)isa;
            must(ctx, lsp_spgemm(ctx, A, B, &(lsp_spgemm_options){.semiring = semiring}, &C, &info));
            same(ctx, &C, &right, what);
            cr_assert((strstr(info.reason, in_one_pass) != NULL) == once, "%s: %s", what, info.reason);
            cr_assert(info.products == expected.products && info.nnz == expected.nnz &&
                          info.nnz_bound == expected.nnz_bound && info.max_row_products == expected.max_row_products,
                      "%s: the facts differ", what);
            lsp_csr_free(ctx, &C);
        }
        lsp_csr_free(ctx, &right);
        lsp_ctx_destroy(ctx);
    }
}

static void must_have_the_bits(const lsp_csr *A, const lsp_csr *B, bool once, const char *what) {
    must_be_right(A, B, LSP_PLUS_TIMES, once, what);
}

/* What a product says of its sample: its products, entries and rows. */
static lsp_csr multiply_by_sample(lsp_ctx *ctx, const lsp_csr *A, char sample[160]) {
    lsp_spgemm_info info;
    lsp_csr C = {0};
    must(ctx, lsp_spgemm(ctx, A, A, NULL, &C, &info));
    snprintf(sample, 160, "%s", info.reason);
    char *end = strstr(sample, " rows; ");
    cr_assert(end != NULL, "no sample: %s", info.reason);
    *end = 0;
    return C;
}

/* The sample of the first has more products than the caller alone would make. The longest row of the second is the last
 * of those that several threads look at. */
Test(spgemm, threads_that_look_at_the_factors_see_what_one_sees) {
    static const recipe recipes[] = {{20000, 20000, 16, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 12},
                                     {200000, 200000, 2, LSP_I32, LSP_I64, LSP_F32, true, false, 199999, -1, 0}};
    for (int k = 0; k < 2; k++) {
        lsp_ctx *one = test_ctx(1);
        char expected[160], sample[160];
        lsp_csr A = make(&recipes[k], 3), right = multiply_by_sample(one, &A, expected);
        for (int threads = 2; threads <= 4; threads++) {
            lsp_ctx *ctx = test_ctx(threads);
            lsp_csr C = multiply_by_sample(ctx, &A, sample);
            cr_assert_str_eq(sample, expected, "%d threads: %s, one: %s", threads, sample, expected);
            same(ctx, &C, &right, "threads");
            lsp_csr_free(ctx, &C);
            lsp_ctx_destroy(ctx);
        }
        lsp_csr_free(one, &right);
        lsp_ctx_destroy(one);
        drop(&A);
    }
}

/* Counted (few entries of A) and sampled products; rows of B in order, and in no order with columns twice. */
Test(spgemm, every_type_semiring_and_index_is_made_in_one_pass) {
    static const lsp_type types[] = {LSP_NONE, LSP_F32, LSP_F64, LSP_C64, LSP_I64};
    for (int kind = 0; kind < 5 * LSP_SEMIRINGS * 8; kind++) {
        const lsp_type type = types[kind % 5];
        const lsp_semiring semiring = (lsp_semiring)(kind / 5 % LSP_SEMIRINGS);
        const int form = kind / 5 / LSP_SEMIRINGS;
        const lsp_type wide = form & 1 ? LSP_I64 : LSP_I32, narrow = form & 4 ? LSP_I32 : wide;
        const recipe of_a = {form & 2 ? 12000 : 500, 3000, 3, wide, narrow, type, form & 4, form & 4, -1, -1, 0};
        const recipe of_b = {3000, 6000, 2, narrow, wide, type, kind & 1, form & 4, -1, -1, 0};
        if (type == LSP_C64 && semiring != LSP_PLUS_TIMES) {
            continue;
        }
        lsp_csr A = make(&of_a, (uint64_t)kind), B = make(&of_b, 1000 + (uint64_t)kind);
        must_be_right(&A, &B, semiring, !(type == LSP_F32 && lsp_semiring_counts(semiring)), "a type and a semiring");
        drop(&A), drop(&B);
    }
}

/* A row of one entry copies its row of B, unless that has more entries than C has columns. */
Test(spgemm, a_row_of_one_entry_times_columns_that_come_twice) {
    enum { N = 40000 };
    lsp_ctx *ctx = test_ctx(1);
    for (int64_t cols = 1; cols <= 3; cols++) {
        const recipe of_b = {N, cols, 6, LSP_I32, LSP_I32, LSP_F64, false, false, -1, -1, 0};
        lsp_csr A, B = make(&of_b, (uint64_t)cols);
        must(ctx, lsp_generate(ctx, "perm:40000", 1, NULL, &A));
        must_have_the_bits(&A, &B, true, "columns twice");
        lsp_csr_free(ctx, &A);
        drop(&B);
    }
    lsp_ctx_destroy(ctx);
}

Test(spgemm, rows_of_few_columns_have_the_bits_of_the_reference) {
    for (int kind = 0; kind < 16; kind++) {
        const lsp_type type = kind & 1 ? LSP_F32 : LSP_F64;
        const int64_t inner = kind & 4 ? 200 : 90000; /* in the cache, or far */
        const recipe of_a = {20000, inner, 2, LSP_I32, LSP_I32, type, kind & 8, kind & 2, -1, -1, 0};
        const recipe of_b = {inner, kind & 8 ? 70000 : 30, 1, LSP_I32, LSP_I32, type, kind & 8, kind & 2, -1, -1, 0};
        lsp_csr A = make(&of_a, (uint64_t)kind), B = make(&of_b, 1000 + (uint64_t)kind);
        must_have_the_bits(&A, &B, true, "few columns");
        drop(&A), drop(&B);
    }
}

/* Long rows in which columns come again: marked by 64 columns, by blocks of them, and by tops of more blocks. */
Test(spgemm, long_rows_among_any_number_of_columns_have_the_bits_of_the_reference) {
    static const int64_t cols[] = {4096, 4097, 262144, 262145, 300001};
    for (int kind = 0; kind < 7; kind++) {
        const lsp_type type = kind < 5 ? LSP_F64 : LSP_C64, col_type = kind % 3 == 1 ? LSP_I64 : LSP_I32;
        const recipe of_a = {8000, 5, 20, LSP_I32, LSP_I32, type, false, true, -1, -1, 0};
        const recipe of_b = {5, cols[kind % 5], 20, LSP_I32, col_type, type, kind & 1, true, -1, -1, 0};
        lsp_csr A = make(&of_a, (uint64_t)kind), B = make(&of_b, 1000 + (uint64_t)kind);
        must_have_the_bits(&A, &B, true, "long rows");
        drop(&A), drop(&B);
    }
}

Test(spgemm, the_products_of_a_multigrid_have_the_bits_of_the_reference) {
    static const char *const factors[][2] = {
        {"poisson2d:91", "amg:91:T"}, {"poisson2d:91", "amg:91:P"}, {"amg27:30:R", "stencil27:30"}};
    lsp_ctx *ctx = test_ctx(1);
    for (int i = 0; i < 3; i++) {
        lsp_csr A, B;
        must(ctx, lsp_generate(ctx, factors[i][0], 1, NULL, &A));
        must(ctx, lsp_generate(ctx, factors[i][1], 1, NULL, &B));
        must_have_the_bits(&A, &B, i < 2, factors[i][1]);
        lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &B);
    }
    lsp_ctx_destroy(ctx);
}

/* n rows of one entry, in column i % cols, except that `longer` rows from `first` on have `length` entries. */
static lsp_csr mostly_short(lsp_ctx *ctx, int64_t n, int64_t cols, int64_t first, int64_t longer, int64_t length) {
    lsp_csr A;
    must(ctx, lsp_csr_create(ctx, n, cols, n + longer * (length - 1), &(lsp_csr_types){.val_type = LSP_F64}, &A));
    for (int64_t i = 0, k = 0; i < n; i++) {
        const int64_t here = i >= first && i < first + longer ? length : 1;
        for (int64_t e = 0; e < here; e++, k++) {
            ((int32_t *)A.col)[k] = (int32_t)((i + e) % cols);
            ((double *)A.val)[k] = 1 + (double)k / 3;
        }
        ((int32_t *)A.rowptr)[i + 1] = (int32_t)k;
    }
    return A;
}

/* The sample takes 8 rows here and there: it misses these. */
Test(spgemm, a_sample_that_was_wrong_changes_nothing) {
    static const struct {
        int64_t longer, length;
    } cases[] = {{1, 4000},     /* a row that fits */
                 {1, MOST + 1}, /* a row that a thread has little memory for */
                 {300, 400},    /* more entries than C has room for */
                 {3, 39999}};
    lsp_ctx *ctx = test_ctx(1);
    for (int i = 0; i < 4; i++) {
        lsp_csr A = mostly_short(ctx, 100000, 40000, 70123, cases[i].longer, cases[i].length);
        lsp_csr I = mostly_short(ctx, 40000, 40000, 0, 0, 0);
        must_have_the_bits(&A, &I, true, "a wrong sample");
        lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &I);
    }
    lsp_ctx_destroy(ctx);
}

/* Thirty-six columns a row and no two products of a column: sorting is faster. */
Test(spgemm, other_products_are_left_to_plans) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A, B, wide;
    must(ctx, lsp_generate(ctx, "er:20000:6", 1, NULL, &A));
    must_have_the_bits(&A, &A, false, "many columns");
    must(ctx, lsp_generate(ctx, "perm:20000", 1, NULL, &B));
    must_have_the_bits(&B, &B, true, "one column");
    must(ctx, lsp_csr_copy(ctx, &B, &(lsp_csr_types){.rowptr_type = LSP_I64, .col_type = LSP_I64}, &wide));
    must_have_the_bits(&wide, &B, true, "wide indices");
    lsp_ctx_destroy(ctx);
}

/* A plan alone needs less memory than the one pass. */
Test(spgemm, a_budget_that_suffices_a_plan_suffices_the_call) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A;
    int both = 0;
    must(ctx, lsp_generate(ctx, "perm:20000", 1, NULL, &A));
    for (int64_t budget = 1 << 16; both < 40; budget += budget / 32) {
        const lsp_spgemm_options by_plan = {.method = LSP_SPGEMM_SORT};
        lsp_status status[2];
        for (int plan = 0; plan < 2; plan++) {
            lsp_ctx *small = NULL;
            lsp_csr C = {.rows = 42};
            must(ctx, lsp_ctx_create(&small, &(lsp_ctx_options){.threads = 1, .max_bytes = budget}, NULL, 0));
            status[plan] = lsp_spgemm(small, &A, &A, plan ? &by_plan : NULL, &C, NULL);
            cr_assert(status[plan] == LSP_OK || (status[plan] == LSP_ERR_MEMORY && C.rows == 42));
            lsp_ctx_destroy(small);
        }
        cr_assert(status[1] != LSP_OK || status[0] == LSP_OK, "a budget of %ld", (long)budget);
        both += status[1] == LSP_OK;
    }
    lsp_ctx_destroy(ctx);
}

/* Fails one allocation after another: where only the one pass needs it, a plan makes the product. */
Test(spgemm, one_pass_without_memory_leaves_the_product_to_a_plan) {
    lsp_ctx *base = test_ctx(1);
    lsp_csr A, right;
    int by_plan = 0;
    must(base, lsp_generate(base, "perm:20000", 1, NULL, &A));
    must(base, lsp_spgemm(base, &A, &A, NULL, &right, NULL));
    for (long fail_at = 1; fail_at < 40; fail_at++) {
        test_memory memory = {.fail_at = fail_at};
        const lsp_ctx_options options = {.threads = 1, .allocator = {test_memory_alloc, test_memory_free, &memory}};
        lsp_ctx *ctx = NULL;
        lsp_csr C = {.rows = 42};
        lsp_spgemm_info info;
        if (lsp_ctx_create(&ctx, &options, NULL, 0) == LSP_OK && lsp_spgemm(ctx, &A, &A, NULL, &C, &info) == LSP_OK) {
            same(ctx, &C, &right, "after a failure");
            by_plan += strstr(info.reason, in_one_pass) == NULL;
        }
        lsp_ctx_destroy(ctx);
    }
    cr_assert(by_plan > 0);
    lsp_ctx_destroy(base);
}

static lsp_status multiply(lsp_ctx *ctx, void *data) {
    lsp_csr A = *(lsp_csr *)data, C = {.rows = 42};
    const lsp_status status = lsp_spgemm(ctx, &A, &A, NULL, &C, NULL);
    cr_assert(status == LSP_OK ? C.rows == A.rows : C.rows == 42 && C.rowptr == NULL);
    lsp_csr_free(ctx, status == LSP_OK ? &C : NULL);
    return status;
}

Test(spgemm, one_pass_without_memory_leaves_the_output_alone) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A;
    must(ctx, lsp_generate(ctx, "perm:20000", 1, NULL, &A));
    test_failing_memory(1, multiply, &A);
    test_failing_memory(3, multiply, &A);
    lsp_ctx_destroy(ctx);
}

/* ---- the largest entries of each row ---- */

static lsp_status multiply_largest(lsp_ctx *ctx, void *data) {
    lsp_csr A = *(lsp_csr *)data, C = {.rows = 42};
    const lsp_status status = lsp_spgemm(ctx, &A, &A, &(lsp_spgemm_options){.filter.largest = 3}, &C, NULL);
    cr_assert(status == LSP_OK ? C.rows == A.rows : C.rows == 42 && C.rowptr == NULL);
    lsp_csr_free(ctx, status == LSP_OK ? &C : NULL);
    return status;
}

/* The filter of the reference's product has the specification. */
static void largest_must_be_right(const lsp_csr *A, const lsp_csr *B, lsp_semiring semiring, lsp_filter filter,
                                  bool once) {
    lsp_ctx *base = test_ctx(1);
    lsp_csr whole = {0}, right = {0};
    must(base, lsp_spgemm(base, A, B, &(lsp_spgemm_options){.semiring = semiring, .method = LSP_SPGEMM_REFERENCE},
                          &whole, NULL));
    must(base, lsp_csr_filter(base, &whole, &filter, &right));
    for (int threads = 1; threads <= 4; threads += threads == 1 ? 1 : 2) {
        lsp_ctx *ctx = test_ctx(threads);
        for (int isa = (int)ctx->isa; isa >= 0; isa--) {
            lsp_csr C = {0};
            lsp_spgemm_info info;
            ctx->isa = (lsp_isa)isa;
            must(ctx, lsp_spgemm(ctx, A, B, &(lsp_spgemm_options){.semiring = semiring, .filter = filter}, &C, &info));
            same(ctx, &C, &right, "the largest of each row");
            cr_assert((strstr(info.reason, "the largest in a window") != NULL) == once, "%s", info.reason);
            cr_assert(info.nnz == right.nnz);
            lsp_csr_free(ctx, &C);
        }
        lsp_ctx_destroy(ctx);
    }
    lsp_csr_free(base, &whole), lsp_csr_free(base, &right);
    lsp_ctx_destroy(base);
}

/* Wild values have NaN, infinities, zeros of both signs and many equal sizes; integers and counts have ties. */
Test(spgemm, the_largest_of_each_row_are_those_of_the_filtered_product) {
    static const lsp_type types[] = {LSP_F32, LSP_F64, LSP_C64, LSP_I64, LSP_NONE};
    for (int kind = 0; kind < 5 * LSP_SEMIRINGS * 8; kind++) {
        const lsp_type type = types[kind % 5];
        const lsp_semiring semiring = (lsp_semiring)(kind / 5 % LSP_SEMIRINGS);
        const int form = kind / 5 / LSP_SEMIRINGS;
        const lsp_type wide = form & 1 ? LSP_I64 : LSP_I32;
        const recipe of_a = {form & 2 ? 2500 : 300, 400, 12, wide, LSP_I32, type, form & 4, form & 4, 17, -1, 0};
        const recipe of_b = {400, form & 2 ? 90 : 5000, 20, LSP_I32, wide, type, kind & 1, form & 4, 3, -1, 0};
        const lsp_filter filter = {.largest = 1 + kind % 4 * (kind % 3 == 0 ? 60 : 1),
                                   .drop = kind & 2,
                                   .tolerance = kind & 2 ? (kind & 4 ? 3.5 : 0) : 0};
        const bool once = semiring == LSP_PLUS_PAIR ? type != LSP_F32 : type != LSP_NONE;
        if (type == LSP_C64 && semiring != LSP_PLUS_TIMES) {
            continue;
        }
        lsp_csr A = make(&of_a, (uint64_t)kind), B = make(&of_b, 1000 + (uint64_t)kind);
        largest_must_be_right(&A, &B, semiring, filter, once);
        drop(&A), drop(&B);
    }
}

Test(spgemm, limits_of_the_largest_of_each_row) {
    static const double tolerances[] = {0, 7.5, 0x1p62, 0x1p63, INFINITY};
    const recipe whole = {3000, 3000, 9, LSP_I32, LSP_I32, LSP_I64, true, true, -1, -1, 0};
    const recipe real = {3000, 3000, 9, LSP_I32, LSP_I32, LSP_F64, true, true, -1, -1, 0};
    const recipe wide = {500, 40000, 90, LSP_I32, LSP_I32, LSP_F64, true, false, 7, -1, 0};
    lsp_csr I = make(&whole, 1), R = make(&real, 2), W = make(&wide, 3),
            V = make(&(recipe){300, 500, 9, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0}, 4);
    for (int k = 0; k < 5; k++) {
        const lsp_filter filter = {.largest = 2, .drop = true, .tolerance = tolerances[k]};
        largest_must_be_right(&I, &I, LSP_PLUS_TIMES, filter, true);
        largest_must_be_right(&R, &R, LSP_PLUS_TIMES, filter, true);
    }
    largest_must_be_right(&V, &W, LSP_PLUS_TIMES, (lsp_filter){.largest = MOST},
                          true); /* a row of all 40,000 columns */
    largest_must_be_right(&V, &W, LSP_PLUS_TIMES, (lsp_filter){.largest = MOST + 1}, false);
    largest_must_be_right(&R, &R, LSP_PLUS_TIMES, (lsp_filter){.largest = INT64_MAX}, true);
    drop(&I), drop(&R), drop(&V), drop(&W);
}

/* A window of a million columns would leave the caches for a few products a row. */
Test(spgemm, few_products_among_many_columns_are_filtered_later) {
    const recipe of_b = {2000, 300000, 20, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    const recipe of_a = {2000, 2000, 12, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    lsp_csr A = make(&of_a, 1), B = make(&of_b, 2);
    largest_must_be_right(&A, &B, LSP_PLUS_TIMES, (lsp_filter){.largest = 5}, false);
    drop(&A), drop(&B);
}

Test(spgemm, largest_of_each_row_without_memory_leave_the_output_alone) {
    const recipe r = {3000, 3000, 9, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    lsp_csr A = make(&r, 1);
    test_failing_memory(1, multiply_largest, &A);
    test_failing_memory(3, multiply_largest, &A);
    drop(&A);
}
