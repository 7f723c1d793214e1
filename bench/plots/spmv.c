/* The plots of spmv and cg. TYPES f64, f32, ...: a group of bars for each workload, times as fast as the best peer: one
 * call against the peers that read the CSR as it is, a plan against all of them. "roofline": operations a second over
 * operations a byte, under the roof that the copy speed of the machine makes. */
#include "plot.h"
#include <math.h>
#include <string.h>

enum { MOST_GROUPS = 64, BAR_LEFT = 190, BAR_TOP = 92, BAR_WIDE = 640, BAR = 15, GROUP = 34, MARGIN = 70, BELOW = 40 };
enum { LEFT = 70, TOP = 64, WIDE = 640, HIGH = 400, LEGEND = 150 };
enum { ONCE, PLANNED, PEER, CSR_PEER, KINDS };

typedef struct group {
    char workload[80]; /* with its types */
    double ms[KINDS];  /* the fastest of each kind; 0: no row */
    double operations, bytes;
} group;

typedef struct figure {
    group groups[MOST_GROUPS];
    int count;
    char title[160], subtitle[256];
    bool roofline;
    double copy; /* bytes a second */
    double top;  /* end of the axis of bars */
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

static void keep_least(double *least, double ms) { *least = *least > 0 ? fmin(*least, ms) : ms; }

/* Takes a row named spmv/SPEC/TYPES/WHO; skips others. Rows of a method that was asked for are no choice of the
 * library. */
static void add_row(figure *f, const char *row, const char *end, const char *types) {
    char name[128], workload[80];
    plot_string(row, end, "name", name, sizeof name);
    const char *first = strchr(name, '/'), *last = strrchr(name, '/');
    const double ms = plot_number(row, end, "real_time"), products = plot_number(row, end, "products");
    if (!first || last == first || ms <= 0 || products <= 0 || plot_field(row, end, "error_occurred")) {
        return;
    }
    snprintf(workload, sizeof workload, "%.*s", (int)(last - first - 1), first + 1);
    const char *own = strrchr(workload, '/');
    if (!f->roofline && (!own || strcmp(own + 1, types) != 0)) {
        return;
    }
    group *g = group_of(f, workload);
    if (!g) {
        return;
    }
    g->operations = 2 * products;
    g->bytes = plot_number(row, end, "bytes");
    const bool converted = plot_number(row, end, "plan_time") > 0;
    if (strcmp(last, "/libsparse") == 0) {
        keep_least(g->ms + ONCE, ms);
    } else if (strcmp(last, "/libsparse:plan") == 0) {
        keep_least(g->ms + PLANNED, ms);
    } else if (strncmp(last, "/libsparse", 10) != 0) {
        keep_least(g->ms + PEER, ms);
        if (!converted) {
            keep_least(g->ms + CSR_PEER, ms);
        }
    }
}

/* The bars: one call, a plan. NaN: a row is missing. */
static double gain(const group *g, int bar) {
    const double theirs = g->ms[bar == ONCE ? CSR_PEER : PEER], own = g->ms[bar];
    return theirs > 0 && own > 0 ? theirs / own : (double)NAN;
}

static bool scan(void *self, const char *text, const char *types) {
    figure *f = self;
    const char *end = text + strlen(text), *rows = plot_field(text, end, "benchmarks");
    bool any = false;
    if (!rows) {
        return false;
    }
    f->roofline = strcmp(types, "roofline") == 0;
    f->copy = plot_number(text, rows, "copy_bytes_per_second");
    plot_origin(text, rows, f->subtitle, sizeof f->subtitle);
    for (const char *row = strstr(rows, "\"name\":"); row;) {
        const char *next = strstr(row + 1, "\"name\":");
        add_row(f, row, next ? next : end, types);
        row = next;
    }
    const char *what = strstr(rows, "\"name\": \"cg/") ? "Conjugate gradients" : "y = A*x";
    if (f->roofline) {
        snprintf(f->title, sizeof f->title, "%s: operations a second over operations a byte", what);
        return f->count > 0 && f->copy > 0;
    }
    snprintf(f->title, sizeof f->title, "%s, %s: times as fast as the best peer", what, types);
    f->top = 2;
    for (int i = 0; i < f->count; i++) {
        for (int bar = ONCE; bar <= PLANNED; bar++) {
            any = any || !isnan(gain(f->groups + i, bar));
            f->top = fmax(f->top, ceil(gain(f->groups + i, bar))); /* fmax ignores a NaN */
        }
    }
    f->top = fmin(f->top, 1000);
    return any;
}

/* ---- bars ---- */

static double bar_end(const figure *f, double times) { return BAR_LEFT + BAR_WIDE * fmin(times, f->top) / f->top; }

static void put_bar(const figure *f, double times, int y, const char *colour, FILE *out) {
    if (!isnan(times)) {
        fprintf(out,
                "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>"
                "<text x=\"%.1f\" y=\"%d\" font-size=\"11\">%.3g</text>\n",
                BAR_LEFT, y, bar_end(f, times) - BAR_LEFT, BAR - 2, colour, bar_end(f, times) + 4, y + 10, times);
    }
}

static void draw_bars(const figure *f, FILE *out) {
    static const char *const colours[] = {"#d55e00", "#e69f00"}, *const names[] = {"one call", "with a plan"};
    const int bottom = BAR_TOP + f->count * GROUP, step = f->top <= 12 ? 1 : (int)ceil(f->top / 12);
    cli_svg_plot(out, BAR_LEFT + BAR_WIDE + MARGIN, bottom + BELOW, 20, f->title, f->subtitle);
    for (int times = 0; times <= (int)f->top; times += step) {
        fprintf(out,
                "<path d=\"M%.1f %dV%d\" stroke=\"%s\"/>\n<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d</text>\n",
                bar_end(f, times), BAR_TOP - 8, bottom, times == 1 ? "#444" : "#d8d8d8", bar_end(f, times), bottom + 18,
                times);
    }
    for (int bar = ONCE; bar <= PLANNED; bar++) {
        const int x = BAR_LEFT + 230 * bar;
        fprintf(out,
                "<rect x=\"%d\" y=\"60\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%d\" y=\"71\">%s</text>\n",
                x, colours[bar], x + 18, names[bar]);
    }
    for (int i = 0; i < f->count; i++) {
        const group *g = f->groups + i;
        const int y = BAR_TOP + i * GROUP;
        fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", BAR_LEFT - 10, y + GROUP / 2);
        cli_xml_text(out, g->workload);
        fputs("</text>\n", out);
        for (int bar = ONCE; bar <= PLANNED; bar++) {
            put_bar(f, gain(g, bar), y + bar * (BAR - 1), colours[bar], out);
        }
    }
}

/* ---- the roofline: both axes are logarithms to the base 2 ---- */

typedef struct frame {
    double left, right, low, high; /* exponents */
} frame;

static double x_of(const frame *r, double intensity) {
    return LEFT + WIDE * (log2(intensity) - r->left) / (r->right - r->left);
}
static double y_of(const frame *r, double rate) {
    return TOP + HIGH * (1 - fmax(log2(rate) - r->low, 0) / (r->high - r->low));
}

static frame frame_of(const figure *f) {
    frame r = {1e9, -1e9, 1e9, -1e9};
    for (int i = 0; i < f->count; i++) {
        const group *g = f->groups + i;
        const double at = log2(g->operations / g->bytes);
        r.left = fmin(r.left, floor(at - 0.1));
        r.right = fmax(r.right, ceil(at + 0.1));
        for (int kind = ONCE; kind <= PEER; kind++) {
            if (g->ms[kind] > 0) {
                r.low = fmin(r.low, floor(log2(1e-6 * g->operations / g->ms[kind])));
            }
        }
    }
    r.high = ceil(log2(1e-9 * f->copy) + r.right);
    r.low = fmax(r.low, r.high - 10); /* what is slower yet stands on the axis */
    return r;
}

static void put_frame(const figure *f, const frame *r, FILE *out) {
    for (double power = r->low; power <= r->high; power++) {
        const double y = y_of(r, exp2(power));
        fprintf(
            out,
            "<path stroke=\"#d8d8d8\" d=\"M%d %.1fh%d\"/><text text-anchor=\"end\" x=\"%d\" y=\"%.1f\">%.3g</text>\n",
            LEFT, y, WIDE, LEFT - 8, y + 4, exp2(power));
    }
    fprintf(out, "<text x=\"%d\" y=\"%d\">Gflop/s</text>\n<g text-anchor=\"middle\">\n", LEFT - 60, TOP - 8);
    for (double power = r->left; power <= r->right; power++) {
        const double x = x_of(r, exp2(power));
        fprintf(out, "<path d=\"M%.1f %dv5\" stroke=\"#888\"/><text x=\"%.1f\" y=\"%d\">%g</text>\n", x, TOP + HIGH, x,
                TOP + HIGH + 20, exp2(power));
    }
    fprintf(out, "<text x=\"%d\" y=\"%d\">operations a byte that must be moved</text>\n</g>\n", LEFT + WIDE / 2,
            TOP + HIGH + 46);
    const double begin = exp2(r->left), end = exp2(r->right), roof = 1e-9 * f->copy;
    fprintf(out, "<path stroke=\"#444\" stroke-width=\"2\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", x_of(r, begin),
            y_of(r, roof * begin), x_of(r, end), y_of(r, roof * end));
}

static void draw_roofline(const figure *f, FILE *out) {
    static const char *const colours[] = {"#d55e00", "#e69f00", "#0072b2"};
    static const char *const names[] = {"one call", "with a plan", "best peer"};
    const frame r = frame_of(f);
    cli_svg_plot(out, LEFT + WIDE + LEGEND, TOP + HIGH + 62, LEFT, f->title, f->subtitle);
    put_frame(f, &r, out);
    for (int kind = PEER; kind >= ONCE; kind--) {
        const int y = TOP + 18 + 20 * kind;
        fprintf(out, "<g fill=\"%s\"><circle cx=\"%d\" cy=\"%d\" r=\"4\"/>\n", colours[kind], LEFT + WIDE + 18, y - 4);
        for (int i = 0; i < f->count; i++) {
            const group *g = f->groups + i;
            if (g->ms[kind] > 0) {
                fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>", x_of(&r, g->operations / g->bytes),
                        y_of(&r, 1e-6 * g->operations / g->ms[kind]));
                cli_xml_text(out, g->workload);
                fputs("</title></circle>\n", out);
            }
        }
        fprintf(out, "</g><text x=\"%d\" y=\"%d\">%s</text>\n", LEFT + WIDE + 30, y, names[kind]);
    }
    fprintf(out, "<text x=\"%d\" y=\"%d\" fill=\"#666\">line: copy speed</text>\n", LEFT + WIDE + 12, TOP + 88);
}

static void draw(const void *self, FILE *out) {
    const figure *f = self;
    (f->roofline ? draw_roofline : draw_bars)(f, out);
}

const plot_kind plot_spmv = {sizeof(figure), scan, draw};
