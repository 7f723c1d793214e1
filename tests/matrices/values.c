/* Values scaled, mapped, multiplied entry by entry, and diagonals, against plain loops. */
#include "odd_values.h"

/* n random values of a type; NULL for a pattern. */
static void *vector(int64_t n, lsp_type type, uint64_t seed) {
    void *values = malloc((size_t)n * 16 + 1);
    for (int64_t i = 0; i < n; i++) {
        lsp_value_set(type, values, i,
                      lsp_value_from((double)test_below(&seed, 9) - 4, (double)test_below(&seed, 5) - 2));
    }
    return values;
}

Test(values, a_matrix_is_scaled_by_rows_and_columns) {
    for (int c = 0; c < size_count; c++) {
        for (int t = 0; t < 4 * test_combinations; t++) {
            lsp_ctx *ctx = test_ctx(1 + t % 3);
            lsp_csr A = test_random_csr(ctx, sizes[c][0], sizes[c][1], sizes[c][2], test_types(t / 4), 2), B;
            if (A.val_type == LSP_NONE) {
                must_fail(ctx, LSP_ERR_UNSUPPORTED, "pattern", lsp_csr_scale(ctx, &A, NULL, NULL));
                lsp_ctx_destroy(ctx);
                continue;
            }
            void *rows = vector(A.rows, A.val_type, 3), *cols = vector(A.cols, A.val_type, 4);
            set_odd_values(&A, 5);
            must(ctx, lsp_csr_copy(ctx, &A,
                                   &(lsp_csr_types){A.rowptr_type, A.col_type, LSP_NONE, false, LSP_PLACE_HOST}, &B));
            must(ctx, lsp_csr_scale(ctx, &B, t & 1 ? rows : NULL, t & 2 ? cols : NULL));
            for (int64_t k = 0; k < A.nnz; k++) {
                const lsp_value a = lsp_value_at(&A, k), b = lsp_value_at(&B, k);
                lsp_value x = a;
                for (int side = 0; side < 2; side++) {
                    if (t >> side & 1) {
                        const lsp_value f = side == 0 ? lsp_value_of(A.val_type, rows, lsp_csr_row_of(&A, k))
                                                      : lsp_value_of(A.val_type, cols, lsp_csr_col(&A, k));
                        x = A.val_type == LSP_C64 ? lsp_value_from(x.re * f.re - x.im * f.im, x.re * f.im + x.im * f.re)
                                                  : lsp_value_from(rounded(A.val_type, x.re * f.re), 0);
                    }
                }
                cr_assert(same_number(b.re, x.re) && same_number(b.im, x.im), "%g, not %g", b.re, x.re);
            }
            free(rows), free(cols);
            lsp_ctx_destroy(ctx);
        }
    }
}

/* (2, 3, 5) by itself: the values that serve as factors do not change under way. */
Test(values, a_matrix_is_scaled_by_its_own_values) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr D;
    must(ctx, lsp_csr_from_diagonal(ctx, 3, (const double[]){2, 3, 5}, LSP_F64, LSP_HOST, &D));
    must(ctx, lsp_csr_scale(ctx, &D, D.val, D.val));
    const double *val = D.val;
    cr_assert(val[0] == 8 && val[1] == 27 && val[2] == 125);
    lsp_ctx_destroy(ctx);
}

static double plainly(lsp_function f, double parameter, double a) {
    switch (f) {
    case LSP_APPLY_ABS:
        return fabs(a);
    case LSP_APPLY_NEGATE:
        return -a;
    case LSP_APPLY_RECIPROCAL:
        return 1 / a;
    case LSP_APPLY_SQRT:
        return sqrt(a);
    case LSP_APPLY_SIGN:
        return a > 0 ? 1 : a < 0 ? -1 : a;
    case LSP_APPLY_CONJUGATE:
        return a;
    case LSP_APPLY_MULTIPLY:
        return parameter * a;
    case LSP_APPLY_ADD:
        return a + parameter;
    case LSP_APPLY_POWER:
        return pow(a, parameter);
    default:
        return parameter;
    }
}

