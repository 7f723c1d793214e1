/* Reads numbers the quick way, inlined where lines are decoded: eight digits at a time in one register, then one
 * 64 x 128-bit multiplication by a power of ten (Eisel and Lemire, "Number parsing at a gigabyte per second"). */
#pragma once

#include "number_text.h"

#include <stddef.h>
#include <string.h>
#if defined(__SSE4_1__)
#include <immintrin.h>
#endif

#define LSP_INLINE static inline __attribute__((always_inline))

/* The next eight bytes, each minus '0', the first in the lowest byte. */
LSP_INLINE uint64_t lsp_eight_at(const char *p) {
    uint64_t bytes;
    memcpy(&bytes, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    return bytes ^ 0x3030303030303030u;
}

/* 0 if all eight are digits. Otherwise the lowest bit set lies in the first byte that is no digit. */
LSP_INLINE uint64_t lsp_no_digits(uint64_t eight) {
    return ((eight + 0x7676767676767676u) | eight) & 0x8080808080808080u;
}

/* The number of eight decimal digits, the first in the lowest byte. */
LSP_INLINE uint64_t lsp_eight_value(uint64_t eight) {
    uint64_t pairs = eight * 10 + (eight >> 8);
    return ((pairs & 0xff000000ffu) * (100 + (1000000ull << 32)) +
            (pairs >> 16 & 0xff000000ffu) * (1 + (10000ull << 32))) >>
           32;
}

/* Appends the digits at p to the number *w, modulo 2^64; returns their end. */
LSP_INLINE const char *lsp_parse_digits(const char *p, uint64_t *w) {
    uint64_t eight = lsp_eight_at(p), stop;
    while ((stop = lsp_no_digits(eight)) == 0) {
        *w = *w * 100000000 + lsp_eight_value(eight);
        p += 8;
        eight = lsp_eight_at(p);
    }
    int bit = __builtin_ctzll(stop); /* 8 * digits + 7 */
    *w = *w * lsp_tens[bit >> 3] + lsp_eight_value(eight << 8 << (63 - bit));
    return p + (bit >> 3);
}

/* lsp_parse_digits for the digits after a point, often 15 to 17: up to 17 take no branch. */
#if defined(__SSE4_1__)
LSP_INLINE const char *lsp_parse_fraction(const char *p, uint64_t *w) {
    static const int8_t shifts[32] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                      0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15};
    __m128i text = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), _mm_set1_epi8('0'));
    __m128i digit = _mm_cmpeq_epi8(_mm_min_epu8(text, _mm_set1_epi8(9)), text);
    int n = __builtin_ctz(~(unsigned)_mm_movemask_epi8(digit)); /* 0 .. 16 */
    __m128i shift = _mm_loadu_si128((const __m128i *)(const void *)(shifts + n));
    __m128i ones = _mm_shuffle_epi8(text, shift); /* moves the digits to the right end, zeros before them */
    __m128i twos = _mm_maddubs_epi16(ones, _mm_set1_epi16(0x010a));
    __m128i fours = _mm_madd_epi16(twos, _mm_set1_epi32(0x00010064));
    __m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(0x00012710));
    uint64_t both = (uint64_t)_mm_cvtsi128_si64(eights);
    *w = *w * lsp_tens[n] + (uint32_t)both * UINT64_C(100000000) + (both >> 32);
    p += n;
    uint64_t last = (uint64_t)(*p - '0'), more = last <= 9; /* one more digit can only follow if n is 16 */
    *w = more ? *w * 10 + last : *w;
    p += more;
    return __builtin_expect((unsigned)(*p - '0') <= 9, 0) ? lsp_parse_digits(p, w) : p;
}
#else
LSP_INLINE const char *lsp_parse_fraction(const char *p, uint64_t *w) { return lsp_parse_digits(p, w); }
#endif

/* The bits of the double nearest to w * 10^q, for any w and q. */
LSP_INLINE uint64_t lsp_scale(uint64_t w, int64_t q) {
    if (w == 0 || q < lsp_power_least) {
        return 0;
    }
    if (q > 308) {
        return 0x7ffull << 52;
    }
    const uint64_t *power = lsp_powers[q - lsp_power_first];
    int zeros = __builtin_clzll(w);
    w <<= zeros;
    unsigned __int128 product = (unsigned __int128)w * power[0];
    if (((uint64_t)(product >> 64) & 0x1ff) == 0x1ff) { /* the low half may carry into the bits that are kept */
        product += (uint64_t)((unsigned __int128)w * power[1] >> 64);
    }
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    int top = (int)(high >> 63), shift = top + 9;
    uint64_t mantissa = high >> shift; /* 54 bits: one more than needed, for rounding */
    int64_t exponent = (217706 * q >> 16) + 63 + top - zeros + 1023;
    if (exponent <= 0) { /* subnormal */
        if (exponent <= -63) {
            return 0;
        }
        mantissa >>= 1 - exponent;
        return (mantissa + (mantissa & 1)) >> 1; /* rounding up to 2^52 gives the least normal number */
    }
    if (low <= 1 && q >= -4 && q <= 23 && (mantissa & 3) == 1 && mantissa << shift == high) {
        mantissa--; /* exactly halfway: to even */
    }
    mantissa = (mantissa + (mantissa & 1)) >> 1; /* 2^52 .. 2^53; the hidden bit adds one to the exponent */
    uint64_t bits = ((uint64_t)(exponent - 1) << 52) + mantissa;
    return bits < 0x7ffull << 52 ? bits : 0x7ffull << 52;
}

/* Significant digits of a number that begins at p with digits or a point. */
static inline int64_t lsp_significant(const char *p, int64_t digits) {
    for (; *p == '0' || *p == '.'; p++) {
        digits -= *p == '0';
    }
    return digits;
}

LSP_INLINE const char *lsp_parse_double_quick(const char *start, double *value) {
    const char *p = start;
    uint64_t w = 0, sign = *p == '-', bits;
    p += sign | (*p == '+');
    const char *first = p;
    if (p[1] == '.' && (unsigned)(*p - '0') <= 9) {
        w = (uint64_t)(*p++ - '0');
    } else {
        p = lsp_parse_digits(p, &w);
    }
    int64_t digits = p - first, exponent = 0;
    if (*p == '.') {
        const char *point = ++p;
        p = lsp_parse_fraction(p, &w);
        exponent = point - p;
        digits -= exponent;
    }
    if (__builtin_expect(digits == 0 || (digits > 19 && lsp_significant(first, digits) > 19), 0)) {
        return lsp_parse_double_slow(start, value);
    }
    char letter = (char)(*p | 0x20);
    if (letter == 'e' || letter == 'd') {
        bool down = p[1] == '-';
        const char *number = p + 1 + (down || p[1] == '+');
        uint64_t power = 0;
        const char *end = lsp_parse_digits(number, &power);
        if (__builtin_expect(end == number || end - number > 8, 0)) {
            return lsp_parse_double_slow(start, value);
        }
        exponent += down ? -(int64_t)power : (int64_t)power;
        p = end;
    }
    bits = lsp_scale(w, exponent) | sign << 63;
    memcpy(value, &bits, sizeof bits);
    return p;
}
