/* Every strategy of gather and scatter against the reference, and the reference against answers made by hand. */
#include "cases.h"

/* ---- the reference ---- */

/* Runs the reference with one column of int32. */
static int64_t reference(bool scatter, lsp_scatter_rule rule, int64_t n, const int64_t *index, int64_t extent,
                         const int32_t *from, int32_t *to) {
    const lsp_column column = {.from = from, .to = to, .bytes = 4, .type = LSP_I32};
    const lsp_gather_job job = {.args = {.n = n,
                                         .extent = extent,
                                         .index = index,
                                         .index_type = LSP_I64,
                                         .columns = &column,
                                         .column_count = 1,
                                         .rule = rule},
                                .scatter = scatter};
    int64_t bad;
    lsp_gather_ref(&job, &bad);
    return bad;
}

Test(gather_scatter, the_reference_gives_answers_made_by_hand) {
    const int64_t index[] = {2, 0, 2, 1}, outside[] = {2, -1, 3, INT64_MIN};
    const int32_t from[] = {10, 20, 30, 40};
    int32_t to[] = {7, 7, 7, 7};
    cr_assert_eq(reference(false, LSP_SCATTER_DISTINCT, 4, index, 4, from, to), -1);
    cr_assert(to[0] == 30 && to[1] == 10 && to[2] == 30 && to[3] == 20);
    int32_t last[] = {7, 7, 7, 7};
    cr_assert_eq(reference(true, LSP_SCATTER_LAST, 4, index, 4, from, last), -1);
    cr_assert(last[0] == 20 && last[1] == 40 && last[2] == 30 && last[3] == 7);
    int32_t sum[] = {7, 7, INT32_MAX, 7};
    cr_assert_eq(reference(true, LSP_SCATTER_ADD, 4, index, 4, from, sum), -1);
    cr_assert(sum[0] == 27 && sum[1] == 47 && sum[2] == INT32_MIN + 39 && sum[3] == 7);
    int32_t some[] = {7, 7, 7, 7};
    cr_assert_eq(reference(true, LSP_SCATTER_LAST, 4, outside, 3, from, some), 1);
    cr_assert(some[0] == 7 && some[1] == 7 && some[2] == 10 && some[3] == 7);
}

/* ---- everything against the reference ---- */

static const struct {
    int64_t n, extent;
} sizes[] = {{0, 1},  {1, 1},   {31, 31},   {32, 32},     {33, 33},     {33, 1000},    {1000, 33},
             {64, 7}, {1, 900}, {257, 255}, {1024, 1025}, {4097, 4096}, {3000, 100000}};

TEST_ON_BOTH(gather_scatter, every_strategy_gives_the_references_bits) {
    static const size_t widths[] = {1, 2, 4, 8, 16, 12, 64};
    static const lsp_type added[] = {LSP_F32, LSP_F64, LSP_I32, LSP_I64};
    int64_t number = 0;
    for (int strategy = 0; strategy < LSP_STRATEGIES; strategy++) {
        for (int kind = 0; kind < 8; kind++) { /* a gather and three rules, planned or not */
            for (int width = 0; width < 7; width++) {
                for (int p = 0; p < PATTERNS; p++) {
                    for (size_t s = 0; s < 2 * sizeof sizes / sizeof *sizes; s++) {
                        request r = {.planned = kind >= 4,
                                     .scatter = kind % 4 > 0,
                                     .rule = (lsp_scatter_rule)(kind % 4 > 0 ? kind % 4 - 1 : 0),
                                     .strategy = (lsp_strategy)strategy,
                                     .passes = width % 5,
                                     .index_type = s % 2 ? LSP_I64 : LSP_I32,
                                     .pattern = (pattern)p,
                                     .n = sizes[s / 2].n,
                                     .extent = sizes[s / 2].extent,
                                     .bytes = {widths[width]},
                                     .type = {added[width % 4]},
                                     .seed = (uint64_t)number};
                        if (r.rule == LSP_SCATTER_ADD) {
                            r.bytes[0] = lsp_type_bytes(r.type[0]);
                        }
                        const bool wide = r.scatter && width > (r.rule == LSP_SCATTER_ADD ? 3 : 4);
                        if (!wide && is_offered(&r) && has_one_answer(&r) && number++ % one_in == 0) {
                            run_case(ctx, &r);
                        }
                    }
                }
            }
        }
    }
}

