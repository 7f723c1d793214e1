/* sparse-bench PRIMITIVE: measures the library beside its peers. This file picks the subject, the device and the
 * workloads, and opens and closes the contexts and the JSON file. */
#include "harness.h"
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUBJECTS = 15 };
static const bench_subject *const subjects[SUBJECTS + 1] = {
    &bench_mtx,         &bench_spgemm,    &bench_segsort,  &bench_gather,       &bench_scatter,
    &bench_hash_search, &bench_transpose, &bench_matrices, &bench_batch,        &bench_spmv,
    &bench_cg,          &bench_two_body,  &bench_sort,     &bench_suffix_array, &bench_growth};

/* A pattern that matches "er:262144:8" also means "er:262144:8/f64". */
static bool wanted(const bench_options *options, const char *workload) {
    return !options->pattern || fnmatch(options->pattern, workload, FNM_LEADING_DIR) == 0;
}

static int no_such_workload(const bench_options *options, const bench_subject *subject, const char *const *workloads) {
    const char *nearest = bench_nearest(options->pattern, workloads);
    const int shown = strchr(options->pattern, '/') ? (int)strlen(nearest) : (int)strcspn(nearest, "/");
    fprintf(stderr, "sparse-bench: no workload of %s matches '%s'; did you mean '%.*s'? (--list names all)\n",
            subject->name, options->pattern, shown, nearest);
    return EXIT_USAGE;
}

/* Calls `act` for each wanted workload; returns their number. */
static int each_workload(bench *b, const bench_subject *subject, const char *const *workloads,
                         void (*act)(bench *, const bench_subject *, const char *)) {
    int found = 0;
    for (; *workloads && !bench_interrupted(); workloads++) {
        if (wanted(&b->options, *workloads)) {
            act(b, subject, *workloads);
            found++;
        }
    }
    return found;
}
static void act_nothing(bench *b, const bench_subject *subject, const char *workload) {
    (void)b, (void)subject, (void)workload;
}
static void act_list(bench *b, const bench_subject *subject, const char *workload) {
    (void)b, (void)subject;
    puts(workload);
}
static void act_run(bench *b, const bench_subject *subject, const char *workload) { subject->run(b, workload, NULL); }

static void each_file_variant(bench *b, const bench_subject *subject) {
    const char *path = b->options.file, *slash = strrchr(path, '/');
    for (int i = 0; subject->file_variants[i] && !bench_interrupted() && !b->exit_code; i++) {
        char name[128];
        snprintf(name, sizeof name, "%.80s/%s", slash ? slash + 1 : path, subject->file_variants[i]);
        subject->run(b, name, path);
    }
}

/* The command as it was given: "sparse-bench mtx --quick". NULL: out of memory. */
static char *join(int argc, char **argv) {
    size_t length = sizeof "sparse-bench";
    for (int i = 1; i < argc; i++) {
        length += strlen(argv[i]) + 1;
    }
    char *command = malloc(length), *end = command;
    end += command ? sprintf(end, "sparse-bench") : 0;
    for (int i = 1; command && i < argc; i++) {
        end += sprintf(end, " %s", argv[i]);
    }
    return command;
}

static bool make_context(bench *b, lsp_ctx **ctx, int threads, bench_device *device) {
    char error[256];
    const lsp_ctx_options options = {.threads = threads,
                                     .device = device ? LSP_CUDA : LSP_HOST,
                                     .stream = device ? bench_device_stream(device) : NULL};
    const lsp_status status = lsp_ctx_create(ctx, &options, error, sizeof error);
    if (status != LSP_OK) {
        bench_fail(b, status == LSP_ERR_DEVICE ? EXIT_DEVICE : EXIT_MEMORY, "%s", error);
    }
    return status == LSP_OK;
}

/* Without --device: a GPU if the subject and the machine have one. */
static void pick_device(bench *b, const bench_subject *subject) {
    if (!b->options.device) {
        b->options.device = subject->on_gpu && lsp_cuda_device_count() > 0 ? "cuda" : "cpu";
    }
}

static const char *const *pick_workloads(const bench *b, const bench_subject *subject) {
    const bool on_gpu = strcmp(b->options.device, "cuda") == 0 && subject->gpu_workloads;
    return b->options.quick ? subject->quick : on_gpu ? subject->gpu_workloads : subject->workloads;
}

static bool open_device(bench *b, const bench_subject *subject) {
    char why[320];
    if (strcmp(b->options.device, "cpu") == 0) {
        return true;
    }
    if (!subject->on_gpu) {
        bench_fail(b, EXIT_DEVICE, "%s is measured on the CPU only; it has no --device cuda", subject->name);
        return false;
    }
    b->device = bench_device_open(why, sizeof why);
    if (!b->device) {
        bench_fail(b, EXIT_DEVICE, "%s", why);
    }
    return b->device;
}

static void measure_copy(bench *b) {
    if (b->device) {
        b->copy[0] = b->copy[1] = bench_device_copy_speed(b->device, b->options.quick);
    } else {
        b->copy[0] = bench_copy_speed(1, b->options.quick);
        b->copy[1] = b->threads == 1 ? b->copy[0] : bench_copy_speed(b->threads, b->options.quick);
    }
}

