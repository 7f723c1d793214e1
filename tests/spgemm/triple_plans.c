/* Plans of R*A*P: the bits of the call without a plan, again and again with other values. */
#include "tests/products.h"

typedef struct operands {
    lsp_csr R, A, P;
} operands;

/* Few rows in R make (R*A)*P the cheaper order; few columns in P make it R*(A*P). */
static operands make_operands(int kind) {
    const lsp_type type = kind & 1 ? LSP_F32 : LSP_F64, index = kind & 2 ? LSP_I64 : LSP_I32;
    const int64_t coarse = kind & 4 ? 3 : 40;
    const recipe r = {coarse, 200, 7, index, index, type, kind & 8, false, -1, -1, 0};
    const recipe a = {200, 200, 6, index, index, type, kind & 8, false, -1, -1, 0};
    const recipe p = {200, 43 - coarse, 4, index, index, type, kind & 8, false, -1, -1, 0};
    const uint64_t seed = (uint64_t)kind * 10;
    return (operands){make(&r, seed), make(&a, seed + 1), make(&p, seed + 2)};
}
static void drop_operands(operands *o) { drop(&o->R), drop(&o->A), drop(&o->P); }

/* Other values in the same places. */
static void change(const lsp_csr *A, uint64_t seed) {
    for (int64_t k = 0; k < A->nnz; k++) {
        lsp_value_set(A->val_type, A->val, k, lsp_value_from(test_value(false, &seed), 0));
    }
}

Test(spgemm, plans_of_three_factors_give_the_bits_of_the_call) {
    for (int kind = 0; kind < 32; kind++) {
        lsp_ctx *ctx = test_ctx(1 + kind % 3);
        operands o = make_operands(kind);
        const lsp_csr *R = kind & 16 ? NULL : &o.R;
        lsp_spgemm_triple_plan *plan;
        lsp_csr C = {0}, kept = {0}, right;
        must(ctx, lsp_spgemm_triple_plan_create(ctx, R, &o.A, &o.P, NULL, &plan));
        for (int round = 0; round < 4; round++) {
            change(&o.R, 1 + (uint64_t)round), change(&o.A, 20 + (uint64_t)round), change(&o.P, 40 + (uint64_t)round);
            must(ctx, lsp_spgemm_triple(ctx, R, &o.A, &o.P, NULL, &right, NULL));
            if (round > 0) {
                must(ctx, lsp_spgemm_triple_refill(plan, R, &o.A, &o.P, &kept));
                same(ctx, &kept, &right, "an update");
            }
            must(ctx, lsp_spgemm_triple_execute(plan, R, &o.A, &o.P, &C));
            same(ctx, &C, &right, "an execution");
            lsp_csr_free(ctx, round == 0 ? &right : &kept);
            kept = C;
            lsp_csr_free(ctx, round == 0 ? NULL : &right);
        }
        lsp_spgemm_triple_plan_destroy(plan);
        drop_operands(&o);
        lsp_ctx_destroy(ctx);
    }
}

Test(spgemm, plans_of_three_factors_refuse_what_makes_no_sense) {
    lsp_ctx *ctx = test_ctx(1);
    operands o = make_operands(0), other = make_operands(9);
    lsp_spgemm_triple_plan *plan = NULL;
    lsp_csr C = {.rows = 42};
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_triple_plan_create(ctx, NULL, &o.A, NULL, NULL, &plan));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_triple_plan_create(ctx, NULL, &o.A, &o.P, NULL, NULL));
    must_fail(ctx, LSP_ERR_ARGUMENT, "cannot be multiplied",
              lsp_spgemm_triple_plan_create(ctx, &o.P, &o.A, &o.P, NULL, &plan));
    must_fail(ctx, LSP_ERR_UNSUPPORTED, "filter",
              lsp_spgemm_triple_plan_create(ctx, NULL, &o.A, &o.P, &(lsp_spgemm_options){.filter.drop = true}, &plan));
    cr_assert(plan == NULL);
    must(ctx, lsp_spgemm_triple_plan_create(ctx, NULL, &o.A, &o.P, NULL, &plan));
    must_fail(ctx, LSP_ERR_ARGUMENT, "R is given, and the plan was made without R",
              lsp_spgemm_triple_execute(plan, &o.R, &o.A, &o.P, &C));
    must_fail(ctx, LSP_ERR_ARGUMENT, "the plan was made for",
              lsp_spgemm_triple_execute(plan, NULL, &other.A, &o.P, &C));
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_spgemm_triple_execute(plan, NULL, &o.A, &o.P, NULL));
    cr_assert(C.rows == 42 && C.rowptr == NULL);
    lsp_ctx_destroy(ctx); /* a plan may outlive it */
    cr_assert_eq(lsp_spgemm_triple_execute(plan, NULL, &o.A, &o.P, &C), LSP_ERR_ARGUMENT);
    lsp_spgemm_triple_plan_destroy(plan), lsp_spgemm_triple_plan_destroy(NULL);
    drop_operands(&o), drop_operands(&other);
}

static lsp_status use_triple(lsp_ctx *ctx, void *data) {
    const operands *o = data;
    lsp_spgemm_triple_plan *plan = NULL;
    lsp_csr C = {.rows = 42};
    lsp_status status = lsp_spgemm_triple_plan_create(ctx, NULL, &o->A, &o->P, NULL, &plan);
    cr_assert(status == LSP_OK || plan == NULL);
    status = status == LSP_OK ? lsp_spgemm_triple_execute(plan, NULL, &o->A, &o->P, &C) : status;
    cr_assert(status == LSP_OK || (C.rows == 42 && C.rowptr == NULL));
    lsp_spgemm_triple_plan_destroy(plan);
    return status;
}

Test(spgemm, plans_of_three_factors_without_memory_leave_everything_alone) {
    operands o = make_operands(0);
    test_failing_memory(2, use_triple, &o);
    drop_operands(&o);
}
