/* C = op(A)*op(B) by a plan: the calls that create, use, describe and destroy it, and the product at once, by a plan
 * that is not kept. The device does the work. */
#include "spgemm.h"

static const char *method_name(lsp_spgemm_method method) {
    return method == LSP_SPGEMM_REFERENCE ? "reference" : method == LSP_SPGEMM_MASK ? "mask" : "sort";
}

/* ---- the plan ---- */

/* Checks A, B and the options. `names` are those of A and B in error messages. */
static lsp_status check_operands(lsp_ctx *ctx, const char *const names[2], const lsp_csr *A, const lsp_csr *B,
                                 const lsp_spgemm_options *options) {
    LSP_TRY(lsp_spgemm_check_headers(ctx, names, A, B, options));
    if (A->where == LSP_HOST) { /* kernels check the arrays of matrices on the GPU, later */
        LSP_TRY(lsp_csr_check_valid(ctx, names[0], A));
        LSP_TRY(A == B ? LSP_OK : lsp_csr_check_valid(ctx, names[1], B));
    }
    return LSP_OK;
}

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
    made->val_type = lsp_spgemm_result_type(A, B, options);
    made->type = lsp_wide_type(made->val_type);
    made->where = A->where;
    made->cpu = A->where == LSP_HOST ? (void *)(made + 1) : NULL;
    made->gpu = A->where == LSP_CUDA ? (void *)(made + 1) : NULL;
    made->options.types.place = lsp_place_of(A->where);
    LSP_TRY(made->device->inspect(made, A, B, ops));
    LSP_TRY(choose_arithmetic(made, A, B, ops));
    describe(made, &ops->B);
    return LSP_OK;
}

