/* One sort of a whole array, on the host or on a GPU. Every byte, guards behind arrays included, is compared with the
 * result of the segmented sort's reference. */
#pragma once

#include "core/cuda.h"
#include "segsort/segsort.h"
#include "slab_sort/slab_sort.h"
#include "tests/gather_scatter/places.h"
#include "tests/segsort/keys.h"

enum { FILL_SKEWED = FILL_KINDS /* as many keys of each length in bits */, SORT_FILLS, GUARD = 64 /* bytes */ };

typedef struct sort_case {
    int64_t n;
    lsp_type key_type;
    size_t value_bytes;
    unsigned flags;
    int begin_bit, end_bit;
    int fill;
    lsp_sort_method method;
    bool in_place, planned, no_keys, changes;
} sort_case;

static inline bool wants_positions(const sort_case *c) { return (c->flags & LSP_SORT_POSITIONS) != 0; }

static inline void fill_case(const sort_case *c, char *keys, char *values) {
    uint64_t state = (uint64_t)c->n * 31 + (uint64_t)c->key_type * 7 + c->value_bytes + (uint64_t)c->fill;
    const int width = 8 * (int)lsp_type_bytes(c->key_type);
    for (int64_t i = 0; i < c->n; i++) {
        const uint64_t any = test_random(&state);
        set_key(keys, c->key_type, i,
                c->fill == FILL_SKEWED ? (width == 32 ? any >> 32 : any) >> (any % (unsigned)width)
                                       : key_bits(c->key_type, (key_fill)c->fill, i, c->n, &state));
        for (size_t k = 0; k < c->value_bytes; k += 4) {
            const uint32_t word = (uint32_t)test_random(&state);
            memcpy(values + (size_t)i * c->value_bytes + k, &word, 4);
        }
    }
    if (c->fill == FILL_ONE_LARGE && c->n > 0) {
        set_key(keys, c->key_type, c->n / 3, UINT64_MAX);
    }
}

/* The arguments for these arrays. */
static inline lsp_sort_args sort_args(const sort_case *c, void *keys, void *keys_out, void *values, void *values_out,
                                      unsigned char *change, lsp_where where) {
    const bool has = c->value_bytes > 0;
    return (lsp_sort_args){.n = c->n,
                           .key_type = c->key_type,
                           .value_bytes = c->value_bytes,
                           .keys = keys,
                           .keys_out = c->no_keys ? NULL : keys_out,
                           .values = has && !wants_positions(c) ? values : NULL,
                           .values_out = has ? values_out : NULL,
                           .begin_bit = c->begin_bit,
                           .end_bit = c->end_bit,
                           .flags = c->flags,
                           .change = c->changes ? change : NULL,
                           .method = c->method,
                           .where = where};
}

/* Sorts by the specification; the outputs are other arrays. */
static inline void sort_by_reference(lsp_ctx *ctx, const lsp_sort_args *a) {
    const lsp_segsort_args whole = {.n = a->n,
                                    .segments = a->n > 0,
                                    .length = a->n,
                                    .key_type = a->key_type,
                                    .value_bytes = a->value_bytes,
                                    .keys = a->keys,
                                    .keys_out = a->keys_out,
                                    .values = a->values,
                                    .values_out = a->values_out,
                                    .begin_bit = a->begin_bit,
                                    .end_bit = a->end_bit,
                                    .flags = a->flags,
                                    .change = a->change};
    must(ctx, lsp_segsort_ref(ctx, &whole));
}

static inline void must_be_sorted(const sort_case *c, const char *what, const char *right, const char *ours,
                                  int64_t bytes, size_t item) {
    if (memcmp(right, ours, (size_t)bytes) != 0) {
        int64_t at = 0;
        while (right[at] == ours[at]) {
            at++;
        }
        cr_assert(false,
                  "%s wrong at item %lld: %lld keys of %s, values of %zu, fill %d (%s), flags %u, bits %d to %d, "
                  "method %s, in place %d, planned %d, without keys %d",
                  what, (long long)(at / (int64_t)item), (long long)c->n, lsp_type_name(c->key_type), c->value_bytes,
                  c->fill, c->fill < FILL_KINDS ? fill_name((key_fill)c->fill) : "skewed", c->flags, c->begin_bit,
                  c->end_bit, lsp_sort_method_name(c->method), c->in_place, c->planned, c->no_keys);
    }
}

