/* Shares of the work: those of all parts add up to the whole, to the bit, and take about equal work. */
#include "../there.h"
#include "cases.h"

enum { BINS = 40, RADII = 2 };
static const double radii[RADII] = {0.2, 0.05}, range = 0.3;

typedef struct sums {
    uint64_t one, counts[RADII], bins[BINS];
    int64_t tested[3], cut[3]; /* of one radius, of two, of the histogram */
} sums;

static sums count_share(lsp_ctx *ctx, const cloud *a, const cloud *b, const lsp_pair_options *options) {
    const lsp_points *p = &a->points, *q = b ? &b->points : NULL;
    sums s = {0};
    lsp_pair_info info[3];
    must(ctx, lsp_pair_count(ctx, p, q, options, radii, 1, &s.one, &info[0]));
    must(ctx, lsp_pair_count(ctx, p, q, options, radii, RADII, s.counts, &info[1]));
    must(ctx, lsp_pair_histogram(ctx, p, q, options, range, BINS, s.bins, &info[2]));
    for (int k = 0; k < 3; k++) {
        s.tested[k] = info[k].tested, s.cut[k] = info[k].cut;
    }
    return s;
}

static sums count_ref(lsp_ctx *ctx, const cloud *a, const cloud *b, const lsp_pair_options *options) {
    const lsp_pair_job job = job_of(ctx, a, b, options);
    double limits[RADII];
    sums s = {0};
    for (int k = 0; k < RADII; k++) {
        limits[k] = lsp_distance_limit(&job.metric, job.type, radii[k]);
    }
    lsp_pair_count_ref(&job, limits, 1, &s.one);
    lsp_pair_count_ref(&job, limits, RADII, s.counts);
    lsp_pair_histogram_ref(&job, lsp_bins_in_unit(&job.metric, job.type, range, BINS), BINS, s.bins);
    return s;
}

static void must_add_up(lsp_ctx *ctx, const cloud *a, const cloud *b, lsp_pair_options options, int64_t parts,
                        const char *name) {
    sums all = {0}, first = {0};
    const sums right = count_ref(ctx, a, b, &options);
    options.parts = parts;
    for (options.part = 0; options.part < parts; options.part++) {
        const sums s = count_share(ctx, a, b, &options);
        first = options.part == 0 ? s : first;
        all.one += s.one;
        for (int k = 0; k < RADII; k++) {
            all.counts[k] += s.counts[k];
        }
        for (int i = 0; i < BINS; i++) {
            all.bins[i] += s.bins[i];
        }
        for (int k = 0; k < 3; k++) {
            cr_assert(s.cut[k] == first.cut[k], "%s: part %d is cut otherwise", name, (int)options.part);
            cr_assert((s.cut[k] != 0) == (parts > 1));
        }
    }
    cr_assert(all.one == right.one && memcmp(all.counts, right.counts, sizeof all.counts) == 0 &&
                  memcmp(all.bins, right.bins, sizeof all.bins) == 0,
              "%s, %s, %lld points, %s, method %d, %lld parts: %llu %llu %llu pairs, not %llu %llu %llu", name,
              b ? "two sets" : "one set", (long long)a->points.n, lsp_type_name(a->points.type), (int)options.method,
              (long long)parts, (unsigned long long)all.one, (unsigned long long)all.counts[0],
              (unsigned long long)all.counts[1], (unsigned long long)right.one, (unsigned long long)right.counts[0],
              (unsigned long long)right.counts[1]);
}

