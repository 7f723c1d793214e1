/* One case of the segmented sort, on the host or on a GPU: arrays are filled and sorted there. Every byte, gaps between
 * segments and guards behind arrays included, is compared with the result of the reference on the same arrays. */
#pragma once

#include "core/cuda.h"
#include "keys.h"
#include "layouts.h"
#include "segsort/segsort.h"
#include <malloc.h>

/* Cases make and free large arrays thousands of times: freed memory stays with the process, or the kernel would clear
 * its pages each time. */
__attribute__((constructor)) static void keep_freed_memory(void) {
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 30);
    (void)mallopt(M_TRIM_THRESHOLD, INT32_MAX);
}

/* ---- requests ---- */

typedef struct request {
    lsp_type key_type;
    size_t value_bytes;
    unsigned flags;
    int begin_bit, end_bit;
    key_fill fill;
    bool in_place, changes, planned, narrow; /* narrow: offsets of 32 bits */
    bool groups;
    int64_t max_length, first;
    uint64_t seed;
} request;

enum {
    KEYS,
    KEYS_OUT,
    VALUES,
    VALUES_OUT,
    OFFSETS,
    ENDS,
    CHANGE,
    CHANGE_AT,
    CHANGE_COUNT,
    GROUP_AT,
    GROUP_COUNT,
    PARTS,
    GUARD = 64
};

/* One array of a case: `shift` free items, the array, GUARD bytes. */
typedef struct part {
    char *memory;
    int64_t items;
    size_t item_bytes;
} part;
typedef struct arrays {
    part parts[PARTS];
    lsp_where where;
    int shift;
} arrays;

static inline int64_t part_bytes(const arrays *all, int i) {
    const part *p = &all->parts[i];
    return p->item_bytes == 0 ? 0 : (p->items + all->shift) * (int64_t)p->item_bytes + GUARD;
}
/* The address of an array; NULL if the case does not have it. */
static inline void *part_at(const arrays *all, int i) {
    const part *p = &all->parts[i];
    return p->item_bytes == 0 ? NULL : p->memory + (size_t)all->shift * p->item_bytes;
}

static inline lsp_segsort_args arguments(const layout *where, const request *what, const arrays *all) {
    bool positions = (what->flags & (LSP_SORT_POSITIONS | LSP_SORT_GLOBAL_POSITIONS)) != 0;
    return (lsp_segsort_args){.n = where->n,
                              .segments = where->segments,
                              .offsets = part_at(all, OFFSETS),
                              .ends = part_at(all, ENDS),
                              .length = where->length,
                              .max_length = what->max_length,
                              .offset_type = what->narrow ? LSP_I32 : LSP_I64,
                              .key_type = what->key_type,
                              .value_bytes = what->value_bytes,
                              .keys = part_at(all, KEYS),
                              .keys_out = part_at(all, what->in_place ? KEYS : KEYS_OUT),
                              .values = part_at(all, VALUES),
                              .values_out = part_at(all, what->in_place && !positions ? VALUES : VALUES_OUT),
                              .begin_bit = what->begin_bit,
                              .end_bit = what->end_bit,
                              .flags = what->flags,
                              .change = part_at(all, CHANGE),
                              .change_at = part_at(all, CHANGE_AT),
                              .change_count = part_at(all, CHANGE_COUNT),
                              .group_at = part_at(all, GROUP_AT),
                              .group_count = part_at(all, GROUP_COUNT),
                              .first = what->first,
                              .where = all->where};
}

/* ---- arrays made, moved, compared ---- */

static inline void fill_indices(const arrays *all, int i, const int64_t *from, bool narrow) {
    for (int64_t s = 0; s < all->parts[i].items; s++) {
        lsp_index_set(part_at(all, i), narrow ? LSP_I32 : LSP_I64, s, from[s]);
    }
}

