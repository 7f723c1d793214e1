/* Values scaled, mapped, multiplied entry by entry and reduced, and diagonals, against plain loops. */
#include "tests/orders.h"
#include <math.h>

static const int64_t sizes[][3] = {{0, 0, 0}, {0, 5, 0},  {5, 0, 0},     {4, 4, 0},
                                   {1, 1, 3}, {7, 5, 30}, {60, 70, 900}, {3, 9, 20000}};
enum { size_count = sizeof sizes / sizeof *sizes };

static const double odd[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e300, -1e-300, 3, -2.5};
static double odd_value(uint64_t *state) {
    const int64_t pick = test_below(state, 40);
    return pick < 9 ? odd[pick] : (double)test_below(state, 2000) / 64 - 15;
}
static void set_odd_values(const lsp_csr *A, uint64_t seed) {
    for (int64_t k = 0; k < A->nnz; k++) {
        test_set_value(A, k, odd_value(&seed), odd_value(&seed));
    }
}

/* Equal numbers, or both NaN; +0 is not -0. */
static bool same_number(double a, double b) { return a == b ? signbit(a) == signbit(b) : a != a && b != b; }
static double rounded(lsp_type type, double x) { return type == LSP_F32 ? (double)(float)x : x; }

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

/* ---- reductions ---- */

/* The sum of a list by the rule of values/number.h, written down once more. */
static double joined(bool largest, const double *x, int64_t n) {
    if (n > 4096) {
        const int64_t pieces = (n + 4095) / 4096;
        double *sums = malloc((size_t)pieces * sizeof *sums);
        for (int64_t p = 0; p < pieces; p++) {
            sums[p] = joined(largest, x + 4096 * p, lsp_min(n - 4096 * p, 4096));
        }
        const double all = joined(largest, sums, pieces);
        free(sums);
        return all;
    }
    double lane[32];
    for (int l = 0; l < 32; l++) {
        lane[l] = largest ? -INFINITY : -0.0;
        for (int64_t k = l; k < n; k += 32) {
            lane[l] = !largest                             ? lane[l] + x[k]
                      : lane[l] != lane[l] || x[k] != x[k] ? (double)NAN
                                                           : fmax(lane[l], x[k]);
        }
    }
    for (int half = 16; half > 0; half /= 2) {
        for (int l = 0; l < half; l++) {
            const double a = lane[l], b = lane[l + half];
            lane[l] = !largest ? a + b : a != a || b != b ? (double)NAN : fmax(a, b);
        }
    }
    return lane[0];
}

static double term(lsp_reduction r, lsp_value v) {
    const double size = v.im != 0 ? sqrt(v.re * v.re + v.im * v.im) : fabs(v.re);
    return r == LSP_REDUCE_MIN                          ? -v.re
           : r == LSP_REDUCE_SUM || r == LSP_REDUCE_MAX ? v.re
           : r == LSP_REDUCE_NORM2                      ? v.re * v.re + v.im * v.im
                                                        : size;
}

/* The entries of row, of column, or all, of A in the order of rows, reduced. */
static double plain_reduction(const lsp_csr *A, lsp_reduction r, lsp_axis axis, int64_t at, int64_t *count) {
    double *terms = malloc((size_t)A->nnz * sizeof *terms + 1);
    int64_t n = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t k = lsp_csr_rowptr(A, i); k < lsp_csr_rowptr(A, i + 1); k++) {
            if (axis == LSP_REDUCE_ALL || (axis == LSP_REDUCE_EACH_ROW ? i : lsp_csr_col(A, k)) == at) {
                terms[n++] = term(r, lsp_value_at(A, k));
            }
        }
    }
    const bool largest = r == LSP_REDUCE_MIN || r == LSP_REDUCE_MAX || r == LSP_REDUCE_NORM_MAX;
    double x = n > 0 ? joined(largest, terms, n) : largest && r != LSP_REDUCE_NORM_MAX ? -INFINITY : 0;
    free(terms);
    *count = n;
    return r == LSP_REDUCE_MIN ? -x : r == LSP_REDUCE_NORM2 ? sqrt(x) : x;
}

