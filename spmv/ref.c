/* The specification: one thread on the host, each row summed in its order, product by product. */
#include "ref.h"
#include "finish.h"

typedef struct row {
    int64_t begin, end;
} row;

/* The entries of row i; begin -1 if its pointers are wrong. */
static row row_of(const lsp_spmv_job *job, int64_t i, lsp_spmv_faults *faults) {
    const lsp_csr *A = &job->A;
    const int64_t begin = lsp_index_at(A->rowptr, A->rowptr_type, i);
    const int64_t end = lsp_index_at(A->rowptr, A->rowptr_type, i + 1);
    if (begin < 0 || end < begin || end > A->nnz) {
        lsp_lower(&faults->row, i);
        return (row){-1, -1};
    }
    return (row){begin, end};
}

static double value_at(const lsp_csr *A, int64_t k) {
    return A->val_type == LSP_NONE  ? 1
           : A->val_type == LSP_F32 ? (double)((const float *)A->val)[k]
                                    : ((const double *)A->val)[k];
}

/* y[i] of vector v, in arithmetic of one type. */
#define DO_ROW(type, suffix)                                                                                           \
    static void do_row_##suffix(const lsp_spmv_job *job, int64_t i, row r, int64_t v, lsp_spmv_faults *faults) {       \
        const lsp_csr *A = &job->A;                                                                                    \
        const lsp_spmv_vectors *at = &job->vectors;                                                                    \
        const lsp_semiring semiring = job->options.semiring;                                                           \
        const bool by_columns = job->options.by_columns, counts = lsp_semiring_counts(semiring);                       \
        const type *x = (const type *)at->x + v * (by_columns ? at->x_stride : 1);                                     \
        type *y = (type *)at->y + (by_columns ? v * at->y_stride + i : i * at->y_stride + v);                          \
        type sum = (type)lsp_semiring_empty(semiring);                                                                 \
        int64_t count = 0;                                                                                             \
        for (int64_t k = r.begin; k < r.end; k++) {                                                                    \
            const int64_t col = lsp_index_at(A->col, A->col_type, k);                                                  \
            if (col < 0 || col >= A->cols) {                                                                           \
                lsp_lower(&faults->entry, k);                                                                          \
                continue;                                                                                              \
            }                                                                                                          \
            sum = counts                                                                                               \
                      ? 0                                                                                              \
                      : join_##suffix(semiring, (type)value_at(A, k), x[col * (by_columns ? 1 : at->x_stride)], sum);  \
            count++;                                                                                                   \
        }                                                                                                              \
        sum = counts ? (type)count : count == 0 ? (type)(lsp_semiring_empty(semiring) + 0.0) : sum;                    \
        finish_##suffix(semiring, (type)at->alpha, (type)at->beta, sum, y);                                            \
    }
DO_ROW(float, f32)
DO_ROW(double, f64)

void lsp_spmv_ref_rows(const lsp_spmv_job *job, int64_t begin, int64_t end, lsp_spmv_faults *faults) {
    for (int64_t i = begin; i < end; i++) {
        const row r = row_of(job, i, faults);
        if (r.begin < 0) {
            return;
        }
        for (int64_t v = 0; v < job->options.vectors; v++) {
            if (job->options.type == LSP_F32) {
                do_row_f32(job, i, r, v, faults);
            } else {
                do_row_f64(job, i, r, v, faults);
            }
        }
    }
}

lsp_status lsp_spmv_tell_faults(lsp_ctx *ctx, const lsp_spmv_job *job, const lsp_spmv_faults *faults) {
    const lsp_csr *A = &job->A;
    if (faults->row < A->rows) {
        return lsp_fail(ctx, LSP_ERR_FORMAT, "A, row %lld: it goes from entry %lld to %lld, but A has %lld entries",
                        (long long)faults->row, (long long)lsp_index_at(A->rowptr, A->rowptr_type, faults->row),
                        (long long)lsp_index_at(A->rowptr, A->rowptr_type, faults->row + 1), (long long)A->nnz);
    }
    if (faults->entry < A->nnz) {
        return lsp_fail(ctx, LSP_ERR_FORMAT, "A, entry %lld: column %lld is not in 0 .. %lld; the entry was left out",
                        (long long)faults->entry, (long long)lsp_index_at(A->col, A->col_type, faults->entry),
                        (long long)A->cols - 1);
    }
    return LSP_OK;
}

static bool fits(lsp_ctx *ctx, const lsp_spmv_job *job) {
    (void)ctx;
    return job->A.where == LSP_HOST;
}

static lsp_status run(lsp_ctx *ctx, const lsp_spmv_job *job, void *parts) {
    lsp_spmv_faults faults = {INT64_MAX, INT64_MAX};
    (void)parts;
    lsp_spmv_ref_rows(job, 0, job->A.rows, &faults);
    return lsp_spmv_tell_faults(ctx, job, &faults);
}

const lsp_spmv_engine lsp_spmv_ref = {.fits = fits, .run = run};