static inline void fill_arrays(const layout *where, const request *what, const arrays *all) {
    uint64_t state = what->seed;
    fill_indices(all, OFFSETS, where->offsets, what->narrow);
    fill_indices(all, ENDS, where->ends, what->narrow);
    for (int64_t i = 0; i < where->n; i++) {
        set_key(part_at(all, KEYS), what->key_type, i, key_bits(what->key_type, what->fill, i, where->n, &state));
    }
    for (int64_t i = 0; i < all->parts[VALUES].items;
         i++) { /* values are positions: they show a sort that is not stable */
        for (size_t word = 0; word < what->value_bytes / 4; word++) {
            ((uint32_t *)part_at(all, VALUES))[(size_t)i * what->value_bytes / 4 + word] =
                (uint32_t)i + (uint32_t)word * 0x10000000u;
        }
    }
    if (what->fill == FILL_ONE_LARGE) {
        lsp_segsort_args args = arguments(where, what, all);
        for (int64_t s = 0; s < where->segments; s++) {
            int64_t begin, end;
            lsp_segsort_bounds(&args, s, &begin, &end);
            if (begin < end) {
                set_key(part_at(all, KEYS), what->key_type, begin + (end - begin) / 3, UINT64_MAX);
            }
        }
    }
}

static inline arrays make_arrays(const layout *where, const request *what) {
    bool positions = (what->flags & (LSP_SORT_POSITIONS | LSP_SORT_GLOBAL_POSITIONS)) != 0;
    size_t key = lsp_type_bytes(what->key_type), index = what->narrow ? 4 : 8, value = what->value_bytes;
    arrays all = {.shift = (int)(what->seed % 4)}; /* arrays need not begin at a multiple of 64 bytes */
    all.parts[KEYS] = (part){NULL, where->n, key};
    all.parts[KEYS_OUT] = (part){NULL, where->n, what->in_place ? 0 : key};
    all.parts[VALUES] = (part){NULL, positions ? 0 : where->n, positions ? 0 : value};
    all.parts[VALUES_OUT] = (part){NULL, where->n, what->in_place && !positions ? 0 : value};
    all.parts[OFFSETS] = (part){NULL, where->segments + !where->ends, where->offsets ? index : 0};
    all.parts[ENDS] = (part){NULL, where->segments, where->ends ? index : 0};
    if (what->changes) {
        all.parts[CHANGE] = (part){NULL, where->n, 1};
        all.parts[CHANGE_AT] = (part){NULL, where->n, index};
        all.parts[CHANGE_COUNT] = (part){NULL, where->segments, index};
    }
    if (what->groups) {
        all.parts[GROUP_AT] = (part){NULL, where->n + 1, index};
        all.parts[GROUP_COUNT] = (part){NULL, 1, sizeof(int64_t)};
    }
    for (int i = 0; i < PARTS; i++) {
        if (all.parts[i].item_bytes == 0) {
            all.parts[i] = (part){0};
            continue;
        }
        all.parts[i].memory = malloc((size_t)part_bytes(&all, i));
        memset(all.parts[i].memory, 0x5A, (size_t)part_bytes(&all, i));
    }
    fill_arrays(where, what, &all);
    return all;
}

static inline arrays copy_arrays(lsp_ctx *ctx, const arrays *from, lsp_where where) {
    arrays to = *from;
    to.where = where;
    for (int i = 0; i < PARTS; i++) {
        int64_t bytes = part_bytes(from, i);
        void *memory = NULL;
        if (bytes == 0) {
            continue;
        }
        if (where == LSP_CUDA) {
            must(ctx, lsp_alloc(ctx, LSP_CUDA, bytes, 1, &memory));
        } else {
            memory = malloc((size_t)bytes);
        }
        to.parts[i].memory = memory;
        if (where == LSP_CUDA || from->where == LSP_CUDA) {
            must(ctx, lsp_cuda_copy(ctx, memory, where, from->parts[i].memory, from->where, bytes));
        } else {
            memcpy(memory, from->parts[i].memory, (size_t)bytes);
        }
    }
    return to;
}

static inline void free_arrays(lsp_ctx *ctx, arrays *all) {
    for (int i = 0; i < PARTS; i++) {
        if (all->where == LSP_CUDA) {
            lsp_free(ctx, all->parts[i].memory);
        } else {
            free(all->parts[i].memory);
        }
    }
    *all = (arrays){0};
}

