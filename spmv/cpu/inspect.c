/* The facts of a matrix on the host. */
#include "cpu.h"
#include "matrices/matrices.h"
#include "spmv/diagonals.h"

lsp_status lsp_spmv_inspect_cpu(lsp_ctx *ctx, const lsp_spmv_job *job, lsp_spmv_facts *facts) {
    const lsp_csr *A = &job->A;
    *facts = (lsp_spmv_facts){0};
    for (int64_t i = 0; i < A->rows; i++) {
        const int64_t length = lsp_csr_rowptr(A, i + 1) - lsp_csr_rowptr(A, i);
        facts->longest_row = lsp_max(facts->longest_row, length);
        facts->empty_rows += length == 0;
    }
    (void)lsp_spmv_count_slots_cpu(ctx, job, facts); /* cannot fail */
    return lsp_cache_model_sample(ctx, A->col, A->col_type, A->nnz, lsp_spmv_item_bytes(job), LSP_HOST,
                                  &facts->pattern);
}