TEST_ON_BOTH(two_body_shares, add_up_to_the_whole) {
    static const int64_t parts[] = {1, 2, 3, 7, 90};
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        for (int kind = 0; kind < 2 * SPACES; kind++) {
            const int dimensions = pattern == LATTICE ? 2 : 3, space = kind % SPACES;
            if (is_on_the_gpu(ctx) && (pattern + kind) % (int)reduced(5, 1) != 0) {
                continue; /* an emulated GPU is slow */
            }
            const lsp_type type = kind / SPACES ? LSP_F64 : LSP_F32;
            cloud a = make_cloud(pattern, reduced(80, 150), dimensions, type, 1);
            cloud b = make_cloud(pattern, 70, dimensions, type, 2);
            lsp_pair_options options = space_of(space, dimensions);
            for (int method = 0; method <= LSP_PAIR_BOXES; method++) {
                const int which = (pattern + kind + method) % (is_on_the_gpu(ctx) ? (int)reduced(4, 5) : 5);
                options.method = (lsp_pair_method)method;
                must_add_up(ctx, &a, NULL, options, parts[which], pattern_names[pattern]);
                must_add_up(ctx, &a, &b, options, parts[3 - which % 4], pattern_names[pattern]);
            }
            free(a.memory);
            free(b.memory);
        }
    }
}

/* Many tiles and many boxes; few points, or none; every number of threads. */
TEST_ON_BOTH(two_body_shares, add_up_for_few_points_and_many) {
    static const int64_t sizes[] = {0, 1, 2, 5, 4000};
    for (int s = 0; s < 5; s++) {
        const int64_t n = lsp_min(sizes[s], is_on_the_gpu(ctx) ? reduced(600, 4000) : 4000);
        cloud a = make_cloud(BLOBS, n, 3, LSP_F32, 1), b = make_cloud(UNIFORM, n / 2, 3, LSP_F32, 2);
        for (int method = LSP_PAIR_ALL; method <= LSP_PAIR_BOXES; method++) {
            const lsp_pair_options options = {.method = (lsp_pair_method)method};
            must_add_up(ctx, &a, NULL, options, 3, "few and many");
            must_add_up(ctx, &a, &b, options, 2, "few and many");
        }
        free(a.memory);
        free(b.memory);
    }
}

/* Contexts with other numbers of threads cut alike. */
Test(two_body_shares, do_not_depend_on_threads) {
    cloud a = make_cloud(BLOBS, 3000, 3, LSP_F64, 3);
    for (int method = LSP_PAIR_ALL; method <= LSP_PAIR_BOXES; method++) {
        lsp_pair_options options = {.method = (lsp_pair_method)method, .parts = 4};
        for (; options.part < 4; options.part++) {
            lsp_ctx *one = test_ctx(1), *three = test_ctx(3);
            const sums s = count_share(one, &a, NULL, &options), t = count_share(three, &a, NULL, &options);
            cr_assert(memcmp(&s, &t, sizeof s) == 0, "method %d, part %d", method, (int)options.part);
            lsp_ctx_destroy(one);
            lsp_ctx_destroy(three);
        }
    }
    free(a.memory);
}

/* Neither half has a tenth more work than the other, wherever points crowd. */
Test(two_body_shares, have_equal_work) {
    lsp_ctx *ctx = test_ctx(2);
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        cloud a = make_cloud(pattern, 30000, 3, LSP_F32, 4);
        for (int method = LSP_PAIR_ALL; method <= LSP_PAIR_BOXES; method++) {
            lsp_pair_options options = {.method = (lsp_pair_method)method, .parts = 2};
            const sums s = count_share(ctx, &a, NULL, &options);
            options.part = 1;
            const sums t = count_share(ctx, &a, NULL, &options);
            for (int k = 0; k < 3; k++) {
                const double half = (double)(s.tested[k] + t.tested[k]) / 2;
                cr_assert(fabs((double)s.tested[k] - half) <= 0.05 * half + 1e5,
                          "%s, method %d, call %d: %lld and %lld distances", pattern_names[pattern], method, k,
                          (long long)s.tested[k], (long long)t.tested[k]);
            }
        }
        free(a.memory);
    }
    lsp_ctx_destroy(ctx);
}

/* ---- rows of matrices ---- */

