/* Copies, transposes, permutations and matrices from triples, compared with plain dense results. Every conversion also
 * runs with failing memory. */
#include "tests/orders.h"

static const int64_t sizes[][3] = {{0, 0, 0},   {0, 7, 0},    {7, 0, 0},       {4, 4, 0},
                                   {1, 1, 1},   {5, 3, 40},   {60, 60, 500},   {3, 2000, 4000},
                                   {50, 1, 99}, {1, 50, 999}, {30, 20, 150000}};
enum { size_count = sizeof sizes / sizeof *sizes };

/* ---- copy ---- */

Test(convert, a_copy_in_other_types_holds_the_same_numbers) {
    lsp_ctx *ctx = test_ctx(3);
    for (int c = 0; c < size_count; c++) {
        for (int from = 0; from < test_combinations; from++) {
            lsp_csr A = test_random_csr(ctx, sizes[c][0], sizes[c][1], sizes[c][2], test_types(from), 1), B;
            for (int to = 0; to < test_combinations; to++) {
                lsp_csr_types types = test_types(to);
                bool complex = types.val_type == LSP_C64 && A.val_type != LSP_C64 && A.val_type != LSP_NONE;
                if (complex || (A.val_type == LSP_C64 && types.val_type != LSP_C64 && types.val_type != LSP_NONE)) {
                    must_fail(ctx, LSP_ERR_UNSUPPORTED, "complex", lsp_csr_copy(ctx, &A, &types, &B));
                    continue;
                }
                must(ctx, lsp_csr_copy(ctx, &A, &types, &B));
                lsp_type expected = types.val_type == LSP_NONE ? A.val_type : types.val_type;
                cr_assert(B.rowptr_type == types.rowptr_type && B.col_type == types.col_type);
                cr_assert(B.val_type == expected && B.nnz == A.nnz && B.where == LSP_HOST);
                lsp_csr_difference d;
                must(ctx, lsp_csr_compare(ctx, &A, &B, &d));
                cr_assert(d.same_pattern && d.max_rel == 0 && d.same_bits == (A.val_type == expected));
                lsp_csr_free(ctx, &B);
            }
            must(ctx, lsp_csr_copy(ctx, &A, &(lsp_csr_types){.drop_values = true, .val_type = LSP_F64}, &B));
            cr_assert(B.val_type == LSP_NONE && !B.val && B.rowptr_type == LSP_I32 && B.col_type == LSP_I32);
            lsp_csr_free(ctx, &A);
            lsp_csr_free(ctx, &B);
        }
    }
    lsp_ctx_destroy(ctx);
}

