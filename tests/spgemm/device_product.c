/* C = A*B on the GPU: the bits of the reference on the host, for every input, type and bin of rows; budgets, malformed
 * matrices, failing memory. Skipped without a GPU. */
#include "core/cuda.h"
#include "spgemm/gpu/choose.h"
#include "tests/failing.h"
#include "tests/products.h"

Test(device_spgemm, products_of_any_types_have_the_bits_of_the_reference) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    uint64_t state = 11;
    for (int round = 0; round < (getenv("LSP_TEST_REDUCED") ? 50 : 300); round++) {
        int64_t rows = test_below(&state, 40), inner = test_below(&state, 40), cols = test_below(&state, 300);
        const bool wild = test_below(&state, 3) == 0;
        recipe a = {.rows = rows, .cols = inner, .entries = test_below(&state, 12), .sorted = test_below(&state, 2)};
        recipe b = {.rows = inner, .cols = cols, .entries = test_below(&state, 60), .sorted = test_below(&state, 2)};
        a.wild = b.wild = wild, a.dense_row = b.dense_row = a.dense_col = b.dense_col = -1;
        a.rowptr_type = index_type(&state), a.col_type = index_type(&state), a.val_type = value_type(&state);
        b.rowptr_type = index_type(&state), b.col_type = index_type(&state), b.val_type = value_type(&state);
        lsp_csr A = make(&a, test_random(&state)), B = make(&b, test_random(&state)), turned_a = {0}, turned_b = {0};
        lsp_spgemm_options options = {.transpose_a = round & 4, .transpose_b = round & 8};
        options.types = (lsp_csr_types){.rowptr_type = test_below(&state, 2) ? index_type(&state) : LSP_NONE,
                                        .col_type = test_below(&state, 2) ? index_type(&state) : LSP_NONE,
                                        .val_type = value_type(&state),
                                        .drop_values = test_below(&state, 5) == 0};
        must(ctx, lsp_csr_transpose(ctx, &A, &turned_a));
        must(ctx, lsp_csr_transpose(ctx, &B, &turned_b));
        check_product(ctx, options.transpose_a ? &turned_a : &A, options.transpose_b ? &turned_b : &B, options,
                      "types");
        lsp_csr_free(ctx, &turned_a), lsp_csr_free(ctx, &turned_b);
        drop(&A), drop(&B);
    }
    lsp_ctx_destroy(ctx);
}

/* Rows of sixteen products a column and more, which repeat nobody: short enough for a window, or many long ones, whose
 * rows of B have up to 200 entries. */
Test(device_spgemm, rows_of_which_counting_keeps_the_columns_have_the_bits_of_the_reference) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const int64_t many = 3 * lsp_cuda_get_chip(ctx)->sms * LSP_KNOWN_ROWS;
    const struct { int64_t rows, entries_b, cols; } sizes[] = {{200, 12, 40}, {many, 100, 120}, {many, 100, 300}};
    static const lsp_type types[] = {LSP_F64, LSP_F32, LSP_NONE, LSP_C64, LSP_I64};
    static const lsp_semiring semirings[] = {LSP_PLUS_TIMES, LSP_MIN_PLUS, LSP_PLUS_PAIR};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        for (size_t t = 0; t < (sizes[k].rows < many ? 5 : 1); t++) {
            recipe a = {sizes[k].rows, 1500, 60, LSP_I32, LSP_I32, types[t], true, true, -1, -1, 0};
            recipe b = {1500, sizes[k].cols, sizes[k].entries_b, LSP_I32, LSP_I32, types[t], true, true, -1, -1, 0};
            lsp_csr A = make(&a, 5 + k), B = make(&b, 9 + t);
            B.cols *= 40; /* else B would be nearly dense */
            for (int64_t p = 0; p < B.nnz; p++) {
                ((int32_t *)B.col)[p] *= 40;
            }
            for (size_t s = 0; s < (types[t] == LSP_C64 || sizes[k].rows == many ? 1 : 3); s++) {
                char what[60];
                snprintf(what, sizeof what, "size %zu, type %zu, semiring %zu", k, t, s);
                check_product(ctx, &A, &B, (lsp_spgemm_options){.semiring = semirings[s]}, what);
            }
            drop(&A), drop(&B);
        }
    }
    lsp_ctx_destroy(ctx);
}

