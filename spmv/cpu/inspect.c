/* The facts of a matrix on the host. */
#include "cpu.h"
#include "matrices/matrices.h"

typedef struct lengths {
    const lsp_csr *A;
    int64_t longest, empty;
} lengths;

static void measure(void *data, int64_t begin, int64_t end) {
    lengths *l = data;
    int64_t longest = 0, empty = 0;
    for (int64_t i = begin; i < end; i++) {
        const int64_t length = lsp_csr_rowptr(l->A, i + 1) - lsp_csr_rowptr(l->A, i);
        longest = lsp_max(longest, length);
        empty += length == 0;
    }
    int64_t seen = __atomic_load_n(&l->longest, __ATOMIC_RELAXED);
    while (longest > seen &&
           !__atomic_compare_exchange_n(&l->longest, &seen, longest, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    __atomic_fetch_add(&l->empty, empty, __ATOMIC_RELAXED);
}

lsp_status lsp_spmv_inspect_cpu(lsp_ctx *ctx, const lsp_spmv_job *job, lsp_spmv_facts *facts) {
    const lsp_csr *A = &job->A;
    lengths l = {.A = A};
    lsp_for_shares(ctx, A->rows, 1 << 16, measure, &l);
    *facts = (lsp_spmv_facts){.longest_row = l.longest, .empty_rows = l.empty};
    return lsp_cache_model_sample(ctx, A->col, A->col_type, A->nnz, lsp_spmv_item_bytes(job), LSP_HOST,
                                  &facts->pattern);
}
