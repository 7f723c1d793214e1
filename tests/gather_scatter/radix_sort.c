/* The sort of a whole array and the partition into buckets, beside insertion and counting in plain C. */
#include "gather_scatter/radix_sort/radix_sort.h"
#include "places.h"

/* ---- the sort ---- */

typedef struct sort_case {
    int64_t n;
    lsp_type key_type;
    size_t value_bytes;
    unsigned flags;
    int begin_bit, end_bit;
    int distinct; /* bits of a key that vary; 64: all */
    bool in_place, planned;
} sort_case;

static uint64_t key_at(const void *keys, size_t bytes, int64_t i) {
    uint64_t key = 0;
    memcpy(&key, (const char *)keys + (size_t)i * bytes, bytes);
    return key;
}

/* The order of keys as an unsigned number. */
static uint64_t rank_of(uint64_t key, const sort_case *c) {
    const int bits = (int)lsp_type_bytes(c->key_type) * 8;
    const bool is_signed = c->key_type == LSP_I32 || c->key_type == LSP_I64;
    const uint64_t top = UINT64_C(1) << (bits - 1), all = top | (top - 1);
    if (is_signed) {
        key ^= top;
    } else if (c->key_type == LSP_F32 || c->key_type == LSP_F64) {
        key = key & top ? ~key & all : key | top;
    }
    key = c->flags & LSP_SORT_DESCENDING ? ~key & all : key;
    if (c->end_bit > 0) {
        const uint64_t field =
            c->end_bit - c->begin_bit == 64 ? ~UINT64_C(0) : (UINT64_C(1) << (c->end_bit - c->begin_bit)) - 1;
        key = key >> c->begin_bit & field;
    }
    return key;
}

typedef struct ranked {
    uint64_t rank;
    int64_t place;
} ranked;
static int by_rank(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
                              : (x->place > y->place) - (x->place < y->place);
}

static void fill(void *memory, size_t bytes, uint64_t *state) {
    for (size_t i = 0; i < bytes; i++) {
        ((unsigned char *)memory)[i] = (unsigned char)test_random(state);
    }
}

static void make_keys(void *keys, const sort_case *c, uint64_t *state) {
    const size_t bytes = lsp_type_bytes(c->key_type);
    for (int64_t i = 0; i < c->n; i++) {
        uint64_t key = test_random(state);
        if (c->key_type == LSP_F32 || c->key_type == LSP_F64) { /* no NaN: the sort of segments tests those */
            const double x = (double)(int32_t)key / 1024;
            const float narrow = (float)x;
            memcpy(&key, bytes == 4 ? (const void *)&narrow : (const void *)&x, bytes);
        } else if (c->distinct < 64) {
            key &= (UINT64_C(1) << c->distinct) - 1;
        }
        memcpy((char *)keys + (size_t)i * bytes, &key, bytes);
    }
}

static void run_sort(lsp_ctx *ctx, const lsp_radix_sort_args *args, bool planned) {
    lsp_radix_sort_plan *plan = NULL;
    if (!planned) {
        must(ctx, lsp_radix_sort(ctx, args, NULL));
        return;
    }
    must(ctx, lsp_radix_sort_plan_create(ctx, args, &plan));
    must(ctx, lsp_radix_sort_execute(plan, args));
    must(ctx, lsp_ctx_sync(ctx));
    lsp_radix_sort_plan_destroy(plan);
}

