/* Points that do not fit the budget of a GPU pass by in blocks: the same counts, by every method; the fault of a point
 * is told with its own number. */
#include "cases.h"
#include "tests/failing.h"

enum { RADII = 3, BINS = 40 };
static const double radii[RADII] = {0.05, 0.3, 0.15};

static int64_t points(void) { return reduced(700, 4001); }

/* Room for less than half of what they need. */
static void set_budget(lsp_ctx *ctx) {
    must(ctx, lsp_ctx_trim(ctx));
    must(ctx, lsp_ctx_set_max_bytes(ctx, ctx->space[LSP_CUDA].used + 65536 + 45 * points()));
}

/* Both sets, counted by every method and beside the specification. */
static void try_blocks(lsp_ctx *ctx, const cloud *a, const cloud *b, lsp_pair_options options) {
    const lsp_pair_job job = job_of(ctx, a, b, &options);
    double limits[RADII];
    uint64_t ours[BINS], right[BINS];
    lsp_pair_info info = {0};
    for (int k = 0; k < RADII; k++) {
        limits[k] = lsp_distance_limit(&job.metric, job.type, radii[k]);
    }
    for (int method = 0; method <= LSP_PAIR_BOXES; method++) {
        options.method = (lsp_pair_method)method;
        for (int verb = 0; verb < 3; verb++) {
            const int64_t n = verb == 2 ? BINS : verb == 1 ? RADII : 1;
            if (verb == 2) {
                lsp_pair_histogram_ref(&job, lsp_bins_in_unit(&job.metric, job.type, 0.3, BINS), BINS, right);
                must(ctx, lsp_pair_histogram(ctx, &a->points, b ? &b->points : NULL, &options, 0.3, BINS, ours, &info));
            } else {
                lsp_pair_count_ref(&job, limits, n, right);
                must(ctx, lsp_pair_count(ctx, &a->points, b ? &b->points : NULL, &options, radii, n, ours, &info));
            }
            cr_assert(strstr(info.reason, " blocks of ") != NULL, "%s", info.reason);
            cr_assert(info.tested >= 0 && info.tested <= a->points.n * (b ? b->points.n : a->points.n));
            for (int64_t i = 0; i < n; i++) {
                cr_assert(ours[i] == right[i], "%s, method %d, verb %d, number %lld: %llu pairs, not %llu",
                          b ? "two sets" : "one set", method, verb, (long long)i, (unsigned long long)ours[i],
                          (unsigned long long)right[i]);
            }
        }
    }
}

Test(device_blocks, counts_of_points_beyond_the_budget_equal_the_specification_on_the_gpu) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int wide = 0; wide < 2; wide++) {
        const lsp_type type = wide ? LSP_F64 : LSP_F32;
        cloud a = make_cloud(wide ? BLOBS : UNIFORM, points(), 3, type, 5);
        cloud b = make_cloud(UNIFORM, points() / 2 - 50, 3, type, 6);
        set_budget(ctx);
        try_blocks(ctx, &a, NULL, space_of(wide, 3));
        try_blocks(ctx, wide ? &a : &b, wide ? &b : &a, space_of(1 - wide, 3));
        free(a.memory);
        free(b.memory);
    }
    lsp_ctx_destroy(ctx);
}

Test(device_blocks, a_coordinate_that_is_not_finite_is_told_with_its_number_on_the_gpu) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    cloud a = make_cloud(UNIFORM, points(), 3, LSP_F32, 5), b = make_cloud(UNIFORM, points(), 3, LSP_F32, 6);
    uint64_t count = 9;
    set_budget(ctx);
    char told[80];
    set_coordinate(&b, points() - 3, 1, (double)NAN);
    snprintf(told, sizeof told, "coordinate 1 of point %lld of the set b is nan", (long long)points() - 3);
    must_fail(ctx, LSP_ERR_ARGUMENT, told, lsp_pair_count(ctx, &a.points, &b.points, NULL, radii, 1, &count, NULL));
    told[strlen(told) - 8] = 'a';
    must_fail(ctx, LSP_ERR_ARGUMENT, told, lsp_pair_count(ctx, &b.points, NULL, NULL, radii, 1, &count, NULL));
    cr_assert(count == 9);
    free(a.memory);
    free(b.memory);
    lsp_ctx_destroy(ctx);
}

Test(device_blocks, a_budget_that_holds_no_block_is_told_on_the_gpu) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    cloud a = make_cloud(UNIFORM, points(), 3, LSP_F32, 5);
    uint64_t count = 9;
    must(ctx, lsp_ctx_set_max_bytes(ctx, ctx->space[LSP_CUDA].used + 8000));
    must_fail(ctx, LSP_ERR_MEMORY, "budget", lsp_pair_count(ctx, &a.points, NULL, NULL, radii, 1, &count, NULL));
    cr_assert(count == 9);
    free(a.memory);
    lsp_ctx_destroy(ctx);
}

/* Fewer points fit than it seemed: blocks become smaller, or the call is refused; the count is right or untouched. */
Test(device_blocks, failing_allocations_leave_the_count_right_or_untouched_on_the_gpu) {
    cloud a = make_cloud(UNIFORM, points(), 3, LSP_F32, 5);
    uint64_t right = 0;
    lsp_ctx *whole = test_gpu_ctx_or_skip();
    must(whole, lsp_pair_count(whole, &a.points, NULL, NULL, radii, 1, &right, NULL));
    lsp_ctx_destroy(whole);
    bool failed = true;
    for (long fail_at = 0; failed; fail_at += 2) {
        test_memory memory = {.fail_at = fail_at};
        const lsp_allocator allocator = {failing_alloc, failing_free, &memory};
        lsp_ctx *ctx = NULL;
        char error[256] = "";
        uint64_t count = 9;
        lsp_status status =
            lsp_ctx_create(&ctx, &(lsp_ctx_options){.device = LSP_CUDA, .allocator = allocator}, error, sizeof error);
        if (status == LSP_OK) {
            set_budget(ctx);
            status = lsp_pair_count(ctx, &a.points, NULL, NULL, radii, 1, &count, NULL);
            cr_assert(count == (status == LSP_OK ? right : 9), "%ld: %llu pairs", fail_at, (unsigned long long)count);
            cr_assert(status == LSP_OK || lsp_last_error(ctx)[0] != 0);
        }
        failed = memory.calls > fail_at;
        lsp_ctx_destroy(ctx);
    }
    free(a.memory);
}
