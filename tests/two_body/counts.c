/* Counts of pairs and histograms of distances equal the specification: on every kind of points, in every space, by
 * every method, instruction set and number of threads. */
#include "cases.h"

enum { MOST_RADII = 11, MOST_BINS = 700 };
static const double radii[MOST_RADII] = {0.05, 0.3, 0, 0.142857142857, 0.25, 0.1, 0.2, 0.01, 0.35, 0.25, 0.15};

/* Both sets where they are, and on the GPU if the context has one. */
static void place_both(lsp_ctx *ctx, const cloud *a, const cloud *b, lsp_points p[2][2]) {
    for (int there = 0; there < 2; there++) {
        p[there][0] = points_at(ctx, a, there && is_on_the_gpu(ctx));
        p[there][1] = points_at(ctx, b ? b : a, there && is_on_the_gpu(ctx));
    }
}
static void drop_both(lsp_ctx *ctx, lsp_points p[2][2]) {
    drop_points(ctx, &p[1][0]);
    drop_points(ctx, &p[1][1]);
}

/* By each method, with every instruction set. */
static void must_count(lsp_ctx *ctx, const cloud *a, const cloud *b, lsp_pair_options options, int64_t n_radii,
                       const char *name) {
    uint64_t ours[MOST_RADII], right[MOST_RADII];
    double limits[MOST_RADII];
    const lsp_pair_job job = job_of(ctx, a, b, &options);
    for (int64_t k = 0; k < n_radii; k++) {
        limits[k] = lsp_distance_limit(&job.metric, job.type, radii[k]);
    }
    lsp_pair_count_ref(&job, limits, n_radii, right);
    lsp_points p[2][2]; /* here and there, a and b */
    place_both(ctx, a, b, p);
    FOR_EACH_ISA(ctx) {
        for (int method = 0; method <= LSP_PAIR_BOXES; method++) {
            options.method = (lsp_pair_method)method;
            const lsp_points *at = p[method == LSP_PAIR_ALL];
            must(ctx, lsp_pair_count(ctx, &at[0], b ? &at[1] : NULL, &options, radii, n_radii, ours, NULL));
            for (int64_t k = 0; k < n_radii; k++) {
                cr_assert(ours[k] == right[k],
                          "%s, %s, %d dimensions, %s, method %d, isa %d, radius %g: %llu pairs, not %llu", name,
                          b ? "two sets" : "one set", job.metric.dimensions, lsp_type_name(job.type), method,
                          (int)ctx->isa, radii[k], (unsigned long long)ours[k], (unsigned long long)right[k]);
            }
        }
    }
    drop_both(ctx, p);
}

static void must_bin(lsp_ctx *ctx, const cloud *a, const cloud *b, lsp_pair_options options, double range, int64_t bins,
                     const char *name) {
    static uint64_t ours[MOST_BINS], right[MOST_BINS];
    const lsp_pair_job job = job_of(ctx, a, b, &options);
    lsp_pair_histogram_ref(&job, lsp_bins_in_unit(&job.metric, job.type, range, bins), bins, right);
    lsp_points p[2][2];
    place_both(ctx, a, b, p);
    FOR_EACH_ISA(ctx) {
        for (int method = 0; method <= LSP_PAIR_BOXES; method++) {
            options.method = (lsp_pair_method)method;
            const lsp_points *at = p[method == LSP_PAIR_GRID];
            must(ctx, lsp_pair_histogram(ctx, &at[0], b ? &at[1] : NULL, &options, range, bins, ours, NULL));
            for (int64_t i = 0; i < bins; i++) {
                cr_assert(ours[i] == right[i],
                          "%s, %s, %d dimensions, %s, method %d, isa %d, bin %lld: %llu pairs, not %llu", name,
                          b ? "two sets" : "one set", job.metric.dimensions, lsp_type_name(job.type), method,
                          (int)ctx->isa, (long long)i, (unsigned long long)ours[i], (unsigned long long)right[i]);
            }
        }
    }
    drop_both(ctx, p);
}

/* One set and two. */
static void try_points(lsp_ctx *ctx, int pattern, int64_t n, int dimensions, lsp_type type, int space) {
    cloud a = make_cloud(pattern, n, dimensions, type, 1), b = make_cloud(pattern, n / 2 + 3, dimensions, type, 2);
    const lsp_pair_options options = space_of(space, dimensions);
    for (int two = 0; two < 2; two++) {
        must_count(ctx, &a, two ? &b : NULL, options, 1, pattern_names[pattern]);
        must_count(ctx, &a, two ? &b : NULL, options, MOST_RADII, pattern_names[pattern]);
        must_bin(ctx, &a, two ? &b : NULL, options, 0.3, 64, pattern_names[pattern]);
        must_bin(ctx, &a, two ? &b : NULL, options, 0.07, MOST_BINS, pattern_names[pattern]);
    }
    free(a.memory);
    free(b.memory);
}