static void check_sort(lsp_ctx *ctx, const sort_case *c) {
    uint64_t state = (uint64_t)c->n * 31 + (uint64_t)c->key_type + c->value_bytes;
    const size_t bytes = lsp_type_bytes(c->key_type), value = c->value_bytes;
    const int64_t key_bytes = c->n * (int64_t)bytes, value_bytes = c->n * (int64_t)value;
    const bool positions = (c->flags & LSP_SORT_POSITIONS) != 0;
    char *keys = malloc((size_t)key_bytes + 1), *values = malloc((size_t)value_bytes + 1);
    ranked *order = malloc((size_t)(c->n + 1) * sizeof *order);
    make_keys(keys, c, &state);
    fill(values, (size_t)value_bytes, &state);
    for (int64_t i = 0; i < c->n; i++) {
        order[i] = (ranked){rank_of(key_at(keys, bytes, i), c), i};
    }
    qsort(order, (size_t)c->n, sizeof *order, by_rank);
    void *from = put_there(ctx, keys, key_bytes), *to = c->in_place ? from : put_there(ctx, NULL, key_bytes);
    void *value_from = put_there(ctx, values, value_bytes);
    void *value_to = c->in_place && !positions ? value_from : put_there(ctx, NULL, value_bytes);
    run_sort(ctx,
             &(lsp_radix_sort_args){.n = c->n,
                                    .key_type = c->key_type,
                                    .value_bytes = value,
                                    .keys = from,
                                    .keys_out = to,
                                    .values = positions || value == 0 ? NULL : value_from,
                                    .values_out = value == 0 ? NULL : value_to,
                                    .begin_bit = c->begin_bit,
                                    .end_bit = c->end_bit,
                                    .flags = c->flags,
                                    .where = ctx->options.device},
             c->planned);
    char *sorted = get_back(ctx, to, key_bytes), *moved = get_back(ctx, value_to, value_bytes);
    for (int64_t i = 0; i < c->n; i++) {
        const int64_t at = order[i].place;
        cr_assert(memcmp(sorted + (size_t)i * bytes, keys + (size_t)at * bytes, bytes) == 0,
                  "%lld items of %s, values of %zu, flags %u, bits %d to %d: key %lld", (long long)c->n,
                  lsp_type_name(c->key_type), value, c->flags, c->begin_bit, c->end_bit, (long long)i);
        uint64_t place = (uint64_t)at;
        const void *right = positions ? (const void *)&place : values + (size_t)at * value;
        cr_assert(value == 0 || memcmp(moved + (size_t)i * value, right, value) == 0,
                  "%lld items of %s, values of %zu, flags %u, bits %d to %d: value %lld", (long long)c->n,
                  lsp_type_name(c->key_type), value, c->flags, c->begin_bit, c->end_bit, (long long)i);
    }
    free(sorted), free(moved), free(order), free(keys), free(values);
    if (value_to != value_from) {
        lsp_free(ctx, value_to);
    }
    lsp_free(ctx, value_from);
    if (to != from) {
        lsp_free(ctx, to);
    }
    lsp_free(ctx, from);
}

TEST_ON_BOTH(radix_sort, every_type_and_length_is_sorted_and_stable) {
    static const lsp_type types[] = {LSP_I32, LSP_U32, LSP_F32, LSP_I64, LSP_U64, LSP_F64};
    static const size_t values[] = {0, 4, 8, 16};
    static const int64_t lengths[] = {0, 1, 2, 100, 5000, 70000, 300000};
    const int longest = is_slow(ctx) ? 5 : 7;
    int number = 0;
    for (int t = 0; t < 6; t++) {
        for (int v = 0; v < 4; v++) {
            for (int l = 0; l < longest; l++, number++) {
                check_sort(ctx, &(sort_case){.n = lengths[l],
                                             .key_type = types[t],
                                             .value_bytes = values[v],
                                             .flags = number % 3 == 0 ? LSP_SORT_DESCENDING : 0,
                                             .distinct = number % 2 ? 64 : 5,
                                             .in_place = number % 5 == 0,
                                             .planned = number % 4 == 0});
            }
        }
    }
}

TEST_ON_BOTH(radix_sort, equal_keys_positions_and_ranges_of_bits) {
    const int64_t n = is_slow(ctx) ? 40000 : 400000;
    for (int planned = 0; planned < 2; planned++) {
        check_sort(ctx, &(sort_case){.n = n, .key_type = LSP_U32, .value_bytes = 4, .distinct = 0, .planned = planned});
        check_sort(ctx, &(sort_case){.n = n,
                                     .key_type = LSP_U32,
                                     .value_bytes = 4,
                                     .flags = LSP_SORT_POSITIONS,
                                     .distinct = 64,
                                     .planned = planned});
        check_sort(ctx, &(sort_case){.n = n,
                                     .key_type = LSP_I64,
                                     .value_bytes = 8,
                                     .flags = LSP_SORT_POSITIONS | LSP_SORT_DESCENDING,
                                     .distinct = 10,
                                     .planned = planned});
        check_sort(ctx, &(sort_case){.n = n,
                                     .key_type = LSP_U64,
                                     .value_bytes = 8,
                                     .begin_bit = 11,
                                     .end_bit = 30,
                                     .distinct = 64,
                                     .planned = planned});
        check_sort(ctx, &(sort_case){.n = n,
                                     .key_type = LSP_I32,
                                     .value_bytes = 0,
                                     .begin_bit = 29,
                                     .end_bit = 32,
                                     .distinct = 64,
                                     .planned = planned});
    }
}

