/* Functions of matrices on integers, on the CPU and on a GPU, against plain loops. */
#include "tests/integers.h"

/* A on the host as a dense array; entries at the same place are summed. */
static plain plain_matrix(const lsp_csr *A) {
    plain p = plain_of(A->rows, A->cols);
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t k = lsp_csr_rowptr(A, i); k < lsp_csr_rowptr(A, i + 1); k++) {
            const int64_t at = i * A->cols + lsp_csr_col(A, k);
            p.val[at] = (int64_t)((uint64_t)p.val[at] + (uint64_t)whole_at(A, k));
            p.is[at] = true;
        }
    }
    return p;
}

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

/* ---- other types and places ---- */

TEST_ON_BOTH(csr_integers, a_copy_has_the_values_in_another_type) {
    static const lsp_type to[] = {LSP_I32, LSP_I64, LSP_BOOL, LSP_NONE, LSP_F64, LSP_F32};
    uint64_t state = 3;
    for (int round = 0; round < 72; round++) {
        const lsp_type from = integer_types[round % 3], type = to[round / 3 % 6];
        lsp_csr A = make_whole(from, 20, 15, true, round & 1, &state), a = take(ctx, &A), C = {0};
        const lsp_csr_types types = {.val_type = type, .drop_values = type == LSP_NONE};
        plain right = plain_matrix(&A);
        const lsp_status status = lsp_csr_copy(ctx, &a, &types, &C);
        if (lsp_is_integer(type)) {
            must_be_made(ctx, status, &C, type, &right, "a copy");
        } else {
            must(ctx, status);
            lsp_csr here = moved(ctx, &C, LSP_HOST);
            for (int64_t k = 0; k < A.nnz; k++) {
                const double x = (double)whole_at(&A, k);
                cr_assert(type == LSP_NONE || lsp_value_at(&here, k).re == (type == LSP_F32 ? (double)(float)x : x));
            }
            cr_assert(here.val_type == type && here.nnz == A.nnz);
            lsp_csr_free(ctx, &here), lsp_csr_free(ctx, &C);
        }
        plain_free(&right), give_back(ctx, &a), drop(&A);
    }
    for (int t = 0; t < 3; t++) {
        lsp_csr P = make_whole(LSP_NONE, 9, 9, true, false, &state), p = take(ctx, &P), C = {0};
        plain right = plain_matrix(&P);
        const lsp_csr_types types = {.val_type = integer_types[t]};
        must_be_made(ctx, lsp_csr_copy(ctx, &p, &types, &C), &C, integer_types[t], &right, "ones");
        plain_free(&right), give_back(ctx, &p), drop(&P);
    }
}

TEST_ON_BOTH(csr_integers, reals_do_not_become_integers_nor_integers_complex) {
    uint64_t state = 3;
    static const lsp_type reals[] = {LSP_F32, LSP_F64, LSP_C64};
    for (int k = 0; k < 9; k++) {
        lsp_csr A = make_whole(reals[k / 3], 5, 5, true, false, &state), a = take(ctx, &A), C = {.rows = 4711};
        const lsp_csr_types types = {.val_type = integer_types[k % 3]};
        must_fail(ctx, LSP_ERR_UNSUPPORTED, "become", lsp_csr_copy(ctx, &a, &types, &C));
        cr_assert(C.rows == 4711);
        give_back(ctx, &a), drop(&A);
    }
    lsp_csr A = make_whole(LSP_I64, 5, 5, true, false, &state), a = take(ctx, &A), C = {0};
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "do not become complex",
              lsp_csr_copy(ctx, &a, &(lsp_csr_types){.val_type = LSP_C64}, &C));
    give_back(ctx, &a), drop(&A);
}

/* ---- places moved: every byte of a value moves with its entry ---- */

