/* C = op(A)*op(B): arguments checked, the plan made, kept and used. */
#include "spgemm.h"
#include "matrices/matrices.h"
#include "spgemm/cpu/small.h"
#include <stdio.h>

static const char *place_name(lsp_where where) { return where == LSP_CUDA ? "GPU" : "host"; }

static const char *method_name(lsp_spgemm_method method) {
    return method == LSP_SPGEMM_REFERENCE ? "reference" : method == LSP_SPGEMM_MASK ? "mask" : "sort";
}

/* ---- arguments ---- */

static const char *const usual_names[] = {"A", "B"};

static bool may_be_index(lsp_type type) { return type == LSP_NONE || type == LSP_I32 || type == LSP_I64; }

static lsp_status check_types(lsp_ctx *ctx, const lsp_csr_types *types, lsp_where where) {
    lsp_status status = LSP_OK;
    LSP_REQUIRE(may_be_index(types->rowptr_type), LSP_ERR_ARGUMENT,
                "row pointers of type %s: LSP_I32 or LSP_I64 is needed", lsp_type_name(types->rowptr_type));
    LSP_REQUIRE(may_be_index(types->col_type), LSP_ERR_ARGUMENT, "columns of type %s: LSP_I32 or LSP_I64 is needed",
                lsp_type_name(types->col_type));
    LSP_REQUIRE(types->val_type != LSP_C64 || types->drop_values, LSP_ERR_UNSUPPORTED,
                "complex values cannot be multiplied");
    LSP_REQUIRE(lsp_is_value(types->val_type), LSP_ERR_ARGUMENT, "values of type %s: LSP_F32 or LSP_F64 is needed",
                lsp_type_name(types->val_type));
    LSP_REQUIRE(types->where == LSP_HOST || types->where == LSP_CUDA, LSP_ERR_ARGUMENT,
                "a product at place %d: LSP_HOST or LSP_CUDA is needed", (int)types->where);
    LSP_REQUIRE(types->where == LSP_HOST || types->where == where, LSP_ERR_UNSUPPORTED,
                "the product of matrices in the memory of the host is made there");
done:
    return status;
}

lsp_status lsp_spgemm_check_options(lsp_ctx *ctx, const lsp_spgemm_options *options, lsp_where where) {
    lsp_status status = LSP_OK;
    LSP_REQUIRE((unsigned)options->semiring <= LSP_PLUS_PAIR, LSP_ERR_ARGUMENT, "there is no semiring %d",
                (int)options->semiring);
    LSP_REQUIRE((unsigned)options->method <= LSP_SPGEMM_MASK, LSP_ERR_ARGUMENT, "there is no method %d",
                (int)options->method);
    LSP_REQUIRE(options->method != LSP_SPGEMM_MASK || lsp_spgemm_masks(options), LSP_ERR_ARGUMENT,
                "to make the entries of a mask alone one is needed that is not a complement");
    LSP_TRY(check_types(ctx, &options->types, where));
    LSP_TRY(lsp_filter_check_struct(ctx, &options->filter));
    LSP_TRY(lsp_check_reserved(ctx, "lsp_spgemm_options", options->reserved));
    LSP_REQUIRE(where == LSP_HOST || options->method != LSP_SPGEMM_REFERENCE, LSP_ERR_UNSUPPORTED,
                "the reference multiplies in the memory of the host only");
done:
    return status;
}

lsp_type lsp_spgemm_result_type(const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options) {
    const lsp_type wider = A->val_type > B->val_type ? A->val_type : B->val_type;
    const bool counts = options->semiring == LSP_PLUS_PAIR;
    return options->types.drop_values            ? LSP_NONE
           : options->types.val_type != LSP_NONE ? options->types.val_type
           : wider == LSP_NONE && counts         ? LSP_F64
                                                 : wider;
}

