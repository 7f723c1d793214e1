/* THE list of what this room's functions do on the context's GPU, beside the bodies: a line is the prototype of
 * lsp_NAME_cuda and a member of the table, which gpu/table.c fills. In a build without CUDA it is empty (gpu/none.c):
 * no context there works on a GPU, and lsp_csr_check_device refuses a matrix that lies on one before a function is
 * called. */
#pragma once

#include "matrices/csr/facts.h"
#include "matrices/csr/plans.h"

LSP_BEGIN_DECLS

struct lsp_facts;

/* Buckets of the columns low .. high-1: a bucket has 2^shift columns. No more than `most`, and these up to 1024. */
typedef struct lsp_buckets {
    int64_t low, high;
    int shift, most;
} lsp_buckets;

/* clang-format off */ /* takes pointers among the parameters for products */
#define LSP_MATRICES_GPU(E)                                                                                            \
    /* Checks row pointers and columns as lsp_csr_check does; the struct was checked before. _begin enqueues the check,\
     * whose word *gate, in scratch, becomes other than 0 if A is no matrix: a kernel behind it that reads A or writes \
     * results looks there first. _end waits for the check alone and refuses A. Between the two, nothing may use the   \
     * note (core/cuda.h). */                                                                                          \
    E(csr_check_begin, (lsp_ctx *ctx, const lsp_csr *A, const unsigned **gate))                                        \
    E(csr_check_end, (lsp_ctx *ctx, const char *name, const lsp_csr *A))                                               \
    /* lsp_csr_add for checked matrices, and lsp_csr_hadamard, unless a row does not ascend strictly: then *done is    \
     * false. Wait for nnz(C). */                                                                                      \
    E(csr_add, (lsp_ctx *ctx, double alpha, const lsp_csr *A, double beta, const lsp_csr *B, lsp_csr *C, bool *done))  \
    E(csr_hadamard, (lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, const lsp_csr_types *types, lsp_csr *C,         \
                     bool *done))                                                                                      \
    /* Fills B = A^T, which was created. *done = false: that takes a sort of all entries (rows unsorted, a column twice\
     * in a row, or columns too uneven). Checks A, whose struct was checked before, unless `name` is NULL. Waits. */   \
    E(csr_transpose, (lsp_ctx *ctx, const char *name, const lsp_csr *A, lsp_csr *B, bool *done))                       \
    /* Do all rows ascend, or strictly? Waits. */                                                                      \
    E(csr_is_sorted, (lsp_ctx *ctx, const lsp_csr *A, bool strictly, bool *sorted))                                    \
    /* What the rows of A tell for statistics (csr/stats.h): their lengths and, if asked for, their entries. Waits. */ \
    E(csr_facts, (lsp_ctx *ctx, const lsp_csr *A, bool entries, struct lsp_facts *facts))                              \
    /* counts[b], on the host, = the entries of A in bucket b. Waits. */                                               \
    E(csr_count_columns, (lsp_ctx *ctx, const lsp_csr *A, const lsp_buckets *buckets, int64_t *counts))                \
    /* B = the elements of D, by rows, that are not 0. Waits for nnz(B). */                                            \
    E(dense_gather, (lsp_ctx *ctx, const lsp_dense *D, lsp_csr *B))                                                    \
    /* lsp_csr_diagonal and lsp_csr_reduce of the rows of A, or of all its values, behind the gate of                  \
     * lsp_csr_check_begin, which is NULL for a checked matrix. They wait for nothing. */                              \
    E(csr_diagonal, (lsp_ctx *ctx, const lsp_csr *A, const unsigned *gate, void *diagonal))                            \
    E(csr_reduce, (lsp_ctx *ctx, const lsp_csr *A, lsp_reduction reduction, bool all, const unsigned *gate,            \
                   void *results))                                                                                     \
    /* lsp_csr_reduce of the columns of A, which has values and is checked on the way; no count. *done = false: A is   \
     * not of the kind of csr_transpose. Waits. */                                                                     \
    E(csr_reduce_columns, (lsp_ctx *ctx, const lsp_csr *A, lsp_reduction reduction, void *results, bool *done))
/* clang-format on */

#define LSP_GPU_PROTOTYPE(name, parameters) lsp_status lsp_##name##_cuda parameters;
#define LSP_GPU_MEMBER(name, parameters) lsp_status(*name) parameters;
#define LSP_GPU_ENTRY(name, parameters) lsp_##name##_cuda,
LSP_MATRICES_GPU(LSP_GPU_PROTOTYPE)
typedef struct lsp_matrices_table {
    LSP_MATRICES_GPU(LSP_GPU_MEMBER)
} lsp_matrices_table;
extern const lsp_matrices_table lsp_matrices_on_gpu;

/* Both halves of the check, for the files of csr/gpu/. */
lsp_status lsp_csr_check_cuda(lsp_ctx *ctx, const char *name, const lsp_csr *A);

LSP_END_DECLS