TEST_ON_BOTH(csr_integers, entries_move_with_their_values) {
    uint64_t state = 9;
    for (int round = 0; round < 36; round++) {
        const lsp_type type = integer_types[round % 3];
        const int64_t rows = 1 + test_below(&state, 40), cols = 1 + test_below(&state, 40);
        lsp_csr A = make_whole(type, rows, cols, true, false, &state), a, C = {0}, D = {0};
        if (type != LSP_BOOL) {
            for (int64_t k = 0; k < A.nnz; k++) { /* values of all sizes, and no duplicates */
                lsp_value_set(type, A.val, k,
                              (lsp_value){0, 0, type == LSP_I32 ? k * -1000003 : (k - 7) * (1LL << 50)});
            }
        }
        a = take(ctx, &A);
        plain p = plain_matrix(&A), turned = plain_of(cols, rows), part = plain_of(rows, cols),
              two = plain_of(2 * rows, cols);
        for (int64_t at = 0; at < rows * cols; at++) {
            const int64_t i = at / cols, j = at % cols, back = j * rows + i;
            turned.val[back] = p.val[at], turned.is[back] = p.is[at];
            part.val[at] = p.val[at], part.is[at] = p.is[at] && j >= i;
            for (int half = 0; half < 2; half++) {
                two.val[half * rows * cols + at] = p.val[at], two.is[half * rows * cols + at] = p.is[at];
            }
        }
        must_be_made(ctx, lsp_csr_transpose(ctx, &a, &C), &C, type, &turned, "transposed");
        must_be_made(ctx, lsp_csr_triangle(ctx, &a, LSP_TRIANGLE_UPPER, 0, &C), &C, type, &part, "a triangle");
        must_be_made(ctx, lsp_csr_stack(ctx, (const lsp_csr *[]){&a, &a}, 2, 1, &C), &C, type, &two, "stacked");
        must_be_made(ctx, lsp_csr_block(ctx, &a, 0, rows, 0, cols, &C), &C, type, &p, "a block");
        lsp_csr_transpose_plan *plan = NULL;
        must(ctx, lsp_csr_transpose_plan_create(ctx, &a, &plan));
        must(ctx, lsp_csr_transpose_execute(plan, &a, &C));
        must(ctx, lsp_csr_transpose_refill(plan, &a, &C));
        must_be_made(ctx, LSP_OK, &C, type, &turned, "transposed by a plan");
        lsp_csr_transpose_plan_destroy(plan);
        /* the order of rows and of columns turned round, and back */
        int32_t order[80], *there;
        for (int32_t k = 0; k < 80; k++) {
            order[k] = k;
        }
        for (int32_t k = 0; k < rows; k++) {
            order[k] = (int32_t)rows - 1 - k;
        }
        there = put_there(ctx, order, (int64_t)sizeof order);
        must(ctx, lsp_csr_permute(ctx, &a, there, NULL, LSP_I32, &D));
        must_be_made(ctx, lsp_csr_permute(ctx, &D, there, NULL, LSP_I32, &C), &C, type, &p, "permuted twice");
        lsp_csr_free(ctx, &D);
        for (int32_t k = 0; k < cols; k++) {
            order[k] = (int32_t)cols - 1 - k;
        }
        lsp_free(ctx, there);
        there = put_there(ctx, order, (int64_t)sizeof order);
        const lsp_index_list list = {there, cols, LSP_I32};
        must(ctx, lsp_csr_extract(ctx, &a, NULL, &list, &D));
        must_be_made(ctx, lsp_csr_extract(ctx, &D, NULL, &list, &C), &C, type, &p, "columns turned round twice");
        lsp_csr_free(ctx, &D);
        lsp_free(ctx, there);
        /* triples, columns, a dense array */
        lsp_coo coo = {0};
        must(ctx, lsp_csr_to_coo(ctx, &a, &coo));
        must_be_made(ctx, lsp_coo_to_csr(ctx, &coo, NULL, &C, NULL), &C, type, &p, "triples");
        lsp_coo_free(ctx, &coo);
        lsp_csc csc = {0};
        must(ctx, lsp_csr_to_csc(ctx, &a, &csc));
        must_be_made(ctx, lsp_csc_to_csr(ctx, &csc, &C), &C, type, &p, "columns");
        lsp_csc_free(ctx, &csc);
        for (int by_columns = 0; by_columns < 2; by_columns++) {
            const int64_t stride = (by_columns ? rows : cols) + round % 2, lines = by_columns ? cols : rows;
            void *elements = put_there(ctx, NULL, lines * stride * (int64_t)lsp_type_bytes(type));
            const lsp_dense dense = {rows, cols, stride, elements, type, by_columns, a.where};
            plain left = plain_of(rows, cols);
            for (int64_t at = 0; at < rows * cols; at++) {
                left.val[at] = p.val[at], left.is[at] = p.is[at] && p.val[at] != 0;
            }
            must(ctx, lsp_csr_to_dense(ctx, &a, &dense));
            must_be_made(ctx, lsp_dense_to_csr(ctx, &dense, &C), &C, type, &left, "dense");
            plain_free(&left), lsp_free(ctx, elements);
        }
        plain_free(&p), plain_free(&turned), plain_free(&part), plain_free(&two), give_back(ctx, &a), drop(&A);
    }
}

