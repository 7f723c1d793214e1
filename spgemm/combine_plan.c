/* Plans of R*A*P: the plans of its two products, and what lies between them. */
#include "spgemm.h"

struct lsp_spgemm_triple_plan {
    lsp_ctx *ctx; /* NULL: the context was destroyed */
    lsp_plan_life life;
    lsp_csr_transpose_plan *transpose; /* NULL: the caller gives R */
    lsp_csr restriction;               /* P^T, if R is not given */
    bool left_first;                   /* (R*A)*P; otherwise R*(A*P) */
    lsp_spgemm_plan *first, *last;
    lsp_csr inner; /* R*A or A*P */
};

void lsp_spgemm_triple_plan_destroy(lsp_spgemm_triple_plan *plan) {
    if (plan == NULL) {
        return;
    }
    lsp_csr_transpose_plan_destroy(plan->transpose);
    lsp_spgemm_plan_destroy(plan->first);
    lsp_spgemm_plan_destroy(plan->last);
    lsp_csr_free(plan->ctx, &plan->restriction);
    lsp_csr_free(plan->ctx, &plan->inner);
    lsp_plan_end(plan);
}

lsp_status lsp_spgemm_triple_plan_get_info(const lsp_spgemm_triple_plan *plan, lsp_spgemm_info *inner,
                                           lsp_spgemm_info *outer) {
    if (plan == NULL || plan->ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    lsp_csr_plan_info transpose = {0};
    LSP_TRY(plan->transpose ? lsp_csr_transpose_plan_get_info(plan->transpose, &transpose) : LSP_OK);
    if (inner != NULL) {
        LSP_TRY(lsp_spgemm_plan_get_info(plan->first, inner));
        inner->plan_bytes += lsp_bytes_at(plan->ctx, plan) + transpose.plan_bytes +
                             lsp_spgemm_bytes_of(plan->ctx, &plan->restriction) +
                             lsp_spgemm_bytes_of(plan->ctx, &plan->inner);
    }
    return outer != NULL ? lsp_spgemm_plan_get_info(plan->last, outer) : LSP_OK;
}

/* Plans and makes the inner product, whose structure the last one needs. */
static lsp_status plan_products(lsp_spgemm_triple_plan *plan, const lsp_csr *R, const lsp_csr *A, const lsp_csr *P,
                                const lsp_spgemm_options *options) {
    lsp_ctx *ctx = plan->ctx;
    lsp_triple_order order;
    LSP_TRY(lsp_spgemm_order(ctx, R, A, P, options, &order));
    const bool left = plan->left_first = order.left_first;
    const char *const first[] = {left ? "R" : "A", left ? "A" : "P"};
    const char *const last[] = {left ? "R*A" : "R", left ? "P" : "A*P"};
    LSP_TRY(lsp_spgemm_plan_as(ctx, first, left ? R : A, left ? A : P, &order.inner, &plan->first));
    LSP_TRY(lsp_spgemm_execute(plan->first, left ? R : A, left ? A : P, &plan->inner));
    return lsp_spgemm_plan_as(ctx, last, left ? &plan->inner : R, left ? P : &plan->inner, &order.outer, &plan->last);
}

LSP_DROP(lsp_spgemm_triple_plan)

lsp_status lsp_spgemm_triple_plan_create(lsp_ctx *ctx, const lsp_csr *R, const lsp_csr *A, const lsp_csr *P,
                                         const lsp_spgemm_options *options, lsp_spgemm_triple_plan **plan) {
    LSP_ENTER(ctx);
    const lsp_spgemm_options defaults = {0};
    lsp_spgemm_triple_plan *made LSP_AT_END(lsp_spgemm_triple_plan_drop) = NULL;
    options = options != NULL ? options : &defaults;
    LSP_REQUIRE(plan != NULL, LSP_ERR_ARGUMENT, "the place for the plan is NULL");
    LSP_TRY(lsp_spgemm_check_triple(ctx, R, A, P, options));
    LSP_TRY(LSP_PLAN_NEW(ctx, &made));
    if (R == NULL) {
        LSP_TRY(lsp_csr_transpose_plan_create(ctx, P, &made->transpose));
        LSP_TRY(lsp_csr_transpose_execute(made->transpose, P, &made->restriction));
    }
    LSP_TRY(plan_products(made, R != NULL ? R : &made->restriction, A, P, options));
    *plan = made, made = NULL;
    return LSP_OK;
}

static lsp_status run_triple(lsp_spgemm_triple_plan *plan, const lsp_csr *R, const lsp_csr *A, const lsp_csr *P,
                             bool update, lsp_csr *C) {
    if (plan == NULL || plan->ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    lsp_ctx *ctx = plan->ctx;
    lsp_csr made = {0};
    LSP_REQUIRE(A != NULL && P != NULL && C != NULL, LSP_ERR_ARGUMENT,
                "a matrix to be multiplied, or the place for the product, is NULL");
    LSP_REQUIRE((R == NULL) == (plan->transpose != NULL), LSP_ERR_ARGUMENT, "R is %s, and the plan was made %s R",
                R == NULL ? "NULL" : "given", plan->transpose != NULL ? "without" : "with");
    if (R == NULL) {
        LSP_TRY(lsp_csr_transpose_refill(plan->transpose, P, &plan->restriction));
        R = &plan->restriction;
    }
    LSP_TRY(lsp_spgemm_refill(plan->first, plan->left_first ? R : A, plan->left_first ? A : P, &plan->inner));
    const lsp_csr *left = plan->left_first ? &plan->inner : R, *right = plan->left_first ? P : &plan->inner;
    if (update) {
        return lsp_spgemm_refill(plan->last, left, right, C);
    }
    LSP_TRY(lsp_spgemm_execute(plan->last, left, right, &made));
    return lsp_csr_put(ctx, C, &made, C == R || C == A || C == P);
}

lsp_status lsp_spgemm_triple_execute(lsp_spgemm_triple_plan *plan, const lsp_csr *R, const lsp_csr *A, const lsp_csr *P,
                                     lsp_csr *C) {
    return run_triple(plan, R, A, P, false, C);
}
lsp_status lsp_spgemm_triple_refill(lsp_spgemm_triple_plan *plan, const lsp_csr *R, const lsp_csr *A, const lsp_csr *P,
                                    lsp_csr *C) {
    return run_triple(plan, R, A, P, true, C);
}
