/* Bodies of entries on the host. The matrix of those that a body keeps: they are counted, a prefix sum gives the rows,
 * each is filled. */
#include "each.h"
#include "forms/forms.h"

enum { least_share = 1 << 15 };

static void count_lengths(void *data, int64_t begin, int64_t end) {
    const lsp_keep_run *run = data;
    const lsp_keep *keep = run->keep;
    for (int64_t i = begin; i < end; i++) {
        const int64_t row = keep->rows ? lsp_index_at(keep->rows, keep->rows_type, i) : i;
        run->starts[i + 1] = lsp_csr_rowptr(keep->A, row + 1) - lsp_csr_rowptr(keep->A, row);
    }
}

/* With a list of rows, which may name a long row often. */
static lsp_status check_total(lsp_ctx *ctx, const lsp_keep *keep, const int64_t *starts, int64_t rows) {
    lsp_wide_sum total = {0};
    if (keep->rows == NULL || (double)rows * (double)keep->A->nnz < 1e18) { /* below 2^62 */
        return LSP_OK;
    }
    for (int64_t i = 0; i < rows; i++) {
        lsp_wide_sum_add(&total, starts[i + 1]);
    }
    return lsp_check_total(ctx, &total, rows, keep->cols);
}

static lsp_status keep_on_host(lsp_ctx *ctx, lsp_each_host *loops, const lsp_keep *keep, lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_csr *A = keep->A;
    const int64_t rows = keep->rows ? keep->row_count : A->rows;
    const int64_t least = lsp_max(least_share / (1 + A->nnz / lsp_max(A->rows, 1)), 1);
    lsp_keep_run run = {.keep = keep, .B = B};
    LSP_TRY(LSP_SCRATCH(ctx, rows + 1, &run.starts));
    if (keep->all) {
        lsp_for_shares(ctx, rows, least_share, count_lengths, &run);
    } else if (keep->rows) {
        lsp_for_shares(ctx, rows, least, loops, &run);
    } else {
        lsp_csr_for_rows(ctx, A, loops, &run);
    }
    LSP_TRY(check_total(ctx, keep, run.starts, rows));
    lsp_prefix_sum(ctx, run.starts, rows);
    lsp_csr_types types = keep->types ? *keep->types : lsp_types_like(A, keep->cols, run.starts[rows]);
    types.val_type = A->val_type;
    types.place = LSP_PLACE_HOST;
    LSP_TRY(lsp_csr_create_rows(ctx, rows, keep->cols, run.starts, &types, B));
    run.fills = true;
    lsp_csr_for_rows(ctx, keep->rows ? B : A, loops, &run); /* equal shares of what is read or, by a list, written */
    return LSP_OK;
}

lsp_status lsp_keep_entries(lsp_ctx *ctx, lsp_each_host *host, lsp_keep_cuda *cuda, lsp_keep keep, lsp_csr *B) {
    return keep.A->where == LSP_CUDA ? cuda(ctx, &keep, B) : keep_on_host(ctx, host, &keep, B);
}

lsp_status lsp_each_entry(lsp_ctx *ctx, lsp_each_host *host, lsp_entry_cuda *cuda, lsp_entry_job job) {
    if (job.found != NULL) {
        *job.found = lsp_found_nothing();
    }
    if (job.A->where == LSP_CUDA) {
        return job.A->nnz > 0 ? cuda(ctx, &job) : LSP_OK;
    }
    lsp_csr_for_rows(ctx, job.A, host, &job);
    return LSP_OK;
}