static inline void must_equal(const lsp_ctx *ctx, const layout *where, const request *what, const arrays *right,
                              const arrays *ours) {
    static const char *const names[] = {"keys",   "sorted keys", "values",       "sorted values", "offsets",    "ends",
                                        "change", "change_at",   "change_count", "group_at",      "group_count"};
    for (int i = 0; i < PARTS; i++) {
        int64_t bytes = part_bytes(right, i), at = 0;
        if (bytes == 0 || bytes != part_bytes(ours, i) ||
            memcmp(right->parts[i].memory, ours->parts[i].memory, (size_t)bytes) == 0) {
            continue; /* the reference may have been given another form of segments */
        }
        while (right->parts[i].memory[at] == ours->parts[i].memory[at]) {
            at++;
        }
        cr_assert(
            false,
            "%s (%s): %s wrong at item %lld; first %lld, keys of type %d, %s, values of %zu, flags %u, bits %d to %d, "
            "%lld "
            "items, %lld segments, in place %d, planned %d, narrow %d, longest %lld, seed %llu, isa %d, threads %d",
            where->name, ctx->options.device == LSP_CUDA ? "GPU" : "CPU", names[i],
            (long long)(at / (int64_t)right->parts[i].item_bytes - right->shift), (long long)what->first,
            (int)what->key_type, fill_name(what->fill), what->value_bytes, what->flags, what->begin_bit, what->end_bit,
            (long long)where->n, (long long)where->segments, what->in_place, what->planned, what->narrow,
            (long long)what->max_length, (unsigned long long)what->seed, (int)ctx->isa, ctx->options.threads);
    }
}

/* ---- tables of a GPU: the result never depends on them ---- */

/* The shipped table, the shipped table without the kernels for few items, or a random table. */
static inline void use_some_table(lsp_ctx *ctx, uint64_t seed) {
    uint64_t state = seed;
    lsp_segsort_table table;
    must(ctx, lsp_segsort_set_table(ctx, NULL));
    if (seed % 4 == 0) {
        return;
    }
    must(ctx, lsp_segsort_get_table(ctx, &table));
    table.small_items = seed % 4 == 1 ? (int32_t)test_below(&state, LSP_SORT_SMALL_ITEMS) : 0;
    table.few_items = test_below(&state, 4) == 0 ? (int32_t)test_below(&state, 1 << 16) : 0;
    table.select_first = (int32_t)test_below(&state, LSP_SORT_SELECT_FIRST + 1);
    table.select_shortest = LSP_SORT_TILE_LONGEST + (int32_t)test_below(&state, test_below(&state, 2) ? 8128 : 64);
    if (seed % 2 == 1) {
        table.tile_longest = 1 + (int32_t)test_below(&state, LSP_SORT_TILE_LONGEST);
        for (int c = 0; c < LSP_SORT_CLASSES - 1; c++) {
            const int32_t before = c > 0 ? table.class_longest[c - 1] : 0, most = lsp_segsort_class_most(c);
            table.class_longest[c] =
                (c == LSP_SORT_CLASSES - 5 || test_below(&state, 2)) && most > lsp_segsort_class_most(c - 1) ? most
                                                                                                             : before;
        }
    }
    must(ctx, lsp_segsort_set_table(ctx, &table));
}

/* ---- a case: started, then finished; on a GPU the sort runs in between ---- */

typedef struct started {
    lsp_ctx *ctx;
    const layout *where;
    request what;
    arrays right, ours;
    lsp_segsort_plan *plan;
} started;

/* `right`: the layout for the reference, or NULL for the same one. */
static inline started start_case(lsp_ctx *ctx, const layout *where, const layout *right, const request *what) {
    started it = {.ctx = ctx, .where = where, .what = *what};
    if (ctx->options.device == LSP_CUDA) {
        use_some_table(ctx, what->seed + (uint64_t)where->n / 3);
    }
    const layout *other = right ? right : where;
    request free_of_limit = *what;
    free_of_limit.max_length = 0;
    arrays input = make_arrays(where, what);
    it.ours = copy_arrays(ctx, &input, ctx->options.device);
    it.right = right ? make_arrays(other, what) : copy_arrays(ctx, &input, LSP_HOST);
    lsp_segsort_args args = arguments(other, &free_of_limit, &it.right);
    must(ctx, lsp_segsort_ref(ctx, &args));
    for (int i = OFFSETS; i <= ENDS; i++) { /* the sort must not change them */
        if (right && part_bytes(&input, i) == part_bytes(&it.right, i) && input.parts[i].items > 0) {
            memcpy(it.right.parts[i].memory, input.parts[i].memory, (size_t)part_bytes(&input, i));
        }
    }
    args = arguments(where, what, &it.ours);
    if (what->planned) {
        must(ctx, lsp_segsort_plan_create(ctx, &args, &it.plan));
        must(ctx, lsp_segsort_execute(it.plan, &args));
    } else {
        lsp_status status = lsp_segsort(ctx, &args, NULL);
        cr_assert(status == LSP_OK, "%s: %s: %s", where->name, lsp_status_name(status), lsp_last_error(ctx));
    }
    free_arrays(ctx, &input);
    return it;
}