Test(values, functions_are_applied_to_every_value) {
    static const double parameters[] = {3, 0.5, -2};
    lsp_ctx *ctx = test_ctx(2);
    for (int f = 0; f < LSP_FUNCTIONS; f++) {
        for (int kind = 0; kind < 6; kind++) {
            const lsp_type type = kind & 1 ? LSP_F32 : LSP_F64;
            const double parameter = parameters[kind / 2];
            lsp_csr A = test_random_csr(ctx, 60, 70, 900, (lsp_csr_types){.val_type = type}, 2), B;
            set_odd_values(&A, 7);
            must(ctx, lsp_csr_copy(ctx, &A, NULL, &B));
            must(ctx, lsp_csr_apply(ctx, &B, (lsp_function)f, parameter));
            for (int64_t k = 0; k < A.nnz; k++) {
                const double a = lsp_value_at(&A, k).re, b = lsp_value_at(&B, k).re;
                const double x = rounded(type, plainly((lsp_function)f, parameter, a));
                const bool near = f == LSP_APPLY_POWER && fabs(b - x) <= fabs(x) * (type == LSP_F32 ? 1e-7 : 1e-15);
                cr_assert(same_number(b, x) || near, "function %d of %g: %.17g, not %.17g", f, a, b, x);
            }
            lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &B);
        }
    }
    lsp_ctx_destroy(ctx);
}

Test(values, complex_values_are_mapped_as_far_as_it_makes_sense) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A, B;
    must(ctx, lsp_csr_create(ctx, 1, 2, 2, &(lsp_csr_types){.val_type = LSP_C64}, &A));
    lsp_index_set(A.rowptr, A.rowptr_type, 1, 2);
    for (int64_t k = 0; k < 2; k++) {
        lsp_index_set(A.col, A.col_type, k, k);
        test_set_value(&A, k, 3, k ? 4 : -4);
    }
    static const struct {
        lsp_function f;
        double re, im; /* of 3 + 4i */
    } known[] = {{LSP_APPLY_ABS, 5, 0},        {LSP_APPLY_NEGATE, -3, -4}, {LSP_APPLY_RECIPROCAL, 0.12, -0.16},
                 {LSP_APPLY_CONJUGATE, 3, -4}, {LSP_APPLY_MULTIPLY, 6, 8}, {LSP_APPLY_ADD, 5, 4},
                 {LSP_APPLY_CONSTANT, 2, 0}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        must(ctx, lsp_csr_copy(ctx, &A, NULL, &B));
        must(ctx, lsp_csr_apply(ctx, &B, known[i].f, 2));
        const lsp_value b = lsp_value_at(&B, 1);
        cr_assert(fabs(b.re - known[i].re) < 1e-15 && fabs(b.im - known[i].im) < 1e-15, "%d: %g %g", known[i].f, b.re,
                  b.im);
        lsp_csr_free(ctx, &B);
    }
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "complex", lsp_csr_apply(ctx, &A, LSP_APPLY_SQRT, 0));
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "complex", lsp_csr_apply(ctx, &A, LSP_APPLY_POWER, 2));
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "no smallest", lsp_csr_reduce(ctx, &A, LSP_REDUCE_MIN, LSP_REDUCE_ALL, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "function 10", lsp_csr_apply(ctx, &A, (lsp_function)LSP_FUNCTIONS, 2));
    lsp_ctx_destroy(ctx);
}

static lsp_status double_row(void *user, int64_t row, int64_t n, const void *col, void *val) {
    (void)col;
    for (int64_t k = 0; k < n; k++) {
        ((double *)val)[k] = (double)row;
    }
    return --*(int64_t *)user == 0 ? LSP_ERR_CONVERGENCE : LSP_OK;
}

Test(values, a_function_of_the_caller_changes_rows_until_it_fails) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A;
    must(ctx, lsp_generate(ctx, "poisson2d:4", 1, NULL, &A));
    int64_t left = 100;
    must(ctx, lsp_csr_each_row(ctx, &A, double_row, &left));
    cr_assert_eq(left, 84);
    for (int64_t k = 0; k < A.nnz; k++) {
        cr_assert_eq(lsp_value_at(&A, k).re, (double)lsp_csr_row_of(&A, k));
    }
    left = 3;
    must_fail(ctx, LSP_ERR_CONVERGENCE, "stopped at row 2", lsp_csr_each_row(ctx, &A, double_row, &left));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_each_row(ctx, &A, NULL, NULL));
    lsp_ctx_destroy(ctx);
}