static bool prepare(bench *b, const bench_subject *subject) {
    lsp_ctx_info info;
    if (!open_device(b, subject) || !make_context(b, &b->base, b->options.threads, NULL) ||
        !make_context(b, &b->ours, b->options.threads, b->device) || !make_context(b, &b->one, 1, NULL) ||
        !bench_ok(b, b->base, lsp_ctx_get_info(b->base, &info))) {
        return false;
    }
    b->threads = info.threads;
    b->options.patience = 10 * subject->min_time;
    if (b->options.min_time < 0) {
        b->options.min_time = b->options.quick ? 0.05 : subject->min_time;
    }
    if (b->options.keep_heap) {
        mallopt(M_MMAP_MAX, 0);
        mallopt(M_TRIM_THRESHOLD, INT_MAX);
    }
    bench_catch_signals();
    measure_copy(b);
    return true;
}

/* How well the cache model did, if the subject asked it. */
static void print_accuracy(const bench *b) {
    const bench_accuracy a = bench_accuracy_of(b);
    if (a.predictions > 0) {
        printf("cache model: median error of %d predicted times %.1f %%", a.predictions, 100 * a.median_error);
    }
    if (a.predictions > 0 && a.choices > 0) {
        printf("; regret of %d choices %.3f in the median, %.3f at worst (%s)", a.choices, a.regret_median,
               a.regret_worst, a.worst);
    }
    printf(a.predictions > 0 ? "\n" : "");
}

/* Names the CPU peers that this build lacks, and warns if other programs were busy. */
static void print_foot(const bench *b, const bench_subject *subject) {
    for (int i = 0; !b->device && subject->absent(i); i++) {
        printf("%s %s", i == 0 ? "not in this build:" : ",", subject->absent(i));
    }
    printf(!b->device && subject->absent(0) ? "\n" : "");
    fflush(stdout);
    if (b->others > BENCH_QUIET) {
        fprintf(stderr,
                "sparse-bench: the machine was busy: other programs used %.1f of its %d processors during the run; do "
                "not quote these figures\n",
                b->others, bench_cpus());
    }
}

/* Opens FILE.part before the race, so that a wrong path is reported at once; close_json renames it when complete. */
static FILE *open_json(bench *b, char *beside, size_t bytes) {
    snprintf(beside, bytes, "%s.part", b->options.json);
    FILE *out = fopen(beside, "we");
    if (!out) {
        bench_fail(b, EXIT_USAGE, "%s: cannot write the figures there: %s", b->options.json, strerror(errno));
    }
    return out;
}

static void close_json(bench *b, FILE *out, const char *beside) {
    const bool some = b->row_count > 0 || !bench_interrupted(); /* a record is not replaced by an empty one */
    const bool written = some && bench_write_json(b, out);
    if (fclose(out) != 0 || !written || rename(beside, b->options.json) != 0) {
        bench_fail(b, EXIT_USAGE, "%s: the figures were not written", b->options.json);
        unlink(beside);
    }
}

static void race(bench *b, const bench_subject *subject, const char *const *workloads) {
    char beside[4096];
    FILE *json = NULL;
    if (!prepare(b, subject) || (b->options.json && !(json = open_json(b, beside, sizeof beside)))) {
        return;
    }
    if (b->options.tune) {
        (subject == &bench_sort ? bench_tune_sort : bench_tune_segsort)(b);
        return;
    }
    const bench_load load = bench_load_start();
    bench_print_head(b);
    if (b->options.file) {
        each_file_variant(b, subject);
    } else {
        each_workload(b, subject, workloads, act_run);
    }
    b->others = bench_load_of_others(&load);
    print_accuracy(b);
    print_foot(b, subject);
    if (json) {
        close_json(b, json, beside);
    }
}

int main(int argc, char **argv) {
    bench b = {0};
    if (argc > 1 && strcmp(argv[1], "plot") == 0) {
        return bench_plot(argc - 2, argv + 2);
    }
    if (argc > 1 && strcmp(argv[1], "report") == 0) {
        return bench_page(argc - 2, argv + 2);
    }
    if (argc > 1 && strcmp(argv[1], "calibrate") == 0) {
        return bench_calibrate(argc - 2, argv + 2);
    }
    int code = bench_parse(&b.options, argc, argv, subjects);
    if (code >= 0) {
        return code;
    }
    int which = 0;
    while (which + 1 < SUBJECTS && strcmp(subjects[which]->name, b.options.primitive) != 0) {
        which++;
    }
    const bench_subject *subject = b.subject = subjects[which];
    pick_device(&b, subject);
    const char *const *workloads = pick_workloads(&b, subject);
    if (b.options.file && !subject->file_variants[0]) {
        fprintf(stderr, "sparse-bench: %s takes no files; --workload picks what it does\n", subject->name);
        return EXIT_USAGE;
    }
    if (b.options.tune && subject != &bench_segsort && subject != &bench_sort) {
        fprintf(stderr, "sparse-bench: --tune is for segsort and sort; %s has nothing to tune\n", subject->name);
        return EXIT_USAGE;
    }
    if (!b.options.file && each_workload(&b, subject, workloads, b.options.list ? act_list : act_nothing) == 0) {
        return no_such_workload(&b.options, subject, workloads);
    }
    if (!b.options.list) {
        char *command = join(argc, argv);
        b.command = command ? command : "sparse-bench";
        race(&b, subject, workloads);
        free(b.rows);
        free(command);
        lsp_ctx_destroy(b.one);
        lsp_ctx_destroy(b.ours);
        lsp_ctx_destroy(b.base);
        bench_device_close(b.device);
    }
    return bench_interrupted() ? 128 + bench_interrupted() : b.exit_code;
}