/* Puts the reference's items behind the first ones of each segment: the sort may leave anything there. */
static inline void replace_rest(const started *it, arrays *back) {
    const size_t key = lsp_type_bytes(it->what.key_type), value = it->what.value_bytes;
    const lsp_segsort_args right = arguments(it->where, &it->what, &it->right);
    const lsp_segsort_args ours = arguments(it->where, &it->what, back);
    for (int64_t s = 0; it->what.first > 0 && s < it->where->segments; s++) {
        int64_t begin, end;
        lsp_segsort_bounds(&ours, s, &begin, &end);
        begin += lsp_min(it->what.first, end - begin);
        const size_t n = (size_t)(end - begin), at = (size_t)begin;
        memcpy((char *)ours.keys_out + at * key, (char *)right.keys_out + at * key, n * key);
        if (value > 0) {
            memcpy((char *)ours.values_out + at * value, (char *)right.values_out + at * value, n * value);
        }
    }
}

static inline void finish_case(started *it) {
    arrays back = copy_arrays(it->ctx, &it->ours, LSP_HOST);
    replace_rest(it, &back);
    must_equal(it->ctx, it->where, &it->what, &it->right, &back);
    lsp_segsort_plan_destroy(it->plan);
    free_arrays(it->ctx, &back);
    free_arrays(it->ctx, &it->ours);
    free_arrays(it->ctx, &it->right);
}

static inline void check_case(lsp_ctx *ctx, const layout *where, request what) {
    started it = start_case(ctx, where, NULL, &what);
    must(ctx, lsp_ctx_sync(ctx));
    finish_case(&it);
}

/* A random request. */
static inline request any_request(uint64_t *state) {
    request what = {.key_type = key_types[test_below(state, KEY_TYPES)],
                    .value_bytes = value_sizes[test_below(state, VALUE_SIZES)],
                    .flags = (unsigned)test_below(state, 2),
                    .fill = (key_fill)test_below(state, FILL_KINDS),
                    .in_place = test_below(state, 2),
                    .changes = test_below(state, 4) == 0,
                    .planned = test_below(state, 2),
                    .narrow = test_below(state, 2)};
    if (test_below(state, 5) == 0 && (what.value_bytes == 4 || what.value_bytes == 8)) {
        what.flags |= (unsigned)(test_below(state, 2) ? LSP_SORT_POSITIONS : LSP_SORT_GLOBAL_POSITIONS);
    }
    what.flags |= test_below(state, 4) == 0 ? LSP_SORT_EQUAL_ZEROS : 0;
    what.seed = test_random(state);
    return what;
}

/* ---- the same test on both devices ---- */

/* Tests with many similar cases run one of every `one_in`. */
static int one_in = 1;

/* Instruction sets below the best one run fewer cases. */
static inline void on_the_cpu(void (*test)(lsp_ctx *ctx)) {
    lsp_ctx *ctx = test_ctx(3);
    int best = (int)ctx->isa;
    for (int isa = best; isa >= 0; isa--) {
        one_in = isa == best ? test_one_in() : 11;
        ctx->isa = (lsp_isa)isa;
        test(ctx);
    }
    lsp_ctx_destroy(ctx);
}
static inline void on_the_gpu(void (*test)(lsp_ctx *ctx)) {
    lsp_ctx *ctx = test_gpu_ctx_or_skip();
    one_in = test_one_in();
    test(ctx);
    lsp_ctx_destroy(ctx);
}
