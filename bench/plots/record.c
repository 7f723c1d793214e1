/* Reads the JSON that `sparse-bench --json` wrote. It searches for a field by its name, forward from a given place: the
 * report writes its fields in a fixed order, so no parser is needed. */
#include "plot.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *plot_field(const char *text, const char *end, const char *name) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", name);
    const char *at = memmem(text, (size_t)(end - text), quoted, strlen(quoted));
    return at ? at + strlen(quoted) + strspn(at + strlen(quoted), " \t\r\n") : NULL;
}

const char *plot_row(const char *text, const char *end) {
    static const char name[] = "\"name\":";
    const char *row = memmem(text, (size_t)(end - text), name, sizeof name - 1);
    return row ? row : end;
}

const char *plot_string(const char *text, const char *end, const char *name, char *to, size_t bytes) {
    const char *at = plot_field(text, end, name);
    to[0] = 0;
    if (at && *at == '"') {
        snprintf(to, bytes, "%.*s", (int)strcspn(at + 1, "\""), at + 1);
    }
    return to;
}
double plot_number(const char *text, const char *end, const char *name) {
    const char *at = plot_field(text, end, name);
    const double x = at ? strtod(at, NULL) : 0;
    return x > 0 && x < 1e15 ? x : 0;
}

const char *plot_origin(const char *text, const char *rows, char *to, size_t bytes) {
    char date[64], device[128], commit[64];
    plot_string(text, rows, "date", date, sizeof date);
    plot_string(text, rows, "commit", commit, sizeof commit);
    if (!*plot_string(text, rows, "gpu", device, sizeof device)) {
        plot_string(text, rows, "cpu", device, sizeof device);
    }
    char *const changed = strstr(commit, "-dirty"), copied[32] = "", doubt[64] = "";
    if (changed) {
        *changed = 0;
    }
    const double copy = 1e-9 * plot_number(text, rows, "copy_bytes_per_second"),
                 others = plot_number(text, rows, "processors_busy_for_others");
    if (copy > 0) {
        snprintf(copied, sizeof copied, ", copy %.4g GB/s", copy);
    }
    const char *load = plot_field(text, rows, "load_avg");
    if (others > BENCH_QUIET) {
        snprintf(doubt, sizeof doubt, ", LOADED: others kept %.2g processors busy", others);
    } else if (load && !plot_field(text, rows, "processors_busy_for_others")) { /* a record of before 2026-11-24 */
        snprintf(doubt, sizeof doubt, ", load %.3g on %.0f processors", strtod(load + 1, NULL),
                 plot_number(text, rows, "num_cpus"));
    }
    snprintf(to, bytes, "%s%s, %.10s, commit %s%s%s", device, copied, date, commit,
             changed ? " with changes that no commit has" : "", doubt);
    return to;
}

const char *plot_rival(const char *rows, const char *end, const char *workload, double ms, char *who, size_t bytes) {
    char name[160];
    const size_t length = strlen(workload);
    double least = INFINITY;
    who[0] = 0;
    for (const char *row = plot_row(rows, end), *next; row < end; row = next) {
        next = plot_row(row + 1, end);
        plot_string(row, next, "name", name, sizeof name);
        const double off = fabs(plot_number(row, next, "real_time") - ms);
        if (strncmp(name, workload, length) == 0 && !strchr(name + length, '/') &&
            strncmp(name + length, "libsparse", 9) != 0 && off < least) {
            least = off;
            snprintf(who, bytes, "%s", bench_is_loop(name + length) ? "plain loop" : name + length);
        }
    }
    return who;
}
