/* C = A*B: plans, budgets, malformed arguments, failing memory, and the choice as a function of the facts. */
#include "tests/products.h"

Test(spgemm_plan, a_product_beyond_the_budget_is_refused_with_its_bytes) {
    lsp_ctx *ctx = test_ctx(2);
    recipe r = {2000, 2000, 20, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    lsp_csr A = make(&r, 4);
    const int64_t nnz = check_refusal_by_budget(ctx, &A);
    lsp_ctx_info held;
    must(ctx, lsp_ctx_get_info(ctx, &held));
    cr_assert(held.host_peak_bytes <= 12 * nnz + 4 * 2001 + 4096);
    drop(&A);
    lsp_ctx_destroy(ctx);
}

Test(spgemm_plan, a_plan_serves_changed_values_and_refuses_a_changed_structure) {
    lsp_ctx *ctx = test_ctx(2);
    recipe r = {400, 400, 6, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    lsp_csr A = make(&r, 5), B = make(&r, 6), C = {0}, right = {0};
    lsp_spgemm_plan *plan = NULL;
    lsp_spgemm_info info;
    for (int turned = 0; turned < 2; turned++) {
        lsp_spgemm_options options = {.transpose_b = turned}, reference = options;
        reference.method = LSP_SPGEMM_REFERENCE;
        must(ctx, lsp_spgemm_plan_create(ctx, &A, &B, &options, &plan));
        must(ctx, lsp_spgemm_plan_get_info(plan, &info));
        cr_assert(info.nnz == -1 && info.products > 0 && info.reason[0] != 0 && info.blocks > 0);
        must_fail(ctx, LSP_ERR_ARGUMENT, "no product yet", lsp_spgemm_refill(plan, &A, &B, &C));
        for (int round = 0; round < 4; round++) {
            must(ctx, round & 1 ? lsp_spgemm_refill(plan, &A, &B, &C) : lsp_spgemm_execute(plan, &A, &B, &C));
            must(ctx, lsp_spgemm(ctx, &A, &B, &reference, &right, NULL));
            same(ctx, &C, &right, "reused");
            must(ctx, lsp_spgemm_plan_get_info(plan, &info));
            cr_assert(info.nnz == C.nnz);
            lsp_csr_free(ctx, &right);
            if (round == 1) {
                lsp_csr_free(ctx, &C);
            }
            ((double *)A.val)[round] += 1, ((double *)B.val)[3 * round] *= -2;
        }
        lsp_csr other = C;
        other.nnz--;
        must_fail(ctx, LSP_ERR_ARGUMENT, "C is 400 x 400", lsp_spgemm_refill(plan, &A, &B, &other));
        other = C, other.col_type = LSP_I64;
        must_fail(ctx, LSP_ERR_ARGUMENT, "types of C", lsp_spgemm_refill(plan, &A, &B, &other));
        other = C, other.val = NULL;
        must_fail(ctx, LSP_ERR_ARGUMENT, "array of C is NULL", lsp_spgemm_refill(plan, &A, &B, &other));
        other = C, other.val = B.val;
        must_fail(ctx, LSP_ERR_ARGUMENT, "those of a factor", lsp_spgemm_refill(plan, &A, &B, &other));
        must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_refill(plan, &A, &B, NULL));
        lsp_csr_free(ctx, &C);
        other = A;
        int32_t *rowptr = B.rowptr, *col = B.col, *row = A.rowptr;
        row[7]++;
        must_fail(ctx, LSP_ERR_ARGUMENT, "of A have changed", lsp_spgemm_execute(plan, &A, &B, &C));
        row[7]--, rowptr[100]--;
        must_fail(ctx, LSP_ERR_ARGUMENT, "of B have changed", lsp_spgemm_execute(plan, &A, &B, &C));
        rowptr[100]++;
        for (int k = 1; k <= 40; k++) { /* each part of the hash */
            col[B.nnz - k] ^= 1;
            must_fail(ctx, LSP_ERR_ARGUMENT, "of B have changed", lsp_spgemm_execute(plan, &A, &B, &C));
            col[B.nnz - k] ^= 1;
        }
        other.nnz--;
        must_fail(ctx, LSP_ERR_ARGUMENT, "entries", lsp_spgemm_execute(plan, &other, &B, &C));
        other = A, other.rows--;
        must_fail(ctx, LSP_ERR_ARGUMENT, "399 x 400", lsp_spgemm_execute(plan, &other, &B, &C));
        other = A, other.val_type = LSP_F32;
        must_fail(ctx, LSP_ERR_ARGUMENT, "types", lsp_spgemm_execute(plan, &other, &B, &C));
        other = A, other.col = NULL;
        must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_execute(plan, &other, &B, &C));
        other = A, other.where = LSP_CUDA;
        must_fail(ctx, LSP_ERR_ARGUMENT, "host", lsp_spgemm_execute(plan, &other, &B, &C));
        must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_execute(plan, NULL, &B, &C));
        must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_execute(plan, &A, &B, NULL));
        cr_assert(C.rowptr == NULL);
        lsp_spgemm_plan_destroy(plan);
    }
    lsp_spgemm_plan_destroy(NULL);
    drop(&A), drop(&B);
    lsp_ctx_destroy(ctx);
}

