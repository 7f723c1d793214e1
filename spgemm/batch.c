/* C[i] = op(A[i])*op(B[i]) for many i: by the device at once, or by one product of two stacks (batch.h). Then the C[i]
 * are slices of its result: only their row pointers are made anew, because those of every matrix begin at 0. */
#include "batch.h"
#include "core/cuda.h"
#include "spgemm.h"

struct lsp_spgemm_batch_plan {
    lsp_ctx *ctx; /* NULL: the context was destroyed */
    lsp_plan_life life;
    int64_t count;
    lsp_spgemm_options options; /* of the product of the stacks */
    lsp_type rowptr_type;       /* of each product: as asked for, then as made */
    lsp_batch_factor A, B;
    lsp_batch_span *C;        /* count + 1; entry_at is set when products are made */
    lsp_spgemm_plan *product; /* of the stacks; NULL in a plan that serves one call, or has no matrices */
    lsp_csr W;                /* all products together, whose columns and values the caller has; all zero before */
};

static const lsp_spgemm_info no_products = {.method = LSP_SPGEMM_SORT, .method_name = "sort"};

/* ---- checks ---- */

static bool overlap(const lsp_csr *A, const lsp_csr *C, int64_t count) {
    return (uintptr_t)C < (uintptr_t)(A + count) && (uintptr_t)A < (uintptr_t)(C + count);
}

static lsp_status check_arrays(lsp_ctx *ctx, int64_t count, const lsp_csr *A, const lsp_csr *B, const lsp_csr *C) {
    LSP_REQUIRE(count == 0 || (A != NULL && B != NULL && C != NULL), LSP_ERR_ARGUMENT,
                "the matrices of a batch of %lld, or the place for the products, are NULL", (long long)count);
    LSP_REQUIRE(count == 0 || (!overlap(A, C, count) && !overlap(B, C, count)), LSP_ERR_ARGUMENT,
                "the place for %lld products, which share their memory, is that of the factors", (long long)count);
    return LSP_OK;
}

/* Checks everything but arrays, and that every pair can be multiplied. *job = the first product, if there is one. */
static lsp_status check_batch(lsp_ctx *ctx, int64_t count, const lsp_csr *A, const lsp_csr *B,
                              const lsp_spgemm_options *options, lsp_spgemm_plan *job) {
    static const char *const names[] = {"A[0]", "B[0]"};
    const int64_t most = INT64_MAX / (int64_t)sizeof(lsp_csr);
    LSP_REQUIRE(count >= 0 && count <= most, LSP_ERR_ARGUMENT, "a batch of %lld products: 0 to %lld are possible",
                (long long)count, (long long)most);
    LSP_REQUIRE(!lsp_filter_drops_any(&options->filter), LSP_ERR_UNSUPPORTED,
                "a batch of %lld products has no filter: call lsp_spgemm for each", (long long)count);
    LSP_TRY(lsp_spgemm_check_options(ctx, options, count > 0 && A != NULL ? A->where : LSP_HOST));
    LSP_REQUIRE(count == 0 || (A != NULL && B != NULL), LSP_ERR_ARGUMENT, "the matrices of a batch of %lld are NULL",
                (long long)count);
    for (int64_t i = 0; i < count; i++) {
        const int64_t inner_a = options->transpose_a ? A[i].rows : A[i].cols;
        const int64_t inner_b = options->transpose_b ? B[i].cols : B[i].rows;
        LSP_REQUIRE(inner_a == inner_b, LSP_ERR_ARGUMENT,
                    "A[%lld] of %lld x %lld%s cannot be multiplied by B[%lld] of %lld x %lld%s", (long long)i,
                    (long long)A[i].rows, (long long)A[i].cols, options->transpose_a ? ", transposed," : "",
                    (long long)i, (long long)B[i].rows, (long long)B[i].cols,
                    options->transpose_b ? ", transposed" : "");
    }
    return count > 0 ? lsp_spgemm_resolve(ctx, names, A, B, options, job) : LSP_OK;
}

/* ---- the stacks ---- */

