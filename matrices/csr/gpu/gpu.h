/* Operations on matrices that lie on the context's GPU: the files of this folder. */
#pragma once

#include "matrices/csr/facts.h"
#include "matrices/csr/plans.h"
#include "matrices/table.h"

LSP_BEGIN_DECLS

struct lsp_facts;

/* clang-format off */
#define LSP_CSR_GPU(E)                                                                                                 \
    /* Checks row pointers and columns as lsp_csr_check does; the struct was checked before. _begin enqueues the check,\
     * whose word *gate, in scratch, becomes other than 0 if A is no matrix: a kernel behind it that reads A or writes \
     * results looks there first. _end waits for the check alone and refuses A. Between the two, nothing may use the   \
     * note (core/cuda.h). */                                                                                          \
    E(csr_check_begin, (lsp_ctx *ctx, const lsp_csr *A, const unsigned **gate))                                        \
    E(csr_check_end, (lsp_ctx *ctx, const char *name, const lsp_csr *A))                                               \
    /* lsp_csr_add for checked matrices, unless a row does not ascend strictly: then *done is false. Waits for         \
     * nnz(C). */                                                                                                      \
    E(csr_add, (lsp_ctx *ctx, double alpha, const lsp_csr *A, double beta, const lsp_csr *B, lsp_csr *C, bool *done))  \
    /* Fills B = A^T, which was created. *done = false: that takes a sort of all entries (rows unsorted, a column twice\
     * in a row, or columns too uneven). Checks A, whose struct was checked before, unless `name` is NULL. Waits. */   \
    E(csr_transpose, (lsp_ctx *ctx, const char *name, const lsp_csr *A, lsp_csr *B, bool *done))                       \
    /* Do all rows ascend, or strictly? Waits. */                                                                      \
    E(csr_is_sorted, (lsp_ctx *ctx, const lsp_csr *A, bool strictly, bool *sorted))                                    \
    /* What the rows of A tell for statistics (csr/stats.h): their lengths and, if asked for, their entries. Waits. */ \
    E(csr_facts, (lsp_ctx *ctx, const lsp_csr *A, bool entries, struct lsp_facts *facts))
/* clang-format on */
LSP_GPU_TABLE(lsp_csr_on_gpu, LSP_CSR_GPU)

/* Both halves of the check, for the files of this folder. */
lsp_status lsp_csr_check_cuda(lsp_ctx *ctx, const char *name, const lsp_csr *A);

LSP_END_DECLS
