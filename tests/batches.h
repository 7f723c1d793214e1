/* Batches of random matrices for the tests of many products in one call, and their comparison with the reference. */
#pragma once

#include "core/cuda.h"
#include "products.h"

static inline void on_the_cpu(void (*test)(lsp_ctx *ctx)) {
    for (int threads = 3; threads >= 1; threads -= 2) {
        lsp_ctx *ctx = test_ctx(threads);
        test(ctx);
        lsp_ctx_destroy(ctx);
    }
}
static inline void on_the_gpu(void (*test)(lsp_ctx *ctx)) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    test(ctx);
    lsp_ctx_destroy(ctx);
}

enum { MOST = 40 };

typedef struct batch {
    int64_t count;
    lsp_csr A[MOST], B[MOST]; /* on the host */
    lsp_csr a[MOST], b[MOST]; /* where the context computes: the same arrays on the host */
    lsp_csr C[MOST];
} batch;

static inline bool there(const lsp_ctx *ctx) { return ctx->options.device == LSP_CUDA; }
static inline int64_t in_use(const lsp_ctx *ctx) { return ctx->space[ctx->options.device].used; }

static inline int64_t some_size(uint64_t *state) {
    const int64_t kind = test_below(state, 6);
    return kind == 0 ? 0 : kind == 1 ? 1 : test_below(state, 30);
}

/* Random sizes, 0 included. Matrix `large`, if there is one, has more entries than all others together. */
static inline batch *make_batch(lsp_ctx *ctx, int64_t count, int64_t large, const recipe *like, bool flip_a,
                                bool flip_b, uint64_t seed) {
    batch *made = calloc(1, sizeof *made);
    made->count = count;
    for (int64_t i = 0; i < count; i++) {
        const bool is_large = i == large;
        const int64_t m = is_large ? 201 : some_size(&seed), k = is_large ? 180 : some_size(&seed);
        const int64_t n = is_large ? 222 : some_size(&seed);
        recipe a = *like, b = *like;
        a.rows = flip_a ? k : m, a.cols = flip_a ? m : k;
        b.rows = flip_b ? n : k, b.cols = flip_b ? k : n;
        a.entries = is_large ? 12 : test_below(&seed, 5), b.entries = is_large ? 9 : test_below(&seed, 5);
        made->A[i] = make(&a, test_random(&seed)), made->B[i] = make(&b, test_random(&seed));
        made->a[i] = there(ctx) ? upload(ctx, &made->A[i]) : made->A[i];
        made->b[i] = there(ctx) ? upload(ctx, &made->B[i]) : made->B[i];
    }
    return made;
}
static inline void drop_batch(lsp_ctx *ctx, batch *x) {
    for (int64_t i = 0; i < x->count; i++) {
        if (there(ctx)) {
            must(ctx, lsp_csr_free(ctx, &x->a[i]));
            must(ctx, lsp_csr_free(ctx, &x->b[i]));
        }
        drop(&x->A[i]), drop(&x->B[i]);
    }
    free(x);
}

static const recipe plain = {0, 0, 0, LSP_I32, LSP_I32, LSP_F64, .sorted = true, .dense_row = -1, .dense_col = -1};

/* Each product must be that of the reference. */
static inline void check(lsp_ctx *ctx, const batch *x, const lsp_spgemm_options *options, const char *what) {
    lsp_spgemm_options reference = options ? *options : (lsp_spgemm_options){0};
    char name[120];
    reference.method = LSP_SPGEMM_REFERENCE;
    for (int64_t i = 0; i < x->count; i++) {
        lsp_csr right, here = there(ctx) ? download(ctx, &x->C[i]) : x->C[i];
        snprintf(name, sizeof name, "%s, product %d of %d", what, (int)i, (int)x->count);
        must(ctx, lsp_spgemm(ctx, &x->A[i], &x->B[i], &reference, &right, NULL));
        cr_assert(x->C[i].where == ctx->options.device, "%s: its place", name);
        cr_assert(here.rowptr_type == right.rowptr_type && here.col_type == right.col_type, "%s: its types", name);
        same(ctx, &here, &right, name);
        must(ctx, lsp_csr_check(ctx, &here, LSP_CHECK_SORTED | LSP_CHECK_UNIQUE));
        must(ctx, lsp_csr_free(ctx, &right));
        if (there(ctx)) {
            must(ctx, lsp_csr_free(ctx, &here));
        }
    }
}
