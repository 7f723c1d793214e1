/* The plot of growth: a panel for each verb, with a curve for each ladder: the time of a unit of work over the work,
 * both by their logarithms. A ring marks a step that takes more than 1.5 times as long a unit as a smaller one. */
#include "plot.h"
#include <math.h>
#include <string.h>

enum { MOST_CURVES = 256, MOST_STEPS = 8, MOST_NAMES = 32, ACROSS = 4 };
enum { LEFT = 56, TOP = 64, WIDE = 240, HIGH = 150, ASIDE = 60, BELOW = 66, LINE = 18 };

typedef struct curve {
    int ladder, verb, count;
    double work[MOST_STEPS], each[MOST_STEPS]; /* units, nanoseconds a unit */
    bool slower[MOST_STEPS];
} curve;

typedef struct names {
    char all[MOST_NAMES][48];
    int count;
} names;

typedef struct figure {
    names ladders, verbs;
    curve curves[MOST_CURVES];
    int count;
    char subtitle[256];
} figure;

/* The number of a name; -1: there are too many. */
static int number_of(names *n, const char *name) {
    int i = 0;
    while (i < n->count && strcmp(n->all[i], name) != 0) {
        i++;
    }
    if (i == MOST_NAMES) {
        return -1;
    }
    n->count += i == n->count;
    snprintf(n->all[i], sizeof n->all[i], "%s", name);
    return i;
}

/* Takes a row named growth/FAMILY/ORDER/SIZE/VERB/libsparse. */
static void add_row(figure *f, const char *row, const char *end) {
    char name[128], family[24], order[16], verb[20], ladder[48];
    const double ms = plot_number(row, end, "real_time"), work = plot_number(row, end, "work");
    plot_string(row, end, "name", name, sizeof name);
    if (sscanf(name, "growth/%23[^/]/%15[^/]/%*[^/]/%19[^/]/", family, order, verb) != 3 || ms <= 0 || work <= 0 ||
        plot_field(row, end, "error_occurred")) {
        return;
    }
    snprintf(ladder, sizeof ladder, "%s/%s", family, order);
    const int l = number_of(&f->ladders, ladder), v = number_of(&f->verbs, verb);
    int i = 0;
    while (i < f->count && (f->curves[i].ladder != l || f->curves[i].verb != v)) {
        i++;
    }
    curve *c = f->curves + i;
    if (l >= 0 && v >= 0 && i < MOST_CURVES && c->count < MOST_STEPS) {
        f->count += i == f->count;
        c->ladder = l;
        c->verb = v;
        c->work[c->count] = work;
        c->each[c->count] = 1e6 * ms / work;
        c->slower[c->count++] = plot_number(row, end, "growth") > 1.5;
    }
}

static bool scan(void *self, const char *text, const char *types) {
    figure *f = self;
    const char *end = text + strlen(text), *rows = plot_field(text, end, "benchmarks");
    (void)types;
    if (!rows) {
        return false;
    }
    plot_origin(text, rows, f->subtitle, sizeof f->subtitle);
    for (const char *row = plot_row(rows, end), *next; row < end; row = next) {
        next = plot_row(row + 1, end);
        add_row(f, row, next);
    }
    return f->count > 0;
}

/* Where a panel begins, and the powers of ten at its ends. */
typedef struct panel {
    int x, y;
    double low[2], high[2]; /* of the work, of a unit's time */
} panel;

static panel panel_of(const figure *f, int verb) {
    panel p = {.x = LEFT + verb % ACROSS * (WIDE + ASIDE),
               .y = TOP + verb / ACROSS * (HIGH + BELOW) + 2 * LINE,
               .low = {INFINITY, INFINITY},
               .high = {-INFINITY, -INFINITY}};
    for (int i = 0; i < f->count; i++) {
        const curve *c = f->curves + i;
        for (int k = 0; k < c->count && c->verb == verb; k++) {
            const double at[2] = {log10(c->work[k]), log10(c->each[k])};
            for (int a = 0; a < 2; a++) {
                p.low[a] = fmin(p.low[a], floor(at[a]));
                p.high[a] = fmax(p.high[a], fmax(ceil(at[a]), p.low[a] + 1));
            }
        }
    }
    return p;
}
static double x_of(const panel *p, double work) {
    return p->x + WIDE * (log10(work) - p->low[0]) / (p->high[0] - p->low[0]);
}
static double y_of(const panel *p, double each) {
    return p->y + HIGH * (p->high[1] - log10(each)) / (p->high[1] - p->low[1]);
}

