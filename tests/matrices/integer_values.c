/* Functions of integers, scaled rows and columns, reductions, choices and facts, without rounding on the way; on both
 * devices, against plain loops. */
#include "tests/integers.h"

/* ---- values ---- */

/* Does the exact f(a) fit LSP_I64? */
static bool mapped(lsp_function f, int64_t parameter, int64_t a, int64_t *result) {
    bool wide = false;
    *result = f == LSP_APPLY_SIGN       ? (a > 0) - (a < 0)
              : f == LSP_APPLY_CONSTANT ? parameter
              : f == LSP_APPLY_POWER    ? 1
                                        : a;
    for (int64_t k = 0; f == LSP_APPLY_POWER && k < parameter; k++) {
        wide = __builtin_mul_overflow(*result, a, result) || wide;
    }
    return !(f == LSP_APPLY_MULTIPLY                                  ? __builtin_mul_overflow(a, parameter, result)
             : f == LSP_APPLY_ADD                                     ? __builtin_add_overflow(a, parameter, result)
             : f == LSP_APPLY_NEGATE || (f == LSP_APPLY_ABS && a < 0) ? __builtin_sub_overflow(0, a, result)
                                                                      : wide);
}

/* A call on C, a copy of `before`, ended with this status. `right` holds the results, and `wide` those that do not fit
 * LSP_I64: C must have them, or the call must name the first value whose result does not fit, and C is as it was. Frees
 * C. */
static void must_be_changed(lsp_ctx *ctx, lsp_status status, lsp_csr *C, const lsp_csr *before, const plain *right,
                            const bool *wide, const char *what) {
    const lsp_type type = C->val_type;
    for (int64_t i = 0; i < before->rows && type != LSP_BOOL; i++) {
        for (int64_t k = lsp_csr_rowptr(before, i); k < lsp_csr_rowptr(before, i + 1); k++) {
            const int64_t at = i * right->cols + lsp_csr_col(before, k);
            if (wide[at] || (type == LSP_I32 && right->val[at] != (int32_t)right->val[at])) {
                char place[160];
                snprintf(place, sizeof place, "row %lld: what the value %lld at column %lld becomes does not fit %s",
                         (long long)i, (long long)whole_at(before, k), (long long)lsp_csr_col(before, k),
                         lsp_type_name(type));
                must_fail(ctx, LSP_ERR_OVERFLOW, place, status);
                lsp_csr here = moved(ctx, C, LSP_HOST);
                cr_assert(memcmp(here.val, before->val, (size_t)before->nnz * lsp_type_bytes(type)) == 0, "%s", what);
                lsp_csr_free(ctx, &here), lsp_csr_free(ctx, C);
                return;
            }
        }
    }
    must_be_made(ctx, status, C, type, right, what);
}

TEST_ON_BOTH(integer_values, functions_of_values_are_those_of_plain_loops) {
    static const lsp_function functions[] = {LSP_APPLY_ABS,      LSP_APPLY_NEGATE, LSP_APPLY_SIGN,  LSP_APPLY_CONJUGATE,
                                             LSP_APPLY_MULTIPLY, LSP_APPLY_ADD,    LSP_APPLY_POWER, LSP_APPLY_CONSTANT};
    uint64_t state = 6;
    for (int round = 0; round < 192; round++) {
        const lsp_type type = integer_types[round % 3];
        const lsp_function f = functions[round / 3 % 8];
        const int64_t parameter = f == LSP_APPLY_POWER ? round % 5
                                  : round % 11 == 0    ? INT64_MAX - 1023
                                                       : (round % 7) - 3;
        lsp_csr A = make_whole(type, 20, 20, true, round & 1, &state), a = take(ctx, &A), C = {0};
        plain right = plain_matrix(&A);
        bool wide[400];
        for (int64_t k = 0; k < 400; k++) {
            wide[k] = right.is[k] && !mapped(f, parameter, right.val[k], &right.val[k]);
        }
        must(ctx, lsp_csr_copy(ctx, &a, NULL, &C));
        const lsp_status status = lsp_csr_apply(ctx, &C, f, (double)parameter);
        must_be_changed(ctx, status, &C, &A, &right, wide, "mapped");
        plain_free(&right), give_back(ctx, &a), drop(&A);
    }
}