/* The same, where three rows of B have the same columns, as those of a node of a mesh. */
Test(device_spgemm, a_coarse_matrix_of_elasticity_has_the_bits_of_the_reference) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const char *const n = LSP_EMULATED ? "24" : "30"; /* enough rows, for up to 24 or 187 multiprocessors */
    lsp_csr R, A, P, AP;
    char spec[3][20];
    snprintf(spec[0], 20, "amgfem3:%s:R", n), snprintf(spec[1], 20, "fem3:%s", n),
        snprintf(spec[2], 20, "amgfem3:%s:P", n);
    must(ctx, lsp_generate(ctx, spec[0], 1, NULL, &R));
    must(ctx, lsp_generate(ctx, spec[1], 1, NULL, &A));
    must(ctx, lsp_generate(ctx, spec[2], 1, NULL, &P));
    must(ctx, lsp_spgemm(ctx, &A, &P, NULL, &AP, NULL));
    check_product(ctx, &R, &AP, (lsp_spgemm_options){0}, "R(AP)");
    lsp_csr_free(ctx, &R), lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &P), lsp_csr_free(ctx, &AP);
    lsp_ctx_destroy(ctx);
}

Test(device_spgemm, rows_of_every_bin_have_the_bits_of_the_reference) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    static const recipe squares[] = {
        /* rows, cols, entries, types, sorted, wild, dense row, dense column, band */
        {3000, 3000, 8, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0},
        {3000, 3000, 8, LSP_I64, LSP_I64, LSP_F64, false, true, -1, -1, 0},   /* unsorted, duplicates */
        {3000, 3000, 8, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 9},   /* a band: many products a column */
        {3000, 3000, 40, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 30}, /* more */
        {3000, 3000, 40, LSP_I32, LSP_I32, LSP_F64, false, true, -1, -1, 30}, /* the same with duplicates */
        {3000, 3000, 60, LSP_I32, LSP_I32, LSP_F32, true, false, -1, -1, 200},
        {1500, 1500, 30, LSP_I32, LSP_I64, LSP_F32, true, false, -1, -1, 0},  /* long rows */
        {1500, 1500, 60, LSP_I32, LSP_I32, LSP_F64, true, true, -1, -1, 0},   /* longer ones */
        {2000, 2000, 4, LSP_I32, LSP_I32, LSP_F64, true, false, 1234, -1, 0}, /* one dense row */
        {1200, 1200, 2, LSP_I32, LSP_I32, LSP_F64, true, false, -1, 77, 0},   /* one dense column */
        {900, 900, 3, LSP_I64, LSP_I32, LSP_F32, false, true, 3, 5, 0},       /* both, unsorted */
        {9000, 9000, 3, LSP_I32, LSP_I32, LSP_F64, true, false, 8000, 11, 0}, /* both, and rows of C beyond a piece */
        {9000, 9000, 3, LSP_I32, LSP_I32, LSP_F64, false, false, 8000, 11, 0},
        {3000, 3000, 5, LSP_I32, LSP_I32, LSP_NONE, true, false, -1, -1, 0}, /* a pattern */
        {3000, 3000, 50, LSP_I32, LSP_I32, LSP_NONE, true, false, 7, 8, 60}, /* another one */
        {700, 700, 0, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0},    /* nothing at all */
    };
    for (size_t k = 0; k < sizeof squares / sizeof *squares; k++) {
        char what[40];
        recipe square = squares[k];
        if (getenv("LSP_TEST_REDUCED") != NULL) { /* fewer rows, with as many products each */
            square.rows = square.cols = square.rows / 6;
            square.dense_row = square.dense_row < 0 ? -1 : square.dense_row / 6;
            square.dense_col = square.dense_col < 0 ? -1 : square.dense_col / 6;
        }
        lsp_csr A = make(&square, 100 + k);
        snprintf(what, sizeof what, "square %zu", k);
        check_product(ctx, &A, &A, (lsp_spgemm_options){0}, what);
        drop(&A);
    }
    /* columns far apart: a word cannot hold slot and column, and there are many ranges of columns; above 2^21 columns
     * the emulated GPU would take too long */
    for (int bits = 18; bits <= (getenv("LSP_TEST_REDUCED") ? 21 : 31); bits += 3) {
        recipe a = {40, 60, 12, LSP_I32, LSP_I32, LSP_F64, true, false, 7, -1, 0};
        recipe b = {60, 1000, 250, LSP_I32, LSP_I64, LSP_F64, bits != 24, false, 9, -1, 0};
        lsp_csr A = make(&a, 1), B = make(&b, 2);
        B.cols = (int64_t)1 << bits;
        for (int64_t p = 0; p < B.nnz; p++) {
            ((int64_t *)B.col)[p] *= B.cols / 1000;
        }
        check_product(ctx, &A, &B, (lsp_spgemm_options){0}, "wide");
        drop(&A);
        a.entries = 24;
        A = make(&a, 1);
        check_product(ctx, &A, &B, (lsp_spgemm_options){0}, "wide, more products than are sorted");
        drop(&A), drop(&B);
    }
    /* a row of A that leads almost only to empty rows of B; a row that is longer than any kernel's step */
    recipe a = {5, 100000, 4, LSP_I32, LSP_I32, LSP_F64, true, false, 2, -1, 0};
    recipe b = {100000, 300000, 0, LSP_I32, LSP_I32, LSP_F64, true, false, 777, -1, 0};
    lsp_csr A = make(&a, 3), B = make(&b, 4);
    check_product(ctx, &A, &B, (lsp_spgemm_options){0}, "one row of B");
    drop(&B);
    b.entries = 3, b.cols = 3000, b.dense_row = -1;
    B = make(&b, 5);
    check_product(ctx, &A, &B, (lsp_spgemm_options){0}, "a long row");
    b.cols = 1100000; /* more columns than a block marks at a time */
    drop(&B);
    B = make(&b, 6);
    check_product(ctx, &A, &B, (lsp_spgemm_options){0}, "a long row, wide");
    drop(&A), drop(&B);
    lsp_ctx_destroy(ctx);
}