TEST_ON_BOTH(gather_scatter, random_cases_give_the_references_bits) {
    uint64_t state = 26;
    for (int i = 0; i < lsp_max(600 / one_in, 20); i++) {
        const request r = draw_case(&state, i % 10 == 0 && one_in < 11 ? 300000 : 6000);
        run_case(ctx, &r);
    }
}

/* Around the limits of tiles and bins, which are powers of two or 24,576 elements, and of a block of 2048 items. */
TEST_ON_BOTH(gather_scatter, sizes_around_tiles_and_bins_give_the_references_bits) {
    static const int64_t limits[] = {2048, 8192, 12288, 16384, 24576, 32768, 65536, 131072};
    uint64_t state = 7;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        for (int64_t off = -1; off <= 1; off++) {
            for (int kind = 0; kind < lsp_max(24 / one_in, 1); kind++) {
                request r = draw_case(&state, 100);
                r.extent = limits[i] + off;
                r.n = r.scatter && r.rule == LSP_SCATTER_DISTINCT ? r.extent : limits[i] + off * (kind % 3 - 1);
                r.n = pattern_is_distinct(r.pattern, 2, 2) ? lsp_min(r.n, r.extent) : r.n;
                if (has_one_answer(&r)) {
                    run_case(ctx, &r);
                }
            }
        }
    }
}

/* A scatter with the rule that knows no order, of indices that are not distinct: each destination gets an element of
 * one of its positions, whole. */
TEST_ON_BOTH(gather_scatter, equal_indices_that_should_be_distinct_write_either_element) {
    enum { N = 20000, EXTENT = 3000 };
    for (int strategy = 0; strategy < LSP_STRATEGIES; strategy++) {
        for (int planned = 0; planned < 2; planned++) {
            for (int size = 0; size < 2; size++) {
                request r = {.scatter = true,
                             .planned = planned,
                             .strategy = (lsp_strategy)strategy,
                             .index_type = LSP_I32,
                             .pattern = strategy % 2 ? RANDOM : ZIPF,
                             .n = N,
                             .extent = EXTENT,
                             .bytes = {size ? 16 : 8}};
                if (!is_offered(&r)) {
                    continue;
                }
                arrays right = make_arrays(&r);
                const int64_t words = size ? 2 : 1;
                int64_t *from = (int64_t *)(uintptr_t)right.columns[0].from, *to = right.columns[0].to;
                for (int64_t i = 0; i < N * words; i++) {
                    from[i] = i / words; /* every word of an element names its position */
                }
                for (int64_t i = 0; i < EXTENT * words; i++) {
                    to[i] = -1;
                }
                arrays ours = copy_arrays(ctx, &right, &r, ctx->options.device);
                const lsp_gather_args args = arguments(&r, &ours);
                must(ctx, move_so(ctx, &r, &args));
                must(ctx, lsp_ctx_sync(ctx));
                do_reference(ctx, &r, &right);
                int64_t *back = copy_to(ctx, LSP_HOST, ours.columns[0].to, ours.where, EXTENT * words * 8);
                for (int64_t d = 0; d < EXTENT; d++) {
                    const int64_t position = back[d * words];
                    cr_assert(position == back[d * words + words - 1], "%s: element %lld is torn", describe(&r).text,
                              (long long)d);
                    cr_assert(position < 0 ? to[d * words] < 0 : ((int32_t *)right.index)[position] == d,
                              "%s: element %lld", describe(&r).text, (long long)d);
                }
                free(back);
                free_arrays(ctx, &right, &r);
                free_arrays(ctx, &ours, &r);
            }
        }
    }
}
