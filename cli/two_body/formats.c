/* Reads points from the text of a file: XYZ, GROMACS, PDB, numbers in columns, NumPy. No text may crash it: a count in
 * a file is never believed, and memory grows with the points that are there. */
#include "points.h"
#include "run.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct reader {
    const char *name, *next, *end; /* next: where the next line begins */
    const char *from, *to;         /* the line, or what is left of it */
    int64_t line;
    tb_points *points;
    char *error;
} reader;

static int __attribute__((format(printf, 2, 3))) malformed(reader *r, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int used = r->line > 0 ? snprintf(r->error, TB_ERROR, "%.300s:%lld: ", r->name, (long long)r->line)
                                 : snprintf(r->error, TB_ERROR, "%.300s: ", r->name);
    vsnprintf(r->error + used, (size_t)(TB_ERROR - used), format, arguments);
    va_end(arguments);
    return CLI_INPUT;
}

static bool next_line(reader *r) {
    if (r->next == r->end) {
        return false;
    }
    const char *stop = memchr(r->next, '\n', (size_t)(r->end - r->next));
    r->from = r->next;
    r->to = stop ? stop : r->end;
    r->next = stop ? stop + 1 : r->end;
    r->to -= r->to > r->from && r->to[-1] == '\r';
    r->line++;
    return true;
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* Takes the next word of the line, which may be quoted by the caller's separators. Returns its length, 0 at the end. */
static size_t next_word(reader *r, const char *separators, const char **word) {
    while (r->from < r->to && (is_blank(*r->from) || (*r->from && strchr(separators, *r->from)))) {
        r->from++;
    }
    *word = r->from;
    while (r->from < r->to && !is_blank(*r->from) && !(*r->from && strchr(separators, *r->from))) {
        r->from++;
    }
    return (size_t)(r->from - *word);
}

bool tb_number(const char *text, size_t length, double *x) {
    char copy[64], *stop;
    while (length > 0 && is_blank(*text)) {
        text++, length--;
    }
    while (length > 0 && is_blank(text[length - 1])) {
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

/* `what` of the line must be a number. Shows at most 24 characters of what is there. */
static int need_number(reader *r, const char *text, size_t length, const char *what, double *x) {
    if (tb_number(text, length, x)) {
        return CLI_DONE;
    }
    return length > 0 ? malformed(r, "%s is no finite number: '%.*s'", what, (int)(length < 24 ? length : 24), text)
                      : malformed(r, "%s is missing", what);
}

static int need_count(reader *r, int64_t *n) {
    const char *word, *rest;
    double x = 0;
    const size_t length = next_word(r, "", &word);
    if (!tb_number(word, length, &x) || x < 0 || x > INT32_MAX || x != floor(x) || next_word(r, "", &rest) > 0) {
        return malformed(r, "the number of points is expected: a whole number from 0 to %d, alone in its line",
                         INT32_MAX);
    }
    *n = (int64_t)x;
    return CLI_DONE;
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

static void put_label(char *to, const char *text, size_t length) {
    while (length > 0 && is_blank(*text)) {
        text++, length--;
    }
    while (length > 0 && is_blank(text[length - 1])) {
        length--;
    }
    length = length < TB_LABEL ? length : TB_LABEL - 1;
    memset(to, 0, TB_LABEL);
    memcpy(to, text, length);
}

static int add_point(reader *r, const double *x, const tb_label *label) {
    tb_points *p = r->points;
    if (p->n == INT32_MAX) {
        return malformed(r, "more than %d points", INT32_MAX);
    }
    if (p->n == p->room && !grow(p, label != NULL)) {
        (void)malformed(r, "no memory for more than %lld points", (long long)p->n);
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

static int set_cell(reader *r, const double edge[3][3]) {
    return tb_turn(r->points, edge) ? CLI_DONE : malformed(r, "the edges of the box span no volume");
}

/* ---- XYZ ---- */

/* Finds key=value or key="value" in the line. Returns the length of the value, 0 if it is not there. */
static size_t find_value(const reader *r, const char *key, const char **value) {
    const size_t length = strlen(key);
    for (const char *at = r->from; at + length < r->to; at++) {
        if (strncasecmp(at, key, length) == 0 && at[length] == '=' && (at == r->from || is_blank(at[-1]))) {
            const char *from = at + length + 1, *stop = from;
            const bool quoted = from < r->to && *from == '"';
            from += quoted;
            for (stop = from; stop < r->to && (quoted ? *stop != '"' : !is_blank(*stop)); stop++) {
            }
            *value = from;
            return (size_t)(stop - from);
        }
    }
    return 0;
}

/* Properties=species:S:1:pos:R:3 tells the columns; without it they are species, x, y, z. */
static int find_columns(reader *r, int *species, int *position) {
    const char *text = r->from;
    const size_t length = find_value(r, "Properties", &text);
    reader words = {.from = text, .to = text + length};
    int column = 0;
    *species = length > 0 ? -1 : 0;
    *position = length > 0 ? -1 : 1;
    while (length > 0 && words.from < words.to) {
        const char *name, *type, *count;
        double columns = 0;
        const size_t named = next_word(&words, ":", &name);
        const size_t typed = next_word(&words, ":", &type), counted = next_word(&words, ":", &count);
        if (typed == 0 || !tb_number(count, counted, &columns) || columns < 1 || columns > 1000 || column > 1000) {
            return malformed(r, "Properties must be triples such as species:S:1:pos:R:3");
        }
        *species = named == 7 && strncmp(name, "species", 7) == 0 ? column : *species;
        *position = named == 3 && strncmp(name, "pos", 3) == 0 && columns == 3 ? column : *position;
        column += (int)columns;
    }
    return *position >= 0 ? CLI_DONE : malformed(r, "Properties lacks pos:R:3, the position");
}

/* Without pbc, a lattice is periodic in all dimensions. */
static int find_lattice(reader *r, double edge[3][3], bool *found) {
    const char *text = r->from, *word, *flags = r->from;
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
        return malformed(r, "pbc is periodic in some dimensions only, which is not supported; change it to T T T or "
                            "F F F");
    }
    reader words = {.from = text, .to = text + length};
    for (int i = 0; i < 9; i++) {
        const size_t got = next_word(&words, "", &word);
        CLI_STEP(need_number(r, word, got, "a number of the nine of Lattice", &edge[i / 3][i % 3]));
    }
    return CLI_DONE;
}

static int read_xyz(reader *r) {
    int64_t count = 0;
    int species, position;
    double edge[3][3], x[3] = {0};
    bool boxed = false;
    r->points->dimensions = 3;
    if (!next_line(r)) {
        return malformed(r, "the file is empty");
    }
    CLI_STEP(need_count(r, &count));
    if (!next_line(r)) {
        return malformed(r, "the comment in the second line is missing");
    }
    CLI_STEP(find_columns(r, &species, &position));
    CLI_STEP(find_lattice(r, edge, &boxed));
    for (int64_t i = 0; i < count; i++) {
        tb_label label = {0};
        if (!next_line(r)) {
            return malformed(r, "the file ends after %lld of %lld points", (long long)i, (long long)count);
        }
        for (int column = 0; column <= position + 2 || column <= species; column++) {
            const char *word;
            const size_t length = next_word(r, "", &word);
            if (column == species) {
                put_label(label.element, word, length);
                put_label(label.name, word, length);
            }
            if (column >= position && column < position + 3) {
                static const char *const names[] = {"x", "y", "z"};
                CLI_STEP(need_number(r, word, length, names[column - position], &x[column - position]));
            }
        }
        CLI_STEP(add_point(r, x, &label));
    }
    return boxed ? set_cell(r, edge) : CLI_DONE;
}

/* ---- GROMACS ---- */

/* Coordinates are columns of equal width from the 21st character on. The distance of two decimal points tells it. */
static int read_gro_point(reader *r) {
    enum { FIRST = 20 };
    const char *line = r->from;
    const size_t length = (size_t)(r->to - line);
    const char *dot = length > FIRST ? memchr(line + FIRST, '.', length - FIRST) : NULL;
    const char *other = dot ? memchr(dot + 1, '.', (size_t)(r->to - dot - 1)) : NULL;
    const size_t width = other ? (size_t)(other - dot) : 0;
    tb_label label = {0};
    double x[3] = {0};
    if (width < 3 || width > 40 || length < FIRST + 3 * width) {
        return malformed(r, "three coordinates are expected from column 21 on, with decimal points");
    }
    put_label(label.name, line + 10, 5);
    for (int k = 0; k < 3; k++) {
        CLI_STEP(need_number(r, line + FIRST + (size_t)k * width, width, "a coordinate", &x[k]));
    }
    return add_point(r, x, &label);
}

static int read_gro(reader *r) {
    int64_t count = 0;
    double v[9] = {0};
    int numbers = 0;
    const char *word;
    size_t length;
    r->points->dimensions = 3;
    const bool titled = next_line(r);
    if (!titled || !next_line(r)) {
        return malformed(r, "a title and the number of points are expected");
    }
    CLI_STEP(need_count(r, &count));
    for (int64_t i = 0; i < count; i++) {
        if (!next_line(r)) {
            return malformed(r, "the file ends after %lld of %lld points", (long long)i, (long long)count);
        }
        CLI_STEP(read_gro_point(r));
    }
    if (!next_line(r)) {
        return malformed(r, "the box in the last line is missing");
    }
    while ((length = next_word(r, "", &word)) > 0 && numbers < 9) {
        CLI_STEP(need_number(r, word, length, "a number of the box", &v[numbers++]));
    }
    if (length > 0 || (numbers != 3 && numbers != 9)) {
        return malformed(r, "the box has 3 or 9 numbers");
    }
    if (v[0] == 0 && v[1] == 0 && v[2] == 0) {
        return CLI_DONE; /* no box */
    }
    const double edge[3][3] = {{v[0], v[3], v[4]}, {v[5], v[1], v[6]}, {v[7], v[8], v[2]}};
    return set_cell(r, edge);
}

/* ---- PDB ---- */

/* Characters first .. last of the line, counted from 1 as the format counts them. */
static size_t columns(const reader *r, int first, int last, const char **text) {
    const int length = r->to - r->from < last ? (int)(r->to - r->from) : last;
    *text = r->from + (length < first ? length : first - 1);
    return length < first ? 0 : (size_t)(length - first + 1);
}

static int read_cryst1(reader *r, double edge[3][3], bool *boxed) {
    static const int first[] = {7, 16, 25, 34, 41, 48}, last[] = {15, 24, 33, 40, 47, 54};
    double v[6] = {0}, cosine[3];
    const char *text;
    for (int i = 0; i < 6; i++) {
        const size_t length = columns(r, first[i], last[i], &text);
        CLI_STEP(need_number(r, text, length, i < 3 ? "a side of CRYST1" : "an angle of CRYST1", &v[i]));
        if (!(v[i] > 0) || (i >= 3 && v[i] >= 180)) {
            return malformed(r, "CRYST1 has %s of %g", i < 3 ? "a side" : "an angle", v[i]);
        }
    }
    for (int i = 0; i < 3; i++) {
        cosine[i] = v[3 + i] == 90 ? 0 : cos(v[3 + i] * acos(-1.0) / 180);
    }
    const double sine = sqrt(1 - cosine[2] * cosine[2]), yz = (cosine[0] - cosine[1] * cosine[2]) / sine;
    const double zz = 1 - cosine[1] * cosine[1] - yz * yz;
    *boxed = v[0] > 1 || v[1] > 1 || v[2] > 1; /* 1 x 1 x 1 says that there is no crystal */
    if (!(zz > 0)) {
        return malformed(r, "no box has the angles %g, %g and %g", v[3], v[4], v[5]);
    }
    const double edges[3][3] = {
        {v[0], 0, 0}, {v[1] * cosine[2], v[1] * sine, 0}, {v[2] * cosine[1], v[2] * yz, v[2] * sqrt(zz)}};
    memcpy(edge, edges, sizeof edges);
    return CLI_DONE;
}

/* The first model; of atoms in alternative places the place A. */
static int read_pdb(reader *r) {
    bool boxed = false;
    double edge[3][3] = {{0}}, x[3] = {0};
    r->points->dimensions = 3;
    while (next_line(r)) {
        const size_t length = (size_t)(r->to - r->from);
        const char *text;
        if (length >= 6 && strncmp(r->from, "CRYST1", 6) == 0) {
            CLI_STEP(read_cryst1(r, edge, &boxed));
        } else if (length >= 6 && strncmp(r->from, "ENDMDL", 6) == 0) {
            break;
        }
        if (length < 6 || (strncmp(r->from, "ATOM  ", 6) != 0 && strncmp(r->from, "HETATM", 6) != 0)) {
            continue;
        }
        if (length >= 17 && r->from[16] != ' ' && r->from[16] != 'A') {
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
            CLI_STEP(need_number(r, text, got, names[k], &x[k]));
        }
        CLI_STEP(add_point(r, x, &label));
    }
    if (r->points->n == 0) {
        return malformed(r, "no ATOM or HETATM is there");
    }
    return boxed ? set_cell(r, edge) : CLI_DONE;
}

/* ---- numbers in columns ---- */

/* Separated by commas, semicolons or blanks. Lines that begin with # are comments; a first line that begins with no
 * number is a header. */
static int read_csv(reader *r) {
    tb_points *p = r->points;
    bool first = true;
    while (next_line(r)) {
        double x[TB_MOST_DIMENSIONS];
        int count = 0;
        const char *word;
        size_t length = next_word(r, ",;", &word);
        if (length == 0 || *word == '#') {
            continue;
        }
        if (first && !tb_number(word, length, &x[0])) {
            first = false;
            continue;
        }
        first = false;
        for (; length > 0; length = next_word(r, ",;", &word)) {
            if (count == TB_MOST_DIMENSIONS) {
                return malformed(r, "more than %d numbers", TB_MOST_DIMENSIONS);
            }
            CLI_STEP(need_number(r, word, length, "a coordinate", &x[count++]));
        }
        if (p->dimensions > 0 && count != p->dimensions) {
            return malformed(r, "%d numbers, but lines before have %d", count, p->dimensions);
        }
        p->dimensions = count;
        CLI_STEP(add_point(r, x, NULL));
    }
    return p->n > 0 ? CLI_DONE : malformed(r, "no line has numbers");
}

/* ---- NumPy ---- */

/* Finds 'key': in the header and returns what follows. */
static const char *find_key(const char *header, const char *key) {
    const char *at = strstr(header, key);
    return at ? at + strlen(key) + strspn(at + strlen(key), " :") : "";
}

static int read_npy_header(reader *r, const char *header, int64_t *n, int *dimensions, bool *narrow) {
    const char *type = find_key(header, "'descr'"), *order = find_key(header, "'fortran_order'");
    const char *shape = find_key(header, "'shape'");
    char *stop = NULL;
    *narrow = strncmp(type, "'<f4'", 5) == 0;
    if (!*narrow && strncmp(type, "'<f8'", 5) != 0) {
        return malformed(r, "the type must be '<f4' or '<f8', not %.16s", type);
    }
    if (strncmp(order, "False", 5) != 0) {
        return malformed(r, "the array must have C order");
    }
    const char *first = shape + (*shape == '('), *other;
    const long long rows = strtoll(first, &stop, 10);
    bool read = stop > first && first > shape && *stop == ',';
    long long cols = 1;
    other = read ? stop + 1 + strspn(stop + 1, " ") : "";
    if (read && *other != ')') { /* (N,) has one dimension */
        cols = strtoll(other, &stop, 10);
        read = stop > other;
        other = stop + strspn(stop, " ,");
    }
    if (!read || *other != ')') {
        return malformed(r, "the shape must be (points, dimensions), not %.40s", shape);
    }
    if (rows < 0 || rows > INT32_MAX || cols < 1 || cols > TB_MOST_DIMENSIONS) {
        return malformed(r, "the shape is %lld x %lld: at most %d points in 1 to %d dimensions are offered", rows, cols,
                         INT32_MAX, TB_MOST_DIMENSIONS);
    }
    *n = rows;
    *dimensions = (int)cols;
    return CLI_DONE;
}

static int read_npy(reader *r) {
    const unsigned char *raw = (const unsigned char *)r->next;
    const size_t bytes = (size_t)(r->end - r->next), start = bytes > 6 && raw[6] == 1 ? 10 : 12;
    char header[1024];
    int64_t n = 0;
    bool narrow = false;
    if (bytes < start || memcmp(raw, "\x93NUMPY", 6) != 0 || raw[6] < 1 || raw[6] > 3) {
        return malformed(r, "this is no NumPy file of version 1, 2 or 3");
    }
    const size_t length =
        raw[8] | (size_t)raw[9] << 8 | (start == 12 ? (size_t)raw[10] << 16 | (size_t)raw[11] << 24 : 0);
    if (length >= sizeof header || length > bytes - start) {
        return malformed(r, "the header has %zu bytes, more than the %zu that are possible", length,
                         bytes - start < sizeof header ? bytes - start : sizeof header - 1);
    }
    memcpy(header, raw + start, length);
    header[length] = 0;
    CLI_STEP(read_npy_header(r, header, &n, &r->points->dimensions, &narrow));
    const size_t item = narrow ? sizeof(float) : sizeof(double);
    const size_t row = item * (size_t)r->points->dimensions, wanted = (size_t)n * row;
    if (bytes - start - length != wanted) {
        return malformed(r, "%zu bytes of numbers are there, the shape needs %zu", bytes - start - length, wanted);
    }
    const char *from = r->next + start + length;
    for (int64_t i = 0; i < n; i++) {
        double x[TB_MOST_DIMENSIONS];
        for (int k = 0; k < r->points->dimensions; k++, from += item) {
            float single = 0;
            memcpy(narrow ? (void *)&single : (void *)&x[k], from, item);
            x[k] = narrow ? (double)single : x[k];
            if (!isfinite(x[k])) {
                return malformed(r, "coordinate %d of point %lld is %g, counted from 0", k, (long long)i, x[k]);
            }
        }
        CLI_STEP(add_point(r, x, NULL));
    }
    return CLI_DONE;
}

int tb_parse(tb_format format, const char *name, const char *text, size_t bytes, tb_points *points,
             char error[TB_ERROR]) {
    static int (*const read[])(reader *) = {read_xyz, read_gro, read_pdb, read_csv, read_npy};
    reader r = {.name = name, .next = text, .end = text + bytes, .points = points, .error = error};
    *points = (tb_points){0};
    return read[format](&r);
}
