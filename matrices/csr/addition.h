/* C = alpha*A + beta*B: what its methods share. Rows that ascend strictly are merged (add_strict.c), others are sorted
 * (add_plan.c). */
#pragma once

#include "core/isa.h"
#include "facts.h"
#include "plans.h"

typedef struct addition {
    const lsp_csr *A, *B;
    lsp_csr *C;
    double alpha, beta;
    const lsp_csr_sources *from; /* by a plan; NULL: entry k of C is the sum of entries k */
    int64_t *starts;             /* of C's rows */
    lsp_isa isa;
    bool equal_rowptr; /* A and B have row pointers of the same type and value */
    bool bypass;       /* C is large: its stores bypass the cache */
    int bad;           /* atomic: the fault of columns of A or B */
} addition;

/* Can integers be multiplied by these factors? They must be whole, and fit LSP_I64. */
lsp_status lsp_csr_check_factors(lsp_ctx *ctx, lsp_type type, double alpha, double beta);

/* Widens the values of A and B to the arithmetic of a sum of `type` if one of them has integers. New values are
 * scratch.
 */
lsp_status lsp_csr_widen_addends(lsp_ctx *ctx, lsp_type type, const lsp_csr *A, const lsp_csr *B, lsp_csr *a,
                                 lsp_csr *b);

/* Checks the structs of A and B. Can they be added? They need one place and one shape. */
lsp_status lsp_csr_check_addends(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B);

/* Adds two matrices with values of C's type whose rows ascend strictly. Otherwise, and if a column is out of range,
 * *done is false and nothing is made. Row pointers were checked, columns are here. */
lsp_status lsp_csr_add_strict(lsp_ctx *ctx, addition *s, const lsp_csr_types *types, bool *done);

/* C = alpha*A + beta*B of checked matrices, whatever the order of their rows: a plan that is used once. */
lsp_status lsp_csr_add_stacked(lsp_ctx *ctx, const addition *s);

/* C.val = alpha*A + beta*B by a plan. Addends and sum have the types of the arithmetic, and lie on either device. Waits
 * for nothing. */
lsp_status lsp_csr_sum_values(lsp_ctx *ctx, const addition *s);

/* The kernels of add_equal_kernel.c and add_merge_kernel.c, compiled once for each instruction set.
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