Test(convert, a_copy_rounds_to_nearest_and_refuses_what_does_not_fit) {
    lsp_ctx *ctx = test_ctx(1);
    int32_t rowptr[] = {0, 6}, col[] = {0, 1, 2, 3, 4, 5};
    double val[] = {1 + 0x1p-24, 1 + 0x1.8p-24, -1e300, NAN, -0.0, INFINITY};
    lsp_csr A = TEST_CSR(1, 6, rowptr, col, val), B = {.rows = 42};
    must(ctx, lsp_csr_copy(ctx, &A, &(lsp_csr_types){.val_type = LSP_F32}, &B));
    const float *v = B.val;
    cr_assert(v[0] == 1.0f && v[1] == 1.0f + 0x1p-23f && v[2] == -INFINITY && isnan(v[3]) && v[4] == 0 &&
              signbit(v[4]) && v[5] == INFINITY);
    int64_t wide_col[] = {0, 1, 2, 3, 4, (int64_t)1 << 40};
    A.cols = ((int64_t)1 << 40) + 1;
    A.col = wide_col;
    A.col_type = LSP_I64;
    B = (lsp_csr){.rows = 42};
    must_fail(ctx, LSP_ERR_OVERFLOW, "1099511627777 columns do not fit",
              lsp_csr_copy(ctx, &A, &(lsp_csr_types){.col_type = LSP_I32}, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "type LSP_U32",
              lsp_csr_copy(ctx, &A, &(lsp_csr_types){.rowptr_type = LSP_U32}, &B));
    must_fail(ctx, LSP_ERR_DEVICE, "GPU", lsp_csr_copy(ctx, &A, &(lsp_csr_types){.place = LSP_PLACE_CUDA}, &B));
    cr_assert(B.rows == 42 && !B.rowptr);
    must(ctx, lsp_csr_copy(ctx, &A, NULL, &B));
    cr_assert(B.col_type == LSP_I64 && lsp_csr_col(&B, 5) == (int64_t)1 << 40);
    lsp_ctx_destroy(ctx);
}

/* ---- transpose ---- */

Test(convert, a_transpose_by_hand) {
    lsp_ctx *ctx = test_ctx(1);
    int32_t rowptr[] = {0, 3, 3, 5}, col[] = {2, 0, 2, 2, 1}; /* row 0: unsorted, column 2 twice */
    double val[] = {1, 2, 3, 4, 5};
    int32_t t_rowptr[] = {0, 1, 2, 5, 5}, t_col[] = {0, 2, 0, 0, 2};
    double t_val[] = {2, 5, 1, 3, 4};
    lsp_csr A = TEST_CSR(3, 4, rowptr, col, val), T = TEST_CSR(4, 3, t_rowptr, t_col, t_val), B;
    must(ctx, lsp_csr_transpose(ctx, &A, &B));
    must_be_same(ctx, &B, &T);
    lsp_ctx_destroy(ctx);
}

/* The transpose by definition: appends the entries of A's rows, in order, to the rows of B. */
static lsp_csr transpose_plainly(lsp_ctx *ctx, const lsp_csr *A) {
    lsp_csr B;
    size_t bytes = lsp_type_bytes(A->val_type);
    must(ctx,
         lsp_csr_create(
             ctx, A->cols, A->rows, A->nnz,
             &(lsp_csr_types){.rowptr_type = A->rowptr_type, .col_type = A->col_type, .val_type = A->val_type}, &B));
    int64_t to = 0;
    for (int64_t j = 0; j < A->cols; j++) {
        for (int64_t i = 0; i < A->rows; i++) {
            for (int64_t k = lsp_csr_rowptr(A, i); k < lsp_csr_rowptr(A, i + 1); k++) {
                if (lsp_csr_col(A, k) == j) {
                    lsp_index_set(B.col, B.col_type, to, i);
                    lsp_move_value(B.val, to++, A->val, k, bytes);
                }
            }
        }
        lsp_index_set(B.rowptr, B.rowptr_type, j + 1, to);
    }
    return B;
}

Test(convert, a_transpose_keeps_equal_places_in_order_whatever_the_threads) {
    lsp_ctx *ctx = test_ctx(1);
    for (int c = 0; c < size_count; c++) {
        for (int t = 0; t < test_combinations; t++) {
            if (sizes[c][1] * sizes[c][2] > 5000000) {
                continue; /* the plain transpose is too slow */
            }
            lsp_csr A = test_random_csr(ctx, sizes[c][0], sizes[c][1], sizes[c][2], test_types(t), 2);
            lsp_csr plain = transpose_plainly(ctx, &A);
            for (int threads = 1; threads <= 9; threads += 2) {
                lsp_ctx *other = test_ctx(threads);
                lsp_csr B;
                must(other, lsp_csr_transpose(other, &A, &B));
                must_be_same(other, &B, &plain);
                lsp_ctx_destroy(other);
            }
            lsp_csr_free(ctx, &A);
            lsp_csr_free(ctx, &plain);
        }
    }
    lsp_ctx_destroy(ctx);
}

/* A thread has fewer entries than there are columns, so entries go into buckets first. One bucket gets half of them. */
Test(convert, a_transpose_of_many_columns_does_not_depend_on_the_threads) {
    lsp_ctx *ctx = test_ctx(1), *other = test_ctx(4);
    for (int t = 0; t < test_combinations; t++) {
        lsp_csr A = test_random_csr(ctx, 300, 70001, 140000, test_types(t), 3), plain, B;
        for (int64_t k = 0; k < A.nnz; k += 2) {
            lsp_index_set(A.col, A.col_type, k, 70000 - k % 3);
        }
        must(ctx, lsp_csr_transpose(ctx, &A, &plain));
        must(other, lsp_csr_transpose(other, &A, &B));
        must_be_same(other, &B, &plain);
        lsp_csr_free(ctx, &A);
        lsp_csr_free(ctx, &plain);
    }
    lsp_ctx_destroy(other);
    lsp_ctx_destroy(ctx);
}

Test(convert, twice_transposed_is_sorted) {
    for (int threads = 1; threads <= 5; threads++) {
        lsp_ctx *ctx = test_ctx(threads);
        for (int t = 0; t < test_combinations; t++) {
            lsp_csr A = test_random_csr(ctx, 20000, 3000, 200000, test_types(t), 3), B, C;
            must(ctx, lsp_csr_transpose(ctx, &A, &B));
            must(ctx, lsp_csr_transpose(ctx, &B, &C));
            must(ctx, lsp_csr_sort(ctx, &A));
            must_be_same(ctx, &A, &C);
            lsp_csr_free(ctx, &A);
            lsp_csr_free(ctx, &B);
            lsp_csr_free(ctx, &C);
        }
        lsp_ctx_destroy(ctx);
    }
}

/* ---- permute ---- */

Test(convert, a_permutation_moves_rows_and_columns) {
    for (int threads = 1; threads <= 4; threads += 3) {
        lsp_ctx *ctx = test_ctx(threads);
        for (int c = 0; c < size_count; c++) {
            for (int t = 0; t < test_combinations; t++) {
                lsp_csr A = test_random_csr(ctx, sizes[c][0], sizes[c][1], sizes[c][2], test_types(t), 4), B;
                void *rows = c % 3 == 1 ? NULL : test_order(A.rows, A.col_type, 5);
                void *cols = c % 3 == 2 ? NULL : test_order(A.cols, A.col_type, 6);
                must(ctx, lsp_csr_permute(ctx, &A, rows, cols, LSP_NONE, &B));
                must(ctx, lsp_csr_check(ctx, &B, LSP_CHECK_SORTED));
                cr_assert(B.nnz == A.nnz && B.rowptr_type == A.rowptr_type && B.col_type == A.col_type);
                double *a = test_dense(&A), *b = test_dense(&B);
                for (int64_t i = 0; i < A.rows; i++) {
                    for (int64_t j = 0; j < A.cols; j++) {
                        int64_t from_row = rows ? lsp_index_at(rows, A.col_type, i) : i;
                        int64_t from_col = cols ? lsp_index_at(cols, A.col_type, j) : j;
                        const double *x = &a[2 * (from_row * A.cols + from_col)], *y = &b[2 * (i * A.cols + j)];
                        cr_assert(x[0] == y[0] && x[1] == y[1], "case %d, types %d, at (%ld, %ld)", c, t, (long)i,
                                  (long)j);
                    }
                }
                free(a), free(b), free(rows), free(cols);
                lsp_csr_free(ctx, &A);
                lsp_csr_free(ctx, &B);
            }
        }
        lsp_ctx_destroy(ctx);
    }
}

Test(convert, an_order_that_is_no_permutation_is_refused) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A = test_random_csr(ctx, 3, 4, 6, (lsp_csr_types){0}, 1), B = {.rows = 42};
    must_fail(ctx, LSP_ERR_ARGUMENT, "order of the rows holds 3, not in 0 .. 2",
              lsp_csr_permute(ctx, &A, (int32_t[]){0, 3, 1}, NULL, LSP_NONE, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "order of the rows holds -1",
              lsp_csr_permute(ctx, &A, (int32_t[]){0, -1, 1}, NULL, LSP_NONE, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "order of the columns holds 2 twice",
              lsp_csr_permute(ctx, &A, (int32_t[]){0, 1, 2}, (int32_t[]){0, 2, 1, 2}, LSP_NONE, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "not aligned",
              lsp_csr_permute(ctx, &A, (char *)(int32_t[]){0, 0, 0, 0} + 1, NULL, LSP_NONE, &B));
    cr_assert(B.rows == 42 && !B.rowptr);
    lsp_ctx_destroy(ctx);
}

/* ---- triples ---- */

Test(convert, triples_by_hand) {
    lsp_ctx *ctx = test_ctx(1);
    int32_t row[] = {2, 0, 2, 0, 2, 2}, col[] = {1, 3, 0, 3, 1, 1};
    double val[] = {1e16, 1, 2, 3, 1, -1e16}; /* (2, 1): (1e16 + 1) - 1e16 is 0 in this order only */
    int32_t rowptr[] = {0, 1, 1, 3}, b_col[] = {3, 0, 1};
    double b_val[] = {4, 2, 0};
    lsp_coo A = {
        .rows = 3, .cols = 4, .nnz = 6, .row = row, .col = col, .val = val, .index_type = LSP_I32, .val_type = LSP_F64};
    lsp_csr B, expected = TEST_CSR(3, 4, rowptr, b_col, b_val);
    int64_t duplicates = -1;
    must(ctx, lsp_coo_to_csr(ctx, &A, NULL, &B, &duplicates));
    must_be_same(ctx, &B, &expected);
    cr_assert(duplicates == 3, "%ld", (long)duplicates);
    must(ctx, lsp_coo_to_csr(ctx, &A, &(lsp_csr_types){LSP_I64, LSP_I64, LSP_F32, false, LSP_PLACE_HOST}, &B, NULL));
    cr_assert(B.rowptr_type == LSP_I64 && B.col_type == LSP_I64 && B.val_type == LSP_F32 && B.nnz == 3);
    cr_assert(((float *)B.val)[2] == 0, "sums are taken in the type of the triples");
    must(ctx, lsp_coo_to_csr(ctx, &A, &(lsp_csr_types){.drop_values = true}, &B, NULL));
    cr_assert(B.val_type == LSP_NONE && B.nnz == 3);
    lsp_ctx_destroy(ctx);
}

Test(convert, triples_become_rows_whatever_their_types_and_the_threads) {
    for (int threads = 1; threads <= 7; threads += 3) {
        lsp_ctx *ctx = test_ctx(threads);
        for (int c = 0; c < size_count; c++) {
            for (int t = 0; t < test_combinations; t += 2) {
                lsp_csr_types types = test_types(t);
                lsp_csr R = test_random_csr(ctx, sizes[c][0], sizes[c][1], sizes[c][2], types, 8), B, C;
                /* The entries of R in a random order. A stable sum must add them in that order. */
                int64_t *order = test_order(R.nnz, LSP_I64, 9);
                size_t index_bytes = lsp_type_bytes(R.col_type), val_bytes = lsp_type_bytes(R.val_type);
                char *row = malloc((size_t)R.nnz * index_bytes + 1), *col = malloc((size_t)R.nnz * index_bytes + 1);
                char *val = val_bytes ? malloc((size_t)R.nnz * val_bytes + 1) : NULL;
                for (int64_t k = 0; k < R.nnz; k++) {
                    lsp_index_set(row, R.col_type, k, lsp_csr_row_of(&R, order[k]));
                    lsp_index_set(col, R.col_type, k, lsp_csr_col(&R, order[k]));
                    lsp_move_value(val, k, R.val, order[k], val_bytes);
                }
                lsp_coo A = {R.rows, R.cols, R.nnz, row, col, val, R.col_type, R.val_type, LSP_HOST};
                int64_t duplicates;
                must(ctx, lsp_coo_to_csr(ctx, &A, &types, &B, &duplicates));
                must(ctx, lsp_csr_check(ctx, &B, LSP_CHECK_SORTED | LSP_CHECK_UNIQUE));
                cr_assert(duplicates == R.nnz - B.nnz && B.col_type == R.col_type && B.val_type == R.val_type);
                must(ctx, lsp_csr_sort(ctx, &R)); /* sums of small integers are the same in any order */
                must(ctx, lsp_csr_sum_duplicates(ctx, &R, NULL));
                must(ctx, lsp_csr_copy(ctx, &B, &types, &C));
                must_be_same(ctx, &R, &C);
                free(order), free(row), free(col), free(val);
                lsp_csr_free(ctx, &R);
                lsp_csr_free(ctx, &B);
                lsp_csr_free(ctx, &C);
            }
        }
        lsp_ctx_destroy(ctx);
    }
}

Test(convert, triples_that_are_wrong_are_refused) {
    lsp_ctx *ctx = test_ctx(2);
    int32_t row[] = {0, 1, 2}, col[] = {0, 1, 2};
    double val[] = {1, 2, 3};
    const lsp_coo good = {3, 3, 3, row, col, val, LSP_I32, LSP_F64, LSP_HOST};
    lsp_csr B = {.rows = 42};
    int64_t duplicates = 42;
#define REFUSED(code, part, change)                                                                                    \
    do {                                                                                                               \
        lsp_coo A = good;                                                                                              \
        change;                                                                                                        \
        must_fail(ctx, code, part, lsp_coo_to_csr(ctx, &A, NULL, &B, &duplicates));                                    \
    } while (0)
    REFUSED(LSP_ERR_ARGUMENT, "negative", A.rows = -1);
    REFUSED(LSP_ERR_ARGUMENT, "negative", A.cols = -1);
    REFUSED(LSP_ERR_ARGUMENT, "-3 triples", A.nnz = -3);
    REFUSED(LSP_ERR_ARGUMENT, "indices of type LSP_F64", A.index_type = LSP_F64);
    REFUSED(LSP_ERR_ARGUMENT, "indices of type LSP_NONE", A.index_type = LSP_NONE);
    REFUSED(LSP_ERR_ARGUMENT, "values of type LSP_U64", A.val_type = LSP_U64);
    REFUSED(LSP_ERR_ARGUMENT, "val is not NULL", A.val_type = LSP_NONE);
    REFUSED(LSP_ERR_ARGUMENT, "val is NULL", A.val = NULL);
    REFUSED(LSP_ERR_ARGUMENT, "row or col is NULL", A.row = NULL);
    REFUSED(LSP_ERR_ARGUMENT, "row or col is NULL", A.col = NULL);
    REFUSED(LSP_ERR_ARGUMENT, "not aligned", A.row = (char *)row + 1);
    REFUSED(LSP_ERR_ARGUMENT, "not aligned", A.val = (char *)val + 1);
    REFUSED(LSP_ERR_FORMAT, "triple 2 is at row 2, column 2: outside 2 x 3", A.rows = 2);
    REFUSED(LSP_ERR_FORMAT, "triple 0 is at row 0, column 0: outside 3 x 0", A.cols = 0);
    row[1] = -1;
    REFUSED(LSP_ERR_FORMAT, "triple 1 is at row -1", (void)A);
    row[1] = 1, col[0] = INT32_MAX;
    REFUSED(LSP_ERR_FORMAT, "triple 0 is at row 0, column 2147483647", (void)A);
    col[0] = 0;
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_coo_to_csr(ctx, NULL, NULL, &B, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_coo_to_csr(ctx, &good, NULL, NULL, NULL));
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "complex",
              lsp_coo_to_csr(ctx, &good, &(lsp_csr_types){.val_type = LSP_C64}, &B, NULL));
    cr_assert(lsp_coo_to_csr(NULL, &good, NULL, &B, NULL) == LSP_ERR_ARGUMENT);
    cr_assert(B.rows == 42 && !B.rowptr && duplicates == 42);
    must(ctx, lsp_coo_to_csr(ctx, &(lsp_coo){.rows = 2, .index_type = LSP_I32}, NULL, &B, NULL));
    cr_assert(B.rows == 2 && B.nnz == 0 && B.val_type == LSP_NONE);
    lsp_ctx_destroy(ctx);
}

/* ---- memory ---- */

typedef struct inputs {
    int64_t n, nnz;
} inputs;

/* Runs all conversions of this file on a matrix large enough for several threads. */
static lsp_status convert_everything(lsp_ctx *ctx, void *data) {
    const inputs *in = data;
    int64_t *row = malloc((size_t)in->nnz * sizeof *row), *col = malloc((size_t)in->nnz * sizeof *col);
    for (int64_t k = 0; k < in->nnz; k++) {
        row[k] = k * 7919 % in->n;
        col[k] = k * 104729 % in->n;
    }
    lsp_csr A = {.rows = 42}, B = A;
    int64_t duplicates = 42;
    lsp_csr_types wide = {LSP_I64, LSP_I64, LSP_NONE, false, LSP_PLACE_HOST};
    lsp_coo coo = {in->n, in->n, in->nnz, row, col, NULL, LSP_I64, LSP_NONE, LSP_HOST};
    lsp_status status = lsp_coo_to_csr(ctx, &coo, &wide, &A, &duplicates);
    free(row), free(col);
    if (status != LSP_OK) {
        cr_assert(A.rows == 42 && !A.rowptr && duplicates == 42);
        return status;
    }
    int32_t order[] = {2, 0, 1};
    lsp_csr small = {
        .rows = 3, .cols = 3, .nnz = 0, .rowptr = (int32_t[]){0, 0, 0, 0}, .rowptr_type = LSP_I32, .col_type = LSP_I32};
    lsp_csr_difference d = {.row = 42};
    for (int step = 0; step < 5 && status == LSP_OK; step++) {
        B = (lsp_csr){.rows = 42};
        status = step == 0   ? lsp_csr_copy(ctx, &A, NULL, &B)
                 : step == 1 ? lsp_csr_transpose(ctx, &A, &B)
                 : step == 2 ? lsp_csr_permute(ctx, &small, order, order, LSP_NONE, &B)
                 : step == 3 ? lsp_csr_expand(ctx, &A, LSP_SYMMETRY_SYMMETRIC, &B)
                             : lsp_csr_compare(ctx, &A, &A, &d);
        cr_assert(status == LSP_OK || (B.rows == 42 && !B.rowptr && d.row == 42), "step %d wrote its output", step);
    }
    return status;
}

Test(convert, failing_memory_leaves_nothing_behind) {
    test_failing_memory(3, convert_everything, &(inputs){50, 500});
    test_failing_memory(3, convert_everything, &(inputs){1000, 200000});
}
