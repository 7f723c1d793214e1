/* The command line of sparse-bench. A complaint names the wrong word and the nearest right one. */
#include "harness.h"
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"--list",    "--workload", "--file",     "--quick",     "--device",
                                    "--threads", "--json",     "--min-time", "--keep-heap", "--tune",
                                    "--help",    "--version",  NULL};

static void help(const bench_subject *const *subjects) {
    printf("usage: sparse-bench PRIMITIVE [OPTION]...\n"
           "       sparse-bench plot FILE.json OUT.svg [TYPES]\n"
           "       sparse-bench report OUT.html RECORD.json...\n"
           "       sparse-bench calibrate [--device cpu|cuda] [--threads N]\n"
           "Measures the library beside its peers, in one process, and checks every result.\n\n");
    for (; *subjects; subjects++) {
        printf("  %-18s %s\n", (*subjects)->name, (*subjects)->what);
    }
    printf(
        "  plot               draws the figures that --json wrote: best peer / ours, see below (TYPES: a word of the\n"
        "                     names, such as f64; spgemm, spmv, cg: f64; others: all of them), or roofline: "
        "operations\n"
        "                     a second under the roof of the copy speed. segsort: share of copy speed over segment\n"
        "                     length (TYPES: kv32). gather, scatter: time measured and predicted (TYPES: a pattern "
        "such\n"
        "                     as random, or partitions, width, passes, bandwidth)\n"
        "  report             makes a page of records: pictures, the commands that repeat them, all rows\n"
        "  calibrate          measures the figures of the cache model on this machine and prints them\n\n"
        "  --list             print the names of the workloads and stop\n"
        "  --workload PATTERN only workloads that match: 'er*', '*/f32', 'real' (all of real/...)\n"
        "  --file A.mtx       this matrix instead of the workloads\n"
        "  --quick            small sizes, at least 3 runs: shows that everything works; do not quote the figures\n"
        "  --device cpu|cuda  where to measure (a GPU if there is one; mtx: cpu)\n"
        "  --threads N        threads for the library and its peers (all)\n"
        "  --json FILE        also write the figures, in the format of Google Benchmark\n"
        "  --min-time S       measure each contender for at least S seconds (1, cg, transpose and batch 0.5,\n"
        "                     segsort 0.25, matrices 0.2, gather, scatter and spmv 0.05, growth 0.02; with --quick\n"
        "                     0.05)\n"
        "  --keep-heap        keep the freed memory of the peers in the process, as the library keeps its own\n"
        "  --tune             segsort, sort: find the best limits for this GPU and print the table "
        "(segsort/README.md)\n"
        "  --help, --version\n\n"
        "Columns; each row is a contender, PRIMITIVE/WORKLOAD/WHO:\n"
        "  time               median of the runs\n"
        "  spread             interquartile range of the times over the median\n"
        "  MB/s               bytes read and written a second (mtx: of text; spgemm: of A and C; spmv: of A, x and y)\n"
        "  Gitem/s, Gflop/s   10^9 items sorted a second; 10^9 operations a second (spgemm, spmv: two a product; cg:\n"
        "                     as NAS counts them)\n"
        "  copy               share of the speed of a parallel memcpy (on a GPU: of a copy on it; matrices: of a copy "
        "of\n"
        "                     the matrix)\n"
        "  best peer / ours   in a row of the library: the time of the fastest peer with a right result, divided by\n"
        "                     that of the library: above 1 the library is ahead. That peer's row says '(best peer)',\n"
        "                     or '(plain loop)' if it is a loop of this program and no other library. WRONG: the\n"
        "                     result was wrong\n"
        "  predicted          gather, scatter, spmv: how far the prediction of the model is from the time\n"
        "  plan, pays after   the time to make the plan, and the calls after which it has been saved, against calls\n"
        "                     without a plan\n"
        "A warning at the end says if other programs kept the machine busy.\n\n"
        "Exit codes: 0 done, 1 usage, 2 malformed input, 3 memory, 4 device, 5 a result was wrong.\n");
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Edit distance (insertions, deletions, replacements) of a and b, up to 63 letters of each. If a has no slash, b counts
 * only up to its own. */
static size_t edits(const char *a, const char *b) {
    size_t row[64];
    const size_t n = smaller(strcspn(b, strchr(a, '/') ? "" : "/"), 63);
    for (size_t j = 0; j <= n; j++) {
        row[j] = j;
    }
    for (size_t i = 0; a[i] && i < 63; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < n; j++) {
            size_t replaced = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = smaller(replaced, smaller(row[j], diagonal) + 1);
        }
    }
    return row[n];
}

