/* Reads the JSON that `sparse-bench --json` wrote. It searches for a field by its name, forward from a given place: the
 * report writes its fields in a fixed order, so no parser is needed. */
#include "plot.h"
#include <stdlib.h>
#include <string.h>

const char *plot_field(const char *text, const char *end, const char *name) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", name);
    const char *at = strstr(text, quoted);
    return at && at < end ? at + strlen(quoted) + strspn(at + strlen(quoted), " \t\r\n") : NULL;
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

void plot_origin(const char *text, const char *rows, char *to, size_t bytes) {
    char date[64], device[128], commit[64];
    plot_string(text, rows, "date", date, sizeof date);
    plot_string(text, rows, "commit", commit, sizeof commit);
    if (!*plot_string(text, rows, "gpu", device, sizeof device)) {
        plot_string(text, rows, "cpu", device, sizeof device);
    }
    snprintf(to, bytes, "%s, copy %.4g GB/s, %.10s, commit %s", device,
             1e-9 * plot_number(text, rows, "copy_bytes_per_second"), date, commit);
}
