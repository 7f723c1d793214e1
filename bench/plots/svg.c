/* The frame of a plot: the SVG header, title and subtitle, and text quoted for XML. */
#include "plot.h"

void plot_text(FILE *out, const char *text) {
    for (; *text; text++) {
        if (*text == '<' || *text == '&') {
            fputs(*text == '<' ? "&lt;" : "&amp;", out);
        } else {
            fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
        }
    }
}

void plot_open(FILE *out, int width, int height, int left, const char *title, const char *subtitle) {
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n<title>",
            width, height, width, height);
    plot_text(out, title);
    fprintf(out,
            "</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
            "<text x=\"%d\" y=\"28\" font-size=\"17\">",
            left);
    plot_text(out, title);
    fprintf(out, "</text>\n<text x=\"%d\" y=\"48\" fill=\"#666\">", left);
    plot_text(out, subtitle);
    fputs("</text>\n", out);
}