TEST_ON_BOTH(integer_values, rows_and_columns_are_scaled) {
    uint64_t state = 16;
    for (int round = 0; round < 60; round++) {
        const lsp_type type = integer_types[round % 3];
        const bool wild = round & 1, by_rows = round & 2, by_cols = round & 4;
        lsp_csr A = make_whole(type, 15, 11, true, wild, &state), a = take(ctx, &A);
        int64_t factors[26];
        char narrow[26 * 8];
        const lsp_csr view = {.val = narrow, .val_type = type};
        for (int k = 0; k < 26; k++) {
            set_whole(type, narrow, k, wild, &state);
            factors[k] = whole_at(&view, k);
        }
        plain right = plain_matrix(&A);
        bool wide[15 * 11];
        for (int64_t at = 0; at < 15 * 11; at++) { /* exact: the order of the products does not matter */
            const int64_t row = by_rows ? factors[at / 11] : 1, col = by_cols ? factors[15 + at % 11] : 1;
            const __int128 both = (__int128)row * right.val[at];
            __int128 all = 0;
            wide[at] = right.is[at] && (__builtin_mul_overflow(both, col, &all) || all != (int64_t)all);
            right.val[at] = (int64_t)all;
        }
        const int64_t bytes = (int64_t)lsp_type_bytes(type);
        void *rows = put_there(ctx, narrow, 15 * bytes), *cols = put_there(ctx, narrow + 15 * bytes, 11 * bytes);
        lsp_csr C = {0};
        must(ctx, lsp_csr_copy(ctx, &a, NULL, &C));
        const lsp_status status = lsp_csr_scale(ctx, &C, by_rows ? rows : NULL, by_cols ? cols : NULL);
        must_be_changed(ctx, status, &C, &A, &right, wide, "scaled");
        lsp_free(ctx, rows), lsp_free(ctx, cols);
        plain_free(&right), give_back(ctx, &a), drop(&A);
    }
}

#define scaled ((lsp_function)LSP_FUNCTIONS)
TEST_ON_BOTH(integer_values, results_at_the_limits_are_told_from_those_beyond) {
    static const struct {
        lsp_type type;
        lsp_function f; /* or `scaled`: rows and columns are scaled by -1 and the parameter */
        int64_t value;
        double parameter;
        bool fits;
    } cases[] = {{LSP_I64, LSP_APPLY_POWER, 65536, 4, false},
                 {LSP_I32, LSP_APPLY_POWER, 65536, 4, false},
                 {LSP_I64, LSP_APPLY_POWER, -2, 63, true},
                 {LSP_I64, LSP_APPLY_POWER, 2, 63, false},
                 {LSP_I64, LSP_APPLY_POWER, -1, 0x1p62, true},
                 {LSP_I64, LSP_APPLY_POWER, 3, 0x1p62, false},
                 {LSP_I64, LSP_APPLY_ADD, INT64_MAX, 1, false},
                 {LSP_I64, LSP_APPLY_ADD, INT64_MAX - 1, 1, true},
                 {LSP_I64, LSP_APPLY_NEGATE, INT64_MIN, 0, false},
                 {LSP_I64, LSP_APPLY_ABS, INT64_MIN, 0, false},
                 {LSP_I64, LSP_APPLY_ABS, -INT64_MAX, 0, true},
                 {LSP_I32, LSP_APPLY_MULTIPLY, INT32_MIN, 0x1p32, false},
                 {LSP_I64, LSP_APPLY_MULTIPLY, -(1LL << 32), 0x1p31, true},
                 {LSP_I64, LSP_APPLY_MULTIPLY, 1LL << 32, 0x1p31, false},
                 {LSP_I64, scaled, INT64_MIN, -1, true},
                 {LSP_I64, scaled, INT64_MIN, 0, true},
                 {LSP_I64, scaled, INT64_MIN, 1, false},
                 {LSP_I32, scaled, 1 << 16, 0x1p15, true},
                 {LSP_I32, scaled, -(1 << 16), 0x1p15, false},
                 {LSP_BOOL, LSP_APPLY_ADD, 1, 0x1.fffffffffffffp62, true}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int32_t rowptr[] = {0, 1}, col[] = {0};
        int64_t val[2] = {0}, minus[2] = {0}, other[2] = {0};
        lsp_value_set(cases[k].type, val, 0, (lsp_value){0, 0, cases[k].value});
        lsp_value_set(cases[k].type, minus, 0, (lsp_value){0, 0, -1});
        lsp_value_set(cases[k].type, other, 0, (lsp_value){0, 0, (int64_t)cases[k].parameter});
        lsp_csr A = {1, 1, 1, rowptr, col, val, LSP_I32, LSP_I32, cases[k].type, LSP_HOST}, a = take(ctx, &A);
        void *rows = put_there(ctx, minus, 8), *cols = put_there(ctx, other, 8);
        const lsp_status status = cases[k].f == scaled ? lsp_csr_scale(ctx, &a, rows, cols)
                                                       : lsp_csr_apply(ctx, &a, cases[k].f, cases[k].parameter);
        cr_assert_eq(status, cases[k].fits ? LSP_OK : LSP_ERR_OVERFLOW, "case %zu", k);
        lsp_free(ctx, rows), lsp_free(ctx, cols), give_back(ctx, &a);
    }
}

