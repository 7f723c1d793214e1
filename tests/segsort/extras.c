/* The segmented sort on both devices: equal zeros, groups of equal keys, first items. */
#include "cases.h"

Test(segsort_extras, the_reference_keeps_the_order_of_equal_zeros) {
    lsp_ctx *ctx = test_ctx(1);
    const float keys[] = {0.0f, -0.0f, -1, NAN, 0.0f, 2, -0.0f};
    const uint32_t up[] = {2, 0, 1, 4, 6, 5, 3}, down[] = {5, 0, 1, 4, 6, 2, 3};
    float sorted[7];
    uint32_t places[7];
    unsigned char change[7], marks[] = {1, 1, 0, 0, 0, 1, 1};
    lsp_segsort_args args = {.n = 7,
                             .segments = 1,
                             .length = 7,
                             .key_type = LSP_F32,
                             .value_bytes = 4,
                             .flags = LSP_SORT_POSITIONS | LSP_SORT_EQUAL_ZEROS,
                             .keys = keys,
                             .keys_out = sorted,
                             .values_out = places,
                             .change = change};
    must(ctx, lsp_segsort_ref(ctx, &args));
    cr_assert(memcmp(places, up, sizeof up) == 0 && memcmp(change, marks, sizeof marks) == 0);
    for (int i = 0; i < 7; i++) {
        cr_assert(memcmp(&sorted[i], &keys[up[i]], sizeof(float)) == 0, "the bits of key %d are lost", i);
    }
    args.flags |= LSP_SORT_DESCENDING;
    must(ctx, lsp_segsort_ref(ctx, &args));
    cr_assert(memcmp(places, down, sizeof down) == 0);
    must(ctx, lsp_segsort(ctx, &args, NULL));
    cr_assert(memcmp(places, down, sizeof down) == 0);
    lsp_ctx_destroy(ctx);
}

Test(segsort_extras, the_reference_lists_groups_of_all_segments) {
    lsp_ctx *ctx = test_ctx(1);
    const int32_t offsets[] = {0, 3, 3, 5, 6}, starts[] = {0, 2, 3, 5, 6, -1, -1};
    uint32_t keys[] = {7, 4, 4, 7, 7, 7};
    int32_t group_at[] = {-1, -1, -1, -1, -1, -1, -1};
    int64_t groups = -1;
    lsp_segsort_args args = {.n = 6,
                             .segments = 4,
                             .offsets = offsets,
                             .offset_type = LSP_I32,
                             .key_type = LSP_U32,
                             .keys = keys,
                             .keys_out = keys,
                             .group_at = group_at,
                             .group_count = &groups};
    must(ctx, lsp_segsort_ref(ctx, &args));
    cr_assert(groups == 4 && memcmp(group_at, starts, sizeof starts) == 0);
    memset(group_at, -1, sizeof group_at);
    must(ctx, lsp_segsort(ctx, &args, NULL));
    cr_assert(groups == 4 && memcmp(group_at, starts, sizeof starts) == 0);
    lsp_ctx_destroy(ctx);
}

/* Special keys: every fourth is a zero of either sign. */
TEST_ON_BOTH(segsort_extras, equal_zeros_agree_in_segments_of_every_length) {
    static const int64_t lengths[] = {3,   4,    7,    16,   30,    50,    64,    100, 130,  200,    256, 300,
                                      700, 1500, 5000, 9000, 14000, 20000, 70000, 1,   2000, 300000, 40,  90};
    layout where = layout_of("equal zeros", lengths, 24);
    uint64_t state = 61;
    for (int number = 0; number < 48; number += one_in == 1 ? 1 : 5) {
        request what = any_request(&state);
        what.key_type = number % 2 ? LSP_F64 : LSP_F32;
        what.value_bytes = number % 3 ? what.value_bytes : 0;
        what.flags = (unsigned)(number / 2 % 2) | LSP_SORT_EQUAL_ZEROS;
        what.fill = number % 5 ? FILL_SPECIAL : FILL_RANDOM;
        check_case(ctx, &where, what);
    }
    layout_free(&where);
}

TEST_ON_BOTH(segsort_extras, groups_of_segments_without_gaps_agree) {
    uint64_t state = 62;
    for (int number = 0; number < 60; number += one_in == 1 ? 1 : 4) {
        enum { SEGMENTS = 600 }; /* a multiple of 12: layout_of leaves no free items */
        int64_t lengths[SEGMENTS];
        for (int s = 0; s < SEGMENTS; s++) {
            lengths[s] = test_below(&state, (int64_t)1 << test_below(&state, 9));
        }
        lengths[test_below(&state, SEGMENTS)] = number % 4 == 0 ? 300000 : 2000;
        layout where = number % 3 == 2 ? layout_of_length("groups", 20000 + number, 1 + test_below(&state, 5000))
                                       : layout_of("groups", lengths, SEGMENTS);
        request what = any_request(&state);
        what.groups = true;
        check_case(ctx, &where, what);
        layout_free(&where);
    }
    layout none[] = {layout_of("no segment", &(int64_t){0}, 0), layout_of_length("no item", 0, 1),
                     layout_of("empty segments", (int64_t[12]){0}, 12)};
    for (int i = 0; i < 6; i++) {
        request what = {.key_type = LSP_U32, .groups = true, .planned = i % 2};
        check_case(ctx, &none[i / 2], what);
    }
    layout_free(&none[0]), layout_free(&none[2]);
}

