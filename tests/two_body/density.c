/* Kernel densities equal the specification but for rounding, and do not depend on the number of threads. */
#include "cases.h"

static double *weights_of(int64_t n, lsp_type type, float **narrow) {
    double *weights = calloc((size_t)n + 1, sizeof *weights);
    uint64_t state = 7;
    *narrow = calloc((size_t)n + 1, sizeof **narrow);
    for (int64_t i = 0; i < n; i++) {
        (*narrow)[i] = (float)(i % 5 == 0 ? 0 : test_unit(&state));
        weights[i] = type == LSP_F32 ? (double)(*narrow)[i] : (double)(*narrow)[i] + 1e-12;
    }
    return weights;
}

/* The density at points of the GPU, brought back. */
static void density_there(lsp_ctx *ctx, const cloud *a, const cloud *b, const lsp_pair_options *options, double h,
                          lsp_density_options o, size_t item, void *ours) {
    const lsp_points p[2] = {points_at(ctx, a, true), points_at(ctx, b ? b : a, true)};
    void *density, *weights;
    must(ctx, lsp_alloc(ctx, LSP_CUDA, p[0].n + 1, item, &density));
    must(ctx, lsp_alloc(ctx, LSP_CUDA, p[1].n + 1, item, &weights));
    if (o.weights != NULL) {
        must(ctx, lsp_cuda_copy(ctx, weights, LSP_CUDA, o.weights, LSP_HOST, p[1].n * (int64_t)item));
        o.weights = weights;
    }
    must(ctx, lsp_kernel_density(ctx, &p[0], b ? &p[1] : NULL, options, h, &o, density, NULL));
    must(ctx, lsp_cuda_copy(ctx, ours, LSP_HOST, density, LSP_CUDA, p[0].n * (int64_t)item));
    lsp_free(ctx, density);
    lsp_free(ctx, weights);
    drop_points(ctx, &p[0]);
    drop_points(ctx, &p[1]);
}

/* The library's answer by each method and instruction set beside the specification's. */
static void must_weigh(lsp_ctx *ctx, const cloud *a, const cloud *b, lsp_pair_options options, double h,
                       lsp_density_options o, const double *weights, const char *name) {
    const lsp_pair_job job = job_of(ctx, a, b, &options);
    const int64_t n = job.sets[0].n;
    const bool wide = job.type == LSP_F64, gaussian = o.kernel == LSP_DENSITY_GAUSSIAN;
    double *right = calloc((size_t)n + 1, sizeof *right);
    void *ours = calloc((size_t)n + 1, sizeof(double));
    lsp_kernel_density_ref(&job, o.kernel, h, weights, right);
    FOR_EACH_ISA(ctx) {
        for (int method = LSP_PAIR_AUTO; method <= LSP_PAIR_BOXES; method++) {
            if (method == LSP_PAIR_GRID) {
                continue;
            }
            options.method = (lsp_pair_method)method;
            if (is_on_the_gpu(ctx) && method == LSP_PAIR_BOXES) {
                density_there(ctx, a, b, &options, h, o, lsp_type_bytes(job.type), ours);
            } else {
                must(ctx, lsp_kernel_density(ctx, &a->points, b ? &b->points : NULL, &options, h, &o, ours, NULL));
            }
            for (int64_t i = 0; i < n; i++) {
                const double x = wide ? ((double *)ours)[i] : (double)((float *)ours)[i];
                const double peak = 1 / pow(h, job.metric.dimensions), one = wide ? 1e-12 : 2e-6;
                const double error =
                    gaussian ? (wide ? 1e-11 : 3e-5) * right[i] + (wide ? 0 : 1e-34) * peak : one * peak;
                cr_assert(fabs(x - right[i]) <= error,
                          "%s, %s, %d dimensions, %s, method %d, isa %d, kernel %d, h %g, point %lld: %g, not %g", name,
                          b ? "two sets" : "one set", job.metric.dimensions, lsp_type_name(job.type), method,
                          (int)ctx->isa, (int)o.kernel, h, (long long)i, x, right[i]);
            }
        }
    }
    free(ours);
    free(right);
}

