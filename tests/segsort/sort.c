/* The segmented sort on both devices against the reference: types, keys, lengths. The reference itself against results
 * worked out by hand. */
#include "cases.h"

/* Lengths at which another method may take over; the last two only on a GPU. */
static const int64_t limits[] = {1,    2,    4,    8,    16,   24,   32,   40,   48,   56,   64,   80,    96,
                                 112,  128,  160,  192,  224,  256,  320,  384,  448,  512,  640,  768,   896,
                                 1024, 1280, 1536, 1792, 2048, 2560, 3072, 3584, 4096, 6144, 8192, 12288, 16384};
static const int64_t long_limits[] = {12288, 16384, 24576, 65536};
enum {
    LIMITS = sizeof limits / sizeof *limits,
    CPU_LIMITS = LIMITS - 2,
    LONG_LIMITS = sizeof long_limits / sizeof *long_limits
};

static int limits_of(const lsp_ctx *ctx) { return ctx->options.device == LSP_CUDA ? LIMITS : CPU_LIMITS; }

/* Every limit and its neighbours, short ones several times, in random order. */
static layout layout_of_limits(const lsp_ctx *ctx, uint64_t seed) {
    enum { SHORT = 128, TIMES = 5 };
    int64_t lengths[LIMITS * 3 * TIMES], count = 0;
    for (int i = 0; i < limits_of(ctx); i++) {
        for (int64_t n = limits[i] - 1; n <= limits[i] + 1; n++) {
            for (int times = limits[i] <= SHORT ? TIMES : 1; times > 0; times--) {
                lengths[count++] = n;
            }
        }
    }
    shuffle(lengths, count, &seed);
    return layout_of("all limits", lengths, count);
}

static layout layout_of_random(const char *name, int64_t segments, int64_t most, uint64_t seed) {
    int64_t *lengths = malloc((size_t)segments * sizeof *lengths);
    for (int64_t s = 0; s < segments; s++) {
        lengths[s] = test_below(&seed, most + 1);
    }
    layout made = layout_of(name, lengths, segments);
    free(lengths);
    return made;
}

/* Combines every key type, value size, direction and fill; runs one of every `one_of` combinations. */
static void check_types(lsp_ctx *ctx, const layout *where, int one_of) {
    int number = 0;
    for (int key = 0; key < KEY_TYPES; key++) {
        for (int value = 0; value < VALUE_SIZES; value++) {
            for (unsigned flags = 0; flags < 2; flags++) {
                for (int kind = 0; kind < FILL_KINDS; kind++) {
                    if (number++ % one_of == 0) {
                        check_case(ctx, where,
                                   (request){.key_type = key_types[key],
                                             .value_bytes = value_sizes[value],
                                             .flags = flags,
                                             .fill = (key_fill)kind,
                                             .in_place = (number + kind) % 2,
                                             .planned = number % 3 == 0,
                                             .narrow = number % 5 < 2,
                                             .seed = (uint64_t)number});
                    }
                }
            }
        }
    }
}

TEST_ON_BOTH(segsort, all_types_and_keys_agree_with_the_reference_in_short_segments) {
    layout where = layout_of_random("up to 70", 150, 70, 3);
    check_types(ctx, &where, one_in);
    layout_free(&where);
    where = layout_of_random("up to 700", 30, 700, 4);
    check_types(ctx, &where, one_in);
    layout_free(&where);
}

TEST_ON_BOTH(segsort, all_types_and_keys_agree_in_segments_of_all_classes_at_once) {
    layout where = layout_of_limits(ctx, 7);
    check_types(ctx, &where, one_in);
    layout_free(&where);
}