/* By a share of the join, or of the k nearest. */
static lsp_csr join_share(lsp_ctx *ctx, const cloud *a, const cloud *b, const lsp_pair_options *options,
                          const lsp_join_options *join, int64_t k, bool there, int64_t *first_row) {
    const lsp_points p = points_at(ctx, a, there), q = points_at(ctx, b ? b : a, there);
    lsp_pair_info info;
    lsp_csr C;
    must(ctx, k < 0 ? lsp_radius_join(ctx, &p, b ? &q : NULL, options, 0.15, join, &C, &info)
                    : lsp_nearest(ctx, &p, b ? &q : NULL, options, k, join, &C, &info));
    drop_points(ctx, &p);
    drop_points(ctx, &q);
    if (there) {
        const lsp_csr here = moved(ctx, &C, LSP_HOST);
        must(ctx, lsp_csr_free(ctx, &C));
        C = here;
    }
    *first_row = info.first_row;
    return C;
}

static bool same(const lsp_csr *A, const lsp_csr *B) {
    bool equal = A->rows == B->rows && A->cols == B->cols && A->nnz == B->nnz && A->val_type == B->val_type;
    for (int64_t i = 0; i <= A->rows && equal; i++) {
        equal = lsp_index_at(A->rowptr, A->rowptr_type, i) == lsp_index_at(B->rowptr, B->rowptr_type, i);
    }
    for (int64_t e = 0; e < A->nnz && equal; e++) {
        equal = lsp_index_at(A->col, A->col_type, e) == lsp_index_at(B->col, B->col_type, e);
    }
    return equal && (A->nnz == 0 || A->val_type == LSP_NONE ||
                     memcmp(A->val, B->val, (size_t)A->nnz * lsp_type_bytes(A->val_type)) == 0);
}

enum { MOST_PARTS = 200 };

static void must_be_stacked(lsp_ctx *ctx, const cloud *a, const cloud *b, lsp_pair_options options,
                            const lsp_join_options *join, int64_t k, int64_t parts) {
    lsp_csr pieces[MOST_PARTS], all;
    const lsp_csr *side[MOST_PARTS];
    const bool there = is_on_the_gpu(ctx) && parts % 2 != 0;
    int64_t first, rows = 0;
    lsp_csr whole = join_share(ctx, a, b, &options, join, k, false, &first);
    options.parts = parts;
    for (options.part = 0; options.part < parts; options.part++) {
        lsp_csr *piece = &pieces[options.part];
        *piece = join_share(ctx, a, b, &options, join, k, there, &first);
        cr_assert(first == rows, "part %d begins with row %d, not %d", (int)options.part, (int)first, (int)rows);
        rows += piece->rows;
        side[options.part] = piece;
    }
    must(ctx, lsp_csr_stack(ctx, side, parts, 1, &all));
    cr_assert(same(&all, &whole), "%s, %d points, method %d, k %d, values %d, self %d, half %d, %d parts",
              b ? "two sets" : "one set", (int)a->points.n, (int)options.method, (int)k, join->values, join->self_pairs,
              join->half, (int)parts);
    for (int64_t p = 0; p < parts; p++) {
        must(ctx, lsp_csr_free(ctx, &pieces[p]));
    }
    must(ctx, lsp_csr_free(ctx, &all));
    must(ctx, lsp_csr_free(ctx, &whole));
}

