/* The segmented sort: hand-made answers for the reference, then the fast code against the reference. */
#include "segsort/segsort.h"
#include "support.h"
#include <float.h>
#include <math.h>

static const lsp_type key_types[] = {LSP_I32, LSP_U32, LSP_F32, LSP_I64, LSP_U64, LSP_F64};
static const size_t value_sizes[] = {0, 4, 8, 16};
enum { KEY_TYPES = 6, VALUE_SIZES = 4 };

typedef enum fill {
    FILL_RANDOM,
    FILL_EQUAL,
    FILL_SORTED,
    FILL_REVERSED,
    FILL_16_DISTINCT,
    FILL_MAXIMAL, /* a quarter is the type's largest */
    FILL_SPECIAL, /* floats: NaN of several payloads, infinities, zeros of both signs, subnormals */
    FILL_NARROW,  /* within 1000 of each other, far from 0 */
    FILL_KINDS
} fill;

static double special(uint64_t *state) {
    static const double choice[] = {0.0, -0.0, INFINITY, -INFINITY, 1.0, -1.0, DBL_MIN, FLT_MIN, -FLT_MIN / 2, 5e-324};
    return choice[test_below(state, 10)];
}

static void set_key(void *keys, lsp_type type, int64_t i, fill kind, int64_t n, uint64_t *state) {
    uint64_t bits = test_random(state);
    bits = kind == FILL_EQUAL         ? 12345
           : kind == FILL_SORTED      ? (uint64_t)i
           : kind == FILL_REVERSED    ? (uint64_t)(n - i)
           : kind == FILL_16_DISTINCT ? bits % 16 * 0x1111111111111111u
           : kind == FILL_NARROW      ? 0x4711471147114711u + bits % 1000
                                      : bits;
    bool largest = kind == FILL_MAXIMAL && test_below(state, 4) == 0;
    if (lsp_type_bytes(type) == 4) {
        uint32_t word = (uint32_t)bits;
        float number = (float)special(state);
        if (kind == FILL_SPECIAL && type == LSP_F32 && bits % 3 > 0) {
            memcpy(&word, &number, 4);
        } else if (kind == FILL_SPECIAL && bits % 9 == 0) {
            word |= 0x7FC00000u; /* NaN, either sign, any payload */
        }
        ((uint32_t *)keys)[i] = largest ? (type == LSP_I32 ? INT32_MAX : UINT32_MAX) : word;
    } else {
        double number = special(state);
        if (kind == FILL_SPECIAL && type == LSP_F64 && bits % 3 > 0) {
            memcpy(&bits, &number, 8);
        } else if (kind == FILL_SPECIAL && bits % 9 == 0) {
            bits |= 0x7FF8000000000000u;
        }
        ((uint64_t *)keys)[i] = largest ? (type == LSP_I64 ? INT64_MAX : UINT64_MAX) : bits;
    }
}

/* Sorts by the reference and by the library, in place and out of place, and compares every byte, gaps included. */
static void check(lsp_ctx *ctx, lsp_segsort_args args, fill kind, uint64_t seed) {
    size_t key_bytes = (size_t)args.n * lsp_type_bytes(args.key_type), value_bytes = (size_t)args.n * args.value_bytes;
    char *keys = malloc(key_bytes + 1), *values = malloc(value_bytes + 1);
    char *right_keys = malloc(key_bytes + 1), *right_values = malloc(value_bytes + 1);
    char *keys_out = malloc(key_bytes + 1), *values_out = malloc(value_bytes + 1);
    uint64_t state = seed;
    for (int64_t i = 0; i < args.n; i++) {
        set_key(keys, args.key_type, i, kind, args.n, &state);
        for (size_t part = 0; part < args.value_bytes / 4; part++) { /* positions: they show what is not stable */
            uint32_t word = (uint32_t)i + (uint32_t)part * 0x10000000u;
            memcpy(values + (size_t)i * args.value_bytes + 4 * part, &word, 4);
        }
    }
    args.keys = keys;
    args.values = args.value_bytes ? values : NULL;
    for (int in_place = 0; in_place < 2; in_place++) {
        memset(right_keys, 0x5A, key_bytes), memset(keys_out, 0x5A, key_bytes);
        memset(right_values, 0xA5, value_bytes), memset(values_out, 0xA5, value_bytes);
        if (in_place) {
            memcpy(right_keys, keys, key_bytes), memcpy(keys_out, keys, key_bytes);
            memcpy(right_values, values, value_bytes), memcpy(values_out, values, value_bytes);
        }
        lsp_segsort_args right = args, ours = args;
        right.keys_out = right_keys, ours.keys_out = keys_out;
        right.values_out = args.value_bytes ? right_values : NULL,
        ours.values_out = args.value_bytes ? values_out : NULL;
        if (in_place) {
            right.keys = right_keys, ours.keys = keys_out;
            right.values = right.values_out, ours.values = ours.values_out;
        }
        must(ctx, lsp_segsort_ref(ctx, &right));
        must(ctx, lsp_segsort(ctx, &ours));
        cr_assert(
            memcmp(right_keys, keys_out, key_bytes) == 0 && memcmp(right_values, values_out, value_bytes) == 0,
            "keys %d, values of %zu, flags %u, fill %d, %lld items, %lld segments, in place %d, seed %llu, isa %d, "
            "threads %d",
            (int)args.key_type, args.value_bytes, args.flags, (int)kind, (long long)args.n, (long long)args.segments,
            in_place, (unsigned long long)seed, (int)ctx->isa, ctx->options.threads);
    }
    free(keys), free(values), free(right_keys), free(right_values), free(keys_out), free(values_out);
}

