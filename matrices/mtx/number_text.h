/* Numbers to text and back, exactly. Reading rounds to nearest even as the C library does, in any locale. Printing
 * gives the fewest digits that read back to the same bits. Both use one table of 128-bit powers of ten. */
#ifndef LSP_MATRICES_MTX_NUMBER_TEXT_H
#define LSP_MATRICES_MTX_NUMBER_TEXT_H

#include <stdbool.h>
#include <stdint.h>

enum { lsp_power_least = -342, lsp_power_most = 324 };

/* [q - lsp_power_least]: high and low half of m, 10^q = m * 2^e; see number_powers.py. */
extern const uint64_t lsp_powers[lsp_power_most - lsp_power_least + 1][2];

/* Powers of ten that fit 64 bits. */
static const uint64_t lsp_tens[20] = {1u,
                                      10u,
                                      100u,
                                      1000u,
                                      10000u,
                                      100000u,
                                      1000000u,
                                      10000000u,
                                      100000000u,
                                      1000000000u,
                                      10000000000u,
                                      100000000000u,
                                      1000000000000u,
                                      10000000000000u,
                                      100000000000000u,
                                      1000000000000000u,
                                      10000000000000000u,
                                      100000000000000000u,
                                      1000000000000000000u,
                                      10000000000000000000u};

/* Reads one number at p: [sign] digits [. digits] [e|d [sign] digits], inf, infinity, nan, in either case. Returns
 * the end of the number, or NULL if there is none. The text must reach a newline, with 16 bytes readable after it. */
const char *lsp_parse_double(const char *p, double *value);

/* As lsp_parse_double, digit by digit, for numbers that the quick way does not handle. */
const char *lsp_parse_double_slow(const char *p, double *value);

enum { lsp_number_bytes = 48 }; /* bytes that the printers need: they return an end within 26, but may write all 48 */

/* Print at `text` without a final zero and return the end. Integers below 2^53 are printed as such. */
char *lsp_print_double(char *text, double value);
char *lsp_print_float(char *text, float value);
char *lsp_print_int(char *text, int64_t value);

#endif
