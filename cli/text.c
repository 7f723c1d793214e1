/* Formats numbers for people, reads numbers that people typed, and measures how far a word is from another. */
#include "text.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static const char numerals[] = "0123456789";

cli_text cli_count(int64_t n) {
    cli_text digits, out = {""};
    int length = snprintf(digits.text, sizeof digits.text, "%lld", (long long)n), at = 0;
    for (int i = 0; i < length; i++) {
        bool group = i > 0 && (length - i) % 3 == 0 && digits.text[i - 1] != '-';
        if (group) {
            out.text[at++] = ',';
        }
        out.text[at++] = digits.text[i];
    }
    out.text[at] = 0;
    return out;
}

/* Three significant digits, then the unit. */
static cli_text with_unit(double x, const char *unit) {
    cli_text out;
    double size = fabs(x);
    int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
    snprintf(out.text, sizeof out.text, "%.*f%s", x == 0 ? 0 : decimals, x, unit);
    return out;
}

cli_text cli_bytes(int64_t bytes) {
    static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    double x = (double)bytes;
    size_t unit = 0;
    while (fabs(x) >= 1023.5 && unit + 1 < sizeof units / sizeof *units) {
        x /= 1024;
        unit++;
    }
    cli_text whole;
    snprintf(whole.text, sizeof whole.text, "%lld B", (long long)bytes);
    return unit == 0 ? whole : with_unit(x, units[unit]);
}

cli_text cli_time(double ms) { return ms >= 999.5 ? with_unit(ms / 1000, " s") : with_unit(ms, " ms"); }

cli_text cli_rate(double gflops) {
    static const char *const units[] = {" flop/s", " kflop/s", " Mflop/s", " Gflop/s", " Tflop/s"};
    double x = gflops * 1e9;
    size_t unit = 0;
    while (x >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
        x /= 1000;
        unit++;
    }
    return with_unit(x, units[unit]);
}

cli_text cli_general(double x) {
    cli_text out;
    snprintf(out.text, sizeof out.text, "%.3g", x);
    return fabs(x) >= 0.1 && fabs(x) < 1e6 ? with_unit(x, "") : out;
}

/* Is the character printable? C0 and C1 control characters are not: a terminal would obey them. */
static bool is_shown(const char *text, int length) {
    const unsigned char first = (unsigned char)text[0];
    const bool second_controls = length == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0;
    return length > 0 && first >= 0x20 && first != 0x7f && !second_controls;
}

int cli_utf8_length(const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80) {
        return s[0] != 0;
    }
    int length = s[0] >= 0xC2 && s[0] < 0xE0   ? 2
                 : s[0] >= 0xE0 && s[0] < 0xF0 ? 3
                 : s[0] >= 0xF0 && s[0] < 0xF5 ? 4
                                               : 0;
    for (int i = 1; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool beyond = (s[0] == 0xED && s[1] >= 0xA0) || (s[0] == 0xF4 && s[1] >= 0x90);
    return overlong || beyond ? 0 : length;
}

int cli_print(FILE *to, const char *text) {
    char *line = malloc(4 * strlen(text) + 1),
         *end = line; /* written in one piece, because standard error has no buffer */
    for (int length; line && *text; text += length > 0 ? length : 1) {
        length = cli_utf8_length(text);
        if (is_shown(text, length)) {
            memcpy(end, text, (size_t)length);
            end += length;
        } else if (*text == '\n' || *text == '\t') {
            *end++ = '\\';
            *end++ = *text == '\n' ? 'n' : 't';
            length = 1;
        } else {
            end += sprintf(end, "\\x%02x", (unsigned)(unsigned char)*text);
            length = 1;
        }
    }
    const size_t bytes = (size_t)(end - line);
    if (line) {
        fwrite(line, 1, bytes, to);
    }
    free(line);
    return (int)bytes;
}

void cli_xml_text(FILE *to, const char *text) {
    while (*text) {
        int length = cli_utf8_length(text);
        char c = *text;
        bool forbidden = length == 0 || (length == 1 && (unsigned char)c < 0x20);
        fprintf(to, "%.*s", c == '<' || c == '&' || forbidden ? 0 : length, text);
        fputs(c == '<' ? "&lt;" : c == '&' ? "&amp;" : forbidden ? "?" : "", to);
        text += length > 0 ? length : 1;
    }
}

