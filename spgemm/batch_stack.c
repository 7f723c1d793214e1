/* A factor of a batch: its matrices are checked, measured and put together. See batch.h. */
#include "batch.h"
#include "core/cuda.h"
#include "spgemm.h"

#include <stdio.h>

/* Checks a matrix by its own name, as "A[17]". Names cost more than the check of a small matrix, so only one that is at
 * fault gets a name. */
static lsp_status check_by_name(lsp_ctx *ctx, const lsp_batch_factor *f, int64_t i, const lsp_csr *A) {
    char name[32];
    (void)snprintf(name, sizeof name, "%s[%lld]", f->name, (long long)i);
    return lsp_csr_check_valid(ctx, name, A);
}

/* ---- sizes ---- */

/* Checks the struct of a matrix. */
static lsp_status check_header(lsp_ctx *ctx, const lsp_batch_factor *f, int64_t i, const lsp_csr *A) {
    const lsp_csr *like = &f->like;
    LSP_TRY(lsp_csr_check_header(ctx, f->name, A) != LSP_OK ? check_by_name(ctx, f, i, A) : LSP_OK);
    LSP_REQUIRE(A->where == like->where, LSP_ERR_ARGUMENT,
                "%s[%lld] lies %s and A[0] does not: all matrices of a batch must lie in one place", f->name,
                (long long)i, A->where == LSP_CUDA ? "on the GPU" : "on the host");
    LSP_REQUIRE(A->rowptr_type == like->rowptr_type && A->col_type == like->col_type && A->val_type == like->val_type,
                LSP_ERR_ARGUMENT,
                "%s[%lld] has types %s, %s and %s, and %s[0] has %s, %s and %s: they must be the same in a batch",
                f->name, (long long)i, lsp_type_name(A->rowptr_type), lsp_type_name(A->col_type),
                lsp_type_name(A->val_type), f->name, lsp_type_name(like->rowptr_type), lsp_type_name(like->col_type),
                lsp_type_name(like->val_type));
    return LSP_OK;
}

/* *sum += size, of the matrices 0 .. i together. */
static lsp_status add(lsp_ctx *ctx, const lsp_batch_factor *f, int64_t i, const char *sizes, int64_t size,
                      int64_t *sum) {
    LSP_REQUIRE(lsp_add(*sum, size, sum), LSP_ERR_OVERFLOW, "%s[0] to %s[%lld] together have 2^63 %s or more", f->name,
                f->name, (long long)i, sizes);
    return LSP_OK;
}

/* Checks the structs, and makes the table of spans and the sizes of the stack. The GPU's kernels number its rows,
 * entries and inner columns in 32 bits. */
static lsp_status measure(lsp_ctx *ctx, lsp_batch_factor *f, const lsp_csr *matrices) {
    const int64_t most = f->like.where == LSP_CUDA ? INT32_MAX : INT64_MAX / 16;
    int64_t widest = 0, columns = 0;
    lsp_csr *stack = &f->stack;
    LSP_TRY(lsp_alloc(ctx, LSP_HOST, f->count + 1, sizeof *f->spans, (void **)&f->spans));
    for (int64_t i = 0; i < f->count; i++) {
        const lsp_csr *A = &matrices[i];
        LSP_TRY(check_header(ctx, f, i, A));
        f->spans[i] = (lsp_batch_span){A->rowptr, A->col, A->val, stack->rows, stack->nnz, A->cols, 0};
        f->spans[i].shift = f->diagonal ? columns : 0;
        LSP_TRY(add(ctx, f, i, "rows", A->rows, &stack->rows));
        LSP_TRY(add(ctx, f, i, "entries", A->nnz, &stack->nnz));
        LSP_TRY(f->diagonal ? add(ctx, f, i, "columns", A->cols, &columns) : LSP_OK);
        widest = lsp_max(widest, A->cols);
    }
    stack->cols = f->diagonal ? columns : widest;
    f->spans[f->count] = (lsp_batch_span){.row_at = stack->rows, .entry_at = stack->nnz, .shift = columns};
    LSP_REQUIRE(stack->rows <= most && stack->nnz <= most && (!f->diagonal || columns - 1 <= most), LSP_ERR_UNSUPPORTED,
                "the %lld matrices %s together are %lld x %lld with %lld entries: a batch in this place may have up to "
                "%lld rows, inner columns and entries",
                (long long)f->count, f->name, (long long)stack->rows, (long long)stack->cols, (long long)stack->nnz,
                (long long)most);
    return LSP_OK;
}

/* ---- arrays ---- */

lsp_status lsp_batch_prepare(lsp_ctx *ctx, const lsp_batch_span *spans, int64_t count, const lsp_csr *from,
                             const lsp_csr *to, lsp_batch_job *job) {
    void *there = NULL;
    *job = (lsp_batch_job){.spans = spans, .there = spans, .count = count, .from = *from, .to = *to};
    if (from->where == LSP_CUDA) {
        LSP_TRY(lsp_scratch_at(ctx, LSP_CUDA, count + 1, sizeof *spans, &there));
        job->there = there;
        return lsp_cuda_copy(ctx, there, LSP_CUDA, spans, LSP_HOST, (count + 1) * (int64_t)sizeof *spans);
    }
    return LSP_OK;
}