/* Has the context the method for so many items? A split takes fewer on a GPU with few multiprocessors or little shared
 * memory. */
static inline bool offers_method(lsp_ctx *ctx, const lsp_sort_args *args) {
    const bool any = args->method == LSP_SORT_AUTO || args->method == LSP_SORT_RADIX;
    return any || (args->where == LSP_CUDA && args->n <= lsp_sort_ways[args->method]->longest(ctx, args));
}

static inline void run_sort(lsp_ctx *ctx, const sort_case *c, const lsp_sort_args *args) {
    lsp_sort_plan *plan = NULL;
    lsp_sort_info info;
    if (c->planned) {
        must(ctx, lsp_sort_plan_create(ctx, args, &plan));
        must(ctx, lsp_sort_plan_get_info(plan, &info));
        must(ctx, lsp_sort_execute(plan, args));
        must(ctx, lsp_ctx_sync(ctx));
        lsp_sort_plan_destroy(plan);
    } else {
        must(ctx, lsp_sort(ctx, args, &info));
    }
    cr_assert(info.method != LSP_SORT_AUTO && info.reason[0] != 0);
    cr_assert(c->method == LSP_SORT_AUTO || info.method == c->method);
}

static inline void check_sort(lsp_ctx *ctx, sort_case c) {
    const int64_t key_bytes = c.n * (int64_t)lsp_type_bytes(c.key_type) + GUARD,
                  value_bytes = c.n * (int64_t)c.value_bytes + GUARD;
    char *keys = malloc((size_t)key_bytes), *values = malloc((size_t)value_bytes);
    char *right = malloc((size_t)key_bytes), *right_values = malloc((size_t)value_bytes);
    unsigned char *right_change = malloc((size_t)(c.n + GUARD));
    memset(right_change, 0xA5, (size_t)(c.n + GUARD));
    memset(keys, 0xA5, (size_t)key_bytes), memset(values, 0xA5, (size_t)value_bytes);
    memset(right, 0xA5, (size_t)key_bytes), memset(right_values, 0xA5, (size_t)value_bytes);
    fill_case(&c, keys, values);
    lsp_sort_args args = sort_args(&c, keys, right, values, right_values, right_change, LSP_HOST);
    sort_by_reference(ctx, &args);
    const bool replaces = c.in_place && !wants_positions(&c);
    char *from = put_there(ctx, keys, key_bytes), *to = c.in_place ? from : put_there(ctx, NULL, key_bytes);
    char *value_from = put_there(ctx, values, value_bytes),
         *value_to = replaces ? value_from : put_there(ctx, NULL, value_bytes);
    unsigned char *change = put_there(ctx, NULL, c.n + GUARD);
    args = sort_args(&c, from, to, value_from, value_to, change, ctx->options.device);
    args.method = c.method = offers_method(ctx, &args) ? c.method : LSP_SORT_AUTO;
    run_sort(ctx, &c, &args);
    char *sorted = get_back(ctx, to, key_bytes), *moved = get_back(ctx, value_to, value_bytes);
    must_be_sorted(&c, "keys", c.no_keys && c.in_place ? keys : right, sorted, key_bytes, lsp_type_bytes(c.key_type));
    if (c.value_bytes > 0) {
        must_be_sorted(&c, "values", right_values, moved, value_bytes, c.value_bytes);
    }
    if (c.changes) {
        char *changed = get_back(ctx, change, c.n + GUARD);
        must_be_sorted(&c, "changes", (char *)right_change, changed, c.n + GUARD, 1);
        free(changed);
    }
    free(right_change);
    DROP(ctx, from, value_from, change);
    if (to != from) {
        lsp_free(ctx, to);
    }
    if (value_to != value_from) {
        lsp_free(ctx, value_to);
    }
    free(keys), free(values), free(right), free(right_values), free(sorted), free(moved);
}

/* Every n-th case is tried; this is n. */
static inline int sort_pace(const lsp_ctx *ctx) { return is_slow(ctx) ? 9 : getenv("LSP_TEST_REDUCED") ? 7 : 1; }
