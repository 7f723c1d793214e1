/* Numbers to text and back, exactly. Reading rounds to nearest even as the C library does, in any locale. Printing
 * gives the fewest digits that read back to the same bits. Both use one table of 128-bit powers of ten. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Below 10^least every number of 64 bits rounds to 0; above 10^most none is needed. The table begins at 10^first. */
enum { lsp_power_least = -342, lsp_power_most = 324, lsp_power_first = -351, lsp_power_entries = 26 * 27 };

/* [q - lsp_power_first]: high and low half of m, 10^q = m * 2^e; see number_powers.py. */
extern const uint64_t lsp_powers[lsp_power_entries][2];

/* Powers of ten that fit 64 bits. */
/* clang-format off */
#define LSP_TENS(ten) ten, ten * 10, ten * 100, ten * 1000, ten * 10000
static const uint64_t lsp_tens[20] = {LSP_TENS(UINT64_C(1)), LSP_TENS(UINT64_C(100000)), LSP_TENS(UINT64_C(10000000000)),
                                      LSP_TENS(UINT64_C(1000000000000000))};
/* clang-format on */

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
