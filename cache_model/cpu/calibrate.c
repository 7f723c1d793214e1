/* The figures of a CPU with the context's threads: random reads and writes by footprint, a long copy, the time to wake
 * the threads. All threads use one array, as those of a gather do. Each measurement is the fastest of a few. */
#include "cache_model/cache_model.h"
#include <math.h>
#include <string.h>

enum { list_items = 1 << 14, runs = 3 };
static const double most_bytes = 1 << 30, copy_bytes = 128 << 20, run_seconds = 8e-3;

typedef struct race {
    uint64_t *array, *copy;
    uint32_t *list; /* random numbers */
    int64_t count;  /* elements of `array` in use */
    int64_t each;   /* accesses of a thread */
    int threads;
    bool write;
    uint64_t sum; /* keeps the compiler from leaving reads out */
} race;

/* Random accesses cost few instructions here, as in a gather: a list of random numbers is read over and over, and each
 * time another number is added to all of them. */
static void access_part(void *data, int64_t part, int thread) {
    race *r = data;
    const uint64_t count = (uint64_t)r->count;
    uint64_t salt = (uint64_t)part + 1, sum = 0;
    (void)thread;
    for (int64_t done = 0; done < r->each; done += list_items) {
        salt = salt * 6364136223846793005u + 1442695040888963407u;
        const uint32_t add = (uint32_t)(salt >> 32);
        if (r->write) {
            for (int i = 0; i < list_items; i++) {
                r->array[(uint32_t)(r->list[i] + add) * count >> 32] = (uint64_t)i;
            }
        } else {
            for (int i = 0; i < list_items; i++) {
                sum += r->array[(uint32_t)(r->list[i] + add) * count >> 32];
            }
        }
    }
    __atomic_fetch_add(&r->sum, sum, __ATOMIC_RELAXED);
}

static void copy_part(void *data, int64_t part, int thread) {
    race *r = data;
    int64_t begin, end;
    (void)thread;
    lsp_share(r->count, (int)part, r->threads, &begin, &end);
    memcpy(r->copy + begin, r->array + begin, (size_t)(end - begin) * sizeof *r->array);
}

static void fill_share(void *data, int64_t begin, int64_t end) {
    race *r = data;
    memset(r->array + begin, 1, (size_t)(end - begin) * sizeof *r->array);
}

static void nothing(void *data, int64_t part, int thread) { (void)data, (void)part, (void)thread; }

typedef void (*part_fn)(void *data, int64_t part, int thread);
static double seconds_of(lsp_ctx *ctx, race *r, part_fn part) {
    const double start = lsp_now();
    lsp_for_parts(ctx, r->threads, r->threads, part, r);
    return lsp_now() - start;
}

static double fastest_of(lsp_ctx *ctx, race *r, part_fn part, int times) {
    double fastest = HUGE_VAL;
    for (int i = 0; i < times; i++) {
        fastest = fmin(fastest, seconds_of(ctx, r, part));
    }
    return fmax(fastest, 1e-9);
}

/* Accesses a second: first as many as fill the cache, then as many as take run_seconds. */
static double rate_of(lsp_ctx *ctx, race *r, double bytes, bool write) {
    r->count = (int64_t)(bytes / sizeof *r->array);
    r->write = write;
    r->each = lsp_max(lsp_min(r->count, 1 << 20) / r->threads / list_items, 1) * list_items;
    const double first = fastest_of(ctx, r, access_part, 2) / (double)r->each;
    r->each = lsp_max((int64_t)fmin(run_seconds / first, 1e8) / list_items, 1) * list_items;
    return (double)r->each * r->threads / fastest_of(ctx, r, access_part, runs);
}

lsp_status lsp_cache_calibrate_cpu(lsp_ctx *ctx, lsp_cache_figures *figures) {
    LSP_SCRATCH_SCOPE(ctx);
    race r = {.threads = ctx->options.threads};
    const double most = fmin(most_bytes, (double)lsp_available_bytes(ctx, LSP_HOST) / 4);
    lsp_cache_set_footprints(figures, most);
    const int64_t items = (int64_t)(fmax(figures->footprint[figures->points - 1], copy_bytes) / sizeof *r.array);
    LSP_TRY(LSP_SCRATCH(ctx, items, &r.array));
    LSP_TRY(LSP_SCRATCH(ctx, (int64_t)(copy_bytes / sizeof *r.copy), &r.copy));
    LSP_TRY(LSP_SCRATCH(ctx, list_items, &r.list));
    uint64_t state = 1;
    for (int i = 0; i < list_items; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        r.list[i] = (uint32_t)(state >> 32);
    }
    lsp_for_shares(ctx, items, 1 << 16, fill_share, &r);
    r.count = (int64_t)(copy_bytes / sizeof *r.array);
    (void)seconds_of(ctx, &r, copy_part); /* touches the pages */
    figures->copy_rate = 2 * copy_bytes / fastest_of(ctx, &r, copy_part, 5);
    figures->start_seconds = fastest_of(ctx, &r, nothing, 200);
    for (int i = 0; i < figures->points; i++) {
        figures->reads[i] = rate_of(ctx, &r, figures->footprint[i], false);
        figures->writes[i] = figures->writes32[i] = rate_of(ctx, &r, figures->footprint[i], true);
    }
    return LSP_OK;
}
