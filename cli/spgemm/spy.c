/* Draws the pattern of a matrix. Entries are counted in a grid of at most 512 x 512 cells (fewer for characters), so
 * the size of the picture does not depend on the size of the matrix. */
#include "output.h"
#include "steps.h"
#include "svg.h"
#include "text.h"

#include <langinfo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct grid {
    int rows, cols;
    int64_t *count;    /* entries in each cell, row by row */
    int64_t most;      /* max of count */
    int64_t least_dot; /* entries of a cell from which a Braille dot is set */
} grid;

/* The cell of index i, where scale = cells / size. */
static int cell_of(int64_t i, int cells, double scale) {
    int cell = (int)((double)i * scale);
    return cell < cells ? cell : cells - 1;
}

/* Counts the entries in a grid with the proportions of the matrix. The grid has at most most_rows x most_cols cells and
 * no more rows or columns than the matrix; a thin matrix gets at least `least` cells on its short side. A cell is
 * `tall` times as high as wide. Returns false if memory is short. */
static bool grid_make(grid *g, const lsp_csr *A, int most_rows, int most_cols, int tall, int least) {
    double rows = (double)A->rows, cols = (double)A->cols;
    double shrink = fmax(fmax(rows / tall / most_rows, cols / most_cols), 1);
    g->rows = (int)fmax(rows / tall / shrink + 0.5, fmin(rows, least));
    g->cols = (int)fmax(cols / shrink + 0.5, fmin(cols, least));
    g->most = 0;
    g->count = calloc((size_t)g->rows * (size_t)g->cols + 1, sizeof *g->count);
    if (!g->count) {
        return false;
    }
    double row_scale = g->rows / rows, col_scale = g->cols / cols;
    for (int64_t i = 0; i < A->rows; i++) {
        int64_t *line = g->count + (size_t)cell_of(i, g->rows, row_scale) * (size_t)g->cols;
        int64_t end = cli_index_at(A->rowptr, A->rowptr_type, i + 1);
        for (int64_t k = cli_index_at(A->rowptr, A->rowptr_type, i); k < end; k++) {
            int64_t n = ++line[cell_of(cli_index_at(A->col, A->col_type, k), g->cols, col_scale)];
            g->most = n > g->most ? n : g->most;
        }
    }
    return true;
}

static int64_t count_at(const grid *g, int row, int col) {
    return row < g->rows && col < g->cols ? g->count[(size_t)row * (size_t)g->cols + (size_t)col] : 0;
}

/* 0 for an empty cell, otherwise 1 .. levels, proportional to the square root of its entries: sparse cells stay
 * visible. */
static int level_of(int64_t n, int64_t most, int levels) {
    int level = 0;
    while (level < levels && (double)n * levels * levels > (double)level * level * (double)most) {
        level++;
    }
    return n > 0 ? level : 0;
}

/* ---- characters ---- */

enum { chars_wide = 40, chars_high = 20, drawn_singly = 18 }; /* with frame and title it fits 80 x 24 characters */

static void rule(FILE *to, int width, bool utf8, bool top) {
    fputs(utf8 ? (top ? "┌" : "└") : "+", to);
    for (int i = 0; i < width; i++) {
        fputs(utf8 ? "─" : "-", to);
    }
    fputs(utf8 ? (top ? "┐\n" : "┘\n") : "+\n", to);
}

/* Usually one entry sets a dot. If more than half of the dots would be set, a dot needs as many entries as the mean
 * cell has, rounded up. */
static int64_t choose_least_dot(const grid *g, int64_t nnz) {
    int64_t cells = (int64_t)g->rows * g->cols, held = 0;
    for (int64_t i = 0; i < cells; i++) {
        held += g->count[i] > 0;
    }
    return held * 2 > cells ? (nnz + cells - 1) / cells : 1;
}

/* Prints the Braille character of 4 x 2 cells. Unicode numbers the dots down the columns, the last row separately. */
static void braille(FILE *to, const grid *g, int row, int col) {
    static const unsigned char bit[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    unsigned dots = 0;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 2; j++) {
            dots |= count_at(g, row + i, col + j) >= g->least_dot ? bit[i][j] : 0u;
        }
    }
    fprintf(to, "\xE2%c%c", (char)(0xA0 | dots >> 6), (char)(0x80 | (dots & 0x3F)));
}

/* How a grid is printed: each character stands for `high` x `wide` cells. */
typedef struct brush {
    int high, wide;
    const char *const *shades; /* characters for levels 0, 1, ...; NULL: Braille */
    int levels;
    int width; /* columns of the terminal that a character takes */
} brush;

