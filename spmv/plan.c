/* Plans: A is checked and read once, a method is chosen and prepared; each call then multiplies by it. */
#include "bodies.h"
#include "core/cuda.h"
#include "matrices/csr/plans.h"
#include "matrices/matrices.h"
#include "packed.h"
#include "spmv.h"
#include <stdio.h>

/* ---- create ---- */

/* The plan's own op(A), whose structure is that of the transposing plan. */
static lsp_status transpose(lsp_spmv_plan *plan) {
    lsp_csr *T = &plan->job.A;
    LSP_TRY(lsp_csr_transpose_plan_create(plan->ctx, &plan->given, &plan->turn));
    *T = plan->turn->B;
    T->val = NULL;
    T->val_type = plan->given.val_type;
    LSP_TRY(lsp_alloc(plan->ctx, T->where, T->nnz, lsp_type_bytes(T->val_type), &T->val));
    return lsp_csr_transpose_refill(plan->turn, &plan->given, T);
}

/* May the calls that are expected save the time of a look at the columns? A call seldom saves more than the time in
 * which it reads A. A look takes .6 ms on an H200, and on one thread of a Xeon (2026-11-30): `look` bytes are read. */
static bool may_pay(const lsp_spmv_job *job) {
    const double entry = (double)(lsp_type_bytes(job->A.col_type) + lsp_type_bytes(job->A.val_type));
    const double look = job->A.where == LSP_CUDA ? 2.4e9 : 6e6, calls = (double)job->options.expected_calls;
    return calls == 0 || calls * (double)job->A.nnz * entry > look;
}

/* Reads A once. The slots of diagonals take longest: on a CPU only where they may decide. */
static lsp_status inspect(lsp_spmv_plan *plan) {
    enum { UNEVEN = 4 }; /* a longest row of 4 times the mean: sorting rows by length may pay */
    lsp_ctx *ctx = plan->ctx;
    const lsp_spmv_job *job = &plan->job;
    const lsp_csr *A = &job->A;
    const lsp_spmv_method asked = job->options.method;
    lsp_spmv_facts *facts = &plan->facts;
    lsp_found found;
    LSP_TRY(LSP_EACH(ctx, A->where, spmv_row_length,
                     (lsp_each_job){.args = A, .n = A->rows, .kind = {.index = A->rowptr_type}, .found = &found}));
    facts->longest_row = (int64_t)(LSP_NOWHERE - found.first[0]);
    facts->empty_rows = (int64_t)found.count;
    facts->unseen = asked == LSP_SPMV_AUTO && !may_pay(job);
    if (facts->unseen) {
        return LSP_OK;
    }
    if (job->device->length_slots != NULL && facts->longest_row > UNEVEN * (A->nnz / lsp_max(A->rows, 1) + 1)) {
        LSP_TRY(job->device->length_slots(ctx, A, &facts->length_slots));
    }
    LSP_TRY(
        lsp_cache_model_sample(ctx, A->col, A->col_type, A->nnz, lsp_spmv_item_bytes(job), A->where, &facts->pattern));
    return A->where == LSP_CUDA || asked == LSP_SPMV_AUTO || asked >= LSP_SPMV_DIAGONALS
               ? lsp_spmv_count_slots(ctx, job, facts)
               : LSP_OK;
}

/* LSP_SPMV_PACKED: a plan of the rows that have entries makes their sums. */
static lsp_csr packed_matrix(const lsp_spmv_plan *plan) {
    const lsp_packed *p = plan->parts;
    lsp_csr P = plan->job.A;
    P.rows = p->count;
    P.rowptr = p->rowptr;
    return P;
}

static lsp_status prepare_packed(lsp_spmv_plan *plan) {
    const lsp_csr P = packed_matrix(plan);
    lsp_spmv_options options = plan->job.options;
    options.method = LSP_SPMV_AUTO;
    LSP_TRY(lsp_spmv_plan_create(plan->ctx, &P, &options, &plan->packed));
    plan->info.stored_entries = plan->packed->info.stored_entries;
    return LSP_OK;
}

static lsp_status execute_packed(const lsp_spmv_plan *plan, const lsp_spmv_vectors *vectors) {
    const lsp_packed *p = plan->parts;
    const lsp_spmv_vectors sums = {.alpha = 1, .x = vectors->x, .x_stride = vectors->x_stride, .y = p->sums};
    return plan->packed->job.A.rows > 0 ? lsp_spmv_execute(plan->packed, &sums) : LSP_OK;
}

static void release(lsp_spmv_plan *plan) {
    lsp_plan_end(plan->prepared);
    plan->prepared = NULL;
    plan->packed = NULL;
    plan->parts = NULL;
}

lsp_status lsp_spmv_prepare(lsp_spmv_plan *plan) {
    lsp_ctx *ctx = plan->ctx;
    release(plan);
    LSP_TRY(lsp_plan_part(plan, &plan->prepared));
    LSP_PLAN_HOLDS(ctx, plan->prepared);
    LSP_TRY(plan->job.engine->prepare != NULL ? plan->job.engine->prepare(plan) : LSP_OK);
    return plan->job.choice.method == LSP_SPMV_PACKED ? prepare_packed(plan) : LSP_OK;
}

