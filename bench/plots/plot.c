/* sparse-bench plot FILE.json OUT.svg: draws a record as an SVG picture. */
#include "plot.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes beside the path and renames, so the picture appears complete or not at all. */
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

/* The kind of plot of a record; NULL: it has no rows. `types`: what is drawn without TYPES. */
static const plot_kind *find(const char *text, const char **types) {
    char name[160] = "";
    const char *rows = plot_field(text, text + strlen(text), "benchmarks");
    *types = "";
    if (rows) {
        plot_string(rows, rows + strlen(rows), "name", name, sizeof name);
        name[strcspn(name, "/")] = 0;
    }
    if (strcmp(name, "segsort") == 0) {
        *types = "kv32";
        return &plot_segsort;
    } else if (strcmp(name, "gather") == 0 || strcmp(name, "scatter") == 0) {
        *types = "random";
        return &plot_gather;
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
    char *text = NULL;
    size_t capacity = 0;
    FILE *in = fopen(argv[0], "re");
    const bool read = in && getdelim(&text, &capacity, 0, in) > 0;
    const char *types = "";
    const plot_kind *kind = read ? find(text, &types) : NULL;
    types = argc == 3 ? argv[2] : types;
    void *figure = kind ? calloc(1, kind->bytes) : NULL;
    int code = EXIT_INPUT;
    if (!in) {
        fprintf(stderr, "sparse-bench: %s: %s\n", argv[0], strerror(errno));
    } else if (!figure || !kind->scan(figure, text, types)) {
        fprintf(stderr, "sparse-bench: %s: no figures of '%s' in it that can be drawn\n", argv[0], types);
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
