/* sparse-bench plot: what `segsort` or `spgemm` wrote as JSON becomes a picture. */
#include "plot.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

void plot_text(FILE *out, const char *text) {
    for (; *text; text++) {
        if (*text == '<' || *text == '&') {
            fputs(*text == '<' ? "&lt;" : "&amp;", out);
        } else {
            fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
        }
    }
}

void plot_open(FILE *out, int width, int height, int left, const char *title, const char *subtitle) {
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n<title>",
            width, height, width, height);
    plot_text(out, title);
    fprintf(out,
            "</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
            "<text x=\"%d\" y=\"28\" font-size=\"17\">",
            left);
    plot_text(out, title);
    fprintf(out, "</text>\n<text x=\"%d\" y=\"48\" fill=\"#666\">", left);
    plot_text(out, subtitle);
    fputs("</text>\n", out);
}

/* The picture appears complete or not at all. */
static int write_picture(const plot_kind *kind, const void *figure, const char *path) {
    char beside[4096];
    snprintf(beside, sizeof beside, "%.4000s.part", path);
    FILE *out = fopen(beside, "we");
    bool written = out != NULL;
    if (out) {
        kind->draw(figure, out);
        fputs("</svg>\n", out);
        written = !ferror(out);
        written = fclose(out) == 0 && written && rename(beside, path) == 0;
    }
    if (!written) {
        fprintf(stderr, "sparse-bench: %s: cannot write the picture there: %s\n", path, strerror(errno));
        if (out) {
            unlink(beside);
        }
    }
    return written ? EXIT_DONE : EXIT_USAGE;
}

int bench_plot(int argc, char **argv) {
    if (argc < 2 || argc > 3 || argv[0][0] == '-') {
        fprintf(stderr, "usage: sparse-bench plot FILE.json OUT.svg [TYPES]\n");
        return EXIT_USAGE;
    }
    char *text = NULL;
    size_t room = 0;
    FILE *in = fopen(argv[0], "re");
    const bool read = in && getdelim(&text, &room, 0, in) > 0;
    const bool products = read && strstr(text, "\"name\": \"spgemm/");
    const plot_kind *kind = products ? &plot_spgemm : &plot_segsort;
    const char *types = argc == 3 ? argv[2] : products ? "f64" : "kv32";
    void *figure = calloc(1, kind->bytes);
    int code = EXIT_INPUT;
    if (!in) {
        fprintf(stderr, "sparse-bench: %s: %s\n", argv[0], strerror(errno));
    } else if (read && strstr(text, "\"name\": \"mtx/")) {
        fprintf(stderr, "sparse-bench: %s: figures of mtx: plot draws those of segsort and spgemm\n", argv[0]);
    } else if (!read || !figure || !kind->scan(figure, text, types)) {
        fprintf(stderr, "sparse-bench: %s: no figures of %s/%s in it\n", argv[0],
                products ? "spgemm/..." : "segsort/uniform_...", types);
    } else {
        code = write_picture(kind, figure, argv[1]);
    }
    if (in) {
        fclose(in);
    }
    free(figure);
    free(text);
    return code;
}
