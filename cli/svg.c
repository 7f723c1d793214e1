/* The frame of a picture: the opening tag, title and subtitle, text at a place. */
#include "svg.h"
#include "text.h"

void cli_svg_open(FILE *to, int width, int height, const char *title) {
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n<title>",
            width, height, width, height);
    cli_xml_text(to, title);
    fputs("</title>\n", to);
}

void cli_svg_text(FILE *to, double x, double y, const char *anchor, const char *text) {
    fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    cli_xml_text(to, text);
    fputs("</text>\n", to);
}

void cli_svg_plot(FILE *to, int width, int height, int left, const char *title, const char *about) {
    cli_svg_open(to, width, height, title);
    fputs("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<g font-size=\"17\">\n", to);
    cli_svg_text(to, left, 28, "start", title);
    fputs("</g>\n<g fill=\"#666\">\n", to);
    cli_svg_text(to, left, 48, "start", about);
    fputs("</g>\n", to);
}
