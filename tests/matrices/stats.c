/* The statistics of a matrix. */
#include "tests/matrices.h"

Test(stats, by_hand) {
    lsp_ctx *ctx = test_ctx(1);
    int32_t rowptr[] = {0, 3, 3, 4, 9}, col[] = {3, 0, 0, 2, 0, 1, 2, 3, 3};
    double val[] = {0, NAN, 1, -INFINITY, -0.0, 2, 3, 4, 5};
    lsp_csr A = TEST_CSR(4, 4, rowptr, col, val);
    lsp_csr_stats s;
    must(ctx, lsp_csr_get_stats(ctx, &A, &s));
    cr_assert(s.empty_rows == 1 && s.empty_cols == 0 && s.min_row == 0 && s.max_row == 5 && s.max_col == 3);
    cr_assert(s.mean_row == 9.0 / 4 && fabs(s.stddev_row - sqrt(35.0 / 4 - 81.0 / 16)) < 1e-15);
    cr_assert(s.histogram[0] == 1 && s.histogram[1] == 1 && s.histogram[2] == 1 && s.histogram[3] == 1);
    cr_assert(s.lower_bandwidth == 3 && s.upper_bandwidth == 3 && s.diagonal == 5);
    cr_assert(s.unsorted_rows == 1 && s.duplicates == 2 && s.zeros == 2 && s.not_finite == 2);
    cr_assert(s.square && !s.pattern_symmetric && !s.symmetric);
    /* row 0: 5 + 3 + 3, row 2: 1, row 3: 3 + 0 + 1 + 5 + 5 */
    cr_assert(s.products == 26 && s.product_nnz_bound == 4 + 0 + 1 + 4, "%ld, %ld", (long)s.products,
              (long)s.product_nnz_bound);
    lsp_ctx_destroy(ctx);
}

Test(stats, of_matrices_with_nothing_in_them) {
    lsp_ctx *ctx = test_ctx(2);
    const int64_t shapes[][2] = {{0, 0}, {0, 3}, {3, 0}, {3, 3}};
    for (int c = 0; c < 4; c++) {
        lsp_csr A;
        lsp_csr_stats s;
        int64_t m = shapes[c][0], n = shapes[c][1];
        must(ctx, lsp_csr_create(ctx, m, n, 0, &(lsp_csr_types){.val_type = LSP_F32}, &A));
        must(ctx, lsp_csr_get_stats(ctx, &A, &s));
        cr_assert(s.empty_rows == m && s.empty_cols == n && s.histogram[0] == m && s.square == (m == n));
        cr_assert(s.min_row == 0 && s.max_row == 0 && s.max_col == 0 && s.mean_row == 0 && s.stddev_row == 0);
        cr_assert(s.pattern_symmetric == s.square && s.symmetric == s.square && s.skew == s.square);
        cr_assert(s.products == (s.square ? 0 : -1) && s.product_nnz_bound == s.products);
    }
    lsp_ctx_destroy(ctx);
}

/* Counts the statistics entry by entry in a dense table of places. */
static lsp_csr_stats count_plainly(const lsp_csr *A) {
    lsp_csr_stats s = {.min_row = INT64_MAX, .square = A->rows == A->cols, .products = 0};
    int64_t *places = calloc((size_t)(A->rows * A->cols), sizeof *places);
    double mean = (double)A->nnz / (double)A->rows, squares = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        int64_t start = lsp_csr_rowptr(A, i), stop = lsp_csr_rowptr(A, i + 1), length = stop - start, k, products = 0;
        s.empty_rows += length == 0;
        s.min_row = lsp_min(s.min_row, length), s.max_row = lsp_max(s.max_row, length);
        squares += ((double)length - mean) * ((double)length - mean);
        int bin = 0;
        while (((int64_t)1 << bin) <= length) {
            bin++;
        }
        s.histogram[bin]++;
        bool sorted = true;
        for (k = start; k < stop; k++) {
            int64_t j = lsp_csr_col(A, k);
            lsp_value v = lsp_value_at(A, k);
            sorted &= k == start || lsp_csr_col(A, k - 1) <= j;
            s.duplicates += places[i * A->cols + j]++ > 0;
            s.lower_bandwidth = lsp_max(s.lower_bandwidth, i - j),
            s.upper_bandwidth = lsp_max(s.upper_bandwidth, j - i);
            s.diagonal += i == j;
            s.zeros += v.re == 0 && v.im == 0;
            products += s.square ? lsp_csr_rowptr(A, j + 1) - lsp_csr_rowptr(A, j) : 0;
        }
        s.unsorted_rows += !sorted;
        s.products += products, s.product_nnz_bound += lsp_min(products, A->cols);
    }
    for (int64_t j = 0; j < A->cols; j++) {
        int64_t length = 0;
        for (int64_t i = 0; i < A->rows; i++) {
            length += places[i * A->cols + j];
        }
        s.empty_cols += length == 0, s.max_col = lsp_max(s.max_col, length);
    }
    s.mean_row = mean, s.stddev_row = sqrt(squares / (double)A->rows);
    s.products = s.square ? s.products : -1, s.product_nnz_bound = s.square ? s.product_nnz_bound : -1;
    free(places);
    return s;
}