static lsp_status check_operands(lsp_ctx *ctx, const char *const names[2], const lsp_csr *A, const lsp_csr *B,
                                 const lsp_spgemm_options *options) {
    lsp_status status = LSP_OK;
    LSP_REQUIRE(A != NULL && B != NULL, LSP_ERR_ARGUMENT, "a matrix to be multiplied is NULL");
    LSP_TRY(lsp_csr_check_header(ctx, names[0], A));
    LSP_TRY(lsp_csr_check_header(ctx, names[1], B));
    LSP_REQUIRE(A->where == B->where, LSP_ERR_ARGUMENT,
                "%s lies in the memory of the %s and %s in that of the %s: they must be in one place", names[0],
                place_name(A->where), names[1], place_name(B->where));
    LSP_REQUIRE(A->where == LSP_HOST || ctx->options.device == LSP_CUDA, LSP_ERR_DEVICE,
                "the matrices lie on the GPU, and this context is on the host");
    LSP_TRY(lsp_spgemm_check_options(ctx, options, A->where));
    if (A->where == LSP_HOST) { /* the arrays of matrices on the GPU are looked at by kernels, later */
        LSP_TRY(lsp_csr_check_as(ctx, names[0], A, 0));
        LSP_TRY(A == B ? LSP_OK : lsp_csr_check_as(ctx, names[1], B, 0));
    }
    LSP_REQUIRE(options->types.drop_values || (A->val_type != LSP_C64 && B->val_type != LSP_C64), LSP_ERR_UNSUPPORTED,
                "complex matrices cannot be multiplied");
    int64_t inner_a = options->transpose_a ? A->rows : A->cols, inner_b = options->transpose_b ? B->cols : B->rows;
    LSP_REQUIRE(inner_a == inner_b, LSP_ERR_ARGUMENT,
                "a matrix of %lld x %lld%s cannot be multiplied by one of %lld x %lld%s", (long long)A->rows,
                (long long)A->cols, options->transpose_a ? ", transposed," : "", (long long)B->rows, (long long)B->cols,
                options->transpose_b ? ", transposed" : "");
done:
    return status;
}

/* ---- the plan ---- */

static lsp_spgemm_outline outline_of(const lsp_csr *A, uint64_t structure) {
    return (lsp_spgemm_outline){.rows = A->rows,
                                .cols = A->cols,
                                .nnz = A->nnz,
                                .rowptr_type = A->rowptr_type,
                                .col_type = A->col_type,
                                .val_type = A->val_type,
                                .structure = structure};
}

/* To be read later. */
static lsp_status look_at_structures(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B) {
    return A->where == LSP_CUDA ? lsp_spgemm_gpu_start_structure(ctx, A, B) : LSP_OK;
}

static lsp_status read_structures(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, uint64_t structure[2]) {
    if (A->where == LSP_CUDA) {
        return lsp_spgemm_gpu_read_structure(ctx, A, B, structure);
    }
    structure[0] = lsp_spgemm_structure(ctx, A);
    structure[1] = A == B ? structure[0] : lsp_spgemm_structure(ctx, B);
    return LSP_OK;
}

/* Method, reason and scratch, on the host. */
static void describe_choice(lsp_spgemm_plan *plan, const lsp_csr *B) {
    lsp_spgemm_choice choice;
    const lsp_spgemm_facts *facts = &plan->facts;
    int64_t available = lsp_spgemm_available(plan->ctx, facts), scratch;
    lsp_spgemm_choose(facts, plan->options.method, plan->type, plan->ctx->options.threads, available, &choice);
    if (!lsp_mul(choice.thread_bytes, choice.threads, &scratch)) {
        scratch = INT64_MAX;
    }
    if (plan->type != LSP_NONE && B->val_type != plan->type) {
        scratch += B->nnz * (int64_t)lsp_type_bytes(plan->type);
    }
    plan->info.method = choice.method;
    lsp_spgemm_explain(facts, &choice, plan->info.reason, sizeof plan->info.reason);
    plan->info.scratch_bytes = scratch;
}

/* The same on a GPU: how many rows are made in which way. */
static void describe_ways(lsp_spgemm_plan *plan) {
    const uint32_t *bins = plan->gpu.count_bins;
    int64_t few = 0, more = 0;
    for (int bin = LSP_BIN_SORT_1; bin < LSP_BIN_LONG; bin++) {
        *(bin < LSP_BIN_COUNT_64 ? &few : &more) += bins[bin];
    }
    plan->info.method = LSP_SPGEMM_SORT;
    plan->info.blocks = 1;
    plan->info.scratch_bytes = plan->facts.rows * 17 + plan->gpu.dense_b.bytes;
    if (plan->gpu.dense_b.strips > 0) {
        snprintf(plan->info.reason, sizeof plan->info.reason,
                 "on the GPU; B is nearly dense: each row in %lld strips of 32 columns",
                 (long long)plan->gpu.dense_b.strips);
        return;
    }
    snprintf(plan->info.reason, sizeof plan->info.reason,
             "on the GPU; %lld rows sorted by a warp or less, %lld of more products, %lld of very many", (long long)few,
             (long long)more, (long long)bins[LSP_BIN_LONG]);
}