Test(values, a_diagonal_is_taken_and_made) {
    for (int c = 0; c < size_count; c++) {
        for (int t = 0; t < test_combinations; t++) {
            lsp_ctx *ctx = test_ctx(2);
            lsp_csr A = test_random_csr(ctx, sizes[c][0], sizes[c][1], sizes[c][2], test_types(t), 2), D, B;
            const int64_t n = lsp_min(A.rows, A.cols);
            const lsp_type type = A.val_type == LSP_NONE ? LSP_F64 : A.val_type;
            void *diagonal = vector(n, type, 1);
            must(ctx, lsp_csr_diagonal(ctx, &A, diagonal));
            for (int64_t i = 0; i < n; i++) {
                lsp_value sum = lsp_value_from(0, 0);
                for (int64_t k = lsp_csr_rowptr(&A, i); k < lsp_csr_rowptr(&A, i + 1); k++) {
                    if (lsp_csr_col(&A, k) == i) {
                        sum.re = rounded(type, sum.re + lsp_value_at(&A, k).re);
                        sum.im += lsp_value_at(&A, k).im;
                    }
                }
                const lsp_value d = lsp_value_of(type, diagonal, i);
                cr_assert(d.re == sum.re && d.im == sum.im);
            }
            must(ctx, lsp_csr_from_diagonal(ctx, n, diagonal, type, LSP_HOST, &D));
            must(ctx, lsp_csr_check(ctx, &D, LSP_CHECK_SORTED | LSP_CHECK_UNIQUE));
            cr_assert(D.nnz == n && D.rows == n && D.cols == n &&
                      (n == 0 || memcmp(D.val, diagonal, (size_t)n * lsp_type_bytes(type)) == 0));
            must(ctx, lsp_csr_from_diagonal(ctx, n, NULL, t & 1 ? LSP_NONE : type, LSP_HOST, &B));
            for (int64_t i = 0; i < n; i++) {
                cr_assert(lsp_csr_col(&B, i) == i && lsp_value_at(&B, i).re == 1 && lsp_value_at(&B, i).im == 0);
            }
            free(diagonal);
            lsp_ctx_destroy(ctx);
        }
    }
}

Test(values, entries_are_multiplied_where_both_matrices_have_one) {
    for (int c = 0; c < size_count - 1; c++) {
        for (int t = 0; t < test_combinations; t++) {
            for (int u = 0; u < test_combinations; u += 3) {
                lsp_ctx *ctx = test_ctx(2);
                const int64_t m = sizes[c][0], n = sizes[c][1], nnz = sizes[c][2];
                lsp_csr A = test_random_csr(ctx, m, n, nnz, test_types(t), 2),
                        B = test_random_csr(ctx, m, n, nnz, test_types(u), 3);
                lsp_csr C;
                must(ctx, lsp_csr_hadamard(ctx, &A, &B, &C));
                must(ctx, lsp_csr_check(ctx, &C, LSP_CHECK_SORTED | LSP_CHECK_UNIQUE));
                cr_assert(C.rows == m && C.cols == n);
                for (int64_t i = 0, at = 0; i < m; i++) {
                    for (int64_t j = 0; j < n; j++) {
                        lsp_value sum[2] = {lsp_value_from(0, 0), lsp_value_from(0, 0)};
                        bool there[2] = {false, false};
                        const lsp_csr *factor[2] = {&A, &B};
                        for (int f = 0; f < 2; f++) {
                            for (int64_t k = lsp_csr_rowptr(factor[f], i); k < lsp_csr_rowptr(factor[f], i + 1); k++) {
                                if (lsp_csr_col(factor[f], k) == j) {
                                    const lsp_value v = lsp_value_at(factor[f], k);
                                    const bool pattern = C.val_type == LSP_NONE;
                                    sum[f].re = pattern ? 1 : rounded(factor[f]->val_type, sum[f].re + v.re);
                                    sum[f].im += v.im;
                                    there[f] = true;
                                }
                            }
                        }
                        if (there[0] && there[1]) {
                            const lsp_value x = lsp_value_at(&C, at);
                            cr_assert(lsp_csr_row_of(&C, at) == i && lsp_csr_col(&C, at) == j);
                            cr_assert_eq(x.re, rounded(C.val_type, sum[0].re * sum[1].re - sum[0].im * sum[1].im));
                            cr_assert_eq(x.im, sum[0].re * sum[1].im + sum[0].im * sum[1].re);
                            at++;
                        }
                    }
                }
                lsp_ctx_destroy(ctx);
            }
        }
    }
}

