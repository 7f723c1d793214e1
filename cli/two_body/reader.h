/* Inside the readers of points: words of a text that lies in memory, numbers, points that are added. */
#pragma once

#include "lines.h"
#include "points.h"
#include "run.h"

typedef struct tb_reader {
    cli_lines lines;
    tb_points *points;
} tb_reader;

static inline bool tb_is_blank(char c) { return c == ' ' || c == '\t'; }
/* Takes the next word of the line. Words end at blanks and at the separators. Returns its length, 0 at the end. */
size_t tb_next_word(tb_reader *r, const char *separators, const char **word);
/* Reads a number from `text`. Refuses other text, named `what`, and shows its first 24 characters. */
int tb_need_number(tb_reader *r, const char *text, size_t length, const char *what, double *x);
/* label: NULL, or what the file tells of the point. */
int tb_add_point(tb_reader *r, const double *x, const tb_label *label);

/* atoms.c */
int tb_read_xyz(tb_reader *r);
int tb_read_gro(tb_reader *r);
int tb_read_pdb(tb_reader *r);
/* numbers.c */
int tb_read_csv(tb_reader *r);
int tb_read_npy(tb_reader *r);
