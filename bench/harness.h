/* Shared by all files of the bench: options, contenders, the race, the report. A subject (a primitive) prepares a
 * workload and its contenders, which are the library and its peers. The harness checks and times the contenders in
 * turns and in one process. The bench sees the library only through its public header. */
#pragma once

#include "device.h"
#include "libsparse.h"
#include <stdio.h>

/* Exit codes; all tools of the project use them. */
enum { EXIT_DONE = 0, EXIT_USAGE = 1, EXIT_INPUT = 2, EXIT_MEMORY = 3, EXIT_DEVICE = 4, EXIT_CHECK = 5 };

typedef struct bench_options {
    const char *primitive, *pattern, *json, *file;
    const char *device; /* "cpu", "cuda"; NULL: not given */
    bool list, quick, keep_heap, tune;
    int threads;     /* 0: as many as OpenMP would take */
    double min_time; /* each contender is measured for at least this many seconds; below 0: not given */
    double patience; /* after this many seconds a contender is done, stable or not */
} bench_options;

typedef struct bench bench;
typedef struct bench_contender bench_contender;

/* Did several runs give the same bits? */
typedef enum bench_bits { BENCH_BITS_UNKNOWN, BENCH_BITS_SAME, BENCH_BITS_VARY } bench_bits;

/* One contender on a workload. The subject fills in the first part, the harness the second. */
struct bench_contender {
    bool (*run)(bench_contender *self);     /* timed; false: failed, `why` says how */
    bool (*check)(bench_contender *self);   /* inspects the result of the first run, may set `bytes`; false: `why` */
    void (*release)(bench_contender *self); /* frees the result of `run`; not timed */
    void *state;
    lsp_ctx *ctx;     /* of the library: it counts the peak of memory; NULL: a peer */
    int64_t bytes;    /* read and written by the operation, for the column MB/s */
    int64_t products; /* multiplications of a SpGEMM or of a product with vectors; 0: another primitive */
    int64_t nnz_c;
    int64_t items; /* sorted; 0: another primitive */
    int threads;
    bool on_gpu;      /* runs on the GPU */
    bool cold;        /* on a CPU: each run begins with a cold cache */
    double elapsed;   /* seconds, if the run measured its own time (by events on the GPU); 0: the harness measures */
    bool again;       /* knows the structure of the result already; compared only with peers that do too */
    bool any_peer;    /* compared with every peer */
    bool roof;        /* a copy: the column `copy` of all rows is a share of its speed */
    double predicted; /* seconds, by the cache model; 0: no prediction */
    double plan_time; /* seconds to make the plan that `run` uses; 0: none */
    double work;      /* growth: units of work, and the time of one over the best of smaller sizes (0: none) */
    double growth;
    const char *unit; /* "products" */
    bool chosen;      /* the library chose the strategy; otherwise, with a prediction, the bench asked for it */
    char who[32];     /* "libsparse", "eigen", ...; "libsparse:1": on one thread */
    char why[256];
    char choice[160]; /* growth: how the library did it */
    bool ours;

    bool failed, checked;
    int repeats;
    double *times;            /* seconds of each run */
    double first, cpu, total; /* seconds: the first run, processor time of a run, sum of the timed runs */
    bench_bits bits;          /* set by `check` */
    int64_t peak_bytes;       /* memory of the first run; the subject sets it for a peer on the GPU; -1: unknown */
};

/* A row of the report; times in seconds. */
typedef struct bench_row {
    char name[128];
    bench_contender c;
    double median, quartile1, quartile3, fastest, slowest;
    double copy_share;  /* speed over the copy speed on as many threads, or over that of the race's own copy */
    double gain;        /* of the library: time of the best peer over its own; 0: no peer */
    bool best_peer;     /* the fastest peer with a right result */
    int64_t pays_after; /* calls after which the plan has saved its making against calls without one; 0: it has no plan,
                           -1: never */
} bench_row;

struct bench {
    bench_options options;
    const struct bench_subject *subject;
    const char *command;
    lsp_ctx *base; /* makes workloads and right results, on the host */
    lsp_ctx *ours; /* is measured, on all threads */
    lsp_ctx *one;  /* is measured, on one thread */
    int threads;
    bench_device *device; /* NULL: the CPU is measured */
    double copy[2]; /* copy speed in bytes/s, read + written: one thread, all threads; on a GPU both are its own */
    bench_row *rows;
    int row_count;
    double others; /* mean number of processors that other programs kept busy; -1: unknown */
    int exit_code;
};

#define BENCH_QUIET 0.2 /* processors that others may keep busy; an idle system uses less */