Test(device_spgemm, short_rows_with_few_or_many_repeated_columns_have_the_bits_of_the_reference) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const int64_t rows = getenv("LSP_TEST_REDUCED") ? 150 : 2000;
    static const int64_t columns[] = {70, 300, 2000, 15000, 100000, 700000};
    static const int64_t entries[][2] = {{3, 9}, {5, 11}, {9, 13}, {10, 25}};
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        for (size_t e = 0; e < sizeof entries / sizeof *entries; e++) {
            char what[60];
            recipe a = {rows, 500, entries[e][0], LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
            recipe b = {500, columns[k], entries[e][1], LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
            lsp_csr A = make(&a, 10 * k + e), B = make(&b, 1000 + k);
            snprintf(what, sizeof what, "%lld x %lld products, %lld columns", (long long)a.entries,
                     (long long)b.entries, (long long)b.cols);
            check_product(ctx, &A, &B, (lsp_spgemm_options){0}, what);
            drop(&A), drop(&B);
        }
    }
    lsp_ctx_destroy(ctx);
}

/* Most rows have 4097 to 8192 products. If such rows are few, several blocks share each of them; else each is made in a
 * window, in a hash table, or sorted in pieces. */
Test(device_spgemm, long_rows_few_or_many_have_the_bits_of_the_reference) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int kind = 0; kind < 6; kind++) {
        const int64_t rows = kind < 3 ? 40 : 2 * LSP_SHARED_ROWS, step = kind % 3 == 1 ? 1311 : 1;
        const recipe a = {rows, 64, 150, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
        const recipe b = {64, kind % 3 == 2 ? 1 << 19 : 400, 100, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
        char what[20];
        if (kind >= 3 && getenv("LSP_TEST_REDUCED")) {
            break;
        }
        lsp_csr A = make(&a, 3), B = make(&b, 4);
        for (int64_t p = 0; p < B.nnz; p++) {
            ((int32_t *)B.col)[p] *= (int32_t)step;
        }
        B.cols *= step;
        snprintf(what, sizeof what, "kind %d", kind);
        check_product(ctx, &A, &B, (lsp_spgemm_options){0}, what);
        drop(&A), drop(&B);
    }
    lsp_ctx_destroy(ctx);
}

/* Enough rows that a warp takes 16 of them. The rows have one size or several. */
Test(device_spgemm, very_many_short_rows_have_the_bits_of_the_reference_at_every_execution) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    static const char *const specs[][2] = {{"poisson2d:300", "poisson2d:12"}, {"er:90000:8", "er:300:8"},
                                           {"er:90000:16", "er:300:16"},      {"perm:90000", "perm:700"},
                                           {"er:90000:3", "er:900:3"},        {"web:90000:1.8:200", "web:400:1.8:40"}};
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        const char *spec = specs[k][getenv("LSP_TEST_REDUCED") != NULL];
        lsp_csr A = {0}, right = {0};
        lsp_spgemm_plan *plan = NULL;
        must(ctx, lsp_generate(ctx, spec, 1, NULL, &A));
        check_product(ctx, &A, &A, (lsp_spgemm_options){.types.rowptr_type = LSP_I64}, spec);
        must(ctx, lsp_spgemm(ctx, &A, &A, &(lsp_spgemm_options){.method = LSP_SPGEMM_REFERENCE}, &right, NULL));
        lsp_csr a = upload(ctx, &A);
        must(ctx, lsp_spgemm_plan_create(ctx, &a, &a, NULL, &plan));
        for (int round = 0; round < 3; round++) {
            lsp_csr C = {0};
            must(ctx, lsp_spgemm_execute(plan, &a, &a, &C));
            lsp_csr here = download(ctx, &C);
            same(ctx, &here, &right, spec);
            lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &here);
        }
        lsp_spgemm_plan_destroy(plan);
        lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &right);
    }
    lsp_ctx_destroy(ctx);
}