/* Prepares the chosen method. Where the library chose, and memory does not suffice for it, CSR as it is serves. */
static lsp_status prepare_method(lsp_spmv_plan *plan) {
    lsp_spmv_choice *choice = &plan->job.choice;
    const lsp_spmv_method wanted = choice->method;
    lsp_status status = lsp_spmv_prepare(plan);
    if (status == LSP_ERR_MEMORY && plan->job.options.method == LSP_SPMV_AUTO && wanted != LSP_SPMV_ROWS) {
        release(plan);
        (void)lsp_ctx_trim(plan->ctx); /* what was released is free for others */
        choice->method = LSP_SPMV_ROWS;
        choice->passes = 1;
        plan->job.engine = plan->job.device->engines[LSP_SPMV_ROWS];
        snprintf(choice->reason, sizeof choice->reason, "memory does not suffice for a plan of %s",
                 lsp_spmv_method_name(wanted));
        lsp_spmv_tell(&plan->job, &plan->info);
        status = prepare_method(plan);
    }
    return status;
}

/* Everything between the check of the arguments and the first call. */
static lsp_status prepare(lsp_spmv_plan *plan, bool transposes) {
    lsp_ctx *ctx = plan->ctx;
    LSP_TRY(transposes                      ? transpose(plan)
            : plan->given.where == LSP_HOST ? lsp_csr_check_arrays(ctx, "A", &plan->job.A)
                                            : lsp_csr_check_valid(ctx, "A", &plan->job.A));
    plan->job.planned = true;
    LSP_TRY(inspect(plan));
    LSP_TRY(lsp_spmv_choose(ctx, &plan->job, &plan->facts));
    lsp_spmv_tell(&plan->job, &plan->info);
    LSP_TRY(prepare_method(plan));
    if (plan->job.A.where == LSP_CUDA) { /* waits, so that the time is that of the whole plan */
        int32_t word;
        LSP_TRY(lsp_cuda_read(ctx, &word, plan->job.A.rowptr, sizeof word));
    }
    return LSP_OK;
}

lsp_status lsp_spmv_plan_create(lsp_ctx *ctx, const lsp_csr *A, const lsp_spmv_options *options, lsp_spmv_plan **plan) {
    const double start = lsp_now();
    LSP_PLAN_MAKE(lsp_spmv_plan, made, plan);
    lsp_spmv_job job;
    LSP_TRY(lsp_spmv_check(ctx, A, options, &job));
    LSP_REQUIRE(A->where == LSP_HOST || !lsp_cuda_recording(ctx), LSP_ERR_ARGUMENT,
                "work on the stream is being recorded into a graph: a plan cannot be made there, because that waits");
    made->job = job;
    made->given = *A;
    LSP_TRY(prepare(made, options != NULL && options->transpose));
    made->info.plan_bytes = lsp_plan_bytes(made);
    made->info.plan_seconds = lsp_now() - start;
    lsp_log(ctx, "spmv: a plan for %lld x %lld, %lld entries, method %s: %s", (long long)made->job.A.rows,
            (long long)made->job.A.cols, (long long)made->job.A.nnz, lsp_spmv_method_name(made->info.method),
            made->info.reason);
    return LSP_PLAN_GIVE(made, plan);
}

void lsp_spmv_plan_destroy(lsp_spmv_plan *plan) { lsp_plan_end(plan); }

/* ---- use ---- */

lsp_status lsp_spmv_plan_get_info(const lsp_spmv_plan *plan, lsp_spmv_info *info) { return LSP_PLAN_TELL(plan, info); }

lsp_status lsp_spmv_execute(lsp_spmv_plan *plan, const lsp_spmv_vectors *vectors) {
    LSP_PLAN_USE(plan);
    lsp_spmv_job job = plan->job;
    LSP_TRY(lsp_spmv_check_vectors(ctx, vectors, &job));
    LSP_TRY(plan->packed != NULL ? execute_packed(plan, vectors) : LSP_OK);
    return job.A.rows > 0 ? job.engine->run(ctx, &job, plan->parts) : LSP_OK;
}

lsp_status lsp_spmv_update(lsp_spmv_plan *plan, const lsp_csr *A) {
    LSP_PLAN_USE(plan);
    if (plan->turn != NULL) {
        LSP_TRY(lsp_csr_transpose_refill(plan->turn, A, &plan->job.A));
    } else {
        LSP_TRY(lsp_csr_check_planned(ctx, "A", &plan->given, A));
        plan->job.A = *A;
    }
    if (plan->packed != NULL) {
        const lsp_csr P = packed_matrix(plan);
        LSP_TRY(lsp_spmv_update(plan->packed, &P));
    }
    return plan->job.engine->update != NULL ? plan->job.engine->update(plan) : LSP_OK;
}
