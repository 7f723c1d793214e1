/* C = alpha*A + beta*B on the host: what its two ways share. */
#ifndef LSP_MATRICES_CSR_ADD_H
#define LSP_MATRICES_CSR_ADD_H

#include "matrices/matrices.h"

#include <math.h>

typedef struct addition {
    const lsp_csr *A, *B;
    lsp_csr *C;
    double alpha, beta;
    int64_t *starts; /* of C's rows */
    int bad;         /* atomic: what is wrong with columns of A or B */
} addition;

/* All that is no number becomes the quiet NaN without sign, as in products: so its bits are the same everywhere. */
LSP_INLINE double lsp_settled(double value) { return isnan(value) ? (double)NAN : value; }

LSP_INLINE void lsp_sum_set(lsp_type type, void *val, int64_t k, double sum) {
    if (type == LSP_F32) {
        ((float *)val)[k] = (float)sum;
    } else {
        ((double *)val)[k] = sum;
    }
}

/* The sum of two matrices of one pattern, whose rows ascend strictly, and of the types of C. If they are not so, or a
 * column is outside: *done is false, and nothing is made. Row pointers were checked, columns are here. */
lsp_status lsp_csr_add_alike(lsp_ctx *ctx, addition *s, const lsp_csr_types *types, bool *done);

#endif
