/* What the two pictures of sparse-bench share: the JSON scanned for the few fields needed, in the order in which they
 * are written, and the frame of an SVG file. */
#ifndef LSP_BENCH_PLOTS_PLOT_H
#define LSP_BENCH_PLOTS_PLOT_H

#include "bench/harness.h"

/* What stands after `"field": ` between here and `end`; NULL if the field does not. */
const char *plot_field(const char *text, const char *end, const char *name);
/* The text of a string, cut to what fits, "" if there is none. */
const char *plot_string(const char *text, const char *end, const char *name, char *to, size_t bytes);
double plot_number(const char *text, const char *end, const char *name); /* 0 if there is none above 0 */

/* Device, copy speed, day and commit of the record, in a line. */
void plot_origin(const char *text, const char *rows, char *to, size_t bytes);

void plot_text(FILE *out, const char *text); /* quoted for XML */
void plot_open(FILE *out, int width, int height, int left, const char *title, const char *subtitle);

/* A kind of picture: `scan` finds its figures in the JSON, or does not; `draw` writes all but the end. */
typedef struct plot_kind {
    size_t bytes; /* of its figure, which starts as zeros */
    bool (*scan)(void *figure, const char *text, const char *types);
    void (*draw)(const void *figure, FILE *out);
} plot_kind;
extern const plot_kind plot_segsort, plot_spgemm;

#endif