Test(radix_sort, the_choice_of_phases_follows_the_length) {
    lsp_ctx *ctx = test_ctx(1);
    uint32_t key = 0;
    for (int log = 0; log <= 30; log += 5) {
        lsp_segsort_args segment = {
            .n = INT64_C(1) << log, .key_type = LSP_U32, .value_bytes = 4, .keys = &key, .where = LSP_CUDA};
        lsp_radix_choice choice;
        must(ctx, lsp_radix_choose(ctx, &segment, &choice));
        const int bits = log > 14 ? lsp_bits((uint64_t)(segment.n - 1) / LSP_SPLIT_WANTED) : 0;
        cr_assert(choice.phases * choice.bits >= bits, "2^%d items: %d phases of %d bits", log, choice.phases,
                  choice.bits);
        cr_assert(choice.bits >= LSP_SPLIT_LEAST && choice.bits <= LSP_SPLIT_MOST);
        cr_assert((choice.phases == 0) == (bits == 0), "2^%d items: %d phases", log, choice.phases);
        cr_assert(choice.reason[0] != 0);
    }
    lsp_ctx_destroy(ctx);
}

/* ---- partition ---- */

typedef struct part_case {
    int64_t n, buckets; /* buckets 0: by the bits of keys */
    lsp_type key_type;  /* LSP_NONE: no keys */
    size_t value_bytes;
    int begin_bit, end_bit;
    bool positions, beyond, in_place; /* beyond: some numbers are too large */
    lsp_type offset_type;
} part_case;

static void check_partition(lsp_ctx *ctx, const part_case *c) {
    uint64_t state = (uint64_t)(c->n + c->buckets);
    const size_t bytes = lsp_type_bytes(c->key_type), value = c->value_bytes, width = lsp_type_bytes(c->offset_type);
    const int64_t key_bytes = c->n * (int64_t)bytes, value_bytes = c->n * (int64_t)value;
    const int64_t buckets = c->buckets ? c->buckets : INT64_C(1) << (c->end_bit - c->begin_bit);
    char *keys = malloc((size_t)key_bytes + 1), *values = malloc((size_t)value_bytes + 1);
    uint32_t *numbers = malloc((size_t)c->n * 4 + 1);
    ranked *order = malloc((size_t)(c->n + 1) * sizeof *order);
    int64_t *begin = calloc((size_t)buckets + 2, sizeof *begin);
    fill(keys, (size_t)key_bytes, &state);
    fill(values, (size_t)value_bytes, &state);
    for (int64_t i = 0; i < c->n; i++) {
        numbers[i] = (uint32_t)test_below(&state, c->beyond ? buckets * 2 : buckets);
        numbers[i] = c->beyond && i % 100 == 7 ? UINT32_MAX - (uint32_t)(i % 3) : numbers[i];
        if (!c->buckets) {
            numbers[i] = (uint32_t)(key_at(keys, bytes, i) >> c->begin_bit & (uint64_t)(buckets - 1));
        }
        order[i] = (ranked){numbers[i], i};
        begin[lsp_min(numbers[i], buckets) + 1]++;
    }
    for (int64_t b = 0; b <= buckets; b++) {
        begin[b + 1] += begin[b];
    }
    qsort(order, (size_t)c->n, sizeof *order, by_rank);
    void *from = put_there(ctx, keys, key_bytes), *to = c->in_place ? from : put_there(ctx, NULL, key_bytes);
    void *value_from = put_there(ctx, values, value_bytes);
    void *value_to = c->in_place && !c->positions ? value_from : put_there(ctx, NULL, value_bytes);
    void *number = put_there(ctx, numbers, c->n * 4);
    void *offsets = put_there(ctx, NULL, (buckets + 1) * (int64_t)width);
    must(ctx, lsp_partition(ctx, &(lsp_partition_args){.n = c->n,
                                                       .numbers = c->buckets ? number : NULL,
                                                       .buckets = c->buckets,
                                                       .begin_bit = c->begin_bit,
                                                       .end_bit = c->end_bit,
                                                       .key_type = c->key_type,
                                                       .keys = bytes ? from : NULL,
                                                       .keys_out = bytes ? to : NULL,
                                                       .value_bytes = value,
                                                       .values = c->positions || value == 0 ? NULL : value_from,
                                                       .values_out = value ? value_to : NULL,
                                                       .flags = c->positions ? LSP_SORT_POSITIONS : 0,
                                                       .offsets = offsets,
                                                       .offset_type = c->offset_type,
                                                       .where = ctx->options.device}));
    char *sorted = get_back(ctx, to, key_bytes), *moved = get_back(ctx, value_to, value_bytes);
    void *found = get_back(ctx, offsets, (buckets + 1) * (int64_t)width);
    for (int64_t b = 0; b <= buckets; b++) {
        cr_assert_eq(lsp_index_at(found, c->offset_type, b), begin[b], "%lld items, %lld buckets: bucket %lld",
                     (long long)c->n, (long long)buckets, (long long)b);
    }
    for (int64_t i = 0; i < c->n; i++) {
        const uint64_t at = (uint64_t)order[i].place;
        cr_assert(bytes == 0 || memcmp(sorted + (size_t)i * bytes, keys + at * bytes, bytes) == 0,
                  "%lld items, %lld buckets, %s: key %lld", (long long)c->n, (long long)buckets,
                  lsp_type_name(c->key_type), (long long)i);
        const void *right = c->positions ? (const void *)&at : values + at * value;
        cr_assert(value == 0 || memcmp(moved + (size_t)i * value, right, value) == 0,
                  "%lld items, %lld buckets, %s, values of %zu: value %lld", (long long)c->n, (long long)buckets,
                  lsp_type_name(c->key_type), value, (long long)i);
    }
    free(sorted), free(moved), free(found), free(order), free(begin), free(numbers), free(keys), free(values);
    DROP(ctx, from, value_from, number, offsets);
    if (to != from) {
        lsp_free(ctx, to);
    }
    if (value_to != value_from) {
        lsp_free(ctx, value_to);
    }
}