Test(spgemm_plan, malformed_arguments_are_refused) {
    lsp_ctx *ctx = test_ctx(1);
    recipe r = {10, 20, 3, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    lsp_csr A = make(&r, 7), C = {.rows = 4711}, bad;
    lsp_spgemm_options options = {.transpose_b = true};
    lsp_spgemm_plan *plan = NULL;
    cr_assert(lsp_spgemm(NULL, &A, &A, NULL, &C, NULL) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_spgemm_plan_create(NULL, &A, &A, NULL, &plan) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_spgemm_execute(NULL, &A, &A, &C) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_spgemm_refill(NULL, &A, &A, &C) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_spgemm_plan_get_info(NULL, NULL) == LSP_ERR_ARGUMENT);
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm(ctx, NULL, &A, NULL, &C, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm(ctx, &A, NULL, NULL, &C, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm(ctx, &A, &A, &options, NULL, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_plan_create(ctx, &A, &A, &options, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "10 x 20", lsp_spgemm(ctx, &A, &A, NULL, &C, NULL));
    options.transpose_a = true;
    must_fail(ctx, LSP_ERR_ARGUMENT, "10 x 20, transposed", lsp_spgemm(ctx, &A, &A, &options, &C, NULL));
    options.transpose_a = false;
#define REFUSED(code, part, ...)                                                                                       \
    {                                                                                                                  \
        lsp_spgemm_options wrong = options;                                                                            \
        bad = A;                                                                                                       \
        __VA_ARGS__;                                                                                                   \
        must_fail(ctx, code, part, lsp_spgemm(ctx, &bad, &bad, &wrong, &C, NULL));                                     \
        must_fail(ctx, code, part, lsp_spgemm_plan_create(ctx, &bad, &bad, &wrong, &plan));                            \
    }
    REFUSED(LSP_ERR_ARGUMENT, "method 9", wrong.method = (lsp_spgemm_method)9)
    REFUSED(LSP_ERR_ARGUMENT, "type LSP_F32", wrong.types.rowptr_type = LSP_F32)
    REFUSED(LSP_ERR_ARGUMENT, "type LSP_U32", wrong.types.col_type = LSP_U32)
    REFUSED(LSP_ERR_ARGUMENT, "type LSP_U64", wrong.types.val_type = LSP_U64)
    REFUSED(LSP_ERR_UNSUPPORTED, "host", wrong.types.place = LSP_PLACE_CUDA)
    REFUSED(LSP_ERR_DEVICE, "host", bad.where = LSP_CUDA)
    REFUSED(LSP_ERR_UNSUPPORTED, "complex", bad.val_type = LSP_C64, wrong.types.val_type = LSP_F64)
    int32_t rowptr[11] = {0, 5, 3};
    REFUSED(LSP_ERR_FORMAT, "", bad.rowptr = rowptr)
    int32_t *cols = A.col;
    cols[0] += 20;
    REFUSED(LSP_ERR_FORMAT, "", bad.nnz = A.nnz)
    cols[0] -= 20;
#undef REFUSED
    bad = A, bad.where = LSP_CUDA;
    must_fail(ctx, LSP_ERR_ARGUMENT, "one place", lsp_spgemm(ctx, &A, &bad, &options, &C, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "one place", lsp_spgemm(ctx, &bad, &A, &options, &C, NULL));
    cr_assert(C.rows == 4711 && C.rowptr == NULL && plan == NULL);
    drop(&A);
    lsp_ctx_destroy(ctx);
}

typedef struct memory_case {
    lsp_csr A;
    lsp_spgemm_options options;
} memory_case;

static lsp_status multiply_failing(lsp_ctx *ctx, void *data) {
    memory_case *test = data;
    lsp_csr C = {.rows = 4711};
    lsp_spgemm_info info = {.products = 42};
    lsp_status status = lsp_spgemm(ctx, &test->A, &test->A, &test->options, &C, &info);
    cr_assert(status == LSP_OK || (C.rows == 4711 && C.rowptr == NULL && info.products == 42));
    return status;
}

static lsp_status plan_failing(lsp_ctx *ctx, void *data) {
    memory_case *test = data;
    lsp_csr C = {.rows = 4711};
    lsp_spgemm_plan *plan = NULL;
    lsp_status status = lsp_spgemm_plan_create(ctx, &test->A, &test->A, &test->options, &plan);
    if (status != LSP_OK) {
        cr_assert(plan == NULL);
        return status;
    }
    status = lsp_spgemm_execute(plan, &test->A, &test->A, &C);
    cr_assert(status == LSP_OK || (C.rows == 4711 && C.rowptr == NULL));
    status = status == LSP_OK ? lsp_spgemm_refill(plan, &test->A, &test->A, &C) : status;
    lsp_spgemm_plan_destroy(plan);
    return status;
}

Test(spgemm_plan, failing_allocations_leave_nothing_behind) {
    recipe r = {50, 50, 4, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    memory_case test = {.A = make(&r, 8)};
    for (int round = 0; round < 8; round++) {
        test.options = (lsp_spgemm_options){.transpose_a = round & 1,
                                            .transpose_b = round & 2,
                                            .method = round & 4 ? LSP_SPGEMM_REFERENCE : LSP_SPGEMM_AUTO};
        test.options.types.val_type = round & 1 ? LSP_F32 : LSP_NONE;
        test_failing_memory(2, multiply_failing, &test);
        test_failing_memory(2, plan_failing, &test);
    }
    drop(&test.A);
}

Test(spgemm_plan, the_choice_follows_from_the_facts) {
    lsp_spgemm_facts facts = {.rows = 1000,
                              .cols = 1 << 20,
                              .products = 1 << 20,
                              .nnz_bound = 1 << 20,
                              .max_row_products = 5000,
                              .sort_products = 3000,
                              .window_columns = 70001};
    lsp_spgemm_choice choice;
    cr_assert(lsp_spgemm_choose(&facts, LSP_SPGEMM_AUTO, LSP_F64, 8, INT64_MAX, &choice));
    cr_assert(choice.method == LSP_SPGEMM_SORT && choice.threads == 8 && !choice.limited);
    cr_assert(choice.capacity.sort_products == 3000 && choice.capacity.window_columns == 70016);
    cr_assert(choice.capacity.word_bytes == 4 && choice.capacity.value_bytes == 8);
    int64_t whole = choice.thread_bytes;
    cr_assert(whole >= 3000 * (2 * 4 + 4) + 70016 * 9 && whole < 3000 * 12 + 70016 * 9 + 7000);
    cr_assert(lsp_spgemm_choose(&facts, LSP_SPGEMM_AUTO, LSP_F64, 8, 3 * whole, &choice));
    cr_assert(choice.threads == 3 && choice.thread_bytes == whole);
    char reason[160];
    lsp_spgemm_tell_choice(&facts, &choice, reason, sizeof reason);
    cr_assert(choice.limited && !choice.shrunk && strstr(reason, "to fit") != NULL);
    for (int64_t available = whole; available >= 8192; available /= 2) {
        cr_assert(lsp_spgemm_choose(&facts, LSP_SPGEMM_AUTO, LSP_F64, 8, available, &choice), "%lld",
                  (long long)available);
        cr_assert(choice.threads == 1 && choice.thread_bytes <= available && choice.capacity.window_columns % 64 == 0);
        cr_assert(choice.shrunk == (available < whole));
    }
    cr_assert(!lsp_spgemm_choose(&facts, LSP_SPGEMM_AUTO, LSP_F64, 8, 100, &choice));
    cr_assert(choice.thread_bytes > 100 && choice.thread_bytes < 16384);
    lsp_spgemm_facts small = {.rows = 60, .cols = 60, .products = 1000, .nnz_bound = 1000, .max_row_products = 30};
    cr_assert(lsp_spgemm_choose(&small, LSP_SPGEMM_AUTO, LSP_F64, 8, INT64_MAX, &choice));
    cr_assert(choice.threads == 1, "%d threads are started for 1000 products", choice.threads);
    facts.cols = (int64_t)1 << 40;
    cr_assert(lsp_spgemm_choose(&facts, LSP_SPGEMM_SORT, LSP_F32, 1, INT64_MAX, &choice));
    cr_assert(choice.capacity.word_bytes == 8 && choice.capacity.value_bytes == 4);
    facts.cols = INT64_MAX;
    cr_assert(lsp_spgemm_choose(&facts, LSP_SPGEMM_SORT, LSP_NONE, 1, INT64_MAX, &choice));
    cr_assert(choice.capacity.word_bytes == 16 && choice.capacity.value_bytes == 0);
    cr_assert(!lsp_spgemm_choose(&facts, LSP_SPGEMM_REFERENCE, LSP_F64, 4, INT64_MAX - 1, &choice));
    facts.cols = 100;
    cr_assert(lsp_spgemm_choose(&facts, LSP_SPGEMM_REFERENCE, LSP_F64, 4, INT64_MAX, &choice));
    cr_assert(choice.method == LSP_SPGEMM_REFERENCE && choice.threads == 1);
    cr_assert(lsp_spgemm_prefers_window(1200, 9400) && !lsp_spgemm_prefers_window(700, 9400));
    cr_assert(lsp_spgemm_prefers_window(256, 1023) && !lsp_spgemm_prefers_window(256, 1024));
    cr_assert(lsp_spgemm_prefers_window(257, 2055) && !lsp_spgemm_prefers_window(257, 2056));
}

Test(spgemm_plan, the_bins_of_the_gpu_follow_from_the_row) {
    cr_assert(lsp_count_bin(0, 5) == LSP_BIN_NONE && lsp_fill_bin(0, 5, 0, 0, 100) == LSP_BIN_NONE);
    static const struct {
        uint32_t products;
        lsp_spgemm_bin bin;
    } sorted[] = {{1, LSP_BIN_SORT_1},      {8, LSP_BIN_SORT_1},      {9, LSP_BIN_SORT_2},
                  {16, LSP_BIN_SORT_2},     {17, LSP_BIN_SORT_4},     {33, LSP_BIN_SORT_8},
                  {65, LSP_BIN_SORT_16},    {256, LSP_BIN_SORT_32},   {257, LSP_BIN_SORT_64},
                  {1024, LSP_BIN_SORT_128}, {2048, LSP_BIN_SORT_256}, {2049, LSP_BIN_SORT_512},
                  {4096, LSP_BIN_SORT_512}, {4097, LSP_BIN_LONG}};
    for (size_t k = 0; k < sizeof sorted / sizeof *sorted; k++) {
        uint32_t products = sorted[k].products;
        cr_assert(lsp_fill_bin(products, 1, products, 0, 1 << 19) == sorted[k].bin, "%u products", products);
    }
    static const struct {
        uint32_t products;
        lsp_spgemm_bin bin;
    } counted[] = {{256, LSP_BIN_SORT_32},    {257, LSP_BIN_COUNT_64},          {513, LSP_BIN_COUNT_128},
                   {2048, LSP_BIN_COUNT_256}, {4096, LSP_BIN_COUNT_512},        {4097, LSP_BIN_COUNT_LARGE},
                   {8193, LSP_BIN_LONG},      {LSP_PRODUCTS_MOST, LSP_BIN_LONG}};
    for (size_t k = 0; k < sizeof counted / sizeof *counted; k++) {
        cr_assert(lsp_count_bin(counted[k].products, 1) == counted[k].bin, "%u products", counted[k].products);
    }
    /* the entries of A must fit the kernel too */
    cr_assert(lsp_count_bin(3, 100) == LSP_BIN_SORT_16 && lsp_count_bin(3, 1000) == LSP_BIN_COUNT_128);
    cr_assert(lsp_fill_bin(3, 1000, 3, 0, 100) == LSP_BIN_SORT_128);
    cr_assert(lsp_fill_bin(5, 5000, 5, 0, 100) == LSP_BIN_LONG);
    /* few long rows are shared: the limit is the smallest one, from 1024 products, that leaves at most LSP_SHARED_ROWS
     * rows above it */
    cr_assert(lsp_shared_bin(LSP_BIN_COUNT_LARGE, 4097, 1, 4096) == LSP_BIN_LONG);
    cr_assert(lsp_shared_bin(LSP_BIN_COUNT_LARGE, 4097, 1, UINT32_MAX) == LSP_BIN_COUNT_LARGE);
    cr_assert(lsp_shared_bin(LSP_BIN_WIDE_512, 5, 4097, 4096) == LSP_BIN_LONG);
    cr_assert(lsp_shared_bin(LSP_BIN_NEAR_512, 4096, 4096, 4096) == LSP_BIN_NEAR_512);
    cr_assert(lsp_shared_bin(LSP_BIN_NEAR_512, 1025, 4, 1024) == LSP_BIN_LONG);
    cr_assert(lsp_shared_bin(LSP_BIN_NONE, 4097, 1, 4096) == LSP_BIN_NONE);
    uint32_t bins[LSP_BINS] = {0}, many[LSP_MANY_BINS] = {9, 9, 9, LSP_SHARED_ROWS};
    cr_assert(lsp_shared_from(bins, many) == 1024);
    bins[LSP_BIN_COUNT_64] = bins[LSP_BIN_COUNT_128] = UINT32_MAX;
    bins[LSP_BIN_LONG] = LSP_SHARED_ROWS - 30, bins[LSP_BIN_COUNT_LARGE] = 10;
    bins[LSP_BIN_COUNT_512] = 10, bins[LSP_BIN_COUNT_256] = 10;
    cr_assert(lsp_shared_from(bins, many) == 1024);
    bins[LSP_BIN_COUNT_256]++;
    cr_assert(lsp_shared_from(bins, many) == 2048);
    bins[LSP_BIN_COUNT_512] += 11;
    cr_assert(lsp_shared_from(bins, many) == 4096);
    bins[LSP_BIN_LONG] += 21;
    cr_assert(lsp_shared_from(bins, many) == UINT32_MAX);
    /* rows are shared only if a quarter of them have many entries */
    cr_assert(!lsp_has_many(LSP_BIN_COUNT_128, 999) && !lsp_has_many(LSP_BIN_LONG, LSP_MANY_ENTRIES));
    cr_assert(lsp_has_many(LSP_BIN_COUNT_256, LSP_MANY_ENTRIES + 1));
    memset(bins, 0, sizeof bins);
    bins[LSP_BIN_COUNT_128] = 99, bins[LSP_BIN_COUNT_256] = bins[LSP_BIN_COUNT_512] = bins[LSP_BIN_LONG] = 40;
    const struct {
        uint32_t many[LSP_MANY_BINS], from;
    } shared[] = {{{0, 0, 0, 9}, UINT32_MAX}, {{99, 99, 0, 9}, UINT32_MAX}, {{0, 0, 1, 9}, 4096},
                  {{99, 0, 0, 19}, 4096},     {{9, 0, 0, 20}, 2048},        {{10, 0, 0, 20}, 1024}};
    for (size_t k = 0; k < sizeof shared / sizeof *shared; k++) {
        cr_assert(lsp_shared_from(bins, shared[k].many) == shared[k].from, "%zu", k);
    }
    /* a nearly dense B: an entry of A has three products in a strip of 32 columns on average */
    const lsp_dense_b_facts strips = {9600, 400, 100, 1496, 1, 52, 1024}; /* products, bound, entries, rows, columns */
    lsp_dense_b_facts other = strips;
    cr_assert(lsp_is_dense_b(strips));
    other.products--;
    cr_assert(!lsp_is_dense_b(other));
    other = strips, other.cols++;
    cr_assert(!lsp_is_dense_b(other));
    other = strips, other.bound -= 4;
    cr_assert(!lsp_is_dense_b(other));
    other = (lsp_dense_b_facts){INT64_MAX, INT64_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, 32};
    cr_assert(lsp_is_dense_b(other));
    other.cols++;
    cr_assert(!lsp_is_dense_b(other), "their numbers have 32 bits");
    cr_assert(!lsp_is_dense_b((lsp_dense_b_facts){.cols = 9}));
    /* few columns: in a window if they fit one, else in one of more words if the products cannot be sorted */
    cr_assert(lsp_fill_bin(729, 27, 125, LSP_GROUPS_NEAR, 1 << 20) == LSP_BIN_NEAR_128);
    cr_assert(lsp_fill_bin(6561, 81, 375, LSP_GROUPS_SPREAD, 1 << 20) == LSP_BIN_SPREAD_512);
    cr_assert(lsp_fill_bin(600, 81, 400, LSP_GROUPS_SPREAD, 1 << 20) == LSP_BIN_SORT_128);
    /* more bits of column and slot than a word has: blocks of columns are ranked, up to 2^24 columns */
    cr_assert(lsp_fill_bin(1025, 60, 900, 0, 1 << 22) == LSP_BIN_SORT_256);
    cr_assert(lsp_fill_bin(1025, 60, 900, 0, (1 << 24) + 1) == LSP_BIN_SORT_512);
    cr_assert(lsp_fill_bin(4097, 60, 900, 0, 1 << 22) == LSP_BIN_LONG);
    /* a row of B is merged with at most 256 other products, a quarter of all, if columns have 24 bits */
    cr_assert(lsp_merges(257, 257, 1) && lsp_merges(1024, 768, 1 << 24) && lsp_merges(8192, 7936, 99));
    cr_assert(!lsp_merges(1025, 768, 9) && !lsp_merges(768, 575, 9) && !lsp_merges(8192, 7935, 9));
    cr_assert(!lsp_merges(1024, 768, (1 << 24) + 1));
    cr_assert(lsp_fill_bin(900, 81, 800, LSP_GROUPS_MERGE, 1 << 20) == LSP_BIN_MERGE);
    /* rows that are made together with the row before are in no bin */
    cr_assert(lsp_fill_bin(729, 27, 125, LSP_GROUPS_REPEAT_SAME, 1 << 20) == LSP_BIN_NONE);
    cr_assert(lsp_fill_bin(729, 27, 125, LSP_GROUPS_REPEAT_NEXT, 1 << 20) == LSP_BIN_NONE);
    cr_assert(lsp_fill_bin(729, 27, 125, 0, 1 << 20) == LSP_BIN_SORT_128);
    cr_assert(lsp_fill_bin(6561, 81, 375, 0, 1 << 20) == LSP_BIN_WIDE_512);
    cr_assert(lsp_fill_bin(6561, 81, 513, 0, 1 << 20) == LSP_BIN_LONG);
    cr_assert(lsp_fill_bin(6561, 81, 375, 0, LSP_WIDE_FROM) == LSP_BIN_LONG);
    cr_assert(lsp_fill_bin(6561, 81, 375, 0, LSP_WIDE_FROM + 1) == LSP_BIN_WIDE_512);
    cr_assert(lsp_fill_bin(6561, 81, 375, 0, LSP_WINDOW_COLUMNS + 1) == LSP_BIN_LONG);
    /* rows whose slot and column need more than 32 bits, in more columns than are sorted at once */
    cr_assert(lsp_fill_bin(256, 16, 256, 0, 1 << 24) == LSP_BIN_SORT_32);
    cr_assert(lsp_fill_bin(256, 16, 256, 0, (1 << 24) + 1) == LSP_BIN_WIDE_512);
    cr_assert(lsp_fill_bin(256, 16, 256, 0, LSP_WINDOW_COLUMNS + 1) == LSP_BIN_SORT_512);
}

Test(spgemm_plan, new_values_are_those_of_the_reference_with_ranks_of_every_size_and_without) {
    static const int64_t entries[] = {3, 14, 40}, budgets[] = {0, 1 << 18, 1 << 15};
    static const lsp_type types[] = {LSP_F32, LSP_F64, LSP_I64, LSP_C64};
    lsp_ctx *ctx = test_ctx(2);
    for (int round = 0; round < 3 * 4 * 2 * 3; round++) {
        const lsp_type type = types[round / 3 % 4], index = round / 12 % 2 ? LSP_I64 : LSP_I32;
        const int semirings = type == LSP_C64 ? 1 : LSP_SEMIRINGS;
        recipe r = {90, 90, entries[round % 3], index, index, LSP_F64, true, false, -1, 5, 0};
        const bool real = type == LSP_F32 || type == LSP_F64;
        r.wild = real && round % 2;
        lsp_csr real_a = make(&r, (uint64_t)round), real_b = make(&r, (uint64_t)round + 100), A = real_a, B = real_b;
        A.val_type = B.val_type = type;
        A.val = calloc((size_t)A.nnz, 16), B.val = calloc((size_t)B.nnz, 16);
        for (int semiring = 0; semiring < semirings; semiring++) {
            lsp_spgemm_options options = {.semiring = (lsp_semiring)semiring}, reference = options;
            lsp_spgemm_plan *plan = NULL;
            lsp_csr C = {0}, right = {0};
            reference.method = LSP_SPGEMM_REFERENCE;
            must(ctx, lsp_ctx_set_max_bytes(ctx, budgets[round / 24] ? 90 * 90 * 24 + budgets[round / 24] : 0));
            must(ctx, lsp_spgemm_plan_create(ctx, &A, &B, &options, &plan));
            must(ctx, lsp_spgemm_execute(plan, &A, &B, &C));
            for (int64_t e = 0; e < lsp_max(A.nnz, B.nnz); e++) {
                for (int side = 0; side < 2; side++) {
                    const lsp_csr *M = side ? &B : &A;
                    if (e < M->nnz) {
                        const double x = ((const double *)(side ? real_b : real_a).val)[e];
                        const int64_t whole = (e * 7919 + side) % 1999 - 999;
                        lsp_value_set(type, M->val, e, (lsp_value){x, real ? 0 : (double)whole, whole});
                    }
                }
            }
            must(ctx, lsp_spgemm_refill(plan, &A, &B, &C));
            must(ctx, lsp_ctx_set_max_bytes(ctx, 0));
            must(ctx, lsp_spgemm(ctx, &A, &B, &reference, &right, NULL));
            same(ctx, &C, &right, "new values");
            ((int32_t *)A.col)[0] ^= 1;
            must_fail(ctx, LSP_ERR_ARGUMENT, "of A have changed", lsp_spgemm_refill(plan, &A, &B, &C));
            ((int32_t *)A.col)[0] ^= 1;
            same(ctx, &C, &right, "after a refusal");
            lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &right);
            lsp_spgemm_plan_destroy(plan);
            memset(A.val, 0, 16 * (size_t)A.nnz), memset(B.val, 0, 16 * (size_t)B.nnz);
        }
        free(A.val), free(B.val);
        drop(&real_a), drop(&real_b);
    }
    lsp_ctx_destroy(ctx);
}
