/* sparse-bench report OUT.html RECORD.json...: one page, without a network, of all records: a picture of each, the
 * command that repeats it, and its rows as a table. */
#include "plot.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_RECORDS = 64 };

typedef struct page {
    int records;
    char *text[MOST_RECORDS];
    const char *path[MOST_RECORDS];
} page;

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>libsparse: measured</title>\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<style>\n"
    ":root{color-scheme:light dark}body{font:15px/1.5 sans-serif;max-width:940px;margin:2em auto;padding:0 1em}\n"
    "svg{max-width:100%;min-width:640px;height:auto;border-radius:6px}div{overflow-x:auto}pre{overflow-x:auto;padding:."
    "6em;border-radius:6px;"
    "background:rgba(128,128,128,.15)}\n"
    "table{border-collapse:collapse;font-size:13px}td,th{padding:2px 10px;text-align:right}"
    "td:first-child,th:first-child{text-align:left}tr.own{font-weight:bold}\n"
    "</style></head><body>\n<h1>libsparse: measured</h1>\n"
    "<p>Each picture is drawn from a record; the command below it repeats the record on a machine of that kind. Peers "
    "ran "
    "in the same process; every result was checked, and a row whose result was wrong is marked as failed. Ratios are "
    "the "
    "time of the best peer divided by ours: above 1 we are ahead. A plain loop is one of our bench and no peer that "
    "people use; it is named where no peer is faster.</p>\n";

static void put_text(FILE *out, const char *before, const char *text, const char *after) {
    fputs(before, out);
    cli_xml_text(out, text);
    fputs(after, out);
}

static void put_picture(const char *text, const char *types, FILE *out) {
    const char *own = "";
    const plot_kind *kind = plot_kind_of(text, &own);
    void *figure = kind ? calloc(1, kind->bytes) : NULL;
    if (figure && kind->scan(figure, text, types ? types : own)) {
        fputs("<div>", out);
        kind->draw(figure, out);
        fputs("</svg></div>\n", out);
    }
    free(figure);
}

/* A row with an error has no time: its result was wrong, or there was none. */
static void put_row(const char *rows, const char *rows_end, const char *row, const char *end, FILE *out) {
    char name[160], who[64];
    char *at = strstr(plot_string(row, end, "name", name, sizeof name), "/libsparse");
    const double ms = plot_number(row, end, "real_time"), copy = plot_number(row, end, "fraction_of_copy"),
                 ratio = plot_number(row, end, "best_peer_ratio");
    put_text(out, at ? "<tr class=\"own\"><td>" : "<tr><td>", name, "</td>");
    if (plot_field(row, end, "error_occurred")) {
        char why[256];
        put_text(out, "<td colspan=\"4\">failed: ", plot_string(row, end, "error_message", why, sizeof why),
                 "</td></tr>\n");
        return;
    }
    fprintf(out, "<td>%.4g</td><td>", ms);
    if (copy > 0) {
        fprintf(out, "%.0f %%", 100 * copy);
    }
    if (at && ratio > 0) {
        at[1] = 0;
        fprintf(out, "</td><td>%.2f</td>", ratio);
        put_text(out, "<td>", plot_rival(rows, rows_end, name, ms * ratio, who, sizeof who), "</td></tr>\n");
    } else {
        fputs("</td><td></td><td></td></tr>\n", out);
    }
}

static void put_rows(const char *rows, const char *end, FILE *out) {
    fputs("<details><summary>All rows</summary><div><table>\n"
          "<tr><th>name</th><th>ms</th><th>of a copy</th><th>best peer / ours</th><th>best peer</th></tr>\n",
          out);
    for (const char *row = plot_row(rows, end), *next; row < end; row = next) {
        next = plot_row(row + 1, end);
        put_row(rows, end, row, next, out);
    }
    fputs("</table></div></details>\n", out);
}

static void put_record(const char *text, const char *path, FILE *out) {
    char command[512], subject[160], origin[256];
    const char *end = text + strlen(text), *rows = plot_field(text, end, "benchmarks");
    plot_string(rows, end, "name", subject, sizeof subject);
    subject[strcspn(subject, "/")] = 0;
    put_text(out, "<h2>", subject, "</h2>\n");
    put_picture(text, NULL, out);
    if (strcmp(subject, "spmv") == 0) {
        put_picture(text, "roofline", out);
    } else if (strcmp(subject, "gather") == 0 || strcmp(subject, "scatter") == 0) {
        put_picture(text, "partitions", out);
    }
    put_text(out, "<p>", path, ": ");
    put_text(out, "", plot_origin(text, rows, origin, sizeof origin), "</p>\n");
    put_text(out, "<pre>", plot_string(text, rows, "command", command, sizeof command), "</pre>\n");
    if (strcmp(subject, "growth") != 0) { /* the curves say it all, and its rows are many */
        put_rows(rows, end, out);
    }
}

static void put_page(const void *self, FILE *out) {
    const page *p = self;
    fputs(head, out);
    for (int i = 0; i < p->records; i++) {
        put_record(p->text[i], p->path[i], out);
    }
    fputs("</body></html>\n", out);
}

int bench_page(int argc, char **argv) {
    page p = {0};
    int code = EXIT_DONE;
    if (argc < 2 || argc > 1 + MOST_RECORDS || argv[0][0] == '-') {
        fprintf(stderr, "usage: sparse-bench report OUT.html RECORD.json...   (%d records at most)\n", MOST_RECORDS);
        return EXIT_USAGE;
    }
    for (int i = 1; i < argc && code == EXIT_DONE; i++) {
        const char *types = "";
        char *text = plot_read(argv[i]);
        code = text ? EXIT_DONE : EXIT_INPUT;
        if (text && !plot_kind_of(text, &types)) {
            fprintf(stderr, "sparse-bench: %s: no figures in it\n", argv[i]);
            code = EXIT_INPUT;
        }
        if (text) {
            p.path[p.records] = argv[i];
            p.text[p.records++] = text;
        }
    }
    code = code == EXIT_DONE ? plot_write(argv[0], put_page, &p) : code;
    for (int i = 0; i < p.records; i++) {
        free(p.text[i]);
    }
    return code;
}
