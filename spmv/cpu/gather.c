/* LSP_SPMV_GATHER on the CPU: the sums of rows, whose elements of x were gathered. */
#include "spmv/gather.h"
#include "matrices/matrices.h"
#include "walk.h"

enum { parts_per_thread = 8, least_share = 1 << 14 };

typedef struct work {
    const lsp_spmv_job *job;
    const void *gathered; /* an element of x for each entry */
    int64_t vector;       /* that is multiplied now */
    int parts;
} work;

/* The sum of the entries begin .. end-1: four chains of fused multiply-adds, or joined in order. */
#define SUM_ROW(type, suffix, fused)                                                                                   \
    ALWAYS type plus_##suffix(lsp_type val_type, const lsp_csr *A, const type *x, int64_t begin, int64_t end) {        \
        type s[4] = {0};                                                                                               \
        int64_t k = begin;                                                                                             \
        for (; k + 4 <= end; k += 4) {                                                                                 \
            for (int j = 0; j < 4; j++) {                                                                              \
                s[j] = fused(lsp_spmv_value_##suffix(val_type, A->val, k + j), x[k + j], s[j]);                        \
            }                                                                                                          \
        }                                                                                                              \
        for (; k < end; k++) {                                                                                         \
            s[0] = fused(lsp_spmv_value_##suffix(val_type, A->val, k), x[k], s[0]);                                    \
        }                                                                                                              \
        return (s[0] + s[2]) + (s[1] + s[3]);                                                                          \
    }                                                                                                                  \
    static type sum_##suffix(lsp_semiring semiring, const lsp_csr *A, const type *x, int64_t begin, int64_t end) {     \
        type sum = (type)lsp_semiring_empty(semiring);                                                                 \
        if (semiring == LSP_PLUS_TIMES) {                                                                              \
            return LSP_SPMV_BY_VALUES(A->val_type, plus_##suffix, A, x, begin, end);                                   \
        }                                                                                                              \
        if (lsp_semiring_counts(semiring)) {                                                                           \
            return (type)(end - begin);                                                                                \
        }                                                                                                              \
        for (int64_t k = begin; k < end; k++) {                                                                        \
            sum = join_##suffix(semiring, lsp_spmv_value_##suffix(A->val_type, A->val, k), x[k], sum);                 \
        }                                                                                                              \
        return sum;                                                                                                    \
    }                                                                                                                  \
    static void finish_row_##suffix(const work *w, int64_t i, int64_t begin, int64_t end) {                            \
        const type sum = sum_##suffix(w->job->options.semiring, &w->job->A, w->gathered, begin, end);                  \
        lsp_spmv_write_##suffix(w->job, i, w->vector, sum);                                                            \
    }
SUM_ROW(float, f32, __builtin_fmaf)
SUM_ROW(double, f64, __builtin_fma)

static void sum_rows(void *data, int64_t part, int thread) {
    const work *w = data;
    const lsp_csr *A = &w->job->A;
    int64_t first, last;
    (void)thread;
    lsp_csr_share(A, (int)part, w->parts, &first, &last);
    for (int64_t i = first; i < last; i++) {
        LSP_SPMV_BY_TYPE(w->job->options.type, finish_row, w, i, lsp_csr_rowptr(A, i), lsp_csr_rowptr(A, i + 1));
    }
}

/* ---- the engine ---- */

static lsp_status sum(lsp_ctx *ctx, const lsp_spmv_job *job, const void *gathered, int64_t v) {
    const int threads = lsp_threads_for(ctx, job->A.rows + job->A.nnz, least_share);
    work w = {job, gathered, v, parts_per_thread * threads};
    lsp_for_parts(ctx, w.parts, threads, sum_rows, &w);
    return LSP_OK;
}

static lsp_status run(lsp_ctx *ctx, const lsp_spmv_job *job, void *parts) {
    if (!job->planned && !columns_are_inside(&job->A, 0, job->A.nnz)) {
        return lsp_spmv_ref.run(ctx, job, NULL); /* which leaves entries out */
    }
    return lsp_spmv_gather_run(ctx, job, parts, sum);
}

const lsp_spmv_engine lsp_spmv_gather_cpu = {.run = run};
