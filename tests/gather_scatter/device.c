/* Gather and scatter on a GPU that has less than it has: little shared memory makes many tiles, bins and levels of few
 * elements. And what only a GPU does: it samples indices itself, and reports an index outside when it is waited for. */
#include "cases.h"

/* The context's chip. A test takes a part of it away. */
static lsp_cuda_chip *chip_of(lsp_ctx *ctx) { return (lsp_cuda_chip *)(uintptr_t)lsp_cuda_get_chip(ctx); }

static void each_width(lsp_ctx *ctx, request r, const size_t *widths, int count) {
    for (int w = 0; w < count; w++) {
        r.bytes[0] = widths[w];
        if (is_offered(&r) && has_one_answer(&r)) {
            run_case(ctx, &r);
        }
    }
}

/* Tiles of 640 doubles: their number exceeds a warp, and the last ones are not full. */
Test(device_gather_scatter, plans_of_many_small_tiles_give_the_references_bits) {
    static const size_t all[] = {1, 2, 4, 8, 16, 12, 24, 64};
    static const int64_t sizes[][2] = {{50000, 50000}, {50000, 20001}, {3000, 40000}, {64 * 700 + 1, 64 * 700 - 1}};
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    chip_of(ctx)->shared_block_bytes = 6 << 10;
    chip_of(ctx)->shared_sm_bytes = 12 << 10;
    for (int s = 0; s < 4; s++) {
        for (int kind = 0; kind < 3; kind++) { /* sums need the sort, which no chip is too small for */
            const request r = {.planned = true,
                               .scatter = kind > 0,
                               .rule = (lsp_scatter_rule)(kind > 0 ? kind - 1 : 0),
                               .strategy = LSP_STRATEGY_STAGE,
                               .index_type = s % 2 ? LSP_I64 : LSP_I32,
                               .pattern = kind == 1 ? PERMUTATION
                                          : s % 2   ? RANDOM
                                                    : ZIPF,
                               .n = kind == 1 ? lsp_min(sizes[s][0], sizes[s][1]) : sizes[s][0],
                               .extent = sizes[s][1],
                               .seed = (uint64_t)s};
            each_width(ctx, r, all, kind == 0 ? 8 : 5);
        }
    }
    lsp_ctx_destroy(ctx);
}

/* Bins of 320 doubles: up to 256 of them make one level, more make two. */
Test(device_gather_scatter, one_and_two_levels_of_bins_give_the_references_bits) {
    static const size_t words[] = {4, 8, 16};
    static const int64_t extents[] = {319, 320, 321, 4096, 320 * 256, 320 * 256 + 1, 147456 + 700};
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    chip_of(ctx)->shared_sm_bytes = 8 << 10;
    for (size_t s = 0; s < sizeof extents / sizeof *extents; s++) {
        for (int p = 0; p < 3; p++) {
            const request r = {.scatter = true,
                               .rule = p == 0 ? LSP_SCATTER_DISTINCT : LSP_SCATTER_LAST,
                               .strategy = LSP_STRATEGY_STAGE,
                               .index_type = p == 1 ? LSP_I64 : LSP_I32,
                               .pattern = p == 0   ? PERMUTATION
                                          : p == 1 ? RANDOM
                                                   : ZIPF,
                               .n = p == 0 ? extents[s] - extents[s] / 100 : extents[s] / 2,
                               .extent = extents[s],
                               .seed = (uint64_t)s};
            each_width(ctx, r, words, 3);
        }
    }
    lsp_ctx_destroy(ctx);
}

/* A chip without room for tiles or chunks: every strategy still gives the answer. */
Test(device_gather_scatter, a_chip_with_no_shared_memory_to_spare_gives_the_references_bits) {
    static const size_t all[] = {1, 2, 4, 8, 16};
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    chip_of(ctx)->shared_block_bytes = 1100;
    chip_of(ctx)->shared_sm_bytes = 2200;
    chip_of(ctx)->l2_bytes = 3000; /* blocks of a partition: 1000 bytes */
    for (int strategy = 0; strategy < LSP_STRATEGIES; strategy++) {
        for (int planned = 0; planned < 2; planned++) {
            each_width(ctx,
                       (request){.scatter = true,
                                 .planned = planned,
                                 .strategy = (lsp_strategy)strategy,
                                 .passes = 3,
                                 .index_type = LSP_I32,
                                 .pattern = PERMUTATION,
                                 .n = 5000,
                                 .extent = 7000},
                       all, 5);
            each_width(ctx,
                       (request){.planned = planned,
                                 .strategy = (lsp_strategy)strategy,
                                 .passes = 3,
                                 .index_type = LSP_I32,
                                 .pattern = RANDOM,
                                 .n = 5000,
                                 .extent = 7000},
                       all, 5);
        }
    }
    lsp_ctx_destroy(ctx);
}

