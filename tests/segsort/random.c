/* Random arguments of the segmented sort, many of them wrong: each call must be refused with a sentence and write
 * nothing, or sort as the reference does. */
#include "cases.h"

/* The arrays of a call, so near each other that a wrong place makes them overlap. */
typedef struct heap {
    char parts[PARTS][80 * 16];
} heap;

/* The address of array i; rarely NULL, an address a little off, or that of another array. */
static void *any_place(heap *all, int i, bool wanted, uint64_t *state) {
    int64_t chance = test_below(state, 60);
    return chance == 0 || !wanted ? NULL
           : chance == 1          ? all->parts[i] + 1
           : chance == 2          ? all->parts[i] + 16
           : chance == 3          ? all->parts[test_below(state, PARTS)]
                                  : all->parts[i];
}

/* Random offsets and ends, a few of them malformed. */
static void any_offsets(heap *all, const lsp_segsort_args *args, int64_t most, uint64_t *state) {
    int64_t at = 0, least = test_below(state, 20) == 0 ? -1 : 0;
    for (int64_t s = 0; s < 40; s++) {
        int64_t end = lsp_min(at + test_below(state, 4) + least, most);
        lsp_index_set(all->parts[OFFSETS], args->offset_type, s, at);
        lsp_index_set(all->parts[ENDS], args->offset_type, s, end);
        at = test_below(state, 90) == 0 ? test_below(state, most + 2) : end;
    }
}

static lsp_segsort_args any_arguments(heap *all, uint64_t *state) {
    static const int64_t sizes[] = {0, 1, 2, 7, 30, 64, -1, INT64_MAX};
    int64_t n = sizes[test_below(state, test_below(state, 9) ? 6 : 8)], length = test_below(state, 12);
    lsp_segsort_args args = {.n = n,
                             .segments = test_below(state, 38),
                             .max_length = test_below(state, 4) ? 0 : test_below(state, 9) - 1,
                             .offset_type = test_below(state, 2) ? LSP_I32 : LSP_I64,
                             .key_type = (lsp_type)(test_below(state, 6) + (test_below(state, 20) > 0)),
                             .value_bytes = value_sizes[test_below(state, VALUE_SIZES)],
                             .flags = (unsigned)test_below(state, test_below(state, 20) ? 5 : 16)};
    any_offsets(all, &args, lsp_min(lsp_max(n, 1), 64), state);
    args.keys = any_place(all, KEYS, true, state);
    args.keys_out = test_below(state, 3) ? any_place(all, KEYS_OUT, true, state) : (void *)(uintptr_t)args.keys;
    args.values = any_place(all, VALUES, true, state);
    args.values_out = test_below(state, 3) ? any_place(all, VALUES_OUT, true, state) : (void *)(uintptr_t)args.values;
    args.offsets = any_place(all, OFFSETS, true, state);
    args.ends = any_place(all, ENDS, test_below(state, 2), state);
    args.change = any_place(all, CHANGE, test_below(state, 3) == 0, state);
    args.change_at = any_place(all, CHANGE_AT, test_below(state, 3) == 0, state);
    args.change_count = any_place(all, CHANGE_COUNT, test_below(state, 3) == 0, state);
    if (test_below(state, 3) == 0) {
        args.offsets = args.ends = NULL;
        args.length = length;
        args.segments = length > 0 && test_below(state, 9) ? lsp_ceil_div(lsp_max(n, 0), length) : args.segments;
    }
    if (test_below(state, 5) == 0) {
        args.group_at = any_place(all, GROUP_AT, true, state),
        args.group_count = any_place(all, GROUP_COUNT, true, state);
    }
    if (test_below(state, 4) == 0) {
        args.begin_bit = (int)test_below(state, 33) - 1, args.end_bit = (int)test_below(state, 66);
    }
    return args;
}

/* The same address within another heap. */
static void *moved(const void *place, const heap *from, heap *to) {
    return place ? (char *)to + ((const char *)place - (const char *)from) : NULL;
}

Test(segsort_random, arguments_at_random_are_refused_or_sorted_as_the_reference_does) {
    lsp_ctx *ctx = test_ctx(2);
    uint64_t state = 51;
    heap *ours = malloc(sizeof *ours), *right = malloc(sizeof *right);
    int sorted = 0;
    for (int round = 0; round < 200000; round++) {
        memset(ours, (int)test_below(&state, 256), sizeof *ours);
        for (int i = 0; i < 80 * 2; i++) {
            ((uint64_t *)ours->parts[KEYS])[i] = test_random(&state) >> test_below(&state, 64);
        }
        lsp_segsort_args args = any_arguments(ours, &state), other = args;
        memcpy(right, ours, sizeof *right);
        lsp_status status = lsp_segsort(ctx, &args, NULL);
        cr_assert(status == LSP_OK || (status == LSP_ERR_ARGUMENT && lsp_last_error(ctx)[0] != 0), "round %d: %s",
                  round, lsp_last_error(ctx));
        if (status == LSP_OK) {
            other.keys = moved(args.keys, ours, right), other.keys_out = moved(args.keys_out, ours, right);
            other.values = moved(args.values, ours, right), other.values_out = moved(args.values_out, ours, right);
            other.offsets = moved(args.offsets, ours, right), other.ends = moved(args.ends, ours, right);
            other.change = moved(args.change, ours, right), other.change_at = moved(args.change_at, ours, right);
            other.change_count = moved(args.change_count, ours, right);
            other.group_at = moved(args.group_at, ours, right),
            other.group_count = moved(args.group_count, ours, right);
            must(ctx, lsp_segsort_ref(ctx, &other));
            sorted += args.n > 1;
        }
        cr_assert(memcmp(ours, right, sizeof *ours) == 0, "round %d, status %d", round, (int)status);
    }
    cr_assert(sorted > 20000, "only %d cases were sorted", sorted);
    free(ours), free(right);
    lsp_ctx_destroy(ctx);
}
