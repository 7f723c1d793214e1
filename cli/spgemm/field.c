/* Decides whether C is written as a file of integers. It is if A and B are files of integers and an upper bound of |c|
 * is below 2^53 (2^24 for f32): then every sum is exact. The bound needs only A and B, so it is known before the first
 * block of C is written. */
#include "steps.h"

#include <math.h>

static bool of_integers(const cli_matrix *matrix) {
    return !matrix->generated && (matrix->file.field == LSP_MTX_INTEGER || matrix->file.field == LSP_MTX_PATTERN);
}

static double size_at(const lsp_csr *A, int64_t k) {
    return A->val_type == LSP_F64   ? fabs(((const double *)A->val)[k])
           : A->val_type == LSP_F32 ? fabs((double)((const float *)A->val)[k])
                                    : 1; /* a pattern counts as ones */
}

/* max |a|. Eight independent maxima let the compiler use SIMD. */
static double largest(const lsp_csr *A) {
    enum { lanes = 8 };
    double most[lanes] = {A->val_type == LSP_NONE && A->nnz > 0};
    const int64_t whole = A->val_type == LSP_F64 ? A->nnz - A->nnz % lanes : 0;
    for (int64_t k = 0; k < whole; k += lanes) {
        for (int j = 0; j < lanes; j++) {
            const double size = fabs(((const double *)A->val)[k + j]);
            most[j] = size > most[j] ? size : most[j];
        }
    }
    for (int64_t k = whole; k < A->nnz && A->val_type != LSP_NONE; k++) {
        most[0] = fmax(most[0], size_at(A, k));
    }
    for (int j = 1; j < lanes; j++) {
        most[0] = fmax(most[0], most[j]);
    }
    return most[0];
}

static int64_t row_begin(const lsp_csr *A, int64_t i) {
    return A->rowptr_type == LSP_I32 ? ((const int32_t *)A->rowptr)[i] : ((const int64_t *)A->rowptr)[i];
}

static double longest_row(const lsp_csr *A) {
    int64_t most = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        const int64_t length = row_begin(A, i + 1) - row_begin(A, i);
        most = length > most ? length : most;
    }
    return (double)most;
}

/* max over rows of the sum of |a|. Cost: O(nnz), so it is computed only if the cheaper bound fails. */
static double row_sum(const lsp_csr *A) {
    double most = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        double sum = 0;
        for (int64_t k = row_begin(A, i); k < row_begin(A, i + 1); k++) {
            sum += size_at(A, k);
        }
        most = fmax(most, sum);
    }
    return most;
}

/* An upper bound of |c| and of every partial sum. Takes the sharper, more expensive bound only if the first one is not
 * below `limit`. */
static double bound_of(const cli_job *job, double limit) {
    const lsp_csr *A = &job->A.csr;
    const bool turned = job->options.transpose_a;
    const double a = largest(A), b = job->second == &job->A ? a : largest(&job->second->csr);
    const double terms = turned ? (double)A->rows : longest_row(A);
    switch (job->options.semiring) {
    case LSP_MIN_PLUS:
        return a + b;
    case LSP_MAX_TIMES:
        return a * b;
    case LSP_OR_AND:
        return 1;
    case LSP_PLUS_PAIR:
        return terms;
    case LSP_PLUS_TIMES:
        return terms * a * b < limit || turned ? terms * a * b : row_sum(A) * b;
    default:
        return terms * (a + b + a * b);
    }
}

lsp_mtx_field cli_product_field(const cli_job *job) {
    const double limit = job->options.precision == 1 ? 0x1p24 : 0x1p53;
    if (cli_integers(&job->options)) {
        return LSP_MTX_INTEGER;
    }
    return of_integers(&job->A) && of_integers(job->second) && bound_of(job, limit) < limit ? LSP_MTX_INTEGER
                                                                                            : LSP_MTX_REAL;
}