#define SAME(field)                                                                                                    \
    cr_assert(s.field == p.field, "case %zu, types %d, " #field ": %ld, not %ld", c, t, (long)s.field, (long)p.field)

Test(stats, agree_with_a_plain_count_whatever_the_threads) {
    const int64_t sizes[][3] = {{1, 1, 1},        {9, 9, 30},      {40, 60, 100},
                                {700, 700, 3000}, {50, 50, 80000}, {900, 20, 50000}};
    for (int threads = 1; threads <= 5; threads += 2) {
        lsp_ctx *ctx = test_ctx(threads);
        for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++) {
            for (int t = 0; t < test_combinations; t++) {
                lsp_csr A = test_random_csr(ctx, sizes[c][0], sizes[c][1], sizes[c][2], test_types(t), c);
                lsp_csr_stats s, p = count_plainly(&A);
                must(ctx, lsp_csr_get_stats(ctx, &A, &s));
                SAME(empty_rows);
                SAME(empty_cols);
                SAME(min_row);
                SAME(max_row);
                SAME(max_col);
                SAME(lower_bandwidth);
                SAME(upper_bandwidth);
                SAME(diagonal);
                SAME(unsorted_rows);
                SAME(duplicates);
                SAME(zeros);
                SAME(products);
                SAME(product_nnz_bound);
                SAME(square);
                cr_assert(memcmp(s.histogram, p.histogram, sizeof s.histogram) == 0 && s.not_finite == 0);
                cr_assert(s.mean_row == p.mean_row && fabs(s.stddev_row - p.stddev_row) <= 1e-12 * p.stddev_row);
                lsp_csr_free(ctx, &A);
            }
        }
        lsp_ctx_destroy(ctx);
    }
}

/* A triangle is expanded to each symmetry. The statistics must find that symmetry, and must lose it when one value
 * changes. */
