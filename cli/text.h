/* Formats numbers for people, reads numbers that people typed, and measures how far a word is from another. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct cli_text {
    char text[48];
} cli_text;

cli_text cli_count(int64_t n);             /* 1,234,567 */
cli_text cli_bytes(int64_t bytes);         /* 1.50 GiB */
cli_text cli_time(double ms);              /* 12.3 ms */
cli_text cli_rate(double gflops);          /* 1.25 Gflop/s */
cli_text cli_general(double x);            /* three significant digits */
cli_text cli_exact(double x, bool single); /* the shortest digits that give x again, as a float if it is `single` */
const char *cli_plural(int64_t n);         /* "" for 1, "s" otherwise */

/* Prints text that may contain names of files. Control characters, which a terminal would obey, and bytes that are not
 * UTF-8 are printed as \n, \t or \x1b. Returns the number of bytes printed. */
int cli_print(FILE *to, const char *text);

/* Writes text into XML: escaped, and without characters that XML forbids. */
void cli_xml_text(FILE *to, const char *text);

/* Prints "tool: sentence" on standard error, by cli_print. The caller prints the newline. */
void cli_say(const char *tool, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));

/* Bytes of the UTF-8 character at the start of `text`; 0 if the text is empty or starts with no valid character. */
int cli_utf8_length(const char *text);
/* In any case of letters. */
bool cli_ends_in(const char *path, const char *end);

/* Reads a size from 1 to 2^63 - 1 bytes: "2048", "1.5G", "512MiB". K M G T are powers of 1024. */
typedef enum cli_size { CLI_SIZE_FINE, CLI_SIZE_NONE, CLI_SIZE_ZERO, CLI_SIZE_LARGE } cli_size;
cli_size cli_parse_size(const char *text, int64_t *bytes);

/* Reads a whole number without a sign from `least` to `most`. */
bool cli_parse_count(const char *text, int64_t least, int64_t most, int64_t *n);

/* Reads a decimal number without a sign, such as 5, .5 or 1e-9. Refuses one that overflows a double. */
bool cli_parse_number(const char *text, double *x);

/* Edit distance: the letters to insert, delete, replace or swap with the next one. INT_MAX if a word has more than 63.
 */
int cli_distance(const char *a, const char *b);

/* Milliseconds of a monotonic clock. */
double cli_now(void);
