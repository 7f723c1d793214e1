/* sparse-bench segsort --tune: finds the fastest classes and limits of the sort on this GPU and prints them as a row of
 * the table in segsort/gpu/table.c. It decides one limit at a time, by sorting pairs of 32 bits at the lengths
 * concerned. */
#include "bench/harness.h"
#include "libsparse/unstable.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct tuner {
    bench *b;
    lsp_segsort_table table;
    bool failed;
} tuner;

/* n items in `count` segments of about the same length; count 0: in segments of `shortest` to `longest` items. */
typedef struct shape {
    int64_t n, count, shortest, longest;
} shape;

static int32_t *make_offsets(const shape *s, int64_t *segments) {
    const int64_t most = s->count ? s->count : s->n / s->shortest + 1;
    int32_t *offsets = malloc((size_t)(most + 1) * sizeof *offsets);
    uint64_t state = 1;
    int64_t at = 0, k = 0;
    for (; offsets && at < s->n; k++) {
        const int64_t spread = s->longest - s->shortest + 1;
        offsets[k] = (int32_t)at;
        state += BENCH_GAMMA;
        at = s->count ? s->n * (k + 1) / s->count : at + s->shortest + (int64_t)(bench_mix(state) % (uint64_t)spread);
        at = at < s->n ? at : s->n;
    }
    if (offsets) {
        offsets[k] = (int32_t)s->n;
    }
    *segments = k;
    return offsets;
}

static bool make_arrays(bench_device *device, const shape *s, lsp_segsort_args *a) {
    *a =
        (lsp_segsort_args){.n = s->n, .offset_type = LSP_I32, .key_type = LSP_U32, .value_bytes = 4, .where = LSP_CUDA};
    int32_t *offsets = make_offsets(s, &a->segments);
    const int64_t bytes = a->n * 4, offset_bytes = (a->segments + 1) * 4;
    a->offsets = bench_device_alloc(device, offset_bytes);
    a->keys = bench_device_alloc(device, bytes);
    a->keys_out = bench_device_alloc(device, bytes);
    a->values = bench_device_alloc(device, bytes);
    a->values_out = bench_device_alloc(device, bytes);
    const bool made = offsets && a->offsets && a->keys && a->keys_out && a->values && a->values_out &&
                      bench_device_upload(device, (void *)a->offsets, offsets, offset_bytes) &&
                      bench_device_fill(device, a, BENCH_RANDOM, 0);
    free(offsets);
    return made;
}

static void drop_arrays(bench_device *device, const lsp_segsort_args *a) {
    const void *arrays[] = {a->offsets, a->keys, a->keys_out, a->values, a->values_out};
    for (int i = 0; i < 5; i++) {
        bench_device_free(device, (void *)arrays[i]);
    }
}

/* Seconds of the fastest of 12 sorts with a table. */
static double time_table(tuner *t, const lsp_segsort_args *a, const lsp_segsort_table *table) {
    enum { REPEATS = 12 };
    bench *b = t->b;
    double fastest = INFINITY;
    t->failed = t->failed || !bench_ok(b, b->ours, lsp_segsort_set_table(b->ours, table));
    for (int r = -1; r < REPEATS && !t->failed; r++) { /* the first warms up */
        t->failed = !bench_device_start(b->device) || !bench_ok(b, b->ours, lsp_segsort(b->ours, a, NULL));
        const double seconds = bench_device_stop(b->device);
        t->failed = t->failed || seconds < 0 || !bench_ok(b, b->ours, lsp_ctx_sync(b->ours));
        fastest = r >= 0 && seconds < fastest ? seconds : fastest;
    }
    return fastest;
}

/* Takes the other table if it is faster on this shape by at least 0.5 %. */
static bool try_table(tuner *t, const shape *s, const lsp_segsort_table *other, const char *what) {
    bench *b = t->b;
    lsp_segsort_args a;
    if (t->failed || bench_interrupted()) {
        return false;
    }
    t->failed = !make_arrays(b->device, s, &a);
    if (t->failed) {
        bench_fail(b, EXIT_MEMORY, "%lld items could not be prepared: %s", (long long)s->n,
                   bench_device_error(b->device));
    }
    const double now = time_table(t, &a, &t->table), then = time_table(t, &a, other);
    drop_arrays(b->device, &a);
    const bool better = !t->failed && then < 0.995 * now;
    fprintf(stderr, "%lld items, %s: %.1f us, else %.1f us%s\n", (long long)s->n, what, 1e6 * then, 1e6 * now,
            better ? ", taken" : "");
    t->table = better ? *other : t->table;
    return better;
}