TEST_ON_BOTH(segsort, arrays_of_one_length_agree_around_every_limit) {
    uint64_t state = 5;
    int number = 0;
    for (int i = 0; i < limits_of(ctx); i++) {
        for (int64_t length = limits[i] - 1; length <= limits[i] + 1; length++) {
            for (int repeat = 0; repeat < 4; repeat++) {
                request what = any_request(&state);
                int64_t n = lsp_max(20000, 3 * length) + length / 2;
                if (length == 0 || number++ % one_in != 0) {
                    continue;
                }
                layout where = layout_of_length("one length", n, length);
                what.max_length = repeat == 1 ? length : 0;
                check_case(ctx, &where, what);
                layout_free(&where);
            }
        }
    }
}

TEST_ON_BOTH(segsort, every_single_length_up_to_300_agrees) {
    uint64_t state = 8;
    for (int64_t n = 0; n <= 300; n += one_in) {
        layout where = layout_of("single", &n, 1);
        check_case(ctx, &where, any_request(&state));
        layout_free(&where);
    }
}

/* With few items the blocks of a GPU share them evenly: a segment lies in one block, across a border, or over many
 * blocks. */
TEST_ON_BOTH(segsort, few_items_agree_wherever_segments_begin_and_end) {
    static const int64_t sizes[] = {33, 700, 1537, 3000, 4097, 8193, 12200, 16385, 32769, 65500};
    uint64_t state = 27;
    for (int i = 0; i < (one_in == 1 ? 10 : 7); i++) {
        for (int shape = 0; shape < 8; shape++) {
            int64_t lengths[2000], count = 0;
            for (int64_t left = sizes[i]; left > 0 && count < 2000; left -= lengths[count++]) {
                const int64_t most = shape == 0 ? left : shape < 3 ? 1 + sizes[i] / 3 : shape < 5 ? 700 : 40;
                lengths[count] = shape == 0 ? left : lsp_min(left, test_below(&state, most + 1));
            }
            layout where = shape % 2 == 0 ? layout_of("few items", lengths, count)
                                          : layout_of_pairs("few items", lengths, count, (uint64_t)i);
            request what = any_request(&state);
            what.planned = false;
            what.seed -= (what.seed + (uint64_t)where.n / 3) % 4; /* such a seed selects the shipped table */
            check_case(ctx, &where, what);
            layout_free(&where);
        }
    }
}

/* On a GPU, few items in many short segments take one kernel more than few items in long segments. One block lists up
 * to 2048 segments. */
TEST_ON_BOTH(segsort, many_short_segments_of_few_items_agree) {
    static const int64_t most[] = {70, 128, 129, 270, 470}; /* a plan knows whether any is above 128 */
    uint64_t state = 28;
    for (int k = 0; k < 10; k++) {
        layout where = layout_of_random("many short", 2048 + k % 2, most[k / 2], state);
        request what = any_request(&state);
        what.planned = what.planned || most[k / 2] < 200;
        what.seed -= (what.seed + (uint64_t)where.n / 3) % 4; /* such a seed selects the shipped table */
        check_case(ctx, &where, what);
        layout_free(&where);
    }
}

/* On a CPU neighbouring segments of one item are copied together. */
TEST_ON_BOTH(segsort, segments_of_one_item_between_others_agree) {
    enum { SEGMENTS = 700 };
    uint64_t state = 31;
    for (int k = 0; k < 12; k++) { /* one in 5 + 8 (k / 2) has zero to three items */
        int64_t lengths[SEGMENTS];
        for (int s = 0; s < SEGMENTS; s++) {
            const bool other = test_below(&state, 5 + 8 * (k / 2)) == 0;
            lengths[s] = other ? (test_below(&state, 4) + 2) % 4 : 1;
        }
        layout where = layout_of("mostly one", lengths, SEGMENTS - k);
        request what = any_request(&state);
        check_case(ctx, &where, what);
        layout_free(&where);
    }
}

TEST_ON_BOTH(segsort, long_segments_agree_around_every_limit) {
    int64_t lengths[3 * LONG_LIMITS], count = 0;
    for (int i = 0; i < LONG_LIMITS; i++) {
        for (int64_t n = long_limits[i] - 1; n <= long_limits[i] + 1; n++) {
            lengths[count++] = n;
        }
    }
    layout where = layout_of("long limits", lengths, count);
    check_types(ctx, &where, one_in == 1 ? 7 : 61);
    layout_free(&where);
}

