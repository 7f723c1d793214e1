/* Files of plain numbers: columns of text, NumPy arrays. A row is a point. */
#include "reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers in columns ---- */

/* Separated by commas, semicolons or blanks. Lines that begin with # are comments; a first line that begins with no
 * number is a header. */
int tb_read_csv(tb_reader *r) {
    tb_points *p = r->points;
    bool first = true;
    while (cli_next_line(&r->lines)) {
        double x[TB_MOST_DIMENSIONS];
        int count = 0;
        const char *word;
        size_t length = tb_next_word(r, ",;", &word);
        if (length == 0 || *word == '#') {
            continue;
        }
        if (first && !tb_number(word, length, &x[0])) {
            first = false;
            continue;
        }
        first = false;
        for (; length > 0; length = tb_next_word(r, ",;", &word)) {
            if (count == TB_MOST_DIMENSIONS) {
                return cli_malformed(&r->lines, "more than %d numbers", TB_MOST_DIMENSIONS);
            }
            CLI_STEP(tb_need_number(r, word, length, "a coordinate", &x[count++]));
        }
        if (p->dimensions > 0 && count != p->dimensions) {
            return cli_malformed(&r->lines, "%d numbers, but lines before have %d", count, p->dimensions);
        }
        p->dimensions = count;
        CLI_STEP(tb_add_point(r, x, NULL));
    }
    return p->n > 0 ? CLI_DONE : cli_malformed(&r->lines, "no line has numbers");
}

/* ---- NumPy ---- */

/* Finds 'key': in the header and returns what follows. */
static const char *find_key(const char *header, const char *key) {
    const char *at = strstr(header, key);
    return at ? at + strlen(key) + strspn(at + strlen(key), " :") : "";
}

static int read_npy_header(tb_reader *r, const char *header, int64_t *n, int *dimensions, bool *narrow) {
    const char *type = find_key(header, "'descr'"), *order = find_key(header, "'fortran_order'");
    const char *shape = find_key(header, "'shape'");
    char *stop = NULL;
    *narrow = strncmp(type, "'<f4'", 5) == 0;
    if (!*narrow && strncmp(type, "'<f8'", 5) != 0) {
        return cli_malformed(&r->lines, "the type must be '<f4' or '<f8', not %.16s", type);
    }
    if (strncmp(order, "False", 5) != 0) {
        return cli_malformed(&r->lines, "the array must have C order");
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
        return cli_malformed(&r->lines, "the shape must be (points, dimensions), not %.40s", shape);
    }
    if (rows < 0 || rows > INT32_MAX || cols < 1 || cols > TB_MOST_DIMENSIONS) {
        return cli_malformed(&r->lines, "the shape is %lld x %lld: at most %d points in 1 to %d dimensions are offered",
                             rows, cols, INT32_MAX, TB_MOST_DIMENSIONS);
    }
    *n = rows;
    *dimensions = (int)cols;
    return CLI_DONE;
}

int tb_read_npy(tb_reader *r) {
    const unsigned char *raw = (const unsigned char *)r->lines.next;
    const size_t bytes = (size_t)(r->lines.end - r->lines.next), start = bytes > 6 && raw[6] == 1 ? 10 : 12;
    char header[1024];
    int64_t n = 0;
    bool narrow = false;
    if (bytes < start || memcmp(raw, "\x93NUMPY", 6) != 0 || raw[6] < 1 || raw[6] > 3) {
        return cli_malformed(&r->lines, "this is no NumPy file of version 1, 2 or 3");
    }
    const size_t length =
        raw[8] | (size_t)raw[9] << 8 | (start == 12 ? (size_t)raw[10] << 16 | (size_t)raw[11] << 24 : 0);
    if (length >= sizeof header || length > bytes - start) {
        return cli_malformed(&r->lines, "the header has %zu bytes, more than the %zu that are possible", length,
                             bytes - start < sizeof header ? bytes - start : sizeof header - 1);
    }
    memcpy(header, raw + start, length);
    header[length] = 0;
    CLI_STEP(read_npy_header(r, header, &n, &r->points->dimensions, &narrow));
    const size_t item = narrow ? sizeof(float) : sizeof(double);
    const size_t row = item * (size_t)r->points->dimensions, wanted = (size_t)n * row;
    if (bytes - start - length != wanted) {
        return cli_malformed(&r->lines, "%zu bytes of numbers are there, the shape needs %zu", bytes - start - length,
                             wanted);
    }
    const char *from = r->lines.next + start + length;
    for (int64_t i = 0; i < n; i++) {
        double x[TB_MOST_DIMENSIONS];
        for (int k = 0; k < r->points->dimensions; k++, from += item) {
            float single = 0;
            memcpy(narrow ? (void *)&single : (void *)&x[k], from, item);
            x[k] = narrow ? (double)single : x[k];
            if (!isfinite(x[k])) {
                return cli_malformed(&r->lines, "coordinate %d of point %lld is %g, counted from 0", k, (long long)i,
                                     x[k]);
            }
        }
        CLI_STEP(tb_add_point(r, x, NULL));
    }
    return CLI_DONE;
}