/* Removes a class if the next one sorts its segments faster; from the longest class down. */
static void tune_classes(tuner *t) {
    for (int c = LSP_SORT_CLASSES - 2; c > 0; c--) {
        lsp_segsort_table without = t->table;
        char what[64];
        const int longest = lsp_segsort_class_most(c), before = lsp_segsort_class_most(c - 1);
        if (longest <= LSP_SORT_TILE_LONGEST || longest == before || c == LSP_SORT_CLASSES - 5) {
            continue;
        }
        for (int d = c; without.class_longest[d] == longest; d++) { /* and the unused classes that follow it */
            without.class_longest[d] = before;
        }
        snprintf(what, sizeof what, "segments of %d to %d not in class %d", before + 1, longest, c);
        try_table(t, &(shape){.n = 1 << 26, .shortest = before + 1, .longest = longest}, &without, what);
    }
}

static void tune_tile(tuner *t) {
    for (int longest = LSP_SORT_TILE_LONGEST; longest > 16; longest -= 8) {
        lsp_segsort_table listed = t->table;
        char what[64];
        listed.tile_longest = longest - 8;
        snprintf(what, sizeof what, "segments of %d to %d listed", longest - 7, longest);
        if (!try_table(t, &(shape){.n = 1 << 26, .shortest = longest - 7, .longest = longest}, &listed, what)) {
            return;
        }
    }
}

/* Finds the largest number of items for which few kernels are faster (with 100 and with 1000 segments), and the largest
 * number for which one kernel is faster (with one segment). */
static void tune_sizes(tuner *t) {
    const lsp_segsort_table many = t->table;
    for (int32_t n = 1 << 20; n >= 1 << 14; n /= 2) {
        lsp_segsort_table few = many;
        few.few_items = n;
        t->table = many;
        const bool better = try_table(t, &(shape){.n = n, .count = 100}, &few, "100 segments, few kernels");
        t->table = many;
        if (better && try_table(t, &(shape){.n = n, .count = 1000}, &few, "1000 segments, few kernels")) {
            break;
        }
    }
    for (int32_t n = LSP_SORT_SMALL_ITEMS; n >= 1 << 8; n /= 2) {
        lsp_segsort_table single = t->table;
        single.small_items = n;
        if (try_table(t, &(shape){.n = n, .count = 1}, &single, "one segment, one kernel")) {
            return;
        }
    }
}

static void print_table(const tuner *t) {
    printf("    /* %s */\n", bench_device_name(t->b->device));
    printf("    {%d,\n     {.small_items = %d,\n      .few_items = %d,\n      .tile_longest = %d,\n      "
           ".select_first = %d,\n      .select_shortest = %d,\n      .class_longest = {",
           bench_device_compute(t->b->device), t->table.small_items, t->table.few_items, t->table.tile_longest,
           t->table.select_first, t->table.select_shortest);
    for (int c = 0; c < LSP_SORT_CLASSES; c++) {
        printf("%s%d", c == 0 ? "" : c % 16 == 0 ? ",\n                        " : ", ", t->table.class_longest[c]);
    }
    printf("}}},\n");
}

void bench_tune_segsort(bench *b) {
    tuner t = {.b = b};
    if (!b->device) {
        bench_fail(b, EXIT_DEVICE, "there is nothing to tune on the CPU: --tune needs a GPU");
        return;
    }
    if (!bench_ok(b, b->ours, lsp_segsort_set_table(b->ours, NULL)) ||
        !bench_ok(b, b->ours, lsp_segsort_get_table(b->ours, &t.table))) {
        return;
    }
    t.table.small_items = 0;
    t.table.few_items = 0;
    t.table.tile_longest = LSP_SORT_TILE_LONGEST;
    for (int c = 0; c < LSP_SORT_CLASSES; c++) {
        t.table.class_longest[c] = lsp_segsort_class_most(c);
    }
    tune_classes(&t);
    tune_tile(&t);
    tune_sizes(&t);
    if (!t.failed && !bench_interrupted()) {
        print_table(&t);
    }
}
