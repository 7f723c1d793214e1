/* The segmented sort on both devices: forms of segments, bits that decide, positions, changes. */
#include "cases.h"

/* Lengths of every class and empty segments; short ones are more likely. */
static layout mixed(bool pairs, uint64_t seed) {
    enum { SEGMENTS = 400 };
    int64_t lengths[SEGMENTS];
    for (int s = 0; s < SEGMENTS; s++) {
        lengths[s] = test_below(&seed, 8) == 0 ? 0 : test_below(&seed, (int64_t)1 << test_below(&seed, 12));
    }
    lengths[test_below(&seed, SEGMENTS)] = 20000;
    return pairs ? layout_of_pairs("pairs", lengths, SEGMENTS, seed) : layout_of("mixed", lengths, SEGMENTS);
}

TEST_ON_BOTH(segsort_forms, segments_by_begin_and_end_in_any_order_leave_gaps_alone) {
    uint64_t state = 21;
    for (int round = 0; round < 60; round += one_in) {
        layout where = mixed(true, test_random(&state));
        check_case(ctx, &where, any_request(&state));
        layout_free(&where);
    }
    const int64_t lengths[] = {70000, 3, 0, 30000, 0, 1};
    layout where = layout_of_pairs("long pairs", lengths, 6, 5);
    for (int round = 0; round < 8; round += one_in) {
        check_case(ctx, &where, any_request(&state));
    }
    layout_free(&where);
}

TEST_ON_BOTH(segsort_forms, segments_of_fixed_length_agree_with_a_short_last_one) {
    const int64_t lengths[] = {1, 2, 3, 31, 64, 100, 500, 1000, 3000, 9000, 40000, 100000};
    uint64_t state = 22;
    int number = 0;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (int rest = 0; rest < 3; rest++) {
            int64_t whole = lsp_max(8000 / lengths[i], 1) * lengths[i];
            layout where = layout_of_length("fixed length", whole + (rest == 2 ? lengths[i] - 1 : rest), lengths[i]);
            request what = any_request(&state);
            if (number++ % one_in == 0) {
                check_case(ctx, &where, what);
            }
            layout_free(&where);
        }
    }
    layout longer = layout_of_length("a length beyond n", 700, INT64_MAX);
    check_case(ctx, &longer, any_request(&state));
}

TEST_ON_BOTH(segsort_forms, nothing_to_sort_is_sorted) {
    const int64_t empty[5000] = {0}, one = 1;
    uint64_t state = 23;
    layout cases[] = {layout_of("no segment", empty, 0),
                      layout_of("no item", empty, 5),
                      layout_of("5000 empty segments", empty, 5000),
                      layout_of_pairs("5000 empty pairs", empty, 5000, 1),
                      layout_of_pairs("no pair", empty, 0, 1),
                      layout_of("one item", &one, 1),
                      layout_of_length("no item of no length", 0, 1)};
    memset(cases[1].offsets, 0, 6 * sizeof(int64_t));
    cases[1].n = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int round = 0; round < 6; round++) {
            request what = any_request(&state);
            what.changes = round % 2;
            what.planned = round % 3 == 0;
            check_case(ctx, &cases[i], what);
        }
        layout_free(&cases[i]);
    }
}

TEST_ON_BOTH(segsort_forms, a_true_max_length_changes_nothing) {
    const int64_t most[] = {1, 8, 33, 64, 65, 300, 1024, 5000, 8192, 8193, 16384, 50000};
    uint64_t state = 24;
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        int64_t lengths[40];
        for (int s = 0; s < 40; s++) {
            lengths[s] = s % 9 == 4 ? most[i] : test_below(&state, lsp_min(most[i], 3000) + 1);
        }
        layout where = layout_of("max_length", lengths, 40);
        for (int said = 0; said < 3; said++) {
            request what = any_request(&state);
            what.max_length = said == 0 ? most[i] : said == 1 ? most[i] + 7 : INT64_MAX;
            if (one_in == 1 || said == 0) {
                check_case(ctx, &where, what);
            }
        }
        layout_free(&where);
    }
}

TEST_ON_BOTH(segsort_forms, only_the_bits_asked_for_decide) {
    static const int ranges[][2] = {{0, 1},  {0, 8},  {5, 17},  {24, 32}, {31, 32}, {0, 32},  {30, 31}, {1, 32},
                                    {0, 64}, {0, 40}, {20, 50}, {32, 64}, {63, 64}, {62, 63}, {1, 64}};
    static const lsp_type integers[] = {LSP_I32, LSP_U32, LSP_I64, LSP_U64};
    layout where = mixed(false, 25);
    uint64_t state = 25;
    int number = 0;
    for (int type = 0; type < 4; type++) {
        for (size_t range = 0; range < sizeof ranges / sizeof *ranges; range++) {
            for (unsigned flags = 0; flags < 2; flags++) {
                request what = any_request(&state);
                what.key_type = integers[type];
                what.flags = (what.flags & ~1u) | flags;
                what.begin_bit = ranges[range][0], what.end_bit = ranges[range][1];
                what.changes = number % 3 == 0;
                if (what.end_bit <= 8 * (int)lsp_type_bytes(what.key_type) && number++ % one_in == 0) {
                    check_case(ctx, &where, what);
                }
            }
        }
    }
    layout_free(&where);
}