TEST_ON_BOTH(csr_integers, rows_are_sorted_and_duplicates_summed) {
    uint64_t state = 12;
    for (int round = 0; round < 60; round++) {
        const lsp_type type = integer_types[round % 3];
        lsp_csr A = make_whole(type, 30, 12, false, round & 4, &state), a = take(ctx, &A), C = {0};
        plain p = plain_matrix(&A);
        lsp_coo coo = {0};
        must(ctx, lsp_csr_to_coo(ctx, &a, &coo));
        must_be_made(ctx, lsp_coo_to_csr(ctx, &coo, NULL, &C, NULL), &C, type, &p, "triples");
        lsp_coo_free(ctx, &coo);
        must(ctx, lsp_csr_copy(ctx, &a, NULL, &C));
        must(ctx, lsp_csr_sort(ctx, &C));
        must(ctx, lsp_csr_check(ctx, &C, LSP_CHECK_SORTED | LSP_CHECK_FINITE));
        lsp_csr here = moved(ctx, &C, LSP_HOST);
        plain again = plain_matrix(&here);
        cr_assert(memcmp(p.val, again.val, (size_t)(p.rows * p.cols) * sizeof *p.val) == 0);
        plain_free(&again), plain_free(&p), lsp_csr_free(ctx, &here), lsp_csr_free(ctx, &C), give_back(ctx, &a),
            drop(&A);
    }
}

TEST_ON_BOTH(csr_integers, a_triangle_is_expanded) {
    uint64_t state = 2;
    for (int round = 0; round < 60; round++) {
        const lsp_type type = integer_types[round % 3];
        const lsp_symmetry symmetry = (lsp_symmetry)(round / 3 % 3);
        lsp_csr A = make_whole(type, 12, 12, round & 1, round & 4, &state), a = take(ctx, &A), C = {0};
        plain p = plain_matrix(&A), right = plain_matrix(&A);
        for (int64_t i = 0; i < 12; i++) {
            for (int64_t j = 0; j < 12 && symmetry != LSP_SYMMETRY_GENERAL; j++) {
                const int64_t at = i * 12 + j, back = j * 12 + i;
                if (i != j && p.is[back]) {
                    const uint64_t x = (uint64_t)p.val[back];
                    right.val[at] = (int64_t)((uint64_t)right.val[at] + (symmetry == LSP_SYMMETRY_SKEW ? 0 - x : x));
                    right.is[at] = true;
                }
            }
        }
        must_be_made(ctx, lsp_csr_expand(ctx, &a, symmetry, &C), &C, type, &right, "expanded");
        plain_free(&p), plain_free(&right), give_back(ctx, &a), drop(&A);
    }
}

/* ---- sums, products entry by entry ---- */

