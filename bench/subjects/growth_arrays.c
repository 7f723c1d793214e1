/* Ladders of growth: sorts of keys, moves, hash tables, pairs of points and suffix arrays. Of results that are arrays
 * the first 2^24 items are checked. */
#include "growth.h"
#include "moves.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CHECKED = 1 << 24, EVEN = 64 /* keys of a segment */, SKEWED = 14 /* others have up to 2^13 */ };

static bool is(const growth_step *s, const char *kind) { return strcmp(strchr(s->ladder, '/') + 1, kind) == 0; }
static size_t bytes_of(const growth_step *s, size_t each) { return (size_t)s->size * each; }

static void release(growth_step *s) {
    lsp_csr_free(s->ctx, &s->C);
    lsp_hash_destroy(s->made);
    s->made = NULL;
}

static void drop(growth_step *s) {
    release(s);
    lsp_hash_destroy(s->table);
    lsp_gather_plan_destroy(s->move);
    for (int k = 0; k < GROWTH_ARRAYS; k++) {
        lsp_array_free(s->arrays + k);
    }
    free(s->host);
    free(s->offsets);
    *s = (growth_step){0};
}

static lsp_status make_arrays(growth_step *s, int first, int count, size_t each) {
    lsp_status status = LSP_OK;
    for (int k = first; k < first + count && status == LSP_OK; k++) {
        status = growth_put(s, k, NULL, bytes_of(s, each));
    }
    return status;
}

static void tell(growth_step *s, double bytes, const char *choice) {
    s->work = (double)s->size;
    s->bytes = bytes * s->work;
    s->choice = choice;
}

/* The first items of an array of 32-bit words, to be freed; *n: how many. NULL: not enough memory, or no such copy. */
static uint32_t *read_words(growth_step *s, int which, int64_t *n) {
    *n = s->size < MOST_CHECKED ? s->size : MOST_CHECKED;
    uint32_t *words = malloc((size_t)*n * 4);
    if (words && lsp_array_copy(s->ctx, words, LSP_HOST, s->arrays[which].memory, s->where, (size_t)*n * 4) != LSP_OK) {
        free(words);
        return NULL;
    }
    return words;
}

/* ---- sorts: keys and their positions ---- */

enum { KEYS, SORTED, PLACES, OFFSETS };

static lsp_status make_keys(growth_step *s) {
    const bool even = is(s, "even");
    uint32_t *keys = s->host = malloc(bytes_of(s, 4));
    int32_t *offsets = s->offsets = malloc(bytes_of(s, 4) + 8);
    if (!keys || !offsets) {
        return LSP_ERR_MEMORY;
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < s->size; i++) {
        keys[i] = (uint32_t)(even ? bench_draw(1, i) >> 32 : (bench_draw(1, i) >> 60) * 0x11111111);
    }
    int64_t at = 0;
    for (s->segments = 0; at < s->size; s->segments++) {
        offsets[s->segments] = (int32_t)at;
        at += even ? EVEN : INT64_C(1) << bench_draw(2, s->segments) % SKEWED;
    }
    offsets[s->segments] = (int32_t)s->size;
    lsp_status status = growth_put(s, KEYS, keys, bytes_of(s, 4));
    if (status == LSP_OK) {
        status = growth_put(s, OFFSETS, offsets, (size_t)(s->segments + 1) * 4);
    }
    return status == LSP_OK ? make_arrays(s, SORTED, 2, 4) : status;
}