/* Every key type, value size and direction, with every fill. */
static void check_types(lsp_ctx *ctx, int64_t n, int64_t segments, const void *offsets, lsp_type offset_type) {
    for (int key = 0; key < KEY_TYPES; key++) {
        for (int value = 0; value < VALUE_SIZES; value++) {
            for (unsigned flags = 0; flags < 2; flags++) {
                for (int kind = 0; kind < FILL_KINDS; kind++) {
                    check(ctx,
                          (lsp_segsort_args){.n = n,
                                             .segments = segments,
                                             .offsets = offsets,
                                             .offset_type = offset_type,
                                             .key_type = key_types[key],
                                             .value_bytes = value_sizes[value],
                                             .flags = flags},
                          (fill)kind, (uint64_t)(key + 10 * value + 100 * kind));
                }
            }
        }
    }
}

/* One combination after another, changing with every call. */
static void check_some(lsp_ctx *ctx, int64_t n, int64_t segments, const int64_t *offsets, uint64_t *state) {
    check(ctx,
          (lsp_segsort_args){.n = n,
                             .segments = segments,
                             .offsets = offsets,
                             .offset_type = LSP_I64,
                             .key_type = key_types[test_below(state, KEY_TYPES)],
                             .value_bytes = value_sizes[test_below(state, VALUE_SIZES)],
                             .flags = (unsigned)test_below(state, 2)},
          (fill)test_below(state, FILL_KINDS), test_random(state));
}

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
    must(ctx, lsp_segsort(ctx, &args));
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

Test(segsort, all_types_and_fills_agree_with_the_reference) {
    int32_t narrow[] = {3, 3, 20, 21, 84, 90, 400, 400, 1000, 2003, 2050};
    int64_t wide[] = {0, 1, 3, 6, 40, 700};
    for (int isa = 0; isa <= 2; isa++) {
        lsp_ctx *ctx = test_ctx(3);
        ctx->isa = (lsp_isa)lsp_min(isa, (int)ctx->isa);
        check_types(ctx, 2053, 10, narrow, LSP_I32);
        check_types(ctx, 700, 5, wide, LSP_I64);
        lsp_ctx_destroy(ctx);
    }
}

Test(segsort, every_length_around_every_limit_agrees) {
    uint64_t state = 5;
    for (int isa = 0; isa <= 2; isa++) {
        lsp_ctx *ctx = test_ctx(2);
        ctx->isa = (lsp_isa)lsp_min(isa, (int)ctx->isa);
        for (int64_t n = 0; n <= 300; n++) {
            int64_t offsets[] = {0, n};
            check_some(ctx, n, 1, offsets, &state);
        }
        for (int64_t limit = 512; limit <= 65536; limit *= 2) {
            for (int64_t n = limit - 1; n <= limit + 1; n++) {
                int64_t offsets[] = {0, n};
                check_some(ctx, n, 1, offsets, &state);
            }
        }
        lsp_ctx_destroy(ctx);
    }
}

Test(segsort, mixed_lengths_and_giants_agree_whatever_the_threads) {
    static const int threads[] = {1, 2, 3, 5};
    uint64_t state = 6;
    for (int t = 0; t < 4; t++) {
        lsp_ctx *ctx = test_ctx(threads[t]);
        for (int round = 0; round < 12; round++) {
            enum { MOST = 40000 };
            int64_t *offsets = malloc((MOST + 1) * sizeof *offsets), segments = round % 3 == 0 ? MOST : 40;
            offsets[0] = test_below(&state, 5);
            for (int64_t s = 0; s < segments;
                 s++) { /* tiny ones and a giant; or up to 300000, the short ones likelier */
                int64_t most = segments == MOST ? (s == 777 ? 600000 : 4) : (int64_t)1 << test_below(&state, 19);
                int64_t gap = test_below(&state, 50) == 0 ? 0 : test_below(&state, most + 1);
                offsets[s + 1] = offsets[s] + (segments == MOST && s == 777 ? most : gap);
            }
            check_some(ctx, offsets[segments] + test_below(&state, 5), segments, offsets, &state);
            free(offsets);
        }
        for (int64_t n = (1 << 18) - 1; n <= (1 << 18) + 1; n++) {
            int64_t offsets[] = {0, n};
            check_some(ctx, n, 1, offsets, &state);
        }
        lsp_ctx_destroy(ctx);
    }
}

