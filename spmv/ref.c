/* The specification: one thread on the host, each row summed in its order, product by product. */
#include "finish.h"

/* y[i] of vector v, in arithmetic of one type. */
#define DO_ROW(type, suffix)                                                                                           \
    static void do_row_##suffix(const lsp_spmv_job *job, int64_t i, int64_t v, int64_t *outside) {                     \
        const lsp_csr *A = &job->A;                                                                                    \
        const lsp_semiring semiring = job->options.semiring;                                                           \
        const bool counts = lsp_semiring_counts(semiring);                                                             \
        const type *x = lsp_spmv_x_##suffix(job, v);                                                                   \
        const int64_t step = job->x_row, end = lsp_index_at(A->rowptr, A->rowptr_type, i + 1);                         \
        type sum = (type)lsp_semiring_empty(semiring);                                                                 \
        int64_t count = 0;                                                                                             \
        for (int64_t k = lsp_index_at(A->rowptr, A->rowptr_type, i); k < end; k++) {                                   \
            const int64_t col = lsp_index_at(A->col, A->col_type, k);                                                  \
            if (col < 0 || col >= A->cols) {                                                                           \
                lsp_lower(outside, k);                                                                                 \
                continue;                                                                                              \
            }                                                                                                          \
            sum = counts                                                                                               \
                      ? 0                                                                                              \
                      : join_##suffix(semiring, lsp_spmv_value_##suffix(A->val_type, A->val, k), x[col * step], sum);  \
            count++;                                                                                                   \
        }                                                                                                              \
        sum = counts ? (type)count : count == 0 ? (type)(lsp_semiring_empty(semiring) + 0.0) : sum;                    \
        lsp_spmv_write_##suffix(job, i, v, sum);                                                                       \
    }
DO_ROW(float, f32)
DO_ROW(double, f64)

void lsp_spmv_ref_rows(const lsp_spmv_job *job, int64_t begin, int64_t end, int64_t *outside) {
    for (int64_t i = begin; i < end; i++) {
        for (int64_t v = 0; v < job->options.vectors; v++) {
            LSP_SPMV_BY_TYPE(job->options.type, do_row, job, i, v, outside);
        }
    }
}

lsp_status lsp_spmv_tell_outside(lsp_ctx *ctx, const lsp_spmv_job *job, int64_t outside) {
    const lsp_csr *A = &job->A;
    return outside >= A->nnz
               ? LSP_OK
               : lsp_fail(ctx, LSP_ERR_FORMAT, "A, entry %lld: column %lld is not in 0 .. %lld; the entry was left out",
                          (long long)outside, (long long)lsp_index_at(A->col, A->col_type, outside),
                          (long long)A->cols - 1);
}

static lsp_status run(lsp_ctx *ctx, const lsp_spmv_job *job, void *parts) {
    int64_t outside = INT64_MAX;
    (void)parts;
    lsp_spmv_ref_rows(job, 0, job->A.rows, &outside);
    return lsp_spmv_tell_outside(ctx, job, outside);
}

const lsp_spmv_engine lsp_spmv_ref = {.run = run};
