/* The lines of a text that lies in memory, and the sentence about one that is malformed. Needs no context, so that fuzz
 * targets can use it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { CLI_SENTENCE = 512 };

typedef struct cli_lines {
    const char *name, *next, *end; /* of the file; where the next line begins */
    const char *from, *to;         /* the line, without its end, or what is left of it */
    int64_t line;                  /* its number, from 1; 0: none yet */
    char *error;                   /* CLI_SENTENCE bytes */
} cli_lines;

/* Takes the next line. Returns false at the end of the text. */
bool cli_next_line(cli_lines *lines);

/* Writes "name:line: sentence" to `error`. Returns CLI_INPUT. */
int cli_malformed(cli_lines *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));