TEST_ON_BOTH(two_body_counts, equal_the_specification_in_every_space) {
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        for (int dimensions = 1; dimensions <= 3; dimensions++) {
            for (int space = 0; space < SPACES; space++) {
                for (int wide = 0; wide < 2; wide++) {
                    try_points(ctx, pattern, reduced(80, 150), dimensions, wide ? LSP_F64 : LSP_F32, space);
                }
            }
        }
    }
}

TEST_ON_BOTH(two_body_counts, equal_the_specification_in_many_dimensions) {
    for (int dimensions = 4; dimensions <= LSP_MOST_DIMENSIONS; dimensions++) {
        for (int space = 0; space < 3; space++) {
            try_points(ctx, dimensions % 2, 150, dimensions, LSP_F32, space);
            try_points(ctx, LATTICE, 150, dimensions, LSP_F64, space);
        }
    }
}

static void try_sizes(lsp_ctx *ctx, int part, int parts) {
    static const int64_t sizes[] = {0, 1, 2, 3, 7, 8, 17, 511, 512, 513, 1100};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        if (sizes[s] <= 100 || (int)s % parts == part) { /* large sizes in one part each */
            try_points(ctx, (int)s % 2, sizes[s], 3, s % 2 ? LSP_F64 : LSP_F32, 0);
            try_points(ctx, DUPLICATES, sizes[s], 2, s % 2 ? LSP_F32 : LSP_F64, 1);
        }
    }
}

Test(two_body_counts, small_sets_and_sizes_around_a_tile) {
    for (int threads = 1; threads <= 4; threads++) {
        lsp_ctx *ctx = test_ctx(threads);
        try_sizes(ctx, threads - 1, 4);
        lsp_ctx_destroy(ctx);
    }
}

static void sizes_around_a_tile(lsp_ctx *ctx) { try_sizes(ctx, 0, 1); }
Test(two_body_counts, small_sets_and_sizes_around_a_tile_on_the_gpu) { on_the_gpu(sizes_around_a_tile); }

/* Tables of every layout: 32, 16 and 1 copies of a counter, none in shared memory; every way to a bin. */
TEST_ON_BOTH(two_body_counts, few_bins_and_many) {
    static const int64_t bins[] = {1, 2, 100, 1000, 5000, 40000, 70000};
    static uint64_t ours[70000], right[70000];
    for (int space = 0; space < 2; space++) {
        cloud a = make_cloud(UNIFORM, 300, 3, LSP_F32, 7), b = make_cloud(LATTICE, 350, 3, LSP_F32, 8);
        const lsp_pair_options options = space_of(space, 3);
        const lsp_pair_job job = job_of(ctx, &a, &b, &options);
        for (size_t k = 0; k < sizeof bins / sizeof *bins; k++) {
            for (int wide = 0; wide < 2; wide++) {
                const double range = wide && space == 0 ? 1.8 : 0.49;
                lsp_pair_histogram_ref(&job, lsp_bins_in_unit(&job.metric, job.type, range, bins[k]), bins[k], right);
                must(ctx, lsp_pair_histogram(ctx, &a.points, &b.points, &options, range, bins[k], ours, NULL));
                for (int64_t i = 0; i < bins[k]; i++) {
                    cr_assert(ours[i] == right[i], "space %d, range %g, bin %lld of %lld: %llu pairs, not %llu", space,
                              range, (long long)i, (long long)bins[k], (unsigned long long)ours[i],
                              (unsigned long long)right[i]);
                }
            }
        }
        free(a.memory);
        free(b.memory);
    }
}

