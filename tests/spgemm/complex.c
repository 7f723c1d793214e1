/* C = A*B with complex values, on the CPU and on a GPU: the reference is the real product of matrices twice as large,
 * and every way of computing has the bits of the reference. */
#include "tests/complex.h"

/* ---- what a product is ---- */

/* Entry a of A becomes two rows of two entries; entry b of B becomes a column of two. In each row of A the entries
 * stand in the order in which a complex product adds its parts, if B has no column twice in a row. */
static lsp_csr embed_left(const lsp_csr *A) {
    lsp_csr E = {2 * A->rows, 2 * A->cols, 4 * A->nnz, NULL, NULL, NULL, LSP_I64, LSP_I64, LSP_F64, LSP_HOST};
    int64_t *rowptr = E.rowptr = calloc((size_t)E.rows + 1, 8), *col = E.col = calloc((size_t)E.nnz + 1, 8), n = 0;
    double *val = E.val = calloc((size_t)E.nnz + 1, 8);
    for (int64_t i = 0; i < E.rows; i++) {
        for (int64_t k = lsp_csr_rowptr(A, i / 2); k < lsp_csr_rowptr(A, i / 2 + 1); k++, n += 2) {
            const lsp_value a = lsp_value_at(A, k);
            const int64_t first = 2 * lsp_csr_col(A, k) + i % 2, second = first ^ 1;
            col[n] = first, val[n] = a.re;
            col[n + 1] = second, val[n + 1] = i % 2 ? a.im : -a.im;
        }
        rowptr[i + 1] = n;
    }
    return E;
}
static lsp_csr embed_right(const lsp_csr *B) {
    lsp_csr E = {2 * B->rows, B->cols, 2 * B->nnz, NULL, NULL, NULL, LSP_I64, LSP_I64, LSP_F64, LSP_HOST};
    int64_t *rowptr = E.rowptr = calloc((size_t)E.rows + 1, 8), *col = E.col = calloc((size_t)E.nnz + 1, 8), n = 0;
    double *val = E.val = calloc((size_t)E.nnz + 1, 8);
    for (int64_t i = 0; i < E.rows; i++) {
        for (int64_t k = lsp_csr_rowptr(B, i / 2); k < lsp_csr_rowptr(B, i / 2 + 1); k++, n++) {
            const lsp_value b = lsp_value_at(B, k);
            col[n] = lsp_csr_col(B, k), val[n] = i % 2 ? b.im : b.re;
        }
        rowptr[i + 1] = n;
    }
    return E;
}

Test(spgemm_complex, the_parts_of_a_product_are_those_of_a_real_product_twice_as_large) {
    lsp_ctx *ctx = test_ctx(2);
    uint64_t state = 5;
    for (int round = 0; round < 60; round++) {
        const int64_t rows = test_below(&state, 30), inner = 1 + test_below(&state, 30), cols = test_below(&state, 60);
        const recipe a = {rows, inner, 4, LSP_I32, LSP_I64, LSP_C64, round & 1, round & 2, -1, -1, 0};
        const recipe b = {inner, cols, 6, LSP_I64, LSP_I32, LSP_C64, true, round & 4, -1, -1, 0};
        lsp_csr A = make(&a, test_random(&state)), B = make(&b, test_random(&state)), real = {0};
        lsp_csr left = embed_left(&A), right = embed_right(&B), C = reference(ctx, &A, &B, (lsp_spgemm_options){0});
        must(ctx, lsp_spgemm(ctx, &left, &right, NULL, &real, NULL));
        cr_assert(real.nnz == 2 * C.nnz && C.val_type == LSP_C64);
        for (int64_t i = 0; i < real.rows; i++) {
            int64_t k = lsp_csr_rowptr(&C, i / 2);
            for (int64_t p = lsp_csr_rowptr(&real, i); p < lsp_csr_rowptr(&real, i + 1); p++, k++) {
                cr_assert(lsp_csr_col(&real, p) == lsp_csr_col(&C, k));
                cr_assert(memcmp((double *)real.val + p, (double *)C.val + 2 * k + i % 2, 8) == 0,
                          "round %d, row %lld, part %lld: %a, not %a", round, (long long)i / 2, (long long)i % 2,
                          ((double *)C.val)[2 * k + i % 2], ((double *)real.val)[p]);
            }
        }
        lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &real);
        drop(&A), drop(&B), drop(&left), drop(&right);
    }
    lsp_ctx_destroy(ctx);
}

