/* Bodies of entries. On the host, the matrix of those that a body keeps: they are counted, a prefix sum gives the rows,
 * each is filled. */
#include "bodies.h"
#include "core/cuda.h"
#include "core/scan.h"

enum { least_share = 1 << 15 };

lsp_status lsp_csr_add_up(lsp_ctx *ctx, lsp_where where, int64_t rows, int64_t cols, int64_t most, int64_t *counts,
                          int64_t n, int64_t *total) {
    const bool wide = (double)n * (double)most >= 1e18; /* may be 2^62 */
    const int64_t limit = (int64_t)1 << 62;
    bool beyond = false;
    if (where == LSP_CUDA) {
        int64_t first = n + 1;
        LSP_TRY(lsp_cuda_scan(ctx, counts, n + 1, total));
        LSP_TRY(wide ? LSP_EACH_FIRST(ctx, where, outside, &first,
                                      (lsp_each_job){.args = &(indexing){.from = counts, .limit = limit},
                                                     .n = n + 1,
                                                     .kind = {.index = LSP_I64}})
                     : LSP_OK);
        beyond = first <= n;
    }
    for (int64_t i = 1, sum = 0; where == LSP_HOST && wide && i <= n && !beyond; i++) {
        sum += counts[i]; /* below 2^63 */
        beyond = sum >= limit;
    }
    LSP_REQUIRE(!beyond, LSP_ERR_OVERFLOW,
                "the %lld rows and %lld columns wanted have 2^62 entries or more, with their repeats", (long long)rows,
                (long long)cols);
    if (where == LSP_HOST) {
        lsp_prefix_sum(ctx, counts, n);
        *total = counts[n];
    }
    return LSP_OK;
}

/* Where the wanted rows begin and what their entries are in A, on a GPU. */
static lsp_status take_rows(lsp_ctx *ctx, lsp_keep *keep) {
    lsp_taking *t = &keep->taken;
    const lsp_each_job all = {.args = t, .n = keep->row_count + 1}, each = {.args = t, .n = keep->row_count};
    *t = (lsp_taking){.A = *keep->A, .rows = keep->rows, .rows_type = keep->rows_type};
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, all.n, &t->starts));
    LSP_TRY(LSP_SCRATCH_CUDA(ctx, each.n, &t->shift));
    LSP_TRY(LSP_EACH(ctx, LSP_CUDA, row_length, all));
    LSP_TRY(lsp_csr_add_up(ctx, LSP_CUDA, each.n, keep->cols, keep->A->nnz, t->starts, each.n, &keep->entries));
    return LSP_EACH(ctx, LSP_CUDA, row_shift, each);
}

static lsp_status keep_on_host(lsp_ctx *ctx, lsp_each_host *loops, const lsp_keep *keep, lsp_csr *B) {
    LSP_SCRATCH_SCOPE(ctx);
    const lsp_csr *A = keep->A;
    const int64_t rows = keep->rows ? keep->row_count : A->rows;
    const int64_t least = lsp_max(least_share / (1 + A->nnz / lsp_max(A->rows, 1)), 1);
    lsp_keep_run run = {.keep = keep, .B = B};
    LSP_TRY(LSP_SCRATCH(ctx, rows + 1, &run.starts));
    if (keep->all) {
        const lsp_taking t = {.A = *A, .rows = keep->rows, .rows_type = keep->rows_type, .starts = run.starts};
        LSP_TRY(LSP_EACH(ctx, LSP_HOST, row_length, (lsp_each_job){.args = &t, .n = rows + 1}));
    } else if (keep->rows) {
        lsp_for_shares(ctx, rows, least, loops, &run);
    } else {
        lsp_csr_for_rows(ctx, A, loops, &run);
    }
    int64_t nnz = 0;
    LSP_TRY(lsp_csr_add_up(ctx, LSP_HOST, rows, keep->cols, keep->rows ? A->nnz : 1, run.starts, rows, &nnz));
    lsp_csr_types types = keep->types ? *keep->types : lsp_types_like(A, keep->cols, nnz);
    types.val_type = A->val_type;
    types.place = LSP_PLACE_HOST;
    LSP_TRY(lsp_csr_create_rows(ctx, rows, keep->cols, run.starts, &types, B));
    run.fills = true;
    lsp_csr_for_rows(ctx, keep->rows ? B : A, loops, &run); /* equal shares of what is read or, by a list, written */
    return LSP_OK;
}

lsp_status lsp_keep_entries(lsp_ctx *ctx, lsp_each_host *host, lsp_keep_cuda *cuda, lsp_keep keep, lsp_csr *B) {
    if (keep.A->where == LSP_HOST) {
        return keep_on_host(ctx, host, &keep, B);
    }
    LSP_SCRATCH_SCOPE(ctx);
    LSP_TRY(keep.rows ? take_rows(ctx, &keep) : LSP_OK);
    return cuda(ctx, &keep, B);
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
