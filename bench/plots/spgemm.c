/* The plot of spgemm: a group of bars for each workload, times as fast as cuSPARSE. A whole call is compared with the
 * fastest algorithm of cuSPARSE, a call with a plan with its reuse of a structure. Without cuSPARSE, that is on a CPU,
 * a whole call is compared with the fastest peer. */
#include "plot.h"
#include <math.h>
#include <string.h>

enum { MOST_GROUPS = 64, LEFT = 190, TOP = 92, WIDE = 640, BAR = 15, GROUP = 46, MARGIN = 70, BELOW = 40 };

typedef struct group {
    char workload[64];
    double whole, by_plan, cusparse, reuse, esc, peer; /* milliseconds; 0: no row */
} group;

typedef struct figure {
    group groups[MOST_GROUPS];
    int count;
    char title[160], subtitle[256];
    bool on_gpu; /* the record has rows of cuSPARSE */
    double top;  /* end of the axis */
} figure;

static group *group_of(figure *f, const char *workload) {
    for (int i = 0; i < f->count; i++) {
        if (strcmp(f->groups[i].workload, workload) == 0) {
            return f->groups + i;
        }
    }
    if (f->count == MOST_GROUPS) {
        return NULL;
    }
    snprintf(f->groups[f->count].workload, sizeof f->groups[0].workload, "%s", workload);
    return f->groups + f->count++;
}

/* Takes a row named spgemm/WORKLOAD/TYPE/WHO; skips other rows. */
static void add_row(figure *f, const char *row, const char *end, const char *type) {
    char name[128], between[32], workload[64];
    static const char start[] = "spgemm/";
    snprintf(between, sizeof between, "/%s/", type);
    plot_string(row, end, "name", name, sizeof name);
    const char *at = strstr(name, between);
    const double ms = plot_number(row, end, "real_time");
    if (strncmp(name, start, strlen(start)) != 0 || !at || ms <= 0 || plot_field(row, end, "error_occurred")) {
        return;
    }
    const char *who = at + strlen(between);
    snprintf(workload, sizeof workload, "%.*s", (int)(at - name - (int)strlen(start)), name + strlen(start));
    group *g = group_of(f, workload);
    if (!g) {
        return;
    }
    if (strncmp(who, "libsparse", 9) != 0) {
        g->peer = g->peer > 0 ? fmin(g->peer, ms) : ms;
    }
    f->on_gpu = f->on_gpu || strncmp(who, "cusparse:", 9) == 0;
    if (strcmp(who, "libsparse") == 0) {
        g->whole = ms;
    } else if (strcmp(who, "libsparse:update") == 0 || (strcmp(who, "libsparse:plan") == 0 && g->by_plan == 0)) {
        g->by_plan = ms;
    } else if (strcmp(who, "cub_expand_sort") == 0) {
        g->esc = ms;
    } else if (strcmp(who, "cusparse:reuse") == 0) {
        g->reuse = ms;
    } else if (strncmp(who, "cusparse:", 9) == 0) {
        g->cusparse = g->cusparse > 0 ? fmin(g->cusparse, ms) : ms;
    }
}

/* The bars: the library, the library with a plan, CUB. A bar without both of its rows is NaN. */
enum { WHOLE, BY_PLAN, ESC, BARS };
static double gain(const figure *f, const group *g, int bar) {
    const double theirs = bar == BY_PLAN ? g->reuse : f->on_gpu ? g->cusparse : g->peer;
    const double own = bar == WHOLE ? g->whole : bar == BY_PLAN ? g->by_plan : g->esc;
    return theirs > 0 && own > 0 ? theirs / own : (double)NAN;
}

static bool scan(void *self, const char *text, const char *types) {
    figure *f = self;
    const char *end = text + strlen(text), *rows = plot_field(text, end, "benchmarks");
    bool any = false;
    if (!rows) {
        return false;
    }
    plot_origin(text, rows, f->subtitle, sizeof f->subtitle);
    for (const char *row = strstr(rows, "\"name\":"); row;) {
        const char *next = strstr(row + 1, "\"name\":");
        add_row(f, row, next ? next : end, types);
        row = next;
    }
    snprintf(f->title, sizeof f->title, "C = A*A, %s: times as fast as %s", types,
             f->on_gpu ? "cuSPARSE" : "the best peer");
    f->top = 2;
    for (int i = 0; i < f->count; i++) {
        for (int bar = 0; bar < BARS; bar++) {
            any = any || !isnan(gain(f, f->groups + i, bar));
            f->top = fmax(f->top, ceil(gain(f, f->groups + i, bar))); /* fmax ignores a NaN */
        }
    }
    f->top = fmin(f->top, 1000);
    return any;
}

static double x_of(const figure *f, double times) { return LEFT + WIDE * fmin(times, f->top) / f->top; }

static void put_axis(const figure *f, FILE *out) {
    const int bottom = TOP + f->count * GROUP, step = f->top <= 12 ? 1 : (int)ceil(f->top / 12);
    for (int times = 0; times <= (int)f->top; times += step) {
        fprintf(out,
                "<path d=\"M%.1f %dV%d\" stroke=\"%s\"/>\n<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d</text>\n",
                x_of(f, times), TOP - 8, bottom, times == 1 ? "#444" : "#d8d8d8", x_of(f, times), bottom + 18, times);
    }
}

static void draw(const void *self, FILE *out) {
    static const char *const colours[BARS] = {"#d55e00", "#e69f00", "#56b4e9"};
    const figure *f = self;
    const char *const names[BARS] = {f->on_gpu ? "libsparse / its fastest algorithm" : "libsparse",
                                     "with a plan / its reuse", "CUB expand, sort, compress"};
    cli_svg_plot(out, LEFT + WIDE + MARGIN, TOP + f->count * GROUP + BELOW, 20, f->title, f->subtitle);
    put_axis(f, out);
    for (int bar = 0; bar < (f->on_gpu ? BARS : BY_PLAN); bar++) {
        const int x = LEFT + 230 * bar;
        fprintf(out,
                "<rect x=\"%d\" y=\"60\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%d\" y=\"71\">%s</text>\n",
                x, colours[bar], x + 18, names[bar]);
    }
    for (int i = 0; i < f->count; i++) {
        const int y = TOP + i * GROUP;
        fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LEFT - 10, y + GROUP / 2);
        cli_xml_text(out, f->groups[i].workload);
        fputs("</text>\n", out);
        for (int bar = 0; bar < BARS; bar++) {
            const double times = gain(f, f->groups + i, bar);
            if (!isnan(times) && (f->on_gpu || bar == WHOLE)) {
                fprintf(out,
                        "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>"
                        "<text x=\"%.1f\" y=\"%d\" font-size=\"11\">%.3g</text>\n",
                        LEFT, y + bar * (BAR - 1), x_of(f, times) - LEFT, BAR - 2, colours[bar], x_of(f, times) + 4,
                        y + bar * (BAR - 1) + 10, times);
            }
        }
    }
}

const plot_kind plot_spgemm = {sizeof(figure), scan, draw};
