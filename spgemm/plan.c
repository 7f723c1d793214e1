/* C = op(A)*op(B) by a plan: the calls that create, use, describe and destroy it, and the product at once, by a plan
 * that is not kept. The device does the work. */
#include "blocks.h"
#include "spgemm.h"

static const char *method_name(lsp_spgemm_method method) {
    return method == LSP_SPGEMM_REFERENCE ? "reference" : method == LSP_SPGEMM_MASK ? "mask" : "sort";
}

/* ---- the plan ---- */

/* Fills the plan's info from its facts. */
static void describe(lsp_spgemm_plan *plan, const lsp_csr *B) {
    const lsp_spgemm_facts *facts = &plan->facts;
    plan->masked = lsp_spgemm_choose_masked(plan);
    if (!plan->masked) {
        plan->device->describe(plan, B);
    }
    plan->info.method_name = method_name(plan->info.method);
    plan->info.passes = plan->masked ? 1 : 2;
    plan->info.products = facts->products;
    plan->info.nnz_bound = facts->nnz_bound;
    plan->info.nnz = -1;
    plan->info.max_row_products = facts->max_row_products;
    plan->info.bound_bytes =
        lsp_spgemm_matrix_bytes(facts->rows, facts->cols, facts->nnz_bound, &plan->options.types, plan->val_type);
    if (plan->type != plan->val_type) {
        plan->info.scratch_bytes += facts->nnz_bound * (int64_t)lsp_type_bytes(plan->type);
    }
    lsp_log(plan->ctx, "spgemm: %lld products in %lld blocks, method %s: %s", (long long)facts->products,
            (long long)plan->info.blocks, plan->info.method_name, plan->info.reason);
}

/* Counts beyond 2^24 are made in LSP_F64, which holds them up to 2^53, and rounded to LSP_F32 once. */
static lsp_status choose_arithmetic(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B,
                                    lsp_spgemm_operands *ops) {
    const int64_t exact = 1 << 24;
    if (!lsp_semiring_counts(plan->options.semiring) || plan->val_type != LSP_F32 ||
        plan->facts.max_row_products <= exact) {
        return LSP_OK;
    }
    plan->type = LSP_F64;
    return plan->device->typed_operands ? plan->device->take_operands(plan, A, B, ops) : LSP_OK;
}

/* Makes the plan of checked matrices. Leaves their operands in *ops for the first product. What was made of both before
 * a failure is the caller's too. */
static lsp_status create_plan(lsp_ctx *ctx, const char *const names[2], const lsp_csr *A, const lsp_csr *B,
                              const lsp_spgemm_options *options, lsp_spgemm_plan **plan, lsp_spgemm_operands *ops) {
    const lsp_spgemm_device *device = lsp_spgemm_device_at(A->where);
    LSP_TRY(lsp_plan_new(ctx, device->plan_bytes, (void **)plan));
    LSP_PLAN_HOLDS(ctx, *plan);
    lsp_spgemm_plan *made = *plan;
    made->device = device;
    made->names[0] = names[0];
    made->names[1] = names[1];
    made->options = *options;
    made->type = lsp_spgemm_result_type(A, B, options);
    made->where = A->where;
    made->cpu = A->where == LSP_HOST ? (void *)(made + 1) : NULL;
    made->gpu = A->where == LSP_CUDA ? (void *)(made + 1) : NULL;
    made->options.types.place = lsp_place_of(A->where);
    made->val_type = made->type;
    made->type = lsp_wide_type(made->type);
    LSP_TRY(made->device->inspect(made, A, B, ops));
    LSP_TRY(choose_arithmetic(made, A, B, ops));
    describe(made, &ops->B);
    return LSP_OK;
}

