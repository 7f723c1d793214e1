/* The radix sort inside the library: its phases, and the sort of arrays for other rooms. tests/slab_sort tests it as a
 * method of lsp_sort. */
#include "gather_scatter/radix_sort.h"
#include "places.h"

Test(radix_sort, the_choice_of_phases_follows_the_length) {
    lsp_ctx *ctx = test_ctx(1);
    for (int log = 0; log <= 30; log += 5) {
        const lsp_segsort_args args = {.n = INT64_C(1) << log, .key_type = LSP_U32, .value_bytes = 4};
        lsp_radix_choice choice;
        must(ctx, lsp_radix_choose(ctx, &args, &choice));
        const int bits = log > 14 ? lsp_bits((uint64_t)(args.n - 1) / LSP_SPLIT_WANTED) : 0;
        cr_assert(choice.phases * choice.bits >= bits, "2^%d items: %d phases of %d bits", log, choice.phases,
                  choice.bits);
        cr_assert(choice.bits >= LSP_SPLIT_LEAST && choice.bits <= lsp_split_most(&args));
        cr_assert((choice.phases == 0) == (bits == 0), "2^%d items: %d phases", log, choice.phases);
    }
    lsp_ctx_destroy(ctx);
}

Test(radix_sort, digits_are_wide_where_one_round_then_suffices) {
    static const int most[] = {8, 8, 9, 10, 8}; /* of 2^19, 2^20, ... narrow items */
    for (int k = 0; k < 5; k++) {
        lsp_segsort_args args = {.n = INT64_C(1) << (19 + k), .key_type = LSP_U32, .value_bytes = 4};
        cr_assert(lsp_split_most(&args) == most[k], "2^%d pairs: %d bits", 19 + k, lsp_split_most(&args));
        args.value_bytes = 8;
        cr_assert(lsp_split_most(&args) == LSP_SPLIT_USUAL, "2^%d wide pairs", 19 + k);
    }
}

TEST_ON_BOTH(radix_sort, positions_of_an_array_are_sorted_with_its_keys_and_without) {
    static const int64_t lengths[] = {0, 1, 100, 40000};
    uint64_t state = 1;
    for (int number = 0; number < 8; number++) {
        const int64_t n = lengths[number / 2];
        uint32_t *keys = malloc((size_t)n * 4 + 1);
        for (int64_t i = 0; i < n; i++) {
            keys[i] = (uint32_t)test_random(&state) & 0x3FF;
        }
        uint32_t *from = put_there(ctx, keys, n * 4), *to = put_there(ctx, NULL, n * 4);
        uint32_t *places = put_there(ctx, NULL, n * 4);
        must(ctx, lsp_sort_array(ctx, &(lsp_segsort_args){.n = n,
                                                          .key_type = LSP_U32,
                                                          .value_bytes = 4,
                                                          .keys = from,
                                                          .keys_out = number % 2 ? to : NULL,
                                                          .values_out = places,
                                                          .end_bit = 10,
                                                          .flags = LSP_SORT_POSITIONS,
                                                          .where = ctx->options.device}));
        uint32_t *sorted = get_back(ctx, to, n * 4), *place = get_back(ctx, places, n * 4);
        for (int64_t i = 0; i < n; i++) { /* keys and places strictly increase, so no place comes twice */
            cr_assert(place[i] < n, "%lld items: item %lld", (long long)n, (long long)i);
            const uint32_t key = keys[place[i]];
            cr_assert(i == 0 || keys[place[i - 1]] < key || (keys[place[i - 1]] == key && place[i - 1] < place[i]),
                      "%lld items: item %lld", (long long)n, (long long)i);
            cr_assert_eq(sorted[i], number % 2 ? key : 0xA5A5A5A5, "%lld items: key %lld", (long long)n, (long long)i);
        }
        free(sorted), free(place), free(keys);
        DROP(ctx, from, to, places);
    }
}
