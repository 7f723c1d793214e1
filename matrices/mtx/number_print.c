/* Prints the shortest decimal number that reads back to the same bits; among several, the nearest (Giulietti's
 * Schubfach). The number 4c * 2^(q-2) and the two midpoints to its neighbours are scaled by one power of ten, exactly
 * enough to tell which multiple of 10^k or 10^(k+1) lies between the midpoints. */
#include "number_text.h"

#include <string.h>

static const char pairs[200] = {
#define DIGITS(d) d, '0', d, '1', d, '2', d, '3', d, '4', d, '5', d, '6', d, '7', d, '8', d, '9',
    DIGITS('0') DIGITS('1') DIGITS('2') DIGITS('3') DIGITS('4') DIGITS('5') DIGITS('6') DIGITS('7') DIGITS('8')
        DIGITS('9')};

typedef struct decimal { /* digits * 10^exponent */
    uint64_t digits;
    int exponent;
} decimal;

/* floor(g * c / 2^128) for the 128-bit g, with its lowest bit set if anything was cut off. */
static inline uint64_t scale_odd(uint64_t g_high, uint64_t g_low, uint64_t c) {
    unsigned __int128 low = (unsigned __int128)g_low * c;
    unsigned __int128 product = (unsigned __int128)g_high * c + (uint64_t)(low >> 64);
    return (uint64_t)(product >> 64) | ((uint64_t)product > 1);
}

/* The shortest decimal of c * 2^q, which is not zero. `narrow`: the neighbour below is half as far as the one above. */
static inline decimal shortest(uint64_t c, int q, bool narrow) {
    int k = (q * 1262611 - (narrow ? 524031 : 0)) >> 22;  /* floor(log10 of the gap) */
    int h = q + (int)(((int64_t)-k * 1741647) >> 19) + 1; /* 1 .. 4 */
    const uint64_t *power = lsp_powers[-k - lsp_power_first];
    bool rounded_down = -k < -27 || -k > 55; /* the proof needs powers rounded up */
    uint64_t g_low = power[1] + rounded_down, g_high = power[0] + (g_low < rounded_down);
    uint64_t below = scale_odd(g_high, g_low, (4 * c - 2 + narrow) << h);
    uint64_t value = scale_odd(g_high, g_low, (4 * c) << h);
    uint64_t above = scale_odd(g_high, g_low, (4 * c + 2) << h);
    uint64_t odd = c & 1, least = below + odd,
             most = above - odd; /* midpoints round to even: they belong to c if c is even */
    uint64_t s = value / 4;
    if (s >= 10) {
        uint64_t tens = s / 10;
        bool down = least <= 40 * tens, up = 40 * tens + 40 <= most;
        if (down != up) {
            return (decimal){tens + up, k + 1};
        }
    }
    bool down = least <= 4 * s, up = 4 * s + 4 <= most;
    bool nearer_up = value > 4 * s + 2 || (value == 4 * s + 2 && (s & 1));
    return (decimal){s + (down != up ? up : nearer_up), k};
}

static inline int count_digits(uint64_t d) {
    int guess = (64 - __builtin_clzll(d | 1)) * 1233 >> 12; /* bits * log10(2) */
    return guess + ((d | 1) >= lsp_tens[guess]);            /* 0 has one digit */
}

/* The eight digits of d < 10^8. */
static inline void put_eight(char *text, uint32_t d) {
    uint32_t high = d / 10000, low = d % 10000;
    memcpy(text, pairs + (size_t)(high / 100) * 2, 2);
    memcpy(text + 2, pairs + (size_t)(high % 100) * 2, 2);
    memcpy(text + 4, pairs + (size_t)(low / 100) * 2, 2);
    memcpy(text + 6, pairs + (size_t)(low % 100) * 2, 2);
}

enum { most_digits = 24 };

/* d with leading zeros, most_digits in all. */
static inline void put_all(char *text, uint64_t d) {
    uint64_t rest = d % 10000000000000000u;
    put_eight(text, (uint32_t)(d / 10000000000000000u));
    put_eight(text + 8, (uint32_t)(rest / 100000000));
    put_eight(text + 16, (uint32_t)(rest % 100000000));
}

static inline char *put_unsigned(char *text, uint64_t d) {
    int n = count_digits(d);
    char all[most_digits];
    if (d < 100000000) {
        put_eight(all, (uint32_t)d);
        memcpy(text, all + 8 - n, 8);
    } else {
        put_all(all, d);
        memcpy(text, all + most_digits - n, (size_t)n);
    }
    return text + n;
}

char *lsp_print_int(char *text, int64_t value) {
    *text = '-';
    return put_unsigned(text + (value < 0), value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* Prints without an exponent if the point is near the digits, otherwise with one. */
static char *put_decimal(char *text, decimal x) {
    while (x.digits % 10 == 0) {
        x.digits /= 10;
        x.exponent++;
    }
    int n = count_digits(x.digits), point = n + x.exponent; /* digits before the point */
    char all[2 * most_digits];
    const char *digits = all + most_digits - n;
    put_all(all, x.digits);
    memset(all + most_digits, '0', most_digits);
    if (point > 0 && point <= 17) {
        memcpy(text, digits, most_digits);
        if (point >= n) {
            return text + point;
        }
        text[point] = '.';
        memcpy(text + point + 1, digits + point, most_digits);
        return text + n + 1;
    }
    if (point > -4 && point <= 0) {
        static const char zeros[5] = {'0', '.', '0', '0', '0'};
        memcpy(text, zeros, sizeof zeros);
        memcpy(text + 2 - point, digits, most_digits);
        return text + 2 - point + n;
    }
    text[0] = digits[0];
    text[1] = '.';
    memcpy(text + 2, digits + 1, most_digits);
    text += n > 1 ? n + 1 : 1;
    *text++ = 'e';
    return lsp_print_int(text, point - 1);
}

/* Prints infinity, NaN or zero, which have no shortest digits. The caller printed the sign. */
static char *put_name(char *text, bool zero, bool infinite) {
    memcpy(text, zero ? "0" : infinite ? "inf" : "nan", zero ? 1 : 3);
    return text + (zero ? 1 : 3);
}

/* Prints the number of these bits, its sign taken off, which has `width` bits of fraction and then the exponent. */
static inline __attribute__((always_inline)) char *put_bits(char *text, uint64_t bits, int width, int most_exponent) {
    const uint64_t one = 1, fraction = bits & ((one << width) - 1);
    const int exponent = (int)(bits >> width);
    if (bits == 0 || exponent == most_exponent) {
        return put_name(text, bits == 0, fraction == 0);
    }
    const uint64_t c = exponent ? fraction | one << width : fraction;
    const int q = (exponent ? exponent : 1) - most_exponent / 2 - width;
    if (q <= 0 && q >= -width && (c & ((one << -q) - 1)) == 0) {
        return put_unsigned(text, c >> -q);
    }
    return put_decimal(text, shortest(c, q, fraction == 0 && exponent > 1));
}

char *lsp_print_double(char *text, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    *text = '-';
    return put_bits(text + (bits >> 63), bits & ~(UINT64_C(1) << 63), 52, 0x7ff);
}

char *lsp_print_float(char *text, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    *text = '-';
    return put_bits(text + (bits >> 31), bits & 0x7fffffff, 23, 0xff);
}
