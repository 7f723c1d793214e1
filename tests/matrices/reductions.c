/* Reductions by rows, by columns and of all entries, in the one order of values/number.h, against plain loops. */
#include "odd_values.h"

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

Test(reductions, reductions_follow_one_order_of_joining) {
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
Test(reductions, rows_of_all_lengths_are_reduced_in_that_order) {
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

Test(reductions, odd_numbers_are_reduced_as_they_should) {
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