lsp_status lsp_spgemm_plan_as(lsp_ctx *ctx, const char *const names[2], const lsp_csr *A, const lsp_csr *B,
                              const lsp_spgemm_options *options, lsp_spgemm_plan **plan) {
    LSP_ENTER(ctx);
    lsp_spgemm_operands ops LSP_AT_END(lsp_spgemm_release_operands) = {0};
    lsp_spgemm_plan *made LSP_AT_END(lsp_plan_leave) = NULL;
    uint64_t structure[2];
    LSP_REQUIRE(plan != NULL, LSP_ERR_ARGUMENT, "the place for the plan is NULL");
    options = lsp_spgemm_given(options);
    LSP_REQUIRE(!lsp_filter_drops_any(&options->filter), LSP_ERR_UNSUPPORTED,
                "a plan keeps the structure of its product, which a filter would change with the values");
    LSP_TRY(lsp_spgemm_check_operands(ctx, names, A, B, options));
    LSP_TRY(create_plan(ctx, names, A, B, options, &made, &ops));
    LSP_TRY(made->device->start_structures ? made->device->start_structures(ctx, A, B) : LSP_OK);
    LSP_TRY(made->device->read_structures(ctx, A, B, structure));
    made->kept = true;
    made->A = lsp_spgemm_outline_of(A, structure[0]);
    made->B = lsp_spgemm_outline_of(B, structure[1]);
    return LSP_PLAN_GIVE(made, plan);
}

lsp_status lsp_spgemm_plan_create(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                  lsp_spgemm_plan **plan) {
    return lsp_spgemm_plan_as(ctx, (const char *const[]){"A", "B"}, A, B, options, plan);
}

void lsp_spgemm_plan_destroy(lsp_spgemm_plan *plan) { lsp_plan_end(plan); }

lsp_status lsp_spgemm_plan_get_info(const lsp_spgemm_plan *plan, lsp_spgemm_info *info) {
    LSP_TRY(LSP_PLAN_TELL(plan, info));
    info->plan_bytes = lsp_plan_bytes(plan);
    return LSP_OK;
}

/* ---- the product ---- */

/* Makes C, with values in the type of the arithmetic. If `update`, C has its structure already. */
static lsp_status multiply_exactly(lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops, bool update, lsp_csr *C) {
    LSP_SCRATCH_SCOPE(plan->ctx);
    if (plan->masked) {
        LSP_TRY(plan->device->multiply_masked(plan, ops, C));
        plan->info.nnz = C->nnz;
    } else {
        LSP_TRY(plan->device->multiply(plan, ops, update, C));
    }
    plan->uses++;
    return LSP_OK;
}

/* Makes C in the type of the arithmetic, then rounds its values to their own type, or checks that they fit it. */
static lsp_status multiply_and_round(lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops, bool update, lsp_csr *C) {
    lsp_ctx *ctx = plan->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    LSP_OWNED_CSR(ctx, made);
    lsp_csr again = *C, *wide = update ? &again : &made;
    void *val = C->val;
    if (update) {
        again.val_type = plan->type;
        LSP_TRY(lsp_scratch_at(ctx, C->where, C->nnz, lsp_type_bytes(plan->type), &again.val));
    }
    LSP_TRY(multiply_exactly(plan, ops, update, wide));
    LSP_TRY(lsp_is_integer(plan->type) ? lsp_csr_check_fits(ctx, "the product", wide, plan->val_type) : LSP_OK);
    if (!update) {
        LSP_TRY(lsp_alloc(ctx, made.where, made.nnz, lsp_type_bytes(plan->val_type), &val));
    }
    const lsp_status status =
        lsp_convert_values(ctx, wide->where, plan->val_type, val, wide->val_type, wide->val, wide->nnz);
    if (update) {
        return status;
    }
    lsp_free(ctx, made.val);
    made.val = val;
    made.val_type = plan->val_type;
    return status != LSP_OK ? status : lsp_csr_put(ctx, C, &made, false);
}

static lsp_status multiply(lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops, bool update, lsp_csr *C) {
    return plan->type == plan->val_type ? multiply_exactly(plan, ops, update, C)
                                        : multiply_and_round(plan, ops, update, C);
}