TEST_ON_BOTH(partition, buckets_by_bits_of_keys) {
    const int64_t lengths[] = {0, 1, 1000, is_slow(ctx) ? 20000 : 200000};
    for (int l = 0; l < 4; l++) {
        for (int v = 0; v < 4; v++) {
            check_partition(ctx, &(part_case){.n = lengths[l],
                                              .key_type = v % 2 ? LSP_I32 : LSP_U64,
                                              .value_bytes = v ? (size_t)2 << v : 0,
                                              .begin_bit = 32 - 3 * v - 4,
                                              .end_bit = 32,
                                              .in_place = v == 3,
                                              .offset_type = v % 2 ? LSP_I64 : LSP_I32});
        }
        check_partition(ctx, &(part_case){.n = lengths[l],
                                          .key_type = LSP_U32,
                                          .value_bytes = 4,
                                          .positions = true,
                                          .begin_bit = 3,
                                          .end_bit = 19,
                                          .offset_type = LSP_I64});
    }
}

TEST_ON_BOTH(partition, buckets_by_number) {
    const int64_t lengths[] = {0, 1, 3000, is_slow(ctx) ? 20000 : 150000}, buckets[] = {1, 7, 1000, 65536};
    int number = 0;
    for (int l = 0; l < 4; l++) {
        for (int b = 0; b < 4; b++, number++) {
            const part_case common = {.n = lengths[l],
                                      .buckets = buckets[b],
                                      .beyond = number % 3 == 1,
                                      .offset_type = number % 2 ? LSP_I64 : LSP_I32};
            part_case c = common;
            c.key_type = LSP_U64;
            c.in_place = number % 2;
            check_partition(ctx, &c);
            c = common, c.value_bytes = 16;
            check_partition(ctx, &c);
            c = common, c.value_bytes = 4, c.positions = true;
            check_partition(ctx, &c);
            c = common, c.value_bytes = 8, c.key_type = LSP_I32;
            check_partition(ctx, &c);
            c = common, c.value_bytes = number % 2 ? 8 : 4, c.key_type = LSP_I64, c.positions = true;
            check_partition(ctx, &c);
        }
    }
}
