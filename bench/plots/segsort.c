/* The plot of segsort: share of copy speed over the length of uniform segments, one curve for each contender. */
#include "plot.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SERIES = 12, MOST_POINTS = 64 };
enum { LEFT = 70, TOP = 64, WIDE = 800, HIGH = 400, MARGIN = 30, BELOW = 62 };

typedef struct series {
    char who[32];
    int count;
    double length[MOST_POINTS], share[MOST_POINTS];
} series;

typedef struct figure {
    series series[MOST_SERIES];
    int count;
    char title[160], subtitle[256];
    double longest, top; /* ends of the axes */
} figure;

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

/* Takes a row named segsort/uniform_LENGTH/TYPES/WHO; skips other rows. */
static void add_row(figure *f, const char *row, const char *end, const char *types) {
    char name[128] = "", between[64], *at;
    static const char start[] = "segsort/uniform_";
    if (strncmp(plot_string(row, end, "name", name, sizeof name), start, strlen(start)) != 0) {
        return;
    }
    const double items = plot_number(row, end, "items"), share = plot_number(row, end, "fraction_of_copy");
    const double named = strtod(name + strlen(start), &at), length = name[strlen(start)] == 'N' ? items : named;
    snprintf(between, sizeof between, "/%s/", types);
    at += *at == 'N';
    const char *who = at + strlen(between);
    if (strncmp(at, between, strlen(between)) != 0 || strchr(who, '/') || length < 1 || share <= 0 ||
        plot_field(row, end, "error_occurred")) {
        return;
    }
    series *s = series_of(f, who);
    if (s && s->count < MOST_POINTS) {
        s->length[s->count] = length;
        s->share[s->count++] = share;
        f->longest = fmax(f->longest, length);
        f->top = fmax(f->top, share);
    }
}

static bool scan(void *self, const char *text, const char *types) {
    figure *f = self;
    const char *end = text + strlen(text), *rows = plot_field(text, end, "benchmarks");
    if (!rows) {
        return false;
    }
    snprintf(f->title, sizeof f->title, "Segmented sort, %s: share of copy speed over segment length", types);
    plot_origin(text, rows, f->subtitle, sizeof f->subtitle);
    for (const char *row = plot_row(rows, end), *next; row < end; row = next) {
        next = plot_row(row + 1, end);
        add_row(f, row, next, types);
    }
    f->top = ceil(f->top * 10 + 1e-9) / 10;
    return f->count > 0;
}

static double x_of(const figure *f, double length) { return LEFT + WIDE * log2(length) / fmax(log2(f->longest), 1); }
static double y_of(const figure *f, double share) { return TOP + HIGH * (1 - share / f->top); }

/* 1, 4, ..., 1 Ki, ..., 128 Mi */
static void put_length(FILE *out, int power) {
    static const char *const units[] = {"", " Ki", " Mi", " Gi", " Ti"};
    fprintf(out, "%d%s", 1 << power % 10, units[power / 10]);
}

static void put_axes(const figure *f, FILE *out) {
    const int top = (int)(100 * fmin(f->top, 100) + 0.5);
    fputs("<g stroke=\"#d8d8d8\">\n", out);
    for (int percent = 0; percent <= top; percent += 10) {
        fprintf(out, "<path d=\"M%d %.1fh%d\"/>\n", LEFT, y_of(f, percent / 100.0), WIDE);
    }
    fputs("</g>\n<g text-anchor=\"end\">\n", out);
    for (int percent = 0; percent <= top; percent += 10) {
        fprintf(out, "<text x=\"%d\" y=\"%.1f\">%d %%</text>\n", LEFT - 8, y_of(f, percent / 100.0) + 4, percent);
    }
    fputs("</g>\n<g text-anchor=\"middle\">\n", out);
    for (int power = 0; power <= log2(f->longest) && power < 50; power += 2) {
        const double x = x_of(f, ldexp(1, power));
        fprintf(out, "<path d=\"M%.1f %dv5\" stroke=\"#888\"/><text x=\"%.1f\" y=\"%d\">", x, TOP + HIGH, x,
                TOP + HIGH + 20);
        put_length(out, power);
        fputs("</text>\n", out);
    }
    fprintf(out, "<text x=\"%d\" y=\"%d\">items in a segment</text>\n</g>\n", LEFT + WIDE / 2, TOP + HIGH + 46);
}

/* Draws the curves, the library's last, so that it is on top. The legend is at the top right, because curves fall. */
static void put_series(const figure *f, FILE *out) {
    static const char *const colours[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#8c564b", "#7f7f7f"};
    for (int i = f->count - 1; i >= 0; i--) {
        const series *s = f->series + i;
        const bool ours = strcmp(s->who, "libsparse") == 0;
        const char *colour = ours ? "#d55e00" : colours[i % 7];
        fprintf(out, "<g stroke=\"%s\" fill=\"%s\">\n<path fill=\"none\" stroke-width=\"%s\" d=\"", colour, colour,
                ours ? "3.5" : "2");
        for (int k = 0; k < s->count; k++) {
            fprintf(out, "%c%.1f %.1f", k ? 'L' : 'M', x_of(f, s->length[k]), y_of(f, s->share[k]));
        }
        fputs("\"/>\n", out);
        for (int k = 0; k < s->count; k++) {
            fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"/>\n", x_of(f, s->length[k]), y_of(f, s->share[k]),
                    ours ? "3.5" : "2.5");
        }
        const int y = TOP + 18 + 20 * i;
        fprintf(out, "<path stroke-width=\"%s\" d=\"M%d %dh28\"/></g>\n<text x=\"%d\" y=\"%d\">", ours ? "3.5" : "2",
                LEFT + WIDE - 150, y - 4, LEFT + WIDE - 114, y);
        cli_xml_text(out, s->who);
        fputs("</text>\n", out);
    }
}

static void draw(const void *self, FILE *out) {
    const figure *f = self;
    cli_svg_plot(out, LEFT + WIDE + MARGIN, TOP + HIGH + BELOW, LEFT, f->title, f->subtitle);
    put_axes(f, out);
    put_series(f, out);
}

const plot_kind plot_segsort = {sizeof(figure), scan, draw};
