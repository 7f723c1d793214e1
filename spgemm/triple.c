/* R*A*P in the cheaper of its two orders, once and by a plan. */
#include "spgemm.h"

/* Is (R*A)*P the same as R*(A*P), apart from rounding? A count of products, and the largest of products that may be
 * negative, are not. */
static bool associates(lsp_semiring semiring) {
    const lsp_product product = lsp_semiring_product(semiring);
    switch (lsp_semiring_join(semiring)) {
    case LSP_JOIN_FUSED:
        return true;
    case LSP_JOIN_LEAST:
        return product == LSP_PRODUCT_PLUS;
    case LSP_JOIN_LARGEST:
        return product == LSP_PRODUCT_PLUS || product == LSP_PRODUCT_BOTH;
    default:
        return false;
    }
}

lsp_status lsp_spgemm_order(lsp_ctx *ctx, const lsp_csr *R, const lsp_csr *A, const lsp_csr *P,
                            const lsp_spgemm_options *options, lsp_triple_order *order) {
    int64_t left, right;
    lsp_type type = lsp_common_type(lsp_common_type(R->val_type, A->val_type), P->val_type);
    type = lsp_spgemm_result_type(&(lsp_csr){.val_type = type}, P, options);
    *order = (lsp_triple_order){.left_first = true, .inner = *options, .outer = *options};
    order->inner.filter = (lsp_filter){0};
    order->inner.method = options->method == LSP_SPGEMM_MASK ? LSP_SPGEMM_AUTO : options->method;
    order->inner.types.rowptr_type = order->inner.types.col_type = LSP_NONE;
    order->inner.types.val_type = lsp_wide_type(type);
    order->outer.types.val_type = type;
    if (!associates(options->semiring)) {
        return LSP_OK;
    }
    LSP_TRY(lsp_spgemm_device_at(A->where)->count_products(ctx, R, A, &left));
    LSP_TRY(lsp_spgemm_device_at(A->where)->count_products(ctx, A, P, &right));
    order->left_first = left < right;
    return LSP_OK;
}

static lsp_status check_triple(lsp_ctx *ctx, const lsp_csr *R, const lsp_csr *A, const lsp_csr *P,
                               const lsp_spgemm_options *options) {
    static const char *const left[] = {"R", "A"}, *const right[] = {"A", "P"};
    lsp_spgemm_plan job;
    LSP_REQUIRE(!options->transpose_a && !options->transpose_b, LSP_ERR_ARGUMENT,
                "a product of three matrices has no transposed factors: transpose_a and transpose_b must be false");
    LSP_TRY(R != NULL ? lsp_spgemm_resolve(ctx, left, R, A, options, &job) : LSP_OK);
    return lsp_spgemm_resolve(ctx, right, A, P, options, &job);
}

/* A product called its factors A and B. Checks the arrays again, under their names. */
static lsp_status name_fault(lsp_ctx *ctx, lsp_status status, const lsp_csr *R, const lsp_csr *A, const lsp_csr *P) {
    const struct {
        const char *name;
        const lsp_csr *matrix;
    } factors[] = {{"R", R}, {"A", A}, {"P", P}};
    for (int f = 0; status == LSP_ERR_FORMAT && f < 3; f++) {
        const lsp_status fault = lsp_csr_check_valid(ctx, factors[f].name, factors[f].matrix);
        if (fault != LSP_OK) {
            return fault;
        }
    }
    return status;
}

lsp_status lsp_spgemm_triple(lsp_ctx *ctx, const lsp_csr *R, const lsp_csr *A, const lsp_csr *P,
                             const lsp_spgemm_options *options, lsp_csr *C, lsp_spgemm_info *info) {
    LSP_ENTER(ctx);
    LSP_OWNED_CSR(ctx, restriction);
    LSP_OWNED_CSR(ctx, inner);
    lsp_csr made = {0};
    lsp_spgemm_info first, last;
    lsp_triple_order order;
    options = lsp_spgemm_given(options);
    LSP_REQUIRE(C != NULL, LSP_ERR_ARGUMENT, "the place for the product is NULL");
    LSP_TRY(check_triple(ctx, R, A, P, options));
    if (R == NULL) {
        LSP_TRY(lsp_csr_transpose_as(ctx, "P", P, &restriction));
        R = &restriction;
    }
    LSP_TRY(lsp_spgemm_order(ctx, R, A, P, options, &order));
    LSP_TRY(name_fault(
        ctx, lsp_spgemm(ctx, order.left_first ? R : A, order.left_first ? A : P, &order.inner, &inner, &first), R, A,
        P));
    const lsp_csr *left = order.left_first ? &inner : R, *right = order.left_first ? P : &inner;
    LSP_TRY(name_fault(ctx, lsp_spgemm(ctx, left, right, &order.outer, &made, &last), R, A, P));
    if (info != NULL) {
        *info = last;
        info->products += first.products;
        lsp_spgemm_begin_reason(info, order.left_first ? "R*A first; " : "A*P first; ");
    }
    return lsp_csr_put(ctx, C, &made, C == R || C == A || C == P || C == options->filter.mask);
}

/* ---- by a plan: of the two products, and what lies between them ---- */

struct lsp_spgemm_triple_plan {
    lsp_ctx *ctx; /* NULL: the context was destroyed */
    lsp_plan_life life;
    lsp_csr_transpose_plan *transpose; /* NULL: the caller gives R */
    lsp_csr restriction;               /* P^T, if R is not given */
    bool left_first;                   /* (R*A)*P; otherwise R*(A*P) */
    lsp_spgemm_plan *first, *last;
    lsp_csr inner; /* R*A or A*P */
};

void lsp_spgemm_triple_plan_destroy(lsp_spgemm_triple_plan *plan) { lsp_plan_end(plan); }

lsp_status lsp_spgemm_triple_plan_get_info(const lsp_spgemm_triple_plan *plan, lsp_spgemm_info *inner,
                                           lsp_spgemm_info *outer) {
    LSP_PLAN_USE(plan);
    if (inner != NULL) {
        LSP_TRY(lsp_spgemm_plan_get_info(plan->first, inner));
        inner->plan_bytes = lsp_plan_bytes(plan) - lsp_plan_bytes(plan->last);
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

lsp_status lsp_spgemm_triple_plan_create(lsp_ctx *ctx, const lsp_csr *R, const lsp_csr *A, const lsp_csr *P,
                                         const lsp_spgemm_options *options, lsp_spgemm_triple_plan **plan) {
    LSP_PLAN_MAKE(lsp_spgemm_triple_plan, made, plan);
    options = lsp_spgemm_given(options);
    LSP_TRY(check_triple(ctx, R, A, P, options));
    if (R == NULL) {
        LSP_TRY(lsp_csr_transpose_plan_create(ctx, P, &made->transpose));
        LSP_TRY(lsp_csr_transpose_execute(made->transpose, P, &made->restriction));
    }
    LSP_TRY(plan_products(made, R != NULL ? R : &made->restriction, A, P, options));
    return LSP_PLAN_GIVE(made, plan);
}

static lsp_status run_triple(lsp_spgemm_triple_plan *plan, const lsp_csr *R, const lsp_csr *A, const lsp_csr *P,
                             bool update, lsp_csr *C) {
    LSP_PLAN_USE(plan);
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