static lsp_spgemm_outline outline_of(const lsp_csr *A, uint64_t structure) {
    return (lsp_spgemm_outline){.rows = A->rows,
                                .cols = A->cols,
                                .nnz = A->nnz,
                                .rowptr_type = A->rowptr_type,
                                .col_type = A->col_type,
                                .val_type = A->val_type,
                                .structure = structure};
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
    LSP_TRY(check_operands(ctx, names, A, B, options));
    LSP_TRY(create_plan(ctx, names, A, B, options, &made, &ops));
    LSP_TRY(made->device->start_structures ? made->device->start_structures(ctx, A, B) : LSP_OK);
    LSP_TRY(made->device->read_structures(ctx, A, B, structure));
    made->kept = true;
    made->A = outline_of(A, structure[0]);
    made->B = outline_of(B, structure[1]);
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

/* Makes C: in the type of the arithmetic, then its values are rounded to their own type, or checked to fit it. */
static lsp_status multiply(lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops, bool update, lsp_csr *C) {
    static const char name[] = "the product";
    lsp_ctx *ctx = plan->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    lsp_csr wide = *C;
    if (plan->type == plan->val_type) {
        return multiply_exactly(plan, ops, update, C);
    }
    if (!update) {
        LSP_TRY(multiply_exactly(plan, ops, false, C));
        return lsp_csr_convert_integers(ctx, name, plan->val_type, C);
    }
    wide.val_type = plan->type;
    LSP_TRY(lsp_scratch_at(ctx, C->where, C->nnz, lsp_type_bytes(plan->type), &wide.val));
    LSP_TRY(multiply_exactly(plan, ops, true, &wide));
    LSP_TRY(lsp_csr_check_fits(ctx, name, &wide, plan->val_type));
    return lsp_convert_values(ctx, C->where, plan->val_type, C->val, wide.val_type, wide.val, wide.nnz);
}

/* ---- execution ---- */

/* Checks that A has the place, sizes, types and arrays of the matrix that the plan was made for, but not the hash of
 * its structure. */
static lsp_status check_outline(lsp_spgemm_plan *plan, const char *name, const lsp_spgemm_outline *planned,
                                const lsp_csr *A) {
    lsp_ctx *ctx = plan->ctx;
    LSP_REQUIRE(A->where == plan->where, LSP_ERR_ARGUMENT, "%s has left the memory of the %s since the plan was made",
                name, plan->where == LSP_CUDA ? "GPU" : "host");
    LSP_REQUIRE(A->rows == planned->rows && A->cols == planned->cols && A->nnz == planned->nnz, LSP_ERR_ARGUMENT,
                "%s is %lld x %lld with %lld entries; the plan was made for %lld x %lld with %lld", name,
                (long long)A->rows, (long long)A->cols, (long long)A->nnz, (long long)planned->rows,
                (long long)planned->cols, (long long)planned->nnz);
    LSP_REQUIRE(A->rowptr_type == planned->rowptr_type && A->col_type == planned->col_type &&
                    A->val_type == planned->val_type,
                LSP_ERR_ARGUMENT, "the types of %s have changed since the plan was made", name);
    LSP_REQUIRE(A->rowptr != NULL && (A->nnz == 0 || (A->col != NULL && (A->val_type == LSP_NONE || A->val != NULL))),
                LSP_ERR_ARGUMENT, "an array of %s is NULL", name);
    return LSP_OK;
}

/* Checks that C, whose values are to be computed again, has the sizes, types and arrays of this plan's product. */
static lsp_status check_result(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, const lsp_csr *C) {
    lsp_ctx *ctx = plan->ctx;
    lsp_csr shape;
    LSP_REQUIRE(plan->uses > 0, LSP_ERR_ARGUMENT, "the plan has made no product yet whose values could be new");
    LSP_TRY(lsp_spgemm_shape(plan, &shape));
    shape.val_type = plan->val_type;
    const lsp_spgemm_outline made = outline_of(&shape, 0);
    LSP_TRY(check_outline(plan, "C", &made, C));
    LSP_REQUIRE(C->val == NULL || (C->val != A->val && C->val != B->val), LSP_ERR_ARGUMENT,
                "the values of C are those of a factor: they cannot be read and written at once");
    return LSP_OK;
}

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
    LSP_OWNED_CSR(ctx, made);
    LSP_REQUIRE(A != NULL && B != NULL && C != NULL, LSP_ERR_ARGUMENT,
                "a matrix to be multiplied, or the place for the product, is NULL");
    LSP_TRY(check_outline(plan, "A", &plan->A, A));
    LSP_TRY(check_outline(plan, "B", &plan->B, B));
    LSP_TRY(update ? check_result(plan, A, B, C) : LSP_OK);
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

lsp_status lsp_spgemm_filter_made(lsp_ctx *ctx, const lsp_filter *filter, lsp_csr *C, lsp_spgemm_info *info) {
    lsp_csr left;
    if (lsp_filter_drops_any(filter)) {
        LSP_TRY(lsp_filter_rows(ctx, C, filter, &left));
        lsp_csr_free(ctx, C);
        *C = left;
        info->nnz = C->nnz;
    }
    return LSP_OK;
}

void lsp_spgemm_begin_reason(lsp_spgemm_info *info, const char *begin) {
    const size_t length = strlen(begin), own = strlen(info->reason), room = sizeof info->reason - 1 - length;
    const size_t left = own < room ? own : room;
    memmove(info->reason + length, info->reason, left);
    memcpy(info->reason, begin, length);
    info->reason[length + left] = 0;
}

/* The product of checked matrices. C NULL: only `info`. */
static lsp_status multiply_at_once(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                   lsp_csr *C, lsp_spgemm_info *info) {
    lsp_spgemm_plan *plan LSP_AT_END(lsp_plan_leave) = NULL;
    lsp_spgemm_operands ops LSP_AT_END(lsp_spgemm_release_operands) = {0};
    lsp_filter left = options->filter;
    lsp_spgemm_info once = {0};
    bool done = false;
    LSP_TRY(lsp_spgemm_device_at(A->where)->at_once(ctx, A, B, options, C, &once, &done));
    *info = once;
    if (!done || C == NULL) {
        LSP_TRY(create_plan(ctx, usual_names, A, B, options, &plan, &ops));
        LSP_TRY(C != NULL ? multiply(plan, &ops, false, C) : LSP_OK);
        left.mask = plan->masked ? NULL : left.mask;
        *info = plan->info;
        if (done) {
            info->passes = once.passes;
            info->blocks = once.blocks;
            info->scratch_bytes = once.scratch_bytes;
            memcpy(info->reason, once.reason, sizeof once.reason);
        } else {
            lsp_spgemm_begin_reason(info, once.reason);
        }
    }
    if (C == NULL) {
        info->plan_bytes = lsp_plan_bytes(plan);
        return LSP_OK;
    }
    return lsp_spgemm_filter_made(ctx, &left, C, info);
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
    LSP_TRY(multiply_at_once(ctx, &a, A == B ? &a : &b, &inner, C, info));
    if (C == NULL) {
        return LSP_OK;
    }
    LSP_TRY(type == wide ? LSP_OK : lsp_csr_convert_integers(ctx, "the product", type, C));
    return lsp_spgemm_filter_made(ctx, &rest, C, info);
}

lsp_status lsp_spgemm_uncut(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                            lsp_csr *C, lsp_spgemm_info *info) {
    lsp_spgemm_info here;
    LSP_SCRATCH_SCOPE(ctx);
    LSP_TRY(check_operands(ctx, usual_names, A, B, options));
    LSP_TRY(must_widen(A, B, lsp_spgemm_result_type(A, B, options)) ? widen_and_multiply(ctx, A, B, options, C, &here)
                                                                    : multiply_at_once(ctx, A, B, options, C, &here));
    LSP_TELL(info, here);
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
