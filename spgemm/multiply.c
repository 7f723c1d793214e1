/* C = op(A)*op(B) by a plan, two passes: nnz of every row, then the rows. On a GPU the passes are in gpu/gpu.h; of a
 * mask's entries alone there is one. */
#include "core/items.h"
#include "matrices/matrices.h"
#include "spgemm/cpu/small.h"

/* ---- operands ---- */

void lsp_spgemm_release_operands(lsp_ctx *ctx, lsp_spgemm_operands *ops) {
    if (ops->made_a) {
        lsp_csr_free(ctx, &ops->A);
    }
    if (ops->made_b) {
        lsp_csr_free(ctx, &ops->B);
    }
    *ops = (lsp_spgemm_operands){0};
}

lsp_status lsp_spgemm_take_operands(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_spgemm_options *options,
                                    lsp_type type, lsp_spgemm_operands *ops) {
    lsp_status status = LSP_OK;
    const lsp_csr a = lsp_spgemm_view(A, type), b = lsp_spgemm_view(B, type);
    *ops = (lsp_spgemm_operands){.A = a, .B = b};
    if (options->transpose_a) {
        LSP_TRY(lsp_csr_transpose(ctx, &a, &ops->A));
        ops->made_a = true;
    }
    if (options->transpose_b) {
        LSP_TRY(lsp_csr_transpose(ctx, &b, &ops->B));
        ops->made_b = true;
    }
done:
    if (status != LSP_OK) {
        lsp_spgemm_release_operands(ctx, ops);
    }
    return status;
}

/* ---- C ---- */

int64_t lsp_spgemm_matrix_bytes(int64_t rows, int64_t cols, int64_t nnz, const lsp_csr_types *types,
                                lsp_type val_type) {
    bool wide_rowptr = types->rowptr_type == LSP_NONE ? nnz > INT32_MAX : types->rowptr_type == LSP_I64;
    bool wide_col = types->col_type == LSP_NONE ? cols > (int64_t)INT32_MAX + 1 : types->col_type == LSP_I64;
    int64_t pointers, entries, bytes;
    bool fits = lsp_add(rows, 1, &pointers) && lsp_mul(pointers, wide_rowptr ? 8 : 4, &pointers) &&
                lsp_mul(nnz, (wide_col ? 8 : 4) + (int64_t)lsp_type_bytes(val_type), &entries) &&
                lsp_add(pointers, entries, &bytes);
    return fits ? bytes : INT64_MAX;
}

typedef struct conversion {
    const lsp_csr *A;
    lsp_type type;
    void *val;
} conversion;

static void convert_share(void *data, int64_t begin, int64_t end) {
    const conversion *c = data;
    for (int64_t i = begin; i < end; i++) {
        double value = lsp_spgemm_value_at(c->A, i);
        if (c->type == LSP_F32) {
            ((float *)c->val)[i] = (float)value;
        } else {
            ((double *)c->val)[i] = value;
        }
    }
}

/* A matrix's values on the host in another type: ones for a pattern, rounded where narrower. */
static void convert_on_host(const lsp_ctx *ctx, const lsp_csr *A, lsp_type type, void *val) {
    lsp_for_shares(ctx, A->nnz, 1 << 16, convert_share, &(conversion){.A = A, .type = type, .val = val});
}

/* B's values in the type of the arithmetic. In scratch unless they are. */
static lsp_status convert_values(lsp_ctx *ctx, lsp_csr *B, lsp_type type) {
    lsp_status status = LSP_OK;
    void *val;
    if (type == LSP_NONE || B->val_type == type) {
        return LSP_OK;
    }
    LSP_TRY(lsp_scratch_bytes(ctx, B->nnz, lsp_type_bytes(type), false, &val));
    convert_on_host(ctx, B, type, val);
    B->val = val;
    B->val_type = type;
done:
    return status;
}

static lsp_status run_pass(lsp_spgemm_plan *plan, lsp_spgemm_job *job) {
    return plan->info.method == LSP_SPGEMM_REFERENCE ? lsp_spgemm_ref(plan, job) : lsp_spgemm_cpu(plan, job);
}

/* nnz of each row of C, unless the plan knows it from before. */
static lsp_status count_rows(lsp_spgemm_plan *plan, lsp_spgemm_job *job) {
    lsp_status status = LSP_OK;
    if (!plan->counted) {
        job->counting = true;
        LSP_TRY(run_pass(plan, job));
        lsp_prefix_sum(plan->ctx, plan->rowptr, plan->facts.rows);
        plan->info.nnz = plan->rowptr[plan->facts.rows];
        plan->counted = true;
        job->counting = false;
    }
done:
    return status;
}

