/* C = A*B on a GPU in one pass without a plan. Taken where `unsuited` finds no reason against it, and a sample of the
 * rows says that they have few entries (`choose_way`); tried before any plan is made. Counting C's rows first would
 * cost as much as making them, so C gets as much room as a sample of its rows says, and a sixteenth more. If that is
 * too little, or a row has more entries than the sample's, or a matrix is malformed, the product is left to a plan,
 * which makes or refuses it. */
#include "shapes.cuh"
#include <stdio.h>

/* Products of a row on average: fewer do not pay. */
static const double LEAST = 1.25;

enum { ROOM = 16 /* C gets this part more room than the sample says */ };

/* May rows have few entries? Yes if they have few products, but more than one, or B has far fewer columns than rows, so
 * that products meet in columns, as in a multigrid. Where this says no, no sample is taken. */
static bool may_pay(const lsp_csr *A, const lsp_csr *B) {
    enum { FEW = 12, MORE = 160, GATHERED = 4 };
    const double products = (double)A->nnz / (double)A->rows * (double)B->nnz / (double)B->rows;
    return (products >= LEAST && products <= FEW) || (products <= MORE && B->cols <= B->rows / GATHERED);
}

/* Why the kernels cannot take the product as it is, or would not pay; NULL: they can. */
static const char *unsuited(const lsp_spgemm_plan *job, const lsp_csr *A, const lsp_csr *B) {
    const int64_t most = lsp_spgemm_most(job->ctx);
    const char *never = lsp_spgemm_never_once(job, A, B);
    const bool narrow = A->rowptr_type == LSP_I32 && A->col_type == LSP_I32 && B->rowptr_type == LSP_I32 &&
                        B->col_type == LSP_I32 && B->cols <= (int64_t)INT32_MAX + 1;
    const bool fit = A->rows < most && A->nnz <= most && B->nnz <= most && B->rows <= INT32_MAX;
    return never != NULL                                ? never
           : !narrow                                    ? "indices of 64 bits; "
           : A->rows < LSP_ONE_PASS_ROWS || B->nnz == 0 ? "few rows; "
           : !fit                                       ? "large factors; "
           : !may_pay(A, B)                             ? "many products a row, or single ones; "
           : lsp_cuda_recording(job->ctx)               ? "a graph is recorded; "
                                                        : NULL;
}

/* The lists that hold the rows of C; most = 0 if one pass does not pay. The longest row of the sample must be no
 * exception, or the lists must hold more: among the other rows there are longer ones then. Measured on an H100: lists
 * of up to 12 columns pay, unless hardly any row has two products; longer ones where entries sum many products. */
static one_pass_way choose_way(const one_pass_sample *sample) {
    enum { OFTEN = 256, MORE = 2, SHORT = 12, OF_LONG = 48 };
    uint64_t rows = 0;
    int longest = 0;
    for (int i = 0; i <= LSP_ONE_PASS_MOST + 1; i++) {
        rows += sample->lengths[i];
        longest = sample->lengths[i] > 0 ? i : longest;
    }
    const int most = (int)lsp_max(longest, 1) + (sample->lengths[longest] < rows / OFTEN ? MORE + longest / 8 : 0);
    const double products = (double)sample->products / (double)rows;
    const bool pays = most <= SHORT ? products >= LEAST : most <= LSP_ONE_PASS_MOST && products >= OF_LONG;
    return {pays ? most : 0, products};
}

/* Rows longer than the lists count as one entry more than they hold. */
static lsp_spgemm_sample sum_of(const one_pass_sample *sample) {
    lsp_spgemm_sample sum = {};
    for (int i = 0; i <= LSP_ONE_PASS_MOST + 1; i++) {
        sum.rows += sample->lengths[i];
        sum.nnz += sample->lengths[i] * (int64_t)i;
    }
    sum.products = (int64_t)sample->products;
    return sum;
}

/* The entries of C by the sample, and some more. */
static int64_t expected_entries(const lsp_spgemm_sample *sample, int64_t rows) {
    const int64_t expected = (int64_t)((double)sample->nnz / (double)sample->rows * (double)rows);
    return expected + expected / ROOM + SAMPLE_NT;
}