static lsp_status run_sort(growth_step *s) {
    const lsp_sort_args args = {.n = s->size,
                                .key_type = LSP_U32,
                                .value_bytes = 4,
                                .keys = s->arrays[KEYS].memory,
                                .keys_out = s->arrays[SORTED].memory,
                                .values_out = s->arrays[PLACES].memory,
                                .flags = LSP_SORT_POSITIONS,
                                .where = s->where};
    return lsp_sort(s->ctx, &args, &s->info.sort);
}
static lsp_status run_segsort(growth_step *s) {
    const lsp_segsort_args args = {.n = s->size,
                                   .segments = s->segments,
                                   .offsets = s->arrays[OFFSETS].memory,
                                   .offset_type = LSP_I32,
                                   .key_type = LSP_U32,
                                   .value_bytes = 4,
                                   .keys = s->arrays[KEYS].memory,
                                   .keys_out = s->arrays[SORTED].memory,
                                   .values_out = s->arrays[PLACES].memory,
                                   .flags = LSP_SORT_GLOBAL_POSITIONS,
                                   .where = s->where};
    return lsp_segsort(s->ctx, &args, &s->info.segsort);
}
static bool check_order(growth_step *s, const int32_t *offsets, int64_t segments) {
    int64_t n, segment = 0;
    uint32_t *keys = read_words(s, SORTED, &n), *places = read_words(s, PLACES, &n);
    bool right = keys && places;
    for (int64_t i = 0; right && i < n; i++) {
        while (segment < segments && i >= offsets[segment + 1]) {
            segment++;
        }
        const bool first = i == 0 || (segments > 0 && i == offsets[segment]);
        right = places[i] < s->size && ((uint32_t *)s->host)[places[i]] == keys[i] &&
                (first || keys[i - 1] < keys[i] || (keys[i - 1] == keys[i] && places[i - 1] < places[i]));
    }
    free(keys), free(places);
    return right;
}
static bool check_sort(growth_step *s) {
    tell(s, 12, lsp_sort_method_name(s->info.sort.method));
    return check_order(s, NULL, 0);
}
static bool check_segsort(growth_step *s) {
    tell(s, 12, NULL);
    return check_order(s, s->offsets, s->segments);
}
static const growth_verb of_keys[] = {
    {"sort", "keys", NULL, run_sort, check_sort}, {"segsort", "keys", NULL, run_segsort, check_segsort}, {NULL}};

/* ---- moves: of words that are their own positions ---- */

enum { INDEX, FROM, TO };

static lsp_status make_moves(growth_step *s) {
    int32_t *index = s->host = malloc(bytes_of(s, 4)), *from = malloc(bytes_of(s, 4));
    lsp_status status = LSP_ERR_MEMORY;
    if (index && from && bench_move_fill(strchr(s->ladder, '/') + 1, (int)log2((double)s->size), index)) {
        status = growth_put(s, INDEX, index, bytes_of(s, 4));
        for (int64_t i = 0; i < s->size; i++) {
            from[i] = (int32_t)i;
        }
    }
    if (status == LSP_OK && (status = growth_put(s, FROM, from, bytes_of(s, 4))) == LSP_OK) {
        status = make_arrays(s, TO, 1, 4);
    }
    free(from);
    return status;
}

static lsp_gather_args move_args(const growth_step *s, lsp_column *column) {
    *column = (lsp_column){.from = s->arrays[FROM].memory, .to = s->arrays[TO].memory, .bytes = 4};
    return (lsp_gather_args){.n = s->size,
                             .extent = s->size,
                             .index = s->arrays[INDEX].memory,
                             .index_type = LSP_I32,
                             .columns = column,
                             .column_count = 1,
                             .where = s->where};
}
static lsp_status run_gather(growth_step *s) {
    lsp_column column;
    const lsp_gather_args args = move_args(s, &column);
    return s->move ? lsp_gather_execute(s->move, &column, 1) : lsp_gather(s->ctx, &args, &s->info.move);
}
static lsp_status prepare_gather(growth_step *s) {
    lsp_column column;
    const lsp_gather_args args = move_args(s, &column);
    const lsp_status status = lsp_gather_plan_create(s->ctx, &args, &s->move);
    return status == LSP_OK ? lsp_gather_plan_get_info(s->move, &s->info.move) : status;
}
static lsp_status run_scatter(growth_step *s) {
    lsp_column column;
    const lsp_gather_args args = move_args(s, &column);
    return lsp_scatter(s->ctx, &args, &s->info.move);
}
static bool check_moved(growth_step *s, bool scattered) {
    int64_t n;
    const uint32_t *index = s->host;
    uint32_t *to = read_words(s, TO, &n);
    bool right = to != NULL;
    tell(s, 12, lsp_strategy_name(s->info.move.strategy));
    for (int64_t i = 0; right && i < n; i++) {
        right = scattered ? to[i] < s->size && index[to[i]] == i : to[i] == index[i];
    }
    free(to);
    return right;
}
static bool check_gather(growth_step *s) { return check_moved(s, false); }
static bool check_scatter(growth_step *s) { return check_moved(s, true); }
static const growth_verb of_moves[] = {{"gather", "words", NULL, run_gather, check_gather},
                                       {"scatter", "words", NULL, run_scatter, check_scatter},
                                       {"gather_plan", "words", prepare_gather, run_gather, check_gather},
                                       {NULL}};

