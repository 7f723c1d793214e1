/* Shared by the tests of two-body statistics: sets of points of every kind, and the library's answer beside ref.c's. */
#pragma once

#include "../support.h"
#include "core/cuda.h"
#include "two_body/two_body.h"

/* For TEST_ON_BOTH. */
static inline void on_the_cpu(void (*test)(lsp_ctx *ctx)) {
    lsp_ctx *ctx = test_ctx(2);
    test(ctx);
    lsp_ctx_destroy(ctx);
}
static inline void on_the_gpu(void (*test)(lsp_ctx *ctx)) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    test(ctx);
    lsp_ctx_destroy(ctx);
}
static inline bool is_on_the_gpu(const lsp_ctx *ctx) { return ctx->options.device == LSP_CUDA; }

/* Under sanitizers: fewer points and patterns. ref.c looks at all pairs. */
static inline int64_t reduced(int64_t few, int64_t many) { return getenv("LSP_TEST_REDUCED") != NULL ? few : many; }

enum { UNIFORM, BLOBS, LATTICE, DUPLICATES, LINE, PATTERNS };
static const char *const pattern_names[] = {"uniform", "blobs", "lattice", "duplicates", "line"};

/* Points of the unit cube in memory of their own. An even seed: an array with a stride of 2 for each coordinate. An odd
 * seed: points by rows; the rows of seeds 3, 7, 11 are one number longer. */
typedef struct cloud {
    lsp_points points;
    void *memory;
    size_t bytes;
} cloud;

static inline double test_unit(uint64_t *state) { return (double)(test_random(state) >> 11) * 0x1p-53; }

static inline double coordinate_of(int pattern, int64_t i, int k, uint64_t *state, double along) {
    const double u = test_unit(state);
    switch (pattern) {
    case BLOBS:
        return 0.1 + 0.2 * (double)(i % 5 * (k + 1) % 4) + 0.02 * (u + test_unit(state));
    case LATTICE: {
        int64_t rest = i;
        for (int d = 0; d < k; d++) {
            rest /= 7;
        }
        return (double)(rest % 7) / 7;
    }
    case DUPLICATES:
        return (double)(test_random(state) % 3) / 4;
    case LINE:
        return along * (k + 1) / 8;
    default:
        return u;
    }
}

static inline void set_coordinate(cloud *c, int64_t i, int k, double x) {
    const int64_t at = i * c->points.stride;
    if (c->points.type == LSP_F32) {
        ((float *)(uintptr_t)c->points.at[k])[at] = (float)x;
    } else {
        ((double *)(uintptr_t)c->points.at[k])[at] = x;
    }
}

static inline cloud make_cloud(int pattern, int64_t n, int dimensions, lsp_type type, uint64_t seed) {
    const bool rows = seed % 2 == 1;
    const int64_t stride = rows ? dimensions + (seed % 4 == 3) : 2;
    cloud c = {.points = {.n = n, .dimensions = dimensions, .type = type, .stride = stride}};
    uint64_t state = seed * 77 + 5;
    const size_t bytes = lsp_type_bytes(type), next = rows ? bytes : 2 * bytes * (size_t)(n + 1);
    c.bytes = (rows ? (size_t)stride * bytes : (size_t)dimensions * 2 * bytes) * (size_t)(n + 1);
    c.memory = calloc(1, c.bytes);
    for (int k = 0; k < dimensions; k++) {
        c.points.at[k] = (char *)c.memory + (size_t)k * next;
    }
    for (int64_t i = 0; i < n; i++) {
        const double along = test_unit(&state);
        for (int k = 0; k < dimensions; k++) {
            set_coordinate(&c, i, k, coordinate_of(pattern, i, k, &state, along));
        }
    }
    return c;
}

/* The points where they are or, with `there`, copied to the GPU: lsp_free frees at[0]. */
static inline lsp_points points_at(lsp_ctx *ctx, const cloud *c, bool there) {
    lsp_points p = c->points;
    void *memory = NULL;
    if (there) {
        must(ctx, lsp_alloc(ctx, LSP_CUDA, (int64_t)c->bytes, 1, &memory));
        must(ctx, lsp_cuda_copy(ctx, memory, LSP_CUDA, c->memory, LSP_HOST, (int64_t)c->bytes));
        for (int k = 0; k < p.dimensions; k++) {
            p.at[k] = (char *)memory + ((const char *)c->points.at[k] - (const char *)c->memory);
        }
        p.where = LSP_CUDA;
    }
    return p;
}
static inline void drop_points(lsp_ctx *ctx, const lsp_points *p) {
    if (p->where == LSP_CUDA) {
        lsp_free(ctx, (void *)(uintptr_t)p->at[0]);
    }
}

/* Open space, and boxes that are a cube, a brick, tilted. Coordinates outside 0 .. 1 appear in the smaller boxes. */
enum { SPACES = 4 };
static inline lsp_pair_options space_of(int space, int dimensions) {
    lsp_pair_options options = {0};
    for (int k = 0; k < dimensions && space > 0; k++) {
        options.box[k] = space == 1 ? 1 : 0.8 + 0.15 * k;
    }
    if (space == 3 && dimensions == 3) {
        options.tilt[0] = 0.3, options.tilt[1] = -0.2, options.tilt[2] = 0.25;
    } else if (space == 3 && dimensions == 2) {
        options.tilt[0] = -0.4;
    }
    return options;
}

/* The job of a call, for ref.c. */
static inline lsp_pair_job job_of(lsp_ctx *ctx, const cloud *a, const cloud *b, const lsp_pair_options *options) {
    lsp_pair_job job;
    must(ctx, lsp_pair_check(ctx, &a->points, b != NULL ? &b->points : NULL, options, &job));
    return job;
}

/* Every instruction set of this machine; on a GPU once. */
#define FOR_EACH_ISA(ctx)                                                                                              \
    for (int best_ = (int)(ctx)->isa, isa_ = is_on_the_gpu(ctx) ? 0 : best_;                                           \
         isa_ >= 0 || ((ctx)->isa = (lsp_isa)best_, false); isa_--)                                                    \
        if ((ctx)->isa = (lsp_isa)isa_, true)
