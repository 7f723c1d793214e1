/* The subject sort: a whole array by lsp_sort, and `sort --tune`. Workloads that end in /graph run plans in a CUDA
 * graph of 20 sorts: there the launches of the host cost nothing. Those that end in /radix ask for the radix sort. */
#include "libsparse/unstable.h"
#include "segsort.h"
#include <math.h>

static const char *const no_files[] = {NULL};

static void run_sort(bench *b, const char *workload, const char *file) {
    (void)file;
    bench_run_sort(b, workload, true);
}

#define GRAPH(n) n "/k32/random/graph", n "/k64/random/graph", n "/kv32/random/graph", n "/kv64/random/graph"
#define INPUTS(n)                                                                                                      \
    n "/k32/sorted", n "/k32/equal", n "/k32/distinct16", n "/k32/skewed", n "/kv32/sorted", n "/kv32/equal",          \
        n "/kv32/distinct16", n "/kv32/skewed", n "/k64/skewed"
#define CALLS(n) n "/k32", n "/k64", n "/kv32"
#define RADIX(item) item "/random/radix"
static const char *const sort_workloads[] = {CALLS("n10"),  CALLS("n12"),  CALLS("n14"),  CALLS("n16"),
                                             CALLS("n18"),  CALLS("n20"),  CALLS("n22"),  CALLS("n24"),
                                             INPUTS("n16"), INPUTS("n20"), INPUTS("n24"), NULL};
static const char *const sort_gpu_workloads[] = {
    GRAPH("n10"),        GRAPH("n11"),      GRAPH("n12"),      GRAPH("n13"),
    GRAPH("n14"),        GRAPH("n15"),      GRAPH("n16"),      GRAPH("n17"),
    GRAPH("n18"),        GRAPH("n19"),      GRAPH("n20"),      GRAPH("n21"),
    GRAPH("n22"),        CALLS("n10"),      CALLS("n12"),      CALLS("n14"),
    CALLS("n16"),        CALLS("n18"),      CALLS("n20"),      CALLS("n22"),
    CALLS("n24"),        CALLS("n27"),      INPUTS("n12"),     INPUTS("n16"),
    INPUTS("n18"),       INPUTS("n20"),     INPUTS("n27"),     RADIX("n10/kv32"),
    RADIX("n12/kv32"),   RADIX("n14/kv32"), RADIX("n16/kv32"), RADIX("n17/kv32"),
    RADIX("n18/kv32"),   RADIX("n20/kv32"), RADIX("n22/kv32"), RADIX("n24/kv32"),
    RADIX("n26/kv32"),   RADIX("n27/k32"),  RADIX("n27/kv32"), RADIX("n27/k32v64"),
    RADIX("n27/k64v32"), RADIX("n27/k64"),  RADIX("n27/kv64"), NULL};
static const char *const sort_quick[] = {CALLS("n12"), INPUTS("n16"), "n14/kv32/random/graph", RADIX("n18/k64v32"),
                                         NULL};

const bench_subject bench_sort = {.name = "sort",
                                  .what = "sorts an array of keys by the fastest method for its length",
                                  .workloads = sort_workloads,
                                  .gpu_workloads = sort_gpu_workloads,
                                  .quick = sort_quick,
                                  .file_variants = no_files,
                                  .run = run_sort,
                                  .absent = bench_sort_absent,
                                  .version = bench_sort_version,
                                  .min_time = 0.1,
                                  .on_gpu = true};

/* ---- the limits of this GPU ---- */

/* Seconds of a sort by this method: the fastest of 12 batches of 10 calls. INFINITY: it takes no such arrays. */
static double time_method(bench *b, lsp_sort_args args, lsp_sort_method method) {
    enum { BATCHES = 12, CALLS_EACH = 10 };
    lsp_sort_plan *plan = NULL;
    double fastest = INFINITY;
    args.method = method;
    if (lsp_sort_plan_create(b->ours, &args, &plan) != LSP_OK) {
        return INFINITY;
    }
    for (int batch = -1; batch < BATCHES; batch++) { /* the first warms up */
        bool sound = bench_device_start(b->device);
        for (int k = 0; k < CALLS_EACH && sound; k++) {
            sound = bench_ok(b, b->ours, lsp_sort_execute(plan, &args));
        }
        const double seconds = bench_device_stop(b->device) / CALLS_EACH;
        fastest = batch >= 0 && sound && seconds > 0 && seconds < fastest ? seconds : fastest;
    }
    lsp_sort_plan_destroy(plan);
    return fastest;
}