static void try_points(lsp_ctx *ctx, int pattern, int64_t n, int dimensions, lsp_type type, int space) {
    static const double bandwidths[] = {0.02, 0.1, 0.7};
    cloud a = make_cloud(pattern, n, dimensions, type, 1), b = make_cloud(pattern, n / 2 + 3, dimensions, type, 2);
    const lsp_pair_options options = space_of(space, dimensions);
    float *narrow;
    double *weights = weights_of(n + 3, type, &narrow), *ones = calloc((size_t)n + 3, sizeof *ones);
    for (int64_t i = 0; i < n + 3; i++) {
        ones[i] = 1;
    }
    for (int form = 0; form < 12; form++) {
        lsp_density_options o = {.kernel = (lsp_density_kernel)(form % 2)};
        const double *used = form % 4 < 2 ? ones : weights;
        if (form % 4 >= 2) {
            o.weights = type == LSP_F32 ? (const void *)narrow : weights;
        }
        must_weigh(ctx, &a, form % 3 == 1 ? &b : NULL, options, bandwidths[form / 4], o, used, pattern_names[pattern]);
    }
    free(weights);
    free(narrow);
    free(ones);
    free(a.memory);
    free(b.memory);
}

TEST_ON_BOTH(two_body_density, equals_the_specification_in_every_space) {
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        for (int dimensions = 1; dimensions <= 3; dimensions++) {
            for (int space = 0; space < SPACES; space++) {
                try_points(ctx, pattern, reduced(60, 170), dimensions, space % 2 ? LSP_F64 : LSP_F32, space);
                try_points(ctx, pattern, reduced(40, 70), dimensions, space % 2 ? LSP_F32 : LSP_F64, space);
            }
        }
    }
    for (int dimensions = 4; dimensions <= LSP_MOST_DIMENSIONS; dimensions++) {
        try_points(ctx, UNIFORM, 90, dimensions, dimensions % 2 ? LSP_F64 : LSP_F32, dimensions % 3);
    }
    try_points(ctx, UNIFORM, 2, 3, LSP_F32, 0);
    try_points(ctx, UNIFORM, 0, 3, LSP_F64, 0);
}

TEST_ON_BOTH(two_body_density, equals_the_specification_for_many_points) {
    for (int wide = 0; wide < 2; wide++) {
        try_points(ctx, UNIFORM, reduced(600, 3000), 3, wide ? LSP_F64 : LSP_F32, 0);
        try_points(ctx, BLOBS, reduced(300, 1300), 8, wide ? LSP_F64 : LSP_F32, 0);
    }
}

/* Sums of tiles of every size, with tiles that meet themselves, their opposite, and a last one that is not whole. */
Test(two_body_density, is_the_same_in_every_run_on_the_gpu) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const int64_t n = reduced(1100, 100000);
    cloud a = make_cloud(BLOBS, n, 3, LSP_F32, 1);
    float *out = calloc(3 * (size_t)n, sizeof *out);
    for (int method = LSP_PAIR_ALL; method <= LSP_PAIR_BOXES; method += LSP_PAIR_BOXES - LSP_PAIR_ALL) {
        const lsp_pair_options options = {.method = (lsp_pair_method)method};
        for (int run = 0; run < 2; run++) {
            must(ctx, lsp_kernel_density(ctx, &a.points, NULL, &options, 0.05, NULL, out + run * n, NULL));
        }
        cr_assert(memcmp(out, out + n, (size_t)n * sizeof *out) == 0);
        must(ctx, lsp_kernel_density(ctx, &a.points, &a.points, &options, 0.05, NULL, out + 2 * n, NULL));
        for (int64_t i = 0; i < n; i++) {
            cr_assert(fabsf(out[i] - out[2 * n + i]) <= 3e-5f * out[i], "method %d, point %lld: %g, and of two sets %g",
                      method, (long long)i, (double)out[i], (double)out[2 * n + i]);
        }
    }
    free(out);
    free(a.memory);
    lsp_ctx_destroy(ctx);
}

