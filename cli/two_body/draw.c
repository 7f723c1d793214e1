/* --svg: the histogram as steps, or g(r) as a curve with the line at 1 that it tends to. Where many bins share a pixel,
 * their mean is drawn. */
#include "output.h"
#include "svg.h"
#include "text.h"
#include "two_body.h"

#include <math.h>

enum {
    WIDTH = 760,
    HEIGHT = 440,
    LEFT = 84,
    RIGHT = 24,
    TOP = 64,
    BOTTOM = 52,
    ACROSS = WIDTH - LEFT - RIGHT,
    DOWN = HEIGHT - TOP - BOTTOM,
    LABELS = 8
};

static double mean_of(const tb_job *job, int64_t from, int64_t to) {
    double sum = 0;
    for (int64_t i = from; i < to; i++) {
        sum += job->options.verb == TB_GR ? job->g[i] : (double)job->counts[i];
    }
    return sum / (double)(to - from);
}

/* 1, 2 or 5 times a power of ten, so that at most LABELS steps fit. */
static double nice_step(double range) {
    const double power = pow(10, floor(log10(range / LABELS))), part = range / LABELS / power;
    return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

static void draw_axes(FILE *to, double range, double most) {
    const double x_step = nice_step(range), y_step = nice_step(most);
    char label[40];
    for (int i = 0; i * y_step <= most * 1.0001; i++) {
        const double y = TOP + DOWN - i * y_step / most * DOWN;
        snprintf(label, sizeof label, "%g", i * y_step);
        fprintf(to, "<path stroke=\"#ddd\" d=\"M%d %.1fh%d\"/>\n", LEFT, y, ACROSS);
        cli_svg_text(to, LEFT - 8, y + 5, "end", label);
    }
    for (int i = 0; i * x_step <= range * 1.0001; i++) {
        const double x = LEFT + i * x_step / range * ACROSS;
        snprintf(label, sizeof label, "%g", i * x_step);
        fprintf(to, "<path stroke=\"#888\" d=\"M%.1f %dv5\"/>\n", x, TOP + DOWN);
        cli_svg_text(to, x, TOP + DOWN + 20, "middle", label);
    }
}

static void draw_result(FILE *to, const tb_job *job, double most) {
    const int64_t bins = job->options.bins, groups = bins < ACROSS ? bins : ACROSS;
    const bool steps = job->options.verb == TB_HISTOGRAM;
    fprintf(to, "<path fill=\"%s\" stroke=\"#06306b\" stroke-width=\"1.4\" stroke-linejoin=\"round\" d=\"",
            steps ? "#c9d9ef" : "none");
    if (steps) {
        fprintf(to, "M%d %d", LEFT, TOP + DOWN);
    }
    for (int64_t k = 0; k < groups; k++) {
        const int64_t from = k * bins / groups, end = (k + 1) * bins / groups;
        const double y = TOP + DOWN - mean_of(job, from, end) / most * DOWN;
        const double x0 = LEFT + (double)from / (double)bins * ACROSS, x1 = LEFT + (double)end / (double)bins * ACROSS;
        if (steps) {
            fprintf(to, "L%.1f %.1fH%.1f", x0, y, x1);
        } else {
            fprintf(to, "%s%.1f %.1f", k > 0 ? "L" : "M", (x0 + x1) / 2, y);
        }
    }
    if (steps) {
        fprintf(to, "V%dZ", TOP + DOWN);
    }
    fputs("\"/>\n", to);
}

static void write_svg(FILE *to, const tb_job *job) {
    const tb_options *o = &job->options;
    const bool gr = o->verb == TB_GR;
    const int64_t groups = o->bins < ACROSS ? o->bins : ACROSS;
    double most = gr ? 1 : 0;
    char title[1024], about[256];
    for (int64_t k = 0; k < groups; k++) {
        most = fmax(most, mean_of(job, k * o->bins / groups, (k + 1) * o->bins / groups));
    }
    most = most > 0 ? most * 1.05 : 1;
    snprintf(title, sizeof title, "%s%s%s: %s", job->sets[0].name, job->two ? " with " : "",
             job->two ? job->sets[1].name : "", gr ? "radial distribution" : "distances");
    snprintf(about, sizeof about, "%s pairs of points, %s bins%s", cli_count((int64_t)tb_pairs(job)).text,
             cli_count(o->bins).text, job->cell.periodic ? ", periodic" : "");
    cli_svg_plot(to, WIDTH, HEIGHT, LEFT, title, about);
    fputs("<g fill=\"#666\">\n", to);
    cli_svg_text(to, LEFT + ACROSS / 2.0, HEIGHT - 10, "middle", gr ? "r" : "distance");
    fprintf(to, "<text transform=\"translate(18 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>\n</g>\n",
            TOP + DOWN / 2, gr ? "g(r)" : "pairs in a bin");
    draw_axes(to, o->range, most);
    if (gr) {
        fprintf(to, "<path stroke=\"#b3261e\" stroke-dasharray=\"6 4\" d=\"M%d %.1fh%d\"/>\n", LEFT,
                TOP + DOWN - DOWN / most, ACROSS);
    }
    draw_result(to, job, most);
    fprintf(to, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#888\"/>\n</svg>\n", LEFT,
            TOP, ACROSS, DOWN);
}

int tb_draw(const tb_job *job) {
    cli_output file;
    const bool opened = cli_output_open(&file, job->options.svg);
    if (opened) {
        write_svg(file.to, job);
    }
    return cli_output_close(&file, opened, job->options.svg, "picture");
}
