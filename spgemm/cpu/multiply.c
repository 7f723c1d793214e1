/* C = op(A)*op(B) on the CPU by a plan, in two passes: the first counts the entries of every row, then C is allocated,
 * and the second fills it. A masked product takes one pass. */
#include "matrices/matrices.h"
#include "small.h"

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

lsp_status lsp_spgemm_cpu_take_operands(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B,
                                        lsp_spgemm_operands *ops) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    const lsp_spgemm_options *options = &plan->options;
    const lsp_csr a = lsp_spgemm_view(A, plan->type), b = lsp_spgemm_view(B, plan->type);
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

lsp_status lsp_spgemm_cpu_convert(lsp_ctx *ctx, const lsp_csr *A, lsp_type type, void *val) {
    return lsp_convert_values(ctx, LSP_HOST, type, val, A->val_type, A->val, A->nnz);
}

/* Copies values to scratch in the type of the arithmetic, unless they have it already. */
static lsp_status convert_values(lsp_ctx *ctx, lsp_csr *B, lsp_type type) {
    const lsp_csr from = *B;
    return type == LSP_NONE ? LSP_OK : lsp_csr_widen(ctx, &from, type, B);
}

/* ---- the two passes ---- */

static lsp_spgemm_job job_of(const lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops) {
    return (lsp_spgemm_job){
        .A = ops->A, .B = ops->B, .type = plan->type, .ascending = plan->ascending, .semiring = plan->options.semiring};
}

static lsp_status run_pass(lsp_spgemm_plan *plan, lsp_spgemm_job *job) {
    return plan->info.method == LSP_SPGEMM_REFERENCE ? lsp_spgemm_ref(plan, job) : lsp_spgemm_cpu(plan, job);
}

/* Counts the rows of C, unless the plan has counted them in an earlier use. */
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

/* The kernels read B's values in the type of the arithmetic. A's they read in any type of reals, if they sum reals. */
static lsp_status convert_factors(lsp_spgemm_plan *plan, lsp_spgemm_job *job) {
    lsp_status status = LSP_OK;
    const bool any = (plan->type == LSP_F32 || plan->type == LSP_F64) && !lsp_is_integer(job->A.val_type);
    LSP_TRY(convert_values(plan->ctx, &job->B, plan->type));
    LSP_TRY(any ? LSP_OK : convert_values(plan->ctx, &job->A, plan->type));
done:
    return status;
}

/* Allocates C, if it and the least scratch fit, and writes its row pointers. */
static lsp_status make_result(lsp_spgemm_plan *plan, lsp_csr *C) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    const lsp_spgemm_facts *facts = &plan->facts;
    lsp_csr_types types = plan->options.types;
    types.val_type = plan->type;
    int64_t nnz = plan->info.nnz, available = lsp_spgemm_available(ctx, facts);
    int64_t bytes = lsp_spgemm_result_bytes(plan);
    lsp_spgemm_choice choice;
    bool fits = lsp_spgemm_choose(facts, plan->info.method, plan->type, ctx->options.threads,
                                  lsp_max(available - bytes, 0), &choice);
    if (!fits && lsp_spgemm_cpu_drop_ranks(plan)) {
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

lsp_status lsp_spgemm_cpu_multiply(lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops, bool update, lsp_csr *C) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    size_t mark = lsp_scratch_mark(ctx);
    lsp_csr made = {0};
    lsp_spgemm_job job = job_of(plan, ops);
    job.rowptr = plan->rowptr;
    job.C = update ? C : &made;
    job.update = update;
    LSP_TRY(count_rows(plan, &job));
    LSP_TRY(convert_factors(plan, &job));
    if (!update) {
        LSP_TRY(make_result(plan, &made));
    }
    if (lsp_spgemm_small_knows_columns(plan)) {
        LSP_TRY(lsp_spgemm_small_replay(plan, &job.A, &job.B, update, job.C));
    } else {
        LSP_TRY(lsp_spgemm_small_reserve(plan, &job.A, &job.B));
        LSP_TRY(run_pass(plan, &job));
        lsp_spgemm_small_keep_columns(plan, job.C);
    }
    lsp_progress(ctx, "multiply", 1);
    *C = *job.C;
done:
    lsp_scratch_release(ctx, mark);
    if (status != LSP_OK) {
        lsp_csr_free(ctx, &made);
    }
    return status;
}

lsp_status lsp_spgemm_cpu_multiply_masked(lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops, lsp_csr *C) {
    lsp_status status = LSP_OK;
    lsp_ctx *ctx = plan->ctx;
    size_t mark = lsp_scratch_mark(ctx);
    lsp_spgemm_job job = job_of(plan, ops);
    LSP_TRY(convert_factors(plan, &job));
    LSP_TRY(lsp_spgemm_masked(plan, &job, C));
    lsp_progress(ctx, "multiply", 1);
done:
    lsp_scratch_release(ctx, mark);
    return status;
}