/* Starts the count of some rows, and leaves it in the note. */
static lsp_status start_sample(lsp_ctx *ctx, const spg_job *job, one_pass_report *report) {
    const int64_t blocks = lsp_min(lsp_ceil_div(job->A.rows, SAMPLE_NT * LSP_SAMPLED), LSP_SAMPLE_BLOCKS);
    static_assert(sizeof(one_pass_sample) <= LSP_CUDA_NOTE_BYTES, "the last block leaves it there");
    LSP_TRY(LSP_LAUNCH(ctx, kernel_one_pass_sample, blocks, SAMPLE_NT, 0, *job, report,
                       (one_pass_sample *)lsp_cuda_note(ctx)));
    return lsp_cuda_end_note(ctx);
}

/* Replaces an array by a copy of its first `bytes` bytes. */
static lsp_status cut(lsp_ctx *ctx, void **array, int64_t bytes) {
    void *exact = NULL;
    LSP_TRY(lsp_alloc(ctx, LSP_CUDA, bytes, 1, &exact));
    const lsp_status status = bytes > 0 ? lsp_cuda_copy(ctx, exact, LSP_CUDA, *array, LSP_CUDA, bytes) : LSP_OK;
    lsp_free(ctx, *array);
    *array = exact;
    return status;
}

/* Takes C's room away if it has much more than it needs. */
static lsp_status trim(lsp_ctx *ctx, lsp_csr *C, int64_t nnz) {
    const bool much = C->nnz - nnz > nnz / 8;
    C->nnz = nnz;
    LSP_TRY(much ? cut(ctx, &C->col, nnz * (int64_t)lsp_type_bytes(C->col_type)) : LSP_OK);
    return much && C->val ? cut(ctx, &C->val, nnz * (int64_t)lsp_type_bytes(C->val_type)) : LSP_OK;
}

/* Makes C, whose arrays are allocated, and waits for what was found of it. */
static lsp_status make_rows(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, const one_pass_job *to,
                            one_pass_way way, const lsp_csr *C, one_pass_facts *found) {
    lsp_ctx *ctx = plan->ctx;
    const spg_job job = job_to(plan, operands, C);
    bool beside = true;
    LSP_TRY(spg_with_value(plan, [&](auto v) { return spg_one_pass<decltype(v)>(ctx, &job, to, way); }));
    LSP_TRY(LSP_LAUNCH_BESIDE(ctx, &beside, kernel_one_pass_tell, 1, ONE_PASS_SLOTS, 0,
                              (const one_pass_report *)to->report, to->capacity, (one_pass_facts *)lsp_cuda_note(ctx)));
    LSP_TRY(lsp_cuda_end_note(ctx));
    return lsp_cuda_read_note(ctx, found, sizeof *found);
}

static void describe(lsp_spgemm_plan *plan, const one_pass_facts *found) {
    plan->info.products = (int64_t)found->products;
    plan->info.nnz_bound = (int64_t)found->nnz_bound;
    plan->info.nnz = (int64_t)found->nnz;
    plan->info.max_row_products = (int64_t)found->max_products;
    plan->info.bound_bytes = lsp_spgemm_matrix_bytes(plan->facts.rows, plan->facts.cols, plan->info.nnz_bound,
                                                     &plan->options.types, plan->val_type);
}

/* That the product takes one pass. */
static void tell(lsp_spgemm_plan *plan, const lsp_spgemm_sample *sample, int length, int64_t scratch) {
    char how[64];
    plan->info = (lsp_spgemm_info){};
    plan->info.method = LSP_SPGEMM_SORT;
    plan->info.method_name = "sort";
    plan->info.blocks = 1;
    plan->info.scratch_bytes = scratch;
    snprintf(how, sizeof how, "on the GPU, rows of up to %d entries", length);
    lsp_spgemm_tell_passes(&plan->info, 1, sample, how);
}

