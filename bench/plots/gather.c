/* The plots of gather and scatter: measured times (lines with dots) and predicted ones (dashed), a curve for each
 * strategy. TYPES picks the horizontal axis: a pattern ("random": over n), "partitions", "width" (bytes of an element),
 * "passes" (of a rescan), or "bandwidth" (over n, a curve for each pattern). */
#include "plot.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SERIES = 12, MOST_POINTS = 32 };
enum { LEFT = 70, TOP = 84, WIDE = 640, HIGH = 400, LEGEND = 190, BELOW = 62 };

typedef struct point {
    double x, measured, predicted; /* x: a power of two; the others in ns an element, or GB/s; 0: none */
} point;

typedef struct series {
    char who[32];
    int count;
    point points[MOST_POINTS];
} series;

typedef enum axis { OVER_N, OVER_PARTITIONS, OVER_WIDTH, OVER_PASSES, BANDWIDTH } axis;

typedef struct figure {
    series series[MOST_SERIES];
    int count;
    char title[160], subtitle[256];
    axis axis;
    double low, high, top; /* ends of the axes; low and high are exponents */
} figure;

/* The parts of the name gather/PATTERN/nBITS/bBYTES/WHO. */
typedef struct row_name {
    char pattern[32], who[64];
    int bits, bytes;
} row_name;

static bool parse_name(const char *name, row_name *parts) {
    return sscanf(name, "%*[a-z]/%31[^/]/n%d/b%d/%63s", parts->pattern, &parts->bits, &parts->bytes, parts->who) == 4;
}

static series *series_of(figure *f, const char *who) {
    for (int i = 0; i < f->count; i++) {
        if (strcmp(f->series[i].who, who) == 0) {
            return f->series + i;
        }
    }
    if (f->count == MOST_SERIES) {
        return NULL;
    }
    snprintf(f->series[f->count].who, sizeof f->series[0].who, "%s", who);
    return f->series + f->count++;
}

/* Where a row stands on the axis, as an exponent of two; negative: it is no row of this figure. `deepest`: the largest
 * n of the record. Without a strategy's name a row of the library is a choice, which equals another row. */
static double place_of(const figure *f, const row_name *r, const char *types, int deepest) {
    const char *passes = strstr(r->who, "rescan-");
    const bool partitions = strncmp(r->pattern, "parts", 5) == 0;
    switch (f->axis) {
    case OVER_N:
        return strcmp(r->pattern, types) == 0 && r->bytes == 8 && !passes ? r->bits : -1;
    case OVER_PARTITIONS:
        return r->bits != deepest || r->bytes != 8 || passes ? -1
               : partitions                                  ? strtod(r->pattern + 5, NULL)
               : strcmp(r->pattern, "sequential") == 0       ? 0
               : strcmp(r->pattern, "permutation") == 0      ? r->bits
                                                             : -1;
    case OVER_WIDTH:
        return strcmp(r->pattern, "permutation") == 0 && r->bits == 24 ? log2(r->bytes) : -1;
    case OVER_PASSES:
        return passes ? log2(strtod(passes + 7, NULL)) : -1;
    default:
        return strcmp(r->who, "libsparse:direct") == 0 && r->bytes == 8 ? r->bits : -1;
    }
}

static void add_row(figure *f, const char *row, const char *end, const char *types, int deepest) {
    char name[128], who[32];
    row_name r;
    plot_string(row, end, "name", name, sizeof name);
    const double ms = plot_number(row, end, "real_time"), predicted = plot_number(row, end, "predicted_time");
    const double n = plot_number(row, end, "items"), bytes = plot_number(row, end, "bytes");
    if (!parse_name(name, &r) || ms <= 0 || n <= 0 || plot_field(row, end, "error_occurred")) {
        return;
    }
    const double x = place_of(f, &r, types, deepest);
    if (x < 0 || strcmp(r.who, "libsparse") == 0 || strcmp(r.who, "libsparse:plan") == 0) {
        return;
    }
    const char *own = strncmp(r.who, "libsparse:", 10) == 0 ? r.who + 10 : r.who;
    snprintf(who, sizeof who, "%.31s", f->axis == BANDWIDTH ? r.pattern : f->axis == OVER_PASSES ? "rescan" : own);
    series *s = series_of(f, who);
    if (s && s->count < MOST_POINTS) {
        const bool rate = f->axis == BANDWIDTH;
        point *p = s->points + s->count++;
        *p = (point){x, rate ? 1e-6 * bytes / ms : 1e6 * ms / n, 0};
        p->predicted = predicted > 0 ? rate ? 1e-6 * bytes / predicted : 1e6 * predicted / n : 0;
        f->low = fmin(f->low, x);
        f->high = fmax(f->high, x);
        f->top = fmax(f->top, fmax(p->measured, fmin(p->predicted, 2 * p->measured)));
    }
}

static int compare_points(const void *a, const void *b) {
    const double x = ((const point *)a)->x, y = ((const point *)b)->x;
    return (x > y) - (x < y);
}

/* The largest exponent of n among the rows. */
static int deepest_of(const char *rows, const char *end) {
    int deepest = 0;
    for (const char *row = plot_row(rows, end); row < end; row = plot_row(row + 1, end)) {
        char name[128];
        row_name r;
        if (parse_name(plot_string(row, end, "name", name, sizeof name), &r) && r.bits > deepest) {
            deepest = r.bits;
        }
    }
    return deepest;
}

