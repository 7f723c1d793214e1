/* --history: the residual of every iteration, as a JSON object or as a curve. The curve has a logarithmic scale; where
 * many iterations share a pixel, the smallest and the largest of them are drawn. */
#include "cg.h"
#include "json.h"
#include "output.h"
#include "svg.h"
#include "text.h"

#include <math.h>
#include <string.h>

static int64_t iteration_of(const cg_history *h, int64_t i) { return h->iteration ? h->iteration[i] : i; }

/* ---- JSON ---- */

static void list(cli_json *json, const char *key, const double *values, int64_t count) {
    cli_json_open(json, key, '[');
    for (int64_t i = 0; i < count; i++) {
        cli_json_number(json, NULL, values[i]);
    }
    cli_json_close(json, ']');
}

static void write_json(FILE *to, const cg_job *job) {
    const cg_history *h = &job->history;
    cli_json json = {.to = to};
    cli_json_open(&json, NULL, '{');
    cli_json_string(&json, "matrix", job->A.name);
    cli_json_string(&json, "solver", job->options.nas ? "nas" : cg_solver_name(&job->options));
    cli_json_open(&json, "iteration", '[');
    for (int64_t i = 0; i < h->count; i++) {
        cli_json_integer(&json, NULL, iteration_of(h, i));
    }
    cli_json_close(&json, ']');
    list(&json, "residual", h->residual, h->count);
    if (h->zeta) {
        list(&json, "zeta", h->zeta, h->count);
    }
    cli_json_close(&json, '}');
    fputc('\n', to);
}

/* ---- SVG ---- */

enum {
    WIDTH = 760,
    HEIGHT = 440,
    LEFT = 76,
    RIGHT = 24,
    TOP = 64,
    BOTTOM = 52,
    ACROSS = WIDTH - LEFT - RIGHT,
    DOWN = HEIGHT - TOP - BOTTOM,
    MOST_LABELS = 9
};

typedef struct axes {
    int low, high;    /* powers of ten at the bottom and at the top */
    int64_t from, to; /* iterations at the left and at the right */
} axes;

/* Zeros and residuals that are not finite have no place on a logarithmic scale. */
static bool drawable(double residual) { return residual > 0 && isfinite(residual); }

static axes choose_axes(const cg_history *h) {
    double least = INFINITY, most = 0;
    for (int64_t i = 0; i < h->count; i++) {
        if (drawable(h->residual[i])) {
            least = fmin(least, h->residual[i]);
            most = fmax(most, h->residual[i]);
        }
    }
    axes a = {.low = -1, .high = 0, .from = h->count > 0 ? iteration_of(h, 0) : 0};
    if (most > 0) {
        a.low = (int)floor(log10(least));
        a.high = (int)ceil(log10(most));
        a.high = a.high > a.low ? a.high : a.low + 1;
    }
    a.to = h->count > 1 ? iteration_of(h, h->count - 1) : a.from + 1;
    return a;
}

static double x_of(const axes *a, int64_t iteration) {
    return LEFT + (double)(iteration - a->from) / (double)(a->to - a->from) * ACROSS;
}

static double y_of(const axes *a, double residual) {
    return TOP + (a->high - log10(residual)) / (a->high - a->low) * DOWN;
}

/* A line of the grid at each power of ten, with at most MOST_LABELS labels. */
static void draw_powers(FILE *to, const axes *a) {
    const int every = (a->high - a->low + MOST_LABELS - 1) / MOST_LABELS;
    for (int power = a->high; power >= a->low; power -= every) {
        const double y = TOP + (double)(a->high - power) / (a->high - a->low) * DOWN;
        fprintf(to, "<path stroke=\"#ddd\" d=\"M%d %.1fh%d\"/>\n", LEFT, y, ACROSS);
        fprintf(to,
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">10<tspan dy=\"-5\" font-size=\"9\">%d</tspan></text>\n",
                LEFT - 8, y + 5, power);
    }
}

/* The step between labels of iterations: 1, 2 or 5 times a power of ten. */
static int64_t step_of(int64_t range) {
    int64_t step = 1;
    for (int i = 0; range / step > MOST_LABELS - 1; i++) {
        step = i % 3 == 1 ? step / 2 * 5 : step * 2; /* 1 2 5 10 20 50 ... */
    }
    return step;
}

static void draw_iterations(FILE *to, const axes *a) {
    const int64_t step = step_of(a->to - a->from);
    for (int64_t i = (a->from + step - 1) / step * step; i <= a->to; i += step) {
        fprintf(to, "<path stroke=\"#888\" d=\"M%.1f %dv5\"/>\n", x_of(a, i), TOP + DOWN);
        cli_svg_text(to, x_of(a, i), TOP + DOWN + 20, "middle", cli_count(i).text);
    }
}

static void draw_point(FILE *to, const axes *a, const cg_history *h, int64_t i, bool *begun) {
    fprintf(to, "%s%.1f %.1f", *begun ? "L" : "M", x_of(a, iteration_of(h, i)), y_of(a, h->residual[i]));
    *begun = true;
}