/* Puts the arrays together. Matrix by matrix, a check of small ones would take longer: so they are checked while they
 * are copied, and the first one at fault is checked again for the sentence. */
static lsp_status fill(lsp_ctx *ctx, lsp_batch_factor *f, const lsp_csr *matrices) {
    LSP_SCRATCH_SCOPE(ctx);
    const bool on_gpu = f->like.where == LSP_CUDA;
    const lsp_csr_types types = {.val_type = f->pattern ? LSP_NONE : f->like.val_type,
                                 .place = lsp_place_of(f->like.where)};
    lsp_csr made = {0};
    lsp_batch_job job;
    int64_t i = f->count;
    LSP_TRY(lsp_csr_create(ctx, f->stack.rows, f->stack.cols, f->stack.nnz, &types, &made));
    f->stack = made;
    const lsp_batch_table *each = lsp_spgemm_device_at(made.where)->batch;
    LSP_TRY(lsp_batch_prepare(ctx, f->spans, f->count, &f->like, &f->stack, &job));
    job.fault = &i;
    LSP_TRY(on_gpu ? LSP_SCRATCH_FILLED(ctx, INT8_MAX, 1, &job.fault) : LSP_OK);
    LSP_TRY(each->put_pointer(ctx, &job));
    LSP_TRY(each->put_column(ctx, &job));
    LSP_TRY(on_gpu ? lsp_cuda_read(ctx, &i, job.fault, sizeof i) : LSP_OK);
    if (i < f->count) {
        LSP_TRY(check_by_name(ctx, f, i, &matrices[i]));
        LSP_REQUIRE(false, LSP_ERR_FORMAT, "%s[%lld], of %lld x %lld with %lld entries, was changed while it was read",
                    f->name, (long long)i, (long long)matrices[i].rows, (long long)matrices[i].cols,
                    (long long)matrices[i].nnz);
    }
    return made.val_type != LSP_NONE ? each->put_value(ctx, &job) : LSP_OK;
}

/* T = the transpose of a block diagonal stack, with the columns of each block from 0 on. */
static lsp_status transpose(lsp_ctx *ctx, lsp_batch_factor *f, bool kept) {
    LSP_SCRATCH_SCOPE(ctx);
    int64_t tallest = 0;
    lsp_batch_job job;
    LSP_TRY(kept ? lsp_csr_transpose_plan_create(ctx, &f->stack, &f->transpose) : LSP_OK);
    LSP_TRY(kept ? lsp_csr_transpose_execute(f->transpose, &f->stack, &f->T)
                 : lsp_csr_transpose_as(ctx, f->name, &f->stack, &f->T));
    LSP_TRY(lsp_batch_prepare(ctx, f->spans, f->count, &f->T, &f->T, &job));
    LSP_TRY(lsp_spgemm_device_at(f->T.where)->batch->unshift(ctx, &job));
    for (int64_t i = 0; i < f->count; i++) {
        tallest = lsp_max(tallest, f->spans[i + 1].row_at - f->spans[i].row_at);
    }
    f->T.cols = tallest;
    return LSP_OK;
}

lsp_status lsp_batch_open(lsp_ctx *ctx, lsp_batch_factor *f, const lsp_csr *matrices, bool kept) {
    f->like = *matrices;
    LSP_TRY(measure(ctx, f, matrices));
    LSP_TRY(fill(ctx, f, matrices));
    return f->transposed ? transpose(ctx, f, kept) : LSP_OK;
}

/* ---- new values ---- */

lsp_status lsp_batch_take_values(lsp_ctx *ctx, lsp_batch_factor *f, const lsp_csr *matrices) {
    LSP_SCRATCH_SCOPE(ctx);
    lsp_csr T = f->T;
    lsp_batch_job job;
    for (int64_t i = 0; i < f->count; i++) {
        const lsp_csr *A = &matrices[i];
        lsp_batch_span *a = &f->spans[i];
        const int64_t rows = a[1].row_at - a->row_at, nnz = a[1].entry_at - a->entry_at;
        LSP_TRY(check_header(ctx, f, i, A));
        LSP_REQUIRE(A->rows == rows && A->cols == a->cols && A->nnz == nnz, LSP_ERR_ARGUMENT,
                    "%s[%lld] is %lld x %lld with %lld entries; the plan was made for %lld x %lld with %lld", f->name,
                    (long long)i, (long long)A->rows, (long long)A->cols, (long long)A->nnz, (long long)rows,
                    (long long)a->cols, (long long)nnz);
        a->val = A->val;
    }
    if (f->stack.val_type != LSP_NONE) {
        LSP_TRY(lsp_batch_prepare(ctx, f->spans, f->count, &f->like, &f->stack, &job));
        LSP_TRY(lsp_spgemm_device_at(f->like.where)->batch->put_value(ctx, &job));
    }
    T.cols = f->stack.rows; /* as the plan of T made it */
    return f->transposed ? lsp_csr_transpose_refill(f->transpose, &f->stack, &T) : LSP_OK;
}