static brush choose_brush(const lsp_csr *matrix, bool utf8) {
    static const char *const single[] = {"· ", "■ "}, *const single_ascii[] = {". ", "# "};
    static const char *const ramp[] = {" ", ".", ":", "-", "=", "+", "*", "#", "%", "@"};
    if (matrix->rows <= drawn_singly && matrix->cols <= drawn_singly) {
        return (brush){1, 1, utf8 ? single : single_ascii, 1, 2};
    }
    return utf8 ? (brush){4, 2, NULL, 0, 1} : (brush){1, 1, ramp, 9, 1};
}

int cli_spy_text(FILE *to, const lsp_csr *matrix, const char *title) {
    bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    brush b = choose_brush(matrix, utf8);
    grid g;
    bool single = b.width == 2;
    int most_rows = single ? drawn_singly : utf8 ? 4 * chars_high : chars_high;
    int most_cols = single ? drawn_singly : utf8 ? 2 * chars_wide : chars_wide;
    if (!grid_make(&g, matrix, most_rows, most_cols, single || utf8 ? 1 : 2, 1)) {
        return cli_fail(CLI_MEMORY, "no memory for the picture");
    }
    g.least_dot = choose_least_dot(&g, matrix->nnz);
    int width = (g.cols + b.wide - 1) / b.wide * b.width;
    cli_print(to, title);
    fputc('\n', to);
    rule(to, width, utf8, true);
    for (int i = 0; i < g.rows; i += b.high) {
        fputs(utf8 ? "│" : "|", to);
        for (int j = 0; j < g.cols; j += b.wide) {
            if (b.shades) {
                fputs(b.shades[level_of(count_at(&g, i, j), g.most, b.levels)], to);
            } else {
                braille(to, &g, i, j);
            }
        }
        fputs(utf8 ? "│\n" : "|\n", to);
    }
    rule(to, width, utf8, false);
    free(g.count);
    return CLI_DONE;
}

/* ---- SVG ---- */

enum { svg_cells = 512, svg_levels = 4, svg_least = 24 }; /* svg_least: cells and pixels of the short side at least */

/* Draws all cells of one level as one path. Neighbouring cells of a row are one stroke; moves within a row are
 * relative, which keeps the file short. */
static void svg_path(FILE *to, const grid *g, int level) {
    bool open = false;
    for (int i = 0; i < g->rows; i++) {
        int at = -1; /* column of the pen; -1: not in this row yet */
        for (int j = 0; j < g->cols; j++) {
            int from = j;
            while (j < g->cols && level_of(count_at(g, i, j), g->most, svg_levels) == level) {
                j++;
            }
            if (j == from) {
                continue;
            }
            if (!open) {
                fprintf(to, "<path opacity=\"%.2g\" d=\"", 0.25 + 0.75 * level / svg_levels);
                open = true;
            }
            if (at < 0) {
                fprintf(to, "M%d %dh%d", from, i, j - from);
            } else {
                fprintf(to, "m%d 0h%d", from - at, j - from);
            }
            at = j;
        }
        if (at >= 0) {
            fputc('\n', to);
        }
    }
    fputs(open ? "\"/>\n" : "", to);
}

/* Pixels of a cell along one side: `square`, or more if the side would be shorter than svg_least pixels. */
static int cell_pixels(int cells, int square) {
    const int visible = cells > 0 ? (svg_least + cells - 1) / cells : 1;
    return square > visible ? square : visible;
}

static int side_pixels(int cells, int cell) { return cells > 0 ? cells * cell : svg_least; }

/* Writes the whole file. The picture has a frame of one pixel. */
static void svg(FILE *to, const grid *g, const char *title) {
    const int longer = g->rows > g->cols ? g->rows : g->cols;
    const int square = longer > 0 && longer < svg_cells ? svg_cells / longer : 1;
    const int high = cell_pixels(g->rows, square), wide = cell_pixels(g->cols, square);
    const int height = side_pixels(g->rows, high), width = side_pixels(g->cols, wide);
    cli_svg_open(to, width + 2, height + 2, title);
    fprintf(to,
            "<rect x=\".5\" y=\".5\" width=\"%d\" height=\"%d\" fill=\"#fff\" stroke=\"#888\"/>\n"
            "<g transform=\"translate(1 1) scale(%d %d) translate(0 .5)\" stroke=\"#06306b\" fill=\"none\" "
            "shape-rendering=\"crispEdges\">\n",
            width + 1, height + 1, wide, high);
    for (int level = 1; level <= svg_levels; level++) {
        svg_path(to, g, level);
    }
    fputs("</g>\n</svg>\n", to);
}

int cli_spy_svg(const char *path, const lsp_csr *matrix, const char *title) {
    cli_output p;
    grid g;
    if (!grid_make(&g, matrix, svg_cells, svg_cells, 1, svg_least)) {
        return cli_fail(CLI_MEMORY, "no memory for the picture");
    }
    const bool opened = cli_output_open(&p, path);
    if (opened) {
        svg(p.to, &g, title);
    }
    free(g.count);
    return cli_output_close(&p, opened, path, "picture");
}