/* Takes scratch, and counts a sample of rows. */
static lsp_status look(lsp_spgemm_plan *plan, const lsp_spgemm_operands *operands, one_pass_job *to, int64_t bytes,
                       one_pass_sample *sample) {
    lsp_ctx *ctx = plan->ctx;
    const spg_job job = job_of(plan, operands);
    LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, bytes, 1, (void **)&to->report));
    LSP_TRY(lsp_cuda_clear(ctx, to->report, bytes));
    to->tiles = (ull *)(to->report + 1);
    LSP_TRY(start_sample(ctx, &job, to->report));
    return lsp_cuda_read_note(ctx, sample, sizeof *sample);
}

/* Makes C. It is to be freed if found->failed says that lists or memory were too small. */
static lsp_status make(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, one_pass_job *to, one_pass_way way,
                       lsp_csr *C, one_pass_facts *found) {
    lsp_spgemm_operands operands;
    LSP_TRY(lsp_spgemm_gpu_take_operands(plan, A, B, &operands));
    LSP_TRY(lsp_spgemm_allocate(plan, C));
    to->capacity = (ull)C->nnz;
    to->rowptr = C->rowptr;
    to->wide_rowptr = C->rowptr_type == LSP_I64;
    LSP_TRY(make_rows(plan, &operands, to, way, C, found));
    return found->failed == 0 ? trim(plan->ctx, C, (int64_t)found->nnz) : LSP_OK;
}

/* Looks at a sample, then makes C, unless two passes seem better. */
static lsp_status try_once(lsp_spgemm_plan *plan, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_sample *sum,
                           lsp_csr *C, lsp_spgemm_info *info, bool *done) {
    const lsp_spgemm_operands views = {*A, *B, NULL, NULL, NULL};
    one_pass_sample sample;
    one_pass_facts found;
    one_pass_job to = {};
    const int64_t bytes = (int64_t)sizeof *to.report + lsp_ceil_div(A->rows, ONE_PASS_LEAST_NT) * (int64_t)sizeof(ull);
    LSP_TRY(look(plan, &views, &to, bytes, &sample));
    const one_pass_way way = choose_way(&sample);
    *sum = sum_of(&sample);
    lsp_spgemm_tell_passes(info, 2, sum, "");
    plan->info.nnz = expected_entries(sum, A->rows);
    if (way.most > 0 && (plan->info.nnz <= INT32_MAX || plan->options.types.rowptr_type == LSP_I64)) {
        LSP_TRY(C != NULL ? make(plan, A, B, &to, way, C, &found) : LSP_OK);
        *done = C == NULL || found.failed == 0;
        lsp_spgemm_tell_passes(info, 2, sum, "the sample was wrong; ");
    }
    if (*done) {
        tell(plan, sum, way.most, bytes);
        if (C != NULL) {
            describe(plan, &found);
        }
        *info = plan->info;
    }
    return LSP_OK;
}

extern "C" lsp_status lsp_spgemm_gpu_one_pass(lsp_spgemm_plan *job, const lsp_csr *A, const lsp_csr *B, lsp_csr *C,
                                              bool *done) {
    lsp_ctx *ctx = job->ctx;
    LSP_SCRATCH_SCOPE(ctx);
    lsp_spgemm_plan plan = *job; /* on the stack: it carries the job to functions that serve plans too */
    lsp_spgemm_gpu gpu = {};
    lsp_spgemm_sample sum = {};
    const char *why = unsuited(job, A, B);
    *done = false;
    if (why != NULL) {
        lsp_spgemm_tell_passes(&job->info, 2, NULL, why);
        return LSP_OK;
    }
    plan.gpu = &gpu;
    plan.facts.rows = A->rows;
    plan.facts.cols = B->cols;
    const lsp_status status = try_once(&plan, A, B, &sum, C, &job->info, done);
    if (!*done) {
        lsp_csr_free(ctx, C);
    }
    if (status == LSP_ERR_MEMORY) {
        lsp_spgemm_tell_passes(&job->info, 2, &sum, "no memory for one; ");
    }
    return status == LSP_ERR_MEMORY ? LSP_OK : status; /* two passes need less */
}
