/* Reads numbers the slow way: any count of digits, any exponent, inf and nan. If 19 digits do not decide the rounding,
 * the C library does, from text without a decimal point, which every locale reads the same. */
#include "number_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* Each line of number_powers.inc is multiplied by 5^0 .. 5^26; the leading 128 bits of the 256 are an entry. */
/* clang-format off */
#define WIDE(x) ((unsigned __int128)(x))
#define MIDDLE(f, b1, b0) (WIDE(b1) * (f) + (WIDE(b0) * (f) >> 64))
#define PRODUCT(f, b2, b1, b0) (WIDE(b2) * (f) + (MIDDLE(f, b1, b0) >> 64))
#define LEADING(f, b2, b1, b0)                                                                                         \
    (PRODUCT(f, b2, b1, b0) >> 127 ? PRODUCT(f, b2, b1, b0)                                                            \
                                   : PRODUCT(f, b2, b1, b0) << 1 | (uint64_t)MIDDLE(f, b1, b0) >> 63)
#define ENTRY(f, b2, b1, b0, up)                                                                                       \
    {(uint64_t)((LEADING(f, b2, b1, b0) + (up)) >> 64), (uint64_t)(LEADING(f, b2, b1, b0) + (up))},
#define FIVES(F, ...)                                                                                                  \
    F(0x8000000000000000, __VA_ARGS__) F(0xa000000000000000, __VA_ARGS__) F(0xc800000000000000, __VA_ARGS__)           \
    F(0xfa00000000000000, __VA_ARGS__) F(0x9c40000000000000, __VA_ARGS__) F(0xc350000000000000, __VA_ARGS__)           \
    F(0xf424000000000000, __VA_ARGS__) F(0x9896800000000000, __VA_ARGS__) F(0xbebc200000000000, __VA_ARGS__)           \
    F(0xee6b280000000000, __VA_ARGS__) F(0x9502f90000000000, __VA_ARGS__) F(0xba43b74000000000, __VA_ARGS__)           \
    F(0xe8d4a51000000000, __VA_ARGS__) F(0x9184e72a00000000, __VA_ARGS__) F(0xb5e620f480000000, __VA_ARGS__)           \
    F(0xe35fa931a0000000, __VA_ARGS__) F(0x8e1bc9bf04000000, __VA_ARGS__) F(0xb1a2bc2ec5000000, __VA_ARGS__)           \
    F(0xde0b6b3a76400000, __VA_ARGS__) F(0x8ac7230489e80000, __VA_ARGS__) F(0xad78ebc5ac620000, __VA_ARGS__)           \
    F(0xd8d726b7177a8000, __VA_ARGS__) F(0x878678326eac9000, __VA_ARGS__) F(0xa968163f0a57b400, __VA_ARGS__)           \
    F(0xd3c21bcecceda100, __VA_ARGS__) F(0x84595161401484a0, __VA_ARGS__) F(0xa56fa5b99019a5c8, __VA_ARGS__)
#define LSP_POWERS(...) FIVES(ENTRY, __VA_ARGS__)
const uint64_t lsp_powers[lsp_power_entries][2] = {
#include "number_powers.inc"
};
/* clang-format on */

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
