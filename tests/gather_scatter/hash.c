/* Hash search beside a sorted list of keys and positions in plain C: every type, kind of slot and form of search. */
#include "gather_scatter/hash/hash.h"
#include "places.h"

typedef struct hash_case {
    int64_t n, probes;
    lsp_type key_type;
    size_t value_bytes;
    int64_t keys; /* keys are drawn from this many; 0: all are distinct */
    bool positions;
    double load;
    uint64_t seed;
    int crowded; /* distinct keys that share a bucket */
} hash_case;

typedef struct entry {
    uint64_t key;
    int64_t place;
} entry;

static int by_key(const void *a, const void *b) {
    const entry *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->place > y->place) - (x->place < y->place);
}

/* The arrays of a case on the host, and the entries in the order of keys. */
typedef struct hash_data {
    const hash_case *c;
    size_t key_bytes;
    char *keys, *values, *probes;
    entry *order;
} hash_data;

static void set_key(const hash_data *d, char *keys, int64_t i, uint64_t key) {
    memcpy(keys + (size_t)i * d->key_bytes, &key, d->key_bytes);
}
static uint64_t key_at(const hash_data *d, const char *keys, int64_t i) {
    uint64_t key = 0;
    memcpy(&key, keys + (size_t)i * d->key_bytes, d->key_bytes);
    return key;
}

/* Spread over all patterns of bits; 0 and all ones are among the first. */
static uint64_t nth_key(const hash_data *d, int64_t i) {
    const uint64_t key = i == 0 ? 0 : i == 1 ? UINT64_MAX : (uint64_t)i * UINT64_C(0x9E3779B97F4A7C15) >> (i % 2);
    return d->key_bytes == 4 ? i < 2 ? key & UINT32_MAX : (uint64_t)i * 0x9E3779B1u & UINT32_MAX : key;
}

/* The inverse of the mixer for 32 bits: keys of one bucket are consecutive mixed keys. */
static uint32_t unmixed(uint32_t x, uint64_t seed) {
    x ^= x >> 16;
    x *= 0x7ED1B41Du;
    x ^= x >> 13 ^ x >> 26;
    x *= 0xA5CB9243u;
    x ^= x >> 16;
    return x ^ (uint32_t)seed ^ (uint32_t)(seed >> 32);
}

static hash_data make_data(const hash_case *c) {
    hash_data d = {.c = c, .key_bytes = lsp_type_bytes(c->key_type)};
    uint64_t state = (uint64_t)(c->n * 7 + c->keys) + c->value_bytes;
    d.keys = malloc((size_t)c->n * d.key_bytes + 1);
    d.values = malloc((size_t)c->n * c->value_bytes + 1);
    d.probes = malloc((size_t)c->probes * d.key_bytes + 1);
    d.order = malloc((size_t)(c->n + 1) * sizeof *d.order);
    for (int64_t i = 0; i < c->n; i++) {
        uint64_t key = nth_key(&d, c->keys ? test_below(&state, c->keys) : i);
        key = i < c->crowded ? unmixed(0x40000000u + (uint32_t)i, c->seed) : key;
        set_key(&d, d.keys, i, key);
        d.order[i] = (entry){key_at(&d, d.keys, i), i};
    }
    for (size_t i = 0; i < (size_t)c->n * c->value_bytes; i++) {
        d.values[i] = (char)test_random(&state);
    }
    for (int64_t i = 0; i < c->probes; i++) {
        const int kind = (int)test_below(&state, 8);
        uint64_t key = kind == 0 || c->n == 0 ? test_random(&state) : key_at(&d, d.keys, test_below(&state, c->n));
        key = kind == 1 ? key + 1 : i < 2 ? nth_key(&d, i) : key;
        key = kind == 2 && c->crowded ? unmixed(0x40000000u + (uint32_t)test_below(&state, 2 * c->crowded), c->seed)
                                      : key;
        set_key(&d, d.probes, i, key);
    }
    qsort(d.order, (size_t)c->n, sizeof *d.order, by_key);
    return d;
}

static void free_data(hash_data *d) { free(d->keys), free(d->values), free(d->probes), free(d->order); }

