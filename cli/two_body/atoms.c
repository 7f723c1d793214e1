/* Files of atoms: XYZ, GROMACS, PDB. Points in three dimensions with names, and a box. */
#include "reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static int need_count(tb_reader *r, int64_t *n) {
    const char *word, *rest;
    double x = 0;
    const size_t length = tb_next_word(r, "", &word);
    if (!tb_number(word, length, &x) || x < 0 || x > INT32_MAX || x != floor(x) || tb_next_word(r, "", &rest) > 0) {
        return cli_malformed(
            &r->lines, "the number of points is expected: a whole number from 0 to %d, alone in its line", INT32_MAX);
    }
    *n = (int64_t)x;
    return CLI_DONE;
}

static void put_label(char *to, const char *text, size_t length) {
    while (length > 0 && tb_is_blank(*text)) {
        text++, length--;
    }
    while (length > 0 && tb_is_blank(text[length - 1])) {
        length--;
    }
    length = length < TB_LABEL ? length : TB_LABEL - 1;
    memset(to, 0, TB_LABEL);
    memcpy(to, text, length);
}

static int set_cell(tb_reader *r, const double edge[3][3]) {
    return tb_turn(r->points, edge) ? CLI_DONE : cli_malformed(&r->lines, "the edges of the box span no volume");
}

/* ---- XYZ ---- */

/* Finds key=value or key="value" in the line. Returns the length of the value, 0 if it is not there. */
static size_t find_value(const tb_reader *r, const char *key, const char **value) {
    const size_t length = strlen(key);
    for (const char *at = r->lines.from; at + length < r->lines.to; at++) {
        if (strncasecmp(at, key, length) == 0 && at[length] == '=' && (at == r->lines.from || tb_is_blank(at[-1]))) {
            const char *from = at + length + 1, *stop = from;
            const bool quoted = from < r->lines.to && *from == '"';
            from += quoted;
            for (stop = from; stop < r->lines.to && (quoted ? *stop != '"' : !tb_is_blank(*stop)); stop++) {
            }
            *value = from;
            return (size_t)(stop - from);
        }
    }
    return 0;
}

/* Properties=species:S:1:pos:R:3 tells the columns; without it they are species, x, y, z. */
static int find_columns(tb_reader *r, int *species, int *position) {
    const char *text = r->lines.from;
    const size_t length = find_value(r, "Properties", &text);
    tb_reader words = {.lines = {.from = text, .to = text + length}};
    int column = 0;
    *species = length > 0 ? -1 : 0;
    *position = length > 0 ? -1 : 1;
    while (length > 0 && words.lines.from < words.lines.to) {
        const char *name, *type, *count;
        double columns = 0;
        const size_t named = tb_next_word(&words, ":", &name);
        const size_t typed = tb_next_word(&words, ":", &type), counted = tb_next_word(&words, ":", &count);
        if (typed == 0 || !tb_number(count, counted, &columns) || columns < 1 || columns > 1000 || column > 1000) {
            return cli_malformed(&r->lines, "Properties must be triples such as species:S:1:pos:R:3");
        }
        *species = named == 7 && strncmp(name, "species", 7) == 0 ? column : *species;
        *position = named == 3 && strncmp(name, "pos", 3) == 0 && columns == 3 ? column : *position;
        column += (int)columns;
    }
    return *position >= 0 ? CLI_DONE : cli_malformed(&r->lines, "Properties lacks pos:R:3, the position");
}

/* Without pbc, a lattice is periodic in all dimensions. */
static int find_lattice(tb_reader *r, double edge[3][3], bool *found) {
    const char *text = r->lines.from, *word, *flags = r->lines.from;
    const size_t length = find_value(r, "Lattice", &text), flagged = find_value(r, "pbc", &flags);
    int open = 0, closed = 0;
    for (size_t i = 0; i < flagged; i++) {
        open += flags[i] == 'F' || flags[i] == 'f' || flags[i] == '0';
        closed += flags[i] == 'T' || flags[i] == 't' || flags[i] == '1';
    }
    *found = length > 0 && (open == 0 || closed > 0);
    if (!*found) {
        return CLI_DONE;
    }
    if (open > 0) {
        return cli_malformed(&r->lines,
                             "pbc is periodic in some dimensions only, which is not supported; change it to T T T or "
                             "F F F");
    }
    tb_reader words = {.lines = {.from = text, .to = text + length}};
    for (int i = 0; i < 9; i++) {
        const size_t got = tb_next_word(&words, "", &word);
        CLI_STEP(tb_need_number(r, word, got, "a number of the nine of Lattice", &edge[i / 3][i % 3]));
    }
    return CLI_DONE;
}