/* Runs of about half as many equal keys as a lane sorts words: they fill a bucket of the bucket pass just so, or
 * overflow it. */
TEST_ON_BOTH(segsort, runs_of_equal_keys_that_just_fit_a_bucket_agree) {
    uint64_t state = 25;
    for (int p = 0; p < 5; p++) {
        for (int run = p % 2; run < 10; run += 2) {
            int64_t lengths[13], count = 0, sum = 0;
            for (int words = 20; words <= 32; words += 4) {
                for (int64_t n = words * (32 << p) - 1; n <= words * (32 << p) + 1; n++) {
                    sum += lengths[count++] = n;
                }
            }
            lengths[count++] = (run + 10 - sum % 10) % 10; /* the number of items chooses the length of runs */
            layout where = layout_of("even runs", lengths, count);
            request what = any_request(&state);
            what.fill = FILL_EVEN_RUNS;
            what.begin_bit = what.end_bit = 0;
            check_case(ctx, &where, what);
            layout_free(&where);
        }
    }
}

/* Runs begin at any word of a lane and, where lanes have few words, extend beyond the next lane. */
TEST_ON_BOTH(segsort, runs_of_equal_leading_bits_over_several_lanes_agree) {
    int64_t lengths[170];
    uint64_t state = 26;
    for (int i = 0; i < 170; i++) {
        lengths[i] = i % 2 == 0 ? 65 + i / 2 % 17 : 33 + i / 2 % 60;
    }
    layout where = layout_of("several lanes", lengths, 170);
    for (int times = 0; times < 8; times++) {
        request what = any_request(&state);
        what.fill = FILL_LONG_TIES;
        what.begin_bit = what.end_bit = 0;
        check_case(ctx, &where, what);
    }
    layout_free(&where);
}

TEST_ON_BOTH(segsort, one_segment_agrees_with_keys_of_every_kind) {
    const int64_t lengths[] = {5000, 20000, 70001, 600000};
    uint64_t state = 11;
    int number = 0;
    for (int i = 0; i < 4; i++) {
        layout where = layout_of("alone", &lengths[i], 1);
        for (int kind = 0; kind < FILL_KINDS; kind++) {
            request what = any_request(&state);
            what.fill = (key_fill)kind;
            if (number++ % one_in == 0) {
                check_case(ctx, &where, what);
            }
        }
        layout_free(&where);
    }
}

TEST_ON_BOTH(segsort, segments_of_random_lengths_up_to_300000_agree) {
    uint64_t state = 12;
    for (int round = 0; round < (one_in == 1 ? 6 : 1); round++) {
        layout where = layout_of_random("up to 300000", 8, 300000, test_random(&state));
        check_case(ctx, &where, any_request(&state));
        layout_free(&where);
    }
}

TEST_ON_BOTH(segsort, a_giant_among_a_million_tiny_segments_agrees) {
    uint64_t state = 13;
    int64_t segments = one_in == 1 ? 1000000 : 20000, giant = one_in == 1 ? 600000 : 100000;
    int64_t *lengths = malloc((size_t)segments * sizeof *lengths);
    for (int round = 0; round < (one_in == 1 ? 3 : 1); round++) {
        for (int64_t s = 0; s < segments; s++) {
            lengths[s] = test_below(&state, 5);
        }
        lengths[test_below(&state, segments)] = giant;
        layout where = layout_of("a giant among tiny ones", lengths, segments);
        check_case(ctx, &where, any_request(&state));
        layout_free(&where);
    }
    free(lengths);
}

