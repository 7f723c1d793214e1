/* What the readers of points share. A count in a file is never believed: memory grows with the points that are there.
 */
#include "reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t tb_next_word(tb_reader *r, const char *separators, const char **word) {
    while (r->lines.from < r->lines.to &&
           (tb_is_blank(*r->lines.from) || (*r->lines.from && strchr(separators, *r->lines.from)))) {
        r->lines.from++;
    }
    *word = r->lines.from;
    while (r->lines.from < r->lines.to && !tb_is_blank(*r->lines.from) &&
           !(*r->lines.from && strchr(separators, *r->lines.from))) {
        r->lines.from++;
    }
    return (size_t)(r->lines.from - *word);
}

bool tb_number(const char *text, size_t length, double *x) {
    char copy[64], *stop;
    while (length > 0 && tb_is_blank(*text)) {
        text++, length--;
    }
    while (length > 0 && tb_is_blank(text[length - 1])) {
        length--;
    }
    if (length == 0 || length >= sizeof copy) {
        return false;
    }
    memcpy(copy, text, length);
    copy[length] = 0;
    if (strspn(copy, "0123456789+-.eE") != length) { /* strtod knows more: hexadecimal numbers, nan */
        return false;
    }
    *x = strtod(copy, &stop);
    return stop == copy + length && isfinite(*x);
}

int tb_need_number(tb_reader *r, const char *text, size_t length, const char *what, double *x) {
    if (tb_number(text, length, x)) {
        return CLI_DONE;
    }
    return length > 0 ? cli_malformed(&r->lines, "%s is no finite number: '%.*s'", what,
                                      (int)(length < 24 ? length : 24), text)
                      : cli_malformed(&r->lines, "%s is missing", what);
}

/* ---- points ---- */

static bool grow(tb_points *p, bool labelled) {
    const int64_t room = p->room > 0 ? 2 * p->room : 64;
    double *at = realloc(p->at, (size_t)(room * p->dimensions) * sizeof *at);
    p->at = at ? at : p->at;
    tb_label *label = at && labelled ? realloc(p->label, (size_t)room * sizeof *label) : NULL;
    p->label = label ? label : p->label;
    p->room = at && (label || !labelled) ? room : p->room;
    return p->room == room;
}

int tb_add_point(tb_reader *r, const double *x, const tb_label *label) {
    tb_points *p = r->points;
    if (p->n == INT32_MAX) {
        return cli_malformed(&r->lines, "more than %d points", INT32_MAX);
    }
    if (p->n == p->room && !grow(p, label != NULL)) {
        (void)cli_malformed(&r->lines, "no memory for more than %lld points", (long long)p->n);
        return CLI_MEMORY;
    }
    memcpy(p->at + p->n * p->dimensions, x, (size_t)p->dimensions * sizeof *x);
    if (label) {
        p->label[p->n] = *label;
    }
    p->n++;
    return CLI_DONE;
}

void tb_points_free(tb_points *points) {
    free(points->at);
    free(points->label);
    *points = (tb_points){0};
}

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

bool tb_turn(tb_points *points, const double edge[3][3]) {
    double axis[3][3], length[3], part[3][3] = {{0}};
    for (int k = 0; k < 3; k++) { /* Gram-Schmidt: edge k = sum of part[k][m] * axis[m] */
        memcpy(axis[k], edge[k], sizeof axis[k]);
        for (int m = 0; m < k; m++) {
            part[k][m] = dot(edge[k], axis[m]);
            for (int c = 0; c < 3; c++) {
                axis[k][c] -= part[k][m] * axis[m][c];
            }
        }
        length[k] = sqrt(dot(axis[k], axis[k]));
        if (!(length[k] > 1e-9 * sqrt(dot(edge[k], edge[k]))) || !isfinite(length[k])) {
            return false;
        }
        for (int c = 0; c < 3; c++) {
            axis[k][c] /= length[k];
        }
    }
    points->cell = (tb_cell){
        .periodic = true, .side = {length[0], length[1], length[2]}, .tilt = {part[1][0], part[2][0], part[2][1]}};
    const bool turned = edge[0][1] != 0 || edge[0][2] != 0 || edge[1][2] != 0;
    for (int64_t i = 0; i < points->n && turned; i++) {
        double *x = points->at + 3 * i;
        const double moved[3] = {dot(x, axis[0]), dot(x, axis[1]), dot(x, axis[2])};
        memcpy(x, moved, sizeof moved);
    }
    return true;
}