Test(stats, symmetry_is_exact) {
    for (int threads = 1; threads <= 4; threads += 3) {
        lsp_ctx *ctx = test_ctx(threads);
        for (int t = 0; t < test_combinations; t++) {
            for (int symmetry = LSP_SYMMETRY_SYMMETRIC; symmetry <= LSP_SYMMETRY_HERMITIAN; symmetry++) {
                lsp_csr L = test_random_csr(ctx, 3000, 3000, 40000, test_types(t), 3), A;
                for (int64_t i = 0; i < L.rows; i++) { /* strictly below the diagonal, no value 0 */
                    for (int64_t k = lsp_csr_rowptr(&L, i); k < lsp_csr_rowptr(&L, i + 1); k++) {
                        lsp_index_set(L.col, L.col_type, k, i == 0 ? 0 : lsp_csr_col(&L, k) % i);
                        test_set_value(&L, k, i == 0 ? 0 : (double)(k % 9 + 1), i == 0 ? 0 : (double)(k % 5 + 1));
                    }
                }
                must(ctx, lsp_csr_expand(ctx, &L, (lsp_symmetry)symmetry, &A));
                bool pattern = A.val_type == LSP_NONE, complex = A.val_type == LSP_C64;
                lsp_csr_stats s;
                must(ctx, lsp_csr_get_stats(ctx, &A, &s));
                cr_assert(s.pattern_symmetric && s.duplicates == 0 && s.unsorted_rows == 0);
                cr_assert(s.skew == (symmetry == LSP_SYMMETRY_SKEW && !pattern));
                cr_assert(s.symmetric == (pattern || symmetry == LSP_SYMMETRY_SYMMETRIC ||
                                          (symmetry == LSP_SYMMETRY_HERMITIAN && !complex)));
                cr_assert(s.hermitian == (pattern || symmetry == LSP_SYMMETRY_HERMITIAN ||
                                          (symmetry == LSP_SYMMETRY_SYMMETRIC && !complex)));
                if (!pattern) {
                    test_set_value(&A, A.nnz - 1, 99, 99);
                    must(ctx, lsp_csr_get_stats(ctx, &A, &s));
                    cr_assert(s.pattern_symmetric && !s.symmetric && !s.skew && !s.hermitian);
                }
                int64_t last = lsp_csr_col(&A, A.nnz - 1);
                lsp_index_set(A.col, A.col_type, A.nnz - 1, last + 1 < A.cols ? last + 1 : last - 1);
                must(ctx, lsp_csr_get_stats(ctx, &A, &s));
                cr_assert(!s.pattern_symmetric && !s.symmetric && !s.skew && !s.hermitian);
                lsp_csr_free(ctx, &L);
                lsp_csr_free(ctx, &A);
            }
        }
        lsp_ctx_destroy(ctx);
    }
}

Test(stats, symmetry_of_unsorted_rows_zeros_and_nan) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr_stats s;
    int32_t rowptr[] = {0, 3, 5, 6}, col[] = {2, 1, 1, 2, 0, 0}; /* (0, 1) is 2 + 3, (1, 2) has no mirror yet */
    double val[] = {NAN, 2, 3, 4, 5, NAN};
    lsp_csr A = TEST_CSR(3, 3, rowptr, col, val);
    must(ctx, lsp_csr_get_stats(ctx, &A, &s));
    cr_assert(!s.pattern_symmetric && s.duplicates == 1 && s.unsorted_rows == 2);
    int32_t rowptr2[] = {0, 3, 4, 5};
    int32_t col2[] = {2, 1, 1, 0, 0};
    double val2[] = {NAN, 2, 3, 5, NAN};
    A = TEST_CSR(3, 3, rowptr2, col2, val2);
    must(ctx, lsp_csr_get_stats(ctx, &A, &s));
    cr_assert(s.pattern_symmetric && s.symmetric && s.hermitian && !s.skew);
    double val3[] = {0.0, 2, 3, -5, 0.0}; /* 0 = -0 */
    A.val = val3;
    must(ctx, lsp_csr_get_stats(ctx, &A, &s));
    cr_assert(s.pattern_symmetric && s.skew && !s.symmetric && !s.hermitian);
    double diagonal[] = {1, 2, 1, 3}; /* complex: a matrix whose diagonal is not real is not Hermitian */
    A = TEST_CSR(2, 2, ((int32_t[]){0, 1, 2}), ((int32_t[]){0, 1}), diagonal);
    A.val_type = LSP_C64;
    must(ctx, lsp_csr_get_stats(ctx, &A, &s));
    cr_assert(s.symmetric && !s.hermitian && !s.skew);
    lsp_ctx_destroy(ctx);
}

static lsp_status take_stats(lsp_ctx *ctx, void *data) {
    lsp_csr_stats s = {.max_row = 42};
    lsp_status status = lsp_csr_get_stats(ctx, data, &s);
    cr_assert(status == LSP_OK || s.max_row == 42);
    return status;
}

Test(stats, failing_memory_leaves_nothing_behind) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A = test_random_csr(ctx, 3000, 3000, 90000, (lsp_csr_types){.val_type = LSP_F64}, 3);
    test_failing_memory(3, take_stats, &A);
    lsp_ctx_destroy(ctx);
}
