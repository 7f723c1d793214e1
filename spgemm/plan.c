/* C = op(A)*op(B) by a plan: the calls that create, use, describe and destroy it, and the product at once, by a plan
 * that is not kept. The device does the work. */
#include "spgemm.h"

static const char *method_name(lsp_spgemm_method method) {
    return method == LSP_SPGEMM_REFERENCE ? "reference" : method == LSP_SPGEMM_MASK ? "mask" : "sort";
}

/* ---- the plan ---- */

/* Checks A, B and the options, and writes what the product is to *job. `names` are those of A and B in messages. */
static lsp_status check(lsp_ctx *ctx, const char *const names[2], const lsp_csr *A, const lsp_csr *B,
                        const lsp_spgemm_options *options, lsp_spgemm_plan *job) {
    LSP_TRY(lsp_spgemm_resolve(ctx, names, A, B, options, job));
    if (job->where == LSP_HOST) { /* kernels check the arrays of matrices on the GPU, later */
        LSP_TRY(lsp_csr_check_arrays(ctx, names[0], A));
        LSP_TRY(A == B ? LSP_OK : lsp_csr_check_arrays(ctx, names[1], B));
    }
    return LSP_OK;
}

/* Are only the entries of the filter's mask made? */
static bool is_masked(const lsp_spgemm_plan *plan) { return plan->info.method == LSP_SPGEMM_MASK; }

/* Fills the plan's info from its facts. */
static void describe(lsp_spgemm_plan *plan, const lsp_csr *B) {
    const lsp_spgemm_facts *facts = &plan->facts;
    if (!lsp_spgemm_choose_masked(plan)) {
        plan->device->describe(plan, B);
    }
    plan->info.method_name = method_name(plan->info.method);
    plan->info.passes = is_masked(plan) ? 1 : 2;
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
    plan->type = plan->options.types.val_type = LSP_F64;
    return plan->device->typed_operands ? plan->device->take_operands(plan, A, B, ops) : LSP_OK;
}

/* Makes the plan of a product that was checked. Leaves its operands in *ops for the first use. What was made of both
 * before a failure is the caller's too. */
static lsp_status create_plan(const lsp_spgemm_plan *job, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_plan **plan,
                              lsp_spgemm_operands *ops) {
    LSP_TRY(lsp_plan_new(job->ctx, job->device->plan_bytes, (void **)plan));
    LSP_PLAN_HOLDS(job->ctx, *plan);
    lsp_spgemm_plan *made = *plan;
    const lsp_plan_life life = made->life;
    *made = *job;
    made->life = life;
    made->info = (lsp_spgemm_info){0};
    made->cpu = job->where == LSP_HOST ? (void *)(made + 1) : NULL;
    made->gpu = job->where == LSP_CUDA ? (void *)(made + 1) : NULL;
    LSP_TRY(made->device->inspect(made, A, B, ops));
    LSP_TRY(choose_arithmetic(made, A, B, ops));
    describe(made, &ops->B);
    return LSP_OK;
}

