/* Integers added: sums of matrices, products entry by entry, entries at one place, truth values; on the CPU and on a
 * GPU, against plain loops. */
#include "tests/integers.h"

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

TEST_ON_BOTH(integer_sums, sums_and_entrywise_products_are_those_of_plain_loops) {
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

TEST_ON_BOTH(integer_sums, equal_patterns_are_added_in_place_by_a_plan) {
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

TEST_ON_BOTH(integer_sums, factors_of_integers_are_whole) {
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

/* ---- entries at one place, truth values ---- */

TEST_ON_BOTH(integer_sums, a_pattern_counts_its_entries_at_one_place) {
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

TEST_ON_BOTH(integer_sums, triples_are_summed_in_the_type_asked_for) {
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

TEST_ON_BOTH(integer_sums, all_bytes_but_0_are_one_truth_value) {
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