/* ---- execution ---- */

/* Refuses matrices whose row pointers or columns have changed since the plan was made. */
static lsp_status check_structures(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B) {
    lsp_ctx *ctx = plan->ctx;
    uint64_t structure[2];
    LSP_TRY(plan->device->read_structures(ctx, A, B, structure));
    LSP_REQUIRE(structure[0] == plan->A.structure && structure[1] == plan->B.structure, LSP_ERR_ARGUMENT,
                "the row pointers or the columns of %s have changed since the plan was made",
                structure[0] != plan->A.structure ? "A" : "B");
    return LSP_OK;
}

static lsp_status execute(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, bool update, lsp_csr *C) {
    LSP_PLAN_USE(plan);
    lsp_spgemm_operands ops LSP_AT_END(lsp_spgemm_release_operands) = {0};
    lsp_csr made = {0};
    LSP_REQUIRE(A != NULL && B != NULL && C != NULL, LSP_ERR_ARGUMENT,
                "a matrix to be multiplied, or the place for the product, is NULL");
    LSP_TRY(lsp_spgemm_check_outline(plan, "A", &plan->A, A));
    LSP_TRY(lsp_spgemm_check_outline(plan, "B", &plan->B, B));
    LSP_TRY(update ? lsp_spgemm_check_result(plan, A, B, C) : LSP_OK);
    const bool blind = update && plan->device->is_blind && plan->device->is_blind(plan);
    LSP_TRY(plan->device->start_structures ? plan->device->start_structures(ctx, A, B) : LSP_OK);
    LSP_TRY(blind ? LSP_OK : check_structures(plan, A, B));
    LSP_TRY(plan->device->take_operands(plan, A, B, &ops));
    LSP_TRY(multiply(plan, &ops, update, update ? C : &made));
    if (update) {
        return blind ? check_structures(plan, A, B) : LSP_OK;
    }
    return lsp_csr_put(ctx, C, &made, C == A || C == B);
}

lsp_status lsp_spgemm_execute(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_csr *C) {
    return execute(plan, A, B, false, C);
}

lsp_status lsp_spgemm_refill(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_csr *C) {
    return execute(plan, A, B, true, C);
}

/* ---- a plan that is not kept ---- */

static const char *const usual_names[] = {"A", "B"};

/* Drops entries of a product, in place. */
static lsp_status filter(lsp_ctx *ctx, const lsp_filter *filter, lsp_csr *C, lsp_spgemm_info *info) {
    lsp_csr left;
    if (lsp_filter_drops_any(filter)) {
        LSP_TRY(lsp_filter_rows(ctx, C, filter, &left));
        lsp_csr_free(ctx, C);
        *C = left;
        info->nnz = C->nnz;
    }
    return LSP_OK;
}

/* Puts a begin before a reason, which may lose its end. */
static void begin_reason(lsp_spgemm_info *info, const char *begin) {
    const size_t length = strlen(begin), own = strlen(info->reason), room = sizeof info->reason - 1 - length;
    const size_t left = own < room ? own : room;
    memmove(info->reason + length, info->reason, left);
    memcpy(info->reason, begin, length);
    info->reason[length + left] = 0;
}