const char *bench_nearest(const char *word, const char *const *candidates) {
    const char *best = candidates[0];
    for (; *candidates; candidates++) {
        if (edits(word, *candidates) < edits(word, best)) {
            best = *candidates;
        }
    }
    return best;
}

static int wrong(const char *what, const char *word, const char *const *right) {
    fprintf(stderr, "sparse-bench: unknown %s '%s'; did you mean '%s'?\n", what, word, bench_nearest(word, right));
    return EXIT_USAGE;
}

static int set_threads(bench_options *options, const char *text) {
    char *end;
    const long threads = strtol(text, &end, 10);
    if (end == text || *end || threads < 1 || threads > 4096) {
        fprintf(stderr, "sparse-bench: --threads takes a number from 1 to 4096, not '%s'\n", text);
        return EXIT_USAGE;
    }
    options->threads = (int)threads;
    return -1;
}

static int set_min_time(bench_options *options, const char *text) {
    char *end;
    options->min_time = strtod(text, &end);
    if (end == text || *end || !(options->min_time >= 0 && options->min_time <= 3600)) {
        fprintf(stderr, "sparse-bench: --min-time takes seconds from 0 to 3600, not '%s'\n", text);
        return EXIT_USAGE;
    }
    return -1;
}

static int set_device(bench_options *options, const char *text) {
    static const char *const devices[] = {"cpu", "cuda", NULL};
    options->device = text;
    return strcmp(text, "cpu") == 0 || strcmp(text, "cuda") == 0 ? -1 : wrong("device", text, devices);
}

static int set_primitive(bench_options *options, const char *word, const bench_subject *const *subjects) {
    const char *known[32] = {NULL};
    for (int i = 0; subjects[i] && i < 31; i++) {
        known[i] = subjects[i]->name;
        if (strcmp(word, known[i]) == 0) {
            if (options->primitive) {
                fprintf(stderr, "sparse-bench: one primitive at a time: '%s' or '%s'\n", options->primitive, word);
                return EXIT_USAGE;
            }
            options->primitive = known[i];
            return -1;
        }
    }
    return wrong("primitive", word, known);
}

/* Takes the option argv[*i]; moves *i past its value. */
static int set_option(bench_options *options, int *i, int argc, char **argv) {
    char name[32];
    const char *word = argv[*i], *equals = strchr(word, '=');
    snprintf(name, sizeof name, "%.*s", equals ? (int)(equals - word) : (int)strlen(word), word);
    if (!equals) {
        bool *flags[] = {&options->list, &options->quick, &options->keep_heap, &options->tune};
        const char *const flag_names[] = {"--list", "--quick", "--keep-heap", "--tune"};
        for (int f = 0; f < 4; f++) {
            if (strcmp(name, flag_names[f]) == 0) {
                *flags[f] = true;
                return -1;
            }
        }
    }
    const char **texts[] = {&options->pattern, &options->file, &options->json, NULL, NULL, NULL};
    const char *const text_names[] = {"--workload", "--file", "--json", "--threads", "--min-time", "--device"};
    int (*const setters[])(bench_options *, const char *) = {NULL, NULL, NULL, set_threads, set_min_time, set_device};
    for (int t = 0; t < 6; t++) {
        if (strcmp(name, text_names[t]) != 0) {
            continue;
        }
        const char *value = equals ? equals + 1 : *i + 1 < argc ? argv[++*i] : NULL;
        if (!value || !*value) {
            fprintf(stderr, "sparse-bench: %s needs a value\n", name);
            return EXIT_USAGE;
        }
        if (setters[t]) {
            return setters[t](options, value);
        }
        *texts[t] = value;
        return -1;
    }
    return wrong("option", word, names);
}

int bench_parse(bench_options *options, int argc, char **argv, const bench_subject *const *subjects) {
    *options = (bench_options){.min_time = -1};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            help(subjects);
            return EXIT_DONE;
        }
        if (strcmp(argv[i], "--version") == 0) {
            printf("sparse-bench %s\n", lsp_version());
            return EXIT_DONE;
        }
        int code = argv[i][0] == '-' ? set_option(options, &i, argc, argv) : set_primitive(options, argv[i], subjects);
        if (code >= 0) {
            return code;
        }
    }
    if (options->primitive) {
        return -1;
    }
    if (options->list) {
        for (; *subjects; subjects++) {
            printf("%s\n", (*subjects)->name);
        }
        return EXIT_DONE;
    }
    fprintf(stderr, "sparse-bench: which primitive? (--help lists them)\n");
    return EXIT_USAGE;
}