/* Some of these radii are neighbouring numbers, and there are many of them: one pass over the points does not do. */
TEST_ON_BOTH(two_body_counts, close_radii_and_many) {
    enum { N = 600 };
    double many[N], limits[N];
    uint64_t ours[N], right[N];
    for (int wide = 0; wide < 2; wide++) {
        cloud a = make_cloud(LATTICE, 343, 3, wide ? LSP_F64 : LSP_F32, 7);
        const lsp_pair_options options = {0};
        const lsp_pair_job job = job_of(ctx, &a, NULL, &options);
        for (int k = 0; k < N; k++) {
            many[k] = k % 3 == 0   ? 0.002 * k
                      : k % 3 == 1 ? 1.0 / 7 * (1 + (k % 40) * (wide ? 0x1p-52 : 0x1p-23))
                                   : 1e-20 * k;
            limits[k] = lsp_distance_limit(&job.metric, job.type, many[k]);
        }
        lsp_pair_count_ref(&job, limits, N, right);
        must(ctx, lsp_pair_count(ctx, &a.points, NULL, &options, many, N, ours, NULL));
        for (int k = 0; k < N; k++) {
            cr_assert(ours[k] == right[k], "%s, radius %.17g: %llu pairs, not %llu", lsp_type_name(job.type), many[k],
                      (unsigned long long)ours[k], (unsigned long long)right[k]);
        }
        free(a.memory);
    }
}

/* More candidates than a buffer holds, in one cell and in many. */
TEST_ON_BOTH(two_body_counts, full_cells_are_met_in_pieces) {
    const lsp_pair_options options = {0};
    for (int pattern = 0; pattern < PATTERNS; pattern += DUPLICATES) {
        cloud a = make_cloud(pattern, is_on_the_gpu(ctx) ? reduced(700, 5000) : 5000, 3, LSP_F32, 3);
        must_count(ctx, &a, NULL, options, 2, pattern_names[pattern]);
        must_bin(ctx, &a, NULL, options, 0.1, 100, pattern_names[pattern]);
        free(a.memory);
    }
}

TEST_ON_BOTH(two_body_counts, coordinates_far_apart_or_far_too_close) {
    for (int wide = 0; wide < 2; wide++) {
        cloud a = make_cloud(UNIFORM, 200, 3, wide ? LSP_F64 : LSP_F32, 4);
        const double far = wide ? 1.7e308 : 3.3e38, close = wide ? 1e-170 : 1e-25;
        for (int64_t i = 0; i < 200; i++) {
            set_coordinate(&a, i, 0, i % 3 == 0 ? far : i % 3 == 1 ? -far : (double)i * close);
            set_coordinate(&a, i, 1, (double)(i % 7) * close);
        }
        must_count(ctx, &a, NULL, (lsp_pair_options){0}, MOST_RADII, "far and close");
        must_bin(ctx, &a, NULL, (lsp_pair_options){0}, 2, 100, "far and close");
        free(a.memory);
    }
}

/* The distances themselves, not only both sides alike: a cube of 4 x 4 x 4 points, a quarter apart, in a periodic box
 * has 6 neighbours at 1/4, 12 at sqrt(2)/4, 8 at sqrt(3)/4 for each point. */
TEST_ON_BOTH(two_body_counts, neighbours_of_a_periodic_crystal) {
    for (int wide = 0; wide < 2; wide++) {
        cloud a = make_cloud(UNIFORM, 64, 3, wide ? LSP_F64 : LSP_F32, 1);
        for (int64_t i = 0; i < 64; i++) {
            for (int k = 0, rest = (int)i; k < 3; k++, rest /= 4) {
                set_coordinate(&a, i, k, rest % 4 / 4.0 + (double)(i % 5 - 2));
            }
        }
        const double shells[] = {0.25, 0.36, 0.44};
        uint64_t counts[3];
        lsp_pair_options options = space_of(1, 3);
        must(ctx, lsp_pair_count(ctx, &a.points, NULL, &options, shells, 3, counts, NULL));
        cr_assert(counts[0] == 64 * 6 / 2 && counts[1] == 64 * 18 / 2 && counts[2] == 64 * 26 / 2);
        free(a.memory);
    }
}

/* A triclinic cell that describes the same crystal as a cube has the same counts. */
TEST_ON_BOTH(two_body_counts, a_tilted_cell_of_a_crystal_equals_its_cube) {
    cloud a = make_cloud(UNIFORM, 512, 3, LSP_F64, 1);
    for (int64_t i = 0; i < 512; i++) {
        for (int k = 0, rest = (int)i; k < 3; k++, rest /= 8) {
            set_coordinate(&a, i, k, rest % 8 / 8.0);
        }
    }
    const double shells[] = {0.13, 0.18, 0.22, 0.26, 0.3};
    uint64_t cube[5], tilted[5];
    lsp_pair_options options = space_of(1, 3);
    must(ctx, lsp_pair_count(ctx, &a.points, NULL, &options, shells, 5, cube, NULL));
    options.tilt[0] = 0.25, options.tilt[2] = -0.25;
    must(ctx, lsp_pair_count(ctx, &a.points, NULL, &options, shells, 5, tilted, NULL));
    cr_assert(memcmp(cube, tilted, sizeof cube) == 0 && cube[0] == 512 * 3);
    free(a.memory);
}

