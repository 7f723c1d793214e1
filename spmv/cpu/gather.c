/* The paper's two steps on the CPU: the x that the entries need are gathered, in some passes over the columns, each of
 * which follows those of one part of x; then rows are summed with contiguous reads. */
#include "walk.h"

enum { parts_per_thread = 8, least_share = 1 << 14 };

typedef struct work {
    const lsp_spmv_job *job;
    void *dense, *gathered; /* a vector of X without gaps; an element of it for each entry */
    int64_t vector;         /* that is multiplied now */
    int64_t parts;
} work;

/* ---- step 1 ---- */

/* dense[i] = the element i of the vector. */
static void pack(void *data, int64_t begin, int64_t end) {
    const work *w = data;
    const int64_t step = w->job->vectors.x_stride;
    if (w->job->options.type == LSP_F32) {
        for (int64_t i = begin; i < end; i++) {
            ((float *)w->dense)[i] = lsp_spmv_x_f32(w->job, w->vector)[i * step];
        }
    } else {
        for (int64_t i = begin; i < end; i++) {
            ((double *)w->dense)[i] = lsp_spmv_x_f64(w->job, w->vector)[i * step];
        }
    }
}

const void *lsp_spmv_dense_x(lsp_ctx *ctx, const lsp_spmv_job *job, int64_t v, void *dense) {
    work w = {.job = job, .dense = dense, .vector = v};
    if (lsp_spmv_x_step(job) != 1) {
        lsp_for_shares(ctx, job->A.cols, least_share, pack, &w);
        return dense;
    }
    return job->options.type == LSP_F32 ? (const void *)lsp_spmv_x_f32(job, v) : lsp_spmv_x_f64(job, v);
}

static lsp_status gather(lsp_ctx *ctx, const work *w) {
    const lsp_csr *A = &w->job->A;
    const int passes = w->job->choice.passes;
    const lsp_column column = {.from = lsp_spmv_dense_x(ctx, w->job, w->vector, w->dense),
                               .to = w->gathered,
                               .bytes = lsp_type_bytes(w->job->options.type)};
    return A->nnz == 0
               ? LSP_OK
               : lsp_gather(ctx,
                            &(lsp_gather_args){.n = A->nnz,
                                               .extent = A->cols,
                                               .index = A->col,
                                               .index_type = A->col_type,
                                               .columns = &column,
                                               .column_count = 1,
                                               .strategy = passes > 1 ? LSP_STRATEGY_RESCAN : LSP_STRATEGY_DIRECT,
                                               .passes = passes > 1 ? passes : 0},
                            NULL);
}

/* ---- step 2 ---- */

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
            return A->val_type == LSP_NONE  ? plus_##suffix(LSP_NONE, A, x, begin, end)                                \
                   : A->val_type == LSP_F32 ? plus_##suffix(LSP_F32, A, x, begin, end)                                 \
                                            : plus_##suffix(LSP_F64, A, x, begin, end);                                \
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
        const lsp_spmv_vectors *v = &w->job->vectors;                                                                  \
        const lsp_semiring semiring = w->job->options.semiring;                                                        \
        const type sum = sum_##suffix(semiring, &w->job->A, (const type *)w->gathered, begin, end);                    \
        finish_##suffix(semiring, (type)v->alpha, (type)v->beta, sum, lsp_spmv_y_##suffix(w->job, i, w->vector));      \
    }
SUM_ROW(float, f32, __builtin_fmaf)
SUM_ROW(double, f64, __builtin_fma)

static int64_t row_at(const lsp_csr *A, int64_t weight) {
    return lsp_spmv_first_at(A->rowptr, A->rowptr_type, A->rows, weight);
}

static void sum_rows(void *data, int64_t part, int thread) {
    const work *w = data;
    const lsp_csr *A = &w->job->A;
    int64_t from, to;
    (void)thread;
    lsp_share(A->rows + A->nnz, (int)part, (int)w->parts, &from, &to);
    const int64_t last = part + 1 == w->parts ? A->rows : row_at(A, to);
    for (int64_t i = part == 0 ? 0 : row_at(A, from); i < last; i++) {
        const int64_t begin = lsp_index_at(A->rowptr, A->rowptr_type, i);
        const int64_t end = lsp_index_at(A->rowptr, A->rowptr_type, i + 1);
        if (w->job->options.type == LSP_F32) {
            finish_row_f32(w, i, begin, end);
        } else {
            finish_row_f64(w, i, begin, end);
        }
    }
}

/* ---- the engine ---- */

static lsp_status run(lsp_ctx *ctx, const lsp_spmv_job *job, void *parts) {
    LSP_SCRATCH_SCOPE(ctx);
    const size_t item = lsp_type_bytes(job->options.type);
    work w = {.job = job};
    (void)parts;
    if (!job->planned && !columns_are_inside(&job->A, 0, job->A.nnz)) {
        return lsp_spmv_ref.run(ctx, job, NULL); /* which leaves entries out */
    }
    w.parts = parts_per_thread * lsp_threads_for(ctx, job->A.rows + job->A.nnz, least_share);
    LSP_TRY(lsp_scratch_bytes(ctx, job->A.nnz, item, false, &w.gathered));
    if (lsp_spmv_x_step(job) != 1) {
        LSP_TRY(lsp_scratch_bytes(ctx, job->A.cols, item, false, &w.dense));
    }
    for (; w.vector < job->options.vectors; w.vector++) {
        LSP_TRY(gather(ctx, &w));
        lsp_for_parts(ctx, w.parts, lsp_threads_for(ctx, job->A.rows + job->A.nnz, least_share), sum_rows, &w);
    }
    return LSP_OK;
}

const lsp_spmv_engine lsp_spmv_gather_cpu = {.run = run};
