/* The sort of a whole array beside the reference: all types, values, inputs and methods, lengths around every limit. */
#include "cases.h"
#include "segsort/cpu/cpu.h"

/* Case `number` of this length; neighbours differ in everything. */
static sort_case make_case(int64_t n, int number) {
    static const lsp_sort_method methods[] = {LSP_SORT_AUTO, LSP_SORT_RANKS, LSP_SORT_SPLIT, LSP_SORT_SPLIT,
                                              LSP_SORT_RADIX};
    sort_case c = {.n = n,
                   .key_type = key_types[number % KEY_TYPES],
                   .value_bytes = value_sizes[number / KEY_TYPES % VALUE_SIZES],
                   .fill = number * 5 % SORT_FILLS,
                   .flags = (number / 3 % 2 ? LSP_SORT_DESCENDING : 0) | (number % 11 == 3 ? LSP_SORT_EQUAL_ZEROS : 0),
                   .method = methods[number * 7 / 3 % 5],
                   .in_place = number % 3 == 0,
                   .planned = number % 4 == 1};
    if ((c.value_bytes == 4 || c.value_bytes == 8) && number % 5 == 0) {
        c.flags |= LSP_SORT_POSITIONS;
        c.no_keys = number % 2;
    }
    if (c.key_type != LSP_F32 && c.key_type != LSP_F64 && number % 13 == 0) {
        c.begin_bit = number % 9, c.end_bit = 32 - number % 7;
    }
    c.changes = number % 7 == 2 && !c.no_keys;
    return c;
}

static void check_number(lsp_ctx *ctx, int64_t n, int number) {
    sort_case c = make_case(n, number);
    if (ctx->options.device == LSP_CUDA && number % 2 && c.value_bytes == 0 && c.end_bit == 0 &&
        (c.flags & LSP_SORT_EQUAL_ZEROS) == 0 && c.key_type != LSP_F32 && c.key_type != LSP_F64) {
        c.method = LSP_SORT_SLAB;
    }
    check_sort(ctx, c);
}

TEST_ON_BOTH(slab_sort, short_arrays_of_all_types_and_inputs_are_sorted_by_all_methods) {
    static const int64_t lengths[] = {0, 1, 2, 31, 32, 33, 100, 255, 256, 257, 511, 1000, 1023, 1024, 1025};
    for (int l = 0; l < 15; l++) {
        for (int k = 0; k < 480 / sort_pace(ctx); k++) {
            check_number(ctx, lengths[l], k * 5 + l);
        }
    }
}

/* A GPU splits arrays of more than 2^14 items. */
TEST_ON_BOTH(slab_sort, the_radix_sort_sorts_arrays_of_any_length) {
    static const int64_t lengths[] = {0, 1, 2, 100, 5000, 16384, 16385, 70000, 300000};
    for (int l = 0; l < (is_slow(ctx) ? 7 : 9); l++) {
        for (int k = 0; k < 48; k += sort_pace(ctx)) {
            sort_case c = make_case(lengths[l], k * 5 + l);
            c.method = LSP_SORT_RADIX;
            check_sort(ctx, c);
        }
    }
}

TEST_ON_BOTH(slab_sort, lengths_around_limits_are_sorted) {
    static const int64_t limits[] = {1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16, 1 << 17, 1 << 18};
    const int most = is_slow(ctx) ? 3 : 8;
    for (int l = 0; l < most; l++) {
        for (int k = 0; k < 120 >> l / 2; k += sort_pace(ctx)) {
            check_number(ctx, limits[l] + k % 3 - 1, k + l);
        }
    }
}

TEST_ON_BOTH(slab_sort, long_arrays_are_sorted) {
    const int64_t n = is_slow(ctx) ? 1 << 15 : 1 << 20;
    for (int k = 0; k < 24; k += sort_pace(ctx)) {
        check_number(ctx, n + k % 3 - 1, k * 5);
    }
}

/* Each input at a length with several blocks, keys alone and stable pairs. */
TEST_ON_BOTH(slab_sort, every_input_is_sorted) {
    const int64_t n = is_slow(ctx) ? 5000 : 100000;
    for (int fill = 0; fill < SORT_FILLS; fill++) {
        for (int t = fill % (is_slow(ctx) ? 3 : 1); t < KEY_TYPES; t += is_slow(ctx) ? 3 : 1) {
            for (int values = 0; values < 2; values++) {
                check_sort(ctx, (sort_case){.n = n,
                                            .key_type = key_types[t],
                                            .value_bytes = values ? 4 : 0,
                                            .fill = fill,
                                            .method = ctx->options.device == LSP_CUDA ? LSP_SORT_SPLIT : LSP_SORT_AUTO,
                                            .in_place = (fill + t) % 2});
            }
        }
    }
}

/* A scatter of this many keys without values writes whole cache lines; keys of uneven digits are split by a map. */
Test(slab_sort, long_keys_that_outgrow_the_caches_are_sorted) {
    for (int threads = 1; threads <= 2; threads++) {
        lsp_ctx *ctx = test_ctx(threads);
        check_sort(ctx, (sort_case){.n = (SORT_SPREAD >> 3) + 100003, .key_type = LSP_U64, .in_place = threads == 2});
        for (int t = 3; t < KEY_TYPES; t++) { /* these are split by a map */
            check_sort(ctx, (sort_case){.n = SORT_MAP_LEAST + 7,
                                        .key_type = key_types[t],
                                        .value_bytes = t % 2 ? 4 : 0,
                                        .fill = FILL_SKEWED,
                                        .in_place = (t + threads) % 2});
        }
        lsp_ctx_destroy(ctx);
    }
}

/* Such a key splits the array, also where threads share it. */
Test(slab_sort, arrays_most_of_whose_keys_are_equal_are_sorted) {
    lsp_ctx *ctx = test_ctx(2);
    for (int number = 0; number < 4 * KEY_TYPES; number += sort_pace(ctx)) {
        check_sort(ctx, (sort_case){.n = 600000,
                                    .key_type = key_types[number % KEY_TYPES],
                                    .value_bytes = value_sizes[number / KEY_TYPES],
                                    .flags = number % 5 == 0 ? LSP_SORT_DESCENDING : 0,
                                    .fill = FILL_MOSTLY_EQUAL,
                                    .in_place = number % 2});
    }
    lsp_ctx_destroy(ctx);
}
