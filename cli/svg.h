/* The frame of every picture that the tools and sparse-bench write. Text is quoted for XML. */
#pragma once

#include <stdio.h>

/* The opening tag with a size in pixels, and the title that a screen reader reads. The caller ends with "</svg>\n". */
void cli_svg_open(FILE *to, int width, int height, const char *title);
/* The same for a plot: a white ground, the title and a line below it, which begin at `left`. */
void cli_svg_plot(FILE *to, int width, int height, int left, const char *title, const char *about);
void cli_svg_text(FILE *to, double x, double y, const char *anchor, const char *text);