Test(two_body_density, does_not_depend_on_the_number_of_threads) {
    cloud a = make_cloud(BLOBS, 3000, 3, LSP_F32, 1);
    float *first = calloc(3000, sizeof *first), *other = calloc(3000, sizeof *other);
    for (int method = LSP_PAIR_ALL; method <= LSP_PAIR_BOXES; method += LSP_PAIR_BOXES - LSP_PAIR_ALL) {
        const lsp_pair_options options = {.method = (lsp_pair_method)method};
        for (int threads = 1; threads <= 4; threads++) {
            lsp_ctx *ctx = test_ctx(threads);
            must(ctx,
                 lsp_kernel_density(ctx, &a.points, NULL, &options, 0.05, NULL, threads == 1 ? first : other, NULL));
            cr_assert(threads == 1 || memcmp(first, other, 3000 * sizeof *first) == 0);
            lsp_ctx_destroy(ctx);
        }
    }
    free(first);
    free(other);
    free(a.memory);
}

/* One sample in the middle of one cell of a grid; and a density integrates to 1. */
TEST_ON_BOTH(two_body_density, on_a_grid) {
    for (int wide = 0; wide < 2; wide++) {
        cloud a = make_cloud(UNIFORM, 1, 2, wide ? LSP_F64 : LSP_F32, 1), b = make_cloud(BLOBS, 50, 2, LSP_F64, 1);
        lsp_density_options o = {.grid = {5, 3}, .low = {0, 1}, .high = {5, 4}};
        double out[15], *fine = calloc(100 * 100, sizeof *fine), sum = 0;
        set_coordinate(&a, 0, 0, 3.5), set_coordinate(&a, 0, 1, 1.5);
        must(ctx, lsp_kernel_density(ctx, NULL, &a.points, NULL, 1, &o, out, NULL));
        for (int i = 0; i < 15; i++) {
            const double x = i % 5 - 3, y = i / 5, right = exp(-(x * x + y * y) / 2) / (2 * 3.14159265358979323846);
            cr_assert_float_eq(wide ? out[i] : (double)((float *)out)[i], right, 1e-6, "cell %d", i);
        }
        for (int kernel = 0; kernel < 2; kernel++) {
            o = (lsp_density_options){
                .kernel = (lsp_density_kernel)kernel, .grid = {100, 100}, .low = {-2, -2}, .high = {3, 3}};
            must(ctx, lsp_kernel_density(ctx, NULL, &b.points, NULL, 0.3, &o, fine, NULL));
            sum = 0;
            for (int i = 0; i < 10000; i++) {
                sum += fine[i] * 0.05 * 0.05;
            }
            cr_assert_float_eq(sum, 1, 1e-3, "kernel %d: the volume is %g", kernel, sum);
        }
        free(fine);
        free(a.memory);
        free(b.memory);
    }
}

Test(two_body_density, on_a_grid_from_samples_on_the_gpu) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    cloud a = make_cloud(BLOBS, 50, 2, LSP_F32, 1);
    const lsp_density_options o = {.grid = {9, 8}, .low = {0, 0}, .high = {1, 1}};
    const lsp_points there = points_at(ctx, &a, true);
    float here[72], other[72];
    void *density;
    must(ctx, lsp_alloc(ctx, LSP_CUDA, 72, sizeof(float), &density));
    must(ctx, lsp_kernel_density(ctx, NULL, &a.points, NULL, 0.1, &o, here, NULL));
    must(ctx, lsp_kernel_density(ctx, NULL, &there, NULL, 0.1, &o, density, NULL));
    must(ctx, lsp_cuda_copy(ctx, other, LSP_HOST, density, LSP_CUDA, sizeof other));
    cr_assert(memcmp(here, other, sizeof here) == 0 && here[0] > 0);
    lsp_free(ctx, density);
    drop_points(ctx, &there);
    free(a.memory);
    lsp_ctx_destroy(ctx);
}

