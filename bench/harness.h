/* What every file of the bench shares: options, contenders, the race between them, the report. A subject (one file a
 * primitive) prepares a workload and its contenders, the library and its peers; the harness checks and times them in
 * turns, in one process, and writes the table and the JSON. The library is seen through its public header alone. */
#ifndef LSP_BENCH_HARNESS_H
#define LSP_BENCH_HARNESS_H

#include "device.h"
#include "libsparse.h"
#include <stdio.h>

/* Exit codes, the same for every tool of the project. */
enum { EXIT_DONE = 0, EXIT_USAGE = 1, EXIT_INPUT = 2, EXIT_MEMORY = 3, EXIT_DEVICE = 4, EXIT_CHECK = 5 };

typedef struct bench_options {
    const char *primitive, *pattern, *json, *file;
    const char *device; /* "cpu", "cuda"; NULL: not given */
    bool list, quick, keep_heap, tune;
    int threads;     /* 0: as many as OpenMP would take */
    double min_time; /* seconds a contender is measured at least; below 0: not given */
    double patience; /* so many seconds are always enough */
} bench_options;

typedef struct bench bench;
typedef struct bench_contender bench_contender;

/* Whether several runs gave the same bits. */
typedef enum bench_bits { BENCH_BITS_UNKNOWN, BENCH_BITS_SAME, BENCH_BITS_VARY } bench_bits;

/* One of those that race on a workload. The subject fills in the first part, the harness the second. */
struct bench_contender {
    bool (*run)(bench_contender *self);     /* timed; false: failed, `why` says how */
    bool (*check)(bench_contender *self);   /* looks at what the first run made, may set `bytes`; false: `why` */
    void (*release)(bench_contender *self); /* drops what `run` made; not timed */
    void *state;
    lsp_ctx *ctx;     /* ours: counts the peak of memory */
    int64_t bytes;    /* work, for a speed in bytes a second */
    int64_t products; /* of SpGEMM; 0: not such a thing */
    int64_t nnz_c;
    int64_t items; /* sorted; 0: not such a thing */
    int threads;
    bool on_gpu;    /* runs there, `elapsed` by its clock */
    double elapsed; /* seconds by a clock of the run's own; 0: the harness's counts */
    bool again;     /* the structure is known: held against those alone of which the same is true */
    char who[32];   /* "libsparse", "eigen", ...; "libsparse:1" on one thread beside "libsparse" on all */
    char why[256];
    bool ours;

    bool failed, checked;
    int repeats;
    double *times;            /* of each run, in seconds */
    double first, cpu, total; /* seconds: the first run, processor time a run, all runs measured */
    bench_bits bits;          /* as `check` found them */
    int64_t peak_bytes;       /* of the first run; of a peer on the GPU as the subject set it; -1: not known */
};

/* What a finished row says, in seconds. */
typedef struct bench_row {
    char name[128];
    bench_contender c;
    double median, quartile1, quartile3, fastest, slowest;
    double copy_share; /* of the copy speed with as many threads */
    double gain;       /* ours: time of the best peer / own time; 0: none */
    bool best_peer;
} bench_row;

struct bench {
    bench_options options;
    const struct bench_subject *subject;
    const char *command;
    lsp_ctx *base; /* makes workloads and reference results */
    lsp_ctx *ours; /* what is measured, on all threads */
    lsp_ctx *one;  /* the same on one thread */
    int threads;
    bench_device *device; /* NULL: the CPU is measured */
    double copy[2];       /* bytes read and written a second: one thread, all threads; on the device the same */
    bench_row *rows;
    int row_count;
    double others; /* processors that other programs kept busy during the race; -1: not known */
    int exit_code;
};

/* When a run began: by the clock, and how long processors had worked for all and for this process, in seconds. */
typedef struct bench_load {
    double wall, busy, own;
} bench_load;

/* A primitive: its workloads by name ("real/read", "er:262144:8/f64"), and how to race on one of them. */
typedef struct bench_subject {
    const char *name, *what;
    const char *const *workloads, *const *quick; /* NULL-terminated; the same names, or smaller ones */
    const char *const *gpu_workloads;            /* instead of `workloads` on a GPU; NULL: the same */
    const char *const *file_variants;            /* what --file A.mtx can be raced on: "f64", ... */
    void (*run)(bench *b, const char *workload, const char *file);
    const char *(*absent)(int i); /* peers not there when the bench was built, one by one, then NULL */
    /* Peers that were there, one by one: the version, and in *who the name; then NULL. The whole may be NULL. */
    const char *(*version)(int i, const char **who);
    double min_time; /* seconds a contender is measured at least, unless told otherwise */
    bool on_gpu;     /* can be measured there, and is where there is one */
} bench_subject;
extern const bench_subject bench_mtx, bench_spgemm, bench_segsort;

/* options.c: returns -1 to go on, or the code to exit with. */
int bench_parse(bench_options *options, int argc, char **argv, const bench_subject *const *subjects);

/* The one of `names` (NULL-terminated) with the fewest edits from `word`. */
const char *bench_nearest(const char *word, const char *const *names);

/* harness.c */
double bench_now(void);
double bench_copy_speed(int threads, bool quick);
bool bench_interrupted(void);
int bench_cpus(void);

/* Runs, checks and times all contenders, in turns, prints their rows and keeps them. */
void bench_race(bench *b, const char *workload, bench_contender *contenders, int count);

/* Says on standard error what went wrong and keeps the exit code that belongs to it. */
void bench_fail(bench *b, int exit_code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same for a call of the library: true if it went well. */
bool bench_ok(bench *b, lsp_ctx *ctx, lsp_status status);

/* For `run` and `check`: true, or false with the sentence of the library (or one's own) in `why`. */
bool bench_must(bench_contender *c, lsp_ctx *ctx, lsp_status status);
bool bench_why(bench_contender *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* load.c: processors that other programs kept busy since then, in the mean; -1 if the system does not tell. */
bench_load bench_load_start(void);
double bench_load_of_others(const bench_load *start);

/* bench/subjects/segsort_tune.c: measures on the GPU and prints the table. */
void bench_tune_segsort(bench *b);

/* plot.c: sparse-bench plot FILE.json OUT.svg [TYPES]: the exit code. */
int bench_plot(int argc, char **argv);

/* report.c */
void bench_print_head(const bench *b);
void bench_print_row(const bench_row *row);
bool bench_write_json(const bench *b, FILE *out);

#endif
