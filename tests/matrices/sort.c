/* Rows of CSR matrices: sorted, equal neighbours summed. */
#include "tests/matrices.h"

/* Insertion sort of each row, stable: what lsp_csr_sort must do. */
static void sort_plainly(const lsp_csr *A) {
    size_t bytes = lsp_type_bytes(A->val_type);
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t k = lsp_csr_rowptr(A, i) + 1; k < lsp_csr_rowptr(A, i + 1); k++) {
            int64_t column = lsp_csr_col(A, k), to = k;
            char value[16];
            lsp_move_value(value, 0, A->val, k, bytes);
            for (; to > lsp_csr_rowptr(A, i) && lsp_csr_col(A, to - 1) > column; to--) {
                lsp_index_set(A->col, A->col_type, to, lsp_csr_col(A, to - 1));
                lsp_move_value(A->val, to, A->val, to - 1, bytes);
            }
            lsp_index_set(A->col, A->col_type, to, column);
            lsp_move_value(A->val, to, value, 0, bytes);
        }
    }
}

Test(sort, rows_are_sorted_stably) {
    for (int threads = 1; threads <= 3; threads++) {
        lsp_ctx *ctx = test_ctx(threads);
        const int64_t sizes[][3] = {{0, 0, 0},  {0, 5, 0},       {5, 0, 0},   {1, 1, 1},
                                    {3, 2, 40}, {300, 50, 5000}, {1, 7, 3000}};
        for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++) {
            for (int t = 0; t < test_combinations; t++) {
                lsp_csr_types types = test_types(t);
                lsp_csr A = test_random_csr(ctx, sizes[c][0], sizes[c][1], sizes[c][2], types, c), B;
                must(ctx, lsp_csr_copy(ctx, &A, &types, &B));
                sort_plainly(&B);
                must(ctx, lsp_csr_sort(ctx, &A));
                must_be_same(ctx, &A, &B);
                must(ctx, lsp_csr_sort(ctx, &A));
                must_be_same(ctx, &A, &B);
            }
        }
        lsp_ctx_destroy(ctx);
    }
}

/* One entry after the other into a fresh matrix: what lsp_csr_sum_duplicates must do. */
static int64_t sum_plainly(lsp_csr *A) {
    int64_t to = 0, start = 0, before = A->nnz;
    for (int64_t i = 0; i < A->rows; i++) {
        int64_t row = to, stop = lsp_csr_rowptr(A, i + 1);
        for (int64_t k = start; k < stop; k++) {
            lsp_value v = lsp_value_at(A, k);
            if (to > row && lsp_csr_col(A, to - 1) == lsp_csr_col(A, k)) {
                lsp_value sum = lsp_value_at(A, to - 1);
                test_set_value(A, to - 1, sum.re + v.re, sum.im + v.im);
            } else {
                lsp_index_set(A->col, A->col_type, to, lsp_csr_col(A, k));
                test_set_value(A, to++, v.re, v.im);
            }
        }
        start = stop;
        lsp_index_set(A->rowptr, A->rowptr_type, i + 1, to);
    }
    A->nnz = to;
    return before - to;
}

Test(sort, equal_neighbours_are_summed_in_order) {
    for (int threads = 1; threads <= 7; threads += 2) {
        lsp_ctx *ctx = test_ctx(threads);
        const int64_t sizes[][3] = {{0, 3, 0}, {1, 1, 500}, {40, 9, 300}, {20000, 3, 150000}, {3, 20, 100000}};
        for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++) {
            for (int t = 0; t < test_combinations; t++) {
                lsp_csr_types types = test_types(t);
                lsp_csr A = test_random_csr(ctx, sizes[c][0], sizes[c][1], sizes[c][2], types, c + 9), B;
                must(ctx, lsp_csr_sort(ctx, &A));
                for (int64_t k = 0; k < A.nnz; k++) { /* sums that depend on their order */
                    test_set_value(&A, k, 1.0 / (double)(k + 1), 1.0 / (double)(k + 3));
                }
                must(ctx, lsp_csr_copy(ctx, &A, &types, &B));
                int64_t merged = -1, plainly = sum_plainly(&B);
                must(ctx, lsp_csr_sum_duplicates(ctx, &A, &merged));
                cr_assert(merged == plainly && A.nnz == B.nnz, "%ld merged, not %ld", (long)merged, (long)plainly);
                must_be_same(ctx, &A, &B);
                must(ctx, lsp_csr_sum_duplicates(ctx, &A, NULL));
                must_be_same(ctx, &A, &B);
                lsp_csr_free(ctx, &A);
                lsp_csr_free(ctx, &B);
            }
        }
        lsp_ctx_destroy(ctx);
    }
}

static lsp_status create_and_sort(lsp_ctx *ctx, void *data) {
    (void)data;
    lsp_csr A = {.rows = 42}, copy;
    lsp_status status = lsp_csr_create(ctx, 30, 30, 900, &(lsp_csr_types){.val_type = LSP_F64}, &A);
    if (status != LSP_OK) {
        cr_assert(A.rows == 42 && !A.rowptr);
        return status;
    }
    for (int k = 0; k < 900; k++) {
        lsp_index_set(A.rowptr, LSP_I32, k / 30 + 1, k / 30 * 30 + 30);
        lsp_index_set(A.col, LSP_I32, k, k * 7 % 15);
        ((double *)A.val)[k] = k;
    }
    int32_t columns[900];
    memcpy(columns, A.col, sizeof columns);
    copy = A;
    if ((status = lsp_csr_check(ctx, &A, LSP_CHECK_UNIQUE)) == LSP_ERR_MEMORY) {
        return status;
    }
    if ((status = lsp_csr_sort(ctx, &A)) != LSP_OK) {
        cr_assert(memcmp(columns, A.col, sizeof columns) == 0, "a failed sort moved entries");
        return status;
    }
    if ((status = lsp_csr_sum_duplicates(ctx, &A, NULL)) != LSP_OK) {
        cr_assert(memcmp(&A, &copy, sizeof A) == 0, "a failed sum changed the matrix");
        return status;
    }
    cr_assert(A.nnz == 450);
    return LSP_OK;
}

Test(sort, failing_memory_leaves_nothing_behind) { test_failing_memory(2, create_and_sort, NULL); }
