/* CSR as it is in a semiring other than plus-times: a row joins its products in their order. And the pieces of long
 * rows, in any semiring. */
#include "walk.h"

/* The sum of the entries begin .. end-1; `semiring` and `val_type` are constants. */
#define SUM_OF(type, suffix)                                                                                           \
    ALWAYS type sum_of_##suffix(lsp_type val_type, lsp_semiring semiring, const lsp_csr *A, const type *x,             \
                                int64_t x_row, int64_t begin, int64_t end) {                                           \
        type sum = (type)lsp_semiring_empty(semiring);                                                                 \
        for (int64_t k = begin; k < end; k++) {                                                                        \
            sum = join_##suffix(semiring, lsp_spmv_value_##suffix(val_type, A->val, k),                                \
                                x[lsp_index_at(A->col, A->col_type, k) * x_row], sum);                                 \
        }                                                                                                              \
        return sum;                                                                                                    \
    }                                                                                                                  \
    static type sum_##suffix(const lsp_spmv_job *job, int64_t begin, int64_t end, int64_t v) {                         \
        const int64_t row = job->x_row;                                                                                \
        const type *x = lsp_spmv_x_##suffix(job, v);                                                                   \
        switch (job->options.semiring) {                                                                               \
        case LSP_MIN_PLUS:                                                                                             \
            return LSP_SPMV_BY_VALUES(job->A.val_type, sum_of_##suffix, LSP_MIN_PLUS, &job->A, x, row, begin, end);    \
        case LSP_MAX_TIMES:                                                                                            \
            return LSP_SPMV_BY_VALUES(job->A.val_type, sum_of_##suffix, LSP_MAX_TIMES, &job->A, x, row, begin, end);   \
        case LSP_OR_AND:                                                                                               \
            return LSP_SPMV_BY_VALUES(job->A.val_type, sum_of_##suffix, LSP_OR_AND, &job->A, x, row, begin, end);      \
        default:                                                                                                       \
            return (type)(end - begin); /* LSP_PLUS_PAIR; all columns are inside */                                    \
        }                                                                                                              \
    }                                                                                                                  \
    static void row_##suffix(const lsp_spmv_job *job, int64_t i, int64_t begin, int64_t end) {                         \
        for (int64_t v = 0; v < job->options.vectors; v++) {                                                           \
            lsp_spmv_write_##suffix(job, i, v, sum_##suffix(job, begin, end, v));                                      \
        }                                                                                                              \
    }                                                                                                                  \
    static void join_pieces_##suffix(const lsp_spmv_job *job, int64_t i, type *sums, int64_t count) {                  \
        const int64_t vectors = job->options.vectors;                                                                  \
        for (int64_t v = 0; v < vectors; v++) {                                                                        \
            for (int64_t p = 1; p < count; p++) {                                                                      \
                sums[v] = lsp_spmv_joined_##suffix(job->options.semiring, sums[p * vectors + v], sums[v]);             \
            }                                                                                                          \
            lsp_spmv_write_##suffix(job, i, v, sums[v]);                                                               \
        }                                                                                                              \
    }
SUM_OF(float, f32)
SUM_OF(double, f64)

void lsp_spmv_rows_semiring(const lsp_spmv_rows *r, int64_t begin, int64_t end) {
    row_walk walk = walk_from(r, begin);
    for (int64_t i = begin; i < end; i++) {
        if (next_row(r, &walk, i)) {
            LSP_SPMV_BY_TYPE(r->job->options.type, row, r->job, i, walk.begin, walk.end);
        }
    }
}

void lsp_spmv_piece_semiring(const lsp_spmv_rows *r, int64_t begin, int64_t end, void *sums) {
    for (int64_t v = 0; v < r->job->options.vectors; v++) {
        if (r->job->options.type == LSP_F32) {
            ((float *)sums)[v] = sum_f32(r->job, begin, end, v);
        } else {
            ((double *)sums)[v] = sum_f64(r->job, begin, end, v);
        }
    }
}

void lsp_spmv_join_pieces(const lsp_spmv_job *job, int64_t i, void *sums, int64_t count) {
    LSP_SPMV_BY_TYPE(job->options.type, join_pieces, job, i, sums, count);
}
