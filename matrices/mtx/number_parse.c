/* Reads numbers the slow way: any count of digits, any exponent, inf and nan. If 19 digits do not decide the rounding,
 * the C library does, from text without a decimal point, which every locale reads the same. */
#include "number_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

const uint64_t lsp_powers[lsp_power_most - lsp_power_least + 1][2] = {
#include "number_powers.inc"
};

enum { most_digits = 800 }; /* 768 decide every double; of later digits it only matters whether any is not 0 */

typedef struct decimal { /* digits * 10^exponent */
    char text[most_digits + 32];
    int count;
    int64_t exponent;
} decimal;

const char *lsp_parse_double(const char *p, double *value) { return lsp_parse_double_quick(p, value); }

static const char *parse_name(const char *p, uint64_t *bits) {
    static const struct {
        const char *name;
        uint64_t bits;
    } names[] = {{"infinity", 0x7ffull << 52}, {"inf", 0x7ffull << 52}, {"nan", 0xfffull << 51}};
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(names[i].name);
        if (strncasecmp(p, names[i].name, length) == 0) {
            *bits = names[i].bits;
            return p + length;
        }
    }
    return NULL;
}

/* One digit, after the point or before it. */
static void take_digit(decimal *number, char digit, bool fraction) {
    if (number->count < most_digits) {
        if (number->count > 0 || digit != '0') {
            number->text[number->count++] = digit;
        }
        number->exponent -= fraction;
    } else {
        if (digit != '0') {
            number->text[most_digits - 1] |= 1; /* sticky bit: an even last digit becomes odd, so no tie remains */
        }
        number->exponent += !fraction;
    }
}

static const char *parse_exponent(const char *p, int64_t *exponent) {
    if ((*p | 0x20) != 'e' && (*p | 0x20) != 'd') {
        return p;
    }
    const char *q = p + 1 + (p[1] == '-' || p[1] == '+');
    if (*q < '0' || *q > '9') {
        return p;
    }
    int64_t power = 0;
    for (; *q >= '0' && *q <= '9'; q++) {
        power = power < 100000000000 ? power * 10 + (*q - '0') : power;
    }
    *exponent += p[1] == '-' ? -power : power;
    return q;
}

static uint64_t round_decimal(decimal *number) {
    uint64_t w = 0, bits;
    int digits = number->count < 19 ? number->count : 19;
    for (int i = 0; i < digits; i++) {
        w = w * 10 + (uint64_t)(number->text[i] - '0');
    }
    int64_t q = number->exponent + number->count - digits;
    bits = lsp_scale(w, q);
    if (number->count > 19 && bits != lsp_scale(w + 1, q)) {
        int64_t exponent = number->exponent; /* larger exponents were decided above */
        snprintf(number->text + number->count, 32, "e%lld", (long long)exponent);
        double value = strtod(number->text, NULL);
        memcpy(&bits, &value, sizeof bits);
    }
    return bits;
}

const char *lsp_parse_double_slow(const char *p, double *value) {
    uint64_t sign = *p == '-', bits = 0;
    p += sign | (*p == '+');
    const char *end = parse_name(p, &bits);
    if (!end) {
        decimal number = {.count = 0};
        bool fraction = false, any = false;
        for (;; p++) {
            if (*p == '.' && !fraction) {
                fraction = true;
            } else if (*p >= '0' && *p <= '9') {
                take_digit(&number, *p, fraction);
                any = true;
            } else {
                break;
            }
        }
        if (!any) {
            return NULL;
        }
        end = parse_exponent(p, &number.exponent);
        bits = round_decimal(&number);
    }
    bits |= sign << 63;
    memcpy(value, &bits, sizeof bits);
    return end;
}