static lsp_status open_batch(lsp_spgemm_batch_plan *b, int64_t count, const lsp_csr *A, const lsp_csr *B,
                             const lsp_spgemm_options *options, bool kept) {
    lsp_ctx *ctx = b->ctx;
    LSP_PLAN_HOLDS(ctx, b);
    const bool pattern = options->types.drop_values, flipped = options->transpose_b;
    b->count = count;
    b->options = *options;
    b->options.transpose_b = false;          /* the stack B.T takes its place */
    b->options.types.rowptr_type = LSP_NONE; /* of the stack: it has more entries than any product */
    b->rowptr_type = options->types.rowptr_type;
    b->A = (lsp_batch_factor){"A", count, .diagonal = true, .pattern = pattern};
    b->B = (lsp_batch_factor){"B", count, .diagonal = flipped, .transposed = flipped, .pattern = pattern};
    if (count == 0) {
        return LSP_OK;
    }
    LSP_TRY(lsp_batch_open(ctx, &b->A, A, kept));
    LSP_TRY(lsp_batch_open(ctx, &b->B, B, kept));
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, count + 1, sizeof *b->C, (void **)&b->C));
    for (int64_t i = 0; i <= count; i++) {
        const lsp_batch_span *a = &b->A.spans[i];
        b->C[i] = (lsp_batch_span){.row_at = options->transpose_a ? a->shift : a->row_at};
        b->C[i].cols = i == count ? 0 : flipped ? B[i].rows : B[i].cols;
    }
    return LSP_OK;
}

/* ---- the products ---- */

/* Product i of the stack *W, and its row pointers among all of them. */
static lsp_csr slice(const lsp_spgemm_batch_plan *b, const lsp_csr *W, void *pointers, int64_t i) {
    const lsp_batch_span *c = &b->C[i];
    lsp_csr all = *W;
    all.rowptr = pointers;
    all.rowptr_type = b->rowptr_type;
    return lsp_batch_slice(&all, c[1].row_at - c->row_at, c->cols, c[1].entry_at - c->entry_at,
                           lsp_batch_first(b->C, LSP_BATCH_POINTERS, i), c->entry_at);
}

/* Finds where each product ends, and makes the row pointers of each. The types fit the one with the most entries. */
static lsp_status make_pointers(lsp_spgemm_batch_plan *b, const lsp_csr *W, void **pointers) {
    lsp_ctx *ctx = b->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_batch_table *each = lsp_spgemm_device_at(W->where)->batch;
    const bool on_gpu = W->where == LSP_CUDA;
    lsp_csr_types types = {.rowptr_type = b->rowptr_type, .col_type = W->col_type};
    lsp_batch_job job;
    int64_t *ends, most = 0;
    LSP_TRY(LSP_SCRATCH(ctx, b->count, &ends));
    LSP_TRY(lsp_batch_prepare(ctx, b->C, b->count, W, &(lsp_csr){.rowptr = ends}, &job));
    LSP_TRY(on_gpu ? lsp_scratch_at(ctx, LSP_CUDA, b->count, sizeof *ends, &job.to.rowptr) : LSP_OK);
    LSP_TRY(each->find_end(ctx, &job));
    LSP_TRY(on_gpu ? lsp_cuda_read(ctx, ends, job.to.rowptr, b->count * (int64_t)sizeof *ends) : LSP_OK);
    for (int64_t i = 0; i < b->count; i++) {
        most = lsp_max(most, ends[i] - b->C[i].entry_at);
        b->C[i + 1].entry_at = ends[i];
    }
    LSP_TRY(lsp_csr_resolve(ctx, W->cols, most, W->val_type, &types, &types));
    b->rowptr_type = types.rowptr_type;
    LSP_TRY(lsp_alloc(ctx, W->where, W->rows + b->count, lsp_type_bytes(types.rowptr_type), pointers));
    job.to = (lsp_csr){.rowptr = *pointers, .rowptr_type = types.rowptr_type};
    return each->rebase(ctx, &job);
}

/* C[i] = the slices of *W, whose columns and values they share from now on. The batch keeps W's row pointers, which an
 * update needs. Unless it fails, W is empty then. */
