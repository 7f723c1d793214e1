/* sparse-bench plot FILE.json OUT.svg: draws a record of `segsort`, `spgemm`, `gather`, `scatter`, `spmv` or `cg` as an
 * SVG picture. */
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

typedef struct primitive {
    const char *name; /* as the names of its rows begin */
    const plot_kind *kind;
    const char *types, *rows; /* drawn without TYPES; how a complaint names the rows */
} primitive;

/* The primitive whose rows a record has; NULL: segsort, or none. */
static const primitive *find(const char *text) {
    static const primitive all[] = {{"spgemm", &plot_spgemm, "f64", "spgemm/..."},
                                    {"gather", &plot_gather, "random", "gather or scatter"},
                                    {"scatter", &plot_gather, "random", "gather or scatter"},
                                    {"spmv", &plot_spmv, "f64", "spmv/..."},
                                    {"cg", &plot_spmv, "f64", "cg/..."}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char row[48];
        snprintf(row, sizeof row, "\"name\": \"%s/", all[i].name);
        if (strstr(text, row)) {
            return all + i;
        }
    }
    return NULL;
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
    const primitive *drawn = read ? find(text) : NULL;
    const plot_kind *kind = drawn ? drawn->kind : &plot_segsort;
    const char *types = argc == 3 ? argv[2] : drawn ? drawn->types : "kv32";
    void *figure = calloc(1, kind->bytes);
    int code = EXIT_INPUT;
    if (!in) {
        fprintf(stderr, "sparse-bench: %s: %s\n", argv[0], strerror(errno));
    } else if (read && strstr(text, "\"name\": \"mtx/")) {
        fprintf(stderr,
                "sparse-bench: %s: figures of mtx: plot draws those of segsort, spgemm, gather, scatter, spmv and cg\n",
                argv[0]);
    } else if (!read || !figure || !kind->scan(figure, text, types)) {
        fprintf(stderr, "sparse-bench: %s: no figures of %s/%s in it\n", argv[0],
                drawn ? drawn->rows : "segsort/uniform_...", types);
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
