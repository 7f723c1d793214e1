/* Plans of transposes and sums on the host: results and updates have the bits of lsp_csr_transpose and lsp_csr_add. */
#include "matrices/csr/plans.h"
#include "tests/planned.h"

/* ---- transposes ---- */

Test(plans, transposes_are_those_without_a_plan) {
    for (int threads = 1; threads < 5; threads += 3) {
        lsp_ctx *ctx = test_ctx(threads);
        for (int c = 0; c < planned_size_count * test_combinations * 4; c++) {
            const int64_t *size = planned_sizes[c / test_combinations / 4];
            lsp_csr A = planned_random(ctx, size, test_types(c % test_combinations), c / test_combinations % 2, 1), B;
            lsp_csr right;
            lsp_csr_transpose_plan *plan;
            must(ctx, lsp_csr_transpose_plan_as(ctx, &A, c / test_combinations % 4 > 1, &plan));
            must(ctx, lsp_csr_transpose(ctx, &A, &right));
            must(ctx, lsp_csr_transpose_execute(plan, &A, &B));
            must_be_same(ctx, &right, &B);
            lsp_csr_plan_info info;
            must(ctx, lsp_csr_transpose_plan_get_info(plan, &info));
            must_fail(ctx, LSP_ERR_ARGUMENT, "facts is NULL", lsp_csr_transpose_plan_get_info(plan, NULL));
            cr_assert(info.nnz == A.nnz && info.plan_bytes > 0 && strstr(info.reason, "the structure of A^T"));
            planned_new_values(&A, 7);
            lsp_csr_free(ctx, &right);
            must(ctx, lsp_csr_transpose(ctx, &A, &right));
            must(ctx, lsp_csr_transpose_refill(plan, &A, &B));
            must_be_same(ctx, &right, &B);
            must(ctx, lsp_csr_transpose_execute(plan, &A, &A)); /* in its own place */
            must_be_same(ctx, &right, &A);
            lsp_csr_transpose_plan_destroy(plan);
            lsp_csr_free(ctx, &A), lsp_csr_free(ctx, &B), lsp_csr_free(ctx, &right);
        }
        lsp_ctx_destroy(ctx);
    }
}

/* ---- sums ---- */

/* One pair of addends: a plan's sums must be those without it, for two sets of values and in place. */
static void check_sum(lsp_ctx *ctx, lsp_csr *A, lsp_csr *B, bool wide, bool equal) {
    lsp_csr right, C;
    lsp_csr_add_plan *plan;
    must(ctx, lsp_csr_add_plan_as(ctx, A, B, wide, &plan));
    lsp_csr_plan_info info;
    cr_assert(plan->equal || !equal);
    must(ctx, lsp_csr_add_plan_get_info(plan, &info));
    must_fail(ctx, LSP_ERR_ARGUMENT, "facts is NULL", lsp_csr_add_plan_get_info(plan, NULL));
    cr_assert((info.plan_bytes == lsp_bytes_at(ctx, plan)) == plan->equal && info.reserved[0] == 0);
    cr_assert(strstr(info.reason, plan->equal ? "nothing" : "the structure of C") != NULL, "%s", info.reason);
    must(ctx, lsp_csr_add(ctx, 0.3, A, -7, B, &right));
    must(ctx, lsp_csr_add_execute(plan, 0.3, A, -7, B, &C));
    must_be_same(ctx, &right, &C);
    cr_assert_eq(info.nnz, C.nnz);
    planned_new_values(A, 11), planned_new_values(B, 12);
    lsp_csr_free(ctx, &right);
    must(ctx, lsp_csr_add(ctx, -1e300, A, 1e-3, B, &right));
    must(ctx, lsp_csr_add_refill(plan, -1e300, A, 1e-3, B, &C));
    must_be_same(ctx, &right, &C);
    must(ctx, lsp_csr_add_execute(plan, -1e300, A, 1e-3, B, B)); /* in its own place */
    must_be_same(ctx, &right, B);
    lsp_csr_add_plan_destroy(plan);
    lsp_csr_free(ctx, &right), lsp_csr_free(ctx, &C), lsp_csr_free(ctx, A), lsp_csr_free(ctx, B);
}

Test(plans, sums_are_those_without_a_plan) {
    for (int threads = 1; threads < 5; threads += 3) {
        lsp_ctx *ctx = test_ctx(threads);
        for (int c = 0; c < planned_size_count * 144; c++) {
            const int64_t *size = planned_sizes[c / 144];
            lsp_csr A = planned_random(ctx, size, test_types(c % 12), c % 2, 1);
            lsp_csr B = planned_random(ctx, size, test_types(c / 12 % 12), c % 3, 2);
            check_sum(ctx, &A, &B, c % 5 == 0, size[2] == 0);
        }
        lsp_ctx_destroy(ctx);
    }
}