/* Points spread evenly have g near 1 everywhere. */
TEST_ON_BOTH(two_body_counts, evenly_spread_points_have_a_radial_distribution_of_one) {
    for (int dimensions = 1; dimensions <= 3; dimensions++) {
        enum { BINS = 10 };
        const int64_t n = is_on_the_gpu(ctx) ? reduced(1500, 4000) : 4000;
        cloud a = make_cloud(UNIFORM, n, dimensions, LSP_F32, 9), b = make_cloud(UNIFORM, n, dimensions, LSP_F32, 10);
        const lsp_pair_options options = space_of(1, dimensions);
        for (int two = 0; two < 2; two++) {
            uint64_t counts[BINS];
            double g[BINS];
            must(ctx, lsp_pair_histogram(ctx, &a.points, two ? &b.points : NULL, &options, 0.4, BINS, counts, NULL));
            must(ctx, lsp_radial_distribution(ctx, counts, BINS, 0.4, dimensions,
                                              two ? (double)n * (double)n : (double)n * (double)(n - 1) / 2, 1, g));
            for (int i = dimensions == 3 ? 2 : 0; i < BINS; i++) {
                cr_assert(g[i] > 0.95 && g[i] < 1.05, "%d dimensions, bin %d: g = %g", dimensions, i, g[i]);
            }
        }
        free(a.memory);
        free(b.memory);
    }
}

/* The pairs below each edge are those whose exact product is surely below it, and not more than those for which it may
 * be: the stated error is 2^-21 of the product. Nothing is lost. */
static void must_bin_nearly(lsp_ctx *ctx, const cloud *a, lsp_pair_options options, double range, int64_t bins) {
    static uint64_t ours[70000], least[70000], most[70000];
    const double error = 0x1.01p-21;
    const lsp_pair_job job = job_of(ctx, a, NULL, &options);
    const double scale = lsp_bins_in_unit(&job.metric, job.type, range, bins);
    uint64_t sums[3] = {0};
    lsp_pair_histogram_ref(&job, scale * (1 + error), bins, least);
    lsp_pair_histogram_ref(&job, scale * (1 - error), bins, most);
    options.approximate_root = true;
    for (int method = 0; method <= LSP_PAIR_BOXES; method++) {
        options.method = (lsp_pair_method)method;
        must(ctx, lsp_pair_histogram(ctx, &a->points, NULL, &options, range, bins, ours, NULL));
        memset(sums, 0, sizeof sums);
        for (int64_t i = 0; i < bins; i++) {
            sums[0] += least[i], sums[1] += ours[i], sums[2] += most[i];
            cr_assert(sums[0] <= sums[1] && sums[1] <= sums[2],
                      "%s, %d dimensions, method %d, range %g: %llu pairs in bins 0 .. %lld of %lld, not %llu to %llu",
                      lsp_type_name(job.type), job.metric.dimensions, method, range, (unsigned long long)sums[1],
                      (long long)i, (long long)bins, (unsigned long long)sums[0], (unsigned long long)sums[2]);
        }
        cr_assert(options.box[0] > 0 || range < 4 || sums[1] == (uint64_t)(a->points.n * (a->points.n - 1) / 2));
    }
}

TEST_ON_BOTH(two_body_counts, approximate_roots_move_pairs_no_farther_than_is_said) {
    static const int64_t bins[] = {1, 1000, 5000, 70000};
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        for (int space = 0; space < SPACES; space++) {
            for (int wide = 0; wide < 2; wide++) {
                const int64_t n = reduced(70, 250);
                cloud a = make_cloud(pattern, n, space < 3 ? 3 - pattern % 2 : 3, wide ? LSP_F64 : LSP_F32, 7);
                for (size_t k = 0; k < sizeof bins / sizeof *bins; k++) {
                    must_bin_nearly(ctx, &a, space_of(space, a.points.dimensions), space == 0 ? 4 : 0.35, bins[k]);
                    must_bin_nearly(ctx, &a, space_of(space, a.points.dimensions), 0.07, bins[k]);
                }
                free(a.memory);
            }
        }
    }
}