TEST_ON_BOTH(segsort_forms, positions_of_both_kinds_say_where_items_came_from) {
    uint64_t state = 26;
    int number = 0;
    for (int form = 0; form < 3; form++) {
        layout where = form == 2 ? layout_of_length("fixed length", 30011, 300) : mixed(form == 1, 26);
        for (int key = 0; key < KEY_TYPES; key++) {
            for (unsigned flags = 2; flags < 6; flags++) {
                for (size_t bytes = 4; bytes <= 8; bytes += 4) {
                    request what = any_request(&state);
                    what.key_type = key_types[key];
                    what.value_bytes = bytes;
                    what.flags = flags;
                    if (number++ % one_in == 0) {
                        check_case(ctx, &where, what);
                    }
                }
            }
        }
        layout_free(&where);
    }
}

TEST_ON_BOTH(segsort_forms, changes_are_marked_listed_and_counted) {
    uint64_t state = 27;
    int number = 0;
    for (int form = 0; form < 3; form++) {
        layout where = form == 2 ? layout_of_length("fixed length", 30011, 2000) : mixed(form == 1, 27);
        for (int key = 0; key < KEY_TYPES; key++) {
            for (int kind = 0; kind < FILL_KINDS; kind++) {
                request what = any_request(&state);
                what.key_type = key_types[key];
                what.fill = (key_fill)kind;
                what.changes = true;
                if (number++ % one_in == 0) {
                    check_case(ctx, &where, what);
                }
            }
        }
        layout_free(&where);
    }
    const int64_t giant = 300000;
    layout where = layout_of("giant", &giant, 1);
    for (int kind = 0; kind < FILL_KINDS; kind += one_in == 1 ? 3 : 12) {
        request what = any_request(&state);
        what.fill = (key_fill)kind;
        what.changes = true;
        check_case(ctx, &where, what);
    }
    layout_free(&where);
}

/* A giant in order is copied. Threads look at shares of it, so the only two items in disorder lie around each border
 * that shares may have. */
Test(segsort_forms, two_items_out_of_order_between_the_shares_of_threads_are_found) {
    enum { N = 300007 };
    uint32_t *const keys = malloc(N * sizeof *keys), *const out = malloc(N * sizeof *out);
    int32_t *const places = malloc(N * sizeof *places);
    for (int threads = 2; threads <= 5; threads++) {
        lsp_ctx *ctx = test_ctx(threads);
        for (int share = 0; share < threads; share++) { /* the last: all are in order */
            int64_t begin, end;
            lsp_share(N, share, threads, &begin, &end);
            for (int64_t i = 0; i < N; i++) {
                keys[i] = (uint32_t)i;
            }
            if (end < N) {
                keys[end - 1] = (uint32_t)end, keys[end] = (uint32_t)end - 1;
            }
            const lsp_segsort_args args = {.n = N,
                                           .segments = 1,
                                           .length = N,
                                           .key_type = LSP_U32,
                                           .keys = keys,
                                           .keys_out = out,
                                           .values_out = places,
                                           .value_bytes = sizeof *places,
                                           .flags = LSP_SORT_POSITIONS,
                                           .where = LSP_HOST};
            must(ctx, lsp_segsort(ctx, &args, NULL));
            for (int64_t i = 0; i < N; i++) {
                cr_assert(out[i] == (uint32_t)i && keys[places[i]] == out[i],
                          "%d threads, share %d: item %lld is %u of %d", threads, share, (long long)i, out[i],
                          places[i]);
            }
        }
        lsp_ctx_destroy(ctx);
    }
    free(keys), free(out), free(places);
}

/* The sort must not write outputs that are NULL. */
TEST_ON_BOTH(segsort_forms, each_kind_of_change_can_be_asked_for_alone) {
    layout where = mixed(false, 28);
    request what = {.key_type = LSP_U32, .value_bytes = 4, .fill = FILL_16_DISTINCT, .changes = true, .seed = 28};
    for (unsigned wanted = 0; wanted < 8; wanted++) {
        arrays input = make_arrays(&where, &what), right = copy_arrays(ctx, &input, LSP_HOST);
        arrays ours = copy_arrays(ctx, &input, ctx->options.device);
        for (int side = 0; side < 2; side++) {
            lsp_segsort_args args = arguments(&where, &what, side ? &ours : &right);
            args.change = wanted & 1 ? args.change : NULL;
            args.change_at = wanted & 2 ? args.change_at : NULL;
            args.change_count = wanted & 4 ? args.change_count : NULL;
            must(ctx, side ? lsp_segsort(ctx, &args, NULL) : lsp_segsort_ref(ctx, &args));
        }
        must(ctx, lsp_ctx_sync(ctx));
        arrays back = copy_arrays(ctx, &ours, LSP_HOST);
        must_equal(ctx, &where, &what, &right, &back);
        free_arrays(ctx, &input), free_arrays(ctx, &right), free_arrays(ctx, &ours), free_arrays(ctx, &back);
    }
    layout_free(&where);
}