Test(plans, sums_of_equal_patterns_hold_nothing) {
    lsp_ctx *ctx = test_ctx(2);
    for (int c = 0; c < planned_size_count * 144; c++) {
        lsp_csr A = planned_random(ctx, planned_sizes[c / 144], test_types(c % 12), true, 1), B;
        lsp_csr_types types = test_types(c / 12 % 12);
        types.drop_values = types.val_type == LSP_NONE;
        must(ctx, lsp_csr_copy(ctx, &A, &types, &B));
        planned_new_values(&B, 5);
        check_sum(ctx, &A, &B, false, true);
    }
    lsp_csr A = planned_random(ctx, (int64_t[]){400, 400, 90000}, test_types(8), true, 1), B, right;
    lsp_csr_add_plan *plan; /* large: past the cache. And in place: C is A */
    must(ctx, lsp_csr_copy(ctx, &A, NULL, &B));
    must(ctx, lsp_csr_add_plan_create(ctx, &A, &B, &plan));
    cr_assert(plan->equal && !plan->C.rowptr && !plan->from.sources);
    must(ctx, lsp_csr_add(ctx, 2, &A, 3, &B, &right));
    must(ctx, lsp_csr_add_refill(plan, 2, &A, 3, &B, &A));
    must_be_same(ctx, &right, &A);
    lsp_csr_add_plan_destroy(plan);
    lsp_ctx_destroy(ctx);
}

Test(plans, a_row_with_every_column_twice_and_a_huge_one) {
    lsp_ctx *ctx = test_ctx(3);
    int32_t rowptr[] = {0, 6, 6}, col[] = {2, 0, 2, 1, 0, 2}, other_rowptr[] = {0, 0, 1}, other_col[] = {2};
    double val[] = {1e16, -0.0, 1, NAN, -0.0, -1e16}, other_val[] = {5}, sums[] = {-0.0, NAN, 0, 15};
    lsp_csr A = TEST_CSR(2, 3, rowptr, col, val), B = TEST_CSR(2, 3, other_rowptr, other_col, other_val), C;
    lsp_csr_add_plan *plan;
    must(ctx, lsp_csr_add_plan_create(ctx, &A, &B, &plan));
    must(ctx, lsp_csr_add_execute(plan, 1, &A, 3, &B, &C));
    cr_assert(C.nnz == 4 && memcmp(C.val, sums, sizeof sums) == 0, "in order: 1e16 + 1 - 1e16 is 0");
    lsp_csr_add_plan_destroy(plan);
    lsp_csr X = planned_random(ctx, (int64_t[]){3, 50, 200000}, test_types(8), false, 1);
    lsp_csr Y = planned_random(ctx, (int64_t[]){3, 50, 7}, test_types(4), false, 1);
    check_sum(ctx, &X, &Y, false, false);
    lsp_ctx_destroy(ctx);
}

/* ---- refusals ---- */

