/* Sets of points from files and generators. Needs no context, so that the fuzz target can use it. */
#pragma once

#include "lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TB_MOST_DIMENSIONS = 8, TB_LABEL = 16 };

typedef enum tb_format { TB_XYZ, TB_GRO, TB_PDB, TB_CSV, TB_NPY } tb_format;

typedef struct tb_label {
    char name[TB_LABEL], element[TB_LABEL]; /* empty: the file does not tell */
} tb_label;

typedef struct tb_cell {
    bool periodic;
    double side[TB_MOST_DIMENSIONS], tilt[3]; /* tilt: xy, xz, yz */
} tb_cell;

typedef struct tb_points {
    int64_t n, room;
    int dimensions;  /* 0: not known yet */
    double *at;      /* coordinate k of point i is at[i * dimensions + k] */
    tb_label *label; /* NULL: points have no names */
    tb_cell cell;
} tb_points;

/* Parses a file that lies in memory; text[bytes] must be 0. Returns 0, CLI_INPUT or CLI_MEMORY; then `error` has
 * "name:line: reason". Free the points in each case. */
int tb_parse(tb_format format, const char *name, const char *text, size_t bytes, tb_points *points,
             char error[CLI_SENTENCE]);

/* uniform:N:D, blobs:N:D:K or lattice:N:D, in a periodic box. Returns 0, CLI_USAGE or CLI_MEMORY with a sentence. */
int tb_generate(const char *spec, uint64_t seed, tb_points *points, char error[CLI_SENTENCE]);

/* A finite decimal number that takes all of the text, blanks around it apart. */
bool tb_number(const char *text, size_t length, double *x);

/* Takes three edges as the cell: turns cell and points so that the first edge lies along x and the second in the plane
 * of x and y. Returns false if the edges span no volume. */
bool tb_turn(tb_points *points, const double edge[3][3]);

void tb_points_free(tb_points *points);
