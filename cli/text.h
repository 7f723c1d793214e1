/* Numbers as people write and read them, and words that are nearly right. */
#ifndef LSP_CLI_TEXT_H
#define LSP_CLI_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct cli_text {
    char text[48];
} cli_text;

cli_text cli_count(int64_t n);     /* 1,234,567 */
cli_text cli_bytes(int64_t bytes); /* 1.50 GiB */
cli_text cli_time(double ms);      /* 12.3 ms */
cli_text cli_rate(double gflops);  /* 1.25 Gflop/s */
cli_text cli_general(double x);    /* three digits that count */
const char *cli_plural(int64_t n); /* "" for 1, "s" for all else */

/* Prints text, of which names of files are part: control characters, which a terminal would obey, as \n or \x1b, and
 * bytes that are no UTF-8 likewise. Returns the bytes printed. */
int cli_print(FILE *to, const char *text);

/* "tool: sentence" on standard error, by cli_print; the caller ends the line. */
void cli_say(const char *tool, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));

/* "2048", "1.5G", "512MiB": bytes, K M G T being powers of 1024, from 1 to 2^63 - 1. */
typedef enum cli_size { CLI_SIZE_FINE, CLI_SIZE_NONE, CLI_SIZE_ZERO, CLI_SIZE_LARGE } cli_size;
cli_size cli_parse_size(const char *text, int64_t *bytes);

/* A whole number without a sign, within the limits. */
bool cli_parse_count(const char *text, int64_t least, int64_t most, int64_t *n);

/* A decimal number without a sign, with a fraction or an exponent if need be; not one too large for a double. */
bool cli_parse_number(const char *text, double *x);

/* Letters to insert, drop, change or swap to make one word of the other; words longer than 63 are infinitely far. */
int cli_distance(const char *a, const char *b);

/* Milliseconds of a clock that never goes back. */
double cli_now(void);

#endif