TEST_ON_BOTH(two_body_shares, of_a_matrix_are_its_rows) {
    static const int64_t parts[] = {1, 2, 3, 7, MOST_PARTS};
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        const lsp_type type = pattern % 2 ? LSP_F64 : LSP_F32;
        cloud a = make_cloud(pattern, reduced(60, 150), 3, type, 1), b = make_cloud(pattern, 70, 3, type, 2);
        for (int form = 0; form < 16; form++) {
            if (is_on_the_gpu(ctx) && (pattern + form) % (int)reduced(7, 1) != 0) {
                continue;
            }
            const bool half = form & 2;
            const lsp_join_options join = {.values = (lsp_join_values)(form % 3), .self_pairs = form & 1, .half = half};
            const lsp_join_options values = {.values = join.values};
            const int64_t count = parts[(pattern + form) % (is_on_the_gpu(ctx) ? (int)reduced(4, 5) : 5)];
            lsp_pair_options options = space_of(form % SPACES, 3);
            for (int method = 0; method <= LSP_PAIR_GRID; method++) {
                options.method = (lsp_pair_method)method;
                must_be_stacked(ctx, &a, NULL, options, &join, -1, count);
                must_be_stacked(ctx, &a, &b, options, &values, -1, count);
            }
            for (int boxes = 0; boxes < 2 && !half; boxes++) {
                options.method = boxes ? LSP_PAIR_BOXES : LSP_PAIR_ALL;
                must_be_stacked(ctx, &a, NULL, options, &join, 1 + form, count);
                must_be_stacked(ctx, &a, &b, options, &values, 1 + form, count);
            }
        }
        free(a.memory);
        free(b.memory);
    }
}

/* Rows that a sink has received. */
typedef struct received {
    lsp_ctx *ctx;
    int64_t rows, entries;
} received;
static lsp_status receive(void *user, int64_t first_row, const lsp_csr *rows) {
    received *r = user;
    cr_assert(first_row == r->rows, "row %d, not %d", (int)first_row, (int)r->rows);
    r->rows += rows->rows, r->entries += rows->nnz;
    return LSP_OK;
}

TEST_ON_BOTH(two_body_shares, of_a_join_in_blocks) {
    cloud a = make_cloud(UNIFORM, 200, 3, LSP_F32, 1);
    for (int half = 0; half < 2; half++) {
        const lsp_join_options join = {.half = half};
        lsp_pair_options options = {.parts = 3};
        received got = {.ctx = ctx};
        lsp_csr whole;
        for (; options.part < 3; options.part++) {
            must(ctx, lsp_radius_join_stream(ctx, &a.points, NULL, &options, 0.2, &join, 0, 2000, receive, &got, NULL));
        }
        must(ctx, lsp_radius_join(ctx, &a.points, NULL, NULL, 0.2, &join, &whole, NULL));
        cr_assert(got.rows == 200 && got.entries == whole.nnz, "%d rows, %d entries", (int)got.rows, (int)got.entries);
        must(ctx, lsp_csr_free(ctx, &whole));
    }
    free(a.memory);
}

Test(two_body_shares, that_make_no_sense_are_refused) {
    lsp_ctx *ctx = test_ctx(1);
    static const int64_t wrong[][2] = {{2, 2}, {-1, 2}, {1, 0}, {0, -1}, {0, (int64_t)INT32_MAX + 1}};
    cloud a = make_cloud(UNIFORM, 20, 3, LSP_F32, 1);
    uint64_t pairs = 9;
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        const lsp_pair_options options = {.part = wrong[w][0], .parts = wrong[w][1]};
        must_fail(ctx, LSP_ERR_ARGUMENT, "parts are 1 to",
                  lsp_pair_count(ctx, &a.points, NULL, &options, radii, 1, &pairs, NULL));
    }
    float density[20];
    const lsp_pair_options options = {.parts = 2};
    must_fail(ctx, LSP_ERR_ARGUMENT, "no shares",
              lsp_kernel_density(ctx, &a.points, NULL, &options, 0.1, NULL, density, NULL));
    set_coordinate(&a, 17, 1, NAN);
    lsp_csr C;
    const lsp_pair_options last = {.part = 1, .parts = 2};
    must_fail(ctx, LSP_ERR_ARGUMENT, "point 17 of the set a",
              lsp_radius_join(ctx, &a.points, NULL, &last, 0.1, NULL, &C, NULL));
    free(a.memory);
    lsp_ctx_destroy(ctx);
}