/* The first entry whose key is not below `key`. */
static int64_t first_at(const hash_data *d, uint64_t key) {
    int64_t low = 0, high = d->c->n;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (d->order[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
/* Matches of probe i; *first: the first one's number in the order. */
static int64_t matches_of(const hash_data *d, int64_t i, int64_t *first) {
    const uint64_t key = key_at(d, d->probes, i);
    int64_t count = *first = first_at(d, key);
    while (count < d->c->n && d->order[count].key == key) {
        count++;
    }
    return count - *first;
}
/* Is `value` that of the entry number `at` in the order? */
static bool is_value(const hash_data *d, const char *value, int64_t at) {
    const int64_t place = d->order[at].place;
    return memcmp(value, d->c->positions ? (const char *)&place : d->values + (size_t)place * d->c->value_bytes,
                  d->c->value_bytes) == 0;
}

#define WHICH(d)                                                                                                       \
    "%lld keys of %s from %lld, values of %zu%s", (long long)(d)->c->n, lsp_type_name((d)->c->key_type),               \
        (long long)(d)->c->keys, (d)->c->value_bytes, (d)->c->positions ? " (positions)" : ""

static void check_find(lsp_ctx *ctx, lsp_hash *table, const hash_data *d, const void *probes) {
    const int64_t n = d->c->probes, bytes = (int64_t)d->c->value_bytes;
    void *values = put_there(ctx, NULL, n * bytes), *found = put_there(ctx, NULL, n);
    must(ctx, lsp_hash_find(table, &(lsp_hash_probes){.n = n, .keys = probes, .values = values, .found = found}));
    char *v = get_back(ctx, values, n * bytes), *f = get_back(ctx, found, n);
    const char absent[16] = {0}, none[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    for (int64_t i = 0; i < n; i++) {
        int64_t first;
        const int64_t count = matches_of(d, i, &first);
        cr_assert_eq(f[i], count > 0, WHICH(d));
        const char *value = v + i * bytes;
        cr_assert(count > 0 ? is_value(d, value, first)
                            : memcmp(value, d->c->positions ? none : absent, (size_t)bytes) == 0,
                  WHICH(d));
    }
    must(ctx, lsp_hash_find(table, &(lsp_hash_probes){.n = n, .keys = probes, .values = values}));
    char *again = get_back(ctx, values, n * bytes);
    cr_assert(n * bytes == 0 || memcmp(v, again, (size_t)(n * bytes)) == 0, WHICH(d));
    free(v), free(f), free(again);
    DROP(ctx, values, found);
}

static void check_all(lsp_ctx *ctx, lsp_hash *table, const hash_data *d, const void *probes) {
    const int64_t n = d->c->probes, bytes = (int64_t)d->c->value_bytes;
    int64_t *right = calloc((size_t)n + 1, sizeof *right), first, total = -1;
    for (int64_t i = 0; i < n; i++) {
        right[i + 1] = right[i] + matches_of(d, i, &first);
    }
    void *offsets = put_there(ctx, NULL, (n + 1) * 8), *values = put_there(ctx, NULL, right[n] * bytes);
    must(ctx, lsp_hash_count(table, &(lsp_hash_probes){.n = n, .keys = probes, .offsets = offsets}));
    int64_t *found = get_back(ctx, offsets, (n + 1) * 8);
    cr_assert(memcmp(found, right, (size_t)(n + 1) * 8) == 0, WHICH(d));
    free(found);
    lsp_free(ctx, offsets);
    offsets = put_there(ctx, NULL, (n + 1) * 8);
    lsp_hash_probes all = {.n = n, .keys = probes, .offsets = offsets, .values = values, .capacity = right[n] - 1};
    if (right[n] > 0 && bytes > 0) {
        char wanted[32];
        snprintf(wanted, sizeof wanted, "%lld matches", (long long)right[n]);
        must_fail(ctx, LSP_ERR_OVERFLOW, wanted, lsp_hash_find_all(table, &all, &total));
        cr_assert_eq(total, right[n]);
        char *untouched = get_back(ctx, values, right[n] * bytes);
        found = get_back(ctx, offsets, (n + 1) * 8);
        for (int64_t i = 0; i < right[n] * bytes; i++) {
            cr_assert_eq((unsigned char)untouched[i], 0xA5);
        }
        for (int64_t i = 0; i <= n; i++) {
            cr_assert_eq((uint64_t)found[i], UINT64_C(0xA5A5A5A5A5A5A5A5));
        }
        free(untouched), free(found);
    }
    all.capacity = right[n];
    must(ctx, lsp_hash_find_all(table, &all, NULL));
    must(ctx, lsp_hash_find_all(table, &all, &total));
    cr_assert_eq(total, right[n]);
    char *v = get_back(ctx, values, right[n] * bytes);
    found = get_back(ctx, offsets, (n + 1) * 8);
    cr_assert(memcmp(found, right, (size_t)(n + 1) * 8) == 0, WHICH(d));
    for (int64_t i = 0; i < n; i++) {
        const int64_t count = matches_of(d, i, &first);
        for (int64_t k = 0; k < count; k++) {
            cr_assert(is_value(d, v + (right[i] + k) * bytes, first + k), WHICH(d));
        }
    }
    free(v), free(found), free(right);
    DROP(ctx, offsets, values);
}

/* Takes blocks until none is left. */
static void check_some(lsp_ctx *ctx, lsp_hash *table, const hash_data *d, const void *probes, int64_t cap) {
    const int64_t n = d->c->probes, bytes = (int64_t)d->c->value_bytes;
    int64_t *zeros = calloc((size_t)n + 1, 8), left = 1, rounds = 0;
    void *cursors = put_there(ctx, zeros, n * 8), *counts = put_there(ctx, NULL, n * 4),
         *rest = put_there(ctx, NULL, 8);
    void *values = put_there(ctx, NULL, n * cap * bytes);
    for (; left > 0; rounds++) {
        must(ctx, lsp_hash_find_some(table, &(lsp_hash_probes){.n = n,
                                                               .keys = probes,
                                                               .values = values,
                                                               .cap = cap,
                                                               .cursors = cursors,
                                                               .counts = counts,
                                                               .left = rest}));
        char *v = get_back(ctx, values, n * cap * bytes);
        int32_t *k = get_back(ctx, counts, n * 4);
        int64_t *l = get_back(ctx, rest, 8), *at = get_back(ctx, cursors, n * 8), to_come = 0, first;
        for (int64_t i = 0; i < n; i++) {
            const int64_t count = matches_of(d, i, &first), before = lsp_min(rounds * cap, count);
            cr_assert_eq(k[i], lsp_min(count - before, cap), WHICH(d));
            cr_assert_eq(at[i], before + k[i], WHICH(d));
            to_come += count - at[i];
            for (int64_t j = 0; j < k[i]; j++) {
                cr_assert(is_value(d, v + (i * cap + j) * bytes, first + before + j), WHICH(d));
            }
        }
        left = *l;
        cr_assert_eq(left, to_come, WHICH(d));
        free(v), free(k), free(l), free(at);
    }
    free(zeros);
    DROP(ctx, cursors, counts, rest, values);
}

static void check_case(lsp_ctx *ctx, const hash_case *c) {
    hash_data d = make_data(c);
    void *keys = put_there(ctx, d.keys, c->n * (int64_t)d.key_bytes);
    void *values = put_there(ctx, d.values, c->n * (int64_t)c->value_bytes);
    void *probes = put_there(ctx, d.probes, c->probes * (int64_t)d.key_bytes);
    lsp_hash *table = NULL;
    lsp_hash_info info;
    must(ctx, lsp_hash_build(ctx,
                             &(lsp_hash_args){.n = c->n,
                                              .key_type = c->key_type,
                                              .value_bytes = c->value_bytes,
                                              .keys = keys,
                                              .values = c->positions || c->value_bytes == 0 ? NULL : values,
                                              .flags = c->positions ? LSP_HASH_POSITIONS : 0,
                                              .load = c->load,
                                              .seed = c->seed,
                                              .where = ctx->options.device},
                             &table));
    DROP(ctx, keys, values);
    must(ctx, lsp_hash_get_info(table, &info));
    int64_t distinct = 0;
    for (int64_t i = 0; i < c->n; i++) {
        distinct += i == 0 || d.order[i].key != d.order[i - 1].key;
    }
    cr_assert(info.n == c->n && info.distinct == distinct && info.buckets >= 2 && info.bytes >= info.buckets * 64);
    check_find(ctx, table, &d, probes);
    check_all(ctx, table, &d, probes);
    check_some(ctx, table, &d, probes, 1 + c->n % 5);
    lsp_hash_destroy(table);
    lsp_free(ctx, probes);
    free_data(&d);
}

TEST_ON_BOTH(hash, every_type_is_found_with_all_its_matches) {
    static const lsp_type types[] = {LSP_U32, LSP_I64, LSP_I32, LSP_U64};
    static const size_t values[] = {0, 4, 8, 16};
    const int64_t lengths[] = {0, 1, 9, 1000, is_slow(ctx) ? 6000 : 60000};
    int number = 0;
    for (int t = 0; t < 4; t++) {
        for (int v = 0; v < 4; v++) {
            for (int l = 0; l < 5; l++, number++) {
                const int64_t n = lengths[l], from[] = {0, n / 8 + 1, n, 1};
                check_case(
                    ctx, &(hash_case){.n = n,
                                      .probes = n == 0 ? 40 : lsp_min(n + 3, 20000),
                                      .key_type = types[t],
                                      .value_bytes = values[v],
                                      .keys = l == 4 && number % 4 == 3 ? n / 100 : from[number % 4 % (l < 4 ? 4 : 3)],
                                      .positions = (v == 1 || v == 2) && number % 3 == 0,
                                      .load = number % 3 == 1   ? 1.0
                                              : number % 3 == 2 ? 0.1
                                                                : 0,
                                      .seed = (uint64_t)number * 77});
            }
        }
    }
}

TEST_ON_BOTH(hash, keys_that_crowd_one_bucket_are_found) {
    const int64_t n = is_slow(ctx) ? 3000 : 20000;
    for (int crowded = 8; crowded <= 2048; crowded *= 2) {
        check_case(ctx, &(hash_case){.n = n,
                                     .probes = n,
                                     .key_type = LSP_U32,
                                     .value_bytes = crowded % 3 == 2 ? 4 : 8,
                                     .keys = crowded == 1024 ? 500 : 0,
                                     .seed = 5,
                                     .crowded = crowded + crowded % 3 - 1});
    }
    check_case(ctx, &(hash_case){.n = 2000, .probes = 3000, .key_type = LSP_U32, .value_bytes = 4, .crowded = 2000});
}

TEST_ON_BOTH(hash, no_probes_and_no_keys) {
    lsp_hash *table = NULL;
    must(ctx, lsp_hash_build(
                  ctx, &(lsp_hash_args){.key_type = LSP_U64, .value_bytes = 16, .where = ctx->options.device}, &table));
    void *offsets = put_there(ctx, NULL, 8);
    int64_t total = 5;
    must(ctx, lsp_hash_find(table, &(lsp_hash_probes){.n = 0}));
    must(ctx, lsp_hash_find_all(table, &(lsp_hash_probes){.offsets = offsets}, &total));
    int64_t *back = get_back(ctx, offsets, 8);
    cr_assert(total == 0 && *back == 0);
    free(back);
    void *left = put_there(ctx, NULL, 8);
    must(ctx, lsp_hash_find_some(table, &(lsp_hash_probes){.cap = 1, .left = left}));
    back = get_back(ctx, left, 8);
    cr_assert_eq(*back, 0);
    free(back);
    DROP(ctx, offsets, left);
    lsp_hash_destroy(table);
    lsp_hash_destroy(NULL);
}

Test(hash, the_mixer_is_a_bijection) {
    uint64_t state = 3;
    for (int i = 0; i < 100000; i++) {
        const uint32_t x = (uint32_t)test_random(&state);
        cr_assert_eq(lsp_hash_mix32(unmixed(x, state), state), x);
    }
}

Test(hash, runs_of_very_many_values_are_counted) {
    uint64_t keys[] = {4, 9};
    int64_t heads[] = {0, INT64_C(1) << 30, (INT64_C(1) << 30) + 3};
    const lsp_hash_view view = {
        .kind = LSP_HASH_RUNS, .wide_keys = true, .keys = keys, .heads = heads, .distinct = 2, .buckets = 2};
    for (int u = 0; u < 2; u++) {
        const lsp_hash_match match = lsp_hash_match_of(&view, lsp_hash_slot_of(&view, u));
        cr_assert_eq(match.count, heads[u + 1] - heads[u]);
        cr_assert_eq((int64_t)match.at, heads[u]);
    }
    cr_assert_eq(lsp_hash_lower(&view, 0, 5), 1);
}
