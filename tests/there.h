/* Matrices on the GPU beside those of the host. */
#pragma once

#include "core/cuda.h"
#include "matrices.h"

/* Every how many-th combination of types is tried. */
static inline int pace(void) { return getenv("LSP_TEST_REDUCED") ? 5 : 1; }

/* A copy in another place, with the same types. */
static inline lsp_csr moved(lsp_ctx *ctx, const lsp_csr *A, lsp_where where) {
    lsp_csr_types types = lsp_types_of(A);
    lsp_csr B;
    types.place = lsp_place_of(where);
    must(ctx, lsp_csr_copy(ctx, A, &types, &B));
    return B;
}
static inline lsp_csr upload(lsp_ctx *ctx, const lsp_csr *A) { return moved(ctx, A, LSP_CUDA); }
static inline lsp_csr download(lsp_ctx *ctx, const lsp_csr *A) {
    cr_assert(A->where == LSP_CUDA);
    return moved(ctx, A, LSP_HOST);
}

/* A copy of an array on the GPU, with 16 bytes more; NULL: nothing is copied. */
static inline void *array_there(lsp_ctx *ctx, const void *array, int64_t bytes) {
    void *there = NULL;
    must(ctx, lsp_alloc(ctx, LSP_CUDA, bytes + 16, 1, &there));
    if (array && bytes > 0) {
        must(ctx, lsp_cuda_copy(ctx, there, LSP_CUDA, array, LSP_HOST, bytes));
    }
    return there;
}

/* A matrix of the GPU must be this one of the host. */
static inline void must_match(lsp_ctx *ctx, const lsp_csr *there, const lsp_csr *right) {
    lsp_csr here = download(ctx, there);
    must_be_same(ctx, right, &here);
    lsp_csr_free(ctx, &here);
}

/* The same; both are freed. */
static inline void must_be_the_hosts(lsp_ctx *ctx, lsp_csr *there, lsp_csr *right) {
    cr_assert(right->where == LSP_HOST);
    must_match(ctx, there, right);
    lsp_csr_free(ctx, there), lsp_csr_free(ctx, right);
}
