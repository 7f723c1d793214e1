/* Shared by the files of this folder, and their GPU side: gpu/values.cu, gpu/reduce.cu, gpu/reduce_columns.cu. Matrices
 * were checked. */
#pragma once

#include "matrices/table.h"
#include "number.h"

LSP_BEGIN_DECLS

/* Is the result of a reduction of integers an integer? Norms are doubles. */
static inline bool lsp_reduces_whole(lsp_type val_type, lsp_reduction reduction) {
    return lsp_is_integer(val_type) && reduction <= LSP_REDUCE_MAX;
}

/* The type of the results of lsp_csr_reduce. */
static inline lsp_type lsp_reduce_type(lsp_type val_type, lsp_reduction reduction) {
    return reduction == LSP_REDUCE_COUNT ? LSP_I64
           : lsp_is_integer(val_type)    ? (lsp_reduces_whole(val_type, reduction) ? LSP_I64 : LSP_F64)
           : val_type == LSP_NONE        ? LSP_F64
           : val_type == LSP_C64 && reduction != LSP_REDUCE_SUM ? LSP_F64
                                                                : val_type;
}

/* clang-format off */
#define LSP_VALUES_GPU(E)                                                                                              \
    /* lsp_csr_diagonal and lsp_csr_reduce of the rows of A, or of all its values, behind the gate of                 \
     * lsp_csr_check_begin, which is NULL for a checked matrix. They wait for nothing. */                              \
    E(csr_diagonal, (lsp_ctx *ctx, const lsp_csr *A, const unsigned *gate, void *diagonal))                            \
    E(csr_reduce, (lsp_ctx *ctx, const lsp_csr *A, lsp_reduction reduction, bool all, const unsigned *gate,            \
                   void *results))                                                                                     \
    /* lsp_csr_reduce of the columns of A, which has values and is checked on the way; no count. *done = false: A is   \
     * not of the kind of csr_transpose (csr/gpu/gpu.h). Waits. */                                                     \
    E(csr_reduce_columns, (lsp_ctx *ctx, const lsp_csr *A, lsp_reduction reduction, void *results, bool *done))        \
    /* lsp_csr_hadamard on the GPU, unless a row does not ascend strictly: then *done is false. Waits for              \
     * nnz(C). */                                                                                                      \
    E(csr_hadamard, (lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_csr_types *types, lsp_csr *C,         \
                     bool *done))
/* clang-format on */
LSP_GPU_TABLE(lsp_values_on_gpu, LSP_VALUES_GPU)

LSP_END_DECLS