static void describe(lsp_spgemm_plan *plan, const lsp_csr *B) {
    const lsp_spgemm_facts *facts = &plan->facts;
    plan->masked = lsp_spgemm_choose_masked(plan);
    if (!plan->masked && plan->where == LSP_CUDA) {
        describe_ways(plan);
    } else if (!plan->masked) {
        describe_choice(plan, B);
    }
    plan->info.method_name = method_name(plan->info.method);
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
    if (plan->options.semiring != LSP_PLUS_PAIR || plan->val_type != LSP_F32 || plan->facts.max_row_products <= exact) {
        return LSP_OK;
    }
    plan->type = LSP_F64;
    return plan->where == LSP_CUDA ? lsp_spgemm_gpu_take_operands(plan, A, B, &ops->gpu) : LSP_OK;
}

/* Makes the plan, of operands that were checked, and leaves them in *ops. */
static lsp_status create_plan(lsp_ctx *ctx, const char *const names[2], const lsp_csr *A, const lsp_csr *B,
                              const lsp_spgemm_options *options, lsp_spgemm_plan **plan, lsp_spgemm_operands *ops) {
    lsp_status status = LSP_OK;
    lsp_spgemm_plan *made = NULL;
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, 1, sizeof *made, (void **)&made));
    *made = (lsp_spgemm_plan){.ctx = ctx,
                              .names = {names[0], names[1]},
                              .options = *options,
                              .type = lsp_spgemm_result_type(A, B, options),
                              .where = A->where};
    lsp_plan_begin(&made->life, &made->ctx, made);
    made->options.types.where = A->where;
    made->val_type = made->type;
    if (made->where == LSP_CUDA) {
        LSP_TRY(lsp_spgemm_gpu_inspect(made, A, B, &ops->gpu));
    } else {
        LSP_TRY(lsp_spgemm_take_operands(ctx, A, B, options, made->type, ops));
        LSP_TRY(lsp_spgemm_inspect(made, &ops->A, &ops->B));
    }
    LSP_TRY(choose_arithmetic(made, A, B, ops));
    describe(made, &ops->B);
    *plan = made;
done:
    if (status != LSP_OK) {
        lsp_spgemm_release_operands(ctx, ops);
        lsp_spgemm_plan_destroy(made);
    }
    return status;
}

