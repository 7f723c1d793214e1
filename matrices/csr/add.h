/* C = alpha*A + beta*B on the host, by three methods; their common data stands here. Equal patterns take one pass
 * without a merge (add_equal.c). Rows that ascend strictly take a short merge (add_strict.c). add.c merges all other
 * rows. */
#ifndef LSP_MATRICES_CSR_ADD_H
#define LSP_MATRICES_CSR_ADD_H

#include "core/isa.h"
#include "matrices/matrices.h"

#include <math.h>

typedef struct addition {
    const lsp_csr *A, *B;
    lsp_csr *C;
    double alpha, beta;
    int64_t *starts; /* of C's rows */
    lsp_isa isa;
    bool equal_rowptr; /* A and B have row pointers of the same type and value */
    bool bypass;       /* C is large: its stores bypass the cache */
    int bad;           /* atomic: the fault of columns of A or B */
} addition;

LSP_INLINE void lsp_sum_set(lsp_type type, void *val, int64_t k, double sum) {
    if (type == LSP_F32) {
        ((float *)val)[k] = (float)sum;
    } else {
        ((double *)val)[k] = sum;
    }
}

/* factor * val[k] in the type of the sum; exact as a double. */
LSP_INLINE double lsp_sum_term(lsp_type type, lsp_type val_type, const void *val, int64_t k, double factor) {
    const double value = val_type == LSP_F64   ? ((const double *)val)[k]
                         : val_type == LSP_F32 ? (double)((const float *)val)[k]
                                               : 1;
    return type == LSP_F32 ? (double)((float)factor * (float)value) : factor * value;
}

/* The same for a complex sum: each part is scaled by itself. A real value has the imaginary part 0. */
LSP_INLINE lsp_value lsp_complex_term(const lsp_csr *A, int64_t k, double factor) {
    const lsp_value value = lsp_value_at(A, k);
    return lsp_value_from(factor * value.re, factor * value.im);
}
LSP_INLINE lsp_value lsp_complex_sum(lsp_value x, lsp_value y) { return lsp_value_from(x.re + y.re, x.im + y.im); }
LSP_INLINE lsp_value lsp_complex_settled(lsp_value x) { return lsp_value_from(lsp_settled(x.re), lsp_settled(x.im)); }

/* The same for a sum of LSP_I64, whose factor is a whole number: modulo 2^64. */
LSP_INLINE uint64_t lsp_whole_term(const void *val, int64_t k, double factor) {
    return (uint64_t)(int64_t)factor * ((const uint64_t *)val)[k];
}

/* Can integers be multiplied by these factors? They must be whole, and fit LSP_I64. */
lsp_status lsp_csr_check_factors(lsp_ctx *ctx, lsp_type type, double alpha, double beta);

/* A and B with values that their sum of this type can be made of, if one of them has integers: in scratch, where they
 * must be widened. */
lsp_status lsp_csr_widen_addends(lsp_ctx *ctx, lsp_type type, const lsp_csr *A, const lsp_csr *B, lsp_csr *a,
                                 lsp_csr *b);

/* Can A and B, whose structs were checked, be added? They need one place and one shape. */
lsp_status lsp_csr_check_addends(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B);

/* Adds two matrices of equal pattern whose rows ascend strictly and whose types are those of C. In any other case, and
 * if a column is out of range, *done is false and nothing is made. Row pointers were checked, columns are here. */
lsp_status lsp_csr_add_equal(lsp_ctx *ctx, addition *s, const lsp_csr_types *types, bool *done);

/* Adds two matrices with 32-bit indices and values of one type whose rows ascend strictly. In any other case, and if a
 * column is out of range, *done is false and nothing is made. Row pointers were checked, columns are here. */
lsp_status lsp_csr_add_strict(lsp_ctx *ctx, addition *s, const lsp_csr_types *types, bool *done);

/* The kernels of add_kernel.c, compiled once for each instruction set.
 * lsp_add_equal adds rows begin .. end-1 of equal row pointers. False if columns differ, do not ascend or are out of
 * range.
 * lsp_add_merge merges these rows into C from entry `to` on and sets C's row pointers. lsp_add_count only sets
 * s->starts[i+1] to the entries of row i. lsp_add_fill writes row i from s->starts[i] on. -1: a row does not ascend
 * strictly or a column is out of range; else the entry after the last one.
 * lsp_add_values sums entries begin .. end-1 of equal patterns, whose values have C's type. It reads and writes values
 * alone. */
#define LSP_ADD_KERNELS(isa)                                                                                           \
    bool lsp_add_equal_##isa(const addition *s, int64_t begin, int64_t end);                                           \
    int64_t lsp_add_merge_##isa(const addition *s, int64_t begin, int64_t end);                                        \
    int64_t lsp_add_count_##isa(const addition *s, int64_t begin, int64_t end);                                        \
    int64_t lsp_add_fill_##isa(const addition *s, int64_t begin, int64_t end);                                         \
    void lsp_add_values_##isa(const addition *s, int64_t begin, int64_t end);
LSP_ADD_KERNELS(portable)
LSP_ADD_KERNELS(avx2)
LSP_ADD_KERNELS(avx512)

#endif
