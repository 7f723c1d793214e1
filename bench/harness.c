/* The race. Each contender runs once to warm up and to be checked. Then all run in turns, so that a disturbance of the
 * machine slows all of them, until each median is stable or a limit is reached. */
#include "harness.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LEAST_REPEATS = 5, QUICK_REPEATS = 3, MOST_REPEATS = 50 };
static const double stable_spread = 0.01;

void bench_fail(bench *b, int exit_code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fflush(stdout);
    fprintf(stderr, "sparse-bench: ");
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    b->exit_code = b->exit_code ? b->exit_code : exit_code; /* the first complaint sets the code */
}

bool bench_ok(bench *b, lsp_ctx *ctx, lsp_status status) {
    static const int codes[] = {
        [LSP_ERR_ARGUMENT] = EXIT_USAGE, [LSP_ERR_FORMAT] = EXIT_INPUT,  [LSP_ERR_IO] = EXIT_INPUT,
        [LSP_ERR_MEMORY] = EXIT_MEMORY,  [LSP_ERR_DEVICE] = EXIT_DEVICE, [LSP_ERR_UNSUPPORTED] = EXIT_INPUT,
        [LSP_ERR_OVERFLOW] = EXIT_INPUT};
    if (status != LSP_OK) {
        bench_fail(b, codes[status], "%s", lsp_last_error(ctx));
    }
    return status == LSP_OK;
}

bool bench_why(bench_contender *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(c->why, sizeof c->why, format, args);
    va_end(args);
    return false;
}

bool bench_must(bench_contender *c, lsp_ctx *ctx, lsp_status status) {
    return status == LSP_OK || bench_why(c, "%s", lsp_last_error(ctx));
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The q-quantile of sorted times, interpolated linearly. */
static double quantile(const double *sorted, int n, double q) {
    const double at = q * (n - 1);
    const int below = (int)at;
    return below + 1 < n ? sorted[below] + (at - below) * (sorted[below + 1] - sorted[below]) : sorted[n - 1];
}

/* Takes the fastest of nine copies, because a mean would measure other programs too. */
double bench_copy_speed(int threads, bool quick) {
    const size_t bytes = quick ? (size_t)16 << 20 : (size_t)256 << 20;
    char *from = malloc(bytes), *to = malloc(bytes);
    double times[9] = {0};
    for (int r = -2; from && to && r < 9; r++) { /* two runs to touch the pages */
        const double start = bench_now();
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int part = 0; part < threads; part++) {
            const size_t begin = bytes / (size_t)threads * (size_t)part;
            const size_t end = part + 1 == threads ? bytes : bytes / (size_t)threads * (size_t)(part + 1);
            if (r == -2) {
                memset(from + begin, r, end - begin);
            }
            memcpy(to + begin, from + begin, end - begin);
        }
        if (r >= 0) {
            times[r] = bench_now() - start;
        }
    }
    free(from);
    free(to);
    qsort(times, 9, sizeof *times, compare_doubles);
    return times[0] > 0 ? 2.0 * (double)bytes / times[0] : 0;
}

/* Bytes in a line of /proc/self/status, for example "VmHWM:   1234 kB"; -1 if the system does not tell. */
static int64_t resident(const char *line_name) {
    char line[256];
    long long kilobytes = -1;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && kilobytes < 0 && fgets(line, sizeof line, file)) {
        if (strncmp(line, line_name, strlen(line_name)) == 0) {
            kilobytes = strtoll(line + strlen(line_name), NULL, 10);
        }
    }
    if (file) {
        fclose(file);
    }
    return kilobytes < 0 ? -1 : 1024 * (int64_t)kilobytes;
}

/* Resets the peak of resident memory; false if the system does not allow it. */
static bool reset_resident_peak(void) {
    FILE *file = fopen("/proc/self/clear_refs", "we");
    if (!file) {
        return false;
    }
    fputs("5", file);
    return fclose(file) == 0;
}

/* Waits until no thread of this process works: those of OpenMP spin for milliseconds after a contender's turn, where
 * the next one's threads want to run. */
static void wait_for_sleep(void) {
    static const struct timespec rest = {.tv_nsec = 100000};
    for (int most = 500; most > 0; most--) {
        const double busy = bench_threads_seconds(), start = bench_now();
        nanosleep(&rest, NULL);
        if (bench_threads_seconds() - busy < (bench_now() - start) / 2) {
            return;
        }
    }
}