/* ---- the sample ---- */

/* Runs a scatter for which the model would take the strategy if neighbouring accesses touch `lines` lines an
 * access and more. */
static void run_sampled(lsp_ctx *ctx, lsp_strategy strategy, lsp_scatter_rule rule, pattern p, double lines) {
    const request r = {.scatter = true,
                       .rule = rule,
                       .index_type = p == REVERSED ? LSP_I64 : LSP_I32,
                       .pattern = p,
                       .n = 70000,
                       .extent = 70000,
                       .columns = 2,
                       .bytes = {8, 4}};
    arrays right = make_arrays(&r), ours = copy_arrays(ctx, &right, &r, LSP_CUDA);
    const lsp_gather_args args = arguments(&r, &ours);
    lsp_gather_job job;
    do_reference(ctx, &r, &right);
    must(ctx, lsp_gather_check(ctx, &args, true, false, &job));
    job.choice = (lsp_gather_info){.strategy = strategy, .passes = 3};
    job.switch_lines = lines;
    must(ctx, lsp_gather_cuda.run(ctx, &job));
    must(ctx, lsp_ctx_sync(ctx));
    must_equal(ctx, &r, &right, &ours);
    free_arrays(ctx, &right, &r);
    free_arrays(ctx, &ours, &r);
}

Test(device_gather_scatter, whatever_the_sample_says_the_result_is_right) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int p = SEQUENTIAL; p <= PERMUTATION; p++) {
        for (double lines = 0.01; lines < 2; lines *= 5) { /* never direct .. always */
            run_sampled(ctx, LSP_STRATEGY_STAGE, LSP_SCATTER_DISTINCT, (pattern)p, lines);
            run_sampled(ctx, LSP_STRATEGY_STAGE, LSP_SCATTER_LAST, (pattern)p, lines);
            run_sampled(ctx, LSP_STRATEGY_RESCAN, LSP_SCATTER_DISTINCT, (pattern)p, lines);
        }
    }
    lsp_ctx_destroy(ctx);
}

/* ---- indices outside ---- */

/* One index of a call without a check is outside: the others are followed, and the next lsp_ctx_sync names it. */
static void run_outside(lsp_ctx *ctx, request r, int64_t position, int64_t outside) {
    arrays right = make_arrays(&r);
    lsp_index_set(right.index, r.index_type, position, outside);
    arrays ours = copy_arrays(ctx, &right, &r, LSP_CUDA);
    cr_assert_eq(do_reference(ctx, &r, &right), position);
    const lsp_gather_args args = arguments(&r, &ours);
    char want[64];
    snprintf(want, sizeof want, "position %lld ", (long long)position);
    must(ctx, move_so(ctx, &r, &args));
    const lsp_status status = lsp_ctx_sync(ctx);
    cr_assert(status == LSP_ERR_ARGUMENT && strstr(lsp_last_error(ctx), want), "%s: %s: %s", describe(&r).text,
              lsp_status_name(status), lsp_last_error(ctx));
    must(ctx, lsp_ctx_sync(ctx));
    must_equal(ctx, &r, &right, &ours);
    free_arrays(ctx, &right, &r);
    free_arrays(ctx, &ours, &r);
}

Test(device_gather_scatter, an_index_outside_is_left_out_and_named_by_its_position) {
    static const int64_t outside[] = {-1, 6000, INT32_MAX, INT32_MIN};
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    for (int strategy = 0; strategy < LSP_STRATEGIES; strategy++) {
        for (int kind = 0; kind < 4; kind++) {
            for (int o = 0; o < 4; o++) {
                request r = {.scatter = kind > 0,
                             .rule = (lsp_scatter_rule)(kind > 0 ? kind - 1 : 0),
                             .strategy = (lsp_strategy)strategy,
                             .passes = 3,
                             .index_type = o % 2 ? LSP_I64 : LSP_I32,
                             .pattern = PERMUTATION,
                             .n = 6000,
                             .extent = 6000,
                             .bytes = {8},
                             .type = {o < 2 ? LSP_F64 : LSP_I64}};
                if (is_offered(&r)) {
                    run_outside(ctx, r, 1 + 1999 * o, outside[o]);
                }
            }
        }
    }
    lsp_ctx_destroy(ctx);
}