static lsp_status hand_out(lsp_spgemm_batch_plan *b, lsp_csr *W, lsp_csr *C) {
    lsp_ctx *ctx = b->ctx;
    void *pointers = NULL;
    LSP_FREES(ctx, pointers); /* unless it is shared then */
    LSP_TRY(make_pointers(b, W, &pointers));
    for (int64_t i = 0; i < b->count; i++) {
        C[i] = slice(b, W, pointers, i);
    }
    lsp_make_joint(ctx, (void *const[]){pointers, W->col, W->val}, 3, b->count);
    lsp_free(ctx, b->W.rowptr);
    b->W = *W;
    b->W.col = b->W.val = NULL;
    lsp_plan_take(b, b->W.rowptr);
    *W = (lsp_csr){0};
    return LSP_OK;
}

lsp_status lsp_spgemm_batch(lsp_ctx *ctx, int64_t count, const lsp_csr *A, const lsp_csr *B,
                            const lsp_spgemm_options *options, lsp_csr *C, lsp_spgemm_info *info) {
    LSP_ENTER(ctx);
    LSP_OWNED_CSR(ctx, W);
    bool done = false;
    lsp_spgemm_plan job = {.info = no_products};
    options = lsp_spgemm_given(options);
    lsp_spgemm_batch_plan *batch LSP_AT_END(lsp_plan_leave) = NULL;
    LSP_TRY(check_batch(ctx, count, A, B, options, &job));
    LSP_TRY(check_arrays(ctx, count, A, B, C));
    if (count > 0 && job.device->batch_at_once != NULL) {
        LSP_TRY(job.device->batch_at_once(&job, count, A, B, lsp_spgemm_uncut, C, &done));
    }
    if (count > 0 && !done) {
        LSP_TRY(LSP_PLAN_NEW(ctx, &batch));
        LSP_TRY(open_batch(batch, count, A, B, options, false));
        LSP_TRY(lsp_spgemm(ctx, &batch->A.stack, lsp_batch_operand(&batch->B), &batch->options, &W, &job.info));
        LSP_TRY(hand_out(batch, &W, C));
    }
    LSP_TELL(info, job.info);
    return LSP_OK;
}

lsp_status lsp_spgemm_batch_free(lsp_ctx *ctx, int64_t count, lsp_csr *C) {
    lsp_joint batch = {0};
    LSP_REQUIRE(ctx != NULL, LSP_ERR_ARGUMENT, "the context is NULL");
    LSP_REQUIRE(count >= 0 && (C != NULL || count == 0), LSP_ERR_ARGUMENT, "a batch of %lld products at %p",
                (long long)count, (void *)C);
    for (int64_t i = 0; i < count; i++) {
        const bool same = batch.group != NULL && (uintptr_t)C[i].rowptr - (uintptr_t)batch.group < batch.bytes;
        const lsp_joint joint = same ? batch : lsp_joint_at(ctx, C[i].rowptr);
        LSP_REQUIRE(joint.group != NULL || lsp_csr_is_own(ctx, &C[i]), LSP_ERR_ARGUMENT,
                    "C[%lld], %lld x %lld with %lld entries, is not freed: it is neither of a batch nor this context's",
                    (long long)i, (long long)C[i].rows, (long long)C[i].cols, (long long)C[i].nnz);
        LSP_REQUIRE(
            joint.group == NULL || joint.sharers == count, LSP_ERR_ARGUMENT,
            "C[%lld] is one of %lld products that share their memory and are freed together, but %lld are given: "
            "nothing is freed",
            (long long)i, (long long)joint.sharers, (long long)count);
        LSP_REQUIRE(joint.group == NULL || batch.group == NULL || joint.group == batch.group, LSP_ERR_ARGUMENT,
                    "C[%lld] is of another batch than the products before it: nothing is freed", (long long)i);
        batch = joint.group != NULL ? joint : batch;
    }
    for (int64_t i = 0; i < count; i++) {
        if (lsp_csr_is_own(ctx, &C[i])) { /* it replaced a product */
            lsp_csr_free(ctx, &C[i]);
        }
        C[i] = (lsp_csr){0};
    }
    lsp_free_joint(ctx, batch.group);
    return LSP_OK;
}

/* ---- plans ---- */

void lsp_spgemm_batch_plan_destroy(lsp_spgemm_batch_plan *plan) { lsp_plan_end(plan); }