lsp_status lsp_spgemm_plan_as(lsp_ctx *ctx, const char *const names[2], const lsp_csr *A, const lsp_csr *B,
                              const lsp_spgemm_options *options, lsp_spgemm_plan **plan) {
    lsp_status status = LSP_OK;
    lsp_spgemm_plan *made = NULL;
    lsp_spgemm_operands ops = {0};
    const lsp_spgemm_options defaults = {0};
    if (ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    size_t mark = lsp_scratch_mark(ctx);
    uint64_t structure[2];
    LSP_REQUIRE(plan != NULL, LSP_ERR_ARGUMENT, "the place for the plan is NULL");
    options = options != NULL ? options : &defaults;
    LSP_REQUIRE(!lsp_spgemm_filters(&options->filter), LSP_ERR_UNSUPPORTED,
                "a plan keeps the structure of its product, which a filter would change with the values");
    LSP_TRY(check_operands(ctx, names, A, B, options));
    LSP_TRY(create_plan(ctx, names, A, B, options, &made, &ops));
    LSP_TRY(look_at_structures(ctx, A, B));
    LSP_TRY(read_structures(ctx, A, B, structure));
    made->kept = true;
    made->A = outline_of(A, structure[0]);
    made->B = outline_of(B, structure[1]);
    *plan = made;
    made = NULL;
done:
    lsp_spgemm_plan_destroy(made);
    lsp_spgemm_release_operands(ctx, &ops);
    lsp_scratch_release(ctx, mark);
    return status;
}

lsp_status lsp_spgemm_plan_create(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                  lsp_spgemm_plan **plan) {
    return lsp_spgemm_plan_as(ctx, usual_names, A, B, options, plan);
}

void lsp_spgemm_plan_destroy(lsp_spgemm_plan *plan) {
    if (plan != NULL && plan->ctx != NULL) {
        lsp_ctx *ctx = plan->ctx;
        lsp_free(ctx, plan->route.ranks);
        lsp_free(ctx, plan->route.block_ranks);
        lsp_free(ctx, plan->route.ways);
        lsp_free(ctx, plan->route.moved);
        lsp_free(ctx, plan->route.c_col);
        lsp_free(ctx, plan->rowptr);
        lsp_free(ctx, plan->block_rows);
        lsp_spgemm_gpu_replay_drop(plan);
        lsp_free(ctx, plan->gpu.rowptr);
        lsp_free(ctx, plan->gpu.products);
        lsp_free(ctx, plan->gpu.groups);
        lsp_free(ctx, plan->gpu.repeats);
        lsp_free(ctx, plan->gpu.pieces);
        lsp_free(ctx, plan->gpu.tiles);
        lsp_free(ctx, plan->gpu.dense_b.B);
        lsp_free(ctx, plan->gpu.dense_b.C);
        lsp_free(ctx, plan->gpu.report);
    }
    if (plan != NULL) {
        lsp_plan_free(&plan->life);
    }
}

lsp_status lsp_spgemm_plan_get_info(const lsp_spgemm_plan *plan, lsp_spgemm_info *info) {
    if (plan == NULL || plan->ctx == NULL || info == NULL) {
        return plan == NULL ? LSP_ERR_ARGUMENT
                            : lsp_fail(plan->ctx, LSP_ERR_ARGUMENT, "the place for the plan's facts is NULL");
    }
    *info = plan->info;
    return LSP_OK;
}

/* ---- execution ---- */

/* The matrix is the one that was planned for, but for its values. */
static lsp_status check_outline(lsp_spgemm_plan *plan, const char *name, const lsp_spgemm_outline *planned,
                                const lsp_csr *A) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    LSP_REQUIRE(A->where == plan->where, LSP_ERR_ARGUMENT, "%s has left the memory of the %s since the plan was made",
                name, place_name(plan->where));
    LSP_REQUIRE(A->rows == planned->rows && A->cols == planned->cols && A->nnz == planned->nnz, LSP_ERR_ARGUMENT,
                "%s is %lld x %lld with %lld entries; the plan was made for %lld x %lld with %lld", name,
                (long long)A->rows, (long long)A->cols, (long long)A->nnz, (long long)planned->rows,
                (long long)planned->cols, (long long)planned->nnz);
    LSP_REQUIRE(A->rowptr_type == planned->rowptr_type && A->col_type == planned->col_type &&
                    A->val_type == planned->val_type,
                LSP_ERR_ARGUMENT, "the types of %s have changed since the plan was made", name);
    LSP_REQUIRE(A->rowptr != NULL && (A->nnz == 0 || (A->col != NULL && (A->val_type == LSP_NONE || A->val != NULL))),
                LSP_ERR_ARGUMENT, "an array of %s is NULL", name);
done:
    return status;
}

/* What was looked at is what was planned for. */
static lsp_status check_structures(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    uint64_t structure[2];
    LSP_TRY(read_structures(ctx, A, B, structure));
    LSP_REQUIRE(structure[0] == plan->A.structure && structure[1] == plan->B.structure, LSP_ERR_ARGUMENT,
                "the row pointers or the columns of %s have changed since the plan was made",
                structure[0] != plan->A.structure ? "A" : "B");
done:
    return status;
}

/* C is what the plan has made, as far as that can be seen. */
static lsp_status check_result(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, const lsp_csr *C) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    lsp_csr shape;
    LSP_REQUIRE(plan->uses > 0, LSP_ERR_ARGUMENT, "the plan has made no product yet whose values could be new");
    LSP_TRY(lsp_spgemm_shape(plan, &shape));
    shape.val_type = plan->val_type;
    const lsp_spgemm_outline made = outline_of(&shape, 0);
    LSP_TRY(check_outline(plan, "C", &made, C));
    LSP_REQUIRE(C->val == NULL || (C->val != A->val && C->val != B->val), LSP_ERR_ARGUMENT,
                "the values of C are those of a factor: they cannot be read and written at once");
done:
    return status;
}

/* Are new values made of those of A and B by number, wherever their columns are? Then it may be found afterwards that
 * these have changed. Not in the second use, which may read what the replay learns. */
static bool is_blind(const lsp_spgemm_plan *plan) {
    const bool by_number = plan->gpu.replay.pairs != NULL || (plan->gpu.dense_b.C != NULL && plan->uses > 1);
    return plan->where == LSP_CUDA && by_number && !plan->gpu.unsorted && !plan->options.transpose_a &&
           !plan->options.transpose_b && plan->A.rowptr_type == LSP_I32 && plan->A.col_type == LSP_I32 &&
           plan->B.rowptr_type == LSP_I32 && plan->B.col_type == LSP_I32;
}