/* Bytes of C while it is made: of its values also as they are before they are rounded. */
static int64_t result_bytes(const lsp_spgemm_plan *plan) {
    const int64_t nnz = plan->info.nnz;
    int64_t rounded = plan->type == plan->val_type ? 0 : (int64_t)lsp_type_bytes(plan->val_type), bytes;
    bytes = lsp_spgemm_matrix_bytes(plan->facts.rows, plan->facts.cols, nnz, &plan->options.types, plan->type);
    return lsp_mul(nnz, rounded, &rounded) && lsp_add(bytes, rounded, &bytes) ? bytes : INT64_MAX;
}

/* C with its row pointers, if it and the least scratch fit. */
static lsp_status make_result(lsp_spgemm_plan *plan, lsp_csr *C) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    const lsp_spgemm_facts *facts = &plan->facts;
    lsp_csr_types types = plan->options.types;
    types.val_type = plan->type;
    int64_t nnz = plan->info.nnz, available = lsp_spgemm_available(ctx, facts);
    int64_t bytes = result_bytes(plan);
    lsp_spgemm_choice choice;
    bool fits = lsp_spgemm_choose(facts, plan->info.method, plan->type, ctx->options.threads,
                                  lsp_max(available - bytes, 0), &choice);
    if (!fits && lsp_spgemm_cpu_forget(plan)) {
        return make_result(plan, C);
    }
    LSP_REQUIRE(fits, LSP_ERR_MEMORY,
                "the product has %lld entries and needs %lld bytes (%s) and at least %lld of scratch; %lld (%s) are "
                "available",
                (long long)nnz, (long long)bytes, lsp_size(bytes).text, (long long)choice.thread_bytes,
                (long long)available, lsp_size(available).text);
    LSP_TRY(lsp_csr_create(ctx, facts->rows, facts->cols, nnz, &types, C));
    lsp_spgemm_copy_pointers(plan, C);
done:
    return status;
}

lsp_status lsp_spgemm_shape(lsp_spgemm_plan *plan, lsp_csr *C) {
    lsp_status status = LSP_OK;
    lsp_csr_types types = plan->options.types, fit;
    types.val_type = plan->type;
    LSP_TRY(lsp_csr_resolve(plan->ctx, plan->facts.cols, plan->info.nnz, LSP_NONE, &types, &fit));
    *C = (lsp_csr){.rows = plan->facts.rows,
                   .cols = plan->facts.cols,
                   .nnz = plan->info.nnz,
                   .rowptr_type = fit.rowptr_type,
                   .col_type = fit.col_type,
                   .val_type = fit.val_type,
                   .where = plan->where};
done:
    return status;
}

/* The same on a GPU: C without its row pointers. */
static lsp_status make_result_there(lsp_spgemm_plan *plan, lsp_csr *C) {
    enum { ASKED_FROM = 64 << 20 }; /* bytes: smaller ones are taken without a look at what is free */
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    int64_t nnz = plan->info.nnz, scratch = lsp_spgemm_gpu_fill_bytes(plan), needed;
    int64_t bytes = result_bytes(plan);
    LSP_TRY(lsp_spgemm_shape(plan, C));
    if (!lsp_add(bytes, scratch, &needed) || needed >= ASKED_FROM || ctx->options.max_bytes > 0) {
        int64_t available = lsp_available_bytes(ctx, LSP_CUDA);
        const bool fits = bytes <= available && scratch <= available - bytes;
        if (!fits && lsp_spgemm_gpu_replay_drop(plan)) {
            return make_result_there(plan, C);
        }
        LSP_REQUIRE(fits, LSP_ERR_MEMORY,
                    "the product has %lld entries and needs %lld bytes (%s) and %lld of scratch on the GPU; %lld (%s) "
                    "are available",
                    (long long)nnz, (long long)bytes, lsp_size(bytes).text, (long long)scratch, (long long)available,
                    lsp_size(available).text);
    }
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, C->rows + 1, lsp_type_bytes(C->rowptr_type), &C->rowptr));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, nnz, lsp_type_bytes(C->col_type), &C->col));
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, C->val_type ? nnz : 0, lsp_type_bytes(C->val_type), &C->val));
done:
    return status;
}

