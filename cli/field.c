/* Is the product of two files of integers one of integers? It is if no sum can leave the numbers that its type holds
 * without gaps: then nothing was rounded. Known before the product is made, so that blocks of it can be written. */
#include "spgemm.h"

#include <math.h>

static bool of_integers(const cli_matrix *matrix) {
    return !matrix->generated && (matrix->file.field == LSP_MTX_INTEGER || matrix->file.field == LSP_MTX_PATTERN);
}

static double size_at(const lsp_csr *A, int64_t k) {
    return A->val_type == LSP_F64   ? fabs(((const double *)A->val)[k])
           : A->val_type == LSP_F32 ? fabs((double)((const float *)A->val)[k])
                                    : 1; /* a pattern */
}

/* max |a|, and the largest sum of |a| over a row. */
static void measure(const lsp_csr *A, double *largest, double *row_sum) {
    *largest = *row_sum = 0;
    for (int64_t i = 0, k = 0; i < A->rows; i++) {
        const int64_t end =
            A->rowptr_type == LSP_I32 ? ((const int32_t *)A->rowptr)[i + 1] : ((const int64_t *)A->rowptr)[i + 1];
        double sum = 0;
        for (; k < end; k++) {
            const double size = size_at(A, k);
            *largest = size > *largest ? size : *largest;
            sum += size;
        }
        *row_sum = sum > *row_sum ? sum : *row_sum;
    }
}

lsp_mtx_field cli_product_field(const cli_job *job) {
    double a, b, row, other_row, bound = 0;
    if (!of_integers(&job->A) || !of_integers(job->second)) {
        return LSP_MTX_REAL;
    }
    const double terms = (double)cli_sizes_of(job).inner_a; /* of a sum, at most */
    measure(&job->A.csr, &a, &row);
    measure(&job->second->csr, &b, &other_row);
    switch (job->options.semiring) {
    case LSP_PLUS_TIMES:
        bound = (job->options.transpose_a ? a * terms : row) * b;
        break;
    case LSP_MIN_PLUS:
        bound = a + b;
        break;
    case LSP_MAX_TIMES:
        bound = a * b;
        break;
    case LSP_OR_AND:
        bound = 1;
        break;
    case LSP_PLUS_PAIR:
        bound = terms;
        break;
    }
    return bound < (job->options.precision == 1 ? 0x1p24 : 0x1p53) ? LSP_MTX_INTEGER : LSP_MTX_REAL;
}