static lsp_status execute(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, bool update, lsp_csr *C) {
    lsp_status status = LSP_OK;
    lsp_spgemm_operands ops = {0};
    lsp_csr made = {0};
    if (plan == NULL || plan->ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    lsp_ctx *ctx = plan->ctx;
    size_t mark = lsp_scratch_mark(ctx);
    LSP_REQUIRE(A != NULL && B != NULL && C != NULL, LSP_ERR_ARGUMENT,
                "a matrix to be multiplied, or the place for the product, is NULL");
    LSP_TRY(check_outline(plan, "A", &plan->A, A));
    LSP_TRY(check_outline(plan, "B", &plan->B, B));
    LSP_TRY(update ? check_result(plan, A, B, C) : LSP_OK);
    const bool blind = update && is_blind(plan); /* the GPU need not wait for the host */
    LSP_TRY(look_at_structures(ctx, A, B));
    LSP_TRY(blind ? LSP_OK : check_structures(plan, A, B));
    if (plan->where == LSP_CUDA) {
        LSP_TRY(lsp_spgemm_gpu_take_operands(plan, A, B, &ops.gpu));
    } else {
        LSP_TRY(lsp_spgemm_take_operands(ctx, A, B, &plan->options, plan->type, &ops));
    }
    LSP_TRY(lsp_spgemm_multiply(plan, &ops, update, update ? C : &made));
    if (!update) {
        lsp_csr_put(ctx, C, &made, C == A || C == B);
    }
    LSP_TRY(blind ? check_structures(plan, A, B) : LSP_OK);
done:
    lsp_spgemm_release_operands(ctx, &ops);
    lsp_scratch_release(ctx, mark);
    return status;
}

lsp_status lsp_spgemm_execute(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_csr *C) {
    return execute(plan, A, B, false, C);
}

lsp_status lsp_spgemm_update(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_csr *C) {
    return execute(plan, A, B, true, C);
}

lsp_status lsp_spgemm_at_once(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                              lsp_csr *C, lsp_spgemm_info *info) {
    lsp_status status = LSP_OK;
    lsp_spgemm_plan *plan = NULL;
    lsp_spgemm_operands ops = {0};
    lsp_csr made = {0}, left = {0};
    lsp_filter filter = options->filter;
    lsp_spgemm_info here;
    bool few = false;
    size_t mark = lsp_scratch_mark(ctx);
    LSP_TRY(check_operands(ctx, usual_names, A, B, options));
    LSP_TRY(lsp_spgemm_few(ctx, A, B, options, &made, &here, &few));
    if (!few) {
        LSP_TRY(create_plan(ctx, usual_names, A, B, options, &plan, &ops));
        LSP_TRY(lsp_spgemm_multiply(plan, &ops, false, &made));
        filter.mask = plan->masked ? NULL : filter.mask;
        here = plan->info;
    }
    if (lsp_spgemm_filters(&filter)) {
        LSP_TRY(lsp_filter_rows(ctx, &made, &filter, &left));
        lsp_csr_free(ctx, &made);
        made = left;
        here.nnz = made.nnz;
    }
    *C = made;
    if (info != NULL) {
        *info = here;
    }
done:
    lsp_spgemm_release_operands(ctx, &ops);
    lsp_spgemm_plan_destroy(plan);
    lsp_scratch_release(ctx, mark);
    if (status != LSP_OK) {
        lsp_csr_free(ctx, &made);
    }
    return status;
}

lsp_status lsp_spgemm(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options, lsp_csr *C,
                      lsp_spgemm_info *info) {
    lsp_status status = LSP_OK;
    const lsp_spgemm_options defaults = {0};
    lsp_csr made = {0};
    if (ctx == NULL) {
        return LSP_ERR_ARGUMENT;
    }
    options = options != NULL ? options : &defaults;
    LSP_REQUIRE(C != NULL, LSP_ERR_ARGUMENT, "the place for the product is NULL");
    LSP_TRY(lsp_spgemm_filters(&options->filter) ? lsp_spgemm_filtered(ctx, A, B, options, &made, info)
                                                 : lsp_spgemm_at_once(ctx, A, B, options, &made, info));
    lsp_csr_put(ctx, C, &made, C == A || C == B || C == options->filter.mask);
done:
    return status;
}