lsp_status lsp_spgemm_plan_as(lsp_ctx *ctx, const char *const names[2], const lsp_csr *A, const lsp_csr *B,
                              const lsp_spgemm_options *options, lsp_spgemm_plan **plan) {
    LSP_ENTER(ctx);
    lsp_spgemm_operands ops LSP_AT_END(lsp_spgemm_release_operands) = {0};
    lsp_spgemm_plan *made LSP_AT_END(lsp_plan_leave) = NULL, job;
    LSP_REQUIRE(plan != NULL, LSP_ERR_ARGUMENT, "the place for the plan is NULL");
    options = lsp_spgemm_given(options);
    LSP_REQUIRE(!lsp_filter_drops_any(&options->filter), LSP_ERR_UNSUPPORTED,
                "a plan keeps the structure of its product, which a filter would change with the values");
    LSP_TRY(check(ctx, names, A, B, options, &job));
    LSP_TRY(create_plan(&job, A, B, &made, &ops));
    LSP_TRY(made->device->start_structures ? made->device->start_structures(ctx, A, B) : LSP_OK);
    LSP_TRY(made->device->read_structures(ctx, A, B, made->structure));
    made->kept = true;
    made->A = *A;
    made->B = *B;
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
static lsp_status multiply(lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops, bool update, lsp_csr *C) {
    LSP_SCRATCH_SCOPE(plan->ctx);
    if (is_masked(plan)) {
        LSP_TRY(plan->device->multiply_masked(plan, ops, C));
        plan->info.nnz = C->nnz;
    } else {
        LSP_TRY(plan->device->multiply(plan, ops, update, C));
    }
    plan->uses++;
    return LSP_OK;
}

static const char the_product[] = "the product";

/* Makes the values of C again: in the type of the arithmetic, then they are rounded to their own, or checked to fit. */
static lsp_status refill(lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops, lsp_csr *C) {
    lsp_ctx *ctx = plan->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    lsp_csr wide = *C;
    if (plan->type == plan->val_type) {
        return multiply(plan, ops, true, C);
    }
    wide.val_type = plan->type;
    LSP_TRY(lsp_scratch_at(ctx, C->where, C->nnz, lsp_type_bytes(plan->type), &wide.val));
    LSP_TRY(multiply(plan, ops, true, &wide));
    LSP_TRY(lsp_csr_check_fits(ctx, the_product, &wide, plan->val_type));
    return lsp_convert_values(ctx, C->where, plan->val_type, C->val, wide.val_type, wide.val, wide.nnz);
}

/* ---- execution ---- */

/* Checks that A has the place, sizes, types and arrays of the matrix that the plan was made for, but not the hash of
 * its structure. */
static lsp_status check_outline(lsp_spgemm_plan *plan, const char *name, const lsp_csr *planned, const lsp_csr *A) {
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
    LSP_TRY(check_outline(plan, "C", &shape, C));
    LSP_REQUIRE(C->val == NULL || (C->val != A->val && C->val != B->val), LSP_ERR_ARGUMENT,
                "the values of C are those of a factor: they cannot be read and written at once");
    return LSP_OK;
}

/* Refuses matrices whose row pointers or columns have changed since the plan was made. */
static lsp_status check_structures(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B) {
    lsp_ctx *ctx = plan->ctx;
    uint64_t structure[2];
    LSP_TRY(plan->device->read_structures(ctx, A, B, structure));
    LSP_REQUIRE(structure[0] == plan->structure[0] && structure[1] == plan->structure[1], LSP_ERR_ARGUMENT,
                "the row pointers or the columns of %s have changed since the plan was made",
                structure[0] != plan->structure[0] ? "A" : "B");
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
    if (update) {
        LSP_TRY(refill(plan, &ops, C));
        return blind ? check_structures(plan, A, B) : LSP_OK;
    }
    LSP_TRY(multiply(plan, &ops, false, &made));
    LSP_TRY(plan->type == plan->val_type ? LSP_OK : lsp_csr_convert_integers(ctx, the_product, plan->val_type, &made));
    return lsp_csr_put(ctx, C, &made, C == A || C == B);
}

lsp_status lsp_spgemm_execute(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_csr *C) {
    return execute(plan, A, B, false, C);
}

lsp_status lsp_spgemm_refill(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_csr *C) {
    return execute(plan, A, B, true, C);
}

/* ---- a plan that is not kept ---- */

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

/* Makes C, with values in the type of the arithmetic, or if C is NULL only fills job->info. */
static lsp_status make(lsp_spgemm_plan *job, const lsp_csr *A, const lsp_csr *B, lsp_csr *C) {
    lsp_spgemm_plan *plan LSP_AT_END(lsp_plan_leave) = NULL;
    lsp_spgemm_operands ops LSP_AT_END(lsp_spgemm_release_operands) = {0};
    bool done = false;
    LSP_TRY(job->device->at_once(job, A, B, C, &done));
    if (done && C != NULL) {
        return LSP_OK;
    }
    LSP_TRY(create_plan(job, A, B, &plan, &ops));
    LSP_TRY(C != NULL ? multiply(plan, &ops, false, C) : LSP_OK);
    if (done) {
        plan->info.passes = job->info.passes;
        plan->info.blocks = job->info.blocks;
        plan->info.scratch_bytes = job->info.scratch_bytes;
        memcpy(plan->info.reason, job->info.reason, sizeof job->info.reason);
    } else {
        lsp_spgemm_begin_reason(&plan->info, job->info.reason);
    }
    plan->info.plan_bytes = C == NULL ? lsp_plan_bytes(plan) : 0;
    job->info = plan->info;
    job->type = plan->type;
    return LSP_OK;
}

/* Gives a product its own type of values, and filters it. A mask bounds it before it is narrowed; the rest of the
 * filter looks at its values as they will be. */
static lsp_status finish(lsp_spgemm_plan *job, lsp_csr *C) {
    lsp_filter rest = job->options.filter;
    rest.mask = is_masked(job) ? NULL : rest.mask;
    if (job->type != job->val_type) {
        const lsp_filter bound = {.mask = rest.mask, .complement = rest.complement};
        LSP_TRY(lsp_spgemm_filter_made(job->ctx, &bound, C, &job->info));
        LSP_TRY(lsp_csr_convert_integers(job->ctx, the_product, job->val_type, C));
        rest.mask = NULL;
        rest.complement = false;
    }
    return lsp_spgemm_filter_made(job->ctx, &rest, C, &job->info);
}

lsp_status lsp_spgemm_uncut(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                            lsp_csr *C, lsp_spgemm_info *info) {
    lsp_spgemm_plan job;
    LSP_SCRATCH_SCOPE(ctx);
    LSP_TRY(check(ctx, (const char *const[]){"A", "B"}, A, B, options, &job));
    LSP_TRY(make(&job, A, B, C));
    LSP_TRY(C != NULL ? finish(&job, C) : LSP_OK);
    LSP_TELL(info, job.info);
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