static plain plain_sum(double alpha, const lsp_csr *A, double beta, const lsp_csr *B) {
    plain a = plain_matrix(A), b = plain_matrix(B);
    for (int64_t k = 0; k < a.rows * a.cols; k++) {
        a.val[k] =
            (int64_t)((uint64_t)(int64_t)alpha * (uint64_t)a.val[k] + (uint64_t)(int64_t)beta * (uint64_t)b.val[k]);
        a.is[k] = a.is[k] || b.is[k];
    }
    plain_free(&b);
    return a;
}

TEST_ON_BOTH(csr_integers, sums_and_entrywise_products_are_those_of_plain_loops) {
    static const lsp_type types[] = {LSP_I32, LSP_I64, LSP_BOOL, LSP_NONE};
    static const double factors[] = {1, -1, 3, 0, -0x1p62, 1000003};
    uint64_t state = 5;
    for (int round = 0; round < (reduced() ? 80 : 300); round++) {
        const lsp_type type_a = types[test_below(&state, 4)], type_b = types[test_below(&state, 4)];
        const lsp_type type = lsp_common_type(type_a, type_b);
        const double alpha = factors[test_below(&state, 6)], beta = factors[test_below(&state, 6)];
        lsp_csr A = make_whole(type_a, 25, 18, round & 1, round & 2, &state);
        lsp_csr B = make_whole(type_b, 25, 18, round & 4, round & 2, &state), a = take(ctx, &A), b = take(ctx, &B),
                C = {0};
        lsp_csr_add_plan *plan = NULL;
        if (type != LSP_NONE) {
            plain right = plain_sum(alpha, &A, beta, &B);
            must_be_made(ctx, lsp_csr_add(ctx, alpha, &a, beta, &b, &C), &C, type, &right, "a sum");
            must(ctx, lsp_csr_add_plan_create(ctx, &a, &b, &plan));
            lsp_status status = lsp_csr_add_execute(plan, 0, &a, 0, &b, &C);
            must(ctx, status);
            status = lsp_csr_add_refill(plan, alpha, &a, beta, &b, &C);
            if (status != LSP_OK) {
                lsp_csr rest = {0};
                lsp_csr_free(ctx, &C);
                must_be_made(ctx, lsp_csr_add_execute(plan, alpha, &a, beta, &b, &rest), &rest, type, &right,
                             "refused");
            } else {
                must_be_made(ctx, status, &C, type, &right, "a sum by a plan");
            }
            lsp_csr_add_plan_destroy(plan);
            plain_free(&right);
        }
        plain p = plain_matrix(&A), q = plain_matrix(&B);
        for (int64_t k = 0; k < p.rows * p.cols; k++) {
            p.val[k] = (int64_t)((uint64_t)p.val[k] * (uint64_t)q.val[k]);
            p.is[k] = p.is[k] && q.is[k];
        }
        if (type != LSP_NONE) {
            must_be_made(ctx, lsp_csr_hadamard(ctx, &a, &b, &C), &C, type, &p, "entry by entry");
        }
        plain_free(&p), plain_free(&q), give_back(ctx, &a), give_back(ctx, &b), drop(&A), drop(&B);
    }
}

TEST_ON_BOTH(csr_integers, equal_patterns_are_added_in_place_by_a_plan) {
    for (int t = 0; t < 3; t++) {
        const recipe r = {90, 70, 6, LSP_I32, LSP_I32, integer_types[t], true, false, -1, -1, 0};
        lsp_csr A = make(&r, 1), B = make(&r, 1), a = take(ctx, &A), b = take(ctx, &B), C = {0};
        plain right = plain_sum(2, &A, -7, &B);
        lsp_csr_add_plan *plan = NULL;
        must(ctx, lsp_csr_add_plan_create(ctx, &a, &b, &plan));
        must(ctx, lsp_csr_add_execute(plan, 2, &a, -7, &b, &C));
        must(ctx, lsp_csr_add_refill(plan, 2, &a, -7, &b, &C));
        must_be_made(ctx, LSP_OK, &C, integer_types[t], &right, "by a plan");
        lsp_csr_add_plan_destroy(plan);
        plain_free(&right), give_back(ctx, &a), give_back(ctx, &b), drop(&A), drop(&B);
    }
}