TEST_ON_BOTH(two_body_density, terms_below_the_tolerance_are_left_out) {
    enum { N = 4000 };
    cloud a = make_cloud(UNIFORM, N, 3, LSP_F64, 1);
    const double tolerance = 1e-6, h = 0.02;
    double *right = calloc(N, sizeof *right), *ours = calloc(N, sizeof *ours);
    lsp_pair_info all, near;
    lsp_pair_options options = {.method = LSP_PAIR_BOXES};
    must(ctx, lsp_kernel_density(ctx, &a.points, NULL, &options, h, NULL, right, &all));
    must(ctx, lsp_kernel_density(ctx, &a.points, NULL, &options, h, &(lsp_density_options){.tolerance = tolerance},
                                 ours, &near));
    const double largest = pow(2 * 3.14159265358979323846, -1.5) / (h * h * h);
    for (int i = 0; i < N; i++) {
        cr_assert(ours[i] <= right[i] * (1 + 1e-12) && ours[i] >= right[i] - tolerance * largest);
    }
    cr_assert(near.tested < all.tested / (is_on_the_gpu(ctx) ? 1 : 4)); /* groups of a GPU are larger */
    free(right);
    free(ours);
    free(a.memory);
}

TEST_ON_BOTH(two_body_density, malformed_arguments_are_refused) {
    cloud a = make_cloud(UNIFORM, 20, 2, LSP_F32, 1);
    float out[20] = {7}, weights[20] = {1, 2, -3};
    lsp_density_options o;
    lsp_pair_options options;
    double h;
    const lsp_points *p, *q;
#define REFUSED(part, ...)                                                                                             \
    o = (lsp_density_options){0}, options = (lsp_pair_options){0}, h = 0.1, p = &a.points, q = NULL;                   \
    __VA_ARGS__;                                                                                                       \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_kernel_density(ctx, p, q, &options, h, &o, out, NULL))
    REFUSED("no kernel", o.kernel = (lsp_density_kernel)2);
    REFUSED("bandwidth is 0", h = 0);
    REFUSED("bandwidth is nan", h = NAN);
    REFUSED("tolerance is 1", o.tolerance = 1);
    REFUSED("tolerance is nan", o.tolerance = NAN);
    REFUSED("reserved", o.reserved[1] = 1);
    REFUSED("no points", p = NULL);
    REFUSED("no points", p = NULL, q = &a.points);
    REFUSED("both points", o.grid[0] = 1);
    REFUSED("0 cells of the grid in dimension 1", p = NULL, q = &a.points, o.grid[0] = 1);
    REFUSED("in dimension 1", p = NULL, q = &a.points, o.grid[0] = 1 << 20, o.grid[1] = 1 << 20);
    REFUSED("goes from 1 to 0", p = NULL, q = &a.points, o.grid[0] = o.grid[1] = 2, o.low[0] = 1);
    REFUSED("finite double", p = NULL, q = &a.points, o.grid[0] = o.grid[1] = 2, o.low[0] = -1e308, o.high[0] = 1e308);
    REFUSED("weight 2 is -3", o.weights = weights);
    REFUSED("no method grid", options.method = LSP_PAIR_GRID);
    memset(weights, 0, sizeof weights);
    REFUSED("have the sum 0", o.weights = weights);
#undef REFUSED
    must_fail(ctx, LSP_ERR_ARGUMENT, "is NULL", lsp_kernel_density(ctx, &a.points, NULL, NULL, 1, NULL, NULL, NULL));
    cr_assert(lsp_kernel_density(NULL, &a.points, NULL, NULL, 1, NULL, out, NULL) == LSP_ERR_ARGUMENT);
    set_coordinate(&a, 11, 1, NAN);
    must_fail(ctx, LSP_ERR_ARGUMENT, "point 11", lsp_kernel_density(ctx, &a.points, NULL, NULL, 1, NULL, out, NULL));
    cr_assert(out[0] == 7);
    free(a.memory);
}

static lsp_status call_it(lsp_ctx *ctx, void *data) {
    const cloud *a = data;
    float out[2000] = {7};
    const lsp_density_options o = {.weights = out};
    out[1] = 1;
    const lsp_status status = lsp_kernel_density(ctx, &a->points, NULL, NULL, 0.01, &o, out + 1000, NULL);
    cr_assert(status == LSP_OK || out[1000] == 0);
    return status;
}

Test(two_body_density, a_failing_allocation_leaves_everything_as_it_was) {
    cloud a = make_cloud(UNIFORM, 1000, 3, LSP_F32, 1);
    test_failing_memory(2, call_it, &a);
    free(a.memory);
}