static void name_figure(figure *f, const char *rows, const char *types, int deepest) {
    const char *what = strstr(rows, "\"name\": \"scatter/") ? "Scatter" : "Gather";
    static const char *const over[] = {"over n", "over the number of partitions", "over the size of an element",
                                       "over the number of passes", "over n"};
    if (f->axis == OVER_N) {
        snprintf(f->title, sizeof f->title, "%s, %s, 8-byte elements: time %s", what, types, over[f->axis]);
    } else if (f->axis == BANDWIDTH) {
        snprintf(f->title, sizeof f->title, "%s, direct, 8-byte elements: bandwidth %s", what, over[f->axis]);
    } else {
        snprintf(f->title, sizeof f->title, "%s, n = 2^%d: time %s", what, f->axis == OVER_WIDTH ? 24 : deepest,
                 over[f->axis]);
    }
}

static bool scan(void *self, const char *text, const char *types) {
    figure *f = self;
    static const char *const axes[] = {"", "partitions", "width", "passes", "bandwidth"};
    const char *end = text + strlen(text), *rows = plot_field(text, end, "benchmarks");
    if (!rows) {
        return false;
    }
    for (int a = 1; a < 5; a++) {
        f->axis = strcmp(types, axes[a]) == 0 ? (axis)a : f->axis;
    }
    f->low = 1e9;
    f->high = -1e9;
    const int deepest = deepest_of(rows, end);
    for (const char *row = plot_row(rows, end), *next; row < end; row = next) {
        next = plot_row(row + 1, end);
        add_row(f, row, next, types, deepest);
    }
    plot_origin(text, rows, f->subtitle, sizeof f->subtitle);
    name_figure(f, rows, types, deepest);
    for (int i = 0; i < f->count; i++) {
        qsort(f->series[i].points, (size_t)f->series[i].count, sizeof(point), compare_points);
    }
    return f->count > 0;
}

/* ---- drawing ---- */

static double x_of(const figure *f, double x) { return LEFT + WIDE * (x - f->low) / fmax(f->high - f->low, 1e-9); }
static double y_of(const figure *f, double y) { return TOP + HIGH * (1 - fmin(y / f->top, 1)); }

/* A round number that fits 4 to 10 times into `top`. */
static double step_for(double top) {
    const double power = pow(10, floor(log10(top)));
    return top / power >= 5 ? power : top / power >= 2 ? power / 2 : power / 5;
}

static void put_axes(const figure *f, FILE *out) {
    static const char *const names[] = {"n", "partitions", "bytes of an element", "passes", "n"};
    const double step = step_for(f->top);
    for (double y = 0; y <= f->top * 1.0001; y += step) {
        fprintf(out,
                "<path stroke=\"#d8d8d8\" d=\"M%d %.1fh%d\"/><text text-anchor=\"end\" x=\"%d\" y=\"%.1f\">%g</text>\n",
                LEFT, y_of(f, y), WIDE, LEFT - 8, y_of(f, y) + 4, y);
    }
    fprintf(out, "<text x=\"%d\" y=\"%d\">%s</text>\n<g text-anchor=\"middle\">\n", LEFT - 60, TOP - 14,
            f->axis == BANDWIDTH ? "GB/s" : "ns an element");
    const int every = f->high - f->low > 12 ? 2 : 1;
    for (int power = (int)ceil(f->low); power <= f->high; power += every) {
        const double x = x_of(f, power);
        fprintf(out, "<path d=\"M%.1f %dv5\" stroke=\"#888\"/><text x=\"%.1f\" y=\"%d\">", x, TOP + HIGH, x,
                TOP + HIGH + 20);
        fprintf(out, power < 10 ? "" : "2^");
        fprintf(out, "%d</text>\n", power < 10 && power >= 0 ? 1 << power : power);
    }
    fprintf(out, "<text x=\"%d\" y=\"%d\">%s</text>\n</g>\n", LEFT + WIDE / 2, TOP + HIGH + 46, names[f->axis]);
}

static void put_curve(const figure *f, const series *s, bool predicted, FILE *out) {
    fputs(predicted ? "<path fill=\"none\" stroke-dasharray=\"6 4\" d=\"" : "<path fill=\"none\" d=\"", out);
    bool any = false;
    for (int k = 0; k < s->count; k++) {
        const double y = predicted ? s->points[k].predicted : s->points[k].measured;
        if (y > 0) {
            fprintf(out, "%c%.1f %.1f", any ? 'L' : 'M', x_of(f, s->points[k].x), y_of(f, y));
            any = true;
        }
    }
    fputs("\"/>\n", out);
}

static void draw(const void *self, FILE *out) {
    static const char *const colours[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#8c564b",
                                          "#7f7f7f", "#d55e00", "#000000", "#999933", "#882255", "#44aa99"};
    const figure *f = self;
    cli_svg_plot(out, LEFT + WIDE + LEGEND, TOP + HIGH + BELOW, LEFT, f->title, f->subtitle);
    put_axes(f, out);
    for (int i = 0; i < f->count; i++) {
        const series *s = f->series + i;
        fprintf(out, "<g stroke=\"%s\" fill=\"%s\" stroke-width=\"2\">\n", colours[i], colours[i]);
        put_curve(f, s, false, out);
        put_curve(f, s, true, out);
        for (int k = 0; k < s->count; k++) {
            fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"/>\n", x_of(f, s->points[k].x),
                    y_of(f, s->points[k].measured));
        }
        const int y = TOP + 18 + 20 * i;
        fprintf(out, "<path d=\"M%d %dh24\"/></g>\n<text x=\"%d\" y=\"%d\">", LEFT + WIDE + 12, y - 4, LEFT + WIDE + 42,
                y);
        cli_xml_text(out, s->who);
        fputs("</text>\n", out);
    }
    fprintf(out, "<text x=\"%d\" y=\"%d\" fill=\"#666\">dashed: predicted</text>\n", LEFT + WIDE + 12,
            TOP + 18 + 20 * f->count);
}

const plot_kind plot_gather = {sizeof(figure), scan, draw};
