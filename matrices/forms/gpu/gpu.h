/* Parts and forms of matrices that lie on the context's GPU: the files of this folder. */
#pragma once

#include "matrices/forms/forms.h"
#include "matrices/table.h"

LSP_BEGIN_DECLS

/* counts[b], on the host, = the entries of A in bucket b of the columns low .. high-1: a bucket has 2^shift columns. No
 * more than `most` buckets, and these up to 1024. Waits. */
typedef struct lsp_buckets {
    int64_t low, high;
    int shift, most;
} lsp_buckets;

/* clang-format off */
#define LSP_FORMS_GPU(E)                                                                                               \
    E(csr_count_columns, (lsp_ctx *ctx, const lsp_csr *A, const lsp_buckets *buckets, int64_t *counts))                \
    /* B = the elements of D, by rows, that are not 0. Waits for nnz(B). */                                            \
    E(dense_gather, (lsp_ctx *ctx, const lsp_dense *D, lsp_csr *B))
/* clang-format on */
LSP_GPU_TABLE(lsp_forms_on_gpu, LSP_FORMS_GPU)

LSP_END_DECLS
