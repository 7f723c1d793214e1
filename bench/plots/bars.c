/* The plot of every subject that has no curves of its own. TYPES f64, k32, ...: the workloads with this word in their
 * names; "": all. A group of bars for each, the time of the best peer over ours: one call against peers that take their
 * input as it is; a plan against all; new values of a structure against peers that keep the structure too. A title says
 * where the best peer is a plain loop of ours. "roofline": operations a second over operations a byte, under the roof
 * that the copy speed of the machine makes. */
#include "plot.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_GROUPS = 256, BAR_TOP = 92, BAR_WIDE = 640, BAR = 15, MARGIN = 110, BELOW = 40 };
enum { LEFT = 70, TOP = 84, WIDE = 640, HIGH = 400, LEGEND = 150 };
enum { ONCE, PLANNED, PEER, REFILLED, CSR_PEER, REUSE_PEER, KINDS };
static const double letter = 7.6; /* pixels, of a name */

typedef struct group {
    char workload[96];
    double ms[KINDS]; /* the fastest of each kind; 0: no row */
    bool loop[KINDS]; /* it is a plain loop of ours */
    double operations, bytes;
} group;

typedef struct figure {
    group groups[MOST_GROUPS];
    int count, left; /* left: where bars begin */
    int high;        /* pixels of a group */
    bool planned;    /* some group has a plan */
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

static void keep_least(group *g, int kind, double ms, bool loop) {
    if (!(g->ms[kind] > 0) || ms < g->ms[kind]) {
        g->ms[kind] = ms;
        g->loop[kind] = loop;
    }
}

/* Takes `types` out of a workload, "er:10:2/f64" to "er:10:2". false: it is not in it. */
static bool take_types(char *workload, const char *types) {
    const size_t length = strlen(types);
    for (char *at = workload; length > 0 && *at; at += strcspn(at, "/"), at += *at == '/') {
        if (strncmp(at, types, length) == 0 && (at[length] == '/' || !at[length])) {
            const size_t rest = strlen(at + length + (at[length] == '/'));
            memmove(at, at + length + (at[length] == '/'), rest + 1);
            if (rest == 0 && at > workload) {
                at[-1] = 0;
            }
            return true;
        }
    }
    return length == 0;
}

/* Of which kind is a row? -1: of none. Rows of a method that was asked for are no choice of the library. */
static int kind_of(const char *who, bool converts) {
    if (strncmp(who, "libsparse", 9) == 0) {
        return !who[9]                           ? ONCE
               : strcmp(who + 9, ":plan") == 0   ? PLANNED
               : strcmp(who + 9, ":update") == 0 ? REFILLED
                                                 : -1;
    }
    const size_t length = strlen(who);
    return strcmp(who, "copy") == 0                                ? -1
           : length > 6 && strcmp(who + length - 6, ":reuse") == 0 ? REUSE_PEER
           : converts                                              ? PEER
                                                                   : CSR_PEER;
}

/* Takes a row named SUBJECT/WORKLOAD/WHO; skips others. */
static void add_row(figure *f, const char *row, const char *end, const char *types) {
    char name[160], workload[96];
    plot_string(row, end, "name", name, sizeof name);
    const char *first = strchr(name, '/'), *last = strrchr(name, '/');
    const double ms = plot_number(row, end, "real_time"), operations = 2 * plot_number(row, end, "products");
    if (!first || last == first || ms <= 0 || plot_field(row, end, "error_occurred") ||
        (f->roofline && operations <= 0)) {
        return;
    }
    snprintf(workload, sizeof workload, "%.*s", (int)(last - first - 1), first + 1);
    const int kind = kind_of(last + 1, plot_number(row, end, "plan_time") > 0);
    if (kind < 0 || (!f->roofline && !take_types(workload, types))) {
        return;
    }
    group *g = group_of(f, workload);
    if (g) {
        g->operations = operations;
        g->bytes = plot_number(row, end, "bytes");
        keep_least(g, kind, ms, bench_is_loop(last + 1));
        if (kind == CSR_PEER) {
            keep_least(g, PEER, ms, bench_is_loop(last + 1));
        }
    }
}

/* The bars: one call, a plan or its refill. */
static int rival(const group *g, int bar) { return bar == ONCE ? CSR_PEER : g->ms[REUSE_PEER] > 0 ? REUSE_PEER : PEER; }

/* NaN: a row is missing. */
static double gain(const group *g, int bar) {
    const double theirs = g->ms[rival(g, bar)], own = g->ms[rival(g, bar) == REUSE_PEER ? REFILLED : bar];
    return theirs > 0 && own > 0 ? theirs / own : (double)NAN;
}

/* What a record is of, for the title. */
static const char *subject_of(const char *rows, char *name, size_t bytes) {
    plot_string(rows, rows + strlen(rows), "name", name, bytes);
    name[strcspn(name, "/")] = 0;
    return strcmp(name, "spgemm") == 0 ? "C = A*B"
           : strcmp(name, "spmv") == 0 ? "y = A*x"
           : strcmp(name, "cg") == 0   ? "Conjugate gradients"
                                       : name;
}

/* Leaves out groups without a bar; says how wide names are and where the axis ends. */
static bool set_bars(figure *f) {
    int kept = 0;
    size_t longest = 0;
    f->top = 2;
    for (int i = 0; i < f->count; i++) {
        const double once = gain(f->groups + i, ONCE), planned = gain(f->groups + i, PLANNED);
        if (!isnan(once) || !isnan(planned)) {
            f->groups[kept] = f->groups[i];
            longest = strlen(f->groups[kept].workload) > longest ? strlen(f->groups[kept].workload) : longest;
            f->top = fmax(f->top, fmax(ceil(once), ceil(planned))); /* fmax ignores a NaN */
            f->planned = f->planned || !isnan(planned);
            kept++;
        }
    }
    f->count = kept;
    f->high = f->planned ? 34 : 20;
    f->left = 24 + (int)(letter * (double)longest);
    f->top = fmin(f->top, 1000);
    return kept > 0;
}

static bool scan(void *self, const char *text, const char *types) {
    figure *f = self;
    char subject[64];
    const char *end = text + strlen(text), *rows = plot_field(text, end, "benchmarks");
    if (!rows) {
        return false;
    }
    f->roofline = strcmp(types, "roofline") == 0;
    f->copy = plot_number(text, rows, "copy_bytes_per_second");
    plot_origin(text, rows, f->subtitle, sizeof f->subtitle);
    for (const char *row = plot_row(rows, end), *next; row < end; row = next) {
        next = plot_row(row + 1, end);
        add_row(f, row, next, types);
    }
    const char *what = subject_of(rows, subject, sizeof subject);
    if (f->roofline) {
        snprintf(f->title, sizeof f->title, "%s: operations a second over operations a byte", what);
        return f->count > 0 && f->copy > 0;
    }
    snprintf(f->title, sizeof f->title, "%s%s%s: time of the best peer / ours (above 1 we are ahead)", what,
             *types ? ", " : "", types);
    return set_bars(f);
}

/* ---- bars ---- */

static double bar_end(const figure *f, double times) { return f->left + BAR_WIDE * fmin(times, f->top) / f->top; }

static void put_bar(const figure *f, const group *g, int bar, int y, const char *colour, FILE *out) {
    const double times = gain(g, bar);
    if (!isnan(times)) {
        fprintf(out,
                "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>"
                "<text x=\"%.1f\" y=\"%d\" font-size=\"11\">%.3g%s</text>\n",
                f->left, y, bar_end(f, times) - f->left, BAR - 2, colour, bar_end(f, times) + 4, y + 10, times,
                g->loop[rival(g, bar)] ? ", plain loop" : "");
    }
}

static void draw_bars(const figure *f, FILE *out) {
    static const char *const colours[] = {"#d55e00", "#e69f00"}, *const names[] = {"one call", "with a plan"};
    const int bottom = BAR_TOP + f->count * f->high, step = f->top <= 12 ? 1 : (int)ceil(f->top / 12);
    cli_svg_plot(out, f->left + BAR_WIDE + MARGIN, bottom + BELOW, 20, f->title, f->subtitle);
    for (int times = 0; times <= (int)f->top; times += step) {
        fprintf(out,
                "<path d=\"M%.1f %dV%d\" stroke=\"#d8d8d8\"/>\n<text x=\"%.1f\" y=\"%d\" "
                "text-anchor=\"middle\">%d</text>\n",
                bar_end(f, times), BAR_TOP - 8, bottom, bar_end(f, times), bottom + 18, times);
    }
    fprintf(out, "<path d=\"M%.1f %dV%d\" stroke=\"#444\"/>\n", bar_end(f, 1), BAR_TOP - 8, bottom); /* as fast */
    for (int bar = ONCE; bar <= (f->planned ? PLANNED : ONCE); bar++) {
        const int x = f->left + 230 * bar;
        fprintf(out,
                "<rect x=\"%d\" y=\"60\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%d\" y=\"71\">%s</text>\n",
                x, colours[bar], x + 18, names[bar]);
    }
    for (int i = 0; i < f->count; i++) {
        const group *g = f->groups + i;
        const int y = BAR_TOP + i * f->high;
        fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", f->left - 10, y + f->high / 2);
        cli_xml_text(out, g->workload);
        fputs("</text>\n", out);
        for (int bar = ONCE; bar <= (f->planned ? PLANNED : ONCE); bar++) {
            put_bar(f, g, bar, y + bar * (BAR - 1), colours[bar], out);
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
    for (int power = (int)r->low; power <= (int)r->high; power++) {
        const double y = y_of(r, exp2(power));
        fprintf(
            out,
            "<path stroke=\"#d8d8d8\" d=\"M%d %.1fh%d\"/><text text-anchor=\"end\" x=\"%d\" y=\"%.1f\">%.6g</text>\n",
            LEFT, y, WIDE, LEFT - 8, y + 4, exp2(power));
    }
    fprintf(out, "<text x=\"%d\" y=\"%d\">Gflop/s</text>\n<g text-anchor=\"middle\">\n", LEFT - 60, TOP - 14);
    for (int power = (int)r->left; power <= (int)r->right; power++) {
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

const plot_kind plot_bars = {sizeof(figure), scan, draw};