Test(plans, what_is_not_planned_is_refused) {
    lsp_ctx *ctx = test_ctx(2);
    lsp_csr A = planned_random(ctx, (int64_t[]){20, 30, 99}, test_types(8), true, 1), B, C, was, other;
    lsp_csr D = planned_random(ctx, (int64_t[]){20, 30, 50}, test_types(8), true, 9);
    lsp_csr_transpose_plan *plan = NULL;
    lsp_csr_add_plan *sum = NULL;
    must_fail(ctx, LSP_ERR_ARGUMENT, "A is NULL", lsp_csr_transpose_plan_create(ctx, NULL, &plan));
    must_fail(ctx, LSP_ERR_ARGUMENT, "place for the plan", lsp_csr_transpose_plan_create(ctx, &A, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "B is NULL", lsp_csr_add_plan_create(ctx, &A, NULL, &sum));
    must_fail(ctx, LSP_ERR_ARGUMENT, "place for the plan", lsp_csr_add_plan_create(ctx, &A, &D, NULL));
    other = D, other.cols = 31;
    must_fail(ctx, LSP_ERR_ARGUMENT, "20 x 31 cannot be added to one of 20 x 30",
              lsp_csr_add_plan_create(ctx, &A, &other, &sum));
    other = D, other.cols = 2;
    must_fail(ctx, LSP_ERR_FORMAT, "is not in 0 .. 1", lsp_csr_transpose_plan_create(ctx, &other, &plan));
    cr_assert(!plan && !sum);
    cr_assert(lsp_csr_transpose_plan_create(NULL, &A, &plan) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_csr_add_plan_create(NULL, &A, &A, &sum) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_csr_transpose_execute(NULL, &A, &B) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_csr_add_refill(NULL, 1, &A, 1, &A, &C) == LSP_ERR_ARGUMENT);
    must(ctx, lsp_csr_transpose_plan_create(ctx, &A, &plan));
    must(ctx, lsp_csr_add_plan_create(ctx, &A, &D, &sum));
    must(ctx, lsp_csr_transpose_execute(plan, &A, &B));
    must(ctx, lsp_csr_add_execute(sum, 1, &A, 1, &D, &C));
    must_fail(ctx, LSP_ERR_ARGUMENT, "place for the transpose", lsp_csr_transpose_execute(plan, &A, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "place for the sum", lsp_csr_add_execute(sum, 1, &A, 1, &D, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "A is NULL", lsp_csr_transpose_refill(plan, NULL, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "B is NULL", lsp_csr_transpose_refill(plan, &A, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "C is NULL", lsp_csr_add_refill(sum, 1, &A, 1, &D, NULL));
    other = was = D;
    const char *sizes = "20 x 30 with 50 entries; the plan was made for 20 x 30 with 99";
    sizes = D.nnz < 50 ? "the plan was made for 20 x 30" : sizes;
    must_fail(ctx, LSP_ERR_ARGUMENT, sizes, lsp_csr_transpose_execute(plan, &D, &other));
    must_fail(ctx, LSP_ERR_ARGUMENT, sizes, lsp_csr_add_execute(sum, 1, &D, 1, &D, &other));
    must_fail(ctx, LSP_ERR_ARGUMENT, "A has ", lsp_csr_transpose_refill(plan, &(lsp_csr){0}, &B));
    must_fail(ctx, LSP_ERR_ARGUMENT, "C is 20 x 30", lsp_csr_add_refill(sum, 1, &A, 1, &D, &A));
    must_fail(ctx, LSP_ERR_ARGUMENT, "B is 20 x 30", lsp_csr_add_execute(sum, 1, &A, 1, &A, &other));
    cr_assert(memcmp(&other, &was, sizeof was) == 0);
    other = A, other.val_type = LSP_F32;
    must_fail(ctx, LSP_ERR_ARGUMENT,
              "A has types LSP_I32, LSP_I32 and LSP_F32; the plan was made for LSP_I32, LSP_I32 and LSP_F64",
              lsp_csr_transpose_execute(plan, &other, &C));
    other = B, other.val = A.val;
    must_fail(ctx, LSP_ERR_ARGUMENT, "the values of B are those of A", lsp_csr_transpose_refill(plan, &A, &other));
    other = A, other.val = C.val;
    must_fail(ctx, LSP_ERR_ARGUMENT, "the values of C are those of an addend",
              lsp_csr_add_refill(sum, 1, &other, 1, &D, &C));
    other = B, other.val = NULL;
    must_fail(ctx, LSP_ERR_ARGUMENT, "val is NULL", lsp_csr_transpose_refill(plan, &A, &other));
    lsp_csr_transpose_plan_destroy(NULL), lsp_csr_add_plan_destroy(NULL);
    lsp_ctx_destroy(ctx); /* before its plans */
    cr_assert(lsp_csr_transpose_execute(plan, &A, &B) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_csr_transpose_refill(plan, &A, &B) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_csr_add_execute(sum, 1, &A, 1, &D, &C) == LSP_ERR_ARGUMENT);
    cr_assert(lsp_csr_add_refill(sum, 1, &A, 1, &D, &C) == LSP_ERR_ARGUMENT);
    lsp_csr_transpose_plan_destroy(plan), lsp_csr_add_plan_destroy(sum);
}

/* ---- memory ---- */

typedef struct use {
    const lsp_csr *A, *B;
} use;

static lsp_status use_plans(lsp_ctx *ctx, void *data) {
    const use *u = data;
    lsp_csr_transpose_plan *plan = NULL;
    lsp_csr_add_plan *sum = NULL;
    lsp_csr T = {.rows = 42}, C = {.rows = 42};
    lsp_status status = lsp_csr_transpose_plan_create(ctx, u->A, &plan);
    status = status != LSP_OK ? status : lsp_csr_transpose_execute(plan, u->A, &T);
    status = status != LSP_OK ? status : lsp_csr_add_plan_create(ctx, u->A, u->B, &sum);
    status = status != LSP_OK ? status : lsp_csr_add_execute(sum, 1, u->A, 2, u->B, &C);
    cr_assert(status == LSP_OK || (C.rows == 42 && !C.rowptr));
    cr_assert(T.rowptr || T.rows == 42);
    lsp_csr_transpose_plan_destroy(plan), lsp_csr_add_plan_destroy(sum);
    return status;
}

Test(plans, every_allocation_may_fail) {
    lsp_ctx *ctx = test_ctx(1);
    lsp_csr A = planned_random(ctx, (int64_t[]){50, 40, 300}, test_types(8), false, 1);
    lsp_csr B = planned_random(ctx, (int64_t[]){50, 40, 200}, test_types(4), false, 2), same;
    must(ctx, lsp_csr_copy(ctx, &A, NULL, &same));
    test_failing_memory(1, use_plans, &(use){&A, &B});
    test_failing_memory(3, use_plans, &(use){&A, &same});
    lsp_ctx_destroy(ctx);
}
