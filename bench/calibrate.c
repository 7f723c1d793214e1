/* sparse-bench calibrate: measures the figures of a device by calls of the library, and prints them as a file that
 * LSP_CACHE_FIGURES may name; those in use stand behind it as comments. Random accesses are gathers and scatters by the
 * direct strategy; a disturbance only slows, so each measurement is the fastest of a few. */
#include "harness.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 4, CALLS = 8, STARTS = 100 };
enum { PART = 1 << 16, WHOLE = 1 << 24 }; /* indices: of a thread, which half of them wakes; of a GPU */

typedef struct rig {
    bench b;
    bench_device *device; /* NULL: the host */
    lsp_ctx *ctx;
    int64_t n;               /* indices of a call */
    uint64_t *array, *other; /* the one that is read or written at random; the other side */
    int32_t *index, *made;   /* where the library reads them; on the host */
    double streams;          /* seconds of a call on a GPU without the random accesses; 0 on a CPU, in whose caches the
                                indices and the other side stay */
} rig;

static int usage(void) {
    fprintf(stderr, "usage: sparse-bench calibrate [--device cpu|cuda] [--threads N]\n");
    return EXIT_USAGE;
}

static int parse(lsp_ctx_options *options, int argc, char **argv) {
    options->device = lsp_cuda_device_count() > 0 ? LSP_CUDA : LSP_HOST;
    for (int i = 0; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        char *end = "";
        if (strcmp(argv[i], "--device") == 0 && (strcmp(value, "cpu") == 0 || strcmp(value, "cuda") == 0)) {
            options->device = value[1] == 'p' ? LSP_HOST : LSP_CUDA;
        } else if (strcmp(argv[i], "--threads") != 0 || (options->threads = (int)strtol(value, &end, 10)) <= 0 ||
                   *end || options->threads > 4096) {
            return usage();
        }
    }
    return -1;
}

static void *take(const rig *r, int64_t bytes) {
    return r->device ? bench_device_alloc(r->device, bytes) : malloc((size_t)bytes);
}

static void drop(const rig *r, void *memory) {
    if (r->device) {
        bench_device_free(r->device, memory);
    } else {
        free(memory);
    }
}

/* Indices below `extent`: at random, in runs of `run` neighbours; run 0: in order, over and over. */
static bool fill(rig *r, int64_t extent, int run) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < r->n; i++) {
        r->made[i] = run == 0 ? (int32_t)(i % extent)
                              : (int32_t)((bench_draw(7, i / run) >> 32) * (uint64_t)(extent / run) >> 32) * run +
                                    (int32_t)(i % run);
    }
    return !r->device || bench_device_upload(r->device, r->index, r->made, r->n * (int64_t)sizeof *r->index);
}

/* Seconds of one of `calls` calls with n of the indices. Each call begins at another of `count` elements. */
static double seconds_of(rig *r, bool write, int64_t n, int64_t extent, int64_t count, int calls) {
    double fastest = HUGE_VAL;
    for (int run = 0; run <= RUNS && r->b.exit_code == EXIT_DONE; run++) { /* the first one fills the cache */
        const double start = bench_now();
        bool fine = !r->device || bench_device_start(r->device);
        for (int k = 0; k < calls && fine; k++) {
            uint64_t *jumps = r->array + (count - extent) / (calls * (RUNS + 1)) * (run * calls + k);
            const lsp_column column = {.from = write ? r->other : jumps, .to = write ? jumps : r->other, .bytes = 8};
            const lsp_gather_args args = {.n = n,
                                          .extent = extent,
                                          .index = r->index,
                                          .index_type = LSP_I32,
                                          .columns = &column,
                                          .column_count = 1,
                                          .strategy = LSP_STRATEGY_DIRECT,
                                          .where = r->device ? LSP_CUDA : LSP_HOST};
            fine = bench_ok(&r->b, r->ctx, (write ? lsp_scatter : lsp_gather)(r->ctx, &args, NULL));
        }
        const double seconds = r->device ? bench_device_stop(r->device) : bench_now() - start;
        fastest = run > 0 ? fmin(fastest, fmax(seconds, 1e-9) / calls) : fastest;
    }
    return fastest;
}

/* Accesses a second among `bytes` bytes, in runs of `run` neighbours. On a CPU an eighth of the array is left to shift
 * the indices, which stay the same. */
static double rate_of(rig *r, bool write, int run, double bytes) {
    const int64_t count = (int64_t)bytes / 8, extent = r->device ? count : count / 8 * 7;
    (void)fill(r, extent, run);
    const double seconds = seconds_of(r, write, r->n, extent, count, r->device ? 1 : CALLS);
    return (double)(r->n / run) / fmax(seconds - r->streams, 0.1 * seconds);
}

/* A larger footprint is never faster. */
static void smooth(double *rates, int points) {
    for (int i = points - 2; i >= 0; i--) {
        rates[i] = fmax(rates[i], rates[i + 1]);
    }
}