/* ---- hash tables: keys once, or 8 times ---- */

static lsp_status make_hash(growth_step *s) {
    uint32_t *keys = s->host = malloc(bytes_of(s, 4));
    const int64_t distinct = is(s, "m8") ? s->size / 8 : s->size;
    for (int64_t i = 0; keys && i < s->size; i++) {
        keys[i] = (uint32_t)(bench_draw(3, i % distinct) >> 32);
    }
    const lsp_status status = keys ? growth_put(s, KEYS, keys, bytes_of(s, 4)) : LSP_ERR_MEMORY;
    return status == LSP_OK ? make_arrays(s, PLACES, 1, 4) : status;
}
static lsp_status build(growth_step *s, lsp_hash **table) {
    const lsp_hash_args args = {.n = s->size,
                                .key_type = LSP_U32,
                                .value_bytes = 4,
                                .keys = s->arrays[KEYS].memory,
                                .flags = LSP_HASH_POSITIONS,
                                .where = s->where};
    return lsp_hash_build(s->ctx, &args, table);
}
static lsp_status run_build(growth_step *s) { return build(s, &s->made); }
static bool check_build(growth_step *s) {
    lsp_hash_info info;
    const bool right = lsp_hash_get_info(s->made, &info) == LSP_OK && info.n == s->size;
    tell(s, 4 + (right ? (double)info.bytes / (double)s->size : 0), NULL);
    return right;
}
static lsp_status prepare_find(growth_step *s) { return build(s, &s->table); }
static lsp_status run_find(growth_step *s) {
    return lsp_hash_find(
        s->table, &(lsp_hash_probes){.n = s->size, .keys = s->arrays[KEYS].memory, .values = s->arrays[PLACES].memory});
}
static bool check_find(growth_step *s) {
    int64_t n;
    const uint32_t *keys = s->host;
    uint32_t *places = read_words(s, PLACES, &n);
    bool right = places != NULL;
    tell(s, 24, NULL);
    for (int64_t i = 0; right && i < n; i++) {
        right = places[i] <= i && keys[places[i]] == keys[i];
    }
    free(places);
    return right;
}
static const growth_verb of_hash[] = {
    {"build", "keys", NULL, run_build, check_build}, {"find", "keys", prepare_find, run_find, check_find}, {NULL}};

/* ---- pairs of points in the unit cube: as many neighbours at every size ---- */

enum { NEAREST = 8, JOINED = 32, COUNTED = 1024 };

static lsp_status make_points(growth_step *s) {
    float *at = s->host = malloc(bytes_of(s, 4));
    lsp_status status = at ? LSP_OK : LSP_ERR_MEMORY;
    s->points = (lsp_points){.n = s->size, .dimensions = 3, .type = LSP_F32, .where = s->where};
    for (int k = 0; k < 3 && status == LSP_OK; k++) {
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < s->size; i++) {
            at[i] = (float)bench_coordinate(strchr(s->ladder, '/') + 1, s->size, i, k);
        }
        status = growth_put(s, k, at, bytes_of(s, 4));
        s->points.at[k] = s->arrays[k].memory;
    }
    return status;
}

/* The radius of a ball. If the points fill the cube evenly, it holds `points` of them. */
static double radius_of(const growth_step *s, double points) {
    return cbrt(points * 3 / (4 * acos(-1.0)) / (double)s->size);
}
static lsp_status count(growth_step *s, double radius, lsp_pair_method method) {
    return lsp_pair_count(s->ctx, &s->points, NULL, &(lsp_pair_options){.method = method}, &radius, 1, &s->pairs,
                          &s->info.pairs);
}
static lsp_status run_count(growth_step *s) { return count(s, radius_of(s, COUNTED), LSP_PAIR_AUTO); }
static lsp_status run_join(growth_step *s) {
    return lsp_radius_join(s->ctx, &s->points, NULL, NULL, radius_of(s, JOINED), NULL, &s->C, &s->info.pairs);
}
static lsp_status run_nearest(growth_step *s) {
    return lsp_nearest(s->ctx, &s->points, NULL, NULL, NEAREST, NULL, &s->C, &s->info.pairs);
}
static void tell_pairs(growth_step *s, double work) {
    tell(s, INFINITY, lsp_pair_method_name(s->info.pairs.method));
    s->work = work;
}
static bool check_count(growth_step *s) { /* by another method */
    const uint64_t pairs = s->pairs;
    tell_pairs(s, (double)pairs);
    const lsp_pair_method other = s->info.pairs.method == LSP_PAIR_GRID ? LSP_PAIR_BOXES : LSP_PAIR_GRID;
    return count(s, radius_of(s, COUNTED), other) == LSP_OK && s->pairs == pairs;
}
static bool check_join(growth_step *s) { /* by a count */
    tell_pairs(s, (double)s->C.nnz);
    return count(s, radius_of(s, JOINED), LSP_PAIR_AUTO) == LSP_OK && 2 * s->pairs == (uint64_t)s->C.nnz;
}
static bool check_nearest(growth_step *s) {
    tell_pairs(s, (double)s->C.nnz);
    return s->C.nnz == NEAREST * s->size && lsp_csr_check(s->ctx, &s->C, LSP_CHECK_SORTED | LSP_CHECK_UNIQUE) == LSP_OK;
}
static const growth_verb of_pairs[] = {{"count", "pairs", NULL, run_count, check_count},
                                       {"join", "entries", NULL, run_join, check_join},
                                       {"nearest", "entries", NULL, run_nearest, check_nearest},
                                       {NULL}};

