/* Products of complex matrices in tests: made where the context works, and compared with the reference on the host. */
#pragma once

#include "core/isa.h"
#include "tests/gather_scatter/places.h"
#include "tests/products.h"

static inline bool on_gpu(const lsp_ctx *ctx) { return ctx->options.device == LSP_CUDA; }
static inline bool reduced(void) { return getenv("LSP_TEST_REDUCED") != NULL; }

/* A where the context works; give_back frees what take made. */
static inline lsp_csr take(lsp_ctx *ctx, const lsp_csr *A) { return on_gpu(ctx) ? upload(ctx, A) : *A; }
static inline void give_back(lsp_ctx *ctx, lsp_csr *A) {
    if (on_gpu(ctx)) {
        lsp_csr_free(ctx, A);
    }
}

/* C, which was made where the context works, must be `right`. Frees it. */
static inline void must_equal(lsp_ctx *ctx, lsp_csr *C, const lsp_csr *right, const char *what) {
    lsp_csr here = on_gpu(ctx) ? download(ctx, C) : *C;
    same(ctx, &here, right, what);
    if (on_gpu(ctx)) {
        lsp_csr_free(ctx, &here);
    }
    lsp_csr_free(ctx, C);
}

static inline lsp_csr reference(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_options options) {
    lsp_csr C = {0};
    options.method = LSP_SPGEMM_REFERENCE;
    must(ctx, lsp_spgemm(ctx, A, B, &options, &C, NULL));
    return C;
}

/* The product by every way that the place has, against the reference. */
static inline void check(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *B, lsp_spgemm_options options,
                         const char *what) {
    if (on_gpu(ctx)) {
        check_product(ctx, A, B, options, what);
        return;
    }
    lsp_csr C = {0}, right = reference(ctx, A, B, options);
    const lsp_isa best = ctx->isa;
    for (int way = 0; way < 2 * ((int)best + 1); way++) {
        ctx->isa = (lsp_isa)(way / 2);
        options.method = way % 2 ? LSP_SPGEMM_SORT : LSP_SPGEMM_AUTO;
        must(ctx, lsp_spgemm(ctx, A, B, &options, &C, NULL));
        must_equal(ctx, &C, &right, what);
    }
    ctx->isa = best;
    lsp_csr_free(ctx, &right);
}

/* Turns A, whose arrays belong to the context, into a complex matrix. */
static inline void make_complex(lsp_ctx *ctx, lsp_csr *A, uint64_t seed) {
    double *val = NULL;
    must(ctx, lsp_alloc(ctx, LSP_HOST, A->nnz, 16, (void **)&val));
    for (int64_t k = 0; k < 2 * A->nnz; k++) {
        val[k] = test_value(false, &seed);
    }
    lsp_free(ctx, A->val);
    A->val = val;
    A->val_type = LSP_C64;
}
static inline lsp_csr generated(lsp_ctx *ctx, const char *spec) {
    lsp_csr A = {0};
    must(ctx, lsp_generate(ctx, spec, 1, NULL, &A));
    make_complex(ctx, &A, 5);
    return A;
}

/* Other values in the same places, here and where the context works. */
static inline void change(lsp_ctx *ctx, const lsp_csr *A, const lsp_csr *there, uint64_t seed) {
    for (int64_t k = 0; k < A->nnz && A->val_type != LSP_NONE; k++) {
        lsp_value_set(A->val_type, A->val, k, lsp_value_from(test_value(seed % 2, &seed), test_value(seed % 2, &seed)));
    }
    if (on_gpu(ctx) && A->val_type != LSP_NONE) {
        must(ctx,
             lsp_cuda_copy(ctx, there->val, LSP_CUDA, A->val, LSP_HOST, A->nnz * (int64_t)lsp_type_bytes(A->val_type)));
    }
}