/* Fills the last cache with other data, so that no contender finds there what the one before has left. */
static void cool_cache(void) {
    static volatile uint64_t *other;
    const int64_t least = 64 << 20, most = 1 << 30, cache = sysconf(_SC_LEVEL3_CACHE_SIZE) * 5 / 4;
    const int64_t bytes = cache < least ? least : cache > most ? most : cache;
    if (!other && (other = malloc((size_t)bytes))) {
        memset((void *)other, 1, (size_t)bytes);
    }
    for (int64_t k = 0; other && k < bytes / 8; k += 8) {
        (void)other[k];
    }
}

static bool timed_run(bench_contender *c, double *wall, double *cpu) {
    if (c->cold) {
        cool_cache();
    }
    if (!c->on_gpu) {
        wait_for_sleep();
    }
    const double cpu_start = bench_cpu_seconds(), start = bench_now();
    c->elapsed = 0;
    const bool went_well = c->run(c);
    *wall = c->elapsed > 0 ? c->elapsed : bench_now() - start;
    *cpu = bench_cpu_seconds() - cpu_start;
    return went_well;
}

/* The first run: checks the result and measures the peak of memory. The library counts its own memory; for a peer it is
 * the growth of resident memory. */
static void warm_up(bench_contender *c) {
    double cpu;
    lsp_ctx_info info;
    const bool can_reset = c->ctx || reset_resident_peak();
    const int64_t before = resident("VmRSS:");
    if (c->ctx) {
        lsp_ctx_reset_peak(c->ctx);
    }
    c->failed = !timed_run(c, &c->first, &cpu);
    if (c->ctx && lsp_ctx_get_info(c->ctx, &info) == LSP_OK) {
        c->peak_bytes = c->on_gpu ? info.cuda_peak_bytes : info.host_peak_bytes;
    } else if (!c->on_gpu) {
        c->peak_bytes = can_reset && before >= 0 ? resident("VmHWM:") - before : -1;
    }
    c->checked = !c->failed && c->check(c);
    if (!c->failed) {
        c->release(c);
    }
    if (!c->failed && c->on_gpu) { /* clocks rise and code is loaded during the first run, so run twice */
        double wall;
        c->failed = !timed_run(c, &wall, &cpu);
        c->release(c);
    }
}

/* Is the median known to 1 %? Its error is about the interquartile range over the root of the number of runs. */
static bool stable(const bench_contender *c) {
    double sorted[MOST_REPEATS];
    memcpy(sorted, c->times, (size_t)c->repeats * sizeof *sorted);
    qsort(sorted, (size_t)c->repeats, sizeof *sorted, compare_doubles);
    const double middle_half = quantile(sorted, c->repeats, 0.75) - quantile(sorted, c->repeats, 0.25);
    return middle_half / sqrt(c->repeats) < stable_spread * quantile(sorted, c->repeats, 0.5);
}

static bool enough(const bench_contender *c, const bench_options *options) {
    if (c->failed || c->repeats == MOST_REPEATS || c->total >= fmax(options->patience, options->min_time)) {
        return true;
    }
    const bool even = options->quick || c->on_gpu; /* a GPU without other users has little spread */
    if (c->repeats < (even ? QUICK_REPEATS : LEAST_REPEATS) || c->total < options->min_time) {
        return false;
    }
    return even || stable(c);
}

/* Runs every unfinished contender once. Returns false if all have finished. */
static bool one_round(const bench *b, bench_contender *contenders, int count) {
    bool any_ran = false;
    for (int i = 0; i < count && !bench_interrupted(); i++) {
        bench_contender *c = contenders + i;
        double cpu, wall;
        if (enough(c, &b->options)) {
            continue;
        }
        any_ran = true;
        c->failed = !timed_run(c, &wall, &cpu);
        if (!c->failed) {
            c->release(c);
            c->times[c->repeats++] = wall;
            c->total += wall;
            c->cpu += cpu;
        }
    }
    return any_ran;
}

static void keep_row(bench *b, const char *workload, const bench_contender *c) {
    bench_row *rows = realloc(b->rows, (size_t)(b->row_count + 1) * sizeof *rows);
    if (!rows) {
        bench_fail(b, EXIT_MEMORY, "out of memory for a row of the report");
        return;
    }
    b->rows = rows;
    bench_row *row = rows + b->row_count++;
    *row = (bench_row){.c = *c};
    snprintf(row->name, sizeof row->name, "%s/%s/%s", b->options.primitive, workload, c->who);
    row->c.times = NULL;
    row->c.failed |= c->repeats == 0;
    if (c->repeats > 0) {
        qsort(c->times, (size_t)c->repeats, sizeof *c->times, compare_doubles);
        row->fastest = c->times[0];
        row->quartile1 = quantile(c->times, c->repeats, 0.25);
        row->median = quantile(c->times, c->repeats, 0.5);
        row->quartile3 = quantile(c->times, c->repeats, 0.75);
        row->slowest = c->times[c->repeats - 1];
        row->c.cpu = c->cpu / c->repeats;
        row->copy_share = (double)c->bytes / row->median / b->copy[c->threads > 1];
    }
}

