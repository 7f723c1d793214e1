/* sparse-bench plot FILE.json OUT.svg: draws a record as an SVG picture. */
#include "plot.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int plot_write(const char *path, void (*put)(const void *what, FILE *out), const void *what) {
    char beside[4096];
    snprintf(beside, sizeof beside, "%.4000s.part", path);
    FILE *out = fopen(beside, "we");
    bool written = out != NULL;
    if (out) {
        put(what, out);
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

typedef struct picture {
    const plot_kind *kind;
    void *figure;
} picture;

static void put_picture(const void *self, FILE *out) {
    const picture *p = self;
    p->kind->draw(p->figure, out);
    fputs("</svg>\n", out);
}

char *plot_read(const char *path) {
    char *text = NULL;
    size_t capacity = 0;
    FILE *in = fopen(path, "re");
    const bool read = in && getdelim(&text, &capacity, 0, in) > 0;
    if (!in) {
        fprintf(stderr, "sparse-bench: %s: %s\n", path, strerror(errno));
    } else {
        fclose(in);
    }
    if (in && !read) {
        fprintf(stderr, "sparse-bench: %s: no figures in it\n", path);
    }
    if (!read) {
        free(text);
        text = NULL;
    }
    return text;
}

const plot_kind *plot_kind_of(const char *text, const char **types) {
    char name[160] = "";
    const char *rows = plot_field(text, text + strlen(text), "benchmarks");
    *types = "";
    if (rows && plot_number(rows, rows + strlen(rows), "real_time") > 0) {
        plot_string(rows, rows + strlen(rows), "name", name, sizeof name);
        name[strcspn(name, "/")] = 0;
    }
    if (strcmp(name, "segsort") == 0) {
        *types = "kv32";
        return &plot_segsort;
    } else if (strcmp(name, "gather") == 0 || strcmp(name, "scatter") == 0) {
        *types = "random";
        return &plot_gather;
    } else if (strcmp(name, "growth") == 0) {
        return &plot_growth;
    } else if (strcmp(name, "spgemm") == 0 || strcmp(name, "spmv") == 0 || strcmp(name, "cg") == 0) {
        *types = "f64";
    }
    return *name ? &plot_bars : NULL;
}

int bench_plot(int argc, char **argv) {
    if (argc < 2 || argc > 3 || argv[0][0] == '-') {
        fprintf(stderr, "usage: sparse-bench plot FILE.json OUT.svg [TYPES]\n");
        return EXIT_USAGE;
    }
    char *text = plot_read(argv[0]);
    if (!text) {
        return EXIT_INPUT;
    }
    const char *types = "";
    const plot_kind *kind = plot_kind_of(text, &types);
    types = argc == 3 ? argv[2] : types;
    void *figure = kind ? calloc(1, kind->bytes) : NULL;
    int code = EXIT_INPUT;
    if (!figure || !kind->scan(figure, text, types)) {
        fprintf(stderr, "sparse-bench: %s: no figures of '%s' in it that can be drawn\n", argv[0], types);
    } else {
        code = plot_write(argv[1], put_picture, &(picture){kind, figure});
    }
    free(figure);
    free(text);
    return code;
}