/* Draws the residuals from..end-1, which share a pixel: one point, or their extremes in the order of iterations. */
static void draw_group(FILE *to, const axes *a, const cg_history *h, const int64_t range[2], bool *begun) {
    int64_t least = -1, most = -1;
    for (int64_t i = range[0]; i < range[1]; i++) {
        if (drawable(h->residual[i])) {
            least = least < 0 || h->residual[i] < h->residual[least] ? i : least;
            most = most < 0 || h->residual[i] > h->residual[most] ? i : most;
        }
    }
    if (least >= 0) {
        draw_point(to, a, h, least < most ? least : most, begun);
    }
    if (least != most) {
        draw_point(to, a, h, least < most ? most : least, begun);
    }
}

static void draw_curve(FILE *to, const axes *a, const cg_history *h) {
    const int64_t groups = h->count < ACROSS ? h->count : ACROSS;
    bool begun = false;
    fputs("<path fill=\"none\" stroke=\"#06306b\" stroke-width=\"1.6\" stroke-linejoin=\"round\" d=\"", to);
    for (int64_t g = 0; g < groups; g++) {
        const double share = (double)h->count / (double)groups;
        const int64_t range[2] = {(int64_t)((double)g * share),
                                  g + 1 < groups ? (int64_t)((double)(g + 1) * share) : h->count};
        draw_group(to, a, h, range, &begun);
    }
    fputs(begun ? "\"/>\n" : "M0 0\"/>\n", to);
    for (int64_t i = 0; i < h->count && h->count <= 60; i++) {
        if (drawable(h->residual[i])) {
            fprintf(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\" fill=\"#06306b\"/>\n", x_of(a, iteration_of(h, i)),
                    y_of(a, h->residual[i]));
        }
    }
}

/* The residual to reach, as a dashed line. */
static void draw_goal(FILE *to, const axes *a, double rtol) {
    if (rtol > 0 && log10(rtol) >= a->low && log10(rtol) <= a->high) {
        char label[40];
        snprintf(label, sizeof label, "rtol %.0e", rtol);
        fprintf(to, "<path stroke=\"#b3261e\" stroke-dasharray=\"6 4\" d=\"M%d %.1fh%d\"/>\n", LEFT, y_of(a, rtol),
                ACROSS);
        fputs("<g fill=\"#b3261e\">\n", to);
        cli_svg_text(to, LEFT + 8, y_of(a, rtol) - 6, "start", label); /* where the curve is high */
        fputs("</g>\n", to);
    }
}

static void describe(const cg_job *job, char *title, size_t bytes, char *about, size_t about_bytes) {
    const cg_options *o = &job->options;
    if (o->nas) {
        snprintf(title, bytes, "NAS conjugate gradients, class %c", o->nas);
        snprintf(about, about_bytes, "zeta %.12g, %s; residual of each inner solve", job->benchmark.zeta,
                 job->benchmark.verified ? "verified" : "not verified");
        return;
    }
    snprintf(title, bytes, "%s: %s%s, %s rows", job->A.name,
             o->solver == CG_BICGSTAB ? "BiCGStab" : "conjugate gradients",
             o->precondition == CG_MULTIGRID ? " with multigrid"
             : o->precondition == CG_JACOBI  ? " with Jacobi"
                                             : "",
             cli_count(job->A.csr.rows).text);
    snprintf(about, about_bytes, "%s iteration%s, |b - A x| / |b| = %.3g at the end",
             cli_count(job->solution.iterations).text, cli_plural(job->solution.iterations), job->solution.residual);
}

static void write_svg(FILE *to, const cg_job *job) {
    const axes a = choose_axes(&job->history);
    char title[1024], about[256];
    describe(job, title, sizeof title, about, sizeof about);
    cli_svg_plot(to, WIDTH, HEIGHT, LEFT, title, about);
    fputs("<g fill=\"#666\">\n", to);
    cli_svg_text(to, LEFT + ACROSS / 2.0, HEIGHT - 10, "middle", "iteration");
    fprintf(to,
            "<text transform=\"translate(18 %d) rotate(-90)\" text-anchor=\"middle\">relative residual</text>\n</g>\n",
            TOP + DOWN / 2);
    draw_powers(to, &a);
    draw_iterations(to, &a);
    fprintf(to, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#888\"/>\n", LEFT, TOP,
            ACROSS, DOWN);
    draw_goal(to, &a, job->options.nas ? 0 : cg_rtol(&job->options));
    draw_curve(to, &a, &job->history);
    fputs("</svg>\n", to);
}

int cg_history_write(const cg_job *job) {
    const char *path = job->options.history;
    cli_output file;
    const bool opened = cli_output_open(&file, path);
    if (opened) {
        (cg_history_drawn(&job->options) ? write_svg : write_json)(file.to, job);
    }
    return cli_output_close(&file, opened, path, "history");
}