void cli_say(const char *tool, const char *format, va_list arguments) {
    char *sentence = NULL;
    fprintf(stderr, "%s: ", tool);
    if (vasprintf(&sentence, format, arguments) >= 0) {
        cli_print(stderr, sentence);
        free(sentence);
    }
}

cli_text cli_exact(double x, bool single) {
    cli_text out;
    for (int digits = 6; digits <= (single ? 9 : 17); digits = digits == 6 && !single ? 15 : digits + 1) {
        snprintf(out.text, sizeof out.text, "%.*g", digits, x);
        if (single ? strtof(out.text, NULL) == (float)x : strtod(out.text, NULL) == x) {
            break;
        }
    }
    return out;
}

bool cli_ends_in(const char *path, const char *end) {
    const size_t length = strlen(path), part = strlen(end);
    return length >= part && strcasecmp(path + length - part, end) == 0;
}

const char *cli_plural(int64_t n) { return n == 1 ? "" : "s"; }

/* The power of two of a suffix: 20 for "M", "MB" or "MiB"; -1 if it is not a suffix. */
static int suffix_power(const char *suffix) {
    static const char letters[] = "KMGT";
    if (*suffix == 0 || strcasecmp(suffix, "B") == 0) {
        return 0;
    }
    const char *letter = strchr(letters, *suffix >= 'a' ? *suffix - 'a' + 'A' : *suffix);
    bool end = suffix[1] == 0 || strcasecmp(suffix + 1, "B") == 0 || strcasecmp(suffix + 1, "iB") == 0;
    return letter && end ? 10 * (int)(letter - letters + 1) : -1;
}

/* Length of the number at the start of the text, such as 5, 0.5, .5 or 5.; 0 if it has no digit. */
static size_t decimal_length(const char *text) {
    const size_t whole = strspn(text, numerals), fraction = text[whole] == '.' ? strspn(text + whole + 1, numerals) : 0;
    return whole + fraction > 0 ? whole + (text[whole] == '.') + fraction : 0;
}

cli_size cli_parse_size(const char *text, int64_t *bytes) {
    size_t length = decimal_length(text);
    int power = suffix_power(text + length);
    if (length == 0 || power < 0) {
        return CLI_SIZE_NONE;
    }
    double value = ldexp(strtod(text, NULL), power); /* LC_NUMERIC is "C", so "." is the decimal point */
    if (!(value >= 1 && value < 0x1p63)) {
        return value < 1 ? CLI_SIZE_ZERO : CLI_SIZE_LARGE;
    }
    *bytes = (int64_t)value;
    return CLI_SIZE_FINE;
}

bool cli_parse_number(const char *text, double *x) {
    size_t length = decimal_length(text);
    if (length > 0 && (text[length] == 'e' || text[length] == 'E')) {
        size_t mark = length + 1 + (text[length + 1] == '-' || text[length + 1] == '+');
        size_t exponent = strspn(text + mark, numerals);
        length = exponent > 0 ? mark + exponent : 0;
    }
    if (length == 0 || text[length] != 0 || !isfinite(strtod(text, NULL))) {
        return false;
    }
    *x = strtod(text, NULL);
    return true;
}

bool cli_parse_count(const char *text, int64_t least, int64_t most, int64_t *n) {
    int64_t value = 0;
    if (*text == 0) {
        return false;
    }
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *text - '0', &value)) {
            return false;
        }
    }
    if (value < least || value > most) {
        return false;
    }
    *n = value;
    return true;
}

int cli_distance(const char *a, const char *b) {
    enum { longest = 63 };
    size_t m = strlen(a), n = strlen(b);
    if (m > longest || n > longest) {
        return INT_MAX;
    }
    int d[longest + 1][longest + 1]; /* d[i][j]: distance of the first i letters of a from the first j of b */
    for (size_t i = 0; i <= m; i++) {
        for (size_t j = 0; j <= n; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = (int)(i + j);
                continue;
            }
            int change = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            int drop = 1 + (d[i - 1][j] < d[i][j - 1] ? d[i - 1][j] : d[i][j - 1]);
            d[i][j] = change < drop ? change : drop;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && d[i - 2][j - 2] + 1 < d[i][j]) {
                d[i][j] = d[i - 2][j - 2] + 1;
            }
        }
    }
    return d[m][n];
}

double cli_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}
