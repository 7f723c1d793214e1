/* Comparison of matrices: which place differs, and by how much. */
#include "tests/matrices.h"

Test(compare, a_comparison_says_where_and_how_much) {
    lsp_ctx *ctx = test_ctx(2);
    int32_t rowptr[] = {0, 2, 2, 4}, col[] = {0, 3, 1, 3}, rowptr2[] = {0, 2, 3, 4}, col2[] = {0, 2, 1, 3};
    double val[] = {1, 2, NAN, -0.0}, val2[] = {1, 2.5, NAN, 0.0};
    lsp_csr A = TEST_CSR(3, 4, rowptr, col, val), B = TEST_CSR(3, 4, rowptr, col, val);
    lsp_csr_difference d;
#define DIFFERENCE(pattern, bits, row_, col_, rel)                                                                     \
    do {                                                                                                               \
        must(ctx, lsp_csr_compare(ctx, &A, &B, &d));                                                                   \
        cr_assert(d.same_shape &&d.same_pattern == (pattern) && d.same_bits == (bits) && d.row == (row_) &&            \
                      d.col == (col_) && d.max_rel == (rel),                                                           \
                  "%d %d at (%ld, %ld): %g", d.same_pattern, d.same_bits, (long)d.row, (long)d.col, d.max_rel);        \
    } while (0)
    DIFFERENCE(true, true, -1, -1, 0);
    B.val = val2;
    DIFFERENCE(true, false, 0, 3, 0.2);
    val2[1] = 2;
    DIFFERENCE(true, false, -1, -1, 0); /* -0 and 0 are equal but have different bits */
    val2[2] = 7;
    DIFFERENCE(true, false, 2, 1, INFINITY);
    val[2] = -INFINITY, val2[2] = INFINITY;
    DIFFERENCE(true, false, 2, 1, INFINITY);
    val[2] = -1.7e308, val2[2] = 1.7e308;
    DIFFERENCE(true, false, 2, 1, 2.0);
    val[2] = 5e-324, val2[2] = 1e-323;
    DIFFERENCE(true, false, 2, 1, 0.5);
    B.val = val, B.col = col2;
    DIFFERENCE(false, false, 0, 2, 0);
    B.col = col, B.rowptr = rowptr2; /* entry (2, 1) moves to row 1 */
    DIFFERENCE(false, false, 1, 1, 0);
    B = A, B.val = NULL, B.val_type = LSP_NONE;
    val[2] = 0.5, val[3] = 1;
    DIFFERENCE(true, false, 0, 3, 0.5); /* a pattern counts as ones; of equal differences the first is reported */
    B = A, B.cols = 5;
    must(ctx, lsp_csr_compare(ctx, &A, &B, &d));
    cr_assert(!d.same_shape && !d.same_pattern && !d.same_bits && d.row == -1 && d.max_rel == INFINITY);
    double a[] = {3, 4, 0, 0, 0, 0, 0, 0}, b[] = {3, -4, 0, 0, 0, 0, 0, 0};
    A.val_type = LSP_C64, A.val = a, B = A, B.val = b;
    DIFFERENCE(true, false, 0, 0, 8.0 / 5);
    lsp_ctx_destroy(ctx);
}

Test(compare, a_comparison_finds_the_same_place_whatever_the_threads) {
    for (int threads = 1; threads <= 6; threads++) {
        lsp_ctx *ctx = test_ctx(threads);
        lsp_csr A = test_random_csr(ctx, 30000, 500, 200000, (lsp_csr_types){.val_type = LSP_F64}, 5), B;
        must(ctx, lsp_csr_sort(ctx, &A));
        must(ctx, lsp_csr_sum_duplicates(ctx, &A, NULL));
        must(ctx, lsp_csr_copy(ctx, &A, NULL, &B));
        int64_t first = A.nnz / 3, second = A.nnz / 4 * 3;
        lsp_csr_difference d;
        test_set_value(&A, first, 2, 0), test_set_value(&B, first, 3, 0);
        test_set_value(&A, second, 2, 0), test_set_value(&B, second, 3, 0);
        must(ctx, lsp_csr_compare(ctx, &A, &B, &d));
        cr_assert(d.row == lsp_csr_row_of(&A, first) && d.col == lsp_csr_col(&A, first) && d.max_rel == 1.0 / 3);
        lsp_ctx_destroy(ctx);
    }
}
