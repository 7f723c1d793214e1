/* C = op(A)*op(B) on the CPU: the device's table, and the two passes of a plan. The first pass counts the entries of
 * every row, then C is allocated, and the second fills it. A masked product takes one pass. */
#include "core/isa.h"
#include "cpu.h"
#include "spgemm/batch.h"

/* ---- operands ---- */

static lsp_status take_operands(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_operands *ops) {
    lsp_ctx *ctx = plan->ctx;
    const lsp_spgemm_options *options = &plan->options;
    const lsp_csr a = lsp_spgemm_view(A, plan->type), b = lsp_spgemm_view(B, plan->type);
    *ops = (lsp_spgemm_operands){.A = a, .B = b};
    if (options->transpose_a) {
        LSP_TRY(lsp_csr_transpose(ctx, &a, &ops->A));
        ops->frees_a = ctx;
    }
    if (options->transpose_b) {
        LSP_TRY(lsp_csr_transpose(ctx, &b, &ops->B));
        ops->frees_b = ctx;
    }
    return LSP_OK;
}

/* ---- products ---- */

typedef struct counting {
    const lsp_csr *A, *B;
    int64_t products; /* atomic */
} counting;

static void count_share(void *data, int64_t begin, int64_t end) {
    counting *c = data;
    uint64_t products = 0; /* unsigned, because a malformed B may overflow it */
    for (int64_t e = begin; e < end; e++) {
        const int64_t k = lsp_csr_col(c->A, e);
        if (k >= 0 && k < c->B->rows) {
            products += (uint64_t)lsp_csr_rowptr(c->B, k + 1) - (uint64_t)lsp_csr_rowptr(c->B, k);
        }
    }
    __atomic_add_fetch(&c->products, (int64_t)products, __ATOMIC_RELAXED);
}

static lsp_status count_products(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, int64_t *products) {
    counting c = {.A = A, .B = B};
    lsp_for_shares(ctx, A->nnz, 1 << 15, count_share, &c);
    *products = c.products;
    return LSP_OK;
}

/* ---- the choice ---- */

/* Bytes of scratch of all threads; INT64_MAX if an int64_t cannot hold them. */
static int64_t scratch_of(const lsp_spgemm_choice *choice) {
    return lsp_spgemm_bytes(choice->thread_bytes, choice->threads, 0);
}

static void describe(lsp_spgemm_plan *plan, const lsp_csr *B) {
    lsp_spgemm_choice *choice = &plan->cpu->choice;
    const lsp_spgemm_facts *facts = &plan->facts;
    lsp_spgemm_choose(facts, plan->options.method, plan->type, plan->ctx->options.threads,
                      lsp_spgemm_available(plan->ctx, facts), choice);
    plan->info.method = choice->method;
    lsp_spgemm_tell_choice(facts, choice, plan->info.reason, sizeof plan->info.reason);
    plan->info.scratch_bytes = scratch_of(choice);
    if (plan->type != LSP_NONE && B->val_type != plan->type) {
        plan->info.scratch_bytes += B->nnz * (int64_t)lsp_type_bytes(plan->type);
    }
}

/* *choice = the plan's, if memory did not limit it and suffices now; else the best that fits. False: none fits. */
static bool fit(const lsp_spgemm_plan *plan, lsp_type type, int64_t available, lsp_spgemm_choice *choice) {
    *choice = plan->cpu->choice;
    return (!choice->limited && scratch_of(choice) <= available) ||
           lsp_spgemm_choose(&plan->facts, plan->info.method, type, plan->ctx->options.threads, available, choice);
}

/* ---- the two passes ---- */

static lsp_spgemm_job job_of(const lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops) {
    return (lsp_spgemm_job){.A = ops->A,
                            .B = ops->B,
                            .type = plan->type,
                            .ascending = plan->cpu->ascending,
                            .semiring = plan->options.semiring,
                            .rowptr = plan->cpu->rowptr};
}

/* Counts rows, or fills C, with scratch of at most `available` bytes. */
static lsp_status run_pass(lsp_spgemm_plan *plan, lsp_spgemm_job *job, int64_t available) {
    lsp_ctx *ctx = plan->ctx;
    lsp_spgemm_choice choice;
    LSP_REQUIRE(fit(plan, job->counting ? LSP_NONE : job->type, available, &choice), LSP_ERR_MEMORY,
                "multiplying needs %lld bytes of scratch at least, and %lld are available",
                (long long)choice.thread_bytes, (long long)available);
    if (choice.method == LSP_SPGEMM_REFERENCE) {
        return lsp_spgemm_ref(ctx, job);
    }
    const lsp_status status = lsp_spgemm_cpu_pass(plan, job, &choice, available);
    if (status != LSP_OK && job->counting) {
        lsp_spgemm_cpu_drop_ranks(plan); /* the next use counts again */
    }
    return status;
}