TEST_ON_BOTH(csr_integers, factors_of_integers_are_whole) {
    uint64_t state = 5;
    lsp_csr A = make_whole(LSP_I64, 9, 9, true, false, &state), a = take(ctx, &A), C = {.rows = 4711};
    static const double wrong[] = {0.5, 0x1p63, -0x1.8p63, (double)NAN, (double)INFINITY};
    for (int k = 0; k < 5; k++) {
        must_fail(ctx, LSP_ERR_ARGUMENT, "alpha", lsp_csr_add(ctx, wrong[k], &a, 1, &a, &C));
        must_fail(ctx, LSP_ERR_ARGUMENT, "beta", lsp_csr_add(ctx, 1, &a, wrong[k], &a, &C));
        must_fail(ctx, LSP_ERR_ARGUMENT, "whole number", lsp_csr_apply(ctx, &a, LSP_APPLY_MULTIPLY, wrong[k]));
        must_fail(ctx, LSP_ERR_ARGUMENT, "whole number", lsp_csr_apply(ctx, &a, LSP_APPLY_ADD, wrong[k]));
    }
    must_fail(ctx, LSP_ERR_ARGUMENT, "LSP_APPLY_POWER", lsp_csr_apply(ctx, &a, LSP_APPLY_POWER, -1));
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "not integers", lsp_csr_apply(ctx, &a, LSP_APPLY_RECIPROCAL, 0));
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "not integers", lsp_csr_apply(ctx, &a, LSP_APPLY_SQRT, 0));
    cr_assert(C.rows == 4711);
    give_back(ctx, &a), drop(&A);
}

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