Test(values, reductions_follow_one_order_of_joining) {
    for (int c = 0; c < size_count; c++) {
        for (int t = 0; t < test_combinations; t++) {
            for (int r = 0; r < LSP_REDUCTIONS; r++) {
                for (int axis = 0; axis < 3; axis++) {
                    lsp_ctx *ctx = test_ctx(1 + t % 3);
                    lsp_csr A = test_random_csr(ctx, sizes[c][0], sizes[c][1], sizes[c][2], test_types(t), 2);
                    const int64_t n = axis == LSP_REDUCE_ALL ? 1 : axis == LSP_REDUCE_EACH_ROW ? A.rows : A.cols;
                    void *results = malloc((size_t)n * 16 + 1);
                    if (A.val_type == LSP_C64 && (r == LSP_REDUCE_MIN || r == LSP_REDUCE_MAX)) {
                        free(results);
                        lsp_ctx_destroy(ctx);
                        continue;
                    }
                    for (int64_t k = 0; k < A.nnz; k++) { /* sums that depend on their order */
                        test_set_value(&A, k, 1.0 / (double)(k % 97 + 1) - 0.3, A.val_type == LSP_C64 ? 0.25 : 0);
                    }
                    must(ctx, lsp_csr_reduce(ctx, &A, (lsp_reduction)r, (lsp_axis)axis, results));
                    for (int64_t i = 0; i < n; i++) {
                        int64_t count;
                        const double x = plain_reduction(&A, (lsp_reduction)r, (lsp_axis)axis, i, &count);
                        if (r == LSP_REDUCE_COUNT) {
                            cr_assert_eq(((int64_t *)results)[i], count);
                        } else if (A.val_type == LSP_C64 && r == LSP_REDUCE_SUM) {
                            cr_assert_eq(((double *)results)[2 * i], x);
                            cr_assert_eq(((double *)results)[2 * i + 1], 0.25 * (double)count);
                        } else if (A.val_type == LSP_F32) {
                            cr_assert_eq(((float *)results)[i], (float)x);
                        } else { /* a modulus may be rounded in another way here */
                            const double y = ((double *)results)[i];
                            cr_assert(y == x || (A.val_type == LSP_C64 && fabs(y - x) <= 1e-15 * x),
                                      "%d: %.17g, not %.17g", r, y, x);
                        }
                    }
                    free(results);
                    lsp_ctx_destroy(ctx);
                }
            }
        }
    }
}

/* Rows of every length up to 70, and about the length of a piece and of two. */
Test(values, rows_of_all_lengths_are_reduced_in_that_order) {
    enum { SHORT = 71, ROWS = SHORT + 6, MOST = 40000 };
    static const int longer[] = {4095, 4096, 4097, 8191, 8192, 8193};
    lsp_ctx *ctx = test_ctx(3);
    int32_t rowptr[ROWS + 1] = {0}, *col = calloc(MOST, sizeof *col);
    double *values = malloc(MOST * sizeof *values), results[ROWS];
    for (int i = 0; i < ROWS; i++) {
        rowptr[i + 1] = rowptr[i] + (i < SHORT ? i : longer[i - SHORT]);
    }
    for (int32_t k = 0; k < rowptr[ROWS]; k++) {
        values[k] = 1.0 / (double)(k % 97 + 1) - 0.3;
    }
    const lsp_csr A = {ROWS, 1, rowptr[ROWS], rowptr, col, values, LSP_I32, LSP_I32, LSP_F64, LSP_HOST};
    for (int r = 0; r < LSP_REDUCTIONS; r++) {
        for (int i = 0; i < ROWS && r != LSP_REDUCE_COUNT; i++) {
            int64_t count;
            must(ctx, i > 0 ? LSP_OK : lsp_csr_reduce(ctx, &A, (lsp_reduction)r, LSP_REDUCE_EACH_ROW, results));
            const double x = plain_reduction(&A, (lsp_reduction)r, LSP_REDUCE_EACH_ROW, i, &count);
            cr_assert(results[i] == x, "reduction %d of %lld values: %.17g, not %.17g", r, (long long)count, results[i],
                      x);
        }
    }
    free(values);
    free(col);
    lsp_ctx_destroy(ctx);
}

Test(values, odd_numbers_are_reduced_as_they_should) {
    lsp_ctx *ctx = test_ctx(1);
    static const struct {
        double values[3];
        double sum, smallest, largest, norm1, norm2, norm_max;
    } cases[] = {{{-0.0, -0.0, -0.0}, -0.0, -0.0, -0.0, 0, 0, 0},
                 {{1, NAN, 2}, NAN, NAN, NAN, NAN, NAN, NAN},
                 {{INFINITY, 1, -INFINITY}, NAN, -INFINITY, INFINITY, INFINITY, INFINITY, INFINITY},
                 {{-0.0, 0.0, -0.0}, 0.0, -0.0, 0.0, 0, 0, 0}};
    for (int i = 0; i < 4; i++) {
        int32_t rowptr[] = {0, 3}, col[] = {0, 1, 2};
        double values[3];
        memcpy(values, cases[i].values, sizeof values);
        const lsp_csr A = {1, 3, 3, rowptr, col, values, LSP_I32, LSP_I32, LSP_F64, LSP_HOST};
        const double expected[] = {cases[i].sum,   cases[i].smallest, cases[i].largest, 3,
                                   cases[i].norm1, cases[i].norm2,    cases[i].norm_max};
        for (int r = 0; r < LSP_REDUCTIONS; r++) {
            double result;
            if (r != LSP_REDUCE_COUNT) {
                must(ctx, lsp_csr_reduce(ctx, &A, (lsp_reduction)r, LSP_REDUCE_ALL, &result));
                cr_assert(same_number(result, expected[r]), "case %d, reduction %d: %g, not %g", i, r, result,
                          expected[r]);
            }
        }
    }
    lsp_ctx_destroy(ctx);
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