TEST_ON_BOTH(segsort, giants_most_of_whose_keys_are_equal_agree) {
    const int64_t lengths[] = {20000, 70000, 5, 17000};
    layout where = layout_of("mostly equal giants", lengths, 4);
    uint64_t state = 15;
    for (int number = 0; number < 4 * KEY_TYPES; number += one_in == 1 ? 1 : 5) {
        request what = any_request(&state);
        what.fill = FILL_MOSTLY_EQUAL, what.key_type = key_types[number % KEY_TYPES];
        check_case(ctx, &where, what);
    }
    layout_free(&where);
}

/* A GPU splits them by digits of nine and ten bits, but for items with longer values. */
TEST_ON_BOTH(segsort, giants_of_more_than_a_million_items_agree) {
    static const int64_t lengths[][2] = {{1400000, 20000}, {77, 2700000}};
    static const struct {
        lsp_type key;
        size_t value;
    } items[] = {{LSP_U32, 4}, {LSP_F64, 0}, {LSP_F32, 0}, {LSP_U32, 8}};
    for (int number = 0; number < 8; number += one_in == 1 ? 1 : 5) {
        layout where = layout_of("above a million", lengths[number / 4], 2);
        check_case(ctx, &where,
                   (request){.key_type = items[number % 4].key,
                             .value_bytes = items[number % 4].value,
                             .fill = (key_fill)(number % FILL_KINDS),
                             .in_place = number % 2,
                             .planned = number % 3 == 0,
                             .seed = (uint64_t)number});
        layout_free(&where);
    }
}

Test(segsort, giants_agree_whatever_the_threads) {
    static const int threads[] = {1, 2, 3, 5};
    uint64_t state = 6;
    for (int t = 0; t < 4; t++) {
        lsp_ctx *ctx = test_ctx(threads[t]);
        for (int round = 0; round < 4; round++) {
            const int64_t lengths[] = {300000, test_below(&state, 400), (1 << 18) - 1 + round, 0, 77};
            layout where = layout_of("giants", lengths, 5);
            check_case(ctx, &where, any_request(&state));
            layout_free(&where);
        }
        lsp_ctx_destroy(ctx);
    }
}

/* ---- the reference ---- */

Test(segsort, the_reference_gives_known_answers) {
    lsp_ctx *ctx = test_ctx(1);
    int32_t offsets[] = {1, 5, 5, 8};
    float keys[] = {9, 2, NAN, -0.0f, 0.0f, 3, 1, 3, 9}, keys_out[9] = {7, 7, 7, 7, 7, 7, 7, 7, 7};
    uint32_t values[] = {10, 11, 12, 13, 14, 15, 16, 17, 18}, values_out[9] = {0};
    lsp_segsort_args args = {.n = 9,
                             .segments = 3,
                             .offsets = offsets,
                             .offset_type = LSP_I32,
                             .key_type = LSP_F32,
                             .value_bytes = 4,
                             .keys = keys,
                             .keys_out = keys_out,
                             .values = values,
                             .values_out = values_out};
    must(ctx, lsp_segsort_ref(ctx, &args));
    uint32_t up[] = {0, 13, 14, 11, 12, 16, 15, 17, 0}, down[] = {0, 11, 14, 13, 12, 15, 17, 16, 0};
    cr_assert(memcmp(values_out, up, sizeof up) == 0);
    cr_assert(keys_out[0] == 7 && keys_out[8] == 7 && signbit(keys_out[1]) && !signbit(keys_out[2]) &&
              keys_out[3] == 2 && isnan(keys_out[4]) && keys_out[5] == 1 && keys_out[6] == 3 && keys_out[7] == 3);
    args.flags = LSP_SORT_DESCENDING;
    must(ctx, lsp_segsort_ref(ctx, &args));
    cr_assert(memcmp(values_out, down, sizeof down) == 0);
    must(ctx, lsp_segsort(ctx, &args, NULL));
    cr_assert(memcmp(values_out, down, sizeof down) == 0);

    int64_t whole[] = {0, 6}, numbers[] = {5, INT64_MIN, INT64_MAX, -1, 0, 5},
            right[] = {INT64_MIN, -1, 0, 5, 5, INT64_MAX};
    args = (lsp_segsort_args){.n = 6,
                              .segments = 1,
                              .offsets = whole,
                              .offset_type = LSP_I64,
                              .key_type = LSP_I64,
                              .keys = numbers,
                              .keys_out = numbers};
    must(ctx, lsp_segsort_ref(ctx, &args));
    cr_assert(memcmp(numbers, right, sizeof right) == 0);
    args.key_type = LSP_U64, args.flags = LSP_SORT_DESCENDING;
    int64_t falling[] = {-1, INT64_MIN, INT64_MAX, 5, 5, 0};
    must(ctx, lsp_segsort_ref(ctx, &args));
    cr_assert(memcmp(numbers, falling, sizeof falling) == 0);
    lsp_ctx_destroy(ctx);
}