/* ---- refusals and memory ---- */

Test(values, what_makes_no_sense_is_refused) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A = test_random_csr(ctx, 3, 4, 6, (lsp_csr_types){.val_type = LSP_F64}, 1), C = {.rows = 42}, W = A;
    double x[8] = {0};
    W.cols = 5;
    must_fail(ctx, LSP_ERR_ARGUMENT, "3 x 4 and B 3 x 5", lsp_csr_hadamard(ctx, &A, &W, &C));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_hadamard(ctx, &A, &A, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "reduction 7",
              lsp_csr_reduce(ctx, &A, (lsp_reduction)LSP_REDUCTIONS, LSP_REDUCE_ALL, x));
    must_fail(ctx, LSP_ERR_ARGUMENT, "axis 3", lsp_csr_reduce(ctx, &A, LSP_REDUCE_SUM, (lsp_axis)3, x));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_reduce(ctx, &A, LSP_REDUCE_SUM, LSP_REDUCE_ALL, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_csr_diagonal(ctx, &A, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "aligned", lsp_csr_diagonal(ctx, &A, (char *)x + 4));
    must_fail(ctx, LSP_ERR_ARGUMENT, "aligned", lsp_csr_scale(ctx, &A, (char *)x + 4, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "-1", lsp_csr_from_diagonal(ctx, -1, NULL, LSP_F64, LSP_HOST, &C));
    must_fail(ctx, LSP_ERR_ARGUMENT, "LSP_U32", lsp_csr_from_diagonal(ctx, 3, NULL, LSP_U32, LSP_HOST, &C));
    must_fail(ctx, LSP_ERR_ARGUMENT, "pattern", lsp_csr_from_diagonal(ctx, 3, x, LSP_NONE, LSP_HOST, &C));
    lsp_index_set(A.col, A.col_type, 2, 4);
    must_fail(ctx, LSP_ERR_FORMAT, "column", lsp_csr_hadamard(ctx, &A, &A, &C));
    must_fail(ctx, LSP_ERR_FORMAT, "column", lsp_csr_scale(ctx, &A, x, x));
    must_fail(ctx, LSP_ERR_FORMAT, "column", lsp_csr_reduce(ctx, &A, LSP_REDUCE_SUM, LSP_REDUCE_EACH_COL, x));
    cr_assert(C.rows == 42 && C.rowptr == NULL);
    cr_assert_eq(lsp_csr_hadamard(NULL, &A, &A, &C), LSP_ERR_ARGUMENT);
    lsp_ctx_destroy(ctx);
}

static lsp_status use_memory(lsp_ctx *ctx, void *data) {
    const lsp_csr *A = data;
    double sums[64];
    lsp_csr C = {.rows = 42}, D = {.rows = 42};
    lsp_status status = lsp_csr_hadamard(ctx, A, A, &C);
    cr_assert(status == LSP_OK || (C.rows == 42 && C.rowptr == NULL));
    status = status == LSP_OK ? lsp_csr_reduce(ctx, A, LSP_REDUCE_SUM, LSP_REDUCE_EACH_COL, sums) : status;
    status = status == LSP_OK ? lsp_csr_from_diagonal(ctx, 30, NULL, LSP_F64, LSP_HOST, &D) : status;
    cr_assert(status == LSP_OK || (D.rows == 42 && D.rowptr == NULL));
    return status;
}

Test(values, memory_that_does_not_suffice_leaves_outputs_alone) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A = test_random_csr(ctx, 50, 60, 700, (lsp_csr_types){.val_type = LSP_F64}, 1);
    test_failing_memory(2, use_memory, &A);
    lsp_ctx_destroy(ctx);
}