TEST_ON_BOTH(spgemm_complex, known_answers) {
    int32_t rows[] = {0, 2, 3}, cols[] = {0, 1, 1}, b_rows[] = {0, 1, 2}, b_cols[] = {0, 0};
    double a_vals[] = {1, 2, 0, -1, (double)INFINITY, 0}, b_vals[] = {3, 4, 5, 6}, real[] = {2, 0.5};
    lsp_csr A = {2, 2, 3, rows, cols, a_vals, LSP_I32, LSP_I32, LSP_C64, LSP_HOST};
    lsp_csr B = {2, 1, 2, b_rows, b_cols, b_vals, LSP_I32, LSP_I32, LSP_C64, LSP_HOST};
    const struct {
        lsp_type type;
        void *val;
        double answer[4]; /* (1+2i)b0 - i b1, and infinity times b1 */
    } kinds[] = {{LSP_C64, b_vals, {1, 5, (double)INFINITY, (double)INFINITY}},
                 {LSP_F64, real, {2, 3.5, (double)INFINITY, (double)NAN}},
                 {LSP_NONE, NULL, {1, 1, (double)INFINITY, (double)NAN}}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        B.val_type = kinds[k].type, B.val = kinds[k].val;
        lsp_csr a = take(ctx, &A), b = take(ctx, &B), C = {0};
        int32_t c_rows[] = {0, 1, 2}, c_cols[] = {0, 0};
        double answer[4];
        memcpy(answer, kinds[k].answer, sizeof answer);
        const lsp_csr right = {2, 1, 2, c_rows, c_cols, answer, LSP_I32, LSP_I32, LSP_C64, LSP_HOST};
        must(ctx, lsp_spgemm(ctx, &a, &b, NULL, &C, NULL));
        must_equal(ctx, &C, &right, lsp_type_name(B.val_type));
        give_back(ctx, &a), give_back(ctx, &b);
    }
}

/* ---- all kinds of products ---- */

TEST_ON_BOTH(spgemm_complex, products_of_any_types_have_the_bits_of_the_reference) {
    static const lsp_type types[] = {LSP_C64, LSP_C64, LSP_F64, LSP_F32, LSP_NONE};
    uint64_t state = 11;
    for (int round = 0; round < (reduced() ? 40 : 150); round++) {
        const int64_t rows = test_below(&state, 40), inner = test_below(&state, 40), cols = test_below(&state, 300);
        recipe a = {.rows = rows, .cols = inner, .entries = test_below(&state, 12), .sorted = test_below(&state, 2)};
        recipe b = {.rows = inner, .cols = cols, .entries = test_below(&state, 60), .sorted = test_below(&state, 2)};
        a.wild = b.wild = round % 3 == 0, a.dense_row = b.dense_row = a.dense_col = b.dense_col = -1;
        a.rowptr_type = index_type(&state), a.col_type = index_type(&state), a.val_type = types[test_below(&state, 5)];
        b.rowptr_type = index_type(&state), b.col_type = index_type(&state), b.val_type = types[test_below(&state, 5)];
        lsp_csr A = make(&a, test_random(&state)), B = make(&b, test_random(&state)), turned_a = {0}, turned_b = {0};
        lsp_spgemm_options options = {.transpose_a = round & 4, .transpose_b = round & 8};
        options.types = (lsp_csr_types){.rowptr_type = test_below(&state, 2) ? index_type(&state) : LSP_NONE,
                                        .col_type = test_below(&state, 2) ? index_type(&state) : LSP_NONE,
                                        .val_type = LSP_C64,
                                        .drop_values = test_below(&state, 9) == 0};
        must(ctx, lsp_csr_transpose(ctx, &A, &turned_a));
        must(ctx, lsp_csr_transpose(ctx, &B, &turned_b));
        check(ctx, options.transpose_a ? &turned_a : &A, options.transpose_b ? &turned_b : &B, options, "types");
        lsp_csr_free(ctx, &turned_a), lsp_csr_free(ctx, &turned_b);
        drop(&A), drop(&B);
    }
}