/* ---- reductions ---- */

/* The values of an array of the device, n of `type`, must be these, or the call must say which does not fit. */
static void must_hold(lsp_ctx *ctx, const void *array, int64_t n, lsp_type type, const int64_t *right,
                      const char *what) {
    void *here = get_back(ctx, array, n * (int64_t)lsp_type_bytes(type));
    const lsp_csr view = {.val = here, .val_type = type};
    for (int64_t k = 0; k < n; k++) {
        const int64_t is = type == LSP_BOOL ? ((uint8_t *)here)[k] : whole_at(&view, k);
        cr_assert(is == (type == LSP_BOOL ? right[k] != 0 : right[k]), "%s: [%lld] is %lld, not %lld", what,
                  (long long)k, (long long)is, (long long)right[k]);
    }
    free(here);
}

TEST_ON_BOTH(integer_values, reductions_are_those_of_plain_loops) {
    uint64_t state = 26;
    for (int round = 0; round < 60; round++) {
        const lsp_type type = integer_types[round % 3];
        const int64_t rows = round % 2 ? 1 + test_below(&state, 5) : 300, cols = round % 2 ? 9000 : 20;
        recipe r = {rows, cols, round % 2 ? 3000 : 4, LSP_I32, LSP_I32, type, true, round & 4, -1, -1, 0};
        lsp_csr A = make(&r, test_random(&state)), a = take(ctx, &A);
        for (int axis = 0; axis < 3; axis++) {
            const int64_t count = axis == LSP_REDUCE_EACH_ROW ? rows : axis == LSP_REDUCE_EACH_COL ? cols : 1;
            int64_t *right[4];
            double *norms = calloc((size_t)count, sizeof *norms);
            for (int k = 0; k < 4; k++) {
                right[k] = calloc((size_t)count, sizeof **right);
                for (int64_t i = 0; i < count; i++) {
                    right[k][i] = k == LSP_REDUCE_MIN ? INT64_MAX : k == LSP_REDUCE_MAX ? INT64_MIN : 0;
                }
            }
            for (int64_t i = 0; i < rows; i++) {
                for (int64_t k = lsp_csr_rowptr(&A, i); k < lsp_csr_rowptr(&A, i + 1); k++) {
                    const int64_t x = whole_at(&A, k), at = axis == LSP_REDUCE_EACH_ROW   ? i
                                                            : axis == LSP_REDUCE_EACH_COL ? lsp_csr_col(&A, k)
                                                                                          : 0;
                    right[0][at] = (int64_t)((uint64_t)right[0][at] + (uint64_t)x);
                    right[1][at] = lsp_min(right[1][at], x);
                    right[2][at] = lsp_max(right[2][at], x);
                    right[3][at]++;
                    norms[at] = fmax(norms[at], fabs((double)x));
                }
            }
            void *results = put_there(ctx, NULL, 8 * count);
            for (int k = 0; k < 4; k++) {
                must(ctx, lsp_csr_reduce(ctx, &a, (lsp_reduction)k, (lsp_axis)axis, results));
                must_hold(ctx, results, count, LSP_I64, right[k], "a reduction");
                free(right[k]);
            }
            must(ctx, lsp_csr_reduce(ctx, &a, LSP_REDUCE_NORM_MAX, (lsp_axis)axis, results));
            double *here = get_back(ctx, results, 8 * count);
            cr_assert(memcmp(here, norms, (size_t)count * sizeof *norms) == 0);
            free(here), free(norms), lsp_free(ctx, results);
        }
        give_back(ctx, &a), drop(&A);
    }
}