/* ---- suffix arrays ---- */

enum { SYMBOLS, SUFFIXES };

static lsp_status make_text(growth_step *s) {
    s->host = malloc(bytes_of(s, 1));
    if (!s->host) {
        return LSP_ERR_MEMORY;
    }
    bench_put_text(strchr(s->ladder, '/') + 1, s->host, s->size);
    const lsp_status status = growth_put(s, SYMBOLS, s->host, bytes_of(s, 1));
    return status == LSP_OK ? make_arrays(s, SUFFIXES, 1, 4) : status;
}
static lsp_text text_of(const growth_step *s) {
    return (lsp_text){.n = s->size, .symbol_bytes = 1, .symbols = s->arrays[SYMBOLS].memory, .where = s->where};
}
static lsp_status run_suffixes(growth_step *s) {
    const lsp_text text = text_of(s);
    return lsp_suffix_array(s->ctx, &text, NULL, LSP_I32, s->arrays[SUFFIXES].memory, &s->info.suffix);
}
static bool check_suffixes(growth_step *s) {
    const lsp_text text = text_of(s);
    tell(s, 5, lsp_suffix_method_name(s->info.suffix.method));
    return lsp_suffix_check(s->ctx, &text, LSP_I32, s->arrays[SUFFIXES].memory) == LSP_OK;
}
static const growth_verb of_text[] = {{"suffix_array", "symbols", NULL, run_suffixes, check_suffixes}, {NULL}};

#define SIZES(a, b, c, d, e, f, g, h)                                                                                  \
    { 1 << a, 1 << b, 1 << c, 1 << d, 1 << e, 1 << f, 1 << g, 1 << h }
const growth_family growth_arrays[] = {{"keys/",
                                        {SIZES(12, 14, 16, 18, 20, 22, 24, 25), SIZES(16, 18, 20, 22, 24, 26, 28, 30)},
                                        of_keys,
                                        make_keys,
                                        release,
                                        drop,
                                        NULL,
                                        NULL},
                                       {"moves/",
                                        {SIZES(12, 14, 16, 18, 20, 22, 24, 26), SIZES(16, 18, 20, 22, 24, 26, 28, 30)},
                                        of_moves,
                                        make_moves,
                                        release,
                                        drop,
                                        NULL,
                                        NULL},
                                       {"hash/",
                                        {SIZES(12, 14, 16, 18, 20, 22, 24, 25), SIZES(16, 18, 20, 22, 24, 25, 26, 27)},
                                        of_hash,
                                        make_hash,
                                        release,
                                        drop,
                                        NULL,
                                        NULL},
                                       {"pairs/",
                                        {SIZES(12, 13, 14, 15, 16, 17, 18, 19), SIZES(14, 16, 18, 19, 20, 21, 22, 23)},
                                        of_pairs,
                                        make_points,
                                        release,
                                        drop,
                                        NULL,
                                        NULL},
                                       {"text/",
                                        {SIZES(12, 14, 16, 18, 20, 21, 22, 24), SIZES(16, 18, 20, 22, 24, 25, 26, 28)},
                                        of_text,
                                        make_text,
                                        release,
                                        drop,
                                        NULL,
                                        NULL},
                                       {NULL}};
