/* The subject segsort: its workloads. The race is in segsort.c. */
#include "segsort.h"

#define ALL(segments)                                                                                                  \
    segments "/k32", segments "/kv32", segments "/k32v64", segments "/k64v32", segments "/k64", segments "/kv64"
#define SHAPES(segments)                                                                                               \
    segments "/kv32/distinct16", segments "/kv32/half_equal", segments "/kv32/sorted", segments "/kv32/reversed",      \
        segments "/kv32/f32"
#define FIRST(segments) segments "/kv32/first16"
#define SMALL(n) "small_" n "_1/kv32", "small_" n "_10/kv32", "small_" n "_100/kv32", "small_" n "_1000/kv32"

static const char *const workloads[] = {
    ALL("uniform_1"),        ALL("uniform_2"),       ALL("uniform_4"),       ALL("uniform_8"),
    ALL("uniform_16"),       ALL("uniform_32"),      ALL("uniform_64"),      ALL("uniform_100"),
    ALL("uniform_128"),      ALL("uniform_256"),     ALL("uniform_512"),     ALL("uniform_1000"),
    ALL("uniform_1024"),     ALL("uniform_2048"),    ALL("uniform_4096"),    ALL("uniform_8192"),
    ALL("uniform_16384"),    ALL("uniform_65536"),   ALL("uniform_1048576"), ALL("uniform_N"),
    ALL("zipf_0.1_50"),      ALL("zipf_0.7_500"),    ALL("zipf_1.0_500"),    ALL("zipf_0.1_2000"),
    ALL("zipf_1.0_2000"),    ALL("zipf_1.6_2000"),   ALL("zipf_0.1_100000"), ALL("zipf_1.0_100000"),
    ALL("zipf_1.6_100000"),  SHAPES("uniform_1000"), SHAPES("uniform_4096"), SHAPES("uniform_65536"),
    SHAPES("zipf_1.0_2000"), SMALL("1024"),          SMALL("4096"),          SMALL("16384"),
    SMALL("65536"),          SMALL("262144"),        SMALL("1048576"),       FIRST("uniform_4096"),
    FIRST("uniform_16384"),  FIRST("uniform_65536"), FIRST("uniform_N"),     NULL};
static const char *const quick[] = {ALL("uniform_4"),   ALL("uniform_100"),   ALL("uniform_4096"),
                                    ALL("uniform_N"),   ALL("zipf_1.0_2000"), SHAPES("uniform_1000"),
                                    FIRST("uniform_N"), SMALL("4096"),        NULL};
static const char *const file_variants[] = {NULL};

static void run(bench *b, const char *workload, const char *file) {
    (void)file;
    bench_run_sort(b, workload, false);
}
const bench_subject bench_segsort = {.name = "segsort",
                                     .what = "sorts segments of keys, with or without values",
                                     .workloads = workloads,
                                     .quick = quick,
                                     .file_variants = file_variants,
                                     .run = run,
                                     .absent = bench_sort_absent,
                                     .version = bench_sort_version,
                                     .min_time = 0.25,
                                     .on_gpu = true};