TEST_ON_BOTH(csr_integers, functions_of_values_are_those_of_plain_loops) {
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

TEST_ON_BOTH(csr_integers, rows_and_columns_are_scaled) {
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
TEST_ON_BOTH(csr_integers, results_at_the_limits_are_told_from_those_beyond) {
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

/* ---- entries at one place, truth values ---- */

TEST_ON_BOTH(csr_integers, a_pattern_counts_its_entries_at_one_place) {
    static const lsp_type types[] = {LSP_F32, LSP_F64, LSP_C64, LSP_I32, LSP_I64, LSP_BOOL};
    for (int t = 0; t < 6; t++) {
        int32_t rowptr[] = {0, 3}, col[] = {1, 0, 1}, one[] = {0, 1}, at[] = {1};
        char five[16] = {0};
        lsp_value_set(types[t], five, 0, (lsp_value){5, 0, 5});
        lsp_csr P = {1, 2, 3, rowptr, col, NULL, LSP_I32, LSP_I32, LSP_NONE, LSP_HOST}, p = take(ctx, &P), C = {0};
        lsp_csr B = {1, 2, 1, one, at, five, LSP_I32, LSP_I32, types[t], LSP_HOST}, b = take(ctx, &B);
        for (int turn = 0; turn < 2; turn++) {
            must(ctx, lsp_csr_hadamard(ctx, turn ? &p : &b, turn ? &b : &p, &C));
            lsp_csr here = moved(ctx, &C, LSP_HOST);
            const lsp_value v = lsp_value_at(&here, 0);
            cr_assert(here.nnz == 1 && here.val_type == types[t] && v.im == 0);
            cr_assert(v.re == (types[t] == LSP_BOOL ? 1 : 10), "type %d: %g", (int)types[t], v.re);
            lsp_csr_free(ctx, &here), lsp_csr_free(ctx, &C);
        }
        must(ctx, lsp_csr_hadamard(ctx, &p, &p, &C));
        cr_assert(C.nnz == 2 && C.val_type == LSP_NONE);
        lsp_csr_free(ctx, &C), give_back(ctx, &p), give_back(ctx, &b);
    }
}

/* Two triples of value x at one place, as values of another type. */
static lsp_status add_twice(lsp_ctx *ctx, lsp_type from, int64_t x, lsp_type to, lsp_csr *C) {
    const int32_t place[] = {0, 0};
    char val[32];
    lsp_value_set(from, val, 0, (lsp_value){(double)x, 0, x}),
        lsp_value_set(from, val, 1, (lsp_value){(double)x, 0, x});
    void *row = put_there(ctx, place, 8), *there = put_there(ctx, val, 2 * (int64_t)lsp_type_bytes(from));
    const lsp_where where = on_gpu(ctx) ? LSP_CUDA : LSP_HOST;
    const lsp_coo A = {1, 1, 2, row, row, from == LSP_NONE ? NULL : there, LSP_I32, from, where};
    const lsp_csr_types types = {.val_type = to};
    const lsp_status status = lsp_coo_to_csr(ctx, &A, &types, C, NULL);
    lsp_free(ctx, row), lsp_free(ctx, there);
    return status;
}

TEST_ON_BOTH(csr_integers, triples_are_summed_in_the_type_asked_for) {
    static const struct {
        lsp_type from, to;
        int64_t x, sum; /* sum 0: it does not fit */
    } cases[] = {{LSP_I32, LSP_I64, INT32_MAX, 2LL * INT32_MAX},
                 {LSP_I32, LSP_F64, INT32_MAX, 2LL * INT32_MAX},
                 {LSP_I32, LSP_I32, INT32_MAX, 0},
                 {LSP_I32, LSP_BOOL, INT32_MAX, 1},
                 {LSP_BOOL, LSP_I32, 1, 2},
                 {LSP_BOOL, LSP_F32, 1, 2},
                 {LSP_I64, LSP_I32, 1 << 30, 0},
                 {LSP_I64, LSP_I32, 1 << 29, 1 << 30},
                 {LSP_F32, LSP_F64, 16777215, 33554430},
                 {LSP_NONE, LSP_F64, 1, 2},
                 {LSP_NONE, LSP_I32, 1, 2},
                 {LSP_I64, LSP_F64, INT64_MAX, INT64_MIN}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        lsp_csr C = {.rows = 4711};
        const lsp_status status = add_twice(ctx, cases[k].from, cases[k].x, cases[k].to, &C);
        if (cases[k].sum == 0) {
            must_fail(ctx, LSP_ERR_OVERFLOW, "row 0", status);
            cr_assert(C.rows == 4711);
            continue;
        }
        must(ctx, status);
        lsp_csr here = moved(ctx, &C, LSP_HOST);
        const lsp_value v = lsp_value_at(&here, 0);
        cr_assert(here.nnz == 1 && here.val_type == cases[k].to, "case %zu", k);
        cr_assert(v.re == (cases[k].sum == INT64_MIN ? 0x1p64 : (double)cases[k].sum), "case %zu: %g", k, v.re);
        lsp_csr_free(ctx, &here), lsp_csr_free(ctx, &C);
    }
}

TEST_ON_BOTH(csr_integers, all_bytes_but_0_are_one_truth_value) {
    int32_t rowptr[] = {0, 2, 3}, col[] = {0, 1, 1};
    uint8_t twos[] = {2, 0, 255}, ones[] = {1, 0, 1};
    lsp_csr A = {2, 2, 3, rowptr, col, twos, LSP_I32, LSP_I32, LSP_BOOL, LSP_HOST}, B = A, a = take(ctx, &A);
    B.val = ones;
    lsp_csr b = take(ctx, &B), C = {0}, D = {0};
    lsp_csr_difference d;
    must(ctx, lsp_csr_compare(ctx, &a, &b, &d));
    cr_assert(d.same_bits && d.max_rel == 0 && d.row == -1);
    must(ctx, lsp_csr_transpose(ctx, &a, &C)); /* a byte that is moved may stay as it is */
    must(ctx, lsp_csr_transpose(ctx, &b, &D));
    must(ctx, lsp_csr_compare(ctx, &C, &D, &d));
    cr_assert(d.same_bits);
    must(ctx, lsp_csr_apply(ctx, &a, LSP_APPLY_ABS, 0)); /* what is computed is 0 or 1 */
    lsp_csr here = moved(ctx, &a, LSP_HOST);
    cr_assert(memcmp(here.val, ones, 3) == 0);
    ones[1] = 1;
    lsp_csr_free(ctx, &here), lsp_csr_free(ctx, &C), lsp_csr_free(ctx, &D), give_back(ctx, &b);
    b = take(ctx, &B);
    must(ctx, lsp_csr_compare(ctx, &a, &b, &d));
    cr_assert(!d.same_bits && d.max_rel == 1 && d.row == 0 && d.col == 1);
    give_back(ctx, &a), give_back(ctx, &b);
}

TEST_ON_BOTH(csr_integers, reductions_are_those_of_plain_loops) {
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

TEST_ON_BOTH(csr_integers, norms_are_those_of_the_values_as_doubles) {
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

TEST_ON_BOTH(csr_integers, diagonals_are_taken_and_made) {
    uint64_t state = 46;
    for (int round = 0; round < 30; round++) {
        const lsp_type type = integer_types[round % 3];
        lsp_csr A = make_whole(type, 14, 10, round & 1, round & 2, &state), a = take(ctx, &A), C = {0};
        plain p = plain_matrix(&A), right = plain_of(10, 10);
        for (int64_t i = 0; i < 10; i++) {
            right.val[11 * i] = p.val[10 * i + i], right.is[11 * i] = true;
        }
        void *diagonal = put_there(ctx, NULL, 80);
        lsp_status status = lsp_csr_diagonal(ctx, &a, diagonal);
        if (status == LSP_OK) {
            status = lsp_csr_from_diagonal(ctx, 10, diagonal, type, a.where, &C);
        }
        must_be_made(ctx, status, &C, type, &right, "a diagonal");
        for (int64_t i = 0; i < 10; i++) {
            right.val[11 * i] = 1;
        }
        must_be_made(ctx, lsp_csr_from_diagonal(ctx, 10, NULL, type, a.where, &C), &C, type, &right, "the identity");
        plain_free(&p), plain_free(&right), lsp_free(ctx, diagonal), give_back(ctx, &a), drop(&A);
    }
}

/* ---- choices and facts: no rounding on the way ---- */

TEST_ON_BOTH(csr_integers, a_filter_tells_neighbours_apart) {
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

TEST_ON_BOTH(csr_integers, facts_see_the_last_digit) {
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

/* ---- memory ---- */

static lsp_status use_all(lsp_ctx *ctx, void *data) {
    const lsp_csr *A = data;
    lsp_csr C = {.rows = 42}, D = {0};
    lsp_status status = lsp_csr_add(ctx, 2, A, 3, A, &C);
    cr_assert(status == LSP_OK || (C.rows == 42 && C.rowptr == NULL));
    status = status == LSP_OK ? lsp_csr_hadamard(ctx, A, A, &D) : status;
    lsp_csr_free(ctx, &D);
    status = status == LSP_OK ? lsp_csr_expand(ctx, A, LSP_SYMMETRY_SYMMETRIC, &D) : status;
    lsp_csr_free(ctx, &D);
    status = status == LSP_OK ? lsp_csr_copy(ctx, A, &(lsp_csr_types){.val_type = LSP_I64}, &D) : status;
    lsp_csr_free(ctx, &D);
    status = status == LSP_OK ? lsp_csr_apply(ctx, &C, LSP_APPLY_ADD, 1) : status;
    char diagonal[8 * 60];
    status = status == LSP_OK ? lsp_csr_diagonal(ctx, &C, diagonal) : status;
    status = status == LSP_OK ? lsp_csr_scale(ctx, &C, diagonal, NULL) : status;
    lsp_csr_free(ctx, &C);
    return status;
}

Test(csr_integers, failing_memory_leaves_everything_as_it_was) {
    uint64_t state = 77;
    for (int t = 0; t < 3; t++) {
        lsp_csr A = make_whole(integer_types[t], 40, 40, false, false, &state);
        test_failing_memory(1, use_all, &A);
        drop(&A);
    }
}