Test(segsort, malformed_arguments_are_refused_and_nothing_is_written) {
    lsp_ctx *ctx = test_ctx(2);
    int32_t offsets[] = {0, 2, 4}, falling[] = {0, 3, 2}, negative[] = {-1, 2, 4}, beyond[] = {0, 2, 5};
    uint32_t keys[] = {4, 3, 2, 1, 0, 0}, keys_out[] = {9, 9, 9, 9}, values[4] = {0}, values_out[4] = {0};
    const lsp_segsort_args good = {.n = 4,
                                   .segments = 2,
                                   .offsets = offsets,
                                   .offset_type = LSP_I32,
                                   .key_type = LSP_U32,
                                   .keys = keys,
                                   .keys_out = keys_out};
    lsp_segsort_args args;
    cr_assert(lsp_segsort(NULL, &good) == LSP_ERR_ARGUMENT);
    must_fail(ctx, LSP_ERR_ARGUMENT, "NULL", lsp_segsort(ctx, NULL));
#define REFUSED(part, ...)                                                                                             \
    args = good, __VA_ARGS__;                                                                                          \
    must_fail(ctx, LSP_ERR_ARGUMENT, part, lsp_segsort(ctx, &args))
    REFUSED("segment 1", args.offsets = falling);
    REFUSED("-1", args.offsets = negative);
    REFUSED("items 0 to 4", args.offsets = beyond);
    REFUSED("NULL", args.offsets = NULL);
    REFUSED("NULL", args.keys = NULL);
    REFUSED("NULL", args.keys_out = NULL);
    REFUSED("NULL", args.value_bytes = 4);
    REFUSED("-3 items", args.n = -3);
    REFUSED("-1 segments", args.segments = -1);
    REFUSED("segments", args.segments = INT64_MAX);
    REFUSED("items", args.n = INT64_MAX);
    REFUSED("type 0", args.key_type = LSP_NONE);
    REFUSED("type 7", args.key_type = LSP_C64);
    REFUSED("offsets of type 4", args.offset_type = LSP_U64);
    REFUSED("12 bytes", args.value_bytes = 12);
    REFUSED("0x6", args.flags = 6);
    REFUSED("overlap", args.keys_out = keys + 1);
    REFUSED("values", args.value_bytes = 4, args.values = values, args.values_out = values + 1);
#undef REFUSED
    cr_assert(keys_out[0] == 9 && keys_out[3] == 9);
    args = good, args.value_bytes = 4, args.values = values, args.values_out = values_out;
    must(ctx, lsp_segsort(ctx, &args));
    cr_assert(keys_out[0] == 3 && keys_out[1] == 4 && keys_out[2] == 1 && keys_out[3] == 2);
    args = (lsp_segsort_args){.offsets = offsets, .offset_type = LSP_I32, .key_type = LSP_U32, .value_bytes = 8};
    must(ctx, lsp_segsort(ctx, &args)); /* nothing to sort: no arrays needed */
    int64_t vast[] = {0, INT64_MAX / 32};
    args = good, args.n = vast[1], args.segments = 1, args.offsets = vast, args.offset_type = LSP_I64;
    args.keys_out = keys;
    must_fail(ctx, LSP_ERR_MEMORY, "", lsp_segsort(ctx, &args));
    lsp_ctx_destroy(ctx);
}

typedef struct memory_case {
    lsp_segsort_args args;
    uint32_t keys[8], keys_out[8];
} memory_case;

static lsp_status sort_failing(lsp_ctx *ctx, void *data) {
    memory_case *test = data;
    memset(test->keys_out, 0x5A, sizeof test->keys_out);
    lsp_status status = lsp_segsort(ctx, &test->args);
    for (int i = 0; i < 8; i++) {
        cr_assert(test->keys_out[i] == (status == LSP_OK ? (uint32_t)i : 0x5A5A5A5Au));
    }
    return status;
}

Test(segsort, a_failing_allocation_leaves_everything_as_it_was) {
    static const int64_t offsets[] = {0, 8};
    memory_case test = {.keys = {7, 6, 5, 4, 3, 2, 1, 0}};
    test.args = (lsp_segsort_args){.n = 8,
                                   .segments = 1,
                                   .offsets = offsets,
                                   .offset_type = LSP_I64,
                                   .key_type = LSP_U32,
                                   .keys = test.keys,
                                   .keys_out = test.keys_out};
    test_failing_memory(2, sort_failing, &test);
}