static const char *colour_of(int i) {
    static const char *const colours[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#8c564b",
                                          "#7f7f7f", "#bcbd22", "#17becf", "#9467bd", "#1f3d7a", "#2ca02c"};
    return colours[i % 12];
}

static void put_axes(const figure *f, const panel *p, int verb, FILE *out) {
    cli_svg_text(out, p->x, p->y - 8, "start", f->verbs.all[verb]);
    for (int power = (int)p->low[1]; power <= (int)p->high[1]; power++) {
        char label[32];
        const double y = y_of(p, pow(10, power));
        fprintf(out, "<path stroke=\"#d8d8d8\" d=\"M%d %.1fh%d\"/>\n", p->x, y, WIDE);
        snprintf(label, sizeof label, "%g", pow(10, power));
        cli_svg_text(out, p->x - 5, y + 4, "end", label);
    }
    for (int power = (int)p->low[0]; power <= (int)p->high[0]; power++) {
        char label[32];
        const double x = x_of(p, pow(10, power));
        fprintf(out, "<path stroke=\"#888\" d=\"M%.1f %dv4\"/>\n", x, p->y + HIGH);
        snprintf(label, sizeof label, "1e%d", power);
        cli_svg_text(out, x, p->y + HIGH + 18, "middle", label);
    }
}

static void put_curve(const panel *p, const curve *c, FILE *out) {
    fprintf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\" d=\"", colour_of(c->ladder));
    for (int k = 0; k < c->count; k++) {
        fprintf(out, "%c%.0f %.0f", k ? 'L' : 'M', x_of(p, c->work[k]), y_of(p, c->each[k]));
    }
    fputs("\"/>\n", out);
    for (int k = 0; k < c->count; k++) {
        if (c->slower[k]) {
            fprintf(out, "<circle cx=\"%.0f\" cy=\"%.0f\" r=\"6\"/>\n", x_of(p, c->work[k]), y_of(p, c->each[k]));
        }
    }
}

static void draw(const void *self, FILE *out) {
    const figure *f = self;
    const int rows = (f->verbs.count + ACROSS - 1) / ACROSS, legend = TOP + rows * (HIGH + BELOW) + 2 * LINE;
    cli_svg_plot(out, LEFT + ACROSS * (WIDE + ASIDE), legend + (f->ladders.count / ACROSS + 1) * LINE, LEFT,
                 "Growth: nanoseconds a unit of work, over the units (ring: over 1.5 times a smaller size)",
                 f->subtitle);
    for (int v = 0; v < f->verbs.count; v++) {
        const panel p = panel_of(f, v);
        put_axes(f, &p, v, out);
        fputs("<g fill=\"none\" stroke=\"#d00000\">\n", out);
        for (int i = 0; i < f->count; i++) {
            if (f->curves[i].verb == v) {
                put_curve(&p, f->curves + i, out);
            }
        }
        fputs("</g>\n", out);
    }
    for (int l = 0; l < f->ladders.count; l++) {
        const int x = LEFT + l % ACROSS * (WIDE + ASIDE), y = legend + l / ACROSS * LINE;
        fprintf(out, "<path stroke-width=\"3\" stroke=\"%s\" d=\"M%d %dh28\"/>\n", colour_of(l), x, y - 4);
        cli_svg_text(out, x + 36, y, "start", f->ladders.all[l]);
    }
}

const plot_kind plot_growth = {sizeof(figure), scan, draw};