/* Footprints: two an octave around the size of the cache. */
static void measure(rig *r, lsp_cache_figures *f, int64_t most) {
    const double cache = f->cache_bytes;
    const int64_t few = r->device ? 1 << 10 : r->n / 2;
    f->copy_rate = r->device ? bench_device_copy_speed(r->device, false) : bench_copy_speed(f->threads, false);
    (void)fill(r, 1024, 0);
    f->start_seconds = fmax(
        2 * seconds_of(r, false, few, 1024, 1024, STARTS) - seconds_of(r, false, 2 * few, 1024, 1024, STARTS), 1e-8);
    r->streams = r->device ? seconds_of(r, false, r->n, 1024, 1024, 1) : 0;
    f->points = 0;
    for (double bytes = r->device ? 1 << 20 : fmax(f->stage_bytes / 32, 1 << 14);
         f->points < LSP_CACHE_POINTS && (bytes <= (double)most || f->points < 2);) {
        const int i = f->points++;
        f->footprint[i] = floor(bytes / 64) * 64;
        f->reads[i] = rate_of(r, false, 1, f->footprint[i]);
        f->writes[i] = rate_of(r, true, 1, f->footprint[i]);
        f->writes32[i] = r->device ? rate_of(r, true, 4, f->footprint[i]) : f->writes[i];
        bytes *= bytes >= 0.24 * cache && bytes < 4 * cache ? sqrt(2) : bytes < 16 * cache ? 2 : 4;
    }
    smooth(f->reads, f->points);
    smooth(f->writes, f->points);
    smooth(f->writes32, f->points);
}

/* The text that the library reads, each line behind `before`. */
static void print(const lsp_cache_figures *f, const char *before) {
    printf("%slibsparse figures 1\n%sdevice = %s\n%sthreads = %d\n", before, before, f->device, before, f->threads);
    printf("%sstart_picoseconds = %.0f\n%scopy_rate = %.0f\n%sline_bytes = %.0f\n", before, 1e12 * f->start_seconds,
           before, f->copy_rate, before, f->line_bytes);
    printf("%ssector_bytes = %.0f\n%scache_bytes = %.0f\n%sstage_bytes = %.0f\n", before, f->sector_bytes, before,
           f->cache_bytes, before, f->stage_bytes);
    for (int i = 0; i < f->points; i++) {
        printf("%spoint = %11.0f %12.0f %12.0f %12.0f\n", before, f->footprint[i], f->reads[i], f->writes[i],
               f->writes32[i]);
    }
}

/* Takes arrays, measures, prints. */
static void calibrate(rig *r, int64_t most) {
    lsp_cache_figures used, found;
    const char *why;
    if (!bench_ok(&r->b, r->ctx, lsp_cache_model_figures(r->ctx, &used))) {
        return;
    }
    found = used;
    r->n = r->device ? WHOLE : used.threads * (int64_t)PART;
    const int64_t index_bytes = r->n * (int64_t)sizeof *r->index;
    r->made = malloc((size_t)index_bytes);
    r->index = r->device ? bench_device_alloc(r->device, index_bytes) : r->made;
    r->other = take(r, r->n * 8);
    while (!(r->array = take(r, most)) && most > 1 << 28) {
        most /= 2;
    }
    if (!r->made || !r->index || !r->other || !r->array) {
        bench_fail(&r->b, EXIT_MEMORY, "no memory for arrays of %lld MiB", (long long)(most >> 20));
        return;
    }
    if (r->device) {
        (void)bench_device_wipe(r->device, r->array, most);
    } else {
        memset(r->array, 1, (size_t)most);
        memset(r->other, 1, (size_t)r->n * 8);
    }
    measure(r, &found, most);
    if (r->device && *(why = bench_device_error(r->device))) {
        bench_fail(&r->b, EXIT_DEVICE, "%s", why);
    }
    if (r->b.exit_code == EXIT_DONE && bench_ok(&r->b, r->ctx, lsp_cache_model_set_figures(r->ctx, &found))) {
        print(&found, "");
        puts(
            "# point: footprint in bytes; random reads, writes, and writes of whole 32-byte sectors a second. In use:");
        print(&used, "# ");
    }
}

int bench_calibrate(int argc, char **argv) {
    rig r = {.device = NULL};
    lsp_ctx_options options = {0};
    char why[320];
    const int code = parse(&options, argc, argv);
    if (code >= 0) {
        return code;
    }
    if (options.device == LSP_CUDA) {
        r.device = bench_device_open(why, sizeof why);
        options.stream = r.device ? bench_device_stream(r.device) : NULL;
    }
    if ((options.device == LSP_CUDA && !r.device) || lsp_ctx_create(&r.ctx, &options, why, sizeof why) != LSP_OK) {
        bench_fail(&r.b, EXIT_DEVICE, "%s", why);
    } else {
        calibrate(&r, INT64_C(1) << (r.device ? 32 : 29));
    }
    lsp_ctx_destroy(r.ctx);
    drop(&r, r.array);
    drop(&r, r.other);
    if (r.index != r.made) {
        drop(&r, r.index);
    }
    free(r.made);
    bench_device_close(r.device);
    return r.b.exit_code;
}