TEST_ON_BOTH(segsort_extras, first_items_agree) {
    static const int64_t firsts[] = {1, 2, 10, 31, 32, 33, 100, 700, 20000, INT64_MAX};
    uint64_t state = 63;
    for (int number = 0; number < 90; number += one_in == 1 ? 1 : 7) {
        int64_t lengths[40];
        for (int s = 0; s < 40; s++) {
            lengths[s] = test_below(&state, (int64_t)1 << test_below(&state, 14));
        }
        lengths[3] = 511 + number % 4, lengths[5] = 16 * firsts[number % 9] + number % 3 - 1;
        lengths[7] = number % 3 ? 20000 : 300000, lengths[9] = 0;
        layout where = number % 4 == 3 ? layout_of_length("first", 40000 + number, 3000)
                       : number % 2    ? layout_of_pairs("first", lengths, 40, (uint64_t)number)
                                       : layout_of("first", lengths, 40);
        request what = any_request(&state);
        what.changes = false, what.first = firsts[number % 10];
        check_case(ctx, &where, what);
        layout_free(&where);
    }
}

/* Of many first items, out of place, the GPU leaves buckets behind them as they are; some giants are split more than
 * once. */
TEST_ON_BOTH(segsort_extras, first_items_of_giants_agree_whatever_the_keys) {
    static const int64_t firsts[] = {1, 900, 5000, 30000};
    const int64_t lengths[] = {40000, 3, 17000, 0, 70000, 9000};
    layout where = layout_of("first of giants", lengths, 6);
    uint64_t state = 65;
    for (int number = 0; number < 4 * FILL_KINDS; number += one_in == 1 ? 1 : 7) {
        request what = any_request(&state);
        what.fill = (key_fill)(number % FILL_KINDS), what.changes = false;
        what.in_place = number % 9 == 8, what.first = firsts[number / FILL_KINDS];
        check_case(ctx, &where, what);
    }
    layout_free(&where);
}

/* A GPU selects from these segments by a bound from a sample, below which too few items lie. */
TEST_ON_BOTH(segsort_extras, first_items_agree_where_a_sample_hides_them) {
    uint64_t state = 66;
    for (int number = 0; number < 60; number += one_in == 1 ? 1 : 3) {
        const int64_t first = 16 + number % 16;
        layout where = layout_of_length("hidden", 66000 + number, 4 * first + 1 + number % 3);
        request what = any_request(&state);
        what.fill = FILL_FOURTH_SMALL, what.changes = false, what.first = first;
        what.flags &= ~(unsigned)LSP_SORT_DESCENDING;
        check_case(ctx, &where, what);
        layout_free(&where);
    }
}

/* One of many short segments is so long that more items than a list may have lie up to a GPU's first bound. */
TEST_ON_BOTH(segsort_extras, first_items_of_one_long_segment_agree) {
    int64_t lengths[200];
    uint64_t state = 67;
    for (int s = 0; s < 200; s++) {
        lengths[s] = s == 77 ? 600000 : test_below(&state, 3000);
    }
    layout where = layout_of("one long", lengths, 200);
    for (int number = 0; number < 6; number += one_in == 1 ? 1 : 2) {
        request what = any_request(&state);
        what.fill = (key_fill)(number * 5 % FILL_KINDS), what.changes = false, what.first = 2048 - 700 * (number / 3);
        check_case(ctx, &where, what);
    }
    layout_free(&where);
}

/* Keys that come in the worst order: each is a candidate. Many threads, each with its share of a giant. */
Test(segsort_extras, first_items_agree_whatever_the_keys_and_the_threads) {
    const int64_t lengths[] = {400000, 5000, 1};
    layout where = layout_of("first of a giant", lengths, 3);
    uint64_t state = 64;
    for (int threads = 1; threads <= 5; threads += 2) {
        lsp_ctx *ctx = test_ctx(threads);
        for (int kind = 0; kind < FILL_KINDS; kind++) {
            request what = any_request(&state);
            what.fill = (key_fill)kind, what.changes = false,
            what.first = kind % 3 ? 1 + test_below(&state, 300) : 10000;
            check_case(ctx, &where, what);
        }
        lsp_ctx_destroy(ctx);
    }
    layout_free(&where);
}

Test(device_segsort_extras, groups_of_segments_that_leave_items_out_are_told_by_sync) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    const int64_t lengths[] = {5, 0, 900, 40, 7};
    layout where = layout_of("gaps", lengths, 5); /* one free item before the first, two behind the last */
    for (int narrow = 0; narrow < 2; narrow++) {
        request what = {.key_type = LSP_U32, .groups = true, .narrow = narrow};
        arrays input = make_arrays(&where, &what), ours = copy_arrays(ctx, &input, LSP_CUDA);
        lsp_segsort_args args = arguments(&where, &what, &ours);
        must(ctx, lsp_segsort(ctx, &args, NULL));
        must_fail(ctx, LSP_ERR_ARGUMENT, "segment ", lsp_ctx_sync(ctx));
        free_arrays(ctx, &input), free_arrays(ctx, &ours);
    }
    layout_free(&where);
    lsp_ctx_destroy(ctx);
}