/* Shows a progress line if standard error is a terminal; NULL erases it. */
static void tell_progress(const char *workload, int round) {
    if (isatty(STDERR_FILENO)) {
        fprintf(stderr, workload ? "\r%s, round %d " : "\r\033[K", workload, round);
    }
}

/* In a race with a copy of its own: the column `copy` is the share of its speed. */
static void share_of_roof(const bench *b, int first_row) {
    const bench_row *roof = NULL;
    for (int i = first_row; i < b->row_count && !roof; i++) {
        roof = b->rows[i].c.roof && !b->rows[i].c.failed ? b->rows + i : NULL;
    }
    for (int i = first_row; i < b->row_count && roof; i++) {
        bench_row *row = b->rows + i;
        row->copy_share = (double)row->c.bytes / row->median * roof->median / (double)roof->c.bytes;
    }
}

/* Returns the fastest peer with a right result that this contender is compared with; NULL: there is none. */
static bench_row *best_peer(const bench *b, int first_row, const bench_contender *own) {
    bench_row *best = NULL;
    for (int i = first_row; i < b->row_count; i++) {
        bench_row *row = b->rows + i;
        const bench_contender *c = &row->c;
        const bool rival = !c->ours && !c->roof && (own->any_peer || c->again == own->again);
        if (rival && c->checked && !c->failed && (!best || row->median < best->median)) {
            best = row;
        }
    }
    return best;
}

/* After how many calls has the plan of a row paid, against the library's choice without a plan? */
static int64_t pays_after(const bench *b, int first_row, const bench_row *planned) {
    for (int i = first_row; i < b->row_count && planned->c.ours && planned->c.plan_time > 0; i++) {
        const bench_row *once = b->rows + i;
        if (once->c.ours && once->c.chosen && !once->c.again && !once->c.failed && !planned->c.failed) {
            const double saved = once->median - planned->median;
            return saved > 0 ? (int64_t)fmin(ceil(planned->c.plan_time / saved), 1e15) : -1;
        }
    }
    return 0;
}

/* Times contenders in turns, and keeps their rows. */
static void run_all(bench *b, const char *workload, bench_contender *contenders, int count) {
    for (int i = 0; i < count; i++) {
        contenders[i].times = calloc(MOST_REPEATS, sizeof(double));
        contenders[i].failed = !contenders[i].times;
        if (!contenders[i].failed) {
            warm_up(contenders + i);
        }
    }
    for (int round = 1; one_round(b, contenders, count); round++) {
        tell_progress(workload, round);
    }
    tell_progress(NULL, 0);
    for (int i = 0; i < count; i++) {
        if (!bench_interrupted()) {
            keep_row(b, workload, contenders + i);
        }
        free(contenders[i].times);
        contenders[i].times = NULL;
    }
}

bench_row *bench_time(bench *b, const char *workload, bench_contender *c) {
    const int rows = b->row_count;
    run_all(b, workload, c, 1);
    return b->row_count > rows ? b->rows + rows : NULL;
}

void bench_race(bench *b, const char *workload, bench_contender *contenders, int count) {
    const int first_row = b->row_count;
    run_all(b, workload, contenders, count);
    share_of_roof(b, first_row);
    for (int i = first_row; i < b->row_count; i++) {
        bench_row *row = b->rows + i;
        bench_row *best = best_peer(b, first_row, &row->c);
        row->pays_after = pays_after(b, first_row, row);
        if (best) {
            best->best_peer = true;
            row->gain = row->c.ours && row->c.checked && !row->c.failed ? best->median / row->median : 0;
        }
        bench_print_row(row);
        if (row->c.failed && !row->c.ours) { /* not an error: some peers refuse large matrices */
            fprintf(stderr, "sparse-bench: %s: %s\n", row->name, row->c.why);
        } else if (!row->c.checked || row->c.failed) {
            bench_fail(b, EXIT_CHECK, "%s: %s", row->name, row->c.why);
        }
    }
}