/* Enough rows that a block inspects several hundred of them in more than one step. A row has 0 to 3 entries, and each
 * entry has 0 to 6 products. */
Test(device_spgemm, more_than_a_million_rows_have_the_bits_of_the_reference) {
    enum { ROWS = 1090000, INNER = 50, COLS = 40 };
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const lsp_csr_types types = {LSP_I32, LSP_I32, LSP_F64, false, LSP_PLACE_HOST};
    lsp_csr A = {0}, B = {0};
    int32_t p = 0;
    must(ctx, lsp_csr_create(ctx, ROWS, INNER, (int64_t)ROWS / 4 * 6, &types, &A));
    must(ctx, lsp_csr_create(ctx, INNER, COLS, 3 * INNER - 3, &types, &B));
    for (int32_t i = 0; i < ROWS; i++) {
        ((int32_t *)A.rowptr)[i] = p;
        for (int32_t k = 0; k < i % 4; k++, p++) {
            ((int32_t *)A.col)[p] = i % 7 * 6 + k * 2;
            ((double *)A.val)[p] = p % 11 - 4.75;
        }
    }
    ((int32_t *)A.rowptr)[ROWS] = p;
    cr_assert_eq(p, A.nnz);
    p = 0;
    for (int32_t i = 0; i < INNER; i++) {
        ((int32_t *)B.rowptr)[i] = p;
        for (int32_t k = 0; k < i % 7; k++, p++) {
            ((int32_t *)B.col)[p] = i % 8 + k * 5;
            ((double *)B.val)[p] = p % 5 + 0.5;
        }
    }
    ((int32_t *)B.rowptr)[INNER] = p;
    cr_assert_eq(p, B.nnz);
    check_product(ctx, &A, &B, (lsp_spgemm_options){0}, "several steps");
    lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &B);
    lsp_ctx_destroy(ctx);
}

Test(device_spgemm, columns_beyond_31_bits_are_ordinary) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int bits = 32; bits <= 62; bits += 10) {
        far_columns *f = make_far_columns(bits);
        lsp_csr a = upload(ctx, &f->A), b = upload(ctx, &f->B), C = {0};
        must(ctx, lsp_spgemm(ctx, &a, &b, NULL, &C, NULL));
        lsp_csr here = download(ctx, &C);
        check_far_columns(f, &here);
        lsp_csr_free(ctx, &here), lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &a), lsp_csr_free(ctx, &b);
        free(f);
    }
    lsp_ctx_destroy(ctx);
}

