/* The specification of C = A*B: Gustavson's method, row by row. `place[j]` is the place of column j in C, if the
 * current row has it already. Sums grow in the order of A's entries. A segmented sort then sorts each row. */
#include "job.h"

/* Joins `sum` and a product, which is rounded to the type of the arithmetic already. */
static double join(lsp_join how, double product, bool first, double sum) {
    switch (how) {
    case LSP_JOIN_LEAST:
        return first || product < sum || isnan(product) ? product : sum;
    case LSP_JOIN_LARGEST:
        return first || product > sum || isnan(product) ? product : sum;
    default:
        return first ? product : sum + product;
    }
}

/* Joins `sum` and the product of a and b, rounded once. */
static double add_f64(lsp_semiring semiring, double a, double b, bool first, double sum) {
    const lsp_join how = lsp_semiring_join(semiring);
    const double product = product_f64(semiring, a, b);
    return how == LSP_JOIN_FUSED && !first ? fma(a, b, sum) : join(how, product, first, sum);
}
static float add_f32(lsp_semiring semiring, float a, float b, bool first, float sum) {
    const lsp_join how = lsp_semiring_join(semiring);
    const float product = product_f32(semiring, a, b);
    return how == LSP_JOIN_FUSED && !first ? fmaf(a, b, sum) : (float)join(how, (double)product, first, (double)sum);
}

/* sum + a*b: each part is rounded twice. */
static void add_complex(lsp_value a, lsp_value b, bool first, double sum[2]) {
    const double nothing[] = {-0.0, -0.0}, *from = first ? nothing : sum;
    const double re = fma(-a.im, b.im, fma(a.re, b.re, from[0]));
    sum[1] = fma(a.im, b.re, fma(a.re, b.im, from[1]));
    sum[0] = re;
}

/* Modulo 2^64: every way of making a product gives the same integer. */
static int64_t add_i64(lsp_semiring semiring, int64_t a, int64_t b, bool first, int64_t sum) {
    const int64_t product = product_i64(semiring, a, b);
    switch (first ? LSP_JOIN_FUSED : lsp_semiring_join(semiring)) {
    case LSP_JOIN_LEAST:
        return product < sum ? product : sum;
    case LSP_JOIN_LARGEST:
        return product > sum ? product : sum;
    default:
        return first ? product : (int64_t)((uint64_t)sum + (uint64_t)product);
    }
}

/* Joins the product of a and b to C[at], or writes it there if it is the first. */
static void add_product(const lsp_spgemm_job *job, int64_t at, bool first, lsp_value a, lsp_value b) {
    if (job->type == LSP_F32) {
        float *sum = (float *)job->C->val + at;
        *sum = add_f32(job->semiring, (float)a.re, (float)b.re, first, first ? 0 : *sum);
    } else if (job->type == LSP_F64) {
        double *sum = (double *)job->C->val + at;
        *sum = add_f64(job->semiring, a.re, b.re, first, first ? 0 : *sum);
    } else if (job->type == LSP_C64) {
        add_complex(a, b, first, (double *)job->C->val + 2 * at);
    } else if (job->type == LSP_I64) {
        int64_t *sum = (int64_t *)job->C->val + at;
        *sum = add_i64(job->semiring, a.whole, b.whole, first, first ? 0 : *sum);
    }
}

/* Makes row i of C, which begins at `begin`. Returns its end. */
static int64_t multiply_row(const lsp_spgemm_job *job, int64_t *place, int64_t i, int64_t begin) {
    const lsp_csr *A = &job->A, *B = &job->B;
    int64_t end = begin, a_end = lsp_csr_rowptr(A, i + 1);
    for (int64_t p = lsp_csr_rowptr(A, i); p < a_end; p++) {
        int64_t k = lsp_csr_col(A, p), b_end = lsp_csr_rowptr(B, k + 1);
        for (int64_t q = lsp_csr_rowptr(B, k); q < b_end; q++) {
            int64_t j = lsp_csr_col(B, q);
            bool first = place[j] < begin;
            if (first) {
                place[j] = end++;
            }
            if (!job->counting) {
                lsp_index_set(job->C->col, job->C->col_type, place[j], j);
                add_product(job, place[j], first, lsp_value_at(A, p), lsp_value_at(B, q));
            }
        }
    }
    return end;
}

/* Replaces every NaN by one and the same, because processors differ in which of two NaN they keep. */
static void settle_nan(const lsp_spgemm_job *job) {
    const int64_t parts = job->type == LSP_C64 ? 2 : 1;
    for (int64_t i = 0; i < parts * job->C->nnz && job->type != LSP_NONE && job->type != LSP_I64; i++) {
        if (job->type == LSP_F32 && isnan(((float *)job->C->val)[i])) {
            ((float *)job->C->val)[i] = (float)NAN;
        } else if (job->type != LSP_F32 && isnan(((double *)job->C->val)[i])) {
            ((double *)job->C->val)[i] = (double)NAN;
        }
    }
}

lsp_status lsp_spgemm_ref(lsp_ctx *ctx, const lsp_spgemm_job *job) {
    LSP_SCRATCH_SCOPE(ctx);
    int64_t *place, end = 0;
    LSP_TRY(LSP_SCRATCH(ctx, job->B.cols, &place));
    for (int64_t j = 0; j < job->B.cols; j++) {
        place[j] = -1;
    }
    for (int64_t i = 0; i < job->A.rows; i++) {
        int64_t begin = end;
        LSP_TRY(lsp_go_on(ctx));
        end = multiply_row(job, place, i, begin);
        if (job->counting) {
            job->rowptr[i + 1] = end - begin;
        }
    }
    if (!job->counting) {
        lsp_csr *C = job->C;
        settle_nan(job);
        lsp_segsort_args args = {.n = C->nnz,
                                 .segments = C->rows,
                                 .offsets = C->rowptr,
                                 .offset_type = C->rowptr_type,
                                 .key_type = C->col_type,
                                 .value_bytes = lsp_type_bytes(C->val_type),
                                 .keys = C->col,
                                 .keys_out = C->col,
                                 .values = C->val,
                                 .values_out = C->val};
        LSP_TRY(lsp_segsort_ref(ctx, &args));
    }
    return LSP_OK;
}