/* Counts the rows of C, unless the plan has counted them in an earlier use. */
static lsp_status count_rows(lsp_spgemm_plan *plan, lsp_spgemm_job *job) {
    if (!plan->counted) {
        job->counting = true;
        LSP_TRY(run_pass(plan, job, lsp_spgemm_available(plan->ctx, &plan->facts)));
        lsp_prefix_sum(plan->ctx, job->rowptr, plan->facts.rows);
        plan->info.nnz = job->rowptr[plan->facts.rows];
        plan->counted = true;
        job->counting = false;
    }
    return LSP_OK;
}

/* Allocates C, if it and the least scratch fit, and writes its row pointers. *left = the bytes that remain. */
static lsp_status make_result(lsp_spgemm_plan *plan, lsp_csr *C, int64_t *left) {
    lsp_ctx *ctx = plan->ctx;
    const lsp_spgemm_facts *facts = &plan->facts;
    const int64_t nnz = plan->info.nnz, available = lsp_spgemm_available(ctx, facts);
    const int64_t bytes = lsp_spgemm_result_bytes(plan);
    lsp_spgemm_choice choice;
    *left = lsp_max(available - bytes, 0);
    const bool fits = fit(plan, plan->type, *left, &choice);
    if (!fits && lsp_spgemm_cpu_drop_ranks(plan)) {
        return make_result(plan, C, left);
    }
    LSP_REQUIRE(fits, LSP_ERR_MEMORY,
                "the product has %lld entries and needs %lld bytes (%s) and at least %lld of scratch; %lld (%s) are "
                "available",
                (long long)nnz, (long long)bytes, lsp_size(bytes).text, (long long)choice.thread_bytes,
                (long long)available, lsp_size(available).text);
    return lsp_csr_create_rows(ctx, facts->rows, facts->cols, plan->cpu->rowptr, &plan->options.types, C);
}

static lsp_status multiply(lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops, bool update, lsp_csr *C) {
    lsp_ctx *ctx = plan->ctx;
    LSP_OWNED_CSR(ctx, made);
    lsp_spgemm_job job = job_of(plan, ops);
    int64_t available = 0;
    job.C = update ? C : &made;
    job.update = update;
    LSP_TRY(count_rows(plan, &job));
    LSP_TRY(lsp_spgemm_convert(ctx, job.type, &job.A, &job.B));
    LSP_TRY(update ? LSP_OK : make_result(plan, &made, &available));
    const bool ask = update || ctx->options.max_bytes > 0; /* a budget counts what the allocator adds to C, too */
    LSP_TRY(run_pass(plan, &job, ask ? lsp_spgemm_available(ctx, &plan->facts) : available));
    lsp_progress(ctx, "multiply", 1);
    return update ? LSP_OK : lsp_csr_put(ctx, C, &made, false);
}

static lsp_status multiply_masked(lsp_spgemm_plan *plan, const lsp_spgemm_operands *ops, lsp_csr *C) {
    lsp_ctx *ctx = plan->ctx;
    lsp_spgemm_job job = job_of(plan, ops);
    LSP_TRY(lsp_spgemm_convert(ctx, job.type, &job.A, &job.B));
    LSP_TRY(lsp_spgemm_cpu_masked(plan, &job, C));
    lsp_progress(ctx, "multiply", 1);
    return LSP_OK;
}

/* ---- the table ---- */

static lsp_status inspect(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_operands *ops) {
    const lsp_status status = take_operands(plan, A, B, ops);
    return status != LSP_OK ? status : lsp_spgemm_cpu_inspect(plan, &ops->A, &ops->B);
}

const lsp_spgemm_device lsp_spgemm_on_cpu = {.plan_bytes = sizeof(lsp_spgemm_plan) + sizeof(lsp_spgemm_cpu),
                                             .at_once = lsp_spgemm_one_pass,
                                             .inspect = inspect,
                                             .take_operands = take_operands,
                                             .describe = describe,
                                             .read_structures = lsp_spgemm_cpu_structures,
                                             .multiply = multiply,
                                             .multiply_masked = multiply_masked,
                                             .count_products = count_products,
                                             .batch_at_once = lsp_batch_at_once_cpu,
                                             .batch = &lsp_batch_on_cpu};