Test(segsort, the_reference_knows_pairs_bits_positions_and_changes) {
    lsp_ctx *ctx = test_ctx(1);
    int64_t begins[] = {4, 3, 0}, ends[] = {8, 3, 3}, change_at[9] = {0}, change_count[3] = {9, 9, 9};
    int32_t keys[] = {0x13, -0x7FFFFFED, 0x12, 99, 0x30, 0x21, -1, 0x10, 99}, keys_out[9] = {0};
    uint64_t positions[9] = {0};
    unsigned char change[9] = {7, 7, 7, 7, 7, 7, 7, 7, 7};
    lsp_segsort_args args = {.n = 9,
                             .segments = 3,
                             .offsets = begins,
                             .ends = ends,
                             .offset_type = LSP_I64,
                             .key_type = LSP_I32,
                             .value_bytes = 8,
                             .end_bit = 4,
                             .flags = LSP_SORT_POSITIONS,
                             .keys = keys,
                             .keys_out = keys_out,
                             .values_out = positions,
                             .change = change,
                             .change_at = change_at,
                             .change_count = change_count};
    must(ctx, lsp_segsort_ref(ctx, &args)); /* low nibbles: 3 3 2 and 0 1 f 0 */
    const int32_t by_nibble[] = {0x12, 0x13, -0x7FFFFFED, 0, 0x30, 0x10, 0x21, -1, 0};
    const uint64_t local[] = {2, 0, 1, 0, 0, 3, 1, 2, 0};
    const unsigned char marks[] = {1, 1, 0, 7, 1, 0, 1, 1, 7};
    const int64_t places[] = {0, 1, 0, 0, 4, 6, 7, 0, 0};
    cr_assert(memcmp(keys_out, by_nibble, sizeof keys_out) == 0 && memcmp(positions, local, sizeof local) == 0);
    cr_assert(memcmp(change, marks, sizeof marks) == 0 && memcmp(change_at, places, sizeof places) == 0);
    cr_assert(change_count[0] == 3 && change_count[1] == 0 && change_count[2] == 2);
    args.begin_bit = args.end_bit = 0; /* signed: -0x7FFFFFED 0x12 0x13 and -1 0x10 0x21 0x30 */
    args.flags = LSP_SORT_GLOBAL_POSITIONS;
    must(ctx, lsp_segsort_ref(ctx, &args));
    const uint64_t signed_order[] = {1, 2, 0, 0, 6, 7, 5, 4, 0};
    cr_assert(memcmp(positions, signed_order, sizeof signed_order) == 0);
    args.begin_bit = 28, args.end_bit = 32; /* the sign bit still orders negative keys first */
    must(ctx, lsp_segsort_ref(ctx, &args));
    const uint64_t by_sign[] = {1, 0, 2, 0, 6, 4, 5, 7, 0};
    cr_assert(memcmp(positions, by_sign, sizeof by_sign) == 0 && change_count[0] == 2 && change_count[2] == 2);
    lsp_ctx_destroy(ctx);
}