lsp_status lsp_spgemm_batch_plan_get_info(const lsp_spgemm_batch_plan *plan, lsp_spgemm_info *info) {
    LSP_PLAN_USE(plan);
    if (plan->count > 0 || info == NULL) {
        LSP_TRY(lsp_spgemm_plan_get_info(plan->product, info));
    } else {
        *info = no_products;
    }
    info->plan_bytes = lsp_plan_bytes(plan);
    return LSP_OK;
}

lsp_status lsp_spgemm_batch_plan_create(lsp_ctx *ctx, int64_t count, const lsp_csr *A, const lsp_csr *B,
                                        const lsp_spgemm_options *options, lsp_spgemm_batch_plan **plan) {
    static const char *const names[] = {"the stack of all A", "the stack of all B"};
    LSP_PLAN_MAKE(lsp_spgemm_batch_plan, made, plan);
    lsp_spgemm_plan first;
    options = lsp_spgemm_given(options);
    LSP_TRY(check_batch(ctx, count, A, B, options, &first));
    LSP_TRY(open_batch(made, count, A, B, options, true));
    LSP_TRY(count > 0 ? lsp_spgemm_plan_as(ctx, names, &made->A.stack, lsp_batch_operand(&made->B), &made->options,
                                           &made->product)
                      : LSP_OK);
    return LSP_PLAN_GIVE(made, plan);
}

/* *W = the stack whose slices are C[0], C[1], ... of this plan. */
static lsp_status find_stack(lsp_spgemm_batch_plan *plan, const lsp_csr *C, lsp_csr *W) {
    lsp_ctx *ctx = plan->ctx;
    LSP_REQUIRE(plan->W.rowptr != NULL, LSP_ERR_ARGUMENT,
                "the plan has made no products yet whose %lld values could be new", (long long)plan->count);
    *W = plan->W;
    for (int64_t i = 0; i < plan->count && W->col == NULL; i++) {
        W->col = C[i].nnz > 0 ? C[i].col : NULL; /* the first product that has entries begins where the stack does */
        W->val = C[i].nnz > 0 ? C[i].val : NULL;
    }
    for (int64_t i = 0; i < plan->count; i++) {
        const lsp_csr made = slice(plan, W, C[0].rowptr, i);
        LSP_REQUIRE(C[i].rows == made.rows && C[i].cols == made.cols && C[i].nnz == made.nnz &&
                        C[i].rowptr == made.rowptr && C[i].col == made.col && C[i].val == made.val &&
                        C[i].rowptr_type == made.rowptr_type && C[i].col_type == made.col_type &&
                        C[i].val_type == made.val_type && C[i].where == made.where && C[i].rowptr != NULL,
                    LSP_ERR_ARGUMENT,
                    "C[%lld] is %lld x %lld with %lld entries, but not product %lld of %lld x %lld with %lld that the "
                    "plan has made",
                    (long long)i, (long long)C[i].rows, (long long)C[i].cols, (long long)C[i].nnz, (long long)i,
                    (long long)made.rows, (long long)made.cols, (long long)made.nnz);
    }
    return LSP_OK;
}

static lsp_status run(lsp_spgemm_batch_plan *plan, const lsp_csr *A, const lsp_csr *B, bool update, lsp_csr *C) {
    LSP_PLAN_USE(plan);
    lsp_csr W = {0};
    LSP_TRY(check_arrays(ctx, plan->count, A, B, C));
    if (plan->count == 0) {
        return LSP_OK;
    }
    LSP_TRY(update ? find_stack(plan, C, &W) : LSP_OK);
    LSP_TRY(lsp_batch_take_values(ctx, &plan->A, A));
    LSP_TRY(lsp_batch_take_values(ctx, &plan->B, B));
    const lsp_csr *left = &plan->A.stack, *right = lsp_batch_operand(&plan->B);
    if (update) {
        return lsp_spgemm_refill(plan->product, left, right, &W);
    }
    LSP_OWNED_CSR(ctx, made);
    LSP_TRY(lsp_spgemm_execute(plan->product, left, right, &made));
    return hand_out(plan, &made, C);
}

lsp_status lsp_spgemm_batch_execute(lsp_spgemm_batch_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_csr *C) {
    return run(plan, A, B, false, C);
}
lsp_status lsp_spgemm_batch_refill(lsp_spgemm_batch_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_csr *C) {
    return run(plan, A, B, true, C);
}