/* The product of checked matrices. C NULL: only `info`. */
static lsp_status multiply_at_once(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                   lsp_csr *C, lsp_spgemm_info *info) {
    LSP_OWNED_CSR(ctx, made);
    lsp_spgemm_plan *plan LSP_AT_END(lsp_plan_leave) = NULL;
    lsp_spgemm_operands ops LSP_AT_END(lsp_spgemm_release_operands) = {0};
    lsp_filter left = options->filter;
    lsp_spgemm_info once = {0};
    bool done = false;
    LSP_TRY(lsp_spgemm_device_at(A->where)->at_once(ctx, A, B, options, C != NULL ? &made : NULL, &once, &done));
    *info = once;
    if (!done || C == NULL) {
        LSP_TRY(create_plan(ctx, usual_names, A, B, options, &plan, &ops));
        LSP_TRY(C != NULL ? multiply(plan, &ops, false, &made) : LSP_OK);
        left.mask = plan->masked ? NULL : left.mask;
        *info = plan->info;
        if (done) {
            info->passes = once.passes;
            info->blocks = once.blocks;
            info->scratch_bytes = once.scratch_bytes;
            memcpy(info->reason, once.reason, sizeof once.reason);
        } else {
            begin_reason(info, once.reason);
        }
    }
    if (C == NULL) {
        info->plan_bytes = lsp_plan_bytes(plan);
        return LSP_OK;
    }
    LSP_TRY(filter(ctx, &left, &made, info));
    return lsp_csr_put(ctx, C, &made, false);
}

/* Has a factor integers, or the product, that are not of the type of the arithmetic? */
static bool must_widen(const lsp_csr *A, const lsp_csr *B, lsp_type type) {
    const lsp_type wide = lsp_wide_type(type);
    const bool integers = lsp_is_integer(A->val_type) || lsp_is_integer(B->val_type) || lsp_is_integer(type);
    return type != LSP_NONE && integers && (type != wide || A->val_type != wide || B->val_type != wide);
}

/* Widens the factors first, so that all ways of making a product take them, and narrows the product at the end. A mask
 * bounds it before it is narrowed; the rest of the filter looks at its values as they will be. */
static lsp_status widen_and_multiply(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B,
                                     const lsp_spgemm_options *options, lsp_csr *C, lsp_spgemm_info *info) {
    LSP_OWNED_CSR(ctx, made);
    const lsp_type type = lsp_spgemm_result_type(A, B, options), wide = lsp_wide_type(type);
    lsp_spgemm_options inner = *options;
    lsp_filter rest = options->filter;
    lsp_csr a, b;
    inner.types.val_type = wide;
    inner.filter = (lsp_filter){.mask = options->filter.mask, .complement = options->filter.complement};
    rest.mask = NULL;
    rest.complement = false;
    LSP_TRY(lsp_csr_widen(ctx, A, wide, &a));
    LSP_TRY(A == B ? LSP_OK : lsp_csr_widen(ctx, B, wide, &b));
    LSP_TRY(multiply_at_once(ctx, &a, A == B ? &a : &b, &inner, C != NULL ? &made : NULL, info));
    if (C == NULL) {
        return LSP_OK;
    }
    LSP_TRY(type == wide ? LSP_OK : lsp_csr_narrow(ctx, "the product", type, &made));
    LSP_TRY(filter(ctx, &rest, &made, info));
    return lsp_csr_put(ctx, C, &made, false);
}

lsp_status lsp_spgemm_uncut(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                            lsp_csr *C, lsp_spgemm_info *info) {
    lsp_spgemm_info here;
    LSP_SCRATCH_SCOPE(ctx);
    LSP_TRY(lsp_spgemm_check_operands(ctx, usual_names, A, B, options));
    LSP_TRY(must_widen(A, B, lsp_spgemm_result_type(A, B, options)) ? widen_and_multiply(ctx, A, B, options, C, &here)
                                                                    : multiply_at_once(ctx, A, B, options, C, &here));
    if (info != NULL) {
        *info = here;
    }
    return LSP_OK;
}

lsp_status lsp_spgemm_explain(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                              lsp_spgemm_info *info) {
    LSP_ENTER(ctx);
    options = lsp_spgemm_given(options);
    LSP_REQUIRE(info != NULL, LSP_ERR_ARGUMENT, "the place for the product's facts is NULL");
    LSP_REQUIRE(!lsp_filter_drops_any(&options->filter), LSP_ERR_UNSUPPORTED,
                "a product with a filter is not explained: leave the filter away");
    return lsp_spgemm_uncut(ctx, A, B, options, NULL, info);
}