int tb_read_xyz(tb_reader *r) {
    int64_t count = 0;
    int species, position;
    double edge[3][3], x[3] = {0};
    bool boxed = false;
    r->points->dimensions = 3;
    if (!cli_next_line(&r->lines)) {
        return cli_malformed(&r->lines, "the file is empty");
    }
    CLI_STEP(need_count(r, &count));
    if (!cli_next_line(&r->lines)) {
        return cli_malformed(&r->lines, "the comment in the second line is missing");
    }
    CLI_STEP(find_columns(r, &species, &position));
    CLI_STEP(find_lattice(r, edge, &boxed));
    for (int64_t i = 0; i < count; i++) {
        tb_label label = {0};
        if (!cli_next_line(&r->lines)) {
            return cli_malformed(&r->lines, "the file ends after %lld of %lld points", (long long)i, (long long)count);
        }
        for (int column = 0; column <= position + 2 || column <= species; column++) {
            const char *word;
            const size_t length = tb_next_word(r, "", &word);
            if (column == species) {
                put_label(label.element, word, length);
                put_label(label.name, word, length);
            }
            if (column >= position && column < position + 3) {
                static const char *const names[] = {"x", "y", "z"};
                CLI_STEP(tb_need_number(r, word, length, names[column - position], &x[column - position]));
            }
        }
        CLI_STEP(tb_add_point(r, x, &label));
    }
    return boxed ? set_cell(r, edge) : CLI_DONE;
}

/* ---- GROMACS ---- */

/* Coordinates are columns of equal width from the 21st character on. The distance of two decimal points tells it. */
static int read_gro_point(tb_reader *r) {
    enum { FIRST = 20 };
    const char *line = r->lines.from;
    const size_t length = (size_t)(r->lines.to - line);
    const char *dot = length > FIRST ? memchr(line + FIRST, '.', length - FIRST) : NULL;
    const char *other = dot ? memchr(dot + 1, '.', (size_t)(r->lines.to - dot - 1)) : NULL;
    const size_t width = other ? (size_t)(other - dot) : 0;
    tb_label label = {0};
    double x[3] = {0};
    if (width < 3 || width > 40 || length < FIRST + 3 * width) {
        return cli_malformed(&r->lines, "three coordinates are expected from column 21 on, with decimal points");
    }
    put_label(label.name, line + 10, 5);
    for (int k = 0; k < 3; k++) {
        CLI_STEP(tb_need_number(r, line + FIRST + (size_t)k * width, width, "a coordinate", &x[k]));
    }
    return tb_add_point(r, x, &label);
}

int tb_read_gro(tb_reader *r) {
    int64_t count = 0;
    double v[9] = {0};
    int numbers = 0;
    const char *word;
    size_t length;
    r->points->dimensions = 3;
    const bool titled = cli_next_line(&r->lines);
    if (!titled || !cli_next_line(&r->lines)) {
        return cli_malformed(&r->lines, "a title and the number of points are expected");
    }
    CLI_STEP(need_count(r, &count));
    for (int64_t i = 0; i < count; i++) {
        if (!cli_next_line(&r->lines)) {
            return cli_malformed(&r->lines, "the file ends after %lld of %lld points", (long long)i, (long long)count);
        }
        CLI_STEP(read_gro_point(r));
    }
    if (!cli_next_line(&r->lines)) {
        return cli_malformed(&r->lines, "the box in the last line is missing");
    }
    while ((length = tb_next_word(r, "", &word)) > 0 && numbers < 9) {
        CLI_STEP(tb_need_number(r, word, length, "a number of the box", &v[numbers++]));
    }
    if (length > 0 || (numbers != 3 && numbers != 9)) {
        return cli_malformed(&r->lines, "the box has 3 or 9 numbers");
    }
    if (v[0] == 0 && v[1] == 0 && v[2] == 0) {
        return CLI_DONE; /* no box */
    }
    const double edge[3][3] = {{v[0], v[3], v[4]}, {v[5], v[1], v[6]}, {v[7], v[8], v[2]}};
    return set_cell(r, edge);
}