TEST_ON_BOTH(integer_values, norms_are_those_of_the_values_as_doubles) {
    uint64_t state = 36;
    for (int t = 0; t < 3; t++) {
        lsp_csr A = make_whole(integer_types[t], 50, 40, true, true, &state), a = take(ctx, &A), D = {0};
        must(ctx, lsp_csr_copy(ctx, &a, &(lsp_csr_types){.val_type = LSP_F64}, &D));
        for (int k = LSP_REDUCE_NORM1; k <= LSP_REDUCE_NORM_MAX; k++) {
            void *mine = put_there(ctx, NULL, 8 * 50), *real = put_there(ctx, NULL, 8 * 50);
            must(ctx, lsp_csr_reduce(ctx, &a, (lsp_reduction)k, LSP_REDUCE_EACH_ROW, mine));
            must(ctx, lsp_csr_reduce(ctx, &D, (lsp_reduction)k, LSP_REDUCE_EACH_ROW, real));
            void *x = get_back(ctx, mine, 8 * 50), *y = get_back(ctx, real, 8 * 50);
            cr_assert(memcmp(x, y, 8 * 50) == 0);
            free(x), free(y), lsp_free(ctx, mine), lsp_free(ctx, real);
        }
        lsp_csr_free(ctx, &D), give_back(ctx, &a), drop(&A);
    }
}

/* ---- choices and facts: no rounding on the way ---- */

TEST_ON_BOTH(integer_values, a_filter_tells_neighbours_apart) {
    int32_t rowptr[] = {0, 6}, col[] = {0, 1, 2, 3, 4, 5};
    int64_t val[] = {(1LL << 53) + 1, 1LL << 53, -(1LL << 53) - 2, INT64_MIN, INT64_MAX, 0};
    lsp_csr A = {1, 6, 6, rowptr, col, val, LSP_I32, LSP_I32, LSP_I64, LSP_HOST}, a = take(ctx, &A), C = {0};
    static const struct {
        lsp_filter filter;
        const char *stay;
    } cases[] = {{{.drop = true}, "111110"},
                 {{.drop = true, .tolerance = 0x1p53}, "101110"},
                 {{.drop = true, .tolerance = 0x1p53 + 2}, "000110"},
                 {{.drop = true, .tolerance = 0x1.fffffffffffffp62}, "000110"},
                 {{.drop = true, .tolerance = 0x1p63}, "000000"},
                 {{.largest = 1}, "000100"},
                 {{.largest = 2}, "000110"},
                 {{.largest = 3}, "001110"},
                 {{.largest = 4}, "101110"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        plain right = plain_matrix(&A);
        for (int j = 0; j < 6; j++) {
            right.is[j] = cases[k].stay[j] == '1';
        }
        must_be_made(ctx, lsp_csr_filter(ctx, &a, &cases[k].filter, &C), &C, LSP_I64, &right, cases[k].stay);
        plain_free(&right);
    }
    give_back(ctx, &a);
}

TEST_ON_BOTH(integer_values, facts_see_the_last_digit) {
    int32_t rowptr[] = {0, 1, 2}, col[] = {1, 0};
    int64_t val[] = {INT64_MAX, INT64_MAX - 1}, other[] = {INT64_MAX, INT64_MAX};
    lsp_csr A = {2, 2, 2, rowptr, col, val, LSP_I32, LSP_I32, LSP_I64, LSP_HOST}, B = A, a, b;
    B.val = other;
    for (int round = 0; round < 3; round++) {
        lsp_csr_difference d;
        lsp_csr_stats stats;
        val[1] = round == 0 ? INT64_MAX - 1 : round == 1 ? INT64_MAX : -INT64_MAX;
        a = take(ctx, &A), b = take(ctx, &B);
        must(ctx, lsp_csr_compare(ctx, &a, &b, &d));
        cr_assert(d.same_bits == (round == 1) && (d.max_rel > 0) == (round != 1) && d.row == (round == 1 ? -1 : 1));
        must(ctx, lsp_csr_get_stats(ctx, &a, &stats));
        cr_assert(stats.symmetric == (round == 1) && stats.hermitian == (round == 1) && stats.skew == (round == 2));
        cr_assert(stats.zeros == 0 && stats.not_finite == 0 && stats.pattern_symmetric);
        give_back(ctx, &a), give_back(ctx, &b);
    }
}