TEST_ON_BOTH(spgemm_complex, rows_of_all_kinds_have_the_bits_of_the_reference) {
    static const recipe squares[] = {
        /* rows, cols, entries, types, sorted, wild, dense row, dense column, band */
        {3000, 3000, 8, LSP_I32, LSP_I32, LSP_C64, true, false, -1, -1, 0},
        {3000, 3000, 8, LSP_I64, LSP_I64, LSP_C64, false, true, -1, -1, 0},   /* unsorted, duplicates */
        {3000, 3000, 40, LSP_I32, LSP_I32, LSP_C64, true, true, -1, -1, 30},  /* a band: many products a column */
        {3000, 3000, 40, LSP_I32, LSP_I32, LSP_C64, false, true, -1, -1, 30}, /* the same with duplicates */
        {1500, 1500, 60, LSP_I32, LSP_I32, LSP_C64, true, false, -1, -1, 0},  /* long rows */
        {900, 900, 3, LSP_I64, LSP_I32, LSP_C64, false, true, 3, 5, 0},       /* a dense row and column, unsorted */
        {9000, 9000, 3, LSP_I32, LSP_I32, LSP_C64, true, false, 8000, 11, 0}, /* rows of C beyond a piece */
        {700, 700, 0, LSP_I32, LSP_I32, LSP_C64, true, false, -1, -1, 0},     /* nothing at all */
        {99, 99, 50, LSP_I32, LSP_I32, LSP_C64, true, true, -1, -1, 0},       /* nearly dense */
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
        snprintf(what, sizeof what, "square %zu", k);
        check(ctx, &A, &A, (lsp_spgemm_options){0}, what);
        drop(&A);
    }
    static const char *const specs[][2] = {
        {"fem3:6", "fem3:3"},      {"stencil27:9", "stencil27:4"}, {"poisson2d:90", "poisson2d:12"},
        {"perm:9000", "perm:700"}, {"rmat:10:8", "rmat:7:8"},      {"web:9000:1.8:200", "web:400:1.8:40"},
        {"er:9000:3", "er:900:3"}, {"er:9000:8", "er:300:8"}};
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        lsp_csr A = generated(ctx, specs[k][reduced()]);
        check(ctx, &A, &A, (lsp_spgemm_options){0}, specs[k][0]);
        lsp_csr_free(ctx, &A);
    }
}

/* Columns far apart; a row longer than any step; rows that come nearly from one row of B. */
TEST_ON_BOTH(spgemm_complex, long_and_wide_rows_have_the_bits_of_the_reference) {
    for (int kind = 0; kind < 6; kind++) {
        recipe a = {40, 60, kind % 2 ? 24 : 12, LSP_I32, LSP_I32, LSP_C64, true, false, 7, -1, 0};
        recipe b = {60, 1000, 250, LSP_I32, LSP_I64, LSP_C64, kind < 4, kind == 1, 9, -1, 0};
        if (kind >= 4) { /* all entries of A lead to the dense row of B, and some to short ones */
            a.dense_row = -1, a.dense_col = 9, a.entries = 5, a.sorted = true, b.entries = 4;
        }
        lsp_csr A = make(&a, 1), B = make(&b, 2);
        const int64_t step = kind % 2 ? 1 : kind < 2 ? 4097 : 300;
        B.cols *= step;
        for (int64_t p = 0; p < B.nnz; p++) {
            ((int64_t *)B.col)[p] *= step;
        }
        check(ctx, &A, &B, (lsp_spgemm_options){0}, "wide");
        drop(&A), drop(&B);
    }
    const recipe a = {5, 20000, 4, LSP_I32, LSP_I32, LSP_C64, true, false, 2, -1, 0};
    const recipe b = {20000, 3000, 3, LSP_I32, LSP_I32, LSP_C64, true, false, -1, -1, 0};
    lsp_csr A = make(&a, 3), B = make(&b, 5);
    check(ctx, &A, &B, (lsp_spgemm_options){0}, "a long row");
    drop(&A), drop(&B);
}

Test(spgemm_complex, all_threads_and_budgets_give_the_bits_of_the_reference) {
    const recipe r = {800, 800, 12, LSP_I32, LSP_I32, LSP_C64, true, true, 5, 9, 0};
    lsp_csr A = make(&r, 3);
    for (int threads = 1; threads <= 4; threads++) {
        lsp_ctx *ctx = test_ctx(threads);
        lsp_csr C = {0}, right = reference(ctx, &A, &A, (lsp_spgemm_options){0});
        lsp_spgemm_info info;
        const int64_t used = ctx->space[LSP_HOST].used, bytes = 4 * (A.rows + 1) + 20 * right.nnz;
        for (int k = 0; k < 6; k++) {
            must(ctx, lsp_ctx_trim(ctx));
            must(ctx, lsp_ctx_set_max_bytes(ctx, used + bytes + ((int64_t)1 << (15 + k))));
            const lsp_status status = lsp_spgemm(ctx, &A, &A, NULL, &C, &info);
            cr_assert(status == LSP_OK || (status == LSP_ERR_MEMORY && k < 3), "%d: %s", k, lsp_last_error(ctx));
            if (status == LSP_OK) {
                must_equal(ctx, &C, &right, "a budget");
            }
        }
        char needed[40];
        snprintf(needed, sizeof needed, "%lld bytes", (long long)bytes);
        must(ctx, lsp_ctx_trim(ctx));
        must(ctx, lsp_ctx_set_max_bytes(ctx, used + 20 * right.nnz));
        must_fail(ctx, LSP_ERR_MEMORY, needed, lsp_spgemm(ctx, &A, &A, NULL, &C, NULL));
        lsp_csr_free(ctx, &right);
        lsp_ctx_destroy(ctx);
    }
    drop(&A);
}