/* Seconds at one moment: the clock, processor time of all programs, processor time of this process. */
typedef struct bench_load {
    double wall, busy, own;
} bench_load;

/* A primitive: the names of its workloads ("real/read", "er:262144:8/f64"), and the race on one of them. */
typedef struct bench_subject {
    const char *name, *what;
    const char *const *workloads, *const *quick; /* both end with NULL; `quick` may name smaller workloads */
    const char *const *gpu_workloads;            /* replaces `workloads` on a GPU; NULL: the same workloads */
    const char *const *file_variants;            /* the races on --file A.mtx: "f64", ...; empty: takes no files */
    void (*run)(bench *b, const char *workload, const char *file);
    const char *(*absent)(int i); /* package of the i-th peer that was missing when the bench was built; then NULL */
    /* The version of the i-th peer on this device, and its name in *who; NULL: no more. The function may be NULL. */
    const char *(*version)(bool on_gpu, int i, const char **who);
    double min_time; /* default of --min-time, in seconds */
    bool on_gpu;     /* runs on a GPU, and does so by default if there is a GPU */
} bench_subject;
extern const bench_subject bench_mtx, bench_spgemm, bench_segsort, bench_gather, bench_scatter, bench_hash_search,
    bench_transpose, bench_matrices, bench_batch, bench_spmv, bench_cg, bench_two_body, bench_sort, bench_suffix_array,
    bench_growth;

/* options.c: -1 to go on, else the exit code. */
int bench_parse(bench_options *options, int argc, char **argv, const bench_subject *const *subjects);

/* report.c. Is it a loop of ours, which stands beside the library as the plain way, and no other library? */
bool bench_is_loop(const char *who);

/* The name nearest to `word` by edit distance; `names` ends with NULL. */
const char *bench_nearest(const char *word, const char *const *names);

/* process.c */
void bench_catch_signals(void);     /* SIGINT and SIGTERM end the race after the current run */
int bench_interrupted(void);        /* the signal caught; 0: none */
int bench_cpus(void);               /* processors of the machine */
double bench_now(void);             /* seconds by a clock that never jumps */
double bench_cpu_seconds(void);     /* processor time of this process */
double bench_threads_seconds(void); /* processor time of the threads that live now, exact at any moment */
/* Mean number of processors that other programs kept busy since `start`; -1 if the system does not tell. */
bench_load bench_load_start(void);
double bench_load_of_others(const bench_load *start);

/* harness.c */
/* Bytes read and written a second by a parallel memcpy: the fastest of nine. */
double bench_copy_speed(int threads, bool quick);

/* Runs, checks and times one contender, and keeps its row, which is valid until the next one. NULL: interrupted, or a
 * complaint. */
bench_row *bench_time(bench *b, const char *workload, bench_contender *c);

/* Runs, checks and times all contenders in turns, prints their rows and keeps them for the JSON. */
void bench_race(bench *b, const char *workload, bench_contender *contenders, int count);

/* Prints a complaint on standard error. The first complaint sets the exit code. */
void bench_fail(bench *b, int exit_code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* True if a call of the library succeeded; else complains with its sentence. */
bool bench_ok(bench *b, lsp_ctx *ctx, lsp_status status);

/* For `run` and `check`: true if the call succeeded; else false, and `why` is the sentence of the library. bench_why
 * always returns false, with its own sentence in `why`. */
bool bench_must(bench_contender *c, lsp_ctx *ctx, lsp_status status);
bool bench_why(bench_contender *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* subjects/segsort_tune.c, subjects/sort.c: find the best table of a sort on this GPU and print it. */
void bench_tune_segsort(bench *b);
void bench_tune_sort(bench *b);

/* plots/plot.c: sparse-bench plot FILE.json OUT.svg [TYPES]; returns the exit code. */
int bench_plot(int argc, char **argv);
/* plots/page.c: sparse-bench report OUT.html RECORD.json...; returns the exit code. */
int bench_page(int argc, char **argv);

/* calibrate.c: sparse-bench calibrate [OPTION]...; returns the exit code. */
int bench_calibrate(int argc, char **argv);

/* accuracy.c: predicted and measured times of all rows. Regret: the time of the library's choice over that of the best
 * strategy, on one workload, with a plan or without one. */
typedef struct bench_accuracy {
    int predictions, choices;
    double median_error, regret_median, regret_worst;
    char worst[128]; /* the row of the worst regret */
} bench_accuracy;
bench_accuracy bench_accuracy_of(const bench *b);

/* report.c */
void bench_print_head(const bench *b);
void bench_print_row(const bench_row *row);
bool bench_write_json(const bench *b, FILE *out);
