/* Shared by the plots: reading fields of the JSON. plot.c picks a plot by the primitive
 * in the record; segsort.c, gather.c, growth.c and bars.c draw it. */
#pragma once

#include "bench/harness.h"
#include "svg.h"
#include "text.h"

/* record.c: the text after `"name": `, searched from `text` to `end`; NULL: no field of that name. */
const char *plot_field(const char *text, const char *end, const char *name);
/* The value of a string field, cut to `bytes`; "": no such field. Returns `to`. */
const char *plot_string(const char *text, const char *end, const char *name, char *to, size_t bytes);
double plot_number(const char *text, const char *end, const char *name); /* 0: no field with a number above 0 */

/* The first row from `text` on, a place where "name" stands; `end`: none. */
const char *plot_row(const char *text, const char *end);

/* The rival of a row: the best peer, found by its time in the workload ("spmv/SPEC/f64/"); "plain loop": a loop of
 * ours. */
const char *plot_rival(const char *rows, const char *end, const char *workload, double ms, char *who, size_t bytes);

/* A line with device, copy speed, day and commit of the record, and what speaks against its figures. */
const char *plot_origin(const char *text, const char *rows, char *to, size_t bytes);

/* plot.c: the text of a file; NULL: a sentence was printed. The caller frees it. */
char *plot_read(const char *path);
/* Writes beside the path and renames, so that the file appears complete or not at all. Returns an exit code. */
int plot_write(const char *path, void (*put)(const void *what, FILE *out), const void *what);

/* A kind of plot. `scan` reads its figures from the JSON; false: none found. `draw` writes all but the closing tag. */
typedef struct plot_kind {
    size_t bytes; /* of its figure, which the caller sets to zero */
    bool (*scan)(void *figure, const char *text, const char *types);
    void (*draw)(const void *figure, FILE *out);
} plot_kind;
/* The kind of plot of a record; NULL: it has no row with a time. `types`: what is drawn without TYPES. */
const plot_kind *plot_kind_of(const char *text, const char **types);
extern const plot_kind plot_segsort, plot_gather, plot_growth, plot_bars;