Test(device_spgemm, malformed_matrices_and_mixed_places_are_refused_as_on_the_host) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    recipe r = {10, 10, 3, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    lsp_csr A = make(&r, 7), C = {.rows = 4711}, a = upload(ctx, &A);
    lsp_spgemm_options options = {.method = LSP_SPGEMM_REFERENCE};
    must_fail(ctx, LSP_ERR_ARGUMENT, "one place", lsp_spgemm(ctx, &A, &a, NULL, &C, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "one place", lsp_spgemm(ctx, &a, &A, NULL, &C, NULL));
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "host", lsp_spgemm(ctx, &a, &a, &options, &C, NULL));
    const int32_t wild[] = {-1, 10, INT32_MAX, INT32_MIN, 0x40000000};
    for (int part = 0; part < 2; part++) {
        int32_t *items = part == 0 ? A.rowptr : A.col;
        void *there = part == 0 ? a.rowptr : a.col;
        const int64_t count = part == 0 ? A.rows + 1 : A.nnz;
        for (int64_t i = 0; i < count; i++) {
            for (int k = 0; k < 5; k++) {
                const int32_t kept = items[i];
                char sentence[512];
                if (part == 0 && wild[k] == 10) {
                    continue;
                }
                items[i] = wild[k];
                must(ctx, lsp_cuda_copy(ctx, there, LSP_CUDA, items, LSP_HOST, 4 * count));
                cr_assert(lsp_spgemm(ctx, &A, &A, NULL, &C, NULL) == LSP_ERR_FORMAT);
                snprintf(sentence, sizeof sentence, "%s", lsp_last_error(ctx));
                must_fail(ctx, LSP_ERR_FORMAT, sentence, lsp_spgemm(ctx, &a, &a, NULL, &C, NULL));
                items[i] = kept;
            }
        }
        must(ctx, lsp_cuda_copy(ctx, there, LSP_CUDA, items, LSP_HOST, 4 * count));
    }
    cr_assert(C.rows == 4711 && C.rowptr == NULL);
    check_product(ctx, &A, &A, (lsp_spgemm_options){0}, "as it was");
    lsp_csr_free(ctx, &a);
    drop(&A);
    char first[512]; /* of several columns out of range the first one is named, also in a row longer than a warp */
    r.rows = r.cols = 40, r.dense_row = 5;
    A = make(&r, 8), a = upload(ctx, &A);
    for (int64_t p = ((int32_t *)A.rowptr)[5]; p < A.nnz; p++) {
        ((int32_t *)A.col)[p] = (int32_t)(p % 7 == 0 ? -1 : p + 40);
    }
    must(ctx, lsp_cuda_copy(ctx, a.col, LSP_CUDA, A.col, LSP_HOST, 4 * A.nnz));
    cr_assert(lsp_spgemm(ctx, &A, &A, NULL, &C, NULL) == LSP_ERR_FORMAT);
    snprintf(first, sizeof first, "%s", lsp_last_error(ctx));
    must_fail(ctx, LSP_ERR_FORMAT, first, lsp_spgemm(ctx, &a, &a, NULL, &C, NULL));
    lsp_csr_free(ctx, &a);
    drop(&A);
    lsp_ctx_destroy(ctx);
}

Test(device_spgemm, a_product_beyond_the_budget_is_refused_with_its_bytes) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    recipe r = {2000, 2000, 20, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    lsp_csr A = make(&r, 4), a = upload(ctx, &A), whole = {0};
    const int64_t nnz = check_refusal_by_budget(ctx, &a);
    lsp_ctx_info held;
    must(ctx, lsp_ctx_get_info(ctx, &held));
    cr_assert(held.cuda_peak_bytes <= 12 * nnz);
    must(ctx, lsp_ctx_set_max_bytes(ctx, 0));
    must(ctx, lsp_spgemm(ctx, &a, &a, NULL, &whole, NULL));
    must(ctx, lsp_ctx_get_info(ctx, &held));
    const int64_t product = 4 * 2001 + 12 * nnz, given = 4 * 2001 + 12 * A.nnz;
    cr_assert(held.cuda_peak_bytes <= given + product + product / 5 + (1 << 16), "%lld bytes at a time for %lld of C",
              (long long)held.cuda_peak_bytes, (long long)product);
    lsp_csr_free(ctx, &whole), lsp_csr_free(ctx, &a);
    drop(&A);
    lsp_ctx_destroy(ctx);
}

Test(device_spgemm, failing_allocations_leave_nothing_behind) {
    recipe r = {300, 300, 20, LSP_I32, LSP_I64, LSP_F64, false, false, 5, -1, 0};
    lsp_csr A = make(&r, 8);
    for (int round = 0; round < 5; round++) { /* the last round uses a mask */
        const lsp_type type = round & 1 ? LSP_F32 : LSP_NONE;
        failing_product p = {
            &A, 0, {.transpose_a = round & 1, .transpose_b = round & 2, .types.val_type = type}, round == 4};
        test_failing_gpu(0, 1, multiply_there, &p);
    }
    drop(&A);
}

Test(device_spgemm, matrices_of_the_host_are_multiplied_there_in_a_context_of_a_gpu) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    recipe r = {100, 100, 5, LSP_I32, LSP_I32, LSP_F64, true, false, -1, -1, 0};
    lsp_csr A = make(&r, 9), C = {0}, right = {0};
    must(ctx, lsp_spgemm(ctx, &A, &A, NULL, &C, NULL));
    must(ctx, lsp_spgemm(ctx, &A, &A, &(lsp_spgemm_options){.method = LSP_SPGEMM_REFERENCE}, &right, NULL));
    cr_assert(C.where == LSP_HOST);
    same(ctx, &C, &right, "on the host");
    lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &right);
    drop(&A);
    lsp_ctx_destroy(ctx);
}