/* Finds the limits of a kind of items: at each power of two the fastest method is known. */
static bool tune_kind(bench *b, int kind, lsp_sort_table *table) {
    static const lsp_type types[LSP_SORT_KINDS] = {LSP_U32, LSP_U64, LSP_U32, LSP_U64};
    static const size_t values[LSP_SORT_KINDS] = {0, 0, 4, 8};
    enum { LEAST = 8, MOST = 22 };
    static const int32_t offsets[2] = {0, 1 << MOST};
    lsp_segsort_args a = {.n = 1 << MOST,
                          .segments = 1,
                          .offset_type = LSP_I32,
                          .key_type = types[kind],
                          .value_bytes = values[kind],
                          .where = LSP_CUDA};
    void *arrays[5];
    const int64_t bytes[5] = {a.n * 8, a.n * 8, a.n * 8, a.n * 8, sizeof offsets};
    bool sound = true;
    for (int i = 0; i < 5; i++) {
        arrays[i] = bench_device_alloc(b->device, bytes[i]);
        sound = sound && arrays[i];
    }
    a.keys = arrays[0], a.keys_out = arrays[1], a.offsets = arrays[4];
    a.values = values[kind] > 0 ? arrays[2] : NULL, a.values_out = values[kind] > 0 ? arrays[3] : NULL;
    sound = sound && bench_device_upload(b->device, arrays[4], offsets, sizeof offsets) &&
            bench_device_fill(b->device, &a, BENCH_RANDOM, 0);
    table->ranks_longest[kind] = table->split_longest[kind] = 0;
    table->split_shortest[kind] = INT32_MAX;
    for (int log = LEAST; log <= MOST && sound && !bench_interrupted(); log++) {
        const lsp_sort_args args = {.n = INT64_C(1) << log,
                                    .key_type = a.key_type,
                                    .value_bytes = a.value_bytes,
                                    .keys = a.keys,
                                    .keys_out = a.keys_out,
                                    .values = a.values,
                                    .values_out = a.values_out,
                                    .where = LSP_CUDA};
        const double ranks = time_method(b, args, LSP_SORT_RANKS), split = time_method(b, args, LSP_SORT_SPLIT),
                     radix = time_method(b, args, LSP_SORT_RADIX);
        fprintf(stderr, "kind %d, 2^%d items: ranks %.2f us, split %.2f us, radix %.2f us\n", kind, log, 1e6 * ranks,
                1e6 * split, 1e6 * radix);
        if (ranks <= split && ranks <= radix) {
            table->ranks_longest[kind] = (int32_t)args.n;
        } else if (split <= radix) {
            table->split_longest[kind] = (int32_t)args.n;
            table->split_shortest[kind] =
                table->split_shortest[kind] < INT32_MAX ? table->split_shortest[kind] : (int32_t)args.n / 2 + 1;
        }
    }
    for (int i = 0; i < 5; i++) {
        bench_device_free(b->device, arrays[i]);
    }
    return sound;
}

static void print_limits(const char *name, const int32_t *limits, int count, const char *end) {
    printf("      .%s = {", name);
    for (int i = 0; i < count; i++) {
        printf("%s%d", i > 0 ? ", " : "", limits[i]);
    }
    printf("}%s\n", end);
}

void bench_tune_sort(bench *b) {
    lsp_sort_table table;
    if (!b->device) {
        bench_fail(b, EXIT_DEVICE, "there is nothing to tune on the CPU: --tune needs a GPU");
        return;
    }
    bool sound = bench_ok(b, b->ours, lsp_sort_get_table(b->ours, &table));
    for (int kind = 0; kind < LSP_SORT_KINDS && sound; kind++) {
        sound = tune_kind(b, kind, &table);
    }
    if (!sound) {
        bench_fail(b, EXIT_DEVICE, "the arrays could not be prepared: %s", bench_device_error(b->device));
    } else if (!bench_interrupted()) {
        printf("    /* %s */\n    {%d,\n     {\n", bench_device_name(b->device), bench_device_compute(b->device));
        print_limits("ranks_longest", table.ranks_longest, LSP_SORT_KINDS, ",");
        print_limits("split_shortest", table.split_shortest, LSP_SORT_KINDS, ",");
        print_limits("split_longest", table.split_longest, LSP_SORT_KINDS, ",");
        print_limits("shape_longest", table.shape_longest, LSP_SORT_SHAPES, ",");
        print_limits("samples", table.samples, LSP_SORT_SHAPES, "}},");
    }
}