/* ---- PDB ---- */

/* Characters first .. last of the line, counted from 1 as the format counts them. */
static size_t columns(const tb_reader *r, int first, int last, const char **text) {
    const int length = r->lines.to - r->lines.from < last ? (int)(r->lines.to - r->lines.from) : last;
    *text = r->lines.from + (length < first ? length : first - 1);
    return length < first ? 0 : (size_t)(length - first + 1);
}

static int read_cryst1(tb_reader *r, double edge[3][3], bool *boxed) {
    static const int first[] = {7, 16, 25, 34, 41, 48}, last[] = {15, 24, 33, 40, 47, 54};
    double v[6] = {0}, cosine[3];
    const char *text;
    for (int i = 0; i < 6; i++) {
        const size_t length = columns(r, first[i], last[i], &text);
        CLI_STEP(tb_need_number(r, text, length, i < 3 ? "a side of CRYST1" : "an angle of CRYST1", &v[i]));
        if (!(v[i] > 0) || (i >= 3 && v[i] >= 180)) {
            return cli_malformed(&r->lines, "CRYST1 has %s of %g", i < 3 ? "a side" : "an angle", v[i]);
        }
    }
    for (int i = 0; i < 3; i++) {
        cosine[i] = v[3 + i] == 90 ? 0 : cos(v[3 + i] * acos(-1.0) / 180);
    }
    const double sine = sqrt(1 - cosine[2] * cosine[2]), yz = (cosine[0] - cosine[1] * cosine[2]) / sine;
    const double zz = 1 - cosine[1] * cosine[1] - yz * yz;
    *boxed = v[0] > 1 || v[1] > 1 || v[2] > 1; /* 1 x 1 x 1 says that there is no crystal */
    if (!(zz > 0)) {
        return cli_malformed(&r->lines, "no box has the angles %g, %g and %g", v[3], v[4], v[5]);
    }
    const double edges[3][3] = {
        {v[0], 0, 0}, {v[1] * cosine[2], v[1] * sine, 0}, {v[2] * cosine[1], v[2] * yz, v[2] * sqrt(zz)}};
    memcpy(edge, edges, sizeof edges);
    return CLI_DONE;
}

/* The first model; of atoms in alternative places the place A. */
int tb_read_pdb(tb_reader *r) {
    bool boxed = false;
    double edge[3][3] = {{0}}, x[3] = {0};
    r->points->dimensions = 3;
    while (cli_next_line(&r->lines)) {
        const size_t length = (size_t)(r->lines.to - r->lines.from);
        const char *text;
        if (length >= 6 && strncmp(r->lines.from, "CRYST1", 6) == 0) {
            CLI_STEP(read_cryst1(r, edge, &boxed));
        } else if (length >= 6 && strncmp(r->lines.from, "ENDMDL", 6) == 0) {
            break;
        }
        if (length < 6 || (strncmp(r->lines.from, "ATOM  ", 6) != 0 && strncmp(r->lines.from, "HETATM", 6) != 0)) {
            continue;
        }
        if (length >= 17 && r->lines.from[16] != ' ' && r->lines.from[16] != 'A') {
            continue;
        }
        tb_label label = {0};
        size_t got = columns(r, 13, 16, &text);
        put_label(label.name, text, got);
        got = columns(r, 77, 78, &text);
        put_label(label.element, text, got);
        for (int k = 0; k < 3; k++) {
            static const char *const names[] = {"x in columns 31 to 38", "y in columns 39 to 46",
                                                "z in columns 47 to 54"};
            got = columns(r, 31 + 8 * k, 38 + 8 * k, &text);
            CLI_STEP(tb_need_number(r, text, got, names[k], &x[k]));
        }
        CLI_STEP(tb_add_point(r, x, &label));
    }
    if (r->points->n == 0) {
        return cli_malformed(&r->lines, "no ATOM or HETATM is there");
    }
    return boxed ? set_cell(r, edge) : CLI_DONE;
}