/* To a C that is made, or (update) is there but for its values. */
static lsp_status multiply_there(lsp_spgemm_plan *plan, const lsp_spgemm_gpu_operands *operands, bool update,
                                 lsp_csr *C) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    lsp_csr made = {0};
    if (!plan->counted) {
        LSP_TRY(lsp_spgemm_gpu_count(plan, operands));
        plan->counted = true;
    }
    if (update) {
        made = *C;
    } else {
        LSP_TRY(make_result_there(plan, &made));
    }
    if (plan->gpu.replay.pairs != NULL) {
        LSP_TRY(lsp_spgemm_gpu_replay_run(plan, operands, &made, !update));
    } else {
        LSP_TRY(lsp_spgemm_gpu_fill(plan, operands, update, &made));
        if (plan->uses == 1) {
            LSP_TRY(lsp_spgemm_gpu_replay_build(plan, operands, &made));
        }
    }
    *C = made;
done:
    if (status != LSP_OK && !update) {
        lsp_csr_free(ctx, &made);
    }
    return status;
}

/* Of C the entries of the mask alone. */
static lsp_status multiply_masked(lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops, lsp_csr *C) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    size_t mark = lsp_scratch_mark(ctx);
    lsp_spgemm_job job = {
        .A = ops->A, .B = ops->B, .type = plan->type, .ascending = plan->ascending, .semiring = plan->options.semiring};
    if (plan->where == LSP_CUDA) {
        LSP_TRY(lsp_spgemm_gpu_masked(plan, &ops->gpu, C));
    } else {
        LSP_TRY(convert_values(ctx, &job.B, plan->type));
        LSP_TRY(lsp_spgemm_masked(plan, &job, C));
        lsp_progress(ctx, "multiply", 1);
    }
    plan->info.nnz = C->nnz;
done:
    lsp_scratch_release(ctx, mark);
    return status;
}

static lsp_status multiply(lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops, bool update, lsp_csr *C) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    size_t mark = lsp_scratch_mark(ctx);
    lsp_csr made = {0};
    if (plan->masked || plan->where == LSP_CUDA) {
        LSP_TRY(plan->masked ? multiply_masked(plan, ops, C) : multiply_there(plan, &ops->gpu, update, C));
        goto done;
    }
    lsp_spgemm_job job = {.A = ops->A,
                          .B = ops->B,
                          .type = plan->type,
                          .ascending = plan->ascending,
                          .semiring = plan->options.semiring,
                          .rowptr = plan->rowptr,
                          .C = update ? C : &made};
    LSP_TRY(count_rows(plan, &job));
    LSP_TRY(convert_values(ctx, &job.B, plan->type));
    if (!update) {
        LSP_TRY(make_result(plan, &made));
    }
    if (lsp_spgemm_few_knows(plan)) {
        LSP_TRY(lsp_spgemm_few_again(plan, &job.A, &job.B, update, job.C));
    } else {
        LSP_TRY(lsp_spgemm_few_reserve(plan, &job.A, &job.B));
        LSP_TRY(run_pass(plan, &job));
        lsp_spgemm_few_keep(plan, job.C);
    }
    lsp_progress(ctx, "multiply", 1);
    *C = *job.C;
done:
    plan->uses += status == LSP_OK;
    lsp_scratch_release(ctx, mark);
    if (status != LSP_OK) {
        lsp_csr_free(ctx, &made);
    }
    return status;
}

/* C in the type of the arithmetic, its values then rounded to their own. */
static lsp_status multiply_and_round(lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops, bool update, lsp_csr *C) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    size_t mark = lsp_scratch_mark(ctx);
    lsp_csr wide = {0};
    void *val = update ? C->val : NULL;
    if (update) {
        wide = *C;
        wide.val_type = plan->type;
        LSP_TRY(lsp_scratch_at(ctx, C->where, C->nnz, lsp_type_bytes(plan->type), &wide.val));
    }
    LSP_TRY(multiply(plan, ops, update, &wide));
    if (!update) {
        LSP_TRY(lsp_alloc(ctx, wide.where, wide.nnz, lsp_type_bytes(plan->val_type), &val));
    }
    if (wide.where == LSP_HOST) {
        convert_on_host(ctx, &wide, plan->val_type, val);
    } else if (wide.nnz > 0) {
        LSP_TRY(lsp_cuda_convert(ctx, val, plan->val_type, wide.val, plan->type, wide.nnz));
    }
    if (!update) {
        lsp_free(ctx, wide.val);
    }
    *C = wide;
    C->val = val;
    C->val_type = plan->val_type;
done:
    lsp_scratch_release(ctx, mark);
    if (status != LSP_OK && !update) {
        lsp_csr_free(ctx, &wide);
        lsp_free(ctx, val);
    }
    return status;
}

lsp_status lsp_spgemm_multiply(lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops, bool update, lsp_csr *C) {
    return plan->type == plan->val_type ? multiply(plan, ops, update, C) : multiply_and_round(plan, ops, update, C);
}
